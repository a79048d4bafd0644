// Counts classes, and draws their table as a picture.
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
    require(classes > 0, "scores of at least one class");
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
    for (size_t i = 0; i < labels.size(); ++i) {
        const auto label = static_cast<size_t>(labels[i]), best = static_cast<size_t>(taken[i]);
        const size_t column = best == m_classes ? m_rows : best / m_each;
        ++m_counts[label / m_each * (m_rows + 1) + column];
        m_correct += label == best;
    }
    m_samples += static_cast<int64_t>(labels.size());
}

Picture classTable(const ClassCounts& counts) {
    const auto side = static_cast<int>(counts.rows());
    Picture picture{side, side, 1, {}};
    for (size_t row = 0; row < counts.rows(); ++row) {
        int64_t all = 0;
        for (size_t taken = 0; taken <= counts.rows(); ++taken)
            all += counts.count(row, taken);
        for (size_t taken = 0; taken < counts.rows(); ++taken) {
            const auto share = static_cast<float>(counts.count(row, taken)) /
                               static_cast<float>(std::max<int64_t>(all, 1));
            picture.values.push_back(1 - share);
        }
    }
    picture.caption = std::to_string(counts.correct()) + "/" + std::to_string(counts.samples());
    return picture;
}

} // namespace halfscope
