// Only tables of classes have shares: what a network paints may lie outside black and white.
#include "engine/runs/output_file.h"

#include "engine/data/class_shares.h"
#include "engine/data/dataset.h"

#include <utility>

namespace halfscope {

namespace {

bool isTable(const TaskConfig& task) { return viewKindOf(task) == ViewKind::Classes; }

} // namespace

std::string outputPng(const TaskConfig& task, const Picture& picture) {
    return isTable(task) ? pngBytes(picture, sharesText(picture)) : pngBytes(picture);
}

OutputFile readOutput(const TaskConfig& task, const std::string& path) {
    if (!isTable(task)) return {readPicture(path)};
    auto [table, shares] = readWithShares(path);
    const bool damaged = !shares.empty() && !takeShares(table, shares);
    return {std::move(table), damaged};
}

} // namespace halfscope
