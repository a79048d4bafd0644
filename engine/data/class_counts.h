// How often each class was taken for which.
#pragma once

#include "engine/io/picture.h"

#include <cstdint>
#include <span>
#include <vector>

namespace halfscope {

/// The class with the highest score of each row of (rows, classes). Of equal ones the first; nan is
/// never the highest, and a row of nothing else has none: `classes`.
std::vector<int32_t> highestClasses(std::span<const float> scores, size_t classes);

/// How many of the rows were taken for their class.
int64_t countRight(std::span<const int32_t> labels, std::span<const float> scores, size_t classes);

/// A table of classes: rows are true classes, columns predicted ones.
class ClassCounts {
public:
    ClassCounts() = default;
    explicit ClassCounts(size_t classes) : m_classes(classes), m_counts(classes * (classes + 1)) {}

    /// `taken` as highestClasses() has it.
    void add(std::span<const int32_t> labels, std::span<const int32_t> taken);
    size_t classes() const { return m_classes; }
    /// `taken` may be classes(): how often there was none.
    int64_t count(size_t label, size_t taken) const {
        return m_counts[label * (m_classes + 1) + taken];
    }
    int64_t samples() const { return m_samples; }
    int64_t correct() const;

private:
    size_t m_classes = 0;
    std::vector<int64_t> m_counts;
    int64_t m_samples = 0;
};

/// One pixel a pair of classes; each row adds up to black, less what has no class. The caption is
/// "471/500": how many were right.
Picture classTable(const ClassCounts&);

} // namespace halfscope
