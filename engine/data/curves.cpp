// Curves to fit: points on a parabola, and points around a line. The inputs are powers of x, so
// that one Linear layer can learn the coefficients.
#include "engine/core/philox.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/data/drawn_python.h"
#include "engine/lang/python.h"

#include <array>

namespace halfscope {

namespace {

// Numbers of the random streams; those of the sampler and of the starting weights are higher.
constexpr uint64_t kPlaceStream = 1;
constexpr uint64_t kNoiseStream = 2;

/// A curve whose inputs are x to these powers.
struct Polynomial {
    std::vector<int> powers;
    std::vector<double> coefficients; ///< of the powers
    double constant = 0;              ///< the term that has no input
    AxisRange x{};                    ///< the range of the samples
    const char* formula = "";
    bool noisy = false; ///< by TaskConfig::noise

    double term(size_t i, double at) const {
        double value = 1;
        for (int n = 0; n < powers[i]; ++n)
            value *= at;
        return value;
    }
    double operator()(double at) const {
        double sum = constant;
        for (size_t i = 0; i < powers.size(); ++i)
            sum += coefficients[i] * term(i, at);
        return sum;
    }
};

const Polynomial& parabola() {
    static const Polynomial made{{2, 1, 0}, {5, 0, 3}, 0, {-2, 2}, "y = 5x² + 3"};
    return made;
}
const Polynomial& line() {
    static const Polynomial made{{1}, {5}, 3, {0, 1}, "y = 5x + 3", true};
    return made;
}

std::vector<TensorSpec> tensorsOf(const Polynomial& curve) {
    return {TensorSpec{"x", {static_cast<int64_t>(curve.powers.size())}},
            TensorSpec{"target", {1}}};
}

const char* termText(int power) { return power == 2 ? "x²" : power == 1 ? "x" : ""; }

/// Draws samples when they are read, because there may be millions.
class CurveData final : public Dataset {
public:
    CurveData(const Polynomial& curve, const TaskConfig& task, uint64_t seed)
        : m_curve(curve), m_samples(task.samples), m_judged(task.validationSamples),
          m_noise(curve.noisy ? task.noise : 0), m_places(seed, kPlaceStream),
          m_noises(seed, kNoiseStream), m_tensors(tensorsOf(curve)) {}

    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t samples(Split split) const override {
        return split == Split::Train ? m_samples : m_judged;
    }
    int64_t number(Split split, int64_t sample) const override {
        return split == Split::Train ? sample : m_samples + sample;
    }

    std::vector<Unread> read(Pass pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        for (size_t i = 0; i < samples.size(); ++i) {
            const auto index = static_cast<uint64_t>(number(pass.split, samples[i]));
            const double share = double{m_places.uniform(index)};
            const double noise = m_noise > 0 ? m_noise * double{m_noises.normal(index)} : 0;
            put(out, i, m_curve.x.low + share * (m_curve.x.high - m_curve.x.low), noise);
        }
        return {};
    }

    TaskView view() const override {
        constexpr int64_t kPlaces = 129;
        constexpr double kAir = 0.06; // the space beside the samples
        TaskView view;
        view.kind = ViewKind::Curve;
        view.across = wider(m_curve.x, kAir);
        auto probe = std::make_shared<Batch>(Batch::of(m_tensors, kPlaces));
        AxisRange y{0, 0};
        for (int64_t i = 0; i < kPlaces; ++i) {
            const double share = static_cast<double>(i) / (kPlaces - 1);
            const double x = view.across.low + share * (view.across.high - view.across.low);
            put(*probe, static_cast<size_t>(i), x, 0);
            const double target = m_curve(x);
            y = {std::min(y.low, target - 2 * m_noise), std::max(y.high, target + 2 * m_noise)};
        }
        view.up = wider(y, kAir);
        view.probe = std::move(probe);
        while (m_curve.powers[view.axisInput] != 1)
            ++view.axisInput;
        view.truth = m_curve.formula;
        for (const int power : m_curve.powers)
            view.terms.emplace_back(termText(power));
        return view;
    }

private:
    static AxisRange wider(const AxisRange& range, double share) {
        const double more = share * (range.high - range.low);
        return {range.low - more, range.high + more};
    }

    /// Writes the inputs and the target at x, each rounded once.
    void put(const BatchRows& out, size_t row, double x, double noise) const {
        const std::span<float> inputs = out.floats(kX);
        const size_t terms = m_curve.powers.size();
        for (size_t i = 0; i < terms; ++i)
            inputs[row * terms + i] = static_cast<float>(m_curve.term(i, x));
        out.floats(kTarget)[row] = static_cast<float>(m_curve(x) + noise);
    }

    const Polynomial& m_curve;
    int64_t m_samples, m_judged; ///< to train on, and behind them to validate on
    double m_noise;
    Philox m_places, m_noises;
    std::vector<TensorSpec> m_tensors;
};

template <const Polynomial& (*curve)()>
DataFacts factsOf(const TaskConfig& task) {
    return {tensorsOf(curve()), task.samples, task.validationSamples};
}
template <const Polynomial& (*curve)()>
std::unique_ptr<Dataset> make(const TaskConfig& task, uint64_t seed) {
    return std::make_unique<CurveData>(curve(), task, seed);
}

/// `lines` compute x and the target, from an x between 0 and 1.
PythonData pythonOf(const TaskConfig& task, std::string_view lines) {
    return {{},
            lang::filled(R"(SAMPLES = {SAMPLES}


def samples():
    """Points on a curve: other ones than Halfscope draws."""
    generator = torch.Generator().manual_seed(SEED)
    x = torch.rand({DRAWN}, 1, generator=generator)
{LINES}{RETURN})",
                         {{"SAMPLES", numberText(task.samples)},
                          {"DRAWN", drawnPython(task)},
                          {"LINES", std::string(lines)},
                          {"RETURN", returnDrawnPython(task)}})};
}

PythonData curvePython(const TaskConfig& task, int64_t) {
    return pythonOf(task, R"(    x = 4 * x - 2
    x, target = torch.cat([x**2, x, torch.ones_like(x)], 1), 5 * x**2 + 3
)");
}

PythonData linePython(const TaskConfig& task, int64_t) {
    return pythonOf(
        task, lang::filled(R"(    noise = {NOISE} * torch.randn(len(x), 1, generator=generator)
    target = 5 * x + 3 + noise
)",
                           {{"NOISE", lang::pythonReal(task.noise)}}));
}

} // namespace

extern const DataSetInfo kCurveData, kLineData;
const DataSetInfo kCurveData{
    .name = "curve",
    .title = phrase("Settings", "Fit a curve"),
    .about = phrase("Settings", "points on the curve y = 5x² + 3, from the inputs x², x and 1"),
    .settings = {"task.samples", "task.validation_samples"},
    .validates = true,
    .view = ViewKind::Curve,
    .facts = factsOf<parabola>,
    .make = make<parabola>,
    .python = curvePython};
const DataSetInfo kLineData{
    .name = "line",
    .title = phrase("Settings", "Fit a line"),
    .about = phrase("Settings", "noisy points around the line y = 5x + 3, from the input x"),
    .settings = {"task.samples", "task.validation_samples", "task.noise"},
    .validates = true,
    .view = ViewKind::Curve,
    .facts = factsOf<line>,
    .make = make<line>,
    .python = linePython};

} // namespace halfscope
