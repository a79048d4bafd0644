// Makes units from a program's kernels and from the copies of its states, weighs them, and has them
// scheduled.
#include "engine/cuda/codegen/launch_plan.h"

#include "engine/cuda/codegen/chain.h"
#include "engine/cuda/codegen/chain_shape.h"
#include "engine/cuda/codegen/hazards.h"
#include "engine/cuda/codegen/product_loops.h"
#include "engine/cuda/codegen/schedule.h"
#include "engine/ops/op_info.h"
#include "engine/passes/fuse.h"
#include "engine/passes/plan.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

namespace halfscope::cuda {

namespace {

/// Values up to this size keep their own bytes: a thousand of them take little of a GPU's memory,
/// and everything that launches merge has this size.
constexpr size_t kApartBytes = size_t{1} << 20;
/// Multiply-adds from which a library's call, which is a launch of its own, is worth it.
constexpr double kLibraryWork = double(1 << 25);
/// A loop with this few members needs no more registers than a large streaming loop.
constexpr size_t kLightMembers = 16;
constexpr size_t kSmallCommit = 16 << 10; ///< of a state that one warp copies in passing

bool isConvolution(Op op) {
    return op == Op::Conv2d || op == Op::Conv2dInputGrad || op == Op::Conv2dWeightGrad;
}

double multiplyAdds(const Graph& graph, const Node& node) {
    const Shape& a = graph[node.in[0]].shape;
    const bool transposed = std::get<MatmulAttrs>(node.attrs).transposeA;
    return static_cast<double>(node.elements()) *
           static_cast<double>(a[a.rank() - (transposed ? 2 : 1)]);
}

bool isLibraryType(DType type) {
    return type == DType::F32 || type == DType::F16 || type == DType::BF16;
}

LaunchKind kindOf(const Graph& graph, const Kernel& kernel, const SourceOptions& options) {
    const Node& node = graph[kernel.members.front()];
    const bool typed = isLibraryType(node.dtype) &&
                       std::all_of(node.in.begin(), node.in.end(),
                                   [&](NodeId in) { return isLibraryType(graph[in].dtype); });
    if (options.libraries == Libraries::Unused || kernel.loop || kernel.members.size() != 1 ||
        !typed || node.elements() == 0 || options.refused.contains(kernel.members.front()))
        return LaunchKind::Generated;
    if (isConvolution(node.op)) {
        // cuDNN stores a convolution of 16 bits in 16 bits
        const bool wide = node.dtype != graph[node.in.front()].dtype;
        return options.convolutions == Libraries::Used && !wide ? LaunchKind::Convolution
                                                                : LaunchKind::Generated;
    }
    if (node.op == Op::Matmul && multiplyAdds(graph, node) >= kLibraryWork)
        return LaunchKind::Matmul;
    return LaunchKind::Generated;
}

/// Makes counts of non-finite values read what was widened to their operand, if that is stored: it
/// has as many non-finite elements, is half as large, and exists one launch earlier.
void countBeforeCasts(Program& program) {
    const Graph& graph = program.graph;
    std::set<NodeId> stored;
    for (const Kernel& kernel : program.kernels)
        stored.insert(kernel.stores.begin(), kernel.stores.end());
    for (const StateInfo& state : graph.states())
        stored.insert(state.node);
    for (const InputInfo& input : graph.inputs())
        stored.insert(input.node);
    for (Kernel& kernel : program.kernels) {
        const NodeId count = kernel.members.front();
        if (kernel.members.size() != 1 || graph[count].op != Op::CountNonFinite) continue;
        const NodeId from = storageOf(graph, widenedFrom(graph, graph[count].in[0]));
        if (stored.contains(from)) kernel.loads = {from};
    }
}

class UnitMaker {
public:
    UnitMaker(const Program& program, const DeviceTraits& traits, const SourceOptions& options,
              const CostModel& cost)
        : m_program(program), m_traits(traits), m_options(options), m_cost(cost) {}

    void run() {
        for (size_t kernel = 0; kernel < m_program.kernels.size(); ++kernel)
            addKernel(kernel);
        addCommits();
    }

