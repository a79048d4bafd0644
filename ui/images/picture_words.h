// Says what pictures of classes mean, in words for the line below them.
#pragma once

#include "engine/data/task_spec.h"
#include "engine/data/task_view.h"
#include "engine/runs/lane_pictures.h"
#include "ui/images/picture_image.h"

#include <QPoint>
#include <QStringList>
#include <QVector>

#include <cstdint>
#include <optional>

namespace halfscope {

enum class WordsFor : uint8_t { MuchRoom, LittleRoom };

/// What samples show when they stand in place of tables.
enum class SamplesShow : uint8_t {
    Classes,    ///< which pictures are taken for another class
    Digits,     ///< likewise; the classes are the digits
    Texts,      ///< texts and the classes that are predicted for them
    Characters, ///< the character behind each text, and which are taken for another
    Writing,    ///< a text that each lane writes, and predictions below it
};
/// `target` is the table of classes that the task is to reach; its caption has the classes' names.
SamplesShow samplesShow(const TaskConfig&, const Picture& target);
inline bool areTexts(SamplesShow show) { return show >= SamplesShow::Texts; }

/// Returns "7 %", and "7".
QString shareText(double share);
QString bareShareText(double share);

/// Says of which step pictures are: "In step 300", "Before step 1", "After step 300", or "Step 300"
/// where it is not known which weights made them.
QString stepWords(qint64 step, PicturesMade);
/// Explains them; empty for what needs no words.
QString stepExplained(qint64 step, PicturesMade);

/// Tells how to read pictures whose pixels are no values and which are no tables of classes.
/// `validated`: see LanePictures.
QString pictureWords(ViewKind, std::optional<int64_t> validated, WordsFor);
/// Returns a caption like "58/64" as "58 of 64 right", in counts because it is no accuracy of all
/// samples. Shorter forms are "58/64 right" and "58/64". One that tells of an output that is nan is
/// written as on the lane's card. One like "0.8 to 5.4" of a scatter is written in the user's
/// language. Returns others as they are.
QString captionNote(ViewKind, const QString& caption, ErrorText form);
/// Tells where both axes of a scatter run, from the caption of its target, "0.8 to 5.4". Empty for
/// other captions, such as that of an older run.
QString axesWords(const QString& caption, WordsFor);
/// Explains a caption like "58/64", or "nan", above a table of classes or its samples; returns
/// others as they are, but nothing for a scatter, see axesWords().
QString captionWords(ViewKind, const QString& caption);
/// Returns a caption of mistakes like "64/67" as "first 64 of 67 wrong", shorter "67 wrong" and
/// "67"; where all are shown, only how many there are.
QString mistakeNote(const QString& caption, ErrorText form);
/// Explains it.
QString mistakeWords(const QString& caption);
/// Tells what a cell of the tables of classes means, and then of each lane how many of the row's
/// samples it has there: "A 12 of 982 (1.2 %)"; the share alone where it is not known of how many.
QStringList cellWords(const QVector<Picture>& tables, QPoint cell, const QStringList& classes);

/// Explains the factor by which a difference is amplified.
QString gainWords(double gain);

/// Tells a pixel's values in the pictures of all lanes, and in the target if there is one.
QString pixelWords(const QVector<Picture>&, const Picture& target, QPoint pixel);

/// Tells what the values of painted pictures that come from files are.
QString savedWords(WordsFor);

/// Tells which samples a table of classes counts, and how to read it. `validated`: see
/// LanePictures.
QString tableWords(std::optional<int64_t> validated, WordsFor);
/// Tells how to read the samples that are shown in place of tables.
QString samplesWords(SamplesShow, WordsFor);
/// Tells how to read samples that are all predicted wrong.
QString mistakesWords(SamplesShow, WordsFor);

} // namespace halfscope
