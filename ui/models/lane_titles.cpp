// The engine says what sets lanes apart; this file decides how briefly it is written.
#include "ui/models/lane_titles.h"

#include "engine/settings/lane_titles.h"
#include "engine/settings/precision.h"
#include "ui/models/run_model.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

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

QString nameOfFirstScale() {
    return QString::fromStdString(nameInTitles(*findField("scaler.init_scale")));
}

/// Returns what the scale is called in the title of a lane that keeps it until another one is set.
QString nameOfFixedScale() {
    //: the loss scale of a lane, which no step changes; a number follows
    return QCoreApplication::translate("LaneTitles", "Fixed scale")
        .replace(QChar(u' '), QChar(QChar::Nbsp));
}

bool isFixedScale(const QString& difference) {
    return difference.section(u' ', -2, -2) == nameOfFixedScale();
}

/// A setting's value behind a word, for where there is no room for the setting's name.
struct BriefWords {
    const char* key;
    const char* words;
};
/// A value alone would say nothing: "C 200". A scaler's name, a policy file and a layer's own dtype
/// need no word.
constexpr BriefWords kBriefWords[] = {
    //: %1 is the loss scale that a lane began with, and may have left since
    {"scaler.init_scale", QT_TRANSLATE_NOOP("LaneTitles", "first scale %1")},
    //: %1 is how a lane scales what it rounds to FP8: dynamic or none
    {"precision.fp8_scaling", QT_TRANSLATE_NOOP("LaneTitles", "FP8 scaling %1")},
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
};

/// What is said briefly of a check box that titles have a whole phrase for, see Field::whenOn.
struct BriefStates {
    const char* key;
    const char *on, *off;
};
constexpr BriefStates kBriefStates[] = {
    {"scaler.hold_schedule", QT_TRANSLATE_NOOP("LaneTitles", "schedule waits"),
     QT_TRANSLATE_NOOP("LaneTitles", "schedule goes on")},
};

/// Whether a difference says that a check box is on, or off.
bool isSwitched(const QString& difference, const char* key, bool on) {
    return difference == QString::fromStdString(settingWords(*findField(key), on, nameInTitles));
}

/// Returns the value of a difference like "Growth interval 20", behind a word that says of what:
/// "interval 20". What is no setting with its value stays as it is: "layer 0=bf16", "from B", the
/// name of a file.
QString valueOf(const QString& difference) {
    const QString value = difference.section(u' ', -1);
    //: %1 is the loss scale that a lane keeps
    if (isFixedScale(difference))
        return QCoreApplication::translate("LaneTitles", "scale %1").arg(value);
    for (const BriefStates& brief : kBriefStates)
        for (const bool on : {true, false})
            if (isSwitched(difference, brief.key, on))
                return QCoreApplication::translate("LaneTitles", on ? brief.on : brief.off);
    for (const BriefWords& brief : kBriefWords)
        if (isOf(difference, brief.key))
            return QCoreApplication::translate("LaneTitles", brief.words).arg(value);
    return isOf(difference, "scaler.preset") ? value : difference; // "apex" says what it is
}

/// Returns the value with no more than the beginning of its words: "fir… 2^4" of "first scale 2^4".
QString cut(const QString& value) {
    constexpr qsizetype kLetters = 3;
    const qsizetype gap = value.lastIndexOf(u' ');
    if (gap <= kLetters + 1) return value; // no shorter
    return value.first(kLetters).trimmed() + QChar(0x2026) + value.sliced(gap);
}

/// Returns the end of what sets a lane apart, where most lanes differ: "… 2^4" of "first scale
/// 2^4".
QString endOf(const QString& value) {
    const qsizetype gap = value.lastIndexOf(u' ');
    return gap < 0 ? value : QChar(0x2026) + value.sliced(gap);
}

/// Does the same to each of several values.
QString shortenedEach(QStringList values, QString (*shorten)(const QString&)) {
    for (QString& value : values)
        value = shorten(value);
    return values.join(kBetweenParts);
}

QString letterOf(const QString& label) { return label.section(u' ', 0, 0); }

/// Returns the name of a label's precision: "amp-fp16" of "B amp-fp16, First scale 2^24".
QString precisionOf(const QString& label) {
    return label.section(u' ', 1).section(kBetweenParts, 0, 0);
}

