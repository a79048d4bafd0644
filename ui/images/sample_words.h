// Tells the classes of a sample on a sheet by their names: the sheet has room for numbers only.
#pragma once

#include "engine/io/picture.h"

#include <QPoint>
#include <QSize>
#include <QString>
#include <QStringList>

#include <span>
#include <string>

namespace halfscope {

/// Returns the caption of a table or a sheet without what it tells of its rows or samples.
QString shownCaption(const std::string& caption);

/// Returns the size of a sample's cell in pixels of the sheet; empty where its caption does not
/// tell of the samples, as in runs of earlier versions.
QSize sampleCell(const Picture& sheet);

/// Returns the highest of at least one sheet that tells of samples: each lane has mistakes of its
/// own, in as many rows as they need.
const Picture& tallestSheet(std::span<const Picture> sheets);

/// Tells of the sample at a pixel what its class is and what each lane takes it for: "True: bag.",
/// then "A bag", "B shirt". `truth` is the sheet of the target. Empty where no sample is told of.
QStringList sampleWords(std::span<const Picture> lanes, const Picture& truth, QPoint pixel,
                        const QStringList& classes);
/// Does the same for mistakes, where each lane has samples of its own at the same place: "A True:
/// bag. Predicted: shirt."
QStringList mistakeWordsAt(std::span<const Picture> lanes, QPoint pixel,
                           const QStringList& classes);

} // namespace halfscope
