// Lanes of one precision are compared field by field; what all of them share is left out.
#include "ui/models/lane_titles.h"

#include "engine/train/fields.h"
#include "engine/train/scaler_presets.h"

#include <QFileInfo>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace halfscope {
namespace {

const QString kGap = QStringLiteral(", ");
constexpr const char* kPrecision = "precision";
constexpr const char* kScalerPreset = "scaler.preset";
constexpr const char* kFirstScale = "scaler.init_scale";
constexpr const char* kOfScaler = "scaler.";

QString fromText(const std::string& text) { return QString::fromStdString(text); }

/// As one writes it by hand: scales are powers of two.
QString brief(const FieldValue& value) {
    constexpr double kLarge = 1024, kSmall = 1.0 / 16; // between them digits are as short
    const double* real = std::get_if<double>(&value);
    int exponent = 0;
    const bool power = real && std::frexp(*real, &exponent) == 0.5;
    if (power && (*real >= kLarge || *real < kSmall))
        return QStringLiteral("2^%1").arg(exponent - 1);
    return fromText(valueText(value));
}

/// The value with its name where it does not speak for itself; empty: nothing worth a word.
QString wordsFor(const Field& field, const FieldValue& value) {
    const QString text = brief(value);
    if (text == QLatin1String("default") || text.isEmpty()) return {};
    if (field.kind == FieldKind::Path) return QFileInfo(text).completeBaseName();
    if (field.kind == FieldKind::Text) return text;
    const int part = field.key == kScalerPreset ? 0 : -1; // "scaler"
    return fromText(field.key).section(u'.', part, part) + u' ' + text;
}

/// The lanes that have the same precision as this one, itself among them.
std::vector<int> peersOf(const RunConfig& config, size_t lane) {
    std::vector<int> peers;
    for (size_t i = 0; i < config.lanes.size(); ++i)
        if (config.lanes[i].precision == config.lanes[lane].precision)
            peers.push_back(static_cast<int>(i));
    return peers;
}

/// Whether the names of their scalers tell the peers apart: two have different ones, none has a
/// combination without a name.
bool scalersTell(const RunConfig& config, const std::vector<int>& peers) {
    std::set<std::string> names;
    for (const int peer : peers)
        names.insert(presetOf(config.lanes[static_cast<size_t>(peer)].scaler));
    return names.size() > 1 && !names.contains(kCustomScaler);
}

/// Of `lane` against its peers; first what sets it apart from most of them.
QStringList differences(const RunConfig& config, size_t lane) {
    const int own = static_cast<int>(lane);
    const std::vector<int> peers = peersOf(config, lane);
    const bool named = scalersTell(config, peers);
    const bool dynamic = config.lanes[lane].scaler.rules.mode == ScalerMode::Dynamic;
    std::vector<std::pair<std::ptrdiff_t, QString>> found; // from how many peers, in words
    for (const Field& field : fieldTable()) {
        if (field.scope != FieldScope::Lane || field.key == kPrecision) continue;
        if (field.applies && !field.applies(config, own)) continue;
        const FieldValue value = field.get(config, own);
        const auto others = std::count_if(
            peers.begin(), peers.end(), [&](int peer) { return field.get(config, peer) != value; });
        if (others == 0) continue;
        // a scaler's name says what its rules are, and of a dynamic one where it starts
        const bool says = field.key != kFirstScale || dynamic;
        const bool ofScaler = field.key.starts_with(kOfScaler);
        if (field.key == kScalerPreset ? !named : named && ofScaler && says) continue;
        if (const QString text = wordsFor(field, value); !text.isEmpty())
            found.emplace_back(others, text);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    QStringList words;
    for (const auto& each : found)
        words << each.second;
    return words;
}

} // namespace

QStringList laneTitles(const RunConfig& config) {
    constexpr qsizetype kMost = 2; // differences that can be read at a glance
    const std::vector<std::string> names = laneNames(config);
    QStringList titles;
    std::map<QString, int> seen;
    for (size_t i = 0; i < names.size(); ++i) {
        QStringList words = differences(config, i);
        if (words.size() > kMost) words = words.first(kMost) << QString(QChar(0x2026));
        words.prepend(QString::fromUtf8(nameOf(config.lanes[i].precision)));
        titles << words.join(kGap);
        ++seen[titles.back()];
    }
    for (size_t i = 0; i < names.size(); ++i) { // alike after all: the number tells them apart
        QString& title = titles[static_cast<qsizetype>(i)];
        const QString precision = QString::fromUtf8(nameOf(config.lanes[i].precision));
        if (seen[title] > 1) title.replace(0, precision.size(), fromText(names[i]));
    }
    return titles;
}

QString briefLabel(const QString& label) {
    const QString rest = label.section(kGap, 1);
    return rest.isEmpty() ? label : label.section(u' ', 0, 0) + u' ' + rest;
}

QStringList labelForms(const QString& label) {
    const QString brief = briefLabel(label), first = brief.section(kGap, 0, 0);
    QStringList forms{label, brief};
    if (first != brief) forms << first + QChar(0x2026);
    if (brief != label) forms << label.section(u' ', 0, 0) + u' ' + first.section(u' ', -1);
    return forms;
}

} // namespace halfscope
