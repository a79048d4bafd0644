// What a chain kernel computes, derived from its members: operands, sums over rows, values of
// columns. Shared by the matcher, which asks whether a kernel can be written, and by the writer.
#pragma once

#include "engine/cuda/codegen/kernel_text.h"

#include <optional>
#include <set>
#include <vector>

namespace halfscope::cuda {

inline constexpr int64_t kNarrow = 4; ///< inner or outer extents up to this are unrolled

enum class ChainKind : uint8_t {
    Rows, ///< a product over a panel of rows, then sums over them
    Deep, ///< a product along the rows (weight gradient)
    Pass  ///< only sums
};

/// A sum over the rows of `value`, or of `value` times one column of `factor` (rows, few).
struct RowSum {
    NodeId value = kNoNode;
    NodeId factor = kNoNode;
    int factorColumn = 0;
    NodeId times = kNoNode;        ///< another element by which value is multiplied, or kNoNode
    NodeId result = kNoNode;       ///< kNoNode when only derived sums need it
    int64_t stride = 1, place = 0; ///< in the result: element column * stride + place
    double scale = 1;              ///< 1 / rows for a mean
};
struct RowStat {
    NodeId value = kNoNode, mean = kNoNode, variance = kNoNode;
};
/// A term of a sum that is linear in other sums: factor times the values of `columns` (one per
/// column, or one in all) times sum number `sum`.
struct LinearTerm {
    double factor = 1;
    std::vector<NodeId> columns;
    NodeId base = kNoNode;
    int sum = -1;
};
struct DerivedSum {
    NodeId result = kNoNode;
    double scale = 1;
    std::vector<LinearTerm> terms;
};

struct ChainShape {
    ChainKind kind = ChainKind::Pass;
    NodeId product = kNoNode;      ///< the matmul; kNoNode for a pass
    int64_t rows = 0, columns = 0; ///< Rows, Pass: of the sums' space; Deep: of the result
    bool storesProduct = false;
    bool storesOperand = false; ///< Rows: operand a, for others to read
    std::vector<RowSum> sums;
    std::vector<RowStat> stats;
    std::vector<DerivedSum> derived;
    NodeId dot = kNoNode;           ///< a product with one column: a sum over each row
    bool readsWide = false;         ///< elements of 4 bytes, which take twice the registers
    std::vector<NodeId> columnSums; ///< Deep: sums over the rows of operand a

    int partials() const { return static_cast<int>(sums.size() + 2 * stats.size()); }
};

/// Returns nothing when the kernel is not one that can be written.
std::optional<ChainShape> chainShape(const Graph&, const Kernel&,
                                     ElementForm = ElementForm::AsWritten);

/// Returns the value behind casts that change nothing.
NodeId widenedFrom(const Graph&, NodeId);
/// Whether it is (rows, few) x (few, columns) with few <= kNarrow, which is computed element by
/// element.
bool isNarrowProduct(const Graph&, NodeId);
bool isDotProduct(const Graph&, NodeId);
/// Whether it is a product along the rows of which one side has up to kNarrow columns.
bool isNarrowDeep(const Graph&, NodeId);
/// Returns the wide operand of a narrow deep product (0 or 1).
int wideOperand(const Graph&, NodeId);
bool isRowReduction(const Graph&, NodeId); ///< Sum or Mean over axis 0 of a rank-2 value
bool isElementwise(const Graph&, NodeId);  ///< true also for a constant

/// Returns `value` as a sum of products of values of columns and values of elements, in f32 steps
/// only.
std::vector<LinearTerm> linearForm(const Graph&, NodeId value);

} // namespace halfscope::cuda
