// Statements about pictures.
#include "engine/runs/session_pictures.h"

#include "engine/runs/session_values.h"

#include <bit>
#include <functional>
#include <string_view>
#include <vector>

namespace halfscope {

namespace {

/// Only brings equal targets together: no session reads the hash of another program.
int64_t targetHashOf(const std::vector<std::byte>& bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return std::bit_cast<int64_t>(uint64_t{std::hash<std::string_view>()(text)});
}

/// Gives a run another target, and removes the one before if no run has it any more.
void storeTarget(const Database& database, int64_t run, const Picture& target) {
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

int64_t storedTarget(const Database& database, const Picture& target) {
    if (target.width < 1) return 0;
    const std::vector<std::byte> bytes = packed(target);
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

void storePictures(const Database& database, int64_t run, const LanePictures& pictures) {
    for (size_t lane = 0; lane < pictures.outputs.size(); ++lane)
        database.prepare("INSERT OR REPLACE INTO pictures VALUES(?1, ?2, ?3, ?4)")
            .bind(1, run)
            .bind(2, static_cast<int64_t>(lane))
            .bind(3, pictures.step)
            .bind(4, packed(pictures.outputs[lane]))
            .run();
    for (size_t place = 0; place < pictures.galleries.size(); ++place)
        database.prepare("INSERT OR REPLACE INTO galleries VALUES(?1, ?2, ?3)")
            .bind(1, run)
            .bind(2, static_cast<int64_t>(place))
            .bind(3, packed(pictures.galleries[place]))
            .run();
    if (pictures.target.width > 0) storeTarget(database, run, pictures.target);
}

Picture targetIn(const Database& database, int64_t run) {
    Statement row =
        database.prepare("SELECT typeof(target) = 'blob', target FROM runs WHERE id = ?1");
    row.bind(1, run);
    if (!row.next()) return {};
    if (row.whole(0) != 0) return unpackedPicture(row.bytes(1)); // of an earlier version
    const int64_t key = row.whole(1);
    if (key == 0) return {};
    Statement shared = database.prepare("SELECT data FROM targets WHERE id = ?1");
    shared.bind(1, key);
    return shared.next() ? unpackedPicture(shared.bytes(0)) : Picture{};
}

LanePictures picturesIn(const Database& database, int64_t run, size_t lanes) {
    LanePictures found;
    Statement row =
        database.prepare("SELECT step, data FROM pictures WHERE run = ?1 ORDER BY lane");
    row.bind(1, run);
    while (row.next()) {
        found.step = row.whole(0);
        found.outputs.push_back(unpackedPicture(row.bytes(1)));
    }
    if (found.outputs.size() != lanes) return {};
    if (!database.hasTable("galleries")) return found; // an earlier version wrote it
    row = database.prepare("SELECT data FROM galleries WHERE run = ?1 ORDER BY place");
    row.bind(1, run);
    while (row.next())
        found.galleries.push_back(unpackedPicture(row.bytes(0)));
    return found;
}

} // namespace halfscope
