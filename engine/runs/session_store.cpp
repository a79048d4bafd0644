// Writes what is new in each run.
#include "engine/runs/session_store.h"

#include "engine/core/error.h"
#include "engine/core/held_watch.h"
#include "engine/io/database.h"
#include "engine/runs/chunk_reader.h"
#include "engine/runs/continued_session.h"
#include "engine/runs/run_summary.h"
#include "engine/runs/session_file.h"
#include "engine/runs/session_lock.h"
#include "engine/runs/session_pictures.h"
#include "engine/runs/unread_parts.h"
#include "engine/runs/value_budget.h"
#include "engine/runs/watched_runs.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Pictures and gradients over time are large, and losing a few seconds of them does no harm.
constexpr auto kBetweenLarge = 2s;
constexpr auto kBetweenTries = 5s; ///< after a failure
constexpr auto kBetweenWatches = 10ms;

} // namespace

class SessionStore::Writer {
public:
    /// `restored`: the runs that the session has already; none in a new session.
    Writer(SessionOptions options, std::shared_ptr<SessionLock> lock,
           const std::vector<RestoredRun>& restored)
        : m_options(std::move(options)), m_lock(std::move(lock)),
          m_database(m_lock->pathOf(kSessionEnding), Database::Access::Create),
          m_memoryProblem(phrase("Files", "%1: out of memory"), m_database.path()) {
        m_database.run("BEGIN"); // a file whose writer is killed has all of it or nothing
        if (restored.empty()) m_database.run(kSessionTables);
        prepareTables(m_database);
        ContinuedRuns before = continueSession(m_database, restored);
        m_database.run("COMMIT");
        if (!restored.empty()) giveRoomBack();
        m_runs.all() = std::move(before.runs);
        m_stored = std::move(before.stored);
        m_reader = std::make_shared<ChunkReader>(m_database.path());
        m_pictures = std::make_shared<PictureReader>(m_database.path());
        try {
            m_thread = std::jthread([this](const std::stop_token& stop) { work(stop); });
        } catch (const std::system_error& error) {
            throw RunError(phrase("Files", "%1: cannot start a thread that writes there: %2"),
                           m_database.path(), error.what());
        }
    }
    ~Writer() {
        m_thread.request_stop();
        removeDiscarded(); // at once: nobody should wait for what is still being written
        m_thread.join();
        removeDiscarded();
    }

    WatchedRuns& runs() { return m_runs; }
    uint64_t ask() {
        const std::lock_guard lock(m_mutex);
        m_wake.notify_all();
        return ++m_asked;
    }
    bool isWritten(uint64_t asked) const {
        const std::lock_guard lock(m_mutex);
        return m_written >= asked;
    }
    Message unreadIn(const std::string& session) const {
        const std::string start = session + "/";
        const std::lock_guard lock(m_mutex);
        for (auto run = m_unread.lower_bound(start);
             run != m_unread.end() && run->first.starts_with(start); ++run)
            for (const Message* why : {&run->second.pictures, &run->second.checkpoint})
                if (!why->empty()) return *why;
        return {};
    }
    bool flush(std::chrono::milliseconds patience) {
        const uint64_t asked = ask();
        HeldWatch watch(m_thread.native_handle());
        std::unique_lock lock(m_mutex);
        while (!m_flushed.wait_for(lock, kBetweenWatches, [&] { return m_done >= asked; }))
            if (watch.isHeld(patience)) return false;
        return true;
    }
    void discard() { m_discards = true; }
    void setMark(SessionMark mark) { m_mark = mark; }
    void setBudget(size_t bytes) {
        const std::lock_guard lock(m_mutex);
        m_options.budgetBytes = bytes;
    }
    Message problem() const {
        const std::lock_guard lock(m_mutex);
        return m_noMemory ? m_memoryProblem : m_problem;
    }
    size_t residentBytes() const { return m_resident; }
    bool isFull() const { return m_full; }
    std::string path() const {
        const std::lock_guard lock(m_mutex);
        return m_database.path();
    }

private:
    void removeDiscarded() {
        try {
            const std::lock_guard lock(m_mutex);
            if (m_discards) m_lock->removeSession();
        } catch (const std::bad_alloc&) { // the session stays, and the next start offers it
        }
    }
    /// A continued session has room of runs that nobody restored.
    void giveRoomBack() {
        try {
            m_database.giveRoomBack();
        } catch (const RunError&) { // a full disk has no room for that, and new rows take it
        }
    }
    void work(const std::stop_token&);
    void turn(bool all);
    void look(bool all);
    std::vector<ForgottenRun> eraseForgotten();
    void rollBack();
    Message renewIfLost();
    void renew();
    void write(WatchedRun&, bool all);
    void begin(WatchedRun&, const RunSnapshot&);
    void writeTarget(WatchedRun&, const RunSnapshot&);
    void writeInfo(WatchedRun&, const RunSnapshot&);
    void writeColumns(WatchedRun&, const RunSnapshot&);
    std::vector<int64_t> chunksFrom(const Column&, size_t place);
    int64_t writeSpan(const ColumnSpan&);
    void writeEvents(WatchedRun&, const RunSnapshot&);
    void writeGradients(WatchedRun&, const RunSnapshot&);
    void writePictures(WatchedRun&, const RunSnapshot&);
    void writeCheckpoint(WatchedRun&, const RunSnapshot&);
    void writeUnread(WatchedRun&, const RunSnapshot&);
    void writeSaved(WatchedRun&);
    void dropOver(size_t budget);

