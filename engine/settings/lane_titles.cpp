// Compares the lanes of one precision field by field, and leaves out what all of them share.
#include "engine/settings/lane_titles.h"

#include "engine/data/csv_columns.h"
#include "engine/scaler/scaler_presets.h"
#include "engine/settings/precision.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace halfscope {
namespace {

constexpr size_t kMost = 2; // differences that can be read at a glance
constexpr const char* kGap = ", ";
constexpr const char* kPrecision = "precision";
constexpr const char* kScalerPreset = "scaler.preset";
constexpr const char* kFirstScale = "scaler.init_scale";
constexpr const char* kMode = "scaler.mode";
constexpr const char* kOfScaler = "scaler.";
constexpr const char* kColumns = "data.drop";

/// Returns the lanes that have the same precision as this one, including itself.
std::vector<int> peersOf(const RunConfig& config, size_t lane) {
    std::vector<int> peers;
    for (size_t i = 0; i < config.lanes.size(); ++i)
        if (config.lanes[i].precision == config.lanes[lane].precision)
            peers.push_back(static_cast<int>(i));
    return peers;
}

/// Whether the names of their scalers tell the peers apart: at least two differ, and each scaler
/// has a name.
bool scalersTell(const RunConfig& config, const std::vector<int>& peers) {
    std::set<std::string> names;
    for (const int peer : peers)
        names.insert(presetOf(config.lanes[static_cast<size_t>(peer)].scaler));
    return names.size() > 1 && !names.contains(kCustomScaler);
}

int parentOf(std::span<const int> parents, size_t lane) {
    return lane < parents.size() ? parents[lane] : -1;
}

/// Whether settings have the window's names. There a static lane's first scale is a fixed one, and
/// its rules need not be named.
bool inWindowsWords(const SettingName& name) {
    const Field& scale = *findField(kFirstScale);
    return name(scale) != shortKey(scale);
}

/// A setting in which a lane differs from peers.
struct Difference {
    const Field* field = nullptr;
    FieldValue value;
    std::ptrdiff_t others = 0; ///< the peers that have another value
    bool usual = false;        ///< whether every lane of the precision begins with this value
};

/// Tells which differences are of values that the lane's precision brings along.
void findUsual(std::vector<Difference>& found, RunConfig config, size_t lane) {
    config.lanes[lane] = defaultLane(config.lanes[lane].precision);
    for (Difference& each : found)
        each.usual = each.field->get(config, static_cast<int>(lane)) == each.value;
}

/// What tells most comes first: what the lane has of its own, then what sets it apart from most
/// peers, then what concerns more than some layers.
bool tellsMore(const Difference& a, const Difference& b) {
    const auto rank = [](const Difference& each) {
        return std::tuple(each.usual, -each.others, each.field->kind == FieldKind::Text);
    };
    return rank(a) < rank(b);
}

/// Returns the differences of `lane` from its peers, the most telling first. What its precision
/// brings along is left out, so that a lane keeps its name when another one gets another recipe;
/// but where only loss scalers differ, each that scales says what it has.
std::vector<std::string> differences(const RunConfig& config, size_t lane,
                                     std::span<const int> parents, const SettingName& name) {
    const int own = static_cast<int>(lane);
    const std::vector<int> peers = peersOf(config, lane);
    const auto takesScale = [&](int peer) { // from its parent
        const int parent = parentOf(parents, static_cast<size_t>(peer));
        return parent >= 0 && scalesLoss(config.lanes[static_cast<size_t>(parent)]);
    };
    const bool named = scalersTell(config, peers);
    const bool dynamic = config.lanes[lane].scaler.rules.mode == ScalerMode::Dynamic;
    std::vector<Difference> found;
    bool scalersOnly = true;
    for (const Field& field : fieldTable()) {
        if (field.scope != FieldScope::Lane || field.key == kPrecision) continue;
        if (field.applies && !field.applies(config, own)) continue;
        const bool first = field.key == kFirstScale;
        if (first && takesScale(own)) continue;
        const FieldValue value = field.get(config, own);
        const auto others = std::count_if(peers.begin(), peers.end(), [&](int peer) {
            return field.get(config, peer) != value && !(first && takesScale(peer));
        });
        if (others == 0) continue;
        scalersOnly = scalersOnly && field.key.starts_with(kOfScaler);
        // the name of a scaler tells its rules and, for a dynamic one, its initial scale
        const bool says = !first || dynamic;
        const bool ofScaler = field.key.starts_with(kOfScaler);
        if (field.key == kScalerPreset ? !named : named && ofScaler && says) continue;
        found.push_back({&field, value, others});
    }
    if (!found.empty()) findUsual(found, config, lane);
    std::stable_sort(found.begin(), found.end(), tellsMore);
    const bool saysUsual = scalersOnly && scalesLoss(config.lanes[lane]);
    std::erase_if(found, [&](const Difference& each) { return each.usual && !saysUsual; });
    if (config.lanes[lane].scaler.rules.mode == ScalerMode::Static && inWindowsWords(name) &&
        std::ranges::any_of(found, [](const Difference& e) { return e.field->key == kFirstScale; }))
        std::erase_if(found, [](const Difference& each) {
            return each.field->key == kScalerPreset || each.field->key == kMode;
        });
    std::vector<std::string> words;
    for (const Difference& each : found) {
        if (std::string text = settingWords(*each.field, each.value, name); !text.empty())
            words.push_back(std::move(text));
    }
    return words;
}

/// Returns "2^24"; empty for what is no power of two.
std::string powerText(const FieldValue& value) {
    const double* real = std::get_if<double>(&value);
    int exponent = 0;
    const bool power = real && std::frexp(*real, &exponent) == 0.5;
    return power ? "2^" + std::to_string(exponent - 1) : std::string();
}

/// Returns "1e-03": the fewest digits that read back as the same number.
std::string scientificText(double value) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific);
    return {text.data(), end.ptr};
}

