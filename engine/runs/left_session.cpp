// What the file of a session holds, and what of it may go.
#include "engine/runs/left_session.h"

#include "engine/core/error.h"
#include "engine/io/database.h"
#include "engine/runs/left_run_reader.h"
#include "engine/runs/lost_pictures.h"
#include "engine/runs/session_file.h"
#include "engine/runs/session_log.h"
#include "engine/runs/stored_column.h"
#include "engine/runs/unread_parts.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace halfscope {

namespace {

/// Returns a column of the table of runs, or `otherwise` where an earlier version wrote none.
std::string columnOr(const Database& database, const char* column, const char* otherwise) {
    Statement row = database.prepare("SELECT 1 FROM pragma_table_info('runs') WHERE name = ?1");
    row.bind(1, column);
    return row.next() ? column : otherwise;
}

SessionMark markOf(const Database& database) {
    try {
        if (!database.hasTable("kept")) return SessionMark::None;
        Statement row = database.prepare("SELECT kept FROM kept");
        return row.next() ? static_cast<SessionMark>(row.whole(0)) : SessionMark::None;
    } catch (const RunError&) { // the mark is damaged, but runs may be readable
        return SessionMark::None;
    }
}

/// Returns the bytes of all full chunks.
size_t valueBytesIn(const Database& database) {
    try {
        Statement row = database.prepare("SELECT SUM(LENGTH(data)) FROM chunks");
        return row.next() ? static_cast<size_t>(row.whole(0)) : 0;
    } catch (const RunError&) { // they are damaged, which is found when they are read
        return 0;
    }
}

int64_t numberOf(const Database& database, const char* pragma) {
    Statement row = database.prepare(std::string("PRAGMA ") + pragma);
    return row.next() ? row.whole(0) : 0;
}

/// Returns how many steps of a run lie elsewhere, too.
int64_t savedSteps(const Database& database, int64_t run) {
    try {
        if (!database.hasTable("saved")) return 0;
        Statement row = database.prepare("SELECT steps FROM saved WHERE run = ?1");
        row.bind(1, run);
        return row.next() ? row.whole(0) : 0;
    } catch (const RunError&) { // the mark is damaged, but the run may be readable
        return 0;
    }
}

std::optional<int64_t> checkpointOf(const Database& database, int64_t run) {
    try {
        if (!database.hasTable("checkpoints")) return std::nullopt;
        Statement row = database.prepare("SELECT step FROM checkpoints WHERE run = ?1");
        row.bind(1, run);
        return row.next() ? std::optional(row.whole(0)) : std::nullopt;
    } catch (const RunError&) { // the checkpoint is damaged, but the run may be readable
        return std::nullopt;
    }
}

/// Whether a run has been trained, as what is stored beside its values tells. An edit before the
/// first step is an event of step 1.
bool wasTrained(const Database& database, int64_t run) {
    std::string sql = "SELECT 1 FROM runs WHERE id = ?1 AND steps > 0 "
                      "UNION ALL SELECT 1 FROM columns WHERE run = ?1 "
                      "UNION ALL SELECT 1 FROM tails WHERE run = ?1 "
                      "UNION ALL SELECT 1 FROM events WHERE run = ?1 AND step > 1 "
                      "UNION ALL SELECT 1 FROM gradients WHERE run = ?1 "
                      "UNION ALL SELECT 1 FROM pictures WHERE run = ?1 AND step > 0";
    if (database.hasTable("checkpoints"))
        sql += " UNION ALL SELECT 1 FROM checkpoints WHERE run = ?1 AND step > 0";
    Statement row = database.prepare(sql);
    row.bind(1, run);
    return row.next();
}

/// Returns the last step that a run whose losses are damaged is known to have reached.
int64_t stepsWithoutLoss(const Database& database, const LeftRun& run) {
    int64_t steps = std::max({run.steps, run.goesOnAfter.value_or(0), run.unread.checkpointStep});
    bool ignored = true; // it is damaged anyway
    for (const Metric& metric : knownMetrics())
        steps = std::max(steps, StoredColumn::lastStep(database, run.key, metric.column, ignored));
    return steps;
}

/// Leaves out the copies of runs that earlier sessions have, and removes what has nothing else.
std::vector<LeftSession> withoutCopies(std::vector<LeftSession> sessions, OtherSessions* others) {
    struct Original {
        size_t session; ///< in `kept`
        LeftRun run;
    };
    std::vector<LeftSession> kept;
    std::unordered_map<std::string, Original> originals; // by nameOf()
    const auto isCopy = [&](const LeftRun& run) {
        const auto found = originals.find(run.origin);
        return found != originals.end() && found->second.run.steps >= run.steps &&
               kept[found->second.session].isWhole(found->second.run);
    };
    for (LeftSession& session : sessions) {
        for (const LeftRun& run : session.runs()) // copies may have been copied
            if (const auto found = originals.find(run.origin); found != originals.end())
                originals.emplace(session.nameOf(run), Original(found->second));
        session.leaveOutCopies(isCopy);
        if (!session.runs().empty()) {
            for (const LeftRun& run : session.runs())
                originals.insert_or_assign(session.nameOf(run), Original{kept.size(), run});
            kept.push_back(std::move(session));
            continue;
        }
        Message reason = session.damage();
        try {
            if (reason.empty() && !session.isSealed()) session.remove();
        } catch (const RunError& error) {
            reason = error.message();
        }
        if (others && !reason.empty()) others->unreadable.push_back({session.name(), reason});
    }
    return kept;
}

} // namespace

