// Only tables of classes have shares: what a network paints may lie outside black and white.
// Drawings have no magenta of their own.
#include "engine/runs/output_file.h"

#include "engine/data/class_counts.h"
#include "engine/data/class_shares.h"
#include "engine/data/dataset.h"
#include "engine/runs/run_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

bool isTable(const TaskConfig& task, const Picture& picture) {
    return viewKindOf(task, picture) == ViewKind::Classes;
}

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
    return isTable(task, picture) ? pngBytes(picture, sharesText(picture)) : pngBytes(picture);
}

std::string classesCsv(const TaskConfig& task, const Picture& output, const Picture& target) {
    const auto side = static_cast<size_t>(std::max(output.width, 0));
    const TableCaption told = tableCaption(output.caption);
    if (!isTable(task, output) || output.channels != 1 || side == 0 ||
        side >= ClassCounts::kMostRows || told.rows.size() != side ||
        output.values.size() != side * side)
        return {};
    const std::vector<std::string> names = classesOfCaption(target.caption, side);
    std::string text = "true,samples";
    for (const std::string& name : names)
        text += ',' + csvField(name);
    text += '\n';
    for (size_t row = 0; row < side; ++row) {
        text += csvField(names[row]) + ',' + std::to_string(told.rows[row]);
        for (size_t taken = 0; taken < side; ++taken) {
            const double share = 1 - static_cast<double>(output.values[row * side + taken]);
            const auto samples = static_cast<double>(told.rows[row]);
            text += ',' + std::to_string(std::llround(share * samples));
        }
        text += '\n';
    }
    return text;
}

OutputFile readOutput(const TaskConfig& task, const Picture& target, const std::string& path) {
    auto [table, shares] = readWithShares(path);
    if (const ViewKind kind = viewKindOf(task, table); kind != ViewKind::Classes)
        return {withNan(std::move(table), kind, target)};
    const bool damaged = !shares.empty() && !takeShares(table, shares);
    // 8 bits do not tell how many samples of a row a cell has
    if (damaged) table.caption = std::string(tableCaption(table.caption).right);
    return {std::move(table), damaged};
}

} // namespace halfscope
