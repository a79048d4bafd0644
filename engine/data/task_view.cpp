// Draws what a view describes.
#include "engine/data/task_view.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/class_counts.h"
#include "engine/data/sketch.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <numeric>

namespace halfscope {

namespace {

constexpr int kSide = 256; // side of a scatter, in pixels
constexpr float kWhite = 1.0f, kLine = 0.7f, kPoint = 0.1f;
constexpr int kPlotSide = 384; // side of a curve and of a map
constexpr int kGrid = 65;      // places along a side of a map about which the network is asked

/// Returns the column of a value, or its row from the bottom.
int place(const TaskView& view, double value) {
    const double share = (value - view.centre + view.reach) / (2 * view.reach);
    return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (kSide - 1)));
}

/// Returns the radius of a dot for so many samples, in pixels: as large as leaves the picture
/// readable, because a lecture is watched from ten metres.
double dotRadius(int side, size_t samples) {
    constexpr double kLargest = 0.02, kLeast = 0.006; // shares of the side
    constexpr double kCovered = 0.16; // the share of the picture that dots cover side by side
    const double covering = std::sqrt(
        kCovered / (std::numbers::pi * static_cast<double>(std::max<size_t>(samples, 1))));
    return side * std::clamp(covering, kLeast, kLargest);
}

Picture painted(const TaskView& view, std::span<const float> values) {
    const size_t wanted = static_cast<size_t>(view.width) * static_cast<size_t>(view.height) *
                          static_cast<size_t>(view.channels);
    require(values.size() == wanted, "a prediction has one row per pixel");
    return {view.width, view.height, view.channels, {values.begin(), values.end()}};
}

Picture scatter(const TaskView& view, std::span<const float> targets,
                std::span<const float> predictions) {
    constexpr double kRim = 1; // keeps dots apart that touch
    Sketch sketch(kSide, 1, grey(kWhite));
    for (int at = 0; at < kSide; ++at)
        sketch.pixel(at, kSide - 1 - at, grey(kLine));
    const size_t samples = std::min(targets.size(), predictions.size());
    const double radius = dotRadius(kSide, samples);
    const auto middle = [&view](double value) { return place(view, value) + 0.5; };
    std::vector<double> lacking; // drawn last, so that no dot hides them
    for (size_t i = 0; i < samples; ++i) {
        const double across = middle(double{targets[i]});
        if (std::isnan(predictions[i])) {
            lacking.push_back(across);
            continue;
        }
        const Spot spot{across, kSide - middle(double{predictions[i]})};
        sketch.disc(spot, radius + kRim, grey(kWhite));
        sketch.disc(spot, radius, grey(kPoint));
    }
    for (const double across : lacking)
        sketch.missing({across, kSide}, radius);
    return sketch.take();
}

/// Draws as many samples as fill a square, row by row, with lines between them.
Picture samplesPicture(const TaskView& view, std::span<const float> values) {
    constexpr int kGap = 1;
    const auto width = static_cast<size_t>(view.width), height = static_cast<size_t>(view.height);
    require(width * height > 0 && values.size() >= width * height, "a picture for each prediction");
    const auto side =
        static_cast<int>(std::sqrt(static_cast<double>(values.size() / (width * height))));
    Picture picture{side * (view.width + kGap) - kGap, side * (view.height + kGap) - kGap, 1, {}};
    picture.values.assign(static_cast<size_t>(picture.width) * static_cast<size_t>(picture.height),
                          kLine);
    for (int i = 0; i < side * side; ++i) {
        const int left = i % side * (view.width + kGap), top = i / side * (view.height + kGap);
        const float* from = values.data() + static_cast<size_t>(i) * width * height;
        for (int y = 0; y < view.height; ++y, from += width)
            std::copy_n(from, width, picture.values.begin() + (top + y) * picture.width + left);
    }
    return picture;
}

double placeAlong(const AxisRange& range, double value) {
    return (value - range.low) / (range.high - range.low);
}

Spot spotOf(const TaskView& view, double x, double y) {
    return {placeAlong(view.across, x) * kPlotSide, (1 - placeAlong(view.up, y)) * kPlotSide};
}

/// Draws the batch's samples as points, and `predictions` as a curve over the places of the probe.
Picture curve(const TaskView& view, const Batch& batch, std::span<const float> predictions) {
    constexpr double kWidth = 3, kAxis = 1.5;
    constexpr Shade kAxisShade = grey(0.8f), kSample = grey(0.6f), kCurve = grey(0);
    Sketch sketch(kPlotSide, 1, grey(kWhite));
    const Spot origin = spotOf(view, 0, 0);
    sketch.line({0, origin.y}, {kPlotSide, origin.y}, kAxis, kAxisShade);
    sketch.line({origin.x, 0}, {origin.x, kPlotSide}, kAxis, kAxisShade);
    const auto axisOf = [&view](const Batch& of, size_t row) {
        const std::span<const float> x = of.floats(kX);
        return double{x[row * (x.size() / static_cast<size_t>(of.rows())) + view.axisInput]};
    };
    const std::span<const float> targets = batch.floats(kTarget);
    const auto samples = static_cast<size_t>(batch.rows());
    const double radius = dotRadius(kPlotSide, samples);
    for (size_t i = 0; i < samples; ++i)
        sketch.disc(spotOf(view, axisOf(batch, i), double{targets[i]}), radius, kSample);
    std::vector<Spot> path;
    for (size_t i = 0; i < predictions.size(); ++i) {
        path.push_back(spotOf(view, axisOf(*view.probe, i), double{predictions[i]}));
        if (std::isnan(predictions[i])) sketch.missing({path.back().x, kPlotSide}, kWidth);
    }
    sketch.path(path, kWidth, kCurve);
    return sketch.take();
}

