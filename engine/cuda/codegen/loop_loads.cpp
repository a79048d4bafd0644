// The loads of a batch: packs of neighbours where they lie together, element by element where not.
#include "engine/core/error.h"
#include "engine/cuda/codegen/element_source.h"
#include "engine/cuda/codegen/loop_writer.h"

#include <algorithm>

namespace halfscope::cuda {

namespace {

/// Axes of a strided read that count as one, innermost first: extent and stride.
std::vector<std::pair<int64_t, int64_t>> collapsed(const Shape& space, const Shape& strides) {
    std::vector<std::pair<int64_t, int64_t>> axes;
    for (int axis = space.rank() - 1; axis >= 0; --axis) {
        if (space[axis] == 1) continue;
        if (!axes.empty() && strides[axis] == axes.back().first * axes.back().second)
            axes.back().first *= space[axis];
        else
            axes.emplace_back(space[axis], strides[axis]);
    }
    return axes;
}

} // namespace

void LoopWriter::declarePacks(int vector) {
    for (const LoopLoad& load : m_facts.loads)
        if (isFull(load))
            line("Pack<" + storageType(load.dtype) + ", " + text(vector) + "> p" +
                 std::to_string(load.value) + "[" +
                 text(vector == m_layout.vector ? m_layout.unroll : 1) + "];");
    forEach(ReduceKind::All, [&](const LoopReduction& reduction) {
        line(valueType(m_facts.node(reduction.input).dtype) + " batch" +
             std::to_string(reduction.node) + " = 0;");
    });
}

void LoopWriter::writeLoads(int vector) {
    for (const LoopLoad& load : m_facts.loads)
        if (isFull(load)) fillPack(load, vector);
}

/// p[u].elements[k] = memory[at("i + k")], one by one.
void LoopWriter::fillEach(const LoopLoad& load, int vector,
                          const std::function<std::string(std::string)>& at) {
    const std::string pack = "p" + std::to_string(load.value) + "[u]";
    line("HS_UNROLL");
    line("for (int k = 0; k < " + text(vector) + "; ++k)");
    line("    " + pack + ".elements[k] = " + pointer(load.dtype, load.offset) + "[" +
         at(vector == 1 ? "i" : "(i + k)") + "];");
}

/// The pack of elements i, i + 1, ... of the space. Rows and columns matter in flat loops alone.
void LoopWriter::fillPack(const LoopLoad& load, int vector) {
    const std::string pack = "p" + std::to_string(load.value) + "[u]";
    const std::string from = pointer(load.dtype, load.offset);
    const std::string columns = text(m_facts.columns) + "u";
    const bool inRow = m_facts.columns % vector == 0;
    switch (load.kind) {
    case LoadKind::Full: line(pack + ".load(" + from + " + i);"); return;
    case LoadKind::Row:
        if (inRow)
            line(pack + ".load(" + from + " + i % " + columns + ");");
        else
            fillEach(load, vector, [&](const std::string& i) { return i + " % " + columns; });
        return;
    case LoadKind::Column:
        fillEach(load, vector, [&](const std::string& i) {
            return (inRow ? std::string("i") : i) + " / " + columns;
        });
        return;
    case LoadKind::Strided: fillStrided(load, vector); return;
    case LoadKind::Scalar: break;
    }
    failInvariant("cuda loop: a scalar is loaded once");
}

/// Element of the load's memory for an element of the space, both counted from 0.
std::string LoopWriter::stridedIndex(const LoopLoad& load, const std::string& element) const {
    const auto axes = collapsed(m_facts.space, load.strides);
    std::string sum;
    int64_t inner = 1;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
        const auto& [extent, stride] = axes[axis];
        if (stride != 0) {
            std::string term = inner == 1 ? element : element + " / " + text(inner) + "u";
            if (axis + 1 < axes.size()) term = "(" + term + ") % " + text(extent) + "u";
            sum += (sum.empty() ? "" : " + ") + ("(" + term + ")") +
                   (stride == 1 ? "" : " * " + text(stride) + "u");
        }
        inner *= extent;
    }
    return sum.empty() ? "0" : sum;
}

void LoopWriter::fillStrided(const LoopLoad& load, int vector) {
    const auto axes = collapsed(m_facts.space, load.strides);
    const auto [extent, stride] = axes.front();
    const bool together = extent % vector == 0; // a pack stays in the innermost axis
    const bool aligned = std::all_of(axes.begin() + 1, axes.end(),
                                     [&](const auto& axis) { return axis.second % vector == 0; });
    const std::string pack = "p" + std::to_string(load.value) + "[u]";
    if (together && stride == 1 && aligned) {
        line(pack + ".load(" + pointer(load.dtype, load.offset) + " + (" + stridedIndex(load, "i") +
             "));");
        return;
    }
    if (!together) {
        fillEach(load, vector, [&](const std::string& i) { return stridedIndex(load, i); });
        return;
    }
    line("const " + index() + " from" + std::to_string(load.value) + " = " +
         stridedIndex(load, "i") + ";");
    fillEach(load, vector, [&, step = stride](const std::string&) {
        return "from" + std::to_string(load.value) +
               (step == 0 ? "" : " + k * " + text(step) + "u");
    });
}

} // namespace halfscope::cuda
