// What the window calls the lanes of an experiment. Files and the command line keep laneNames().
#pragma once

#include "engine/settings/run_config.h"

#include <QStringList>

namespace halfscope {

/// A name for each lane: its precision, and where others have the same one, what sets it apart from
/// them: "fp32", "amp-fp16, init_scale 2^24", "amp-fp16, scaler apex". The number of laneNames()
/// comes in where nothing does.
QStringList laneTitles(const RunConfig&);

/// A letter and a title without the precision that other lanes have too: "A init_scale 2^24" of
/// "A amp-fp16, init_scale 2^24"; others as they are.
QString briefLabel(const QString& label);
/// From the full label to the briefest: that, the one above, the first difference alone, its value
/// alone ("A 2^24").
QStringList labelForms(const QString& label);

/// A letter and the part of the lane's name that no other lane has at that end, for the barest
/// room: "D torch" of "D torch-cpu-fp16" beside "C amp-fp16". The label where no such part is
/// shorter, and where lanes of one precision are told apart by their settings.
QString distinctLabel(const QStringList& labels, int lane);

} // namespace halfscope