/// Returns "layer 0=bf16" for "layer 0=bfloat16": types as the names of precisions have them.
std::string withShortTypes(std::string text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kForms{
        {{"=bfloat16", "=bf16"}, {"=float16", "=fp16"}, {"=float32", "=fp32"}}};
    for (const auto& [whole, brief] : kForms)
        for (size_t at = 0; (at = text.find(whole, at)) != std::string::npos;)
            text.replace(at, whole.size(), brief);
    return text;
}

/// Returns a phrase as `name` writes the names of settings.
std::string inWordsOf(const SettingName& name, const Phrase& words) {
    Field called;
    called.label = words;
    return name(called);
}

/// Returns what a check box of the window is: "Shuffle off".
std::string switchWords(const Field& field, bool on, const SettingName& name) {
    if (const Phrase& own = on ? field.whenOn : field.whenOff; !own.empty())
        return inWordsOf(name, own);
    const Phrase state = on ? phrase("Settings", "on") : phrase("Settings", "off");
    return name(field) + ' ' + inWordsOf(name, state);
}

/// Returns "acid and 6 more" for a list of seven columns of a table.
std::string columnsWords(std::string_view list, const SettingName& name, bool window,
                         size_t named) {
    const std::vector<std::string> columns = droppedColumns(list);
    if (columns.size() <= 1) return columns.empty() ? std::string(list) : columns.front();
    //: behind the name of a column of a table
    const Phrase more = phrase("Settings", "and %1 more");
    std::string text = columns.front();
    for (size_t i = 1; i < std::min(named, columns.size()); ++i)
        text += " + " + columns[i];
    if (named >= columns.size()) return text;
    std::string rest = window ? inWordsOf(name, more) : std::string(more.text());
    const std::string mark = "%1";
    if (const size_t at = rest.find(mark); at != std::string::npos)
        rest.replace(at, mark.size(), std::to_string(columns.size() - named));
    return text + ' ' + rest;
}

