// Counts how often each class was taken for which.
#pragma once

#include "engine/data/batch.h"
#include "engine/io/picture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Returns the class with the highest score in each row of (rows, classes), the first one of equal
/// scores. A nan is never the highest; a row of only nan has no class, which is `classes`.
std::vector<int32_t> highestClasses(std::span<const float> scores, size_t classes);

/// Returns the softmax probability of the highest score in each row of (rows, classes); nan for a
/// row that has a nan.
std::vector<float> highestProbabilities(std::span<const float> scores, size_t classes);

/// Returns the classes of two that are one number each, see Dataset::targetsAreSides(): one above 0
/// stands for 1, and any other for 0. A nan has no class, which is 2.
std::vector<int32_t> sidesOf(std::span<const float> numbers);

/// Returns the classes of a batch: its labels, or the sides that its targets are.
std::vector<int32_t> trueClasses(const Batch&);
/// Returns for which classes the scores take the rows of a batch, in the form of highestClasses():
/// by the highest score of each row or, where targets are sides, by the side of a single logit.
std::vector<int32_t> takenClasses(const Batch&, std::span<const float> scores, size_t classes);
/// Returns how many rows are taken for their own class.
int64_t countRight(const Batch&, std::span<const float> scores, size_t classes);

/// A table of classes: rows are true classes, columns predicted ones. With more than kMostRows
/// classes, neighbours share a row and a column, so that the table stays small.
class ClassCounts {
public:
    static constexpr size_t kMostRows = 1000;
    ClassCounts() = default;
    explicit ClassCounts(size_t classes)
        : m_classes(classes), m_each(std::max<size_t>(1, (classes + kMostRows - 1) / kMostRows)),
          m_rows((classes + m_each - 1) / m_each), m_counts(m_rows * (m_rows + 1)) {}

    /// Adds samples; `taken` is in the form of highestClasses().
    void add(std::span<const int32_t> labels, std::span<const int32_t> taken);
    size_t classes() const { return m_classes; }
    size_t rows() const { return m_rows; }
    /// Returns a count of the table; with `taken` equal to rows(), how often there was no class.
    int64_t count(size_t row, size_t taken) const { return m_counts[row * (m_rows + 1) + taken]; }
    int64_t samples() const { return m_samples; }
    int64_t correct() const { return m_correct; }
    /// Returns how many samples have no class.
    int64_t none() const;
    /// Returns how many samples the most frequent class has; nothing without samples, and where
    /// classes share rows.
    std::optional<int64_t> mostFrequent() const;

private:
    size_t m_classes = 0, m_each = 1, m_rows = 0; ///< m_each: how many classes share a row
    std::vector<int64_t> m_counts;
    int64_t m_samples = 0, m_correct = 0;
};

/// The caption of samples none of which has a class, because all scores are nan: "0/500" would be
/// read as 500 wrong classes.
inline constexpr std::string_view kNoClasses = "nan";
/// Returns "471/500": so many samples were right. `none` is the number of those without a class.
std::string countCaption(int64_t right, int64_t samples, int64_t none);

/// Draws one pixel for each row and column, the darker the larger its share of the row's samples.
/// The caption, such as "471/500; rows: 260 240" or "nan; rows: 260 240", begins with
/// countCaption() and tells how many samples each row has.
Picture classTable(const ClassCounts&);

/// The class of a sample, and the one it is taken for.
struct SampleClasses {
    int32_t label = 0, taken = 0;

    /// Is taken for no class, because all scores are nan.
    static constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
};
/// Returns what ends the caption of a sheet of samples with so many in a row: "; samples: 8 3 3 5
/// 2" tells that of eight in a row the first is a 3, and the second a 5 that is taken for a 2.
std::string samplesCaption(int columns, std::span<const SampleClasses>);

/// What the caption of a table of classes, or of its samples, tells.
struct TableCaption {
    std::string_view right;               ///< "471/500" or kNoClasses; other captions as they are
    std::vector<int64_t> rows{};          ///< the samples in each row; empty where that is not told
    int columns = 0;                      ///< of a sheet; 0 where that is not told
    std::vector<SampleClasses> samples{}; ///< on the sheet, row by row
};
TableCaption tableCaption(std::string_view caption);

/// Returns what the numbers of classes mean, for a caption: "0 T-shirt/top, 1 Trouser". Empty when
/// the names are just the numbers. ", ..." stands for what comes after `most` classes, or would
/// make it longer than kMostCaption.
std::string classCaption(std::span<const std::string> names,
                         size_t most = std::numeric_limits<size_t>::max());
/// Returns the names of so many classes from their caption; those that it lacks are numbers.
std::vector<std::string> classesOfCaption(std::string_view caption, size_t classes);

} // namespace halfscope