    SessionOptions m_options;
    /// The thread changes this and the next one, guarded by m_mutex.
    std::shared_ptr<SessionLock> m_lock;
    Database m_database;                         ///< for the thread alone, but for its path
    std::shared_ptr<const ChunkReader> m_reader; ///< the thread's, once it runs, as the next one
    std::shared_ptr<const PictureReader> m_pictures;

    mutable std::mutex m_mutex; ///< guards what follows, down to m_runs
    std::condition_variable_any m_wake, m_flushed;
    uint64_t m_asked = 0, m_done = 0; ///< flushes
    uint64_t m_written = 0;           ///< the last flush that succeeded
    Message m_problem;
    bool m_noMemory = false; ///< the last turn lacked memory
    Message m_memoryProblem; ///< made in advance, while there is memory
    /// What this session could not read itself, by RunInfo::origin: that file has the only copy.
    std::map<std::string, UnreadParts> m_unread;
    std::atomic<size_t> m_resident{0};
    std::atomic<bool> m_full{false}, m_discards{false};
    std::atomic<SessionMark> m_mark{SessionMark::None};

    WatchedRuns m_runs;                       ///< has a lock of its own
    SessionMark m_marked = SessionMark::None; ///< in the file; this and what follows belong to the
                                              ///< thread
    Clock::time_point m_failed{};             ///< last
    StoredParts m_stored;                     ///< in the open transaction
    std::vector<ColumnSpanPtr> m_unwritten;   ///< spans of chunks, which the next turn writes
    std::jthread m_thread;                    ///< last, because it uses the members above
};

void SessionStore::Writer::work(const std::stop_token& stop) {
    for (bool last = false; !last;) {
        uint64_t asked = 0;
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait_for(lock, stop, m_options.every, [this] { return m_asked > m_done; });
            asked = m_asked;
            last = stop.stop_requested();
        }
        if (last && m_discards) return;
        bool noMemory = false;
        try {
            turn(last || asked > m_done);
        } catch (const std::bad_alloc&) { // the next turn tries again
            noMemory = true;
        }
        const std::lock_guard lock(m_mutex);
        m_noMemory = noMemory;
        m_done = asked;
        if (!noMemory && m_problem.empty()) m_written = asked;
        m_flushed.notify_all();
    }
}

void SessionStore::Writer::turn(bool all) {
    // what the session had before, and what a lack of memory left undone
    m_stored.tell(m_reader, m_pictures);
    m_runs.take();
    look(all);
    size_t budget = 0;
    {
        const std::lock_guard lock(m_mutex);
        budget = m_options.budgetBytes;
    }
    dropOver(budget);
}

