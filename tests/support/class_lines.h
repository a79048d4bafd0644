// Lines of tables in which classes are predicted, with their probabilities checked and taken off.
#pragma once

#include <QString>
#include <QStringList>

namespace halfscope {

/// Returns the lines of a table without the probability behind the class of each of `lanes` lanes.
/// That of a line must be a number above 0.3 and at most 1, or empty or NA like the class; where it
/// is not, the line ends with a mark. The names of classes have no separator if there are several
/// lanes.
inline QStringList classLinesOf(const QString& text, int lanes = 1, QChar separator = u',') {
    QStringList lines = text.split(u'\n');
    if (!lines.takeLast().isEmpty()) return {};
    for (QString& line : lines) {
        QStringList fields = line.split(separator);
        bool whole = fields.size() > 2 * lanes - 1;
        for (qsizetype lane = 0; whole && lane < lanes; ++lane) {
            const QString sure = fields.takeAt(fields.size() - 1 - lane);
            const QString taken = fields.at(fields.size() - 1 - lane);
            const double value = QString(sure).replace(u',', u'.').toDouble();
            const bool none = taken.isEmpty() || taken == QLatin1String("NA");
            const bool heading = taken.contains(QLatin1String("_predicted"));
            const QString named =
                QString(taken).replace(QLatin1String("_predicted"), QLatin1String("_probability"));
            whole = heading ? sure == named : none ? sure == taken : value > 0.3 && value <= 1;
        }
        line = fields.join(separator) + (whole ? QString() : QStringLiteral(" (no probability)"));
    }
    return lines;
}

} // namespace halfscope
