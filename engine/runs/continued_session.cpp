// Compares the file with what was read from it.
#include "engine/runs/continued_session.h"

#include "engine/core/error.h"
#include "engine/runs/session_file.h"

#include <set>
#include <string>

namespace halfscope {

namespace {

RunError damaged(const std::string& path) {
    return RunError(phrase("Files", "%1: its runs are damaged"), path);
}

/// Reads the whole file: a store could neither write beside damaged pages nor erase them.
void checkTables(const Database& database) {
    Statement found = database.prepare("PRAGMA quick_check(1)");
    const Statement::Until ended(found);
    if (!found.next() || found.text(0) != "ok") throw damaged(database.path());
    for (const char* table :
         {"tails", "gradients", "pictures", "checkpoints", "galleries", "mistakes"})
        database.prepare("SELECT run, data FROM " + std::string(table)); // has these columns
}

/// Erases the runs that nobody restored: saved ones, copies, and such as were not whole.
void eraseOthers(const Database& database, const std::vector<RestoredRun>& restored) {
    std::set<int64_t> stay, gone;
    for (const RestoredRun& each : restored)
        stay.insert(each.left.key);
    Statement row = database.prepare("SELECT id FROM runs");
    while (row.next())
        if (!stay.contains(row.whole(0))) gone.insert(row.whole(0));
    for (const int64_t key : gone)
        eraseRun(database, key);
    database.run("DELETE FROM saved");
    database.run("DELETE FROM in_folder");
    writeMark(database, SessionMark::None);
    database.run("DELETE FROM chunks WHERE id NOT IN (SELECT chunk FROM columns)");
}

/// Takes the chunks of a run's columns, and notes how much of each column the file has.
class ChunkKeys {
public:
    ChunkKeys(const Database& database, ContinuedRuns& into)
        : m_into(into), m_path(database.path()),
          m_chunks(database.prepare("SELECT place, chunk FROM columns WHERE run = ?1 AND "
                                    "lane = ?2 AND metric = ?3 ORDER BY place")) {}

    void take(const RunSnapshot& run, WatchedRun& watched) {
        const size_t metrics = run.metrics().size();
        m_chunks.bind(1, watched.key);
        for (size_t i = 0; i < metrics * run.lanes().size(); ++i) {
            const auto lane = static_cast<int>(i / metrics);
            const auto id = static_cast<MetricId>(i % metrics);
            const Column& column = run.column(lane, id);
            m_chunks.bind(2, int64_t{lane}).bind(3, run.metrics()[i % metrics].column);
            watched.chunks.push_back(takeColumn(column));
            watched.tails.push_back(column.empty() ? -1 : column.lastStep());
        }
    }

private:
    size_t takeColumn(const Column& column) {
        const auto& spans = column.spans();
        size_t place = 0;
        if (spans.empty()) return place;
        const Statement::Until ended(m_chunks);
        for (; m_chunks.next(); ++place) {
            const bool fits = m_chunks.whole(0) == static_cast<int64_t>(place) &&
                              place < spans.size() && spans[place]->level() == 0;
            if (!fits) break;
            m_into.stored.spans.emplace_back(spans[place].get(), m_chunks.whole(1));
        }
        if (place != spans.size()) throw damaged(m_path);
        return place;
    }

    ContinuedRuns& m_into;
    const std::string m_path;
    Statement m_chunks;
};

/// Events that were not read, because they are damaged, would be in the way of later ones.
void checkEvents(Statement& count, const RunSnapshot& run, int64_t key, const std::string& path) {
    const Statement::Until ended(count);
    const bool all = count.bind(1, key).next() &&
                     count.whole(0) == static_cast<int64_t>(run.events().size()) &&
                     count.whole(1) < static_cast<int64_t>(run.events().size());
    if (!all) throw damaged(path);
}

WatchedRun watchedAs(const RestoredRun& restored) {
    const RunSnapshot& read = restored.read;
    WatchedRun watched{restored.run,
                       {restored.left.name, namedBy(restored.left.named)},
                       SessionStore::Whole::Yes,
                       restored.left.key};
    watched.version = watched.largeVersion = read.version();
    watched.target = read.sharedTarget();
    watched.info = read.sharedInfo();
    watched.pictures = read.sharedPictures();
    watched.events = read.events().size();
    watched.gradientStep = read.step();
    watched.checkpoint = read.checkpoint();
    watched.unread = read.info().unread;
    watched.unread.gradients = read.gradientsUnread();
    watched.markedUnread = watched.unread;
    return watched;
}

} // namespace

ContinuedRuns continueSession(const Database& database, const std::vector<RestoredRun>& restored) {
    ContinuedRuns all;
    if (restored.empty()) return all;
    checkTables(database);
    eraseOthers(database, restored);
    ChunkKeys chunks(database, all);
    Statement events =
        database.prepare("SELECT COUNT(*), COALESCE(MAX(place), -1) FROM events WHERE run = ?1");
    for (const RestoredRun& each : restored) {
        WatchedRun watched = watchedAs(each);
        chunks.take(each.read, watched);
        checkEvents(events, each.read, watched.key, database.path());
        const UnreadParts& unread = each.read.info().unread; // what is unread lies elsewhere, if
                                                             // anywhere
        if (watched.checkpoint && unread.checkpoint.empty())
            all.stored.checkpoints.emplace_back(watched.checkpoint, watched.key);
        const std::shared_ptr<const RunPictures>& pictures = each.read.sharedPictures();
        if (!pictures->empty() && unread.pictures.empty())
            all.stored.pictures.emplace_back(
                pictures, PictureRows{watched.key, pictures->step(), each.read.lanes().size(),
                                      each.read.info().recorded.lanes.size()});
        all.runs.push_back(std::move(watched));
    }
    return all;
}

} // namespace halfscope
