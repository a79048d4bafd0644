// Reads one run of a session that was left behind.
#pragma once

#include "engine/io/database.h"
#include "engine/runs/left_session.h"
#include "engine/runs/run_summary.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halfscope {

class StoredColumn;

/// The file of a session that was left behind, for all who still read it. As long as one of them
/// holds it, no other program can take or delete the session.
struct LeftFile {
    std::shared_ptr<const SessionLock> lock{};
    Database::Access access{};
    Database open() const;
};

class LeftRunReader {
public:
    /// `origin`: see RunInfo::origin. The database is that of the file.
    LeftRunReader(LeftFile, const Database&, const LeftRun&, std::string origin,
                  const RestoreWatch&);

    /// See LeftSession::read(). The run's pictures and checkpoint are read when they are asked for,
    /// and hold the file until a store has them.
    std::shared_ptr<Run> read();
    /// The names of the lanes that lack values because these cannot be read.
    const std::vector<std::string>& damagedLanes() const { return m_damaged; }
    /// Whether the file does not give the run's target.
    bool lacksTarget() const { return m_lacksTarget; }
    /// Whether it does not give all counted gradients, or does not tell of a checkpoint.
    bool lacksMore() const { return m_lacksMore; }

private:
    void begin();
    TrainedOn trainedOn(const Statement& row) const;
    RunInfo infoOf(const Statement& row);
    std::shared_ptr<const TargetPicture> target();
    RunInfo infoAtEnd() const;
    void readEvents();
    bool addLane(size_t lane);
    void addEvents();
    bool readLane(size_t lane);
    std::optional<int64_t> nextStep(const std::vector<StoredColumn>&, bool hasLosses) const;
    bool goesOn(size_t lane) const;
    std::vector<std::vector<GradientColumn>> gradients();
    std::shared_ptr<const RunPictures> pictures() const;
    std::shared_ptr<const RunPictures> unreadPictures() const;
    std::shared_ptr<const RunCheckpoint> checkpoint();

    const LeftFile m_file; ///< for the run's checkpoint and pictures
    const Database& m_database;
    const int64_t m_key;
    const std::string m_name, m_origin;
    const int64_t m_steps;
    const UnreadParts m_unread; ///< what the run lacked before the file was written
    const RestoreWatch& m_watch;
    std::vector<LaneInfo> m_planned;
    std::vector<Event> m_events;
    size_t m_nextEvent = 0;
    std::vector<std::string> m_damaged;
    bool m_lacksTarget = false, m_lacksMore = false;
    std::shared_ptr<Run> m_run;
};

} // namespace halfscope
