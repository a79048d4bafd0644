// Puts networks, losses and first batches together.
#include "engine/train/step_cases.h"

#include "engine/core/philox.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"

#include <array>

namespace halfscope {

namespace {

constexpr int64_t kClassifierBatch = 64;
constexpr uint64_t kInputStream = 1, kLabelStream = 2;

/// One batch of random inputs with random labels.
class RandomLabels final : public BatchSource {
public:
    RandomLabels(const Shape& sample, int64_t classes, uint64_t seed)
        : m_tensors{TensorSpec{"x", sample}, TensorSpec{"target", {}, DType::I32, classes}} {
        Batch batch = Batch::of(m_tensors, kClassifierBatch);
        Philox(seed, kInputStream).fillNormal(batch.floats(kX));
        const Philox random(seed, kLabelStream);
        uint64_t i = 0;
        for (int32_t& label : batch.labels(kTarget))
            label = static_cast<int32_t>(random.below(i++, static_cast<uint64_t>(classes)));
        m_batch = std::make_shared<const Batch>(std::move(batch));
    }

    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t rows() const override { return kClassifierBatch; }
    int64_t batchNumber(int64_t /*step*/) const override { return 1; }
    std::shared_ptr<const Batch> load(int64_t, ThreadPool*) const override { return m_batch; }

private:
    std::array<TensorSpec, 2> m_tensors;
    std::shared_ptr<const Batch> m_batch;
};

std::unique_ptr<BatchSource> batchesOf(const StepCase& c, const RunConfig& config) {
    if (c.classes == 0) return makeTask(config);
    return std::make_unique<RandomLabels>(c.sample, c.classes, config.seed);
}

} // namespace

StepCase checkerboardCase(int64_t side, int64_t width) {
    StepCase c;
    c.name = "checkerboard-" + std::to_string(side) + "-w" + std::to_string(width);
    c.config.task.side = side;
    c.config.model.width = width;
    c.config.model.depth = 2; // the network of the recorded comparisons
    return c;
}

StepCase regressionCase() {
    StepCase c;
    c.name = "mlp-10-20-1";
    c.config.task.kind = TaskKind::Regression;
    c.config.model.width = 20;
    c.config.model.depth = 0;
    c.config.model.norm = Norm::None;
    return c;
}

StepCase classifierCase(int64_t inputs, int64_t width, int64_t classes) {
    StepCase c;
    c.name = "mlp-" + std::to_string(inputs) + "-" + std::to_string(width) + "-" +
             std::to_string(classes);
    c.config.model.width = width;
    c.config.model.depth = 0;
    c.config.model.norm = Norm::None;
    c.config.task.loss.kind = LossKind::CrossEntropy;
    c.sample = {inputs};
    c.classes = classes;
    return c;
}

StepCase digitsCase(std::string_view preset) {
    constexpr int64_t kSide = 28, kDigits = 10;
    return {std::string(preset), presetNamed(preset).config, {1, kSide, kSide}, kDigits};
}

StepCase separableCase() {
    StepCase c = digitsCase("fashion-cnn");
    c.name = "separable-cnn";
    c.config.model.layers = R"(nn.Sequential(
    nn.Conv2d(1, 32, 3, padding=3, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
    nn.Conv2d(32, 32, 3, padding=1, groups=32, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
    nn.Conv2d(32, 32, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)))";
    return c;
}

BatchShape shapeOf(const StepCase& c) { return batchesOf(c, c.config)->shape(); }

std::vector<StepCase> benchCases() {
    // The network of classifierCase() as a preset, which can be written for PyTorch.
    StepCase perceptron = digitsCase("mnist-mlp");
    perceptron.name = "mlp-784-256-10";
    return {checkerboardCase(64, 256),
            checkerboardCase(96, 128),
            checkerboardCase(128, 256),
            checkerboardCase(256, 256),
            checkerboardCase(512, 256),
            regressionCase(),
            perceptron,
            digitsCase("mnist-cnn"),
            digitsCase("fashion-cnn"),
            separableCase()};
}

std::unique_ptr<StepRunner> makeRunner(const StepCase& c, const LaneConfig& lane,
                                       std::unique_ptr<Executor> executor,
                                       const std::optional<CompileOptions>& options) {
    RunConfig config = c.config;
    config.lanes = {lane};
    const std::unique_ptr<BatchSource> batches = batchesOf(c, config);
    auto runner = std::make_unique<StepRunner>(
        config, lane, buildStep(config, lane, batches->shape()), std::move(executor), options);
    const std::shared_ptr<const Batch> first = batches->load(1);
    const Graph& graph = runner->graph();
    uploadTensor(runner->executor(), graph, graph.input("x"), first->tensors[kX]);
    uploadTensor(runner->executor(), graph, graph.input("target"), first->tensors[kTarget]);
    return runner;
}

} // namespace halfscope
