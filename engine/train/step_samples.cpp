// Asks the task for each batch, as a lane does.
#include "engine/train/step_samples.h"

#include "engine/core/error.h"
#include "engine/exec/reference.h"
#include "engine/io/safetensors.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/settings/sweep.h"
#include "engine/step/pytorch_samples.h"
#include "engine/step/step_graph.h"

#include <array>
#include <optional>

namespace halfscope {

namespace {

constexpr size_t kTensors = 2; // x and target

/// Returns the bytes that a sample takes in the file, where whole numbers are of PyTorch's type.
int64_t sampleBytes(const TensorSpec& spec) {
    return spec.shape.elements() *
           static_cast<int64_t>(spec.dtype == DType::F32 ? sizeof(float) : sizeof(int64_t));
}

/// Whether a step draws shares for its samples, see drawnShares().
bool drawsShares(const RunConfig& config) { return config.model.adversary == Adversary::WganGp; }

int64_t bytesOfStep(const RunConfig& config, const Task& task, int64_t step) {
    constexpr int64_t kNumber = sizeof(int64_t), kShare = sizeof(float);
    int64_t bytes = kNumber + (drawsShares(config) ? task.rows() * kShare : 0);
    if (task.batchNumber(step) != step) return bytes;
    for (size_t i = 0; i < kTensors; ++i)
        bytes += task.rows(step) * sampleBytes(task.tensors()[i]);
    return bytes + kNumber;
}

/// What the steps take, one after the other.
class TakenSamples {
public:
    TakenSamples(const Task& task, int64_t steps) {
        std::array<int64_t, kTensors> bytes{};
        for (int64_t step = 1; step <= steps; ++step)
            for (size_t i = 0; i < kTensors && task.batchNumber(step) == step; ++i)
                bytes[i] += task.rows(step) * sampleBytes(task.tensors()[i]);
        for (size_t i = 0; i < kTensors; ++i)
            m_bytes[i].reserve(static_cast<size_t>(bytes[i]));
        for (int64_t step = 1; step <= steps; ++step)
            take(task, step);
    }

    /// Returns views of this object's values.
    std::vector<ArrayView> arrays(std::span<const TensorSpec> specs) const {
        std::vector<ArrayView> views{{step_samples::kRows,
                                      ElementType::I64,
                                      {count(m_rows)},
                                      std::as_bytes(std::span(m_rows))},
                                     {step_samples::kBatch,
                                      ElementType::I64,
                                      {count(m_batches)},
                                      std::as_bytes(std::span(m_batches))}};
        for (size_t i = 0; i < kTensors; ++i) {
            const bool numbers = specs[i].dtype == DType::F32;
            std::vector<int64_t> shape{m_samples};
            shape.insert(shape.end(), specs[i].shape.begin(), specs[i].shape.end());
            views.push_back({i == kX ? step_samples::kX : step_samples::kTarget,
                             numbers ? ElementType::F32 : ElementType::I64, std::move(shape),
                             m_bytes[i]});
        }
        return views;
    }

private:
    static int64_t count(const std::vector<int64_t>& values) {
        return static_cast<int64_t>(values.size());
    }

    void take(const Task& task, int64_t step) {
        const int64_t first = task.batchNumber(step);
        if (first != step) {
            m_batches.push_back(m_batches[static_cast<size_t>(first - 1)]);
            return;
        }
        const std::shared_ptr<const Batch> batch = task.load(step);
        for (size_t i = 0; i < kTensors; ++i) {
            if (batch->tensors[i].dtype == DType::F32)
                append(i, std::as_bytes(batch->floats(i)));
            else
                for (const int64_t label : batch->labels(i))
                    append(i, std::as_bytes(std::span(&label, 1)));
        }
        m_batches.push_back(count(m_rows));
        m_rows.push_back(batch->rows());
        m_samples += batch->rows();
    }

    void append(size_t tensor, std::span<const std::byte> bytes) {
        m_bytes[tensor].insert(m_bytes[tensor].end(), bytes.begin(), bytes.end());
    }

    std::vector<int64_t> m_rows, m_batches;
    int64_t m_samples = 0;
    std::array<std::vector<std::byte>, kTensors> m_bytes;
};

/// Returns, for each step, what share of the way from its target each sample's mixture for the
/// critic lies: the node of the step that draws it says so. Empty without such mixtures.
std::vector<float> drawnShares(RunConfig config, const Task& task, int64_t steps) {
    std::vector<float> shares;
    if (!drawsShares(config)) return shares;
    config.lanes = parseLanes("fp32"); // the same in all
    const Graph graph = buildStep(config, config.lanes.front(), task.shape());
    const NodeId counter = graph.state("critic.mixtures");
    NodeId drawn = kNoNode;
    for (NodeId id = 0; id < graph.size(); ++id)
        if (graph[id].op == Op::Random && graph[id].in.front() == counter) drawn = id;
    require(drawn != kNoNode, "a step that penalises slopes draws mixtures");
    for (int64_t step = 0; step < steps; ++step) {
        const RefTensor before{{}, {static_cast<double>(step)}};
        const auto values = evaluate(graph, {{counter, before}}, std::array{drawn});
        for (const double share : values.at(drawn).values)
            shares.push_back(static_cast<float>(share));
    }
    return shares;
}

} // namespace

int64_t stepsWhoseSamplesFit(const RunConfig& config, const Task& task) {
    const int64_t steps = stepsOf(config);
    int64_t bytes = 0;
    for (int64_t step = 1; step <= steps; ++step) {
        bytes += bytesOfStep(config, task, step);
        if (bytes > kMostSampleBytes) return step - 1;
    }
    return steps;
}

void writeStepSamples(const std::string& path, RunConfig config, const Task& task,
                      const std::string& program) {
    const int64_t steps = stepsOf(config);
    require(stepsWhoseSamplesFit(config, task) == steps, "the samples fit in the file");
    setFromData(config, task.dataset());
    const TakenSamples taken(task, steps);
    std::vector<ArrayView> arrays = taken.arrays(task.tensors());
    const std::vector<float> shares = drawnShares(config, task, steps);
    if (!shares.empty())
        arrays.push_back({step_samples::kShare,
                          ElementType::F32,
                          {steps, task.rows(), 1},
                          std::as_bytes(std::span(shares))});
    const std::vector<float>& weights = config.task.loss.weights;
    if (!weights.empty())
        arrays.push_back({step_samples::kClassWeights,
                          ElementType::F32,
                          {static_cast<int64_t>(weights.size())},
                          std::as_bytes(std::span(weights))});
    writeSafetensors(path, arrays, {{"format", "pt"}, {"program", "halfscope " + program}});
}

} // namespace halfscope