/// Erases forgotten runs, looks at all others and writes what is new; with `all`, also pictures and
/// gradients. After a failure it tries again now and then, because a full disk may have room again.
void SessionStore::Writer::look(bool all) {
    const bool failed = !problem().empty();
    if (!all && failed && Clock::now() - m_failed < kBetweenTries) return;
    Message problem;
    std::vector<WatchedRun> before = m_runs.all();
    try {
        m_database.run("BEGIN");
        std::vector<ForgottenRun> hidden = eraseForgotten();
        for (WatchedRun& each : m_runs.all()) {
            write(each, all);
            writeSaved(each);
        }
        for (const ColumnSpanPtr& each : m_unwritten)
            writeSpan(*each);
        const SessionMark mark = m_mark;
        if (mark != m_marked) writeMark(m_database, mark);
        m_database.run("COMMIT");
        m_marked = mark;
        m_runs.forgotten() = std::move(hidden);
    } catch (const std::exception& error) {
        m_runs.all() = std::move(before);
        m_failed = Clock::now();
        rollBack();
        m_stored.clear();
        problem = messageOf(error);
    }
    const bool good = problem.empty();
    if (good) m_stored.tell(m_reader, m_pictures);
    if (good) problem = renewIfLost();
    const std::lock_guard lock(m_mutex);
    m_problem = std::move(problem);
}

/// Goes on in a new file where somebody has removed or replaced the session's: what was written
/// would be gone at the end, although the system takes all of it. Returns why there is none.
Message SessionStore::Writer::renewIfLost() {
    if (m_discards || !m_database.hasMoved()) return {};
    try {
        renew();
        return {};
    } catch (const std::exception& error) {
        m_failed = Clock::now();
        return {phrase("Files", "%1: another program removed or replaced this file, and no new one "
                                "can be made: %2"),
                m_database.path(), messageOf(error)};
    }
}

/// The new one has a name of its own: SQLite may still remove files beside the old one. What was
/// dropped from memory is read from the old one, which lasts until nobody needs it.
void SessionStore::Writer::renew() {
    const auto lock = std::make_shared<SessionLock>(m_lock->another());
    try {
        const std::string path = lock->pathOf(kSessionEnding);
        Message memoryProblem(phrase("Files", "%1: out of memory"), path);
        m_database.copyTo(path);
        Database database(path, Database::Access::Create);
        std::shared_ptr<const ChunkReader> reader = std::make_shared<ChunkReader>(path);
        std::shared_ptr<const PictureReader> pictures = std::make_shared<PictureReader>(path);
        const std::lock_guard guard(m_mutex);
        m_lock->removeRest();
        m_lock = lock;
        std::swap(m_database, database); // closing the old one may wait for the disk
        std::swap(m_reader, reader);
        std::swap(m_pictures, pictures);
        m_memoryProblem = std::move(memoryProblem);
    } catch (...) {
        lock->removeSession();
        throw;
    }
}

/// Returns the runs that must stay for a while. The chunks of all of them stay: who holds a run
/// reads them.
std::vector<ForgottenRun> SessionStore::Writer::eraseForgotten() {
    std::vector<ForgottenRun> hidden;
    for (ForgottenRun each : m_runs.forgotten()) {
        if (each.was.pictures.expired()) {
            eraseRun(m_database, each.was.key);
            continue;
        }
        if (!std::exchange(each.hidden, true)) hideRun(m_database, each.was.key);
        hidden.push_back(std::move(each));
    }
    return hidden;
}

void SessionStore::Writer::rollBack() {
    try {
        m_database.run("ROLLBACK");
    } catch (const std::exception&) { // SQLite has rolled back by itself
    }
}

void SessionStore::Writer::write(WatchedRun& watched, bool all) {
    const uint64_t version = watched.run->version();
    // of thousands of runs most are over, and these are skipped without a snapshot
    if (watched.version == version && watched.largeVersion == version) return;
    const RunSnapshot now = watched.run->snapshot();
    if (watched.key == 0) begin(watched, now);
    const bool large = all || Clock::now() - watched.large >= kBetweenLarge;
    if (now.version() != watched.version) {
        writeTarget(watched, now);
        writeInfo(watched, now);
        writeColumns(watched, now);
        writeEvents(watched, now);
        watched.version = now.version();
    }
    if (!large) return;
    watched.large = Clock::now();
    watched.largeVersion = now.version();
    writeGradients(watched, now);
    writePictures(watched, now);
    writeCheckpoint(watched, now);
    writeUnread(watched, now);
}

