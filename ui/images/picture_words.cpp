// Holds each sentence twice: in full, and with half as many words for when there is little room.
#include "ui/images/picture_words.h"

#include <QCoreApplication>
#include <QLocale>

namespace halfscope {

QString tableWords(std::optional<int64_t> validated, WordsFor room) {
    const QString reading =
        room == WordsFor::LittleRoom
            ? QCoreApplication::translate("CompareView",
                                          "Rows: true. Columns: predicted. Diagonal: correct.")
            : QCoreApplication::translate("CompareView",
                                          "Rows: true classes. Columns: predicted classes. The "
                                          "diagonal holds the correct ones.");
    if (!validated) return reading;
    const QString samples =
        *validated == 0
            ? QCoreApplication::translate("CompareView", "This batch.")
            : QCoreApplication::translate("CompareView", "All validation samples after step %1.")
                  .arg(QLocale().toString(static_cast<qint64>(*validated)));
    return samples + u' ' + reading;
}

QString samplesWords(SamplesShow show, WordsFor room) {
    const bool brief = room == WordsFor::LittleRoom;
    if (show == SamplesShow::Mistakes)
        return brief ? QCoreApplication::translate("CompareView", "Orange: mistakes.")
                     : QCoreApplication::translate(
                           "CompareView", "Validation samples. Orange marks mistakes: a frame with "
                                          "the predicted class, or the predicted character.");
    return brief ? QCoreApplication::translate(
                       "CompareView", "Grey: prompt. Then each lane writes; underlined: not as A. "
                                      "Below: next characters, orange: wrong.")
                 : QCoreApplication::translate(
                       "CompareView",
                       "After the grey prompt, each lane writes on by itself, drawn at temperature "
                       "0.8 with the same random numbers; what differs from A is underlined. Below "
                       "the line: each character predicted from the true ones, orange if wrong.");
}

} // namespace halfscope
