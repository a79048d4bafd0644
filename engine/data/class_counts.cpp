// Counts of classes, and their table as a picture.
#include "engine/data/class_counts.h"

#include "engine/core/error.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

int32_t highestOf(std::span<const float> row) {
    size_t best = 0;
    for (size_t i = 1; i < row.size(); ++i)
        if (row[i] > row[best] || std::isnan(row[best])) best = i;
    return static_cast<int32_t>(std::isnan(row[best]) ? row.size() : best);
}

} // namespace

std::vector<int32_t> highestClasses(std::span<const float> scores, size_t classes) {
    std::vector<int32_t> taken;
    for (size_t row = 0; row + classes <= scores.size(); row += classes)
        taken.push_back(highestOf(scores.subspan(row, classes)));
    return taken;
}

int64_t countRight(std::span<const int32_t> labels, std::span<const float> scores, size_t classes) {
    require(scores.size() == labels.size() * classes, "each sample has a score for each class");
    int64_t right = 0;
    for (size_t i = 0; i < labels.size(); ++i)
        right += highestOf(scores.subspan(i * classes, classes)) == labels[i] ? 1 : 0;
    return right;
}

void ClassCounts::add(std::span<const int32_t> labels, std::span<const int32_t> taken) {
    require(labels.size() == taken.size(), "each sample is taken for a class");
    for (size_t i = 0; i < labels.size(); ++i)
        ++m_counts[static_cast<size_t>(labels[i]) * (m_classes + 1) +
                   static_cast<size_t>(taken[i])];
    m_samples += static_cast<int64_t>(labels.size());
}

int64_t ClassCounts::correct() const {
    int64_t sum = 0;
    for (size_t i = 0; i < m_classes; ++i)
        sum += count(i, i);
    return sum;
}

Picture classTable(const ClassCounts& counts) {
    const auto side = static_cast<int>(counts.classes());
    Picture picture{side, side, 1, {}};
    for (size_t label = 0; label < counts.classes(); ++label) {
        int64_t all = 0;
        for (size_t taken = 0; taken <= counts.classes(); ++taken)
            all += counts.count(label, taken);
        for (size_t taken = 0; taken < counts.classes(); ++taken) {
            const auto share = static_cast<float>(counts.count(label, taken)) /
                               static_cast<float>(std::max<int64_t>(all, 1));
            picture.values.push_back(1 - share);
        }
    }
    picture.caption = std::to_string(counts.correct()) + "/" + std::to_string(counts.samples());
    return picture;
}

} // namespace halfscope
