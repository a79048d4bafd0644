// The tables of a session's file.
#pragma once

#include "engine/io/database.h"
#include "engine/runs/events.h"
#include "engine/runs/session_mark.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace halfscope {

/// PRAGMA user_version. Earlier programs would take the pictures of later versions for damaged
/// ones.
inline constexpr int kSessionVersion = 3;
inline constexpr int kFirstWithTargets = 2;     ///< has all tables that are not added later
inline constexpr int kOldestSessionVersion = 1; ///< that can be read
inline constexpr const char* kSessionEnding = ".session";

/// In `runs`, rowid is the `run` of the other tables; no run gets that of one that was forgotten,
/// whose checkpoint somebody may still ask for. A run without `experiment` is none: it was not
/// whole yet, or it is hidden. `origin` is RunInfo::origin; sessions of earlier versions have no
/// such column, nor `named`, which is 1 where the user gave the name. `metric` is a column name.
/// The chunks of forks are stored once, and each lane names them. Among the chunks lie the spans
/// that the program made of many chunks when memory ran short, see ColumnNode; nothing else reads
/// them. `checkpoints` has the newest checkpoint of each run; sessions of earlier versions have no
/// such table. `galleries` and `mistakes` go by place, see LanePictures; earlier versions lack
/// them, too. `kept` has a row with a SessionMark, if there is one;
/// it may be missing as well. So may `saved`, which has how many steps of a
/// run lie elsewhere, and `in_folder`, which has how many of these lie in a folder, see
/// SessionStore::setSaved(), and `restored`, which has the UnreadParts of runs that come from
/// earlier sessions. `event_kinds` names the kinds of `events`; where it is missing, they
/// are the numbers of EventKind. `tails` has the values behind the last full chunk. `target` is the
/// key of one of `targets`, or 0; in version 1 it was the picture itself, and no picture was
/// compressed; in version 2 pictures were compressed in another way. Blobs are in this machine's
/// byte order; see ChunkValues::packed() and session_values.h.
inline constexpr const char* kSessionTables = R"(
CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, preset TEXT, experiment TEXT,
                  summary TEXT, steps INTEGER, target INTEGER, origin TEXT, named INTEGER);
CREATE TABLE chunks(id INTEGER PRIMARY KEY, data BLOB);
CREATE TABLE columns(run INTEGER, lane INTEGER, metric TEXT, place INTEGER, chunk INTEGER,
                     PRIMARY KEY(run, lane, metric, place)) WITHOUT ROWID;
CREATE TABLE tails(run INTEGER, lane INTEGER, metric TEXT, data BLOB,
                   PRIMARY KEY(run, lane, metric)) WITHOUT ROWID;
CREATE TABLE events(run INTEGER, place INTEGER, kind INTEGER, step INTEGER, lane INTEGER,
                    before REAL, after REAL, tensor TEXT, text TEXT,
                    PRIMARY KEY(run, place)) WITHOUT ROWID;
CREATE TABLE gradients(run INTEGER, lane INTEGER, data BLOB, PRIMARY KEY(run, lane)) WITHOUT ROWID;
CREATE TABLE pictures(run INTEGER, lane INTEGER, step INTEGER, data BLOB,
                      PRIMARY KEY(run, lane)) WITHOUT ROWID;
CREATE INDEX runs_by_target ON runs(target);
)";
inline constexpr const char* kLaterSessionTables = R"(
CREATE TABLE IF NOT EXISTS checkpoints(run INTEGER PRIMARY KEY, step INTEGER, data BLOB);
CREATE TABLE IF NOT EXISTS galleries(run INTEGER, place INTEGER, data BLOB,
                                     PRIMARY KEY(run, place)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mistakes(run INTEGER, place INTEGER, data BLOB,
                                    PRIMARY KEY(run, place)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS event_kinds(kind INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS kept(kept INTEGER);
CREATE TABLE IF NOT EXISTS saved(run INTEGER PRIMARY KEY, steps INTEGER);
CREATE TABLE IF NOT EXISTS in_folder(run INTEGER PRIMARY KEY, steps INTEGER);
CREATE TABLE IF NOT EXISTS restored(run INTEGER PRIMARY KEY, keeper TEXT, unread_values INTEGER,
                                    gradients INTEGER, target INTEGER, pictures TEXT,
                                    pictures_step INTEGER, checkpoint TEXT,
                                    checkpoint_step INTEGER);
CREATE TABLE IF NOT EXISTS targets(id INTEGER PRIMARY KEY, hash INTEGER, data BLOB);
CREATE INDEX IF NOT EXISTS targets_by_hash ON targets(hash);
)";
/// The tables, besides `runs`, that have rows for a run.
inline constexpr const char* kTablesOfRuns[] = {"columns",  "tails",       "events",    "gradients",
                                                "pictures", "checkpoints", "galleries", "mistakes",
                                                "saved",    "in_folder",   "restored"};

/// Gives a kind of events a number unless it has one already.
inline void nameKind(const Database& database, std::string_view name) {
    database.prepare("INSERT OR IGNORE INTO event_kinds(name) VALUES(?1)").bind(1, name).run();
}

/// Makes the tables that an earlier version has not made, and notes the version.
inline void prepareTables(const Database& database) {
    database.run(kLaterSessionTables);
    for (int64_t kind = 0; kind < static_cast<int64_t>(EventKind::Other); ++kind) {
        const char* name = nameOf(EventKind(kind));
        database.prepare("INSERT OR IGNORE INTO event_kinds VALUES(?1, ?2)")
            .bind(1, kind)
            .bind(2, name)
            .run();
        nameKind(database, name); // where another kind has the number
    }
    database.run(("PRAGMA user_version = " + std::to_string(kSessionVersion)).c_str());
}

/// Erases a run, with its target if no other run has it, but not its chunks, which other runs may
/// have, too.
inline void eraseRun(const Database& database, int64_t key) {
    for (const char* table : kTablesOfRuns)
        database.prepare("DELETE FROM " + std::string(table) + " WHERE run = ?1")
            .bind(1, key)
            .run();
    database
        .prepare("DELETE FROM targets WHERE id = (SELECT target FROM runs WHERE id = ?1) "
                 "AND NOT EXISTS (SELECT 1 FROM runs WHERE target = targets.id AND id <> ?1)")
        .bind(1, key)
        .run();
    database.prepare("DELETE FROM runs WHERE id = ?1").bind(1, key).run();
}

/// Lets a run be none at the next start, although all of it stays in the file.
inline void hideRun(const Database& database, int64_t key) {
    database.prepare("UPDATE runs SET experiment = NULL WHERE id = ?1").bind(1, key).run();
}

inline void writeMark(const Database& database, SessionMark mark) {
    database.run("DELETE FROM kept");
    if (mark == SessionMark::None) return;
    database.prepare("INSERT INTO kept VALUES(?1)").bind(1, static_cast<int64_t>(mark)).run();
}

} // namespace halfscope