LeftSession::LeftSession(SessionLock lock, std::string name)
    : m_lock(std::make_shared<SessionLock>(std::move(lock))), m_name(std::move(name)),
      m_access(isSealed() ? Database::Access::Sealed : Database::Access::LeavesLog) {
    const std::string path = m_lock->pathOf(kSessionEnding), log = path + "-wal";
    const Phrase beginning = phrase("Files", "%1: its beginning is damaged");
    const auto sizeOf = [](const std::string& file) {
        std::error_code error;
        const auto size = std::filesystem::file_size(file, error);
        return error ? 0 : size;
    };
    // SQLite would remove the log of an empty file, which its writer never leaves with one
    if (sizeOf(path) == 0 && sizeOf(log) > 0) throw RunError(beginning, path);
    if (lostTransactions(log)) m_damage = {phrase("Files", "%1: a part of it is damaged"), path};
    const Database database(path, m_access);
    Statement tables = database.prepare("SELECT 1 FROM sqlite_master");
    if (!tables.next()) { // its writer was killed before the first write
        if (!m_damage.empty()) throw RunError(beginning, path);
        return;
    }
    const int64_t written = numberOf(database, "user_version");
    if (written < kOldestSessionVersion || written > kSessionVersion)
        throw RunError(within(path, {phrase("Files", "its version %1 is not one that this program "
                                                     "reads, %2 to %3"),
                                     written, kOldestSessionVersion, kSessionVersion}));
    Statement row = database.prepare("SELECT id, name, experiment IS NOT NULL, " +
                                     columnOr(database, "origin", "''") + ", " +
                                     columnOr(database, "named", "0") + " FROM runs ORDER BY id");
    while (row.next()) {
        if (row.whole(2) == 0) continue;
        LeftRun run{row.whole(0), row.text(1), 0, row.text(3), m_runs.size()};
        run.named = row.whole(4) != 0;
        bool sound = true;
        run.steps =
            StoredColumn::lastStep(database, run.key, knownMetrics()[metric::Loss].column, sound);
        run.unread = unreadPartsIn(database, run.key);
        if (run.steps == 0 && sound) sound = run.unread.values || !wasTrained(database, run.key);
        run.goesOnAfter = checkpointOf(database, run.key);
        if (!sound) m_damaged.push_back({run.key, run.name});
        if (!sound || run.unread.values) run.steps = stepsWithoutLoss(database, run);
        run.saved = run.steps <= savedSteps(database, run.key);
        if (run.steps > 0) m_runs.push_back(std::move(run));
    }
    if (!m_damaged.empty()) setDamage();
    if (m_runs.empty() && !m_damage.empty()) throw RunError(m_damage);
    m_mark = markOf(database);
    m_current = written >= kFirstWithTargets && columnOr(database, "origin", "") != "" &&
                columnOr(database, "named", "") != "" &&
                numberOf(database, "auto_vacuum") == Database::kIncremental;
    m_valueBytes = valueBytesIn(database);
    m_fileBytes = static_cast<size_t>(numberOf(database, "page_count")) *
                  static_cast<size_t>(numberOf(database, "page_size"));
}

bool LeftSession::canGoOn(size_t mostBytes, size_t mostChecked) const {
    constexpr size_t kTimes = 2; // values and what is known of them, while a run is read
    return m_latest && m_current && !isSealed() && m_damage.empty() && m_stays.empty() &&
           m_valueBytes <= mostBytes / kTimes && m_fileBytes <= mostChecked;
}