/// Returns how likely the second of two classes is, from their scores or from its logit.
double secondOf(std::span<const float> scores) {
    const double first = scores.size() > 1 ? double{scores[0]} : 0;
    return 1 / (1 + std::exp(first - double{scores.back()}));
}

/// Values at the places of a grid, and interpolated between them.
class GridValues {
public:
    /// Takes the probability of the second of two classes, from two scores for each place or from
    /// one logit; rows go upwards.
    explicit GridValues(std::span<const float> scores) {
        constexpr size_t kPlaces = size_t{kGrid} * kGrid;
        const size_t each = scores.size() / kPlaces;
        require(scores.size() == each * kPlaces && (each == 1 || each == 2),
                "a map has two scores, or one logit, for each place");
        for (size_t i = 0; i < scores.size(); i += each)
            m_values.push_back(secondOf(scores.subspan(i, each)));
    }
    struct Value {
        double value, slope; ///< slope: the steepest, per pixel
    };
    /// Returns the value at the centre of a pixel.
    Value at(int x, int y) const {
        constexpr double kCell = double{kPlotSide} / (kGrid - 1);
        const double across = (x + 0.5) / kCell, up = (kPlotSide - y - 0.5) / kCell;
        const int column = static_cast<int>(across), row = static_cast<int>(up);
        const double a = across - column, b = up - row;
        const double v00 = node(column, row), v10 = node(column + 1, row);
        const double v01 = node(column, row + 1), v11 = node(column + 1, row + 1);
        const double low = v00 + a * (v10 - v00), high = v01 + a * (v11 - v01);
        const double dx = (1 - b) * (v10 - v00) + b * (v11 - v01);
        return {low + b * (high - low), std::hypot(dx, high - low) / kCell};
    }

private:
    double node(int column, int row) const {
        return m_values[static_cast<size_t>(row * kGrid + column)];
    }
    std::vector<double> m_values;
};

// Grounds for the first and the second class, and darker marks on them. Everybody can tell blue
// from orange, and discs differ from crosses without colour.
constexpr std::array<Shade, 2> kGrounds{Shade{0.45f, 0.66f, 0.86f}, Shade{0.96f, 0.66f, 0.36f}};
constexpr std::array<Shade, 2> kMarks{Shade{0.03f, 0.19f, 0.42f}, Shade{0.50f, 0.16f, 0.02f}};

Shade mixed(Shade from, Shade to, double share) {
    for (size_t i = 0; i < from.size(); ++i)
        from[i] += static_cast<float>(share) * (to[i] - from[i]);
    return from;
}

void drawMarks(const TaskView& view, Sketch& sketch) {
    constexpr double kRim = 1.5;
    const double radius = dotRadius(kPlotSide, view.marks.size()), stroke = 0.6 * radius;
    for (const PlaneMark& mark : view.marks) {
        const Spot spot = spotOf(view, double{mark.x}, double{mark.y});
        if (mark.label == 0) {
            sketch.disc(spot, radius + kRim, grey(kWhite));
            sketch.disc(spot, radius, kMarks[0]);
        } else {
            sketch.cross(spot, radius + kRim, stroke + 2 * kRim, grey(kWhite));
            sketch.cross(spot, radius, stroke, kMarks[1]);
        }
    }
}

/// Draws a map that is pale where both classes are equally likely, with a line through the middle
/// of that area.
Picture plane(const TaskView& view, std::span<const float> scores) {
    constexpr Shade kUndecided = grey(0.97f), kBorder = grey(0.25f);
    constexpr double kHalfLine = 1;
    const GridValues values(scores);
    Sketch sketch(kPlotSide, 3, kUndecided);
    for (int y = 0; y < kPlotSide; ++y)
        for (int x = 0; x < kPlotSide; ++x) {
            const auto [second, slope] = values.at(x, y);
            const size_t likely = second < 0.5 ? 0 : 1;
            const double sure = std::abs(2 * second - 1);
            sketch.pixel(x, y, mixed(kUndecided, kGrounds[likely], sure));
            const double far = slope > 0 ? std::abs(second - 0.5) / slope : kPlotSide;
            if (far < kHalfLine + 0.5)
                sketch.pixel(x, y, kBorder, std::min(1.0, kHalfLine + 0.5 - far));
        }
    drawMarks(view, sketch);
    return sketch.take();
}

