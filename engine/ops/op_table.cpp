// The table of op rows: joins the families of engine/ops and checks that every op has one row with
// all that its kind needs. Leaves what an op does to its row.
#include "engine/ops/op_info.h"

#include "engine/core/error.h"
#include "engine/ops/families.h"

namespace halfscope {

namespace {

using OpTable = std::array<const OpInfo*, static_cast<size_t>(kOpCount)>;

void checkRow(const OpInfo& row) {
    const std::string name(row.name);
    const bool outside = row.op == Op::Input || row.op == Op::State;
    require(row.infer != nullptr, name + ": no shape rule");
    require(outside || row.reference != nullptr, name + ": no reference");
    const bool exempt = row.flags.has(OpFlag::Leaf) || row.flags.has(OpFlag::NoGradient);
    require(exempt || row.vjp != nullptr, name + ": no gradient rule");
}

OpTable joinFamilies() {
    OpTable table{};
    for (const auto family : {leafOps(), elementwiseOps(), fp8Ops(), contractionOps(), reduceOps(),
                              scanOps(), movementOps(), poolOps(), randomOps(), updateOps()}) {
        for (const OpInfo& row : family) {
            checkRow(row);
            const OpInfo*& place = table[static_cast<size_t>(row.op)];
            require(place == nullptr, std::string(row.name) + ": two rows for one op");
            place = &row;
        }
    }
    for (size_t i = 0; i < table.size(); ++i)
        require(table[i] != nullptr, "op number " + std::to_string(i) + " has no row");
    return table;
}

} // namespace

const OpInfo& infoOf(Op op) {
    static const OpTable table = joinFamilies();
    return *table[static_cast<size_t>(op)];
}

} // namespace halfscope
