// What counts are the runs most like a run: runs of one preset differ in a growth interval, say,
// and that is what their rows have to tell, whatever other presets have in the place of theirs.
#include "engine/runs/setting_differences.h"

#include "engine/runs/nearest_rows.h"
#include "engine/scaler/scaler_presets.h"
#include "engine/settings/fields.h"
#include "engine/settings/precision.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace halfscope {

namespace {

constexpr const char* kScalerPreset = "scaler.preset";
constexpr const char* kOfScaler = "scaler.";

/// A setting of the run or of a lane, or, without a field, which lanes there are.
struct Slot {
    const Field* field = nullptr;
    int lane = 0;
    bool ofLane() const { return field && field->scope == FieldScope::Lane; }
};

/// What decides with which others a lane is compared: its precision, and its scaler's rule by name.
using Kind = std::pair<Precision, std::string>;

/// Returns "fp32 + 4 × amp-fp16".
std::string precisionsOf(const RunConfig& config) {
    std::string text;
    const std::vector<LaneConfig>& lanes = config.lanes;
    for (auto lane = lanes.begin(), next = lane; lane != lanes.end(); lane = next) {
        next = std::find_if(lane, lanes.end(), [lane](const LaneConfig& other) {
            return other.precision != lane->precision;
        });
        const auto alike = next - lane;
        text += (text.empty() ? "" : " + ") +
                (alike > 1 ? std::to_string(alike) + " × " : std::string()) +
                nameOf(lane->precision);
    }
    return text;
}

const RunConfig* presetWithTitle(const std::string& title) {
    for (const Preset& preset : presets())
        if (preset.isCalled(title)) return &preset.config;
    return nullptr;
}

/// Counts the rows that differ from one in a slot, by the kinds of rows that there are.
class SlotTally {
public:
    void add(int kind, int value) {
        if (value < 0) return;
        ByValue& tally = m_kinds[kind];
        ++tally.all;
        ++tally.values[value];
    }
    size_t countOthers(int value, const std::function<bool(int)>& comparable) const {
        size_t count = 0;
        for (const auto& [kind, tally] : m_kinds)
            if (value >= 0 && comparable(kind)) {
                const auto same = tally.values.find(value);
                count += tally.all - (same == tally.values.end() ? 0 : same->second);
            }
        return count;
    }

private:
    struct ByValue {
        size_t all = 0;
        std::unordered_map<int, size_t> values;
    };
    std::map<int, ByValue> m_kinds;
};

class Comparison {
public:
    /// The configurations, and behind them those of the presets that they are named after.
    Comparison(std::span<const RunConfig* const> configs, const SettingName& name)
        : m_count(configs.size()), m_configs(configs.begin(), configs.end()) {
        m_preset.resize(m_count);
        for (size_t i = 0; i < m_count; ++i)
            if (const RunConfig* preset = presetWithTitle(configs[i]->title)) {
                m_preset[i] = m_configs.size();
                m_configs.push_back(preset);
            }
        for (const RunConfig* each : m_configs)
            m_lanes = std::max(m_lanes, each->lanes.size());
        takeKinds();
        addSlot({}, name);
        for (const Field& field : fieldTable()) {
            if (field.apply == FieldApply::Pace) continue; // no result depends on it
            const size_t places = field.scope == FieldScope::Lane ? m_lanes : 1;
            for (size_t lane = 0; lane < places; ++lane)
                addSlot({&field, static_cast<int>(lane)}, name);
        }
    }

    /// Returns the texts by configuration, the most telling first.
    std::vector<std::vector<std::string>> texts() const {
        std::vector<std::vector<Found>> found(m_count);
        const auto nearest = nearestRows(m_cells, m_count, [this](size_t slot, int a, int b) {
            return areComparable(slot, a, b);
        });
        for (size_t slot = 0; slot < m_slots.size(); ++slot)
            find(slot, nearest, found);
        std::vector<std::vector<std::string>> texts(m_count);
        for (size_t own = 0; own < m_count; ++own) {
            std::stable_sort(
                found[own].begin(), found[own].end(), [](const Found& a, const Found& b) {
                    return std::pair(a.nearest, a.alike) < std::pair(b.nearest, b.alike);
                });
            for (const Found& each : found[own])
                texts[own].push_back(*each.text);
        }
        return texts;
    }

private:
    struct Found {
        uint32_t nearest; ///< how far the nearest is that differs
        size_t alike;     ///< how many others have the same
        const std::string* text;
    };

    void takeKinds() {
        std::map<Kind, int> known;
        for (const RunConfig* each : m_configs) {
            std::vector<int>& kinds = m_laneKinds.emplace_back();
            for (const LaneConfig& lane : each->lanes) {
                const Kind kind{lane.precision, presetOf(lane.scaler)};
                const auto [found, added] = known.emplace(kind, static_cast<int>(known.size()));
                if (added) m_kinds.push_back(kind);
                kinds.push_back(found->second);
            }
        }
    }

    /// Returns what a configuration has in a slot; nothing for a lane that is not there.
    static std::optional<FieldValue> valueIn(const Slot& slot, const RunConfig& config) {
        if (slot.ofLane() && static_cast<size_t>(slot.lane) >= config.lanes.size()) return {};
        return slot.field ? slot.field->get(config, slot.lane) : FieldValue(precisionsOf(config));
    }

    /// Returns the words for a value; empty when it has no effect.
    static std::string textOf(const Slot& slot, const FieldValue& value, bool applies,
                              const SettingName& name, size_t named) {
        if (!slot.field) return std::get<std::string>(value);
        const std::string text =
            applies ? settingWords(*slot.field, value, name, named) : std::string();
        if (!slot.ofLane() || text.empty()) return text;
        return std::string(1, static_cast<char>('A' + slot.lane)) + ": " + text;
    }

