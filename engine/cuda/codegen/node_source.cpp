// The kernels of single nodes: the words of their text. Each family's plan is in a file of its own,
// and op_table.cpp tells which of them writes which op.
#include "engine/cuda/codegen/node_source.h"

#include "engine/cuda/codegen/product_loops.h"

#include "engine/core/error.h"
#include "engine/cuda/codegen/element_source.h"
#include "engine/ops/op_info.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstring>

namespace halfscope::cuda {

// ---- words -------------------------------------------------------------------------------------

std::string storageWord(DType type) {
    const bool builtIn = type == DType::F32 || type == DType::F64 || type == DType::I32;
    return (builtIn ? "" : "hs::") + storageType(type);
}

std::string rawWord(DType type) {
    switch (bytesOf(type)) {
    case 1: return "hs::Bool";
    case 2: return "hs::u16";
    case 4: return "hs::u32";
    default: return "hs::u64";
    }
}

namespace {

std::string hex(uint64_t bits) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%" PRIx64 "ull", bits);
    return text;
}

} // namespace

std::string bitsWord(DType type, double value) {
    switch (type) {
    case DType::F32: return hex(std::bit_cast<uint32_t>(static_cast<float>(value)));
    case DType::F16: return hex(halfFromDouble(value));
    case DType::BF16: return hex(bfloat16FromDouble(value));
    case DType::F64: return hex(std::bit_cast<uint64_t>(value));
    case DType::I32:
        return hex(static_cast<uint32_t>(static_cast<int32_t>(roundTo(DType::I32, value))));
    case DType::Bool: return hex(value != 0 ? 1 : 0);
    }
    failInvariant("cuda text: not a dtype");
}

std::string placeWords(std::string_view flat, const Shape& extents, const Shape& strides,
                       int64_t offset) {
    Shape joinedExtents, joinedStrides;
    for (int i = 0; i < extents.rank(); ++i) {
        if (extents[i] == 1) continue;
        const int last = joinedExtents.rank() - 1;
        if (last >= 0 && joinedStrides[last] == extents[i] * strides[i]) {
            joinedExtents[last] *= extents[i];
            joinedStrides[last] = strides[i];
        } else {
            joinedExtents.push(extents[i]);
            joinedStrides.push(strides[i]);
        }
    }
    std::string words;
    int64_t below = 1;
    for (int i = joinedExtents.rank() - 1; i >= 0; --i) {
        if (joinedStrides[i] != 0) {
            std::string at(flat);
            if (below != 1) at += " / " + std::to_string(below);
            if (i > 0) at += " % " + std::to_string(joinedExtents[i]);
            if (joinedStrides[i] != 1) at += " * " + std::to_string(joinedStrides[i]);
            words += (words.empty() ? "" : " + ") + at;
        }
        below *= joinedExtents[i];
    }
    if (words.empty() || offset != 0)
        words += (words.empty() ? "" : " + ") + std::to_string(offset);
    return words;
}

int64_t powerOfTwo(int64_t x) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(x, 1))));
}

// ---- one node ----------------------------------------------------------------------------------

NodeSite::NodeSite(const KernelSite& site, const DeviceTraits& traits)
    : m_site(site), m_traits(traits), m_id(site.program.kernels[site.kernel].members.front()),
      m_node(site.program.graph[m_id]) {
    require(kernel().members.size() == 1 || isProductLoop(graph(), kernel()),
            "cuda text: a kernel of several nodes is no node");
}

bool NodeSite::isExact() const {
    if (m_node.dtype == DType::F64) return true;
    return std::any_of(m_node.in.begin(), m_node.in.end(),
                       [&](NodeId id) { return m_site.program.graph[id].dtype == DType::F64; });
}

int64_t NodeSite::blocksFor(int64_t pieces) const {
    return std::clamp<int64_t>(pieces, 1, m_site.maxBlocks);
}

size_t NodeSite::offsetOf(NodeId id) const {
    const size_t offset = m_site.program.memory.offset[static_cast<size_t>(id)];
    require(offset != MemoryPlan::kNowhere, "cuda text: a value that is used has no place");
    return offset;
}

