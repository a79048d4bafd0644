// Only tables of classes have shares: what a network paints may lie outside black and white.
// Drawings have no magenta of their own.
#include "engine/runs/output_file.h"

#include "engine/data/class_counts.h"
#include "engine/data/class_shares.h"
#include "engine/data/dataset.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

bool isTable(const TaskConfig& task) { return viewKindOf(task) == ViewKind::Classes; }

constexpr float kNotFinite = std::numeric_limits<float>::quiet_NaN();

bool isMagenta(const float* pixel) { return pixel[0] == 1 && pixel[1] == 0 && pixel[2] == 1; }

/// Leaves pictures as they are that have other colours than magenta.
void makeGrey(Picture& picture) {
    std::vector<float> values;
    for (size_t i = 0; i < picture.values.size(); i += 3) {
        const float* pixel = picture.values.data() + i;
        const bool equal = pixel[0] == pixel[1] && pixel[1] == pixel[2];
        if (!equal && !isMagenta(pixel)) return;
        values.push_back(equal ? pixel[0] : kNotFinite);
    }
    picture.values = std::move(values);
    picture.channels = 1;
}

void markNan(Picture& picture) {
    for (size_t i = 0; i < picture.values.size(); i += 3) {
        float* pixel = picture.values.data() + i;
        if (isMagenta(pixel)) std::fill_n(pixel, 3, kNotFinite);
    }
}

/// Undoes what a file does to nan.
Picture withNan(Picture picture, ViewKind kind, const Picture& target) {
    if (picture.channels != 3) return picture;
    switch (kind) {
    case ViewKind::Painted:
        if (target.width > 0 && target.channels == 1) makeGrey(picture);
        break;
    case ViewKind::Scatter:
    case ViewKind::Curve:
    case ViewKind::Samples: makeGrey(picture); break;
    case ViewKind::Plane: markNan(picture); break;
    case ViewKind::Classes: break;
    }
    return picture;
}

} // namespace

std::string outputPng(const TaskConfig& task, const Picture& picture) {
    return isTable(task) ? pngBytes(picture, sharesText(picture)) : pngBytes(picture);
}

OutputFile readOutput(const TaskConfig& task, const Picture& target, const std::string& path) {
    if (!isTable(task)) return {withNan(readPicture(path), viewKindOf(task), target)};
    auto [table, shares] = readWithShares(path);
    const bool damaged = !shares.empty() && !takeShares(table, shares);
    // 8 bits do not tell how many samples of a row a cell has
    if (damaged) table.caption = std::string(tableCaption(table.caption).right);
    return {std::move(table), damaged};
}

} // namespace halfscope