    std::vector<Unit> units;
    std::vector<Access> accesses;

private:
    void addKernel(size_t index) {
        const Kernel& kernel = m_program.kernels[index];
        Unit unit;
        unit.kernel = index;
        unit.kind = kindOf(m_program.graph, kernel, m_options);
        unit.work = workOf(m_program, index);
        unit.bytes = bytesOf(kernel, unit.work);
        unit.light = kernel.loop && kernel.members.size() <= kLightMembers &&
                     !isProductLoop(m_program.graph, kernel);
        const int phases = isChain(kernel) ? chainPhases(m_program, index, m_traits) : 1;
        if (isChain(kernel)) unit.work = m_cost.workIn(chainTime(index));
        for (unit.phase = 0; unit.phase < phases; ++unit.phase) {
            weigh(unit, isChain(kernel) && unit.phase == 0);
            if (unit.phase > 0) { // merges partial sums: many blocks, little work
                unit.work = unit.bytes = 0;
                unit.wide = true;
                unit.alone = false;
            }
            units.push_back(unit);
            accesses.push_back(accessOf(m_program, kernel));
        }
    }

    /// Returns what a kernel reads and writes. Of a large table it reads what its operations need.
    double bytesOf(const Kernel& kernel, double work) const {
        const Graph& graph = m_program.graph;
        double bytes = 0;
        for (NodeId id : kernel.loads)
            bytes += std::min(static_cast<double>(graph[id].bytes()),
                              work * static_cast<double>(halfscope::bytesOf(graph[id].dtype)));
        for (NodeId id : kernel.stores)
            bytes += static_cast<double>(graph[id].bytes());
        return bytes;
    }

    double chainTime(size_t index) const {
        const Traffic traffic = trafficOf(m_program, index);
        return std::max((traffic.readBytes + traffic.writtenBytes) / m_cost.bytes,
                        traffic.flops / m_cost.tensorFlops);
    }

    void weigh(Unit& unit, bool chain) const {
        const bool library = unit.kind != LaunchKind::Generated;
        unit.wide = library || chain || m_cost.narrow(unit) > m_cost.launch + m_cost.wide(unit);
        unit.alone = library || chain || (unit.wide && m_cost.wide(unit) >= m_cost.aloneFrom);
    }

    /// Adds copies for the states whose next value is elsewhere. Those that wait for the same
    /// number of wide units are copied together; small states are separate from large ones, whose
    /// copies are wide units.
    void addCommits() {
        const Graph& graph = m_program.graph;
        std::vector<size_t> states;
        std::vector<Access> all = accesses;
        for (size_t i = 0; i < graph.states().size(); ++i) {
            const StateInfo& state = graph.states()[i];
            if (state.next == kNoNode ||
                rangeOf(m_program, state.next).begin == rangeOf(m_program, state.node).begin)
                continue;
            states.push_back(i);
            all.push_back(accessOfCommit(m_program, {i}));
        }
        const std::vector<std::vector<size_t>> before = hazards(all);
        const bool apart = anyFrom(before, accesses.size());
        const std::vector<int> depth = wideDepths(before);
        std::map<std::tuple<size_t, int, bool>, std::vector<size_t>> groups;
        for (size_t i = 0; i < states.size(); ++i) {
            const size_t bytes = graph[graph.states()[states[i]].node].bytes();
            groups[{apart ? i : 0, depth[accesses.size() + i], bytes > kSmallCommit}].push_back(
                states[i]);
        }
        for (const auto& [key, group] : groups)
            addCommit(group);
    }

    /// Whether units from `first` on wait for one another, because a next value is where a state
    /// is.
    static bool anyFrom(const std::vector<std::vector<size_t>>& before, size_t first) {
        for (size_t unit = first; unit < before.size(); ++unit)
            for (size_t other : before[unit])
                if (other >= first) return true;
        return false;
    }

    void addCommit(const std::vector<size_t>& states) {
        Unit unit;
        unit.commits = states;
        unit.light = true;
        accesses.push_back(accessOfCommit(m_program, states));
        for (const ByteRange& range : accesses.back().writes)
            unit.work += static_cast<double>(range.end - range.begin) / 8;
        weigh(unit, false);
        unit.alone = false;
        units.push_back(unit);
    }

