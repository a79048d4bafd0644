// Draws what a view describes.
#include "engine/data/task_view.h"

#include "engine/core/error.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

constexpr int kSide = 256; // of scatter and curve
constexpr float kWhite = 1.0f, kLine = 0.7f, kPoint = 0.1f;

Picture blank(int side) {
    const auto pixels = static_cast<size_t>(side) * static_cast<size_t>(side);
    return {side, side, 1, std::vector<float>(pixels, kWhite)};
}

float& pixel(Picture& picture, int column, int rowFromBottom) {
    const int row = picture.height - 1 - rowFromBottom;
    return picture.values[static_cast<size_t>(row * picture.width + column)];
}

/// Column of a value, or row from the bottom.
int place(const TaskView& view, double value) {
    const double share = (value - view.centre + view.reach) / (2 * view.reach);
    return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (kSide - 1)));
}

/// Three pixels wide.
void drawPoint(Picture& picture, const TaskView& view, int column, float value, float shade) {
    const bool missing = std::isnan(value);
    const int row = missing ? 0 : place(view, double{value});
    for (int y = std::max(row - 1, 0); y <= std::min(row + 1, kSide - 1); ++y)
        for (int x = std::max(column - 1, 0); x <= std::min(column + 1, kSide - 1); ++x)
            pixel(picture, x, y) = missing ? std::nanf("") : shade;
}

Picture painted(const TaskView& view, std::span<const float> values) {
    const size_t wanted = static_cast<size_t>(view.width) * static_cast<size_t>(view.height) *
                          static_cast<size_t>(view.channels);
    require(values.size() == wanted, "a prediction has one row per pixel");
    return {view.width, view.height, view.channels, {values.begin(), values.end()}};
}

Picture scatter(const TaskView& view, std::span<const float> targets,
                std::span<const float> predictions) {
    Picture picture = blank(kSide);
    for (int at = 0; at < kSide; ++at)
        pixel(picture, at, at) = kLine;
    for (size_t i = 0; i < std::min(targets.size(), predictions.size()); ++i)
        drawPoint(picture, view, place(view, double{targets[i]}), predictions[i], kPoint);
    return picture;
}

Picture curve(const TaskView& view, const Batch& batch, std::span<const float> predictions) {
    Picture picture = blank(kSide);
    const std::span<const float> x = batch.floats(kX), targets = batch.floats(kTarget);
    const auto rows = static_cast<size_t>(batch.rows());
    const size_t inputs = x.size() / rows, outputs = targets.size() / rows;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < rows; ++i) {
        low = std::min(low, double{x[i * inputs]});
        high = std::max(high, double{x[i * inputs]});
    }
    const auto draw = [&](std::span<const float> values, float shade) {
        for (size_t i = 0; i < std::min(rows, values.size() / outputs); ++i) {
            const double share = high > low ? (double{x[i * inputs]} - low) / (high - low) : 0.5;
            drawPoint(picture, view, static_cast<int>(std::lround(share * (kSide - 1))),
                      values[i * outputs], shade);
        }
    };
    draw(targets, kLine);
    draw(predictions, kPoint);
    return picture;
}

/// Rows of the matrix are classes; each adds up to black.
Picture confusion(const TaskView& view, std::span<const int32_t> labels,
                  std::span<const int32_t> taken) {
    const size_t classes = view.classes.size();
    std::vector<int64_t> counts(classes * classes), all(classes);
    for (size_t i = 0; i < std::min(labels.size(), taken.size()); ++i) {
        ++counts[static_cast<size_t>(labels[i]) * classes + static_cast<size_t>(taken[i])];
        ++all[static_cast<size_t>(labels[i])];
    }
    Picture picture = blank(static_cast<int>(classes));
    for (size_t i = 0; i < counts.size(); ++i)
        if (all[i / classes] > 0)
            picture.values[i] =
                kWhite - static_cast<float>(counts[i]) / static_cast<float>(all[i / classes]);
    return picture;
}

/// The class with the highest value in each row; nan is never the highest.
std::vector<int32_t> highest(std::span<const float> scores, size_t classes) {
    std::vector<int32_t> taken;
    for (size_t row = 0; row + classes <= scores.size(); row += classes) {
        size_t best = 0;
        for (size_t i = 1; i < classes; ++i)
            if (scores[row + i] > scores[row + best] || std::isnan(scores[row + best])) best = i;
        taken.push_back(static_cast<int32_t>(best));
    }
    return taken;
}

} // namespace

Picture pictureOf(const TaskView& view, const Batch& batch, std::span<const float> prediction) {
    switch (view.kind) {
    case ViewKind::Painted: return painted(view, prediction);
    case ViewKind::Scatter: return scatter(view, batch.floats(kTarget), prediction);
    case ViewKind::Curve: return curve(view, batch, prediction);
    case ViewKind::Classes:
        return confusion(view, batch.labels(kTarget), highest(prediction, view.classes.size()));
    }
    failInvariant("a kind of view without a picture");
}

Picture targetPictureOf(const TaskView& view, const Batch& batch) {
    if (view.kind == ViewKind::Classes)
        return confusion(view, batch.labels(kTarget), batch.labels(kTarget));
    return pictureOf(view, batch, batch.floats(kTarget));
}

} // namespace halfscope
