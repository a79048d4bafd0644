// The engine says what sets lanes apart; this file decides how briefly it is written.
#include "ui/models/lane_titles.h"

#include "engine/settings/lane_titles.h"
#include "ui/models/run_model.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"

#include <QCoreApplication>

#include <algorithm>

namespace halfscope {
namespace {
const QString kBetweenParts = QStringLiteral(", "); // the engine puts it between a title's parts
constexpr char16_t kInName = u'-';                  // stands between the parts of a precision's
                                                    // name

/// Whether a difference like "First scale 2^10" is one of this setting.
bool isOf(const QString& difference, std::string_view key) {
    return difference.section(u' ', -2, -2) ==
           QString::fromStdString(nameInTitles(*findField(key)));
}

bool isFirstScale(const QString& difference) { return isOf(difference, "scaler.init_scale"); }

/// Returns the value of a difference like "Growth interval 20". A first loss scale is where the
/// lane began: its number alone would look like the scale of now, which moves and can be set. A
/// layer's own dtype, "layer 0=bfloat16", is "layer 0=bf16".
QString valueOf(const QString& difference) {
    if (difference.contains(u'='))
        return QString(difference)
            .replace(QLatin1String("bfloat"), QLatin1String("bf"))
            .replace(QLatin1String("float"), QLatin1String("fp"));
    const QString value = difference.section(u' ', -1);
    //: %1 is how a lane scales what it rounds to FP8: dynamic or none
    if (isOf(difference, "precision.fp8_scaling"))
        return QCoreApplication::translate("LaneTitles", "FP8 %1").arg(value);
    if (!isFirstScale(difference)) return value;
    //: %1 is the loss scale that a lane began with, and keeps where it is fixed
    return QCoreApplication::translate("LaneTitles", "first %1").arg(value);
}

/// Returns "first 2^10, 20" for "A First scale 2^10, Growth interval 20"; nothing where a part is
/// no setting with its value, as in "from B".
QString valuesOf(const QString& brief) {
    QStringList values;
    for (const QString& each : brief.section(u' ', 1).split(kBetweenParts)) {
        if (each.count(u' ') != 1) return {};
        values << valueOf(each);
    }
    return values.join(kBetweenParts);
}

QString nameIn(const QString& label) { return label.section(u' ', 1); }

/// Returns the parts of a name, in order or, with `end`, from the last to the first.
QStringList partsFrom(const QString& name, bool end) {
    QStringList parts = name.split(kInName);
    if (end) std::reverse(parts.begin(), parts.end());
    return parts;
}
} // namespace

QStringList laneTitles(const RunConfig& config, std::span<const int> parents) {
    QStringList titles;
    for (const LaneTitle& title : laneTitleParts(config, parents, nameInTitles)) {
        titles << safeText(titleText(title)).replace(QLatin1String("..."), QString(QChar(0x2026)));
        if (title.parent == kNewLane)
            titles.back() += kBetweenParts + QCoreApplication::translate("LaneTitles", "new");
        if (title.parent < 0) continue;
        // one word for labelForms(), whose briefest form is the last word
        titles.back() += kBetweenParts + QCoreApplication::translate("LaneTitles", "from %1")
                                             .arg(laneTag(title.parent))
                                             .replace(QChar(u' '), QChar(QChar::Nbsp));
    }
    return titles;
}

QString briefLabel(const QString& label) {
    const QString rest = label.section(kBetweenParts, 1);
    return rest.isEmpty() ? label : label.section(u' ', 0, 0) + u' ' + rest;
}

QStringList labelForms(const QString& label) {
    const QString brief = briefLabel(label), first = brief.section(kBetweenParts, 0, 0);
    QStringList forms{label};
    // Pictures side by side say it in the same words, although some have room for the setting's
    // name.
    if (first != brief || !isFirstScale(first)) forms << brief;
    const QString letter = label.section(u' ', 0, 0) + u' ';
    // lanes of a sweep may share the first value
    if (const QString values = valuesOf(brief); first != brief && !values.isEmpty())
        forms << letter + values;
    else if (first != brief)
        forms << first + QChar(0x2026);
    if (brief != label) forms << letter + valueOf(nameIn(first));
    return forms;
}

QString distinctLabel(const QStringList& labels, int lane) {
    const QString label = labels.value(lane), name = nameIn(label);
    if (name.contains(kBetweenParts)) return label;
    for (const bool end : {false, true}) {
        const QStringList own = partsFrom(name, end);
        for (qsizetype count = 1; count < own.size(); ++count) {
            const bool shared =
                std::any_of(labels.begin(), labels.end(), [&](const QString& other) {
                    return other != label &&
                           partsFrom(nameIn(other), end).mid(0, count) == own.mid(0, count);
                });
            const QString said = name.section(kInName, end ? -count : 0, end ? -1 : count - 1);
            bool number = false;
            said.toInt(&number); // a number from laneNames() tells nothing
            if (!shared && !number) return label.section(u' ', 0, 0) + u' ' + said;
        }
    }
    return label;
}

} // namespace halfscope
