// Reads the chunks of a column, and the tail behind them.
#include "engine/runs/stored_column.h"

#include <algorithm>
#include <span>

namespace halfscope {

namespace {

/// A damaged file must not make a column of arbitrary length.
constexpr int64_t kMostStep = int64_t{1} << 40;

} // namespace

StoredColumn::StoredColumn(const Database& database, int64_t run, int64_t lane,
                           std::string_view metric)
    : m_chunks(database.prepare("SELECT data, 0, place FROM columns "
                                "LEFT JOIN chunks ON chunks.id = columns.chunk "
                                "WHERE run = ?1 AND lane = ?2 AND metric = ?3 "
                                "UNION ALL SELECT data, 1, 0 FROM tails "
                                "WHERE run = ?1 AND lane = ?2 AND metric = ?3 "
                                "ORDER BY 2, 3")) {
    m_chunks.bind(1, run).bind(2, lane).bind(3, metric);
    advance();
}

bool StoredColumn::isWhole(const Database& database, int64_t run, int64_t lane,
                           std::string_view metric) {
    StoredColumn column(database, run, lane, metric);
    const bool any = column.m_next.has_value();
    while (column.load()) {
    }
    return any && !column.m_damaged;
}

int64_t StoredColumn::lastStep(const Database& database, int64_t run, std::string_view metric,
                               bool& sound) {
    Statement last = database.prepare("SELECT data FROM tails WHERE run = ?1 AND metric = ?2 "
                                      "UNION ALL SELECT data FROM chunks WHERE id = (SELECT "
                                      "chunk FROM columns WHERE run = ?1 "
                                      "AND metric = ?2 ORDER BY place DESC LIMIT 1)");
    last.bind(1, run).bind(2, metric);
    int64_t step = 0;
    while (last.next()) {
        size_t count = 0, runs = 0;
        if (const auto values = ChunkValues::unpacked(last.bytes(0), count, runs))
            step = std::max(step, values->stepAt(count - 1));
        else if (!last.bytes(0).empty())
            sound = false;
    }
    return step;
}

void StoredColumn::advance() {
    const int64_t before = m_next ? m_next->step : 0;
    do {
        while (m_at == m_count)
            if (!load()) return m_next.reset();
        Point point;
        m_values->read(m_runs, m_at++, std::span(&point, 1));
        m_next = point;
    } while (m_next->step <= before);
    if (m_next->step > kMostStep) m_next.reset();
}

std::optional<double> StoredColumn::take(int64_t step) {
    std::optional<double> value;
    for (; m_next && m_next->step <= step; advance())
        if (m_next->step == step) value = m_next->value;
    return value;
}

bool StoredColumn::load() {
    if (!m_more || !(m_more = m_chunks.next())) return false;
    m_at = m_count = m_runs = 0;
    const std::span<const std::byte> bytes = m_chunks.bytes(0);
    m_values = ChunkValues::unpacked(bytes, m_count, m_runs);
    if (!m_values) m_count = 0;
    const bool isTail = m_chunks.whole(1) != 0; // empty where the last chunk is full
    const bool sound =
        isTail ? m_values || bytes.empty() : m_values && m_chunks.whole(2) == m_place++;
    m_damaged = m_damaged || !sound;
    return true;
}

} // namespace halfscope