/// Returns "0.8 to 5.4": the ends of an axis, to a hundredth of its length or less.
std::string rangeText(double low, double high) {
    const double digits = std::floor(std::log10(high - low)) - 2;
    if (!std::isfinite(digits)) return {};
    const auto rounded = [digits](double value) {
        // a power of ten below 1 is no double, but its inverse is
        const double factor = std::pow(10.0, std::abs(digits));
        const double whole = std::round(digits < 0 ? value * factor : value / factor);
        return numberText(digits < 0 ? whole / factor : whole * factor);
    };
    return rounded(low) + " to " + rounded(high);
}

/// Draws the class table of a batch.
Picture classTableOf(const TaskView& view, std::span<const int32_t> labels,
                     std::span<const int32_t> taken) {
    ClassCounts counts(view.classes.size());
    counts.add(labels, taken);
    return classTable(counts);
}

} // namespace

TaskView scatterView(double least, double most, const Standardiser& scale) {
    TaskView view;
    view.kind = ViewKind::Scatter;
    view.centre = least + (most - least) / 2;
    const double reach = 0.55 * (most - least); // some space on both sides
    view.reach = std::isfinite(reach) && reach > 0 ? reach : 1;
    if (scale.spreads().size() <= 1) // else each output has axes of its own
        view.truth = rangeText(scale.restored(0, view.centre - view.reach),
                               scale.restored(0, view.centre + view.reach));
    return view;
}

TaskView classesView(int64_t classes, std::vector<std::string> names) {
    TaskView view;
    view.kind = ViewKind::Classes;
    view.classes = std::move(names);
    for (auto i = static_cast<int64_t>(view.classes.size()); i < classes; ++i)
        view.classes.push_back(numberText(i));
    return view;
}

std::shared_ptr<const Batch> planeGrid(const AxisRange& across, const AxisRange& up) {
    auto grid = std::make_shared<Batch>();
    TypedBytes& x = grid->tensors.emplace_back();
    x.shape = Shape{kGrid * kGrid, 2};
    x.bytes.resize(static_cast<size_t>(x.shape.elements()) * bytesOf(x.dtype));
    const auto at = [](const AxisRange& range, int i) {
        return static_cast<float>(range.low + (range.high - range.low) * i / (kGrid - 1));
    };
    const std::span<float> values = grid->floats(kX);
    for (size_t i = 0; i < values.size(); i += 2) {
        const int place = static_cast<int>(i / 2);
        values[i] = at(across, place % kGrid);
        values[i + 1] = at(up, place / kGrid);
    }
    return grid;
}

Picture pictureOf(const TaskView& view, const Batch& batch, std::span<const float> prediction) {
    switch (view.kind) {
    case ViewKind::Painted: return painted(view, prediction);
    case ViewKind::Scatter: return scatter(view, batch.floats(kTarget), prediction);
    case ViewKind::Curve: return curve(view, batch, prediction);
    case ViewKind::Plane: return plane(view, prediction);
    case ViewKind::Samples: return samplesPicture(view, prediction);
    case ViewKind::Classes:
        return classTableOf(view, trueClasses(batch),
                            takenClasses(batch, prediction, view.classes.size()));
    }
    failInvariant("a kind of view without a picture");
}

Picture targetPictureOf(const TaskView& view, const Batch& batch) {
    if (view.kind == ViewKind::Classes) {
        std::vector<int32_t> each(view.classes.size()); // a batch need not have them all
        std::iota(each.begin(), each.end(), 0);
        Picture picture = classTableOf(view, each, each);
        if (view.classes.size() <= ClassCounts::kMostRows) // else classes share rows
            picture.caption = classCaption(view.classes); // the window writes them beside the table
        return picture;
    }
    if (view.kind == ViewKind::Curve) {
        Picture picture = curve(view, batch, view.probe->floats(kTarget));
        picture.caption = view.truth;
        return picture;
    }
    if (view.kind == ViewKind::Scatter) {
        Picture picture = pictureOf(view, batch, batch.floats(kTarget));
        picture.caption = view.truth;
        return picture;
    }
    if (view.kind == ViewKind::Plane) {
        Sketch sketch(kPlotSide, 3, grey(0.97f));
        drawMarks(view, sketch);
        return sketch.take();
    }
    return pictureOf(view, batch, batch.floats(kTarget));
}

std::string formulaOf(const TaskView& view, std::span<const float> weights,
                      std::span<const float> bias) {
    std::string text;
    const auto add = [&text](float factor, const std::string& term) {
        std::array<char, 48> digits{};  // of the largest float, and two behind the point
        constexpr float kZero = 0.005f; // smaller numbers are written as 0.00, without a sign
        const bool minus = factor <= -kZero;
        char* const end = std::to_chars(digits.begin(), digits.end(), std::abs(double{factor}),
                                        std::chars_format::fixed, 2) // whatever the locale is
                              .ptr;
        if (text.empty())
            text = minus ? "y = \u2212" : "y = ";
        else
            text += minus ? " \u2212 " : " + ";
        text += std::string(digits.begin(), end) + (term.empty() ? std::string() : " " + term);
    };
    for (size_t i = 0; i < weights.size(); ++i)
        add(weights[i], view.terms.at(i));
    for (const float constant : bias)
        add(constant, {});
    return text;
}

} // namespace halfscope
