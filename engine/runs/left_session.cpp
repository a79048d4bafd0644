// Makes runs of what the file of a session holds.
#include "engine/runs/left_session.h"

#include "engine/core/error.h"
#include "engine/io/database.h"
#include "engine/runs/run_summary.h"
#include "engine/runs/saved_forks.h"
#include "engine/runs/session_file.h"
#include "engine/runs/session_log.h"
#include "engine/runs/session_pictures.h"
#include "engine/runs/stored_column.h"
#include "engine/runs/validation_shown.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <span>
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

bool isMarkedKept(const Database& database) {
    try {
        if (!database.hasTable("kept")) return false;
        Statement row = database.prepare("SELECT 1 FROM kept");
        return row.next();
    } catch (const RunError&) { // the mark is damaged, but runs may be readable
        return false;
    }
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
    int64_t steps = std::max(run.steps, run.goesOnAfter.value_or(0));
    bool ignored = true; // it is damaged anyway
    for (const Metric& metric : knownMetrics())
        steps = std::max(steps, StoredColumn::lastStep(database, run.key, metric.column, ignored));
    return steps;
}

/// Reads one run.
class Restoring {
public:
    Restoring(const Database& database, Database::Access access, const LeftRun& run,
              std::string origin, const RestoreWatch& watch)
        : m_database(database), m_access(access), m_key(run.key), m_name(run.name),
          m_origin(std::move(origin)), m_steps(run.steps), m_watch(watch) {}

    std::shared_ptr<Run> read() {
        begin();
        if (m_watch.begun) m_watch.begun(m_run);
        for (size_t lane = 0; lane < m_planned.size(); ++lane) {
            if (!addLane(lane)) break; // a fork that had not begun
            if (!readLane(lane)) return nullptr;
        }
        addEvents();
        RunBatch last;
        last.info = finishedInfo();
        last.savedGradients = gradients();
        last.storedPictures = pictures();
        last.checkpoint = checkpoint();
        m_run->append(std::move(last));
        return m_run;
    }
    /// The names of the lanes that lack values because these cannot be read.
    const std::vector<std::string>& damagedLanes() const { return m_damaged; }

private:
    void begin() {
        Statement row =
            m_database.prepare("SELECT preset, experiment, summary, steps FROM runs WHERE id = ?1");
        row.bind(1, m_key);
        if (!row.next()) throw RunError(phrase("Files", "%1: the run is gone"), m_database.path());
        RunInfo info = infoOf(row);
        const auto first = static_cast<std::ptrdiff_t>(info.recorded.lanes.size());
        std::vector<LaneInfo> lanes(m_planned.begin(), m_planned.begin() + first);
        m_run =
            std::make_shared<Run>(std::move(info), std::move(lanes), targetIn(m_database, m_key));
        readEvents();
    }

    /// Reads the texts of the run's row, and plans its lanes.
    RunInfo infoOf(const Statement& row) {
        RunInfo info;
        try {
            info.recorded = parseConfig(row.text(1), "experiment"); // the names of the columns
            info.config = settingsAtEnd(info.recorded);
            m_planned = lanesOf(info.recorded);
            std::vector<std::string> names;
            for (const LaneInfo& lane : m_planned)
                names.push_back(lane.name);
            TrainedOn on =
                trainedOnOf(row.text(2), "summary", names, row.whole(3),
                            phrase("Files", "%1, as in the column steps of the table runs"));
            info.device = std::move(on.device);
            info.memory = std::move(on.memory);
            info.program = std::move(on.program);
            info.compiler = std::move(on.compiler);
            // it says so of each run that was not over, which may go on here
            if (on.outcome != RunOutcome::Interrupted) info.outcome = on.outcome;
        } catch (const InputError& error) {
            throw InputError(phrase("Files", "%1: the run “%2” is damaged: %3"), m_database.path(),
                             Message::data(m_name), error.message());
        }
        info.preset = row.text(0);
        info.restored = true;
        info.origin = m_origin;
        return info;
    }

