// Cuts a loop's instructions into sections: runs for which there is machine code, and the rest,
// which is interpreted.
#include "engine/cpu/loop_lowering.h"
#include "engine/cpu/loop_sums.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace halfscope {

class CpuLoop::Vectorizer {
public:
    Vectorizer(CpuLoop& loop, VectorSet set) : m_loop(loop), m_program(loop.m_program), m_set(set) {
        for (size_t index : loop.m_steadyLoads) {
            const Load& load = loop.m_loads[index];
            const bool row = !load.isConstant && load.kind == LoadKind::Row;
            m_walks[load.slot] = row ? VectorPlace::Walk::Columns : VectorPlace::Walk::Still;
        }
        // Sums are placed side by side after the slots.
        const auto take = [&](int64_t floats) {
            const size_t at = loop.scratchFloats();
            loop.m_sumFloats += static_cast<size_t>(floats + 15) / 16 * 16;
            return at;
        };
        constexpr int64_t kFloatsOfDouble = sizeof(double) / sizeof(float);
        for (size_t i = 0; i < loop.m_reductions.size(); ++i) {
            if (loop.m_reductions[i].kind != ReduceKind::Rows) continue;
            m_sums[i] = take(loop.m_tileColumns * loop.m_strands);
            loop.m_reductions[i].blockSums = take(loop.m_blockColumns * kFloatsOfDouble);
        }
        findRows();
    }

    void run() {
        constexpr size_t kWorthwhile = 2; // a single instruction has its own vector loop
        for (size_t begin = 0; begin < m_program.size();) {
            std::vector<VectorStep> steps = stepsFrom(begin);
            while (spreadsForOthers(begin, steps)) // then makes the steps once more without these
                steps = stepsFrom(begin);
            const size_t end = begin + std::max<size_t>(steps.size(), 1);
            std::unique_ptr<VectorLoop> vector;
            if (steps.size() >= kWorthwhile)
                vector = VectorLoop::compile(m_set, steps, wantedAfter(end));
            std::vector<Section>& sections = m_loop.m_sections;
            if (!vector && !sections.empty() && !sections.back().vector) {
                sections.back().end = end;
            } else {
                const bool isVector = vector != nullptr;
                sections.push_back({begin, end, std::move(vector), {}});
                if (isVector) noteColumns(sections.back(), steps);
            }
            begin = end;
        }
    }

private:
    /// Decides whether values by row can be spread in the code. The rows of several strands are
    /// side by side in one row of the code; without sums over rows and values by column there need
    /// be only one.
    void findRows() {
        const bool byColumn =
            !m_sums.empty() || std::any_of(m_walks.begin(), m_walks.end(), [](const auto& walk) {
                return walk.second == VectorPlace::Walk::Columns;
            });
        const bool whole = m_loop.m_columns % VectorLoop::kLanes == 0;
        if (whole && !byColumn) m_loop.m_strands = 1;
        m_wholeVectors = m_loop.m_strands == 1 && (whole || m_loop.m_columns > kMostTileElements);
    }

    /// Whether instructions after the run read what it spreads row by row, which exists for one row
    /// at a time only. Such values are then no longer spread.
    bool spreadsForOthers(size_t begin, const std::vector<VectorStep>& steps) {
        const std::vector<size_t> wanted = wantedAfter(begin + steps.size());
        bool found = false;
        for (size_t i = 0; i < steps.size(); ++i)
            if (steps[i].in[0].walk == VectorPlace::Walk::Rows &&
                std::find(wanted.begin(), wanted.end(), steps[i].out.offset) != wanted.end())
                found = m_filled.insert(m_program[begin + i].index).second;
        return found;
    }

    /// Returns the steps of the longest run from `begin` on that one piece of code can do.
    std::vector<VectorStep> stepsFrom(size_t begin) {
        m_spread.clear();
        std::vector<VectorStep> steps;
        std::set<std::pair<size_t, size_t>> pointers;
        for (size_t i = begin; i < m_program.size(); ++i) {
            const std::optional<VectorStep> step = stepOf(m_program[i]);
            if (!step || !VectorLoop::supports(*step)) break;
            const auto add = [&](const VectorPlace& place) {
                if (!place.scratch) pointers.emplace(place.offset, bytesOf(place.dtype));
            };
            std::for_each_n(step->in, step->inputs, add);
            add(step->out);
            if (pointers.size() > VectorLoop::kMaxPointers) break;
            steps.push_back(*step);
            if (step->in[0].walk == VectorPlace::Walk::Rows) m_spread.insert(slotOf(m_program[i]));
        }
        return steps;
    }

    /// Returns the slot that it writes, or -1 when it writes none.
    int slotOf(const Instruction& instruction) const {
        const bool loads = instruction.kind == Instruction::Kind::Load;
        return loads ? m_loop.m_loads[instruction.index].slot : instruction.out.slot;
    }