    /// Returns how many columns of a list must be named to tell each value from the others.
    static size_t namedIn(const Slot& slot, std::span<const FieldValue* const> values) {
        constexpr size_t kMost = 16;
        if (!slot.field || slot.field->kind != FieldKind::Text) return 1;
        for (size_t named = 1; named < kMost; ++named) {
            std::set<std::string> words;
            for (const FieldValue* value : values)
                words.insert(settingWords(*slot.field, *value, shortKey, named));
            if (words.size() == values.size()) return named;
        }
        return kMost;
    }

    /// Adds a slot unless all configurations have the same there.
    void addSlot(const Slot& slot, const SettingName& name) {
        std::map<FieldValue, int> numbers;
        SlotCells cells;
        for (size_t i = 0; i < m_configs.size(); ++i) {
            const std::optional<FieldValue> value = valueIn(slot, *m_configs[i]);
            const auto lane = static_cast<size_t>(slot.lane);
            cells.kinds.push_back(value && slot.ofLane() ? m_laneKinds[i][lane] : 0);
            cells.values.push_back(
                value ? numbers.try_emplace(*value, static_cast<int>(numbers.size())).first->second
                      : -1);
        }
        if (numbers.size() < 2) return;
        std::vector<const FieldValue*> values(numbers.size());
        for (const auto& [value, number] : numbers)
            values[static_cast<size_t>(number)] = &value;
        const size_t named = namedIn(slot, values);
        // by value, in the two cases that a setting may have an effect or not
        std::vector<std::array<std::optional<std::string>, 2>> words(numbers.size());
        std::vector<std::string>& texts = m_texts.emplace_back();
        for (size_t i = 0; i < m_configs.size(); ++i) {
            std::string& text = texts.emplace_back();
            if (const int number = cells.values[i]; number >= 0) {
                const bool applies = !slot.field || !slot.field->applies ||
                                     slot.field->applies(*m_configs[i], slot.lane);
                auto& known = words[static_cast<size_t>(number)][applies ? 1 : 0];
                if (!known)
                    known =
                        textOf(slot, *values[static_cast<size_t>(number)], applies, name, named);
                text = *known;
            }
            cells.silent.push_back(text.empty() ? 1 : 0);
        }
        m_slots.push_back(slot);
        m_cells.push_back(std::move(cells));
    }

    /// Whether lanes of two kinds are compared in a slot. Either the names of two scalers tell
    /// their rules, or, if one has no name, the rules are compared themselves.
    bool areComparable(size_t slot, int a, int b) const {
        if (!m_slots[slot].ofLane()) return true;
        const auto& [precision, one] = m_kinds[static_cast<size_t>(a)];
        const auto& [otherPrecision, other] = m_kinds[static_cast<size_t>(b)];
        if (precision != otherPrecision) return false;
        const std::string& key = m_slots[slot].field->key;
        if (!key.starts_with(kOfScaler)) return true;
        const bool named = one != other && one != kCustomScaler && other != kCustomScaler;
        return named == (key == kScalerPreset);
    }

    /// Whether two configurations differ in a slot.
    bool differ(size_t slot, size_t a, size_t b) const {
        const SlotCells& cells = m_cells[slot];
        return cells.values[a] != cells.values[b] && cells.values[a] >= 0 && cells.values[b] >= 0 &&
               areComparable(slot, cells.kinds[a], cells.kinds[b]);
    }

    /// Adds what is to be said of the configurations in a slot.
    void find(size_t slot, const std::vector<std::vector<uint32_t>>& nearest,
              std::vector<std::vector<Found>>& found) const {
        const SlotCells& cells = m_cells[slot];
        SlotTally all;
        std::unordered_map<std::string_view, SlotTally> namesakes;
        for (size_t i = 0; i < m_count; ++i) {
            all.add(cells.kinds[i], cells.values[i]);
            if (m_preset[i]) namesakes[m_configs[i]->title].add(cells.kinds[i], cells.values[i]);
        }
        for (size_t own = 0; own < m_count; ++own) {
            const std::string& text = m_texts[slot][own];
            if (text.empty() || nearest[own][slot] == kNoneDiffers) continue;
            const auto comparable = [&, kind = cells.kinds[own]](int other) {
                return areComparable(slot, kind, other);
            };
            const int value = cells.values[own];
            // its title tells what it shares with the preset and with all of this title
            if (m_preset[own] && !differ(slot, own, *m_preset[own]) &&
                namesakes.at(m_configs[own]->title).countOthers(value, comparable) == 0)
                continue;
            const size_t alike = m_count - 1 - all.countOthers(value, comparable);
            found[own].push_back({nearest[own][slot], alike, &text});
        }
    }

    size_t m_count = 0; ///< of the configurations that are compared
    std::vector<const RunConfig*> m_configs;
    std::vector<std::optional<size_t>> m_preset; ///< by configuration; none for a title of its own
    size_t m_lanes = 0;                          ///< the most of one configuration
    std::vector<Kind> m_kinds;
    std::vector<std::vector<int>> m_laneKinds; ///< by configuration and lane
    std::vector<Slot> m_slots;
    std::vector<SlotCells> m_cells;                ///< by slot
    std::vector<std::vector<std::string>> m_texts; ///< by slot and configuration; empty when there
                                                   ///< is nothing to say
};

} // namespace

std::vector<std::vector<std::string>> settingDifferences(std::span<const RunConfig* const> configs,
                                                         const SettingName& name) {
    return Comparison(configs, name).texts();
}

} // namespace halfscope
