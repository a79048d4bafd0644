// Holds each sentence twice: in full, and with half as many words for when there is little room.
#include "ui/images/picture_words.h"

#include "engine/data/class_counts.h"
#include "engine/data/targets.h"
#include "ui/look/theme.h"
#include "ui/models/lane_titles.h"
#include "ui/models/shown_numbers.h"

#include <QCoreApplication>
#include <QLocale>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace halfscope {

QString stepWords(qint64 step, PicturesMade made) {
    const QString number = QLocale().toString(step);
    if (step == 0) return QCoreApplication::translate("CompareView", "Before step 1");
    if (made == PicturesMade::AfterStep)
        return QCoreApplication::translate("CompareView", "After step %1").arg(number);
    return (made == PicturesMade::InStep ? QCoreApplication::translate("CompareView", "In step %1")
                                         : QCoreApplication::translate("CompareView", "Step %1"))
        .arg(number);
}

QString stepExplained(qint64 step, PicturesMade made) {
    if (made == PicturesMade::AfterStep) return {};
    if (made == PicturesMade::Unknown && step > 0)
        return QCoreApplication::translate(
            "CompareView", "A saved run does not tell whether its pictures are those of the "
                           "networks before or after this step changed their weights.");
    return step == 0
               ? QCoreApplication::translate(
                     "CompareView",
                     "As the networks are before the first step changes their weights.")
               : QCoreApplication::translate(
                     "CompareView", "As the networks were when they computed the loss of step "
                                    "%1, before that step changed their weights.")
                     .arg(QLocale().toString(step));
}

QString tableWords(std::optional<int64_t> validated, WordsFor room) {
    const QString reading =
        room == WordsFor::LittleRoom
            ? QCoreApplication::translate(
                  "CompareView", "Rows: true. Columns: predicted, in %. Diagonal: correct.")
            : QCoreApplication::translate("CompareView",
                                          "Rows: true classes. Columns: predicted classes, in % of "
                                          "each row. The diagonal holds the correct ones.");
    if (!validated) return reading;
    if (*validated == 0)
        return QCoreApplication::translate("CompareView", "This batch.") + u' ' + reading;
    const QString samples =
        room == WordsFor::LittleRoom
            ? QCoreApplication::translate("CompareView", "Validation.")
            : QCoreApplication::translate("CompareView", "All validation samples.");
    return samples + u' ' + reading;
}

SamplesShow samplesShow(const TaskConfig& task, const Picture& target) {
    constexpr int kDigits = 10;
    if (predictsEvery(task)) return SamplesShow::Writing;
    if (task.kind == TaskKind::TextClasses) return SamplesShow::Texts;
    if (task.kind == TaskKind::Text) return SamplesShow::Characters;
    const bool digits =
        task.kind == TaskKind::Mnist && target.caption.empty() && target.width == kDigits;
    return digits ? SamplesShow::Digits : SamplesShow::Classes;
}

QString samplesWords(SamplesShow show, WordsFor room) {
    const bool brief = room == WordsFor::LittleRoom;
    if (brief && show != SamplesShow::Writing)
        return QCoreApplication::translate("CompareView", "Orange: mistakes.");
    switch (show) {
    case SamplesShow::Classes:
        return QCoreApplication::translate("CompareView",
                                           "Validation samples. An orange frame marks a mistake "
                                           "and shows the predicted class.");
    case SamplesShow::Digits:
        return QCoreApplication::translate("CompareView",
                                           "Validation samples. An orange frame marks a mistake "
                                           "and shows the predicted digit.");
    case SamplesShow::Characters:
        return QCoreApplication::translate("CompareView",
                                           "Validation samples, each with the predicted next "
                                           "character; orange marks mistakes.");
    case SamplesShow::Texts:
        return QCoreApplication::translate("CompareView",
                                           "Validation texts as the network reads them, each with "
                                           "its predicted class; orange marks mistakes. A box is "
                                           "an unknown word or letter.");
    case SamplesShow::Writing: break;
    }
    return brief ? QCoreApplication::translate("CompareView",
                                               "Grey: prompt. Underlined: not as A. "
                                               "Below: next characters, orange: wrong.")
                 : QCoreApplication::translate(
                       "CompareView",
                       "After the grey prompt, each lane writes on by itself, drawn at temperature "
                       "0.8 with the same random numbers; what differs from A is underlined. Below "
                       "the line: each character predicted from the true ones, orange if wrong.");
}

QString mistakesWords(SamplesShow show, WordsFor room) {
    if (areTexts(show))
        return room == WordsFor::LittleRoom
                   ? QCoreApplication::translate("CompareView", "Grey: true. Orange: predicted.")
                   : QCoreApplication::translate(
                         "CompareView", "The first validation texts that each lane predicts "
                                        "wrong, with the true class on grey and the predicted one "
                                        "on orange.");
    return room == WordsFor::LittleRoom
               ? QCoreApplication::translate("CompareView", "White: true. Orange: predicted.")
               : QCoreApplication::translate(
                     "CompareView", "The first validation samples that each lane predicts wrong, "
                                    "with the predicted class on orange at its left and below it "
                                    "the true one on white.");
}