/// Returns the words for a text: that of layers says what it is, the name of a column does not.
std::string textWords(const Field& field, const std::string& text, const SettingName& name,
                      size_t named) {
    if (field.scope == FieldScope::Lane || !field.key.starts_with("data."))
        return withShortTypes(text);
    const std::string shown = name(field);
    return shown + ' ' +
           (field.key == kColumns ? columnsWords(text, name, shown != shortKey(field), named)
                                  : text);
}

} // namespace

std::string briefValue(const FieldValue& value) {
    constexpr double kLarge = 1024, kSmall = 1.0 / 16; // between them, digits are as short
    const double* real = std::get_if<double>(&value);
    const bool longer = real && (*real >= kLarge || *real < kSmall);
    const std::string power = longer ? powerText(value) : std::string();
    return power.empty() ? valueText(value) : power;
}

std::vector<std::string> axisTexts(std::span<const FieldValue> values) {
    std::vector<std::string> plain, powers;
    bool brief = false, powersOnly = true, exponents = false;
    for (const FieldValue& value : values) {
        plain.push_back(valueText(value));
        powers.push_back(powerText(value));
        powersOnly = powersOnly && !powers.back().empty();
        brief = brief || briefValue(value) != plain.back();
        exponents = exponents || (std::holds_alternative<double>(value) &&
                                  plain.back().find('e') != std::string::npos);
    }
    if (brief && powersOnly) return powers;
    for (size_t i = 0; exponents && i < values.size(); ++i)
        if (const double* real = std::get_if<double>(&values[i]); real && *real != 0)
            plain[i] = scientificText(*real);
    return plain;
}

std::string shortKey(const Field& field) {
    const size_t dot = field.key.find('.');
    const bool scaler = field.key == kScalerPreset; // "scaler", not "preset"
    return scaler ? field.key.substr(0, dot) : field.key.substr(dot + 1);
}

std::string settingWords(const Field& field, const FieldValue& value, const SettingName& name,
                         size_t named) {
    const std::string text = briefValue(value);
    if (text == "default" || text.empty()) return {};
    if (field.kind == FieldKind::Path) return std::filesystem::path(text).stem().string();
    if (field.kind == FieldKind::Text) return textWords(field, text, name, named);
    const std::string shown = name(field);
    if (shown == shortKey(field)) return shown + ' ' + text;
    if (const bool* on = std::get_if<bool>(&value)) return switchWords(field, *on, name);
    const Phrase title = titleOfChoice(field, text); // as the window shows it
    return shown + ' ' + (title.empty() ? text : title.text());
}

std::vector<LaneTitle> laneTitleParts(const RunConfig& config, std::span<const int> parents,
                                      const SettingName& name) {
    std::vector<LaneTitle> titles;
    std::map<std::pair<std::string, int>, int> seen; // by text and parent
    for (size_t i = 0; i < config.lanes.size(); ++i) {
        LaneTitle title{nameOf(config.lanes[i].precision), differences(config, i, parents, name)};
        if (peersOf(config, i).size() > 1) title.parent = parentOf(parents, i);
        title.more = title.words.size() > kMost;
        if (title.more) title.words.resize(kMost);
        ++seen[{titleText(title), title.parent}];
        titles.push_back(std::move(title));
    }
    const std::vector<std::string> names = laneNames(config);
    for (size_t i = 0; i < titles.size(); ++i) // no words tell them apart, so the number does
        if (seen[{titleText(titles[i]), titles[i].parent}] > 1) titles[i].name = names[i];
    return titles;
}

std::string differencesText(const LaneTitle& title) {
    std::string text;
    for (const std::string& each : title.words)
        text += (text.empty() ? "" : kGap) + each;
    return title.more ? text + kGap + "..." : text;
}

std::string titleText(const LaneTitle& title) {
    return title.words.empty() ? title.name : title.name + kGap + differencesText(title);
}

} // namespace halfscope