void SessionStore::Writer::begin(WatchedRun& watched, const RunSnapshot& now) {
    m_database.prepare("INSERT INTO runs(name, preset, target, origin) VALUES(?1, ?2, ?3, ?4)")
        .bind(1, watched.name.text)
        .bind(2, now.info().preset)
        .bind(3, storedTarget(m_database, now.targetPicture()))
        .bind(4, now.info().origin)
        .run();
    watched.key = m_database.lastKey();
    watched.target = now.sharedTarget();
    now.sharedTarget()->pack(); // also one that its pictures have replaced
}

/// Writes the target that has taken the place of the run's first one, which was damaged.
void SessionStore::Writer::writeTarget(WatchedRun& watched, const RunSnapshot& now) {
    if (watched.target == now.sharedTarget()) return;
    storeTarget(m_database, watched.key, now.targetPicture());
    watched.target = now.sharedTarget();
    now.sharedTarget()->pack();
}

void SessionStore::Writer::writeInfo(WatchedRun& watched, const RunSnapshot& now) {
    // a run without settings is none, see LeftSession
    if (watched.whole == Whole::No || watched.info == now.sharedInfo()) return;
    std::vector<LaneTotals> totals;
    for (int lane = 0; lane < now.laneCount(); ++lane)
        totals.push_back(now.totals(lane));
    const std::vector<double> noTimes(totals.size());
    m_database
        .prepare("UPDATE runs SET name = ?5, named = ?6, experiment = ?2, summary = ?3, "
                 "steps = ?4 WHERE id = ?1")
        .bind(1, watched.key)
        .bind(2, configText(now.info().recorded))
        .bind(3, summaryText(now.info(), now.lanes(), totals, noTimes))
        .bind(4, now.step())
        .bind(5, watched.name.text)
        .bind(6, int64_t{watched.name.by == NamedBy::User})
        .run();
    watched.info = now.sharedInfo();
}

void SessionStore::Writer::writeColumns(WatchedRun& watched, const RunSnapshot& now) {
    const size_t metrics = now.metrics().size();
    const size_t columns = metrics * now.lanes().size();
    watched.chunks.resize(columns);
    watched.tails.resize(columns, -1);
    Statement place = m_database.prepare("INSERT INTO columns VALUES(?1, ?2, ?3, ?4, ?5)");
    Statement tail = m_database.prepare("INSERT OR REPLACE INTO tails VALUES(?1, ?2, ?3, ?4)");
    place.bind(1, watched.key);
    tail.bind(1, watched.key);
    for (size_t i = 0; i < columns; ++i) {
        const auto lane = static_cast<int>(i / metrics);
        const auto id = static_cast<MetricId>(i % metrics);
        const Column& column = now.column(lane, id);
        if (column.empty() || column.lastStep() == watched.tails[i]) continue;
        const std::string& name = now.metrics()[static_cast<size_t>(id)].column;
        for (const int64_t chunk : chunksFrom(column, watched.chunks[i]))
            place.bind(2, int64_t{lane})
                .bind(3, name)
                .bind(4, static_cast<int64_t>(watched.chunks[i]++))
                .bind(5, chunk)
                .run();
        tail.bind(2, int64_t{lane}).bind(3, name).bind(4, column.packedTail()).run();
        watched.tails[i] = column.lastStep();
    }
}

/// Writes the chunks of a column from the one with this number on, and returns their keys.
std::vector<int64_t> SessionStore::Writer::chunksFrom(const Column& column, size_t place) {
    const auto& spans = column.spans();
    size_t first = spans.size(), begin = column.fullValues() / Column::kChunkValues;
    while (first > 0 && begin > place)
        begin -= spans[--first]->size() / Column::kChunkValues;
    require(begin == place, "only chunks that are written become a span");
    std::vector<int64_t> keys;
    for (size_t i = first; i < spans.size(); ++i)
        if (spans[i]->level() == 0)
            keys.push_back(writeSpan(*spans[i]));
        else // it was written with another run or lane, and this one begins with it
            spans[i]->chunkKeys(keys);
    return keys;
}

/// Returns the key of a span; one that lanes share is written once.
int64_t SessionStore::Writer::writeSpan(const ColumnSpan& span) {
    if (span.key() != 0) return span.key();
    const auto found = std::find_if(m_stored.spans.begin(), m_stored.spans.end(),
                                    [&](const auto& each) { return each.first == &span; });
    if (found != m_stored.spans.end()) return found->second;
    m_database.prepare("INSERT INTO chunks(data) VALUES(?1)").bind(1, span.packed()).run();
    m_stored.spans.emplace_back(&span, m_database.lastKey());
    return m_stored.spans.back().second;
}