    /// Returns how many wide units must run before each unit, along the longest path.
    std::vector<int> wideDepths(const std::vector<std::vector<size_t>>& before) const {
        std::vector<int> depth(before.size(), 0);
        for (size_t unit = 0; unit < before.size(); ++unit)
            for (size_t other : before[unit])
                depth[unit] = std::max(depth[unit], depth[other] + (units[other].wide ? 1 : 0));
        return depth;
    }

    const Program& m_program;
    const DeviceTraits& m_traits;
    const SourceOptions& m_options;
    const CostModel& m_cost;
};

std::string nameOf(const Program& program, const Unit& unit) {
    if (unit.kernel == Unit::kNoKernel)
        return "copy of " + std::to_string(unit.commits.size()) + " states";
    const Kernel& kernel = program.kernels[unit.kernel];
    const std::string index = std::to_string(unit.kernel) + " ";
    if (isProductLoop(program.graph, kernel))
        return index + "product and loop" + kernel.space.text();
    if (kernel.loop) return index + "loop" + kernel.space.text();
    std::string name =
        index + std::string(halfscope::nameOf(program.graph[kernel.members.front()].op));
    if (isChain(kernel)) name = index + "chain";
    if (unit.kind != LaunchKind::Generated) name += " (library)";
    return name + (unit.phase > 0 ? " merge" : "");
}

std::string textOf(const Program& program, const LaunchPlan& plan, const Strand& strand) {
    std::string text;
    for (const auto& phase : strand.phases) {
        if (!text.empty()) text += " > ";
        for (size_t i = 0; i < phase.size(); ++i)
            text += (i > 0 ? ", " : "") + nameOf(program, plan.units[phase[i]]);
    }
    return text;
}

} // namespace

double CostModel::narrow(const Unit& u) const {
    return unit + std::max(u.work, u.bytes / workBytes) / blockWork;
}
double CostModel::wide(const Unit& u) const {
    const double rate = workIn(1);
    return wideUnit + u.work / (u.kind == LaunchKind::Generated ? rate : rate * library);
}
double CostModel::workIn(double time) const {
    return time * blockWork * blocksWorth * multiprocessors;
}
double CostModel::of(const Unit& u) const { return u.wide ? wide(u) : narrow(u); }

Program prepare(const Program& program, const DeviceTraits& traits, const SourceOptions& options) {
    Program prepared = program;
    if (options.chains != Chains::Unfused)
        prepared = fuseChains(program, traits,
                              {.leastElements = options.chainElements,
                               .products = options.chains != Chains::Sums,
                               .keepOperands = options.keepOperands});
    countBeforeCasts(prepared);
    joinProducts(prepared, [&](const Kernel& kernel) {
        return kindOf(prepared.graph, kernel, options) == LaunchKind::Generated;
    });
    prepared.memory =
        planMemory(prepared.graph, prepared.kernels, prepared.pointOfNoReturn, kApartBytes);
    return prepared;
}

LaunchPlan planLaunches(const Program& program, const DeviceTraits& traits,
                        const SourceOptions& options) {
    CostModel cost;
    cost.multiprocessors = traits.multiprocessors;
    cost.blockWork = traits.blockWork;
    UnitMaker maker(program, traits, options, cost);
    maker.run();
    LaunchPlan plan;
    plan.units = std::move(maker.units);
    plan.launches = options.merge == Merge::OneByOne
                        ? scheduleOneByOne(plan.units, cost)
                        : scheduleMerged(plan.units, hazards(maker.accesses), cost);
    return plan;
}

std::string describe(const Program& program, const LaunchPlan& plan) {
    double sum = 0;
    for (const PlannedLaunch& launch : plan.launches)
        sum += launch.microseconds;
    char line[64];
    std::snprintf(line, sizeof line, "%zu launches, about %.1f us\n", plan.launches.size(), sum);
    std::string text = line;
    for (size_t i = 0; i < plan.launches.size(); ++i) {
        const PlannedLaunch& launch = plan.launches[i];
        std::snprintf(line, sizeof line, "%3zu %8.1f us  ", i, launch.microseconds);
        text += line;
        for (size_t head = 0; head < launch.heads.size(); ++head)
            text += (head > 0 ? " | " : "") + textOf(program, plan, launch.heads[head]);
        if (!launch.tail.phases.empty()) text += " | then " + textOf(program, plan, launch.tail);
        text += "\n";
    }
    return text;
}

} // namespace halfscope::cuda