std::string NodeSite::pointer(NodeId id, const std::string& type, bool constant) const {
    return "reinterpret_cast<" + std::string(constant ? "const " : "") + type + "*>(arena + " +
           std::to_string(offsetOf(id)) + "ull)";
}

std::string NodeSite::input(size_t i) const {
    return pointer(m_node.in[i], storageWord(in(i).dtype), true);
}
std::string NodeSite::rawInput(size_t i) const {
    return pointer(m_node.in[i], rawWord(in(i).dtype), true);
}
std::string NodeSite::rawLoaded() const {
    return pointer(loaded(), rawWord(graph()[loaded()].dtype), true);
}
std::string NodeSite::output() const { return pointer(m_id, storageWord(m_node.dtype), false); }
std::string NodeSite::rawOutput() const { return pointer(m_id, rawWord(m_node.dtype), false); }

std::string NodeSite::scratch() const {
    return "scratch + " + std::to_string(m_site.scratchOffset) + "ull";
}
std::string NodeSite::tickets() const { return "tickets + " + std::to_string(m_site.firstTicket); }

KernelText NodeSite::function(std::string_view how, std::string_view body, int64_t blocks,
                              std::string_view before) const {
    std::string text = "// %" + std::to_string(m_id) + " " + std::string(nameOf(m_node.op)) + " " +
                       std::string(nameOf(m_node.dtype)) + " " + m_node.shape.text() + "\n";
    if (!how.empty()) text += "struct " + howName() + " {\n" + std::string(how) + "};\n";
    text += before;
    text += "__device__ void " + name() +
            "(char* arena, char* scratch, unsigned* tickets, char* shared, int block) {\n" +
            std::string(body) + "}\n";
    KernelText kernel;
    kernel.function = std::move(text);
    kernel.blocks = static_cast<int>(blocks);
    return kernel;
}

HowText::HowText(const NodeSite& site) { use("Index", site.indexWord()); }
HowText& HowText::use(std::string_view name, std::string_view type) {
    return line("using " + std::string(name) + " = " + std::string(type) + ";");
}
HowText& HowText::number(std::string_view name, int64_t value) {
    return line("static constexpr Index " + std::string(name) + " = " + std::to_string(value) +
                ";");
}
HowText& HowText::count(std::string_view name, int64_t value) {
    return line("static constexpr int " + std::string(name) + " = " + std::to_string(value) + ";");
}
HowText& HowText::word(std::string_view name, uint64_t value) {
    return line("static constexpr hs::u64 " + std::string(name) + " = " + hex(value) + ";");
}
HowText& HowText::flag(std::string_view name, bool value) {
    return line("static constexpr bool " + std::string(name) + " = " + (value ? "true" : "false") +
                ";");
}
HowText& HowText::place(std::string_view name, std::string_view argument,
                        std::string_view expression) {
    return line("HS_D static Index " + std::string(name) + "(Index " + std::string(argument) +
                ") { return " + std::string(expression) + "; }");
}
HowText& HowText::line(std::string_view text) {
    m_text += "    " + std::string(text) + "\n";
    return *this;
}

std::string NodeSite::indexWord() const {
    // an index may exceed its last place by a grid's stride, but never by more than the elements it
    // has
    constexpr int64_t kMost = int64_t{1} << 30;
    bool fits = m_node.elements() < kMost;
    for (size_t i = 0; i < inputs(); ++i)
        fits = fits && in(i).elements() < kMost;
    return fits ? "int" : "hs::i64";
}

std::string NodeSite::elementLoop(int64_t blocks, std::string_view body) const {
    const std::string index = indexWord();
    return "    HS_UNROLL_BY(4)\n    for (" + index + " i = " + index + "(block) * " +
           std::to_string(kThreads) + " + threadIdx.x; i < " + std::to_string(m_node.elements()) +
           "; i += " + std::to_string(blocks * kThreads) + ") {\n" + std::string(body) + "    }\n";
}

int64_t elementBlocks(const NodeSite& site) {
    constexpr int64_t kEach = 4; ///< elements per thread, whose loads run side by side
    return site.blocksFor(ceilDiv(site.node().elements(), kThreads * kEach));
}

} // namespace halfscope::cuda
