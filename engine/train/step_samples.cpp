// Asks the task for each batch, as a lane does, and for the samples that lanes are judged on.
#include "engine/train/step_samples.h"

#include "engine/core/error.h"
#include "engine/exec/reference.h"
#include "engine/io/safetensors.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/settings/sweep.h"
#include "engine/step/pytorch_samples.h"
#include "engine/step/step_graph.h"
#include "engine/train/sample_arrays.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

namespace halfscope {

namespace {

/// Whether a step draws shares for its samples, see drawnShares().
bool drawsShares(const RunConfig& config) { return config.model.adversary == Adversary::WganGp; }

/// Returns how many samples a step takes that no earlier one has taken.
int64_t newRows(const Task& task, int64_t step) {
    return task.batchNumber(step) == step ? task.rows(step) : 0;
}

int64_t bytesOfStep(const RunConfig& config, const Task& task, int64_t step) {
    constexpr int64_t kNumber = sizeof(int64_t), kNumberOfShare = sizeof(float);
    const int64_t rows = newRows(task, step);
    return kNumber + (drawsShares(config) ? task.rows() * kNumberOfShare : 0) +
           (rows > 0 ? rows * SampleArrays::bytesOfOne(task.tensors()) + kNumber : 0);
}

int64_t judgedBytes(const RunConfig& config, const Task& task) {
    return judgedSamples(config, task) * SampleArrays::bytesOfOne(task.tensors());
}

/// What the steps take, one after the other.
class TakenSamples {
public:
    TakenSamples(const Task& task, int64_t steps) : m_samples(task.tensors()) {
        int64_t samples = 0;
        for (int64_t step = 1; step <= steps; ++step)
            samples += newRows(task, step);
        m_samples.reserve(samples);
        for (int64_t step = 1; step <= steps; ++step)
            take(task, step);
    }

    /// Returns views of this object's values.
    std::vector<ArrayView> views() const {
        std::vector<ArrayView> views = m_samples.views({});
        views.push_back(viewOf(step_samples::kRows, m_rows));
        views.push_back(viewOf(step_samples::kBatch, m_batches));
        return views;
    }

private:
    static ArrayView viewOf(const char* name, const std::vector<int64_t>& values) {
        return {name,
                ElementType::I64,
                {static_cast<int64_t>(values.size())},
                std::as_bytes(std::span(values))};
    }

    void take(const Task& task, int64_t step) {
        const int64_t first = task.batchNumber(step);
        if (first != step) {
            m_batches.push_back(m_batches[static_cast<size_t>(first - 1)]);
            return;
        }
        const std::shared_ptr<const Batch> batch = task.load(step);
        m_samples.add(*batch);
        m_batches.push_back(static_cast<int64_t>(m_rows.size()));
        m_rows.push_back(batch->rows());
    }

    std::vector<int64_t> m_rows, m_batches;
    SampleArrays m_samples;
};

/// Reads what lanes are validated on as the Evaluator does; without `data` that is nothing.
SampleArrays heldBy(const Dataset* data, const Task& task) {
    constexpr int64_t kAtOnce = 256;
    SampleArrays held(task.tensors());
    const int64_t samples = data ? data->samples(Split::Validation) : 0;
    held.reserve(samples);
    for (int64_t first = 0; first < samples; first += kAtOnce) {
        std::vector<int64_t> wanted(static_cast<size_t>(std::min(kAtOnce, samples - first)));
        std::iota(wanted.begin(), wanted.end(), first);
        Batch batch = Batch::of(data->tensors(), static_cast<int64_t>(wanted.size()));
        const std::vector<Unread> unread = data->read(Split::Validation, wanted, batch);
        held.add(batch, unread);
    }
    return held;
}

/// Returns the deviation of each value of a target; empty where targets are not standardised.
std::vector<double> deviationsOf(const Task& task) {
    const Standardiser& scale = task.dataset().targetScale();
    std::vector<double> deviations;
    if (!scale.active()) return deviations;
    for (int64_t i = 0; i < task.tensors()[kTarget].shape.elements(); ++i)
        deviations.push_back(scale.spreadAt(static_cast<size_t>(i)).deviation);
    return deviations;
}

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

int64_t judgedSamples(const RunConfig& config, const Task& task) {
    if (!judgesLanes(config)) return 0;
    int64_t samples = 0;
    for (const Dataset* data : {task.validation(), task.test()})
        if (data) samples += data->samples(Split::Validation);
    return samples;
}

bool judgedSamplesFit(const RunConfig& config, const Task& task) {
    return judgedBytes(config, task) <= kMostSampleBytes;
}

int64_t stepsWhoseSamplesFit(const RunConfig& config, const Task& task) {
    const int64_t steps = stepsOf(config);
    int64_t bytes = judgedBytes(config, task);
    for (int64_t step = 1; step <= steps; ++step) {
        bytes += bytesOfStep(config, task, step);
        if (bytes > kMostSampleBytes) return step - 1;
    }
    return steps;
}

void writeStepSamples(const std::string& path, RunConfig config, const Task& task,
                      const std::string& program) {
    const int64_t steps = stepsOf(config), epoch = task.stepsPerEpoch();
    require(stepsWhoseSamplesFit(config, task) == steps, "the samples fit in the file");
    setFromData(config, task.dataset());
    const TakenSamples taken(task, steps);
    std::vector<ArrayView> arrays = taken.views();
    arrays.push_back(
        {step_samples::kEpoch, ElementType::I64, {1}, std::as_bytes(std::span(&epoch, 1))});
    const bool judges = judgesLanes(config);
    const SampleArrays validation = heldBy(judges ? task.validation() : nullptr, task);
    const SampleArrays test = heldBy(judges ? task.test() : nullptr, task);
    if (judges) { // the program looks for them also where there are none
        std::ranges::move(validation.views(step_samples::kValidation), std::back_inserter(arrays));
        std::ranges::move(test.views(step_samples::kTest), std::back_inserter(arrays));
    }
    const std::vector<double> deviations = deviationsOf(task);
    const Shape& target = task.tensors()[kTarget].shape;
    if (!deviations.empty())
        arrays.push_back({step_samples::kDeviation,
                          ElementType::F64,
                          {target.begin(), target.end()},
                          std::as_bytes(std::span(deviations))});
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
