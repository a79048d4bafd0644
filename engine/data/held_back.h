// Splits data sets that come without splits: a share of the samples is held back to validate on.
#pragma once

#include "engine/data/dataset.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// The stored numbers of the samples, in order. Which ones are held back depends only on the
/// settings and on how many there are, so that runs of any seed are judged on the same samples.
struct HeldBack {
    std::vector<int32_t> train, validation;
    /// The classes of the samples to validate on, where ofClasses() chose them.
    std::vector<int32_t> heldLabels;

    /// Leaves at least one sample to train on. `samples` is above 0 and fits into 31 bits.
    HeldBack(int64_t samples, double share);
    /// Does as task.validation, task.held, task.gap and task.stratify say. `labels` has the class
    /// of each sample where targets are classes. Throws InputError when the gap leaves nothing to
    /// train on.
    HeldBack(int64_t samples, const TaskConfig& task, std::span<const int32_t> labels = {});
    HeldBack() = default;
    const std::vector<int32_t>& of(Split split) const {
        return split == Split::Train ? train : validation;
    }
    /// Holds back the same share of each class, by the method of Sainte-Laguë: as many in all as
    /// without classes. A class of two samples or more is on both sides where as many are held back
    /// as there are such classes, and as many are left as there are classes.
    static HeldBack ofClasses(std::span<const int32_t> labels, double share);
    /// Returns how many samples are held back.
    static int64_t count(int64_t samples, double share);
    /// Returns how many are left to train on. Throws InputError as the constructor does.
    static int64_t trained(int64_t samples, const TaskConfig& task);
};

/// Returns a sentence on the samples that are held back; nothing where chance has chosen them.
std::optional<Message> heldBackNote(int64_t samples, const TaskConfig& task);

/// What such a program says where chance chooses the samples that it holds back, and only there.
inline constexpr const char* kHeldByChance = "other samples than Halfscope holds back";
/// Returns lines of Python that set `train` and `held`, the numbers of the samples. They choose
/// other samples than HeldBack does.
std::string heldBackPython(double share);
/// Does the same as task.validation, task.held, task.gap and task.stratify say. `labels` names the
/// tensor of classes.
std::string heldBackPython(const TaskConfig& task, const std::string& labels = "target");

/// Throws InputError "PLACE: 0 samples are not allowed: 1 to 2147483647".
void checkSampleCount(const std::string& place, int64_t samples);

} // namespace halfscope