std::shared_ptr<Run> LeftSession::read(const LeftRun& run, const RestoreWatch& watch) const {
    const LeftFile file{m_lock, m_access};
    const Database database = file.open();
    LeftRunReader reader(file, database, run, nameOf(run), watch);
    std::shared_ptr<Run> read = reader.read();
    const std::vector<std::string>& lanes = reader.damagedLanes();
    const bool lacksValues = !lanes.empty() || reader.lacksMore();
    if (!lacksValues && !reader.lacksTarget()) return read;
    DamagedRun damaged{run.key, run.name, lanes, !lacksValues};
    for (const DamagedRun& known : m_damaged)
        if (known.key == run.key && !known.targetAlone) damaged.targetAlone = false;
    std::erase_if(m_damaged, [&run](const DamagedRun& each) { return each.key == run.key; });
    m_damaged.insert(m_damaged.begin(), std::move(damaged));
    setDamage();
    return read;
}

/// Of several runs, damage() names the one that was read last of those that lack values.
void LeftSession::setDamage() const {
    const std::string path = m_lock->pathOf(kSessionEnding);
    const auto lackValues = std::ranges::count(m_damaged, false, &DamagedRun::targetAlone);
    const DamagedRun& first = lackValues == 0
                                  ? m_damaged.front()
                                  : *std::ranges::find(m_damaged, false, &DamagedRun::targetAlone);
    const Message name = Message::data(first.name);
    std::string lanes;
    for (const std::string& lane : first.lanes)
        lanes += lanes.empty() ? lane : ", " + lane;
    if (m_runs.empty())
        m_damage = {phrase("Files", "%1: its runs are damaged"), path};
    else if (first.targetAlone)
        m_damage = {phrase("Files", "%1: the target of “%2” cannot be read"), path, name};
    else if (lackValues > 1)
        m_damage = {phrase("Files", "%1: values of “%2” and of other runs are damaged"), path,
                    name};
    else if (first.lanes.empty())
        m_damage = {phrase("Files", "%1: values of “%2” are damaged"), path, name};
    else if (first.lanes.size() == 1)
        m_damage = {phrase("Files", "%1: values of “%2” are damaged in lane %3"), path, name,
                    Message::data(lanes)};
    else
        m_damage = {phrase("Files", "%1: values of “%2” are damaged in lanes %3"), path, name,
                    Message::data(lanes)};
}

bool LeftSession::isDamaged(const LeftRun& run) const {
    return std::ranges::find(m_damaged, run.key, &DamagedRun::key) != m_damaged.end();
}

std::optional<size_t> LeftSession::indexOf(size_t place) const {
    for (size_t i = 0; i < m_runs.size(); ++i)
        if (m_runs[i].place == place) return i;
    return std::nullopt;
}

void LeftSession::leaveOutCopies(const std::function<bool(const LeftRun&)>& isCopy) {
    std::erase_if(m_runs, isCopy);
}

void LeftSession::leaveOutSaved() {
    const auto isSaved = [](const LeftRun& run) { return run.saved; };
    if (!m_damage.empty() || std::ranges::none_of(m_runs, isSaved)) return;
    for (const LeftRun& run : m_runs) // it may be the one that has the steps of another
        if (!run.saved && !isWhole(run)) return;
    std::erase_if(m_runs, isSaved);
}

bool LeftSession::isWhole(const LeftRun& run) const {
    try {
        return damageOf(run).empty();
    } catch (const std::bad_alloc&) { // nobody knows
        return false;
    }
}

Message LeftSession::damageOf(const LeftRun& run) const {
    try {
        const std::shared_ptr<Run> whole = read(run);
        const RunSnapshot& now = whole->now();
        // what was unread before is no damage here
        const bool lacksPictures = !run.unread.pictures.empty() || run.unread.target;
        if (now.checkpoint() && run.unread.checkpoint.empty())
            (void)now.checkpoint()->bytes(); // throws when they are damaged
        const Message lost = lacksPictures ? Message() : lostPicturesText(now, *now.pictures());
        return lost.empty() && isDamaged(run) ? m_damage : lost;
    } catch (const ReportedError& error) {
        return error.message();
    }
}

void LeftSession::leaveToCopy(const LeftRun& run, const std::string& session, const Message& why) {
    m_stays = why;
    m_leftTo.insert(session);
    forget({run}); // a copy: it may be one of m_runs
}

