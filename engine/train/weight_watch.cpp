// Counts equal bits, and sums squares in an order that does not depend on the machine.
#include "engine/train/weight_watch.h"

#include "engine/core/error.h"
#include "engine/settings/run_config.h"
#include "engine/train/step_runner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace halfscope {

namespace {

bool isTrained(const StateInfo& state) {
    return state.role == StateRole::Parameter && state.next != kNoNode;
}

/// Returns the parameter of which a node is a copy in another shape, or the node itself.
NodeId source(const Graph& graph, NodeId id) {
    while (graph[id].op == Op::Reshape || graph[id].op == Op::Transpose)
        id = graph[id].in[0];
    return id;
}

template <class Bits>
int64_t countEqual(const std::byte* a, const std::byte* b, size_t count) {
    int64_t equal = 0;
    for (size_t i = 0; i < count; ++i) {
        Bits x, y;
        std::memcpy(&x, a + i * sizeof(Bits), sizeof(Bits));
        std::memcpy(&y, b + i * sizeof(Bits), sizeof(Bits));
        equal += x == y ? 1 : 0;
    }
    return equal;
}

int64_t countEqual(DType type, const std::byte* a, const std::byte* b, size_t count) {
    return bytesOf(type) == 2 ? countEqual<uint16_t>(a, b, count)
                              : countEqual<uint32_t>(a, b, count);
}

/// Counts the f32 values that `type` rounds to the same bits before and after.
int64_t countEqualCopies(DType type, std::span<const std::byte> before,
                         std::span<const std::byte> after) {
    constexpr size_t kBlock = 2048; // small enough for the first cache
    std::array<float, kBlock> from;
    std::array<std::array<uint16_t, kBlock>, 2> rounded;
    int64_t equal = 0;
    const size_t count = before.size() / sizeof(float);
    for (size_t at = 0; at < count; at += kBlock) {
        const size_t some = std::min(kBlock, count - at);
        size_t side = 0;
        for (const std::span<const std::byte> values : {before, after}) {
            std::memcpy(from.data(), values.data() + at * sizeof(float), some * sizeof(float));
            storeFromFloat(type, from.data(), rounded[side++].data(), some);
        }
        for (size_t i = 0; i < some; ++i)
            equal += rounded[0][i] == rounded[1][i] ? 1 : 0;
    }
    return equal;
}

/// Returns what the second operand of QuantizeFp8 is: the greatest magnitude of all values, or that
/// of the format where there is no scale.
float greatestOf(std::span<const std::byte> values, Fp8Scaling scaling) {
    if (scaling == Fp8Scaling::None) return factsOf(Fp8Format::E4M3).max;
    float greatest = 0;
    for (size_t at = 0; at < values.size(); at += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, values.data() + at, sizeof(float));
        greatest = std::fabs(value) > greatest || std::isnan(value) ? std::fabs(value) : greatest;
        if (std::isnan(greatest)) break;
    }
    return greatest;
}

/// Counts the f32 values that E4M3 has the same number for before and after.
int64_t countEqualFp8(Fp8Scaling scaling, std::span<const std::byte> before,
                      std::span<const std::byte> after) {
    constexpr Fp8Facts kFacts = factsOf(Fp8Format::E4M3);
    const float greatest[] = {greatestOf(before, scaling), greatestOf(after, scaling)};
    int64_t equal = 0;
    for (size_t at = 0; at < before.size(); at += sizeof(float)) {
        float old = 0, now = 0;
        std::memcpy(&old, before.data() + at, sizeof(float));
        std::memcpy(&now, after.data() + at, sizeof(float));
        equal +=
            quantizedToFp8(kFacts, old, greatest[0]) == quantizedToFp8(kFacts, now, greatest[1])
                ? 1
                : 0;
    }
    return equal;
}

/// A sum of squares in several partial sums, which a processor adds at the same time.
class SquareSum {
public:
    void add(double value, size_t place) { m_parts[place % m_parts.size()] += value * value; }
    double root() const {
        double sum = 0;
        for (const double part : m_parts)
            sum += part;
        return std::sqrt(sum);
    }

private:
    std::array<double, 8> m_parts{};
};

} // namespace

bool watchesWeights(const RunConfig& config, int64_t step) {
    const int64_t every = config.watchWeights, batches = config.gradients.accumulate;
    if (every == 0 || step % batches != 0) return false;
    return step / every != (step - batches) / every;
}

WeightWatch::WeightWatch(const Graph& graph) {
    for (const StateInfo& state : graph.states()) {
        if (!isTrained(state)) continue;
        const Node& node = graph[state.node];
        m_parameters.push_back({state.name, state.node, node.dtype, node.bytes()});
    }
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        if (node.op != Op::Cast || !isLow(node.dtype)) continue;
        NodeId from = source(graph, node.in[0]);
        std::optional<Fp8Scaling> fp8;
        if (const Node& rounded = graph[from]; rounded.op == Op::QuantizeFp8) {
            const bool fixed = graph[rounded.in[1]].op == Op::Constant;
            fp8 = fixed ? Fp8Scaling::None : Fp8Scaling::Dynamic;
            from = source(graph, rounded.in[0]);
        }
        for (Parameter& each : m_parameters) {
            if (each.node != from || each.stored != DType::F32) continue;
            each.copy = node.dtype;
            each.fp8 = fp8;
        }
    }
}

void WeightWatch::before(Executor& executor) {
    for (Parameter& each : m_parameters) {
        each.before.resize(each.bytes);
        executor.download(each.node, each.before);
    }
}

std::optional<WeightChange>
WeightWatch::after(Executor& executor, const std::function<bool(const std::string&)>& updated) {
    int64_t weights = 0, unchanged = 0, copies = 0, unchangedCopies = 0;
    for (const Parameter& each : m_parameters) {
        require(each.before.size() == each.bytes, "weights are kept before the step");
        if (!updated(each.name)) continue;
        m_after.resize(each.bytes);
        executor.download(each.node, m_after);
        const size_t count = each.bytes / bytesOf(each.stored);
        weights += static_cast<int64_t>(count);
        unchanged += countEqual(each.stored, each.before.data(), m_after.data(), count);
        if (!each.copy) continue;
        copies += static_cast<int64_t>(count);
        unchangedCopies += each.fp8 ? countEqualFp8(*each.fp8, each.before, m_after)
                                    : countEqualCopies(*each.copy, each.before, m_after);
    }
    if (weights == 0) return std::nullopt;
    const auto share = [](int64_t some, int64_t all) {
        return static_cast<double>(some) / static_cast<double>(all);
    };
    WeightChange change{share(unchanged, weights)};
    if (copies > 0) change.unchangedCopies = share(unchangedCopies, copies);
    return change;
}

double weightDistance(Executor& executor, const Graph& graph, Executor& reference,
                      const Graph& referenceGraph) {
    SquareSum difference, norm;
    for (const StateInfo& state : graph.states()) {
        if (!isTrained(state)) continue;
        const std::vector<float> own = downloadFloats(executor, graph, state.node);
        const std::vector<float> other =
            downloadFloats(reference, referenceGraph, referenceGraph.state(state.name));
        require(own.size() == other.size(), "lanes train the same network");
        for (size_t i = 0; i < own.size(); ++i) {
            difference.add(double{own[i]} - double{other[i]}, i);
            norm.add(double{other[i]}, i);
        }
    }
    return difference.root() / norm.root();
}

} // namespace halfscope