void SessionStore::Writer::writeEvents(WatchedRun& watched, const RunSnapshot& now) {
    Statement insert = m_database.prepare(
        "INSERT INTO events "
        "SELECT ?1, ?2, kind, ?4, ?5, ?6, ?7, ?8, ?9 FROM event_kinds WHERE name = ?3");
    for (size_t& next = watched.events; next < now.events().size(); ++next) {
        const Event& event = now.events()[next];
        if (event.kind == EventKind::Other) nameKind(m_database, event.otherKind);
        insert.bind(1, watched.key).bind(2, static_cast<int64_t>(next));
        insert.bind(3, kindNameOf(event)).bind(4, event.step).bind(5, int64_t{event.lane});
        insert.bind(6, double{event.scaleBefore}).bind(7, double{event.scaleAfter});
        insert.bind(8, event.tensor).bind(9, event.text.english()).run();
    }
}

void SessionStore::Writer::writeGradients(WatchedRun& watched, const RunSnapshot& now) {
    if (now.step() == watched.gradientStep) return;
    for (int lane = 0; lane < now.laneCount(); ++lane) {
        if (now.gradients(lane).empty()) continue;
        const std::vector<GradientColumn> columns = now.gradients(lane).columns();
        m_database.prepare("INSERT OR REPLACE INTO gradients VALUES(?1, ?2, ?3)")
            .bind(1, watched.key)
            .bind(2, int64_t{lane})
            .bind(3, std::as_bytes(std::span(columns)))
            .run();
    }
    watched.gradientStep = now.step();
}

void SessionStore::Writer::writePictures(WatchedRun& watched, const RunSnapshot& now) {
    const std::shared_ptr<const RunPictures>& pictures = now.sharedPictures();
    const std::shared_ptr<const RunPictures> before = watched.pictures.lock();
    if (pictures->empty() || before == pictures) return;
    PackedPictures packed;
    try {
        if (before) before->hold();  // somebody may read them after they are replaced here
    } catch (const ReportedError&) { // who reads them is told
    }
    try {
        packed = pictures->packed();
    } catch (const ReportedError& error) { // the rest is written
        watched.unread.pictures = error.message();
        watched.unread.picturesStep = pictures->step();
        return;
    }
    const UnreadParts& known = now.info().unread;
    const bool lacked = packed.unread.empty() && known.picturesStep == pictures->step();
    watched.unread.pictures = lacked ? known.pictures : packed.unread;
    watched.unread.picturesStep = pictures->step();
    storePictures(m_database, watched.key, pictures->step(), packed, pictures->target().get());
    watched.pictures = pictures;
    if (!packed.unread.empty()) return; // the rest can perhaps be read later where it lies
    const size_t lanes = packed.outputs.size();
    m_stored.pictures.emplace_back(pictures,
                                   PictureRows{watched.key, pictures->step(), lanes, lanes});
}

/// Writes the checkpoint in place of the one before, because a run keeps only one.
void SessionStore::Writer::writeCheckpoint(WatchedRun& watched, const RunSnapshot& now) {
    const std::shared_ptr<const RunCheckpoint>& checkpoint = now.checkpoint();
    if (!checkpoint || checkpoint == watched.checkpoint) return;
    if (checkpoint->lies() == RunCheckpoint::Lies::InFile) return;
    std::string bytes;
    try {
        bytes = checkpoint->bytes();
    } catch (const ReportedError& error) { // the rest is written
        const UnreadParts& known = now.info().unread;
        watched.unread.checkpoint = known.checkpoint;
        if (known.checkpoint.empty() || known.checkpointStep != checkpoint->step())
            watched.unread.checkpoint = {
                phrase("Files", "the checkpoint after step %1 cannot be read: %2"),
                checkpoint->step(), error.message()};
        watched.unread.checkpointStep = checkpoint->step();
        return;
    }
    watched.unread.checkpoint = {};
    m_database.prepare("INSERT OR REPLACE INTO checkpoints VALUES(?1, ?2, ?3)")
        .bind(1, watched.key)
        .bind(2, checkpoint->step())
        .bind(3, std::as_bytes(std::span(bytes)))
        .run();
    m_stored.checkpoints.emplace_back(checkpoint, watched.key);
    watched.checkpoint = checkpoint;
}

