// Statements about pictures.
#include "engine/runs/session_pictures.h"

#include "engine/core/error.h"
#include "engine/runs/session_values.h"

#include <bit>
#include <functional>
#include <span>
#include <string_view>

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
    for (size_t place = 0; place < pictures.galleries.size(); ++place)
        database.prepare("INSERT OR REPLACE INTO galleries VALUES(?1, ?2, ?3)")
            .bind(1, run)
            .bind(2, static_cast<int64_t>(place))
            .bind(3, pictures.galleries[place])
            .run();
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
    return found.next() ? shared(found.bytes(0)) : sharedTarget(Picture());
}

std::optional<int64_t> pictureStepIn(const Database& database, int64_t run, size_t lanes) {
    Statement row = database.prepare("SELECT count(*), max(step) FROM pictures WHERE run = ?1");
    row.bind(1, run);
    if (!row.next() || lanes == 0 || row.whole(0) != static_cast<int64_t>(lanes))
        return std::nullopt;
    return row.whole(1);
}

std::vector<std::string> captionsIn(const Database& database, int64_t run) {
    std::vector<std::string> captions;
    Statement row = database.prepare("SELECT data FROM pictures WHERE run = ?1 ORDER BY lane");
    row.bind(1, run);
    while (row.next())
        captions.push_back(packedCaption(row.bytes(0)));
    return captions;
}

PackedPictures picturesIn(const Database& database, int64_t run, int64_t step) {
    PackedPictures found{database.path()};
    const auto take = [](Statement& row, std::vector<std::vector<std::byte>>& to) {
        while (row.next()) {
            const std::span<const std::byte> bytes = row.bytes(0);
            to.emplace_back(bytes.begin(), bytes.end());
        }
    };
    Statement row =
        database.prepare("SELECT data FROM pictures WHERE run = ?1 AND step = ?2 ORDER BY lane");
    row.bind(1, run).bind(2, step);
    take(row, found.outputs);
    if (found.outputs.empty())
        throw RunError(phrase("Files", "%1: the pictures of step %2 are gone"), found.from, step);
    if (!database.hasTable("galleries")) return found; // an earlier version wrote it
    row = database.prepare("SELECT data FROM galleries WHERE run = ?1 ORDER BY place");
    row.bind(1, run);
    take(row, found.galleries);
    return found;
}

} // namespace halfscope
