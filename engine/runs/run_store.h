// The runs of a session, in the order in which a list shows them: the run in training, earlier
// ones, and opened folders. Name, colour and visibility belong to the list, not to the run, and are
// kept here.
#pragma once

#include "engine/runs/run.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

enum class RunId : uint32_t { None = 0 };

/// One thread uses a store; the runs in it may be read on others, see Run::snapshot().
class RunStore {
public:
    struct Entry {
        RunId id = RunId::None;
        std::string name; ///< no two entries have the same
        bool visible = true;
        int color = 0; ///< an index: the smallest that no other entry had when this one came
        std::shared_ptr<const Run> run;
    };

    /// At the end, with a number behind the name where another entry has it ("Overflow (2)").
    RunId add(std::shared_ptr<Run>, const std::string& name);
    /// The run stays alive while somebody holds it. A current run that goes leaves none.
    void remove(RunId);
    void rename(RunId, const std::string& name);
    void setVisible(RunId, bool visible);
    /// To the place `index` of the order; behind the last one where it is larger.
    void move(RunId, size_t index);
    /// The run that pictures, events and lane cards show; RunId::None: none.
    void setCurrent(RunId);

    RunId current() const { return m_current; }
    std::span<const Entry> entries() const { return m_entries; }
    size_t size() const { return m_entries.size(); }
    /// nullptr when there is none.
    const Entry* find(RunId) const;
    std::shared_ptr<const Run> get(RunId) const;
    /// The same, to append to it.
    std::shared_ptr<Run> writable(RunId) const;
    RunId idOf(const Run*) const;
    /// Moves with every change of the list; a run that takes in more moves its own version.
    uint64_t changes() const { return m_changes; }

    /// By entry, the settings in which a run differs from the others: "lr 0.01, seed 2"; empty
    /// where nothing differs.
    std::vector<std::string> differences() const;

private:
    Entry* entry(RunId);
    std::string freeName(const std::string& wanted, RunId except) const;

    std::vector<Entry> m_entries;
    std::vector<std::shared_ptr<Run>> m_runs; ///< those of the entries
    RunId m_current = RunId::None;
    uint32_t m_lastId = 0;
    uint64_t m_changes = 0;
};

/// In which settings each configuration differs from the others, as short texts: "lr 0.01, width
/// 64", and of lanes, where their number is the same, "amp-fp16: init_scale 2^24". The title does
/// not count. After `most` differences ", ..." follows.
std::vector<std::string> settingDifferences(std::span<const RunConfig* const>, size_t most = 4);

} // namespace halfscope