/// Tells how to read a scatter of the samples of a validation.
static QString validatedWords(WordsFor room) {
    return room == WordsFor::LittleRoom
               ? QCoreApplication::translate("CompareView",
                                             "Validation. Across: target. Up: prediction. "
                                             "Dots on the edge lie beyond it.")
               : QCoreApplication::translate(
                     "CompareView", "Validation samples: the target across, the prediction up. "
                                    "Dots on the diagonal are right. Dots on the edge lie "
                                    "beyond it.");
}

QString pictureWords(ViewKind kind, std::optional<int64_t> validated, WordsFor room) {
    const bool brief = room == WordsFor::LittleRoom;
    switch (kind) {
    case ViewKind::Painted:
    case ViewKind::Classes: break;
    case ViewKind::Scatter:
        if (validated.value_or(0) > 0) return validatedWords(room);
        return brief ? QCoreApplication::translate(
                           "CompareView",
                           "Across: target. Up: prediction. Dots on the edge lie beyond it.")
                     : QCoreApplication::translate(
                           "CompareView", "Each dot is a sample: its target across, the prediction "
                                          "up. Dots on the diagonal are right. Dots on the edge "
                                          "lie beyond it.");
    case ViewKind::Curve: // formulas tell more
        return brief ? QString()
                     : QCoreApplication::translate("CompareView",
                                                   "Dots: samples. Curve: the prediction.");
    case ViewKind::Plane:
        return brief ? QCoreApplication::translate("CompareView",
                                                   "Blue, dots: class 0. Orange, crosses: class 1.")
                     : QCoreApplication::translate(
                           "CompareView", "Blue, dots: class 0. Orange, crosses: class 1. On the "
                                          "line both are equally likely.");
    case ViewKind::Samples:
        return brief ? QCoreApplication::translate("CompareView",
                                                   "All drawn from the same random numbers.")
                     : QCoreApplication::translate(
                           "CompareView", "What each network makes of the same random numbers. The "
                                          "target: samples of the data.");
    }
    return {};
}

/// Whether a caption tells that no sample has a class.
static bool tellsNoClasses(ViewKind kind, const QString& caption) {
    return kind == ViewKind::Classes && caption == QLatin1String(kNoClasses.data());
}

/// Returns the counts of a caption like "58/64" as the window writes them; nothing for others.
static std::optional<std::pair<QString, QString>> countsOf(const QString& caption) {
    const QStringList counts = caption.split(u'/');
    if (counts.size() != 2) return std::nullopt;
    bool areCounts[2] = {};
    const qlonglong some = counts[0].toLongLong(&areCounts[0]),
                    all = counts[1].toLongLong(&areCounts[1]);
    if (!areCounts[0] || !areCounts[1]) return std::nullopt;
    return std::pair(countText(some), countText(all));
}

/// Returns both numbers of a caption like "0.8 to 5.4" as the window writes them; nothing for
/// others.
static std::optional<std::pair<QString, QString>> endsOf(const QString& caption) {
    const QStringList ends = caption.split(QStringLiteral(" to "));
    if (ends.size() != 2) return std::nullopt;
    bool areNumbers[2] = {};
    const double low = ends[0].toDouble(&areNumbers[0]), high = ends[1].toDouble(&areNumbers[1]);
    if (!areNumbers[0] || !areNumbers[1]) return std::nullopt;
    constexpr int kMostDigits = 7; // a large number has no exponent
    return std::pair(QLocale().toString(low, 'g', kMostDigits),
                     QLocale().toString(high, 'g', kMostDigits));
}

QString axesWords(const QString& caption, WordsFor room) {
    const auto ends = endsOf(caption);
    if (!ends) return {};
    return (room == WordsFor::LittleRoom
                ? QCoreApplication::translate("CompareView", "Axes: %1 to %2.")
                : QCoreApplication::translate("CompareView", "Both axes run from %1 to %2."))
        .arg(ends->first, ends->second);
}

QString captionNote(ViewKind kind, const QString& caption, ErrorText form) {
    if (const auto ends = endsOf(caption); ends && kind == ViewKind::Scatter)
        //: both axes of a picture run so
        return QCoreApplication::translate("CompareView", "%1 to %2")
            .arg(ends->first, ends->second);
    if (tellsNoClasses(kind, caption) && form != ErrorText::Shortest) return nanOutputText();
    const auto counts = countsOf(caption);
    if (kind != ViewKind::Classes || !counts) return caption;
    const auto& [right, all] = *counts;
    if (form == ErrorText::Shortest) return right + u'/' + all;
    //: so many samples get their true class
    return (form == ErrorText::Full ? QCoreApplication::translate("CompareView", "%1 of %2 right")
                                    : QCoreApplication::translate("CompareView", "%1/%2 right"))
        .arg(right, all);
}