    /// Returns nothing for sums over columns and for gathers: they are interpreted.
    std::optional<VectorStep> stepOf(const Instruction& instruction) const {
        VectorStep step;
        switch (instruction.kind) {
        case Instruction::Kind::Load: {
            const Load& load = m_loop.m_loads[instruction.index];
            step.inputs = 1;
            step.out = placeOf({load.slot, 0}, DType::F32);
            if (load.isConstant) return std::nullopt;
            if (load.kind != LoadKind::Full) return std::nullopt;
            step.in[0] = {false, load.offset, load.dtype};
            return step;
        }
        case Instruction::Kind::Spread:
            if (!m_wholeVectors || m_filled.contains(instruction.index)) return std::nullopt;
            step.in[0] = {true,
                          offsetOf(instruction.in[0].slot) +
                              static_cast<size_t>(m_loop.m_tileRows) * sizeof(float),
                          DType::F32, VectorPlace::Walk::Rows};
            step.inputs = 1;
            step.out = placeOf(instruction.out, DType::F32);
            step.out.walk = VectorPlace::Walk::Still;
            return step;
        case Instruction::Kind::Store:
            step.in[0] = placeOf(instruction.in[0], DType::F32);
            step.inputs = 1;
            step.out = placeOf(instruction.out, instruction.dtype);
            return step;
        case Instruction::Kind::Compute:
            step.op = instruction.op;
            step.inputs = instruction.inputs;
            for (int i = 0; i < step.inputs; ++i)
                step.in[i] = placeOf(instruction.in[i], DType::F32);
            step.out = placeOf(instruction.out, DType::F32);
            if (instruction.rounds) step.rounded = instruction.dtype;
            return step;
        case Instruction::Kind::Reduce: {
            const auto sums = m_sums.find(instruction.index);
            if (sums == m_sums.end()) return std::nullopt;
            step.op = Op::Sum;
            step.in[0] = placeOf(instruction.in[0], DType::F32);
            step.inputs = 1;
            step.out = {true, sums->second * sizeof(float), DType::F32, VectorPlace::Walk::Columns};
            return step;
        }
        default: return std::nullopt;
        }
    }
    VectorPlace placeOf(const Place& place, DType dtype) const {
        if (place.slot < 0) return {false, place.offset, dtype};
        const auto walk = m_walks.find(place.slot);
        return {true, offsetOf(place.slot), DType::F32,
                m_spread.contains(place.slot) ? VectorPlace::Walk::Still
                : walk == m_walks.end()       ? VectorPlace::Walk::Elements
                                              : walk->second};
    }
    size_t offsetOf(int slot) const {
        return static_cast<size_t>(slot) * m_loop.m_tileElements * sizeof(float);
    }

    /// Returns the scratch offsets of the slots that instructions from `end` on read before they
    /// write them.
    std::vector<size_t> wantedAfter(size_t end) const {
        std::vector<size_t> wanted;
        std::set<int> written;
        for (size_t i = end; i < m_program.size(); ++i) {
            const Instruction& later = m_program[i];
            for (const Place& in : later.in)
                if (in.slot >= 0 && !written.contains(in.slot)) wanted.push_back(offsetOf(in.slot));
            written.insert(slotOf(later));
        }
        return wanted;
    }

    /// Notes what the loop must do for a section that walks columns.
    void noteColumns(Section& section, const std::vector<VectorStep>& steps) {
        for (size_t i = 0; i < steps.size(); ++i) {
            const VectorStep& step = steps[i];
            const auto isColumn = [](const VectorPlace& place) {
                return place.walk == VectorPlace::Walk::Columns ||
                       place.walk == VectorPlace::Walk::Rows;
            };
            m_loop.m_walksColumns = m_loop.m_walksColumns || isColumn(step.out) ||
                                    std::any_of(step.in, step.in + step.inputs, isColumn);
            const size_t reduction = m_program[section.begin + i].index;
            if (step.op == Op::Sum) section.sums.emplace_back(reduction, m_sums.at(reduction));
        }
    }

    CpuLoop& m_loop;
    const std::vector<Instruction>& m_program;
    VectorSet m_set;
    bool m_wholeVectors = false; ///< rows are whole vectors, and one row of the code each
    std::set<int> m_spread;      ///< while steps are made: slots that hold a row's value, spread
    std::set<size_t> m_filled;   ///< loads of a value per row that fill a tile
    std::map<int, VectorPlace::Walk> m_walks; ///< by slot of a steady load
    std::map<size_t, size_t> m_sums; ///< by reduction over rows: where in scratch a tile's sums are
};

CpuLoop::CpuLoop(const Graph& graph, const Kernel& kernel, const MemoryPlan& memory,
                 VectorSet set) {
    Lowering(*this, graph, kernel, memory).run();
    Vectorizer(*this, set).run();
}

int CpuLoop::vectorSections() const {
    return static_cast<int>(
        std::count_if(m_sections.begin(), m_sections.end(),
                      [](const Section& section) { return section.vector != nullptr; }));
}

} // namespace halfscope
