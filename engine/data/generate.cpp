// Random numbers as inputs, and pictures of MNIST as what a network is to make of them: a generator
// and its critic learn from this. Which picture goes with which numbers has no meaning.
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/lang/python.h"

#include <array>

namespace halfscope {

namespace {

constexpr uint64_t kLatentStream = 1;
constexpr int64_t kShown = 64; // pictures in a view

/// Returns settings of the pictures as they are in the files, whatever other data sets make of
/// theirs.
TaskConfig picturesOf(TaskConfig task) {
    task.kind = TaskKind::Mnist;
    task.flip = false;
    task.crop = 0;
    task.mean.clear();
    task.deviation.clear();
    return task;
}

std::vector<TensorSpec> tensorsOf(const TaskConfig& task, const Shape& picture) {
    return {TensorSpec{"x", {task.latent}}, TensorSpec{"target", {picture.elements()}}};
}

class GenerateData final : public Dataset {
public:
    GenerateData(const TaskConfig& task, uint64_t seed)
        : m_pictures(infoOf(TaskKind::Mnist).make(picturesOf(task), seed)),
          m_picture(m_pictures->tensors()[kX].shape), m_tensors(tensorsOf(task, m_picture)),
          m_samples(task.samples), m_latent(static_cast<uint64_t>(task.latent)),
          m_numbers(seed, kLatentStream) {}

    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t samples(Split split) const override { return split == Split::Train ? m_samples : 0; }

    std::vector<Unread> read(Pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        const std::span<float> x = out.floats(kX), target = out.floats(kTarget);
        std::vector<int64_t> pictures;
        for (size_t i = 0; i < samples.size(); ++i) {
            const auto sample = static_cast<uint64_t>(samples[i]);
            for (uint64_t j = 0; j < m_latent; ++j)
                x[i * m_latent + j] = m_numbers.normal(sample * m_latent + j);
            pictures.push_back(samples[i] % m_pictures->samples(Split::Train));
        }
        Batch batch = Batch::of(m_pictures->tensors(), static_cast<int64_t>(samples.size()));
        const auto unread = m_pictures->read(Split::Train, pictures, batch);
        require(unread.empty(), "pictures in memory can be read");
        const std::span<const float> pixels = batch.floats(kX);
        std::copy(pixels.begin(), pixels.end(), target.begin());
        return {};
    }

    /// Shows numbers that no step sees, the same ones from the first picture to the last.
    TaskView view() const override {
        TaskView view;
        view.kind = ViewKind::Samples;
        view.height = static_cast<int>(m_picture[1]);
        view.width = static_cast<int>(m_picture[2]);
        std::vector<int64_t> shown;
        for (int64_t i = 0; i < kShown; ++i)
            shown.push_back(m_samples + i);
        auto probe = std::make_shared<Batch>(Batch::of(m_tensors, kShown));
        read(Split::Train, shown, *probe);
        view.probe = std::move(probe);
        return view;
    }

    std::vector<std::string> files() const override { return m_pictures->files(); }

private:
    std::unique_ptr<Dataset> m_pictures;
    Shape m_picture; ///< (1, height, width)
    std::vector<TensorSpec> m_tensors;
    int64_t m_samples;
    uint64_t m_latent;
    Philox m_numbers;
};

DataFacts facts(const TaskConfig& task) {
    const DataFacts pictures = infoOf(TaskKind::Mnist).facts(picturesOf(task));
    return {tensorsOf(task, pictures.tensors[kX].shape), task.samples, 0};
}

PythonData python(const TaskConfig& task, int64_t outputs) {
    PythonData data = infoOf(TaskKind::Mnist).python(picturesOf(task), outputs);
    constexpr std::string_view kName = "def samples():";
    data.code.replace(data.code.find(kName), kName.size(), "def digits():");
    data.code +=
        lang::filled(R"(

LATENT = {LATENT}
SAMPLES = {SAMPLES}


def samples():
    """Random numbers, other ones than Halfscope draws, and pictures."""
    generator = torch.Generator().manual_seed(SEED)
    pictures = digits()[0][0].flatten(1)
    x = torch.randn(SAMPLES, LATENT, generator=generator)
    return (x, pictures[torch.arange(SAMPLES) % len(pictures)]), None
)",
                     {{"LATENT", numberText(task.latent)}, {"SAMPLES", numberText(task.samples)}});
    return data;
}

} // namespace

extern const DataSetInfo kGenerateData;
const DataSetInfo kGenerateData{
    .name = "generate",
    .title = phrase("Settings", "Drawn digits"),
    .about = phrase("Settings", "random numbers from which a network learns to draw digits like "
                                "those of MNIST; used with model.adversary"),
    .settings = {"data.path", "task.samples", "data.latent"},
    .fromFiles = true,
    .view = ViewKind::Samples,
    .facts = facts,
    .make = [](const TaskConfig& task, uint64_t seed) -> std::unique_ptr<Dataset> {
        return std::make_unique<GenerateData>(task, seed);
    },
    .python = python};

} // namespace halfscope
