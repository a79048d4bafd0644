// settingDifferences() without any short cut: every pair of runs is compared by itself.
#pragma once

#include "engine/runs/setting_differences.h"

#include "engine/scaler/scaler_presets.h"
#include "engine/settings/fields.h"
#include "engine/settings/precision.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace halfscope::test {

namespace plain_differences {

inline constexpr const char* kScalerPreset = "scaler.preset";
inline constexpr const char* kOfScaler = "scaler.";

/// A setting of the run or of a lane, or, without a field, which lanes there are.
struct Slot {
    const Field* field = nullptr;
    int lane = 0;
    bool ofLane() const { return field && field->scope == FieldScope::Lane; }
};

/// What a configuration has in a slot.
struct Entry {
    int value = -1;   ///< the same for the same value; -1 for a lane that is not there
    std::string text; ///< empty when there is nothing to say
};

inline std::string precisionsOf(const RunConfig& config) {
    std::vector<std::pair<std::string, int>> groups; // of neighbours
    for (const LaneConfig& lane : config.lanes)
        if (const std::string name = nameOf(lane.precision);
            !groups.empty() && groups.back().first == name)
            ++groups.back().second;
        else
            groups.emplace_back(name, 1);
    std::string text;
    for (const auto& [name, count] : groups) {
        if (!text.empty()) text += " + ";
        if (count > 1) text += std::to_string(count) + " × ";
        text += name;
    }
    return text;
}

inline const RunConfig* presetWithTitle(const std::string& title) {
    for (const Preset& preset : presets())
        if (!title.empty() && preset.config.title == title) return &preset.config;
    return nullptr;
}

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
        takeScalers();
        addSlot({}, name);
        for (const Field& field : fieldTable()) {
            if (field.apply == FieldApply::Pace) continue; // no result depends on it
            const size_t places = field.scope == FieldScope::Lane ? m_lanes : 1;
            for (size_t lane = 0; lane < places; ++lane)
                addSlot({&field, static_cast<int>(lane)}, name);
        }
    }

    /// Returns the texts of a configuration, the most telling first.
    std::vector<std::string> textsOf(size_t own) const {
        constexpr size_t kAlike = std::numeric_limits<size_t>::max();
        std::vector<size_t> nearest(m_slots.size(), kAlike); // how far the nearest is that differs
        std::vector<bool> amongNamesakes(m_slots.size());
        for (size_t other = 0; other < m_count; ++other) {
            const std::vector<size_t> apart = slotsApart(own, other);
            const bool namesake = m_configs[own]->title == m_configs[other]->title;
            for (const size_t slot : apart) {
                nearest[slot] = std::min(nearest[slot], apart.size());
                if (namesake) amongNamesakes[slot] = true;
            }
        }
        struct Found {
            size_t nearest, alike; ///< alike: how many others have the same
            std::string text;
        };
        std::vector<Found> found;
        for (size_t slot = 0; slot < m_slots.size(); ++slot) {
            const std::string& text = m_entries[slot][own].text;
            const bool named =
                m_preset[own] && !amongNamesakes[slot] && !differ(slot, own, *m_preset[own]);
            if (nearest[slot] != kAlike && !text.empty() && !named)
                found.push_back({nearest[slot], alike(slot, own), text});
        }
        std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
            return std::pair(a.nearest, a.alike) < std::pair(b.nearest, b.alike);
        });
        std::vector<std::string> texts;
        for (Found& each : found)
            texts.push_back(std::move(each.text));
        return texts;
    }

private:
    void takeScalers() {
        for (const RunConfig* each : m_configs) {
            std::vector<std::string>& names = m_scalers.emplace_back();
            for (const LaneConfig& lane : each->lanes)
                names.push_back(presetOf(lane.scaler));
        }
    }

    /// Adds a slot unless all configurations have the same there.
    void addSlot(Slot slot, const SettingName& name) {
        std::map<FieldValue, int> values;
        std::vector<Entry> entries;
        for (const RunConfig* config : m_configs) {
            Entry& entry = entries.emplace_back();
            if (slot.ofLane() && static_cast<size_t>(slot.lane) >= config->lanes.size()) continue;
            const FieldValue value = slot.field ? slot.field->get(*config, slot.lane)
                                                : FieldValue(precisionsOf(*config));
            entry.value = values.emplace(value, static_cast<int>(values.size())).first->second;
            if (!slot.field)
                entry.text = precisionsOf(*config);
            else if (!slot.field->applies || slot.field->applies(*config, slot.lane))
                entry.text = settingWords(*slot.field, value, name);
            if (slot.ofLane() && !entry.text.empty())
                entry.text = std::string(1, static_cast<char>('A' + slot.lane)) + ": " + entry.text;
        }
        if (values.size() < 2) return;
        m_slots.push_back(slot);
        m_entries.push_back(std::move(entries));
    }

    /// Whether two configurations differ in a slot. Either the names of two scalers tell their
    /// rules, or, if one has no name, the rules are compared themselves.
    bool differ(size_t slot, size_t a, size_t b) const {
        const int left = m_entries[slot][a].value, right = m_entries[slot][b].value;
        if (left == right || left < 0 || right < 0) return false;
        if (!m_slots[slot].ofLane()) return true;
        const auto lane = static_cast<size_t>(m_slots[slot].lane);
        if (m_configs[a]->lanes[lane].precision != m_configs[b]->lanes[lane].precision)
            return false;
        const std::string& key = m_slots[slot].field->key;
        if (!key.starts_with(kOfScaler)) return true;
        const std::string &one = m_scalers[a][lane], &other = m_scalers[b][lane];
        const bool named = one != other && one != kCustomScaler && other != kCustomScaler;
        return named == (key == kScalerPreset);
    }

    /// Returns how many other configurations do not differ from one in a slot.
    size_t alike(size_t slot, size_t own) const {
        size_t count = 0;
        for (size_t other = 0; other < m_count; ++other)
            if (other != own && !differ(slot, own, other)) ++count;
        return count;
    }

    /// Returns the slots in which two configurations differ and that say something of one of them.
    std::vector<size_t> slotsApart(size_t a, size_t b) const {
        std::vector<size_t> apart;
        for (size_t slot = 0; slot < m_slots.size(); ++slot)
            if (differ(slot, a, b) &&
                !(m_entries[slot][a].text.empty() && m_entries[slot][b].text.empty()))
                apart.push_back(slot);
        return apart;
    }

    size_t m_count = 0; ///< of the configurations that are compared
    std::vector<const RunConfig*> m_configs;
    std::vector<std::optional<size_t>> m_preset; ///< by configuration; none for a title of its own
    size_t m_lanes = 0;                          ///< the most of one configuration
    std::vector<std::vector<std::string>> m_scalers; ///< their names, by configuration and lane
    std::vector<Slot> m_slots;
    std::vector<std::vector<Entry>> m_entries; ///< by slot and configuration
};

} // namespace plain_differences

inline std::vector<std::vector<std::string>>
plainDifferences(std::span<const RunConfig* const> configs, const SettingName& name = shortKey) {
    const plain_differences::Comparison comparison(configs, name);
    std::vector<std::vector<std::string>> texts;
    for (size_t i = 0; i < configs.size(); ++i)
        texts.push_back(comparison.textsOf(i));
    return texts;
}

} // namespace halfscope::test
