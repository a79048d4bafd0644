// Random targets for random inputs, both from the seed: fitting them is memorising.
#include "engine/core/philox.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/data/drawn_python.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>

namespace halfscope {

namespace {

constexpr int64_t kFeatures = 10; // inputs, as in the usual AMP benchmarks

// Numbers of the random streams; those of the sampler and of the starting weights are higher.
constexpr uint64_t kInputStream = 1;
constexpr uint64_t kTargetStream = 2;

class RegressionData final : public Dataset {
public:
    RegressionData(const TaskConfig& task, uint64_t seed)
        : m_task(task), m_targets(static_cast<size_t>(task.samples + task.validationSamples)) {
        m_inputs.resize(m_targets.size() * kFeatures);
        Philox(seed, kInputStream).fillNormal(m_inputs);
        Philox(seed, kTargetStream).fillNormal(m_targets);
        for (float& target : m_targets)
            target = static_cast<float>(task.targetSpread * double{target} + task.targetMean);
    }

    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t samples(Split split) const override {
        return split == Split::Train ? m_task.samples : m_task.validationSamples;
    }
    int64_t number(Split split, int64_t sample) const override {
        return split == Split::Train ? sample : m_task.samples + sample;
    }

    std::vector<Unread> read(Pass pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        const std::span<float> x = out.floats(kX), target = out.floats(kTarget);
        for (size_t i = 0; i < samples.size(); ++i) {
            const int64_t drawn = number(pass.split, samples[i]);
            std::copy_n(m_inputs.begin() + drawn * kFeatures, kFeatures,
                        x.begin() + static_cast<std::ptrdiff_t>(i) * kFeatures);
            target[i] = m_targets[static_cast<size_t>(drawn)];
        }
        return {};
    }

    TaskView view() const override {
        TaskView view;
        view.kind = ViewKind::Scatter;
        view.centre = m_task.targetMean;
        view.reach = m_task.targetSpread > 0 ? 4 * m_task.targetSpread : 1;
        return view;
    }

private:
    TaskConfig m_task;
    std::array<TensorSpec, 2> m_tensors{TensorSpec{"x", {kFeatures}}, TensorSpec{"target", {1}}};
    std::vector<float> m_targets; ///< (samples), those to validate on last
    std::vector<float> m_inputs;  ///< (samples, kFeatures)
};

PythonData regressionPython(const TaskConfig& task, int64_t) {
    return {{},
            lang::filled(R"(SAMPLES = {SAMPLES}


def samples():
    """Random targets on random inputs: other ones than Halfscope draws."""
    generator = torch.Generator().manual_seed(SEED)
    x = torch.randn({DRAWN}, {FEATURES}, generator=generator)
    target = {SPREAD} * torch.randn({DRAWN}, 1, generator=generator) + {MEAN}
{RETURN})",
                         {{"SAMPLES", numberText(task.samples)},
                          {"DRAWN", drawnPython(task)},
                          {"RETURN", returnDrawnPython(task)},
                          {"FEATURES", numberText(kFeatures)},
                          {"SPREAD", lang::pythonReal(task.targetSpread)},
                          {"MEAN", lang::pythonReal(task.targetMean)}})};
}

} // namespace

extern const DataSetInfo kRegressionData;
const DataSetInfo kRegressionData{
    .name = "regression",
    .title = phrase("Settings", "Regression"),
    .about = phrase("Settings", "random targets to fit from random inputs"),
    .settings = {"task.samples", "task.validation_samples", "task.target_mean",
                 "task.target_spread"},
    .validates = true,
    .facts =
        [](const TaskConfig& task) {
            return DataFacts{{TensorSpec{"x", {kFeatures}}, TensorSpec{"target", {1}}},
                             task.samples,
                             task.validationSamples};
        },
    .make = [](const TaskConfig& task, uint64_t seed) -> std::unique_ptr<Dataset> {
        return std::make_unique<RegressionData>(task, seed);
    },
    .python = regressionPython};

} // namespace halfscope
