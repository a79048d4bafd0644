// Statements about pictures.
#include "engine/runs/session_pictures.h"

#include "engine/core/error.h"
#include "engine/runs/session_values.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace halfscope {

namespace {

/// Only brings equal targets together: no session reads the hash of another program.
int64_t targetHashOf(const std::vector<std::byte>& bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return std::bit_cast<int64_t>(uint64_t{std::hash<std::string_view>()(text)});
}

/// Gives a run another target, and removes the one before if no run has it any more.
void storeTarget(const Database& database, int64_t run, const TargetPicture& target) {
    const int64_t key = storedTarget(database, target);
    int64_t before = 0;
    Statement row = database.prepare("SELECT target FROM runs WHERE id = ?1");
    row.bind(1, run);
    while (row.next())
        before = row.whole(0);
    if (before == key) return;
    database.prepare("UPDATE runs SET target = ?2 WHERE id = ?1").bind(1, run).bind(2, key).run();
    database
        .prepare("DELETE FROM targets WHERE id = ?1 AND NOT EXISTS "
                 "(SELECT 1 FROM runs WHERE target = ?1)")
        .bind(1, before)
        .run();
}

/// Lets all that is read be of one moment, although another connection may write meanwhile.
class OneMoment {
public:
    explicit OneMoment(const Database& database) : m_database(database) { m_database.run("BEGIN"); }
    ~OneMoment() {
        try {
            m_database.run("ROLLBACK");   // nothing was written
        } catch (const std::exception&) { // SQLite has ended it by itself
        }
    }
    OneMoment(const OneMoment&) = delete;
    OneMoment& operator=(const OneMoment&) = delete;

private:
    const Database& m_database;
};

/// A table of pictures, and the column that tells those of a run apart.
struct PictureTable {
    std::string name, key;
};

/// What SQLite could not read.
struct Unread {
    std::set<int64_t> places{};
    Message why{};
};

/// Calls use(place, row) for each picture of a run; values of the row count from 1. May call it
/// twice for the same one. SQLite does not get past a picture that is damaged, and when it searches
/// for another one it compares the keys together with the pictures behind them: then this looks for
/// each picture among all rows.
template <class Use>
Unread readEach(const Database& database, const PictureTable& table, const std::string& what,
                int64_t run, const Use& use) {
    const std::string from = " FROM " + table.name + " WHERE ";
    const std::string select = "SELECT " + table.key + ", " + what + from;
    try {
        Statement row = database.prepare(select + "run = ?1");
        row.bind(1, run);
        while (row.next())
            use(row.whole(0), row);
        return {};
    } catch (const RunError&) { // the slow way tells what is damaged
    }
    Unread unread;
    std::vector<int64_t> places;
    try {
        // an operator before a column lets SQLite search for nothing
        Statement place = database.prepare("SELECT " + table.key + from + "+run = ?1");
        place.bind(1, run);
        while (place.next())
            places.push_back(place.whole(0));
    } catch (const RunError& error) { // those before are known
        unread.why = error.message();
    }
    Statement row = database.prepare(select + "+run = ?1 AND +" + table.key + " = ?2");
    row.bind(1, run);
    for (const int64_t place : places) {
        try {
            const Statement::Until ended(row);
            if (row.bind(2, place).next()) use(place, row);
        } catch (const RunError& error) {
            unread.places.insert(place);
            if (unread.why.empty()) unread.why = error.message();
        }
    }
    return unread;
}

PictureTable outputTable() { return {"pictures", "lane"}; }

std::vector<std::byte> bytesIn(const Statement& row, int column) {
    const std::span<const std::byte> bytes = row.bytes(column);
    return {bytes.begin(), bytes.end()};
}

/// Adds outputs and returns how many were read. A lane without a row has lost its picture, unless
/// it may have painted nothing yet. Throws RunError when no lane has a picture of this step.
size_t takeOutputs(const Database& database, const PictureRows& rows, PackedPictures& to) {
    std::map<int64_t, std::vector<std::byte>> found;
    const Unread unread = readEach(database, outputTable(), "step, data", rows.run,
                                   [&](int64_t lane, const Statement& row) {
                                       if (row.whole(1) == rows.step) found[lane] = bytesIn(row, 2);
                                   });
    to.unread = unread.why;
    if (found.empty() && unread.why.empty())
        throw RunError(phrase("Files", "%1: the pictures of step %2 are gone"), to.from, rows.step);
    for (size_t lane = 0; lane < rows.lanes; ++lane) {
        const auto place = static_cast<int64_t>(lane);
        const bool painted = lane < rows.painted || unread.places.contains(place);
        if (const auto output = found.find(place); output != found.end())
            to.outputs.push_back(std::move(output->second));
        else
            to.outputs.push_back(painted ? std::vector<std::byte>() : packed(Picture()));
    }
    return found.size();
}

/// Does the same for a table that goes by place. A place without a row has lost its picture.
size_t takePlaces(const Database& database, const std::string& table, int64_t run,
                  std::vector<std::vector<std::byte>>& to, Message& unreadWhy) {
    constexpr int64_t kMost = 1000;          // a damaged place may be any number
    if (!database.hasTable(table)) return 0; // an earlier version wrote it
    std::map<int64_t, std::vector<std::byte>> found;
    Unread unread =
        readEach(database, {table, "place"}, "data", run,
                 [&](int64_t place, const Statement& row) { found[place] = bytesIn(row, 1); });
    if (unreadWhy.empty()) unreadWhy = unread.why;
    for (const auto& [place, bytes] : found)
        unread.places.insert(place);
    const int64_t last = unread.places.empty() ? -1 : *unread.places.rbegin();
    to.resize(static_cast<size_t>(std::clamp<int64_t>(last, -1, kMost - 1) + 1));
    for (size_t place = 0; place < to.size(); ++place)
        if (const auto picture = found.find(static_cast<int64_t>(place)); picture != found.end())
            to[place] = std::move(picture->second);
    return found.size();
}

/// Stores pictures in a table that goes by place.
void storeByPlace(const Database& database, int64_t run, const std::string& table,
                  const std::vector<std::vector<std::byte>>& pictures) {
    for (size_t place = 0; place < pictures.size(); ++place)
        database.prepare("INSERT OR REPLACE INTO " + table + " VALUES(?1, ?2, ?3)")
            .bind(1, run)
            .bind(2, static_cast<int64_t>(place))
            .bind(3, pictures[place])
            .run();
}

} // namespace