    /// Returns the run's info as of its end when all its steps are there, but the program ended
    /// before it wrote that the run was over. How many steps epochs have, only the data tell.
    std::optional<RunInfo> finishedInfo() const {
        RunInfo info = m_run->info();
        if (info.outcome || info.config.epochs > 0 || m_run->step() < info.config.steps)
            return std::nullopt;
        info.outcome = RunOutcome::Finished;
        return info;
    }

    /// Returns the names of the kinds of events by their numbers.
    std::map<int64_t, std::string> kinds() const {
        std::map<int64_t, std::string> names;
        for (int kind = 0; kind < static_cast<int>(EventKind::Other); ++kind)
            names[kind] = nameOf(EventKind(kind));
        if (!m_database.hasTable("event_kinds")) return names;
        Statement row = m_database.prepare("SELECT kind, name FROM event_kinds");
        while (row.next())
            names[row.whole(0)] = row.text(1);
        return names;
    }

    void readEvents() {
        const std::map<int64_t, std::string> names = kinds();
        const auto lanes = static_cast<int64_t>(m_planned.size());
        const auto most = static_cast<int64_t>(findField("run.steps")->maximum) + 2;
        Statement row = m_database.prepare("SELECT kind, step, lane, before, after, tensor, text "
                                           "FROM events WHERE run = ?1 ORDER BY place");
        row.bind(1, m_key);
        while (row.next()) {
            const auto name = names.find(row.whole(0));
            const int64_t step = row.whole(1), lane = row.whole(2);
            const bool known = name != names.end() && isKindName(name->second);
            if (!known || step < 0 || step > most || lane < -1 || lane >= lanes)
                continue; // damaged
            Event event;
            setKind(event, name->second);
            event.step = step;
            event.lane = static_cast<int32_t>(lane);
            event.scaleBefore = static_cast<float>(row.real(3));
            event.scaleAfter = static_cast<float>(row.real(4));
            event.tensor = row.text(5);
            event.text = Message::data(row.text(6));
            recognizeFork(event, m_planned);
            m_events.push_back(std::move(event));
        }
    }

    /// Whether the lane is there, after adding a fork whose step has come.
    bool addLane(size_t lane) {
        if (lane < m_run->lanes().size()) return true;
        const LaneInfo& fork = m_planned[lane];
        if (m_run->now().totals(fork.parent).last().step < fork.forkStep) return false;
        addEvents(); // those of the parent are also the fork's
        RunBatch batch;
        batch.lanes.push_back(fork);
        m_run->append(std::move(batch));
        return true;
    }

    void addEvents() {
        const int lanes = m_run->now().laneCount();
        RunBatch batch;
        while (m_nextEvent < m_events.size() && m_events[m_nextEvent].lane < lanes)
            batch.events.push_back(m_events[m_nextEvent++]);
        m_run->append(std::move(batch));
    }

    /// Reads a lane, however long it is: only one chunk of each column is in memory at a time.
    bool readLane(size_t lane) {
        const auto number = static_cast<int64_t>(lane);
        std::vector<StoredColumn> columns;
        for (const Metric& metric : m_run->metrics())
            columns.emplace_back(m_database, m_key, number, metric.column);
        const int64_t first = m_planned[lane].parent < 0 ? 1 : m_planned[lane].forkStep + 1;
        for (StoredColumn& column : columns)
            column.take(first - 1);
        const bool hasLosses =
            StoredColumn::isWhole(m_database, m_key, number, m_run->metrics()[metric::Loss].column);
        std::optional<int64_t> step = nextStep(columns, hasLosses);
        // the other lanes may be ahead by a step
        const bool lost = !hasLosses && (step || m_steps > first);
        constexpr size_t kRows = 4096;
        while (step) {
            RunBatch batch;
            for (; step && batch.rows.size() < kRows; step = nextStep(columns, hasLosses)) {
                StepRow row(*step, static_cast<int32_t>(lane));
                for (size_t id = 0; id < columns.size(); ++id)
                    if (const auto value = columns[id].take(*step))
                        row.set(static_cast<MetricId>(id), *value);
                batch.rows.push_back(std::move(row));
            }
            m_run->append(std::move(batch));
            if (!goesOn(lane)) return false;
        }
        if (lost || std::ranges::any_of(columns, &StoredColumn::isDamaged))
            m_damaged.push_back(m_planned[lane].name);
        return true;
    }

