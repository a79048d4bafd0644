// Points of two classes in the plane that no straight line separates: two moons and two circles as
// in scikit-learn (make_moons; make_circles with a factor of 0.5), and two spirals as in TensorFlow
// Playground.
#include "engine/core/philox.h"
#include "engine/core/text.h"
#include "engine/data/losses.h"
#include "engine/data/stored_data.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace halfscope {

namespace {

using std::numbers::pi;

constexpr int64_t kInputs = 2, kClasses = 2;
// Number of the random stream; those of the sampler and of the starting weights are higher.
constexpr uint64_t kNoiseStream = 1;

struct Point {
    double x = 0, y = 0;
};

/// Where a sample lies in the row of its class, from 0 at the first: `even` stays below 1, `whole`
/// reaches 1.
struct Place {
    double even = 0, whole = 0;
};

struct Form {
    Point (*at)(Place, int label);
    const char* python; ///< lines that make x and y from even, whole and target
    enum class Noise : uint8_t { Normal, Uniform } noise = Noise::Normal;
};

Point moons(Place place, int label) {
    const double angle = pi * place.whole;
    if (label == 0) return {std::cos(angle), std::sin(angle)};
    return {1 - std::cos(angle), 0.5 - std::sin(angle)};
}

Point spirals(Place place, int label) {
    const double radius = 5 * place.even;
    const double angle = 1.75 * 2 * pi * place.even + (label == 0 ? pi : 0);
    return {radius * std::sin(angle), radius * std::cos(angle)};
}

Point circles(Place place, int label) {
    const double radius = label == 0 ? 1 : 0.5, angle = 2 * pi * place.even;
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

constexpr Form kMoons{moons, R"(    angle = torch.pi * whole
    x = torch.where(target == 0, angle.cos(), 1 - angle.cos())
    y = torch.where(target == 0, angle.sin(), 0.5 - angle.sin())
)"};
constexpr Form kCircles{circles, R"(    radius = torch.where(target == 0, 1.0, 0.5)
    x = radius * (2 * torch.pi * even).cos()
    y = radius * (2 * torch.pi * even).sin()
)"};
constexpr Form kSpirals{spirals,
                        R"(    angle = 1.75 * 2 * torch.pi * even + torch.pi * (target == 0)
    x = 5 * even * angle.sin()
    y = 5 * even * angle.cos()
)",
                        Form::Noise::Uniform};

/// Whether the classes are one number, as the loss takes them.
bool areSides(const TaskConfig& task) { return infoOf(task.loss.kind).ofShares; }

std::vector<TensorSpec> pointTensors(const TaskConfig& task) {
    return {TensorSpec{"x", {kInputs}}, areSides(task)
                                            ? TensorSpec{"target", {1}}
                                            : TensorSpec{"target", {}, DType::I32, kClasses}};
}

/// The two classes take turns among the samples.
class PointData final : public StoredData {
public:
    PointData(const Form& form, const TaskConfig& task, uint64_t seed) {
        m_tensors = pointTensors(task);
        m_sides = areSides(task);
        m_splits = HeldBack(task.samples, task.validation);
        std::vector<float> noise(static_cast<size_t>(task.samples * kInputs));
        const Philox random(seed, kNoiseStream);
        if (form.noise == Form::Noise::Normal)
            random.fillNormal(noise);
        else
            random.fillUniform(noise, -1, 1);
        m_points.reserve(noise.size());
        for (int64_t i = 0; i < task.samples; ++i) {
            const int label = labelOf(i);
            const int64_t count = (task.samples + 1 - label) / kClasses;
            const auto at = static_cast<double>(i / kClasses);
            const Place place{at / static_cast<double>(count),
                              at / static_cast<double>(std::max<int64_t>(count - 1, 1))};
            const auto [x, y] = form.at(place, label);
            for (const double value : {x, y})
                m_points.push_back(
                    static_cast<float>(value + task.noise * double{noise[m_points.size()]}));
        }
        setView();
    }

private:
    void readStored(int32_t stored, int64_t, const SamplePlace& place) const override {
        std::copy_n(pointOf(stored), kInputs, place.floats(kX).begin());
        if (m_sides)
            place.floats(kTarget)[0] = static_cast<float>(labelOf(stored));
        else
            place.label() = labelOf(stored);
    }

