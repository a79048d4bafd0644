// Counts classes, and draws their table as a picture.
#include "engine/data/class_counts.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace halfscope {

namespace {

constexpr std::string_view kRowsFollow = "; rows:";       // between the counts in a caption
constexpr std::string_view kSamplesFollow = "; samples:"; // likewise, or behind the names

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

std::vector<float> highestProbabilities(std::span<const float> scores, size_t classes) {
    require(classes > 0, "scores of at least one class");
    std::vector<float> probabilities;
    for (size_t at = 0; at + classes <= scores.size(); at += classes) {
        const std::span<const float> row = scores.subspan(at, classes);
        const double highest = *std::max_element(row.begin(), row.end());
        double sum = 0;
        for (const float score : row)
            sum += std::exp(double{score} - highest);
        probabilities.push_back(static_cast<float>(1 / sum));
    }
    return probabilities;
}

std::vector<int32_t> sidesOf(std::span<const float> numbers) {
    std::vector<int32_t> sides;
    for (const float number : numbers)
        sides.push_back(std::isnan(number) ? 2 : number > 0 ? 1 : 0);
    return sides;
}

std::vector<int32_t> trueClasses(const Batch& batch) {
    if (batch.tensors[kTarget].dtype != DType::I32) return sidesOf(batch.floats(kTarget));
    const std::span<const int32_t> labels = batch.labels(kTarget);
    return {labels.begin(), labels.end()};
}

std::vector<int32_t> takenClasses(const Batch& batch, std::span<const float> scores,
                                  size_t classes) {
    const bool sides = batch.tensors[kTarget].dtype != DType::I32;
    const auto samples = static_cast<size_t>(batch.tensors[kTarget].shape.elements());
    require(scores.size() == samples * (sides ? 1 : classes),
            "each sample has a score for each class, or one logit");
    return sides ? sidesOf(scores) : highestClasses(scores, classes);
}

int64_t countRight(const Batch& batch, std::span<const float> scores, size_t classes) {
    const std::vector<int32_t> labels = trueClasses(batch);
    const std::vector<int32_t> taken = takenClasses(batch, scores, classes);
    int64_t right = 0;
    for (size_t i = 0; i < labels.size(); ++i)
        right += labels[i] == taken[i];
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

int64_t ClassCounts::none() const {
    int64_t none = 0;
    for (size_t row = 0; row < m_rows; ++row)
        none += count(row, m_rows);
    return none;
}

std::optional<int64_t> ClassCounts::mostFrequent() const {
    if (m_samples == 0 || m_rows != m_classes) return std::nullopt;
    int64_t most = 0;
    for (size_t row = 0; row < m_rows; ++row) {
        int64_t all = 0;
        for (size_t taken = 0; taken <= m_rows; ++taken)
            all += count(row, taken);
        most = std::max(most, all);
    }
    return most;
}

std::string countCaption(int64_t right, int64_t samples, int64_t none) {
    if (none > 0 && none == samples) return std::string(kNoClasses);
    return std::to_string(right) + "/" + std::to_string(samples);
}

Picture classTable(const ClassCounts& counts) {
    const auto side = static_cast<int>(counts.rows());
    Picture picture{side, side, 1, {}};
    std::string rows;
    for (size_t row = 0; row < counts.rows(); ++row) {
        int64_t all = 0;
        for (size_t taken = 0; taken <= counts.rows(); ++taken)
            all += counts.count(row, taken);
        for (size_t taken = 0; taken < counts.rows(); ++taken) {
            const auto share = static_cast<float>(counts.count(row, taken)) /
                               static_cast<float>(std::max<int64_t>(all, 1));
            picture.values.push_back(1 - share);
        }
        rows += ' ' + std::to_string(all);
    }
    picture.caption = countCaption(counts.correct(), counts.samples(), counts.none());
    picture.caption.append(kRowsFollow).append(rows);
    return picture;
}

std::string samplesCaption(int columns, std::span<const SampleClasses> samples) {
    std::string caption(kSamplesFollow);
    caption += ' ' + std::to_string(columns);
    for (const SampleClasses& each : samples)
        caption += ' ' + std::to_string(each.label) + ' ' + std::to_string(each.taken);
    return caption;
}

/// Returns the numbers at the end of a caption; nothing when something else is there.
static std::optional<std::vector<int64_t>> numbersIn(std::string_view text) {
    std::vector<int64_t> numbers;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end && *at == ' ') {
        int64_t number = 0;
        const auto [next, code] = std::from_chars(at + 1, end, number);
        if (code != std::errc() || number < 0) break;
        numbers.push_back(number);
        at = next;
    }
    if (at != end) return std::nullopt;
    return numbers;
}

TableCaption tableCaption(std::string_view caption) {
    if (const size_t place = caption.find(kRowsFollow); place != caption.npos)
        if (auto rows = numbersIn(caption.substr(place + kRowsFollow.size())))
            return {caption.substr(0, place), *std::move(rows)};
    const size_t place = caption.rfind(kSamplesFollow); // names of classes may stand before
    if (place == caption.npos) return {caption};
    const auto numbers = numbersIn(caption.substr(place + kSamplesFollow.size()));
    constexpr int64_t kMost = SampleClasses::kNone;
    if (!numbers || numbers->size() % 2 == 0 || std::ranges::max(*numbers) > kMost)
        return {caption}; // somebody else's words
    TableCaption told{caption.substr(0, place), {}, static_cast<int>(numbers->front())};
    for (size_t i = 1; i < numbers->size(); i += 2)
        told.samples.push_back(
            {static_cast<int32_t>((*numbers)[i]), static_cast<int32_t>((*numbers)[i + 1])});
    return told;
}

std::string classCaption(std::span<const std::string> names, size_t most) {
    constexpr std::string_view kMore = ", ...";
    std::string caption;
    size_t next = 0;
    for (; next < std::min(names.size(), most); ++next) {
        const std::string number = std::to_string(next);
        if (names[next] == number) continue;
        const std::string entry =
            (caption.empty() ? "" : ", ") + number + " " + escapedText(names[next]);
        if (caption.size() + entry.size() + kMore.size() > kMostCaption) break;
        caption += entry;
    }
    if (next < names.size() && !caption.empty()) caption += kMore;
    return caption;
}

std::vector<std::string> classesOfCaption(std::string_view caption, size_t classes) {
    std::vector<std::string> names;
    for (size_t i = 0; i < classes; ++i)
        names.push_back(std::to_string(i));
    std::string text = ", ";
    text += caption;
    std::vector<size_t> starts; // of ", NUMBER ", by class; npos: it has no name
    size_t from = 0;
    for (size_t i = 0; i < classes; ++i) {
        const size_t start = text.find(", " + names[i] + " ", from);
        starts.push_back(start);
        if (start != std::string::npos) from = start + 1;
    }
    size_t end = text.ends_with(", ...") ? text.size() - 5 : text.size();
    for (size_t i = classes; i-- > 0;) {
        if (starts[i] == std::string::npos) continue;
        const size_t name = starts[i] + names[i].size() + 3; // behind the comma and two spaces
        names[i] = text.substr(name, end - name);
        end = starts[i];
    }
    return names;
}

} // namespace halfscope