/// Whether lanes have names of several precisions.
bool precisionsDiffer(const QStringList& labels) {
    return std::any_of(labels.begin(), labels.end(), [&](const QString& label) {
        return precisionOf(label) != precisionOf(labels.front());
    });
}

/// Whether another lane has a lane's precision, too.
bool isShared(const QStringList& labels, int lane) {
    const QString own = precisionOf(labels[lane]);
    const auto same = [&own](const QString& label) { return precisionOf(label) == own; };
    return std::count_if(labels.begin(), labels.end(), same) > 1;
}

/// Whether a part of a lane's name is the name of another precision, with or without a number:
/// "fp16-2" of "amp-fp16-2" would be read as a second lane that computes all in fp16.
bool namesAPrecision(const QString& part) {
    const std::span<const PrecisionPreset> all = precisionPresets();
    return std::any_of(all.begin(), all.end(), [&](const PrecisionPreset& preset) {
        const QString name = QString::fromLatin1(preset.name);
        return part == name || part.startsWith(name + kInName);
    });
}

/// Returns what sets a lane apart in a few words, one for each difference: "interval 20", "first
/// scale 2^16", "from B".
QStringList valuesOf(const QString& label) {
    QStringList values;
    for (const QString& each : label.split(kBetweenParts).mid(1))
        values << valueOf(each);
    return values;
}

/// Returns the first of a lane's values, or all of them where another lane of its precision has the
/// first one, too, as in a map of two settings.
QStringList tellingValues(const QStringList& labels, int lane) {
    const QStringList values = valuesOf(labels[lane]);
    for (int other = 0; other < labels.size(); ++other)
        if (other != lane && precisionOf(labels[other]) == precisionOf(labels[lane]) &&
            valuesOf(labels[other]).contains(values.value(0)))
            return values;
    return values.first(std::min<qsizetype>(values.size(), 1));
}

/// Returns a scale in the fewest characters: "2^16", or "3".
QString briefScale(double scale) { return scaleText(scale).section(QStringLiteral(" = "), -1); }

/// Returns a scale as the figures beside a title write it: "2^0" for "1", beside another 2^16.
QString shownScale(const QString& value) {
    bool number = false;
    const double scale = QLocale::c().toDouble(value, &number);
    return number ? briefScale(scale) : value;
}

/// Returns scales that a lane has had one after the other, as one word; of many, the first and the
/// last one: "2^-10 then ... then 2^15".
QString joined(const std::vector<double>& scales) {
    constexpr size_t kMost = 3;
    QString text = briefScale(scales.front());
    const auto add = [&text](const QString& next) {
        //: the loss scales of a lane so far, and the next one, which was set by hand
        text = QCoreApplication::translate("LaneTitles", "%1 then %2").arg(text, next);
    };
    if (scales.size() > kMost) {
        add(QChar(0x2026));
        add(briefScale(scales.back()));
    } else {
        for (size_t i = 1; i < scales.size(); ++i)
            add(briefScale(scales[i]));
    }
    return text.replace(QChar(u' '), QChar(QChar::Nbsp));
}

/// Returns the loss scale that the lane has, if no rule changes it: the one that it began with and
/// those that were set by hand later. Otherwise nothing.
QString keptScale(const RunConfig& config, int lane) {
    const ScalerConfig& scaler = config.lanes[static_cast<size_t>(lane)].scaler;
    if (scaler.rules.mode != ScalerMode::Static) return {};
    std::vector<double> scales{scaler.initScale};
    int64_t since = 1; // the first step that uses the last of them
    for (const LiveEdit& edit : config.edits) {
        if (edit.key != kLiveScale || (edit.lane >= 0 && edit.lane != lane)) continue;
        const double* scale = std::get_if<double>(&edit.value);
        if (!scale) continue;
        if (edit.step > since) scales.push_back(*scale);
        scales.back() = *scale; // no step used the one before, which came with the same step
        since = std::max(since, edit.step);
    }
    scales.erase(std::unique(scales.begin(), scales.end()), scales.end());
    return joined(scales);
}

