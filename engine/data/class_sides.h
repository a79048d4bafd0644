// What a split into samples to train on and samples to validate on means for single classes.
#pragma once

#include "engine/core/message.h"
#include "engine/data/held_back.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// A note, and a warning beside an accuracy, where all targets are of one class.
inline constexpr Phrase kOneClass =
    phrase("Data", "All samples have the same class, so there is nothing to learn: any network has "
                   "an accuracy of 100 %.");

/// How many samples of each class are on each side.
struct ClassSides {
    std::vector<int64_t> trained, judged;

    /// `labels` has the class of each stored sample.
    ClassSides(const HeldBack&, std::span<const int32_t> labels, size_t classes);
};

/// Returns sentences on classes that are on one side alone, since chance may hold back all samples
/// of a class or none, and on a class that most judged samples have, since naming it always is
/// nearly always right. `classes` are their names. Tells of data.stratify where it would help.
std::vector<Message> notesOn(const ClassSides&, std::span<const std::string> classes,
                             const TaskConfig&);
/// Does the same for classes whose names are their numbers, as labels have them, and tells of
/// numbers that no sample has, and of a single class.
std::vector<Message> notesOnNumbered(const ClassSides&, const TaskConfig&);

} // namespace halfscope
