// What a session's store knows of each run.
#pragma once

#include "engine/runs/run.h"
#include "engine/runs/session_store.h"
#include "engine/runs/unread_parts.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace halfscope {

struct RunName {
    std::string text;
    SessionStore::NamedBy by;
};

/// A run, and how much of it is on disk.
struct WatchedRun {
    std::shared_ptr<const Run> run;
    RunName name;
    SessionStore::Whole whole = SessionStore::Whole::Yes;
    int64_t key = 0;
    uint64_t version = ~uint64_t{0};
    std::shared_ptr<const TargetPicture> target{}; ///< RunSnapshot::sharedTarget(), as on disk
    std::shared_ptr<const RunInfo> info{};         ///< the one that is on disk
    std::weak_ptr<const RunPictures> pictures{};   ///< likewise, as long as somebody may read them
    std::vector<size_t> chunks{};                  ///< the number written, by lane and metric
    std::vector<int64_t> tails{};                  ///< the last steps of the tails
    size_t events = 0;
    int64_t gradientStep = -1;
    std::shared_ptr<const RunCheckpoint> checkpoint{};   ///< the one that is on disk
    UnreadParts unread{}, markedUnread{};                ///< as known, and on disk
    SessionStore::StepsElsewhere saved{}, markedSaved{}; ///< as told, and on disk
    std::chrono::steady_clock::time_point large{};       ///< when what is large was written last
    uint64_t largeVersion = ~uint64_t{0}; ///< the version of what is written less often
};

/// A run that the next start must not offer. Whoever holds its pictures may read them: until nobody
/// does, the run is hidden rather than erased.
struct ForgottenRun {
    WatchedRun was;               ///< without the run
    std::weak_ptr<const Run> run; ///< it may be watched again
    bool hidden = false;
};

} // namespace halfscope