/// Returns a title with all that both kinds of titles have in common.
QString shownTitle(LaneTitle title, const QString& kept) {
    const QString first = nameOfFirstScale() + u' ';
    for (std::string& words : title.words) {
        const QString text = QString::fromStdString(words);
        if (!text.startsWith(first)) continue;
        const QString shown = kept.isEmpty() ? first + shownScale(text.sliced(first.size()))
                                             : nameOfFixedScale() + u' ' + kept;
        words = shown.toStdString();
    }
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
        titles << shownTitle(title, keptScale(config, static_cast<int>(titles.size())));
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
            return words == settingWords(*field, field->get(config, lane), nameInTitles);
        });
    });
    return shownTitle(std::move(title), keptScale(config, lane));
}

QString briefLabel(const QString& label) {
    const QString rest = label.section(kBetweenParts, 1);
    return rest.isEmpty() ? label : label.section(u' ', 0, 0) + u' ' + rest;
}

QStringList labelForms(const QString& label) {
    const QString lead = letterOf(label) + u' ', named = lead + precisionOf(label) + kBetweenParts;
    const QStringList values = valuesOf(label);
    QStringList forms{label};
    if (values.isEmpty()) return forms;
    const QString all = values.join(kBetweenParts);
    forms << named + all << lead + all << lead + shortenedEach(values, cut)
          << lead + shortenedEach(values, endOf) << lead + endOf(values.front());
    forms.removeDuplicates();
    return forms;
}

std::vector<QStringList> formsTogether(const QStringList& labels) {
    std::vector<QStringList> forms(kBriefestValues + 4);
    const bool differ = precisionsDiffer(labels);
    for (int lane = 0; lane < labels.size(); ++lane) {
        const QString& label = labels[lane];
        const QStringList telling = tellingValues(labels, lane);
        const QString first = telling.join(kBetweenParts),
                      all = valuesOf(label).join(kBetweenParts);
        const QString letter = letterOf(label), lead = letter + u' ';
        const QString precision = (lead + precisionOf(label)).trimmed();
        const auto with = [&](const QString& words) {
            return words.isEmpty() ? precision : precision + kBetweenParts + words;
        };
        // a precision that other lanes have, too, goes before what tells them apart
        const bool shared = isShared(labels, lane);
        const auto alone = [&](const QString& words) {
            return words.isEmpty() || !shared ? precision : lead + words;
        };
        const QString end = alone(shortenedEach(telling, endOf));
        const auto distinct = [&](DistinctPart part) {
            const QString said = distinctLabel(labels, lane, part);
            return said.size() < end.size() ? said : end;
        };
        const QString said[] = {label,
                                with(all),
                                differ ? with(first) : alone(all),
                                differ ? with(first) : alone(first),
                                alone(first),
                                alone(shortenedEach(telling, cut)),
                                end,
                                distinct(DistinctPart::Longest),
                                distinct(DistinctPart::Shortest),
                                letter};
        for (size_t form = 0; form < forms.size(); ++form)
            forms[form] << said[form];
    }
    return forms;
}

QString lanesApart(const QStringList& labels) {
    QStringList said;
    bool shared = false;
    for (int lane = 0; lane < labels.size(); ++lane) {
        const bool own = !isShared(labels, lane);
        const QString values = valuesOf(labels[lane]).join(kBetweenParts);
        shared = shared || !own;
        said << letterOf(labels[lane]) + u' ' +
                    (own || values.isEmpty() ? precisionOf(labels[lane]) : values);
    }
    return shared ? said.join(QStringLiteral("; ")) : QString();
}

QString distinctLabel(const QStringList& labels, int lane, DistinctPart part) {
    const QString label = labels.value(lane), name = nameIn(label);
    if (name.contains(kBetweenParts)) return label;
    for (const bool end : {false, true}) {
        const QStringList own = partsFrom(name, end);
        for (qsizetype left = 1; left < own.size(); ++left) {
            const qsizetype count = part == DistinctPart::Shortest ? left : own.size() - left;
            const bool shared =
                std::any_of(labels.begin(), labels.end(), [&](const QString& other) {
                    return other != label &&
                           partsFrom(nameIn(other), end).mid(0, count) == own.mid(0, count);
                });
            const QString said = name.section(kInName, end ? -count : 0, end ? -1 : count - 1);
            bool number = false;
            said.toInt(&number); // a number from laneNames() tells nothing
            if (!shared && !number && !namesAPrecision(said))
                return label.section(u' ', 0, 0) + u' ' + said;
        }
    }
    return label;
}

} // namespace halfscope