    /// Returns the step of the next row. Each row has a loss; where losses are damaged, the other
    /// columns tell the steps, up to the last one that is known.
    std::optional<int64_t> nextStep(const std::vector<StoredColumn>& columns,
                                    bool hasLosses) const {
        std::optional<int64_t> step;
        if (const auto& loss = columns[metric::Loss].next(); hasLosses)
            return loss ? std::optional(loss->step) : step;
        for (const StoredColumn& column : columns)
            if (const auto& next = column.next(); next && next->step <= m_steps)
                step = std::min(step.value_or(next->step), next->step);
        return step;
    }

    bool goesOn(size_t lane) const {
        if (!m_watch.goesOn) return true;
        const auto at =
            static_cast<double>(m_run->now().totals(static_cast<int>(lane)).last().step);
        const double done = std::min(1.0, at / static_cast<double>(std::max<int64_t>(m_steps, 1)));
        return m_watch.goesOn((static_cast<double>(lane) + done) /
                              static_cast<double>(m_planned.size()));
    }

    std::vector<std::vector<GradientColumn>> gradients() const {
        std::vector<std::vector<GradientColumn>> lanes(m_run->lanes().size());
        Statement row = m_database.prepare("SELECT lane, data FROM gradients WHERE run = ?1");
        row.bind(1, m_key);
        while (row.next()) {
            const auto lane = static_cast<size_t>(row.whole(0));
            const std::span<const std::byte> bytes = row.bytes(1);
            if (lane >= lanes.size() || bytes.size() % sizeof(GradientColumn) != 0) continue;
            lanes[lane].resize(bytes.size() / sizeof(GradientColumn));
            if (!bytes.empty()) std::memcpy(lanes[lane].data(), bytes.data(), bytes.size());
        }
        return lanes;
    }

    /// Returns the pictures, which are read when they are asked for: their weight would be that of
    /// the whole run. Whoever asks is told what cannot be read.
    std::shared_ptr<const RunPictures> pictures() const {
        LanePictures about;
        try {
            const auto step = pictureStepIn(m_database, m_key, m_run->lanes().size());
            if (!step) return nullptr;
            about.step = *step;
            if (m_run->now().has(metric::ValidationLoss))
                for (std::string& caption : captionsIn(m_database, m_key))
                    about.outputs.emplace_back().caption = std::move(caption);
            about.validated = validationShown(m_run->now(), about);
        } catch (const RunError&) {
            if (about.step == 0) about.step = m_run->step();
            about.validated.reset();
        }
        const auto read = [path = m_database.path(), access = m_access, key = m_key,
                           step = about.step] {
            return picturesIn(Database(path, access), key, step);
        };
        return std::make_shared<const RunPictures>(std::move(about), read);
    }

    /// Returns the checkpoint; its bytes are read when they are asked for.
    std::shared_ptr<const RunCheckpoint> checkpoint() const {
        if (!m_database.hasTable("checkpoints")) return nullptr;
        Statement row = m_database.prepare("SELECT step FROM checkpoints WHERE run = ?1");
        row.bind(1, m_key);
        if (!row.next()) return nullptr;
        return std::make_shared<const RunCheckpoint>(
            row.whole(0), [path = m_database.path(), access = m_access, key = m_key] {
                const Database database(path, access);
                Statement found = database.prepare("SELECT data FROM checkpoints WHERE run = ?1");
                found.bind(1, key);
                if (!found.next()) throw RunError(phrase("Files", "%1: the run is gone"), path);
                const std::span<const std::byte> bytes = found.bytes(0);
                return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            });
    }