int64_t storedTarget(const Database& database, const TargetPicture& target) {
    if (target.empty()) return 0;
    const std::shared_ptr<const TargetPicture::Bytes> held = target.pack();
    const std::vector<std::byte>& bytes = *held;
    const int64_t hash = targetHashOf(bytes);
    {
        Statement row = database.prepare("SELECT id FROM targets WHERE hash = ?1 AND data = ?2");
        row.bind(1, hash).bind(2, bytes);
        if (row.next()) return row.whole(0);
    }
    database.prepare("INSERT INTO targets(hash, data) VALUES(?1, ?2)")
        .bind(1, hash)
        .bind(2, bytes)
        .run();
    return database.lastKey();
}

void storePictures(const Database& database, int64_t run, int64_t step,
                   const PackedPictures& pictures, const TargetPicture* target) {
    for (size_t lane = 0; lane < pictures.outputs.size(); ++lane)
        database.prepare("INSERT OR REPLACE INTO pictures VALUES(?1, ?2, ?3, ?4)")
            .bind(1, run)
            .bind(2, static_cast<int64_t>(lane))
            .bind(3, step)
            .bind(4, pictures.outputs[lane])
            .run();
    storeByPlace(database, run, "galleries", pictures.galleries);
    storeByPlace(database, run, "mistakes", pictures.mistakes);
    if (target) storeTarget(database, run, *target);
}

std::shared_ptr<const TargetPicture> targetIn(const Database& database, int64_t run) {
    const auto shared = [](std::span<const std::byte> bytes) {
        return sharedTarget(TargetPicture::Bytes(bytes.begin(), bytes.end()));
    };
    Statement row =
        database.prepare("SELECT typeof(target) = 'blob', target FROM runs WHERE id = ?1");
    row.bind(1, run);
    if (!row.next()) return sharedTarget(Picture());
    if (row.whole(0) != 0) return shared(row.bytes(1)); // of an earlier version
    const int64_t key = row.whole(1);
    if (key == 0) return sharedTarget(Picture());
    Statement found = database.prepare("SELECT data FROM targets WHERE id = ?1");
    found.bind(1, key);
    if (!found.next() || found.bytes(0).empty())
        throw RunError(phrase("Files", "%1: the target of a run is gone"), database.path());
    return shared(found.bytes(0));
}

std::optional<int64_t> pictureStepIn(const Database& database, int64_t run) {
    std::map<int64_t, int64_t> steps; // by lane
    const Unread unread =
        readEach(database, outputTable(), "step", run,
                 [&steps](int64_t lane, const Statement& row) { steps[lane] = row.whole(1); });
    if (steps.empty() && !unread.why.empty()) throw RunError(unread.why);
    if (steps.empty()) return std::nullopt;
    std::map<int64_t, int> lanes; // by step
    for (const auto& [lane, step] : steps)
        ++lanes[step];
    const auto byCount = [](const auto& each) { return std::pair(each.second, each.first); };
    return std::ranges::max_element(lanes, {}, byCount)->first;
}

std::vector<std::string> captionsIn(const Database& database, int64_t run, size_t lanes) {
    std::vector<std::string> captions(lanes);
    readEach(database, outputTable(), "data", run, [&](int64_t lane, const Statement& row) {
        if (lane >= 0 && lane < static_cast<int64_t>(lanes))
            captions[static_cast<size_t>(lane)] = packedCaption(row.bytes(1));
    });
    return captions;
}

PackedPictures picturesIn(const Database& database, const PictureRows& rows) {
    const OneMoment moment(database);
    PackedPictures found{database.path(), {}, {}, {}, {}};
    size_t read = takeOutputs(database, rows, found);
    for (const auto& [table, to] :
         {std::pair("galleries", &found.galleries), std::pair("mistakes", &found.mistakes)}) {
        try {
            read += takePlaces(database, table, rows.run, *to, found.unread);
        } catch (const RunError& error) { // the others are worth seeing
            if (found.unread.empty()) found.unread = error.message();
        }
    }
    if (read == 0) throw RunError(found.unread);
    return found;
}

} // namespace halfscope
