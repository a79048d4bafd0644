// Keeps the look at one table, as its words and numbers take memory.
#include "engine/data/csv_look.h"

#include "engine/data/csv_fields.h"
#include "engine/io/open_folder.h"

#include <mutex>
#include <string>
#include <utility>

namespace halfscope {

namespace {

constexpr size_t kMostColumns = 256; // of a look that is kept: up to 20 KB each

struct Look {
    std::string key;
    std::vector<SeenFields> seen;
};

/// The last look. Any thread may call its functions.
class LastLook {
public:
    std::vector<SeenFields> find(const std::string& key) const {
        const std::lock_guard lock(m_mutex);
        return m_last.key == key ? m_last.seen : std::vector<SeenFields>();
    }
    void put(std::string key, const std::vector<SeenFields>& seen) {
        const std::lock_guard lock(m_mutex);
        m_last = {std::move(key), seen};
    }

private:
    mutable std::mutex m_mutex;
    Look m_last;
};

LastLook& lastLook() {
    static LastLook look;
    return look;
}

/// Returns a text that is the same for the same answer.
std::string keyOf(const TaskConfig& task, const CsvLayout& layout) {
    std::string key = task.path + "\n" + fileStamp(task.path) + nameOf(task.missing) +
                      (task.header ? "\n" : " no header\n");
    const bool drops = task.missing != Missing::Refuse; // what drops lines matters, too
    for (const CsvColumn& column : layout.columns) {
        const bool target = drops && column.use == ColumnUse::Target;
        key += column.use == ColumnUse::LeftOut ? '-' : target ? 't' : 'i';
        if (drops && column.gaps) key += 'g';
    }
    return key;
}

} // namespace

std::vector<SeenFields> lookThrough(const TaskConfig& task, const CsvLayout& layout) {
    const bool kept = layout.columns.size() <= kMostColumns && !task.path.empty();
    std::string key = kept ? keyOf(task, layout) : std::string();
    if (kept)
        if (auto known = lastLook().find(key); !known.empty()) return known;
    CsvFile file = tableOf(task);
    std::vector<SeenFields> seen(layout.columns.size());
    if (file.readHeader().size() != seen.size()) return seen; // the file changed: rows will tell
    while (file.next()) {
        if (layout.drops(file, task.missing)) continue;
        for (size_t i = 0; i < seen.size(); ++i)
            if (layout.columns[i].use != ColumnUse::LeftOut) seen[i].add(file, i);
    }
    if (kept && key == keyOf(task, layout)) lastLook().put(std::move(key), seen);
    return seen;
}

} // namespace halfscope