QString captionWords(ViewKind kind, const QString& caption) {
    if (kind == ViewKind::Scatter) return {};
    if (tellsNoClasses(kind, caption))
        return QCoreApplication::translate("CompareView",
                                           "The output is nan, so no sample has a class.");
    const auto counts = countsOf(caption);
    if (kind != ViewKind::Classes || !counts) return caption;
    //: %1 is "58" and %2 is "64": so many get their true class
    return QCoreApplication::translate("CompareView", "%1 of %2 are predicted right.")
        .arg(counts->first, counts->second);
}

QString mistakeNote(const QString& caption, ErrorText form) {
    const auto counts = countsOf(caption);
    if (!counts) return captionNote(ViewKind::Classes, caption, form);
    const auto& [shown, all] = *counts;
    if (form == ErrorText::Shortest) return all;
    //: so many samples are predicted wrong
    if (form == ErrorText::Short || shown == all)
        return QCoreApplication::translate("CompareView", "%1 wrong").arg(all);
    //: the first so many of the samples that are predicted wrong are shown
    return QCoreApplication::translate("CompareView", "first %1 of %2 wrong").arg(shown, all);
}

QString mistakeWords(const QString& caption) {
    const auto counts = countsOf(caption);
    if (!counts) return captionWords(ViewKind::Classes, caption);
    const auto& [shown, all] = *counts;
    if (shown == all)
        return QCoreApplication::translate("CompareView", "Validation samples predicted wrong: %1.")
            .arg(all);
    return QCoreApplication::translate(
               "CompareView", "Validation samples predicted wrong: %1. The first %2 are shown.")
        .arg(all, shown);
}

QString savedWords(WordsFor room) {
    return room == WordsFor::LittleRoom
               ? QCoreApplication::translate("CompareView", "(8-bit values of a saved picture)")
               : QCoreApplication::translate(
                     "CompareView",
                     "A saved picture has 8-bit values, cut off at 0 and 1. An error or PSNR from "
                     "them would not be the network's, so none is shown.");
}

QString shareText(double share) {
    return QCoreApplication::translate("CompareView", "%1 %").arg(bareShareText(share));
}

QString bareShareText(double share) { return QLocale().toString(100 * share, 'f', 0); }

/// Returns how many samples of a row a cell has, from its share; nothing where the share is not
/// that of a whole number of them.
static std::optional<int64_t> countOf(double share, int64_t row) {
    const double exact = share * static_cast<double>(row), count = std::round(exact);
    const double rounding = 0.01 + 1e-6 * static_cast<double>(row); // shares are float32
    if (std::abs(exact - count) > rounding) return std::nullopt;
    return static_cast<int64_t>(count);
}

QStringList cellWords(const QVector<Picture>& tables, QPoint cell, const QStringList& classes) {
    QStringList words{QCoreApplication::translate("CompareView", "True: %1. Predicted: %2.")
                          .arg(classes.value(cell.y()), classes.value(cell.x()))};
    for (int lane = 0; lane < tables.size(); ++lane) {
        const Picture& table = tables[lane];
        if (cell.x() >= table.width || cell.y() >= table.height) continue;
        const float light = table.values[static_cast<size_t>(cell.y() * table.width + cell.x())];
        const double share = 1 - double{light};
        QString figure = percentText(share);
        const std::vector<int64_t> rows = tableCaption(table.caption).rows;
        const auto at = static_cast<size_t>(cell.y());
        const int64_t row = at < rows.size() ? rows[at] : 0;
        if (const auto count = countOf(share, row); row > 0 && count)
            figure = QCoreApplication::translate("CompareView", "%1 of %2 (%3)")
                         .arg(countText(*count), countText(row),
                              percentText(static_cast<double>(*count) / static_cast<double>(row)));
        words << laneLetter(lane) + u' ' + figure;
    }
    return words;
}

QString gainWords(double gain) {
    return QCoreApplication::translate(
               "CompareView", "× %1: the brightest colour stands for a difference of %2 or more, "
                              "where black to white is 1. A larger factor shows smaller "
                              "differences.")
        .arg(gain)
        .arg(QLocale().toString(1 / gain, 'g', 3));
}

QString pixelWords(const QVector<Picture>& pictures, const Picture& target, QPoint pixel) {
    QString text =
        QCoreApplication::translate("CompareView", "x %1, y %2:").arg(pixel.x()).arg(pixel.y());
    for (int lane = 0; lane < pictures.size(); ++lane)
        text += QStringLiteral("  %1 %2").arg(laneLetter(lane),
                                              pixelText(pictures[lane], pixel.x(), pixel.y()));
    if (target.width > 0)
        text += QStringLiteral("  ") + QCoreApplication::translate("CompareView", "target %1")
                                           .arg(pixelText(target, pixel.x(), pixel.y()));
    return text;
}

} // namespace halfscope