    void setView() {
        constexpr size_t kMostMarks = 300; // more would hide the map
        m_view.kind = ViewKind::Plane;
        m_view.classes = {"0", "1"};
        setRanges();
        m_view.probe = planeGrid(m_view.across, m_view.up);
        for (size_t i = 0; i < std::min(kMostMarks, m_splits.train.size()); ++i) {
            const int32_t stored =
                m_splits
                    .train[i * m_splits.train.size() / std::min(kMostMarks, m_splits.train.size())];
            m_view.marks.push_back({pointOf(stored)[0], pointOf(stored)[1], labelOf(stored)});
        }
    }

    static int32_t labelOf(int64_t stored) { return static_cast<int32_t>(stored % kClasses); }
    const float* pointOf(int32_t stored) const {
        return m_points.data() + static_cast<size_t>(stored) * 2;
    }

    /// Sets ranges that are as long across as up and hold all samples.
    void setRanges() {
        constexpr double kAir = 0.08;
        std::array<AxisRange, 2> ranges{AxisRange{m_points[0], m_points[0]},
                                        AxisRange{m_points[1], m_points[1]}};
        for (size_t i = 0; i < m_points.size(); ++i) {
            AxisRange& range = ranges[i % 2];
            range.low = std::min(range.low, double{m_points[i]});
            range.high = std::max(range.high, double{m_points[i]});
        }
        const double widest =
            std::max({ranges[0].high - ranges[0].low, ranges[1].high - ranges[1].low, 1e-3});
        for (AxisRange& range : ranges) {
            const double centre = (range.low + range.high) / 2, reach = (0.5 + kAir) * widest;
            range = {centre - reach, centre + reach};
        }
        m_view.across = ranges[0];
        m_view.up = ranges[1];
    }

    std::vector<float> m_points; ///< (samples, 2)
};

DataFacts pointFacts(const TaskConfig& task) {
    const int64_t validation = HeldBack::count(task.samples, task.validation);
    DataFacts facts{pointTensors(task), task.samples - validation, validation};
    facts.sides = areSides(task);
    return facts;
}

template <const Form& form>
std::unique_ptr<Dataset> make(const TaskConfig& task, uint64_t seed) {
    return std::make_unique<PointData>(form, task, seed);
}

template <const Form& form>
PythonData python(const TaskConfig& task, int64_t) {
    const bool normal = form.noise == Form::Noise::Normal;
    return {{},
            lang::filled(R"(SAMPLES = {SAMPLES}


def samples():
    """Points of two classes in the plane, with other noise than Halfscope draws."""
    generator = torch.Generator().manual_seed(SEED)
    target = torch.arange(SAMPLES) % 2
    place, count = torch.arange(SAMPLES) // 2, (SAMPLES + 1 - target) // 2
    even, whole = place / count, place / (count - 1).clamp(min=1)
{POINTS}    noise = {NOISE}
    x = torch.stack([x, y], 1) + {SIZE} * noise
{SIDES}{HELD}    return (x[train], target[train]), (x[held], target[held])
)",
                         {{"SAMPLES", numberText(task.samples)},
                          {"POINTS", form.python},
                          {"NOISE", normal ? "torch.randn(SAMPLES, 2, generator=generator)"
                                           : "2 * torch.rand(SAMPLES, 2, generator=generator) - 1"},
                          {"SIZE", lang::pythonReal(task.noise)},
                          {"SIDES", areSides(task) ? "    target = target.float()[:, None]\n" : ""},
                          {"HELD", heldBackPython(task.validation)}})};
}

template <const Form& form>
constexpr DataSetInfo row(const char* name, Phrase title, Phrase about) {
    return {.name = name,
            .title = title,
            .about = about,
            .settings = {"task.samples", "task.noise", "data.validation"},
            .targets = Targets::TwoClasses,
            .validates = true,
            .view = ViewKind::Plane,
            .facts = pointFacts,
            .make = make<form>,
            .python = python<form>};
}

} // namespace

extern const DataSetInfo kMoonData, kSpiralData, kCircleData;
const DataSetInfo kMoonData =
    row<kMoons>("moons", phrase("Settings", "Two moons"),
                phrase("Settings", "two half moons in the plane, as scikit-learn draws them"));
const DataSetInfo kSpiralData =
    row<kSpirals>("spirals", phrase("Settings", "Two spirals"),
                  phrase("Settings", "two spirals in the plane, as in TensorFlow Playground"));
const DataSetInfo kCircleData =
    row<kCircles>("circles", phrase("Settings", "Two circles"),
                  phrase("Settings", "a circle around another, as scikit-learn draws them"));

} // namespace halfscope