/// Writes what the run lacks. Only what an earlier session did not lack may lie in that one still.
void SessionStore::Writer::writeUnread(WatchedRun& watched, const RunSnapshot& now) {
    const UnreadParts& known = now.info().unread;
    UnreadParts& parts = watched.unread;
    parts.keeper = known.keeper;
    parts.values = known.values;
    parts.target = known.target;
    parts.gradients = now.gradientsUnread();
    if (parts == watched.markedUnread) return;
    storeUnreadParts(m_database, watched.key, parts);
    watched.markedUnread = parts;
    UnreadParts here = parts;
    if (here.pictures == known.pictures) here.pictures = {};
    if (here.checkpoint == known.checkpoint) here.checkpoint = {};
    const std::lock_guard lock(m_mutex);
    m_unread[now.info().origin] = std::move(here);
}

void SessionStore::Writer::writeSaved(WatchedRun& watched) {
    if (watched.saved == watched.markedSaved) return;
    using Mark = std::pair<const char*, int64_t>;
    for (const auto& [table, steps] :
         {Mark{"saved", watched.saved.all}, Mark{"in_folder", watched.saved.inFolder}})
        m_database.prepare("INSERT OR REPLACE INTO " + std::string(table) + " VALUES(?1, ?2)")
            .bind(1, watched.key)
            .bind(2, steps)
            .run();
    watched.markedSaved = watched.saved;
}

/// What is dropped but not on disk yet is written in the next turn.
void SessionStore::Writer::dropOver(size_t budget) {
    m_unwritten.clear();
    std::vector<RunSnapshot> held;
    held.reserve(m_runs.all().size());
    for (const WatchedRun& each : m_runs.all())
        held.push_back(each.run->snapshot());
    m_resident = dropValues(held, budget, m_unwritten);
    m_full = m_resident > budget;
}

SessionStore::SessionStore(SessionOptions options) {
    const auto lock = std::make_shared<SessionLock>(options.folder);
    try {
        m_writer = std::make_unique<Writer>(std::move(options), lock, std::vector<RestoredRun>());
    } catch (...) { // such as a full disk: an empty session would be left at every try
        lock->removeSession();
        throw;
    }
}
SessionStore::SessionStore(SessionOptions options, const LeftSession& session,
                           const std::vector<RestoredRun>& restored)
    : m_writer(std::make_unique<Writer>(std::move(options), session.lock(), restored)) {}
SessionStore::~SessionStore() = default;
void SessionStore::watch(std::shared_ptr<const Run> run, const std::string& name, Whole whole,
                         NamedBy by) {
    m_writer->runs().watch(std::move(run), {name, by}, whole);
}
void SessionStore::complete(const Run* run) { m_writer->runs().change(run, std::nullopt); }
void SessionStore::rename(const Run* run, const std::string& name, NamedBy by) {
    m_writer->runs().change(run, RunName{name, by});
}
void SessionStore::forget(const Run* run) { m_writer->runs().forget(run); }
bool SessionStore::flush(std::chrono::milliseconds patience) { return m_writer->flush(patience); }
uint64_t SessionStore::askToWrite() { return m_writer->ask(); }
bool SessionStore::isWritten(uint64_t asked) const { return m_writer->isWritten(asked); }
Message SessionStore::unreadIn(const std::string& session) const {
    return m_writer->unreadIn(session);
}
void SessionStore::discard() { m_writer->discard(); }
void SessionStore::setMark(SessionMark mark) { m_writer->setMark(mark); }
void SessionStore::setSaved(SavedSteps saved) { m_writer->runs().setSaved(std::move(saved)); }
void SessionStore::setBudget(size_t bytes) { m_writer->setBudget(bytes); }
Message SessionStore::problem() const { return m_writer->problem(); }
size_t SessionStore::residentBytes() const { return m_writer->residentBytes(); }
bool SessionStore::isFull() const { return m_writer->isFull(); }
std::string SessionStore::path() const { return m_writer->path(); }

} // namespace halfscope
