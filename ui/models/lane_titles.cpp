// The engine says what sets lanes apart; how briefly it is written is decided here.
#include "ui/models/lane_titles.h"

#include "engine/settings/lane_titles.h"
#include "ui/models/safe_text.h"

namespace halfscope {
namespace {
const QString kBetweenParts = QStringLiteral(", "); // the engine's, between a title's parts
} // namespace

QStringList laneTitles(const RunConfig& config) {
    QStringList titles;
    for (const LaneTitle& title : laneTitleParts(config))
        titles << safeText(titleText(title)).replace(QLatin1String("..."), QString(QChar(0x2026)));
    return titles;
}

QString briefLabel(const QString& label) {
    const QString rest = label.section(kBetweenParts, 1);
    return rest.isEmpty() ? label : label.section(u' ', 0, 0) + u' ' + rest;
}

QStringList labelForms(const QString& label) {
    const QString brief = briefLabel(label), first = brief.section(kBetweenParts, 0, 0);
    QStringList forms{label, brief};
    if (first != brief) forms << first + QChar(0x2026);
    if (brief != label) forms << label.section(u' ', 0, 0) + u' ' + first.section(u' ', -1);
    return forms;
}

} // namespace halfscope