void LeftSession::remove() {
    if (isSealed()) throw RunError(m_lock->obstacle());
    if (const int error = m_lock->removeSession())
        throw RunError(phrase("Files", "%1: cannot be deleted: %2"), m_lock->pathOf(kSessionEnding),
                       std::strerror(error));
}

void LeftSession::remove(const LeftRun& run) {
    if (isSealed()) throw RunError(m_lock->obstacle());
    const std::vector<LeftRun> gone{run}; // it may be one of m_runs
    forget(gone);
    if (m_runs.empty() && m_damage.empty()) return remove();
    erase(gone, gone.front().saved ? SavedMarks::Stay : SavedMarks::OfFolders);
}

void LeftSession::removeMoved(const std::vector<LeftRun>& moved) const {
    if (isSealed()) throw RunError(m_lock->obstacle());
    erase(moved, SavedMarks::Stay);
}

void LeftSession::forget(const std::vector<LeftRun>& gone) {
    std::set<int64_t> keys;
    for (const LeftRun& each : gone)
        keys.insert(each.key);
    std::erase_if(m_runs, [&keys](const LeftRun& each) { return keys.contains(each.key); });
}

void LeftSession::erase(const std::vector<LeftRun>& gone, SavedMarks marks) const {
    const Database database(m_lock->pathOf(kSessionEnding), Database::Access::Create);
    database.run(kLaterSessionTables);
    database.run("BEGIN");
    for (const LeftRun& each : gone)
        eraseRun(database, each.key);
    if (marks == SavedMarks::OfFolders) {
        // a session of an earlier version does not tell what lies in folders
        database.run("DELETE FROM saved");
        database.run("INSERT INTO saved SELECT run, steps FROM in_folder");
    }
    // a chunk that another run has, too, stays
    database.run("DELETE FROM chunks WHERE id NOT IN (SELECT chunk FROM columns)");
    database.run("COMMIT");
    try {
        database.giveRoomBack();
    } catch (const RunError&) { // a full disk has no room for that, but the run is gone
    }
}

void leaveOutCopied(std::vector<LeftSession>& sessions) {
    struct Earlier {
        LeftSession* session;
        LeftRun run;
    };
    std::unordered_map<std::string, Earlier> earlier; // by nameOf()
    for (LeftSession& session : sessions) {
        const std::vector<LeftRun> runs = session.runs();
        for (const LeftRun& copy : runs) {
            auto found = earlier.find(copy.unread.keeper);
            if (found == earlier.end()) found = earlier.find(copy.origin);
            if (found == earlier.end() || found->second.run.steps > copy.steps) continue;
            try {
                const Message why = found->second.session->damageOf(found->second.run);
                if (why.empty() || !session.isWhole(copy)) continue;
                found->second.session->leaveToCopy(found->second.run, session.name(), why);
                earlier.erase(found);
            } catch (const std::bad_alloc&) { // both are offered
            }
        }
        for (const LeftRun& run : runs)
            earlier.emplace(session.nameOf(run), Earlier{&session, run});
    }
}

std::vector<LeftSession> leftSessions(const std::string& folder, OtherSessions* others) {
    std::vector<LeftSession> left;
    const auto add = [&](SessionLock lock, const std::string& name) {
        std::error_code none;
        const std::filesystem::path path = lock.pathOf(kSessionEnding);
        if (std::filesystem::symlink_status(path, none).type() ==
            std::filesystem::file_type::not_found) {
            lock.removeSession();
            return;
        }
        LeftSession session(std::move(lock), name);
        if (session.runs().empty()) {
            if (!session.isSealed()) session.remove();
            return;
        }
        left.push_back(std::move(session));
    };
    for (const std::string& name : sessionsIn(folder, SessionNames::Locked)) {
        try {
            std::optional<SessionLock> lock = SessionLock::ofLeft(folder, name);
            if (lock)
                add(std::move(*lock), name);
            else if (others)
                ++others->used;
        } catch (const ReportedError& error) {
            if (others) others->unreadable.push_back({name, error.message()});
        } catch (const std::exception&) { // no memory: it is there at the next look, too
        }
    }
    left = withoutCopies(std::move(left), others);
    // also those that a program uses: what it copied names runs of earlier sessions, whose keys a
    // store that went on there could give to other runs
    const std::vector<std::string> names = sessionsIn(folder, SessionNames::Locked);
    if (!left.empty() && !names.empty() && left.back().name() == names.back())
        left.back().setLatest();
    return left;
}

} // namespace halfscope
