// Sentences about lanes whose gradients rounded to zero. Lanes of which the same is true share a
// sentence: the headline has room for two lines, whatever the number of lanes.
#pragma once

#include "ui/models/run_model.h"

#include <QString>
#include <QStringList>

namespace halfscope {

/// Brief sentences leave out figures that would need a sentence for each lane.
enum class Detail { Full, Brief };

/// Returns sentences, each after a space, about lanes whose gradients have all or nearly all
/// rounded to zero at times.
QString zeroGradientsText(const RunModel&, Detail);
/// Tells of the lanes whose gradients nearly all rounded to zero when they were last counted, or
/// far more than those of another lane: in full, and in few words. Empty when there is none.
QStringList lostGradientsTexts(const RunModel&);

} // namespace halfscope
