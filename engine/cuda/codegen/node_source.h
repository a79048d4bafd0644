// What the writers of single nodes share: the words of generated text, the struct of constants that
// a device template gets, and index arithmetic. The public interface is kernel_text.h.
#pragma once

#include "engine/cuda/codegen/kernel_text.h"

#include <string_view>

namespace halfscope::cuda {

// ---- words -------------------------------------------------------------------------------------

std::string storageWord(DType);            ///< "float", "hs::F16", ...
std::string rawWord(DType);                ///< an unsigned integer of the same size
std::string bitsWord(DType, double value); ///< the bits that store a value, as an integer literal

/// Returns an expression for the place of flat index `flat` (a name) of a row-major space of
/// `extents` in memory with `strides`. Axes that are contiguous in both are joined.
std::string placeWords(std::string_view flat, const Shape& extents, const Shape& strides,
                       int64_t offset = 0);

// ---- one node ----------------------------------------------------------------------------------

/// The node of a kernel, where its values are, and how many blocks it may use.
class NodeSite {
public:
    NodeSite(const KernelSite&, const DeviceTraits&);

    const KernelSite& site() const { return m_site; }
    const Kernel& kernel() const { return m_site.program.kernels[m_site.kernel]; }
    const Graph& graph() const { return m_site.program.graph; }
    NodeId id() const { return m_id; }
    const Node& node() const { return m_node; }
    const Node& in(size_t i) const { return m_site.program.graph[m_node.in[i]]; }
    size_t inputs() const { return m_node.in.size(); }
    const std::string& name() const { return m_site.name; }
    const DeviceTraits& traits() const { return m_traits; }
    /// Whether it computes in double: an operand or the result is F64.
    bool isExact() const;
    /// Whether one block does it all, without scratch or tickets.
    bool isAlone() const { return m_site.maxBlocks == 1; }
    /// Returns the blocks for that many pieces of work.
    int64_t blocksFor(int64_t pieces) const;

    std::string input(size_t i) const;    ///< a pointer to its storage type
    std::string rawInput(size_t i) const; ///< a pointer to integers of its size
    /// Returns what a kernel of one operand reads: that operand or, where prepare() says so, what
    /// was widened to it.
    NodeId loaded() const { return m_site.program.kernels[m_site.kernel].loads.front(); }
    std::string rawLoaded() const;
    std::string output() const;
    std::string rawOutput() const;
    size_t loadedOffset() const { return offsetOf(loaded()); }
    std::string scratch() const;
    std::string tickets() const;
    /// Returns the kernel with this body, which may call the struct of constants "NAME_how". What
    /// stands `before` the function may use it, too.
    KernelText function(std::string_view how, std::string_view body, int64_t blocks,
                        std::string_view before = {}) const;
    /// Returns the type of indices: "int" when every place in the operands and the result fits.
    std::string indexWord() const;
    /// Returns a loop over the elements of the result by flat index i; `body` is its content.
    std::string elementLoop(int64_t blocks, std::string_view body) const;
    std::string howName() const { return m_site.name + "_how"; }

private:
    size_t offsetOf(NodeId) const;
    std::string pointer(NodeId, const std::string& type, bool constant) const;

    const KernelSite& m_site;
    const DeviceTraits& m_traits;
    NodeId m_id;
    const Node& m_node;
};

/// The members of the struct of constants; the first one is the type of indices.
class HowText {
public:
    explicit HowText(const NodeSite&);
    HowText& use(std::string_view name, std::string_view type);
    HowText& number(std::string_view name, int64_t value); ///< as Index
    HowText& count(std::string_view name, int64_t value);  ///< as int
    HowText& word(std::string_view name, uint64_t value);  ///< as hs::u64
    HowText& flag(std::string_view name, bool value);
    /// Adds a static function from index to index.
    HowText& place(std::string_view name, std::string_view argument, std::string_view expression);
    HowText& line(std::string_view text);
    const std::string& text() const { return m_text; }

private:
    std::string m_text;
};

/// Returns the statements that a product loop does with an element: its index i is of the type
/// u32, or u64 from 2^31 elements on, and `sum` is the product's sum before rounding.
std::string writeElementOfProduct(const KernelSite&, const std::string& sum);

/// Returns the number of blocks that suits plain moves and arithmetic on the elements of the
/// result.
int64_t elementBlocks(const NodeSite&);

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
/// Returns the smallest power of two that is not below x.
int64_t powerOfTwo(int64_t x);

// ---- families ----------------------------------------------------------------------------------

KernelText writeElementwise(const NodeSite&);
KernelText writeProduct(const NodeSite&); ///< Matmul and the convolutions
KernelText writeSum(const NodeSite&);
KernelText writeMean(const NodeSite&);
KernelText writeProd(const NodeSite&);
KernelText writeReduceMax(const NodeSite&);
KernelText writeReduceMin(const NodeSite&);
KernelText writeScan(const NodeSite&);
KernelText writeReshape(const NodeSite&);
KernelText writeTranspose(const NodeSite&);
KernelText writeSlice(const NodeSite&);
KernelText writeExpand(const NodeSite&);
KernelText writePad(const NodeSite&);
KernelText writeConcat(const NodeSite&);
KernelText writeIota(const NodeSite&);
KernelText writeGather(const NodeSite&);
KernelText writeScatter(const NodeSite&);
KernelText writePool(const NodeSite&);
KernelText writeRandom(const NodeSite&);
KernelText writeCount(const NodeSite&);
KernelText writeScaler(const NodeSite&);

} // namespace halfscope::cuda
