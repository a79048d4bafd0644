// A row of the table `restored`, see session_file.h.
#include "engine/runs/unread_parts.h"

#include "engine/core/error.h"
#include "engine/io/database.h"

namespace halfscope {

UnreadParts unreadPartsIn(const Database& database, int64_t run) {
    UnreadParts parts;
    try {
        if (!database.hasTable("restored")) return parts; // an earlier version wrote the file
        Statement row = database.prepare(
            "SELECT keeper, unread_values, gradients, target, pictures, pictures_step, checkpoint, "
            "checkpoint_step FROM restored WHERE run = ?1");
        row.bind(1, run);
        if (!row.next()) return parts;
        parts.keeper = row.text(0);
        parts.values = row.whole(1) != 0;
        parts.gradients = row.whole(2) != 0;
        parts.target = row.whole(3) != 0;
        if (const std::string why = row.text(4); !why.empty()) parts.pictures = Message::data(why);
        parts.picturesStep = row.whole(5);
        if (const std::string why = row.text(6); !why.empty())
            parts.checkpoint = Message::data(why);
        parts.checkpointStep = row.whole(7);
    } catch (const RunError&) { // the row is damaged, but the run may be readable
    }
    return parts;
}

void storeUnreadParts(const Database& database, int64_t run, const UnreadParts& parts) {
    database.prepare("INSERT OR REPLACE INTO restored VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
        .bind(1, run)
        .bind(2, parts.keeper)
        .bind(3, int64_t{parts.values})
        .bind(4, int64_t{parts.gradients})
        .bind(5, int64_t{parts.target})
        .bind(6, parts.pictures.english())
        .bind(7, parts.picturesStep)
        .bind(8, parts.checkpoint.english())
        .bind(9, parts.checkpointStep)
        .run();
}

} // namespace halfscope
