// Splits data sets that come without splits: a share of the samples is held back to validate on.
#pragma once

#include "engine/data/dataset.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halfscope {

/// The stored numbers of the samples, in order. Which ones are held back depends only on the
/// settings and on how many there are, so that runs of any seed are judged on the same samples.
struct HeldBack {
    std::vector<int32_t> train, validation;

    /// Leaves at least one sample to train on. `samples` is above 0 and fits into 31 bits.
    HeldBack(int64_t samples, double share);
    /// Does as task.validation, task.held and task.gap say. Throws InputError when the gap leaves
    /// nothing to train on.
    HeldBack(int64_t samples, const TaskConfig& task);
    HeldBack() = default;
    const std::vector<int32_t>& of(Split split) const {
        return split == Split::Train ? train : validation;
    }
    /// Returns how many samples are held back.
    static int64_t count(int64_t samples, double share);
    /// Returns how many are left to train on. Throws InputError as the constructor does.
    static int64_t trained(int64_t samples, const TaskConfig& task);
};

/// Returns a sentence on the samples that are held back; nothing where chance has chosen them.
std::optional<Message> heldBackNote(int64_t samples, const TaskConfig& task);

/// Returns lines of Python that set `train` and `held`, the numbers of the samples. They choose
/// other samples than HeldBack does.
std::string heldBackPython(double share);
/// Does the same as task.validation, task.held and task.gap say.
std::string heldBackPython(const TaskConfig& task);

/// Throws InputError "PLACE: 0 samples are not allowed: 1 to 2147483647".
void checkSampleCount(const std::string& place, int64_t samples);

} // namespace halfscope
