// What the window calls the lanes of an experiment. Files and the command line use laneNames().
#pragma once

#include "engine/settings/fields.h"

#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halfscope {

/// Returns a name for each lane: its precision and, when other lanes have the same one, what sets
/// it apart from them: "fp32", "amp-fp16, First scale 2^24", "amp-fp16, Scaler apex". When nothing
/// does, the number of laneNames() is added. A lane that continues another one says so, and so does
/// one that the run does not have yet: "amp-fp16, from A", "amp-fp16, new". A lane whose scale no
/// rule changes is called after the one that it began with and, if another one was set by hand
/// later, after the last of them: "amp-fp16, Fixed scale 2^-10 then 2^15". See laneTitleParts() for
/// `parents`.
QStringList laneTitles(const RunConfig&, std::span<const int> parents = {});

/// Returns the title of one lane without the values of these settings: they are about to vary.
QString laneTitleWithout(const RunConfig&, int lane, std::span<const Field* const>);

/// Shortens a letter and a title by the precision that other lanes have, too: "A amp-fp16,
/// First scale 2^24" becomes "A First scale 2^24". Other labels stay as they are.
QString briefLabel(const QString& label);
/// Returns forms of a label for a lane that is named alone: the full label, the precision with all
/// values ("A amp-fp16, first scale 2^24, interval 20"), these without the precision ("A first
/// scale 2^24, interval 20"; "A apex" for the name of a loss scaler), with the beginning of their
/// words ("A fir… 2^24, int… 20"), with none ("A … 2^24, … 20"), and the first one alone.
QStringList labelForms(const QString& label);

/// The last of the forms that formsTogether() returns which still names precisions that differ, and
/// the last one that has the values that set lanes of one precision apart.
inline constexpr size_t kBriefestNames = 3, kBriefestValues = 6;
/// Returns the labels of lanes side by side, all in the same form, each form briefer than the one
/// before or as brief: the full label, the precision with all values ("B amp-fp16, first scale
/// 2^24, interval 20"), with the first one, what sets a lane apart alone, distinctLabel(), and the
/// letters alone; before the shortest distinctLabel() comes the longest one. What sets a lane apart
/// is its precision or, where other lanes have the same one, the first value that no other one has
/// ("B first scale 2^24"), or all where they share it, then that with the beginning of its words
/// ("B fir… 2^24"), and at last with none ("B … 2^24"). Where all lanes have the same precision, it
/// goes before any value does.
std::vector<QStringList> formsTogether(const QStringList& labels);

/// Returns what sets the lanes of a run apart: "A fp32; B first scale 2^8; C first scale 2^16,
/// interval 20". Empty where each lane has a precision of its own.
QString lanesApart(const QStringList& labels);

/// How much of a lane's name is kept: as little or as much as tells it from the others.
enum class DistinctPart : uint8_t { Shortest, Longest };

/// Returns the letter and an end or beginning of the lane's name that no other lane shares, for
/// the narrowest places: "D torch" of "D torch-cpu-fp16" beside "C amp-fp16" or, where there is
/// more room, "D torch-cpu". Never the name of another precision, such as "fp16". Returns the label
/// when no such part is shorter, and when lanes of one precision are told apart by their settings.
QString distinctLabel(const QStringList& labels, int lane,
                      DistinctPart part = DistinctPart::Shortest);

} // namespace halfscope
