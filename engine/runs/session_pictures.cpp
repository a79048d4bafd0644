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
    bool more = false; ///< perhaps others, too: not even the places could be listed
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
        unread.more = true;
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

/// The pictures of a run that one table has, by place.
struct FoundPictures {
    std::map<int64_t, std::vector<std::byte>> read{};
    Unread unread{};
    bool lacksOne = false; ///< of those that take() was asked for

    bool any() const { return !read.empty() || !unread.why.empty(); }
    /// Returns the place behind the last one that is known.
    int64_t end() const {
        constexpr int64_t kMost = 1000; // a damaged place may be any number
        int64_t last = -1;
        if (!read.empty()) last = read.rbegin()->first;
        if (!unread.places.empty()) last = std::max(last, *unread.places.rbegin());
        return std::min(last, kMost) + 1;
    }
    /// Returns the bytes of a picture that must be there; of one that is lost there are none.
    std::vector<std::byte> take(size_t place) {
        const auto found = read.find(static_cast<int64_t>(place));
        if (found != read.end()) return std::move(found->second);
        lacksOne = true;
        return {};
    }
    /// Returns those of the lanes. Only so many have painted yet.
    std::vector<std::vector<std::byte>> takeLanes(size_t painted, size_t lanes) {
        std::vector<std::vector<std::byte>> all;
        for (size_t lane = 0; lane < lanes; ++lane)
            all.push_back(lane < painted ? take(lane) : packed(Picture()));
        return all;
    }
};

/// `step`: that of outputs; a table that goes by place has no steps.
FoundPictures picturesFound(const Database& database, const PictureTable& table, int64_t run,
                            std::optional<int64_t> step = {}) {
    FoundPictures found;
    const auto take = [&](int64_t place, const Statement& row) {
        if (!step || row.whole(1) == *step) found.read[place] = bytesIn(row, 2);
    };
    try {
        if (!database.hasTable(table.name)) return found; // an earlier version wrote it
        found.unread = readEach(database, table, step ? "step, data" : "place, data", run, take);
    } catch (const RunError& error) { // the other tables are worth seeing
        found.unread.more = true;
        found.unread.why = error.message();
    }
    return found;
}

/// Returns how many lanes have painted: forks may not have yet. Where outputs cannot be listed, the
/// galleries tell, of which the last one is of no lane.
size_t paintedLanes(const PictureRows& rows, const FoundPictures& outputs,
                    const FoundPictures& galleries, const FoundPictures& mistakes) {
    if (outputs.unread.more && (galleries.unread.more || galleries.end() == 0)) return rows.lanes;
    const int64_t known = std::max({outputs.end(), galleries.end() - 1, mistakes.end()});
    return static_cast<size_t>(
        std::clamp(known, static_cast<int64_t>(rows.painted), static_cast<int64_t>(rows.lanes)));
}

/// Erases the pictures of a run from a place on.
void eraseFrom(const Database& database, int64_t run, const PictureTable& table, size_t place) {
    database.prepare("DELETE FROM " + table.name + " WHERE run = ?1 AND " + table.key + " >= ?2")
        .bind(1, run)
        .bind(2, static_cast<int64_t>(place))
        .run();
}

/// Stores pictures in a table that goes by place, which keeps none of the step before.
void storeByPlace(const Database& database, int64_t run, const std::string& table,
                  const std::vector<std::vector<std::byte>>& pictures) {
    for (size_t place = 0; place < pictures.size(); ++place)
        database.prepare("INSERT OR REPLACE INTO " + table + " VALUES(?1, ?2, ?3)")
            .bind(1, run)
            .bind(2, static_cast<int64_t>(place))
            .bind(3, pictures[place])
            .run();
    eraseFrom(database, run, {table, "place"}, pictures.size());
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

void storePictures(const Database& database, int64_t run, int64_t step,
                   const PackedPictures& pictures, const TargetPicture* target) {
    for (size_t lane = 0; lane < pictures.outputs.size(); ++lane)
        database.prepare("INSERT OR REPLACE INTO pictures VALUES(?1, ?2, ?3, ?4)")
            .bind(1, run)
            .bind(2, static_cast<int64_t>(lane))
            .bind(3, step)
            .bind(4, pictures.outputs[lane])
            .run();
    eraseFrom(database, run, outputTable(), pictures.outputs.size());
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
    for (const char* table : {"galleries", "mistakes"}) // nothing paints them alone
        if (steps.empty() && picturesFound(database, {table, "place"}, run).any())
            throw RunError(phrase("Files", "%1: the outputs of a run are gone"), database.path());
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
    const std::string from = database.path();
    FoundPictures outputs = picturesFound(database, outputTable(), rows.run, rows.step),
                  galleries = picturesFound(database, {"galleries", "place"}, rows.run),
                  mistakes = picturesFound(database, {"mistakes", "place"}, rows.run);
    if (!outputs.any())
        throw RunError(phrase("Files", "%1: the pictures of step %2 are gone"), from, rows.step);
    const bool none = outputs.read.empty() && galleries.read.empty() && mistakes.read.empty();
    if (none) throw RunError(outputs.unread.why);
    const size_t painted = paintedLanes(rows, outputs, galleries, mistakes);
    PackedPictures all{from, outputs.takeLanes(painted, rows.lanes), {}, {}, {}};
    if (galleries.any()) {
        all.galleries = galleries.takeLanes(painted, rows.lanes);
        all.galleries.push_back(galleries.take(painted));
    }
    if (mistakes.any()) all.mistakes = mistakes.takeLanes(painted, rows.lanes);
    for (const FoundPictures* each : {&outputs, &galleries, &mistakes})
        if (each->lacksOne && all.unread.empty()) all.unread = each->unread.why;
    if (all.unread.empty() && (outputs.lacksOne || galleries.lacksOne || mistakes.lacksOne))
        all.unread = {phrase("Files", "%1: some pictures of step %2 are gone"), from, rows.step};
    return all;
}

} // namespace halfscope
