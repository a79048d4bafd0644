// Puts networks, losses and first batches together.
#include "engine/train/step_cases.h"

#include "engine/core/philox.h"
#include "engine/models/emit_model.h"
#include "engine/ops/functional.h"
#include "engine/settings/model_settings.h"
#include "engine/step/step_graph.h"

namespace halfscope {

namespace {

constexpr int64_t kClassifierBatch = 64;
constexpr uint64_t kInputStream = 1, kLabelStream = 2;

Graph classifierStep(const StepCase& c, const LaneConfig& lane) {
    return buildStepWith(c.config, lane, [&](Builder& b, DType storage) {
        const Shape batch{kClassifierBatch, c.inputs};
        const NodeId x = b.input("x", batch, storage);
        const NodeId target = b.input("target", {kClassifierBatch}, DType::I32);
        const ModelSpec model = modelOf(c.config.model, c.inputs, c.classes);
        const NodeId y = emitModel(b, model, {x, batch}, {.storage = storage}).output;
        return Forward{y, {b.cast(fn::crossEntropy(b, y, target), DType::F32)}};
    });
}

void uploadLabels(StepRunner& runner, const StepCase& c) {
    std::vector<float> x(static_cast<size_t>(kClassifierBatch * c.inputs));
    Philox(c.config.seed, kInputStream).fillNormal(x);
    const Philox random(c.config.seed, kLabelStream);
    std::vector<int32_t> labels;
    for (uint64_t i = 0; i < static_cast<uint64_t>(kClassifierBatch); ++i)
        labels.push_back(static_cast<int32_t>(random.below(i, static_cast<uint64_t>(c.classes))));
    runner.set(runner.graph().input("x"), x);
    runner.set(runner.graph().input("target"), labels);
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
    c.inputs = inputs;
    c.classes = classes;
    return c;
}

std::vector<StepCase> benchCases() {
    return {checkerboardCase(64, 256),   checkerboardCase(96, 128),  checkerboardCase(128, 256),
            checkerboardCase(256, 256),  checkerboardCase(512, 256), regressionCase(),
            classifierCase(784, 256, 10)};
}

std::unique_ptr<StepRunner> makeRunner(const StepCase& c, const LaneConfig& lane,
                                       std::unique_ptr<Executor> executor,
                                       const std::optional<CompileOptions>& options) {
    RunConfig config = c.config;
    config.lanes = {lane};
    if (c.classes > 0) {
        auto runner = std::make_unique<StepRunner>(config, lane, classifierStep(c, lane),
                                                   std::move(executor), options);
        uploadLabels(*runner, c);
        return runner;
    }
    const std::unique_ptr<Dataset> data = makeDataset(config);
    const BatchShape shape = data->shape();
    auto runner = std::make_unique<StepRunner>(config, lane, buildStep(config, lane, shape),
                                               std::move(executor), options);
    std::vector<float> x(static_cast<size_t>(shape.rows * shape.inputs));
    std::vector<float> target(static_cast<size_t>(shape.rows * shape.outputs));
    data->batch(1, x, target);
    runner->set(runner->graph().input("x"), x);
    runner->set(runner->graph().input("target"), target);
    return runner;
}

} // namespace halfscope
