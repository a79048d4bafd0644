// Replays a launch plan on names of values instead of numbers, without knowing how it was made. A
// kernel must read the value that the graph says, in whatever order concurrent units run.
#pragma once

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/cuda/codegen/launch_plan.h"
#include "engine/ops/op_info.h"
#include "engine/passes/fuse.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace halfscope::test {

class LaunchOracle {
public:
    LaunchOracle(const Program& program, const cuda::LaunchPlan& plan)
        : m_program(program), m_graph(program.graph), m_plan(plan) {}

    /// Throws std::logic_error with what is wrong. Units that may run in any order run in one that
    /// `seed` decides.
    void replay(uint64_t seed) {
        m_live.clear();
        m_runs.assign(m_plan.units.size(), 0);
        m_seed = seed;
        for (const StateInfo& state : m_graph.states())
            write(place(state.node), state.node);
        for (const InputInfo& input : m_graph.inputs())
            write(place(input.node), input.node);
        for (const cuda::PlannedLaunch& launch : m_plan.launches) {
            checkForm(launch);
            checkRaces(launch);
            runHeads(launch);
            runStrand(launch.tail);
        }
        checkEnd();
    }

private:
    using Range = std::pair<size_t, size_t>;
    using Phases = std::vector<std::vector<size_t>>;
    static constexpr NodeId kUnfinished = -2; ///< a chain's stores between its phases

    // ---- memory by names ------------------------------------------------------------------------

    NodeId storage(NodeId id) const { return storageOf(m_graph, id); }
    Range place(NodeId id) const {
        const NodeId at = storage(id);
        const size_t begin = m_program.memory.offset[static_cast<size_t>(at)];
        require(begin != MemoryPlan::kNowhere, "oracle: %" + std::to_string(at) + " has no place");
        return {begin, begin + m_graph[at].bytes()};
    }
    void write(Range range, NodeId value) {
        for (auto it = m_live.begin(); it != m_live.end();)
            it = it->first < range.second && range.first < it->second.first ? m_live.erase(it)
                                                                            : std::next(it);
        m_live[range.first] = {range.second, value};
    }
    void expect(Range range, NodeId value, const std::string& who) const {
        const auto found = m_live.find(range.first);
        require(found != m_live.end() && found->second == std::pair{range.second, value},
                "oracle: " + who + " does not see %" + std::to_string(value));
    }

    // ---- units ----------------------------------------------------------------------------------

    bool isCommit(size_t unit) const { return m_plan.units[unit].kernel == cuda::Unit::kNoKernel; }
    const Kernel& kernelOf(size_t unit) const {
        return m_program.kernels[m_plan.units[unit].kernel];
    }
    /// Returns the values from outside that the members compute with, according to the graph
    /// itself.
    std::set<NodeId> readsOf(const Kernel& kernel) const {
        const std::set<NodeId> members(kernel.members.begin(), kernel.members.end());
        std::set<NodeId> reads;
        for (NodeId id : kernel.members)
            for (NodeId in : m_graph[id].in)
                if (members.count(in) == 0 || isView(in))
                    reads.insert(storage(counted(kernel, in)));
        for (NodeId id : kernel.members) // a member's view is computed where the member is
            reads.erase(storage(id));
        return reads;
    }
    /// Returns the operand that a count of non-finite values may read instead: the 16-bit value
    /// before its cast to float32 has equally many of them.
    NodeId counted(const Kernel& kernel, NodeId operand) const {
        NodeId from = operand;
        while (m_graph[kernel.members.front()].op == Op::CountNonFinite &&
               storage(from) != kernel.loads.front() && m_graph[from].op == Op::Cast &&
               m_graph[from].dtype == DType::F32 &&
               bytesOf(m_graph[m_graph[from].in[0]].dtype) == 2)
            from = m_graph[from].in[0];
        return from;
    }
    bool isView(NodeId id) const { return infoOf(m_graph[id].op).flags.has(OpFlag::View); }

    void run(size_t unit) {
        ++m_runs[unit];
        const std::string who = "unit " + std::to_string(unit);
        if (isCommit(unit)) {
            for (size_t index : m_plan.units[unit].commits) {
                const StateInfo& state = m_graph.states()[index];
                expect(place(state.next), storage(state.next), who);
                write(place(state.node), storage(state.next));
            }
            return;
        }
        const Kernel& kernel = kernelOf(unit);
        for (NodeId id : readsOf(kernel))
            expect(place(id), id, who);
        const bool unfinished = phasesLeft(unit);
        for (NodeId id : kernel.stores)
            write(place(id), unfinished ? kUnfinished : id);
    }
    bool phasesLeft(size_t unit) const {
        for (size_t other = 0; other < m_plan.units.size(); ++other)
            if (m_plan.units[other].kernel == m_plan.units[unit].kernel && !isCommit(other) &&
                m_plan.units[other].phase > m_plan.units[unit].phase)
                return true;
        return false;
    }

    // ---- launches -------------------------------------------------------------------------------

    uint64_t pick(uint64_t bound) { return Philox(m_seed, 5).below(m_counter++, bound); }

