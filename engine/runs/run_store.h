// The runs of a session, in the order in which a list shows them: the run in training, earlier
// ones, and opened folders. Name, colour and visibility belong to the list, not to the run, and are
// kept here.
#pragma once

#include "engine/runs/run.h"
#include "engine/settings/lane_titles.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace halfscope {

enum class RunId : uint32_t { None = 0 };

/// Only one thread may use a store; other threads may read the runs in it, see Run::snapshot().
class RunStore {
public:
    struct Entry {
        RunId id = RunId::None;
        std::string name;   ///< no two entries have the same
        bool named = false; ///< by the user, see rename() and markNamed()
        bool visible = true;
        int color = 0; ///< an index: the smallest that no other entry had when this one was added
        std::shared_ptr<const Run> run;
    };

    /// Adds a run at the end. When another entry has the name, a number follows it ("Overflow
    /// (2)").
    RunId add(std::shared_ptr<Run>, const std::string& name);
    /// Removes a run, which stays alive while somebody holds it. When the current run is removed,
    /// no run is current.
    void remove(RunId);
    void rename(RunId, const std::string& name);
    /// Notes that the user gave the name that a run was added with, in an earlier session.
    void markNamed(RunId);
    void setVisible(RunId, bool visible);
    /// Moves an entry to the place `index`, or to the end when `index` is larger.
    void move(RunId, size_t index);
    /// Sets the run that pictures, events and lane cards show; RunId::None for no run.
    void setCurrent(RunId);

    RunId current() const { return m_current; }
    std::span<const Entry> entries() const { return m_entries; }
    size_t size() const { return m_entries.size(); }
    /// Returns nullptr when there is no such entry.
    const Entry* find(RunId) const;
    std::shared_ptr<const Run> get(RunId) const;
    /// Returns the run of an entry for appending.
    std::shared_ptr<Run> writable(RunId) const;
    RunId idOf(const Run*) const;
    /// Changes with every change of the list; a run that takes in more changes only its own
    /// version.
    uint64_t changes() const { return m_changes; }

    /// Returns, by entry, the settings in which a run differs from others: "lr 0.01", "seed 2".
    /// They are those of now, whatever a run had before a live edit; only the length is that of the
    /// beginning, because continuing a run makes it no other one.
    /// What tells it from the runs that are most like it comes first, see settingDifferences().
    std::vector<std::vector<std::string>> differences(const SettingName& = shortKey) const;

private:
    Entry* entry(RunId);
    /// Returns the name, or the one with the smallest number that is free, and takes it.
    std::string takeName(const std::string& wanted);
    void giveName(const std::string&);
    int takeColor();
    /// Notes the places of the entries between two that have moved.
    void placeAnew(size_t from, size_t to);

    std::vector<Entry> m_entries;
    std::vector<std::shared_ptr<Run>> m_runs; ///< the runs of the entries
    // there may be thousands of entries, many of one name
    std::unordered_map<RunId, size_t> m_places;
    std::unordered_set<std::string> m_names;
    /// By name without number: all numbers from 2 up to this one are taken.
    std::unordered_map<std::string, uint64_t> m_numbers;
    std::set<int> m_freeColors; ///< those below m_colors that no entry has
    int m_colors = 0;
    RunId m_current = RunId::None;
    uint32_t m_lastId = 0;
    uint64_t m_changes = 0;
};

} // namespace halfscope
