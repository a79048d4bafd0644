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

/// A setting's value behind a word, for where there is no room for the setting's name.
struct BriefWords {
    const char* key;
    const char* words;
};
/// A value alone would say nothing: "C 200". A scaler's name, a policy file and a layer's own dtype
/// need no word.
constexpr BriefWords kBriefWords[] = {
    //: %1 is the loss scale that a lane began with, and keeps where it is fixed
    {"scaler.init_scale", QT_TRANSLATE_NOOP("LaneTitles", "first %1")},
    //: %1 is how a lane scales what it rounds to FP8: dynamic or none
    {"precision.fp8_scaling", QT_TRANSLATE_NOOP("LaneTitles", "FP8 %1")},
    {"precision.master_weights", QT_TRANSLATE_NOOP("LaneTitles", "master %1")},
    {"precision.keep_batchnorm_fp32", QT_TRANSLATE_NOOP("LaneTitles", "norms %1")},
    {"precision.weight_rounding", QT_TRANSLATE_NOOP("LaneTitles", "rounding %1")},
    {"scaler.mode", QT_TRANSLATE_NOOP("LaneTitles", "scaling %1")},
    {"scaler.growth_factor", QT_TRANSLATE_NOOP("LaneTitles", "growth %1")},
    {"scaler.backoff_factor", QT_TRANSLATE_NOOP("LaneTitles", "backoff %1")},
    {"scaler.growth_interval", QT_TRANSLATE_NOOP("LaneTitles", "interval %1")},
    {"scaler.growth_test", QT_TRANSLATE_NOOP("LaneTitles", "test %1")},
    {"scaler.growth_delay", QT_TRANSLATE_NOOP("LaneTitles", "delay %1")},
    {"scaler.clamp", QT_TRANSLATE_NOOP("LaneTitles", "clamp %1")},
    {"scaler.ceiling", QT_TRANSLATE_NOOP("LaneTitles", "ceiling %1")},
    {"scaler.on_overflow", QT_TRANSLATE_NOOP("LaneTitles", "overflow %1")},
    {"scaler.floor", QT_TRANSLATE_NOOP("LaneTitles", "floor %1")},
    {"scaler.at_floor", QT_TRANSLATE_NOOP("LaneTitles", "at floor %1")},
    {"scaler.hysteresis", QT_TRANSLATE_NOOP("LaneTitles", "hysteresis %1")},
    {"scaler.refill", QT_TRANSLATE_NOOP("LaneTitles", "refill %1")},
    {"scaler.tolerance", QT_TRANSLATE_NOOP("LaneTitles", "tolerance %1")},
    {"scaler.check_unscaled", QT_TRANSLATE_NOOP("LaneTitles", "check %1")},
    {"scaler.hold_schedule", QT_TRANSLATE_NOOP("LaneTitles", "hold %1")},
};

/// Returns the value of a difference like "Growth interval 20", behind a word that says of what:
/// "interval 20". A layer's own dtype stays with its layer: "layer 0=bf16".
QString valueOf(const QString& difference) {
    if (difference.contains(u'=')) return difference;
    const QString value = difference.section(u' ', -1);
    for (const BriefWords& brief : kBriefWords)
        if (isOf(difference, brief.key))
            return QCoreApplication::translate("LaneTitles", brief.words).arg(value);
    return value;
}

/// Returns "first 2^10, interval 20" for "A First scale 2^10, Growth interval 20"; nothing where a
/// part is no setting with its value, as in "from B".
QString valuesOf(const QString& brief) {
    QStringList values;
    for (const QString& each : brief.section(u' ', 1).split(kBetweenParts)) {
        if (each.count(u' ') != 1) return {};
        values << valueOf(each);
    }
    return values.join(kBetweenParts);
}

/// Returns a title with all that both kinds of titles have in common.
QString shownTitle(const LaneTitle& title) {
    return safeText(titleText(title)).replace(QLatin1String("..."), QString(QChar(0x2026)));
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
        titles << shownTitle(title);
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

QString laneTitleWithout(const RunConfig& config, int lane, std::span<const Field* const> fields) {
    LaneTitle title = laneTitleParts(config, {}, nameInTitles).at(static_cast<size_t>(lane));
    std::erase_if(title.words, [&](const std::string& words) {
        return std::any_of(fields.begin(), fields.end(), [&](const Field* field) {
            return words.starts_with(nameInTitles(*field) + ' ');
        });
    });
    return shownTitle(title);
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

std::vector<QStringList> formsTogether(const QStringList& labels) {
    std::vector<QStringList> forms(kBriefestNames + 3);
    for (int lane = 0; lane < labels.size(); ++lane) {
        const QString& label = labels[lane];
        const QStringList own = labelForms(label);
        const QString rest = label.section(kBetweenParts, 1);
        const bool several = rest.contains(kBetweenParts);
        const QString distinct = distinctLabel(labels, lane);
        const QString each[] = {label,
                                briefLabel(label),
                                several ? own[own.size() - 2] : own.back(), // all values
                                own.back(),
                                distinct.size() < own.back().size() ? distinct : own.back(),
                                label.section(u' ', 0, 0)};
        for (size_t form = 0; form < forms.size(); ++form)
            forms[form] << each[form];
    }
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
