// What the targets of a task are. Not in losses.h, because the window's library uses names of that
// file for itself.
#pragma once

#include "engine/data/task_spec.h"

namespace halfscope {

/// Whether the targets are class numbers, as the loss wants them.
bool targetsAreClasses(const TaskConfig&);
/// Whether so many different whole numbers are few enough, and each often enough, to be classes
/// rather than numbers.
constexpr bool mayBeClasses(int64_t classes, int64_t samples) {
    constexpr int64_t kMost = 20, kLeastOfEach = 5;
    return classes <= kMost && samples >= kLeastOfEach * classes;
}
/// Whether the targets can be standardised: the data have that setting, and the loss takes any
/// numbers.
bool canStandardiseTarget(const TaskConfig&);
/// Whether they are: they can be, and the settings ask for it.
bool standardisesTarget(const TaskConfig&);
/// Whether the samples that are held back can be chosen class by class: the data have that setting,
/// the targets are classes, and chance chooses.
bool canStratify(const TaskConfig&);
/// Whether they are: they can be, and the settings ask for it.
bool stratifies(const TaskConfig&);
/// Whether samples are text whose target at each position is the next character.
bool predictsEvery(const TaskConfig&);
/// Whether e to the power of the loss is the perplexity of the text: not with smoothed targets,
/// which are not the text's, and not where some characters weigh more than others.
bool measuresPerplexity(const TaskConfig&);

} // namespace halfscope