    std::vector<size_t> shuffled(std::vector<size_t> list) {
        for (size_t i = list.size(); i > 1; --i)
            std::swap(list[i - 1], list[pick(i)]);
        return list;
    }
    void runStrand(const cuda::Strand& strand) {
        for (const auto& phase : strand.phases)
            for (size_t unit : shuffled(phase))
                run(unit);
    }
    /// Runs all heads at once: in each turn, one strand advances by one phase.
    void runHeads(const cuda::PlannedLaunch& launch) {
        std::vector<std::pair<const cuda::Strand*, size_t>> open;
        for (const cuda::Strand& strand : launch.heads)
            open.emplace_back(&strand, 0);
        while (!open.empty()) {
            const size_t at = pick(open.size());
            auto& [strand, phase] = open[at];
            for (size_t unit : shuffled(strand->phases[phase]))
                run(unit);
            if (++phase == strand->phases.size())
                open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }

    static size_t unitsOf(const cuda::Strand& strand) {
        size_t count = 0;
        for (const auto& phase : strand.phases)
            count += phase.size();
        return count;
    }
    /// Requires that only a strand of a single unit has many blocks, that libraries run alone, and
    /// that no phase is empty.
    void checkForm(const cuda::PlannedLaunch& launch) const {
        require(!launch.heads.empty(), "oracle: a launch of nothing");
        const auto check = [&](const cuda::Strand& strand, bool tail) {
            for (const auto& phase : strand.phases) {
                require(!phase.empty(), "oracle: an empty phase");
                for (size_t unit : phase) {
                    const cuda::Unit& each = m_plan.units[unit];
                    require(!each.wide || (!tail && unitsOf(strand) == 1),
                            "oracle: a wide unit in a chain");
                    require(each.kind == launch.kind, "oracle: a unit of another kind");
                }
            }
        };
        for (const cuda::Strand& strand : launch.heads)
            check(strand, false);
        check(launch.tail, true);
        require(launch.kind == cuda::LaunchKind::Generated ||
                    (launch.heads.size() == 1 && unitsOf(launch.heads[0]) == 1 &&
                     launch.tail.phases.empty()),
                "oracle: a library's launch does more than one thing");
    }

    std::vector<Range> writesOf(size_t unit) const {
        std::vector<Range> ranges;
        if (isCommit(unit))
            for (size_t index : m_plan.units[unit].commits)
                ranges.push_back(place(m_graph.states()[index].node));
        else
            for (NodeId id : kernelOf(unit).stores)
                ranges.push_back(place(id));
        return ranges;
    }
    std::vector<Range> touchesOf(size_t unit) const {
        std::vector<Range> ranges = writesOf(unit);
        if (isCommit(unit))
            for (size_t index : m_plan.units[unit].commits)
                ranges.push_back(place(m_graph.states()[index].next));
        else
            for (NodeId id : readsOf(kernelOf(unit)))
                ranges.push_back(place(id));
        return ranges;
    }
    void checkPair(size_t a, size_t b) const {
        const auto clash = [](const std::vector<Range>& x, const std::vector<Range>& y) {
            for (const Range& r : x)
                for (const Range& s : y)
                    if (r.first < s.second && s.first < r.second) return true;
            return false;
        };
        require(!clash(writesOf(a), touchesOf(b)) && !clash(writesOf(b), touchesOf(a)),
                "oracle: units " + std::to_string(a) + " and " + std::to_string(b) +
                    " race for the same bytes");
    }
    void checkRaces(const cuda::PlannedLaunch& launch) const {
        const auto within = [&](const cuda::Strand& strand) {
            for (const auto& phase : strand.phases)
                for (size_t i = 0; i < phase.size(); ++i)
                    for (size_t j = 0; j < i; ++j)
                        checkPair(phase[i], phase[j]);
        };
        within(launch.tail);
        for (size_t i = 0; i < launch.heads.size(); ++i) {
            within(launch.heads[i]);
            for (size_t j = 0; j < i; ++j)
                for (const auto& mine : launch.heads[i].phases)
                    for (size_t a : mine)
                        for (const auto& others : launch.heads[j].phases)
                            for (size_t b : others)
                                checkPair(a, b);
        }
    }

    void checkEnd() const {
        for (size_t unit = 0; unit < m_runs.size(); ++unit)
            require(m_runs[unit] == 1, "oracle: unit " + std::to_string(unit) + " ran " +
                                           std::to_string(m_runs[unit]) + " times");
        std::set<size_t> kernels;
        for (const cuda::Unit& unit : m_plan.units)
            kernels.insert(unit.kernel);
        kernels.erase(cuda::Unit::kNoKernel);
        require(kernels.size() == m_program.kernels.size(), "oracle: a kernel is not in the plan");
        for (const StateInfo& state : m_graph.states())
            expect(place(state.node), state.next == kNoNode ? state.node : storage(state.next),
                   "the next step's " + state.name);
        for (const OutputInfo& output : m_graph.outputs())
            if (m_graph[storage(output.node)].op != Op::State)
                expect(place(output.node), storage(output.node), "the reader of " + output.name);
    }

    const Program& m_program;
    const Graph& m_graph;
    const cuda::LaunchPlan& m_plan;
    std::map<size_t, std::pair<size_t, NodeId>> m_live; ///< begin -> end, value
    std::vector<int> m_runs;                            ///< by unit
    uint64_t m_seed = 0, m_counter = 0;
};

} // namespace halfscope::test