    const Database& m_database;
    Database::Access m_access; ///< for its checkpoint and pictures
    int64_t m_key;
    std::string m_name, m_origin;
    int64_t m_steps;
    const RestoreWatch& m_watch;
    std::vector<LaneInfo> m_planned;
    std::vector<Event> m_events;
    size_t m_nextEvent = 0;
    std::vector<std::string> m_damaged;
    std::shared_ptr<Run> m_run;
};

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
    : m_lock(std::move(lock)), m_name(std::move(name)),
      m_access(isSealed() ? Database::Access::Sealed : Database::Access::LeavesLog) {
    const std::string path = m_lock.pathOf(kSessionEnding), log = path + "-wal";
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
    Statement version = database.prepare("PRAGMA user_version");
    const int64_t written = version.next() ? version.whole(0) : 0;
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
        if (run.steps == 0 && sound) sound = !wasTrained(database, run.key);
        run.goesOnAfter = checkpointOf(database, run.key);
        if (!sound) {
            m_damaged.push_back({run.key, run.name});
            run.steps = stepsWithoutLoss(database, run);
        }
        run.saved = run.steps <= savedSteps(database, run.key);
        if (run.steps > 0) m_runs.push_back(std::move(run));
    }
    if (!m_damaged.empty()) setDamage();
    if (m_runs.empty() && !m_damage.empty()) throw RunError(m_damage);
    m_kept = isMarkedKept(database);
}

std::shared_ptr<Run> LeftSession::read(const LeftRun& run, const RestoreWatch& watch) const {
    const Database database(m_lock.pathOf(kSessionEnding), m_access);
    Restoring restoring(database, m_access, run, nameOf(run), watch);
    std::shared_ptr<Run> read = restoring.read();
    if (restoring.damagedLanes().empty()) return read;
    std::erase_if(m_damaged, [&run](const DamagedRun& each) { return each.key == run.key; });
    m_damaged.insert(m_damaged.begin(), {run.key, run.name, restoring.damagedLanes()});
    setDamage();
    return read;
}

/// Of several runs, damage() names the one that was read last.
void LeftSession::setDamage() const {
    const std::string path = m_lock.pathOf(kSessionEnding);
    const DamagedRun& first = m_damaged.front();
    const Message name = Message::data(first.name);
    std::string lanes;
    for (const std::string& lane : first.lanes)
        lanes += lanes.empty() ? lane : ", " + lane;
    if (m_runs.empty())
        m_damage = {phrase("Files", "%1: its runs are damaged"), path};
    else if (m_damaged.size() > 1)
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
        read(run)->now().pictures();
        return !isDamaged(run);
    } catch (const ReportedError&) {
        return false;
    } catch (const std::bad_alloc&) { // nobody knows
        return false;
    }
}

void LeftSession::remove() {
    if (isSealed()) throw RunError(m_lock.obstacle());
    if (const int error = m_lock.removeSession())
        throw RunError(phrase("Files", "%1: cannot be deleted: %2"), m_lock.pathOf(kSessionEnding),
                       std::strerror(error));
}

void LeftSession::remove(const LeftRun& run) {
    if (isSealed()) throw RunError(m_lock.obstacle());
    const std::vector<LeftRun> gone{run}; // it may be one of m_runs
    forget(gone);
    if (m_runs.empty() && m_damage.empty()) return remove();
    erase(gone, gone.front().saved ? SavedMarks::Stay : SavedMarks::OfFolders);
}

void LeftSession::removeMoved(const std::vector<LeftRun>& moved) {
    if (isSealed()) throw RunError(m_lock.obstacle());
    forget(moved);
    erase(moved, SavedMarks::Stay);
}

void LeftSession::forget(const std::vector<LeftRun>& gone) {
    std::set<int64_t> keys;
    for (const LeftRun& each : gone)
        keys.insert(each.key);
    std::erase_if(m_runs, [&keys](const LeftRun& each) { return keys.contains(each.key); });
}

void LeftSession::erase(const std::vector<LeftRun>& gone, SavedMarks marks) const {
    const Database database(m_lock.pathOf(kSessionEnding), Database::Access::Create);
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
        database.run("VACUUM"); // gives the room back to the disk
    } catch (const RunError&) { // a full disk has no room for the copy, but the run is gone
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
    return withoutCopies(std::move(left), others);
}

} // namespace halfscope
