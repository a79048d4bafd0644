// Makes runs of what a session's file holds.
#include "engine/runs/left_session.h"

#include "engine/core/error.h"
#include "engine/io/database.h"
#include "engine/runs/run_summary.h"
#include "engine/runs/session_file.h"
#include "engine/runs/session_values.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace halfscope {

namespace {

/// A damaged file must not make a column of any length.
constexpr int64_t kMostStep = int64_t{1} << 40;

/// Appends a chunk's values behind those that are there.
void append(ColumnWriter& column, std::span<const std::byte> bytes) {
    size_t count = 0, runs = 0;
    const auto values = ChunkValues::unpacked(bytes, count, runs);
    if (!values) return;
    std::array<Point, 256> block;
    for (size_t from = 0; from < count; from += block.size()) {
        const auto part = std::span(block).first(std::min(block.size(), count - from));
        values->read(runs, from, part);
        for (const Point& point : part)
            if (point.step > column.column().lastStep() && point.step <= kMostStep)
                column.append(point.step, point.value);
    }
}

/// Reads one run.
class Restoring {
public:
    Restoring(const Database& database, int64_t key, const std::function<bool(double)>& goesOn)
        : m_database(database), m_key(key), m_goesOn(goesOn) {}

    std::shared_ptr<Run> read() {
        begin();
        for (size_t lane = 0; lane < m_planned.size(); ++lane) {
            if (!addLane(lane)) break; // a fork that had not begun
            if (!readLane(lane)) return nullptr;
        }
        addEvents();
        RunBatch last;
        last.savedGradients = gradients();
        last.pictures = pictures();
        m_run->append(std::move(last));
        return m_run;
    }

private:
    void begin() {
        Statement row = m_database.prepare(
            "SELECT preset, experiment, summary, steps, target FROM runs WHERE id = ?1");
        row.bind(1, m_key);
        if (!row.next()) throw RunError(phrase("Files", "%1: the run is gone"), m_database.path());
        RunInfo info;
        info.recorded = parseConfig(row.text(1), m_database.path());
        info.config = settingsAtEnd(info.recorded);
        info.preset = row.text(0);
        info.restored = true;
        m_planned = lanesOf(info.recorded);
        std::vector<std::string> names;
        for (const LaneInfo& lane : m_planned)
            names.push_back(lane.name);
        TrainedOn on = trainedOnOf(row.text(2), m_database.path(), names, row.whole(3));
        info.device = std::move(on.device);
        info.memory = std::move(on.memory);
        info.program = std::move(on.program);
        info.compiler = std::move(on.compiler);
        const auto first = static_cast<std::ptrdiff_t>(info.recorded.lanes.size());
        std::vector<LaneInfo> lanes(m_planned.begin(), m_planned.begin() + first);
        Picture target = unpackedPicture(row.bytes(4));
        m_run = std::make_shared<Run>(std::move(info), std::move(lanes), std::move(target));
        row = m_database.prepare("SELECT kind, step, lane, before, after, tensor, text "
                                 "FROM events WHERE run = ?1 ORDER BY place");
        row.bind(1, m_key);
        while (row.next()) {
            Event event;
            event.kind = EventKind(std::clamp<int64_t>(row.whole(0), 0, int64_t(EventKind::Edit)));
            event.step = row.whole(1);
            event.lane = static_cast<int32_t>(row.whole(2));
            event.scaleBefore = static_cast<float>(row.real(3));
            event.scaleAfter = static_cast<float>(row.real(4));
            event.tensor = row.text(5);
            event.text = Message::data(row.text(6));
            m_events.push_back(std::move(event));
        }
    }

    /// Whether the lane is there, now or since before.
    bool addLane(size_t lane) {
        if (lane < m_run->lanes().size()) return true;
        const LaneInfo& fork = m_planned[lane];
        if (m_run->now().totals(fork.parent).last().step < fork.forkStep) return false;
        addEvents(); // those of the parent are the fork's too
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

    /// A lane's columns, by metric.
    std::vector<ColumnWriter> columnsOf(size_t lane) const {
        std::vector<ColumnWriter> columns(m_run->metrics().size());
        for (const char* sql :
             {"SELECT metric, data FROM columns JOIN chunks ON chunks.id = columns.chunk "
              "WHERE run = ?1 AND lane = ?2 ORDER BY metric, place",
              "SELECT metric, data FROM tails WHERE run = ?1 AND lane = ?2"}) {
            Statement row = m_database.prepare(sql);
            row.bind(1, m_key).bind(2, static_cast<int64_t>(lane));
            while (row.next()) {
                const MetricId id = m_run->now().metricNamed(row.text(0));
                if (id >= 0) append(columns[static_cast<size_t>(id)], row.bytes(1));
            }
        }
        return columns;
    }

    bool readLane(size_t lane) {
        const std::vector<ColumnWriter> columns = columnsOf(lane);
        const Column& steps = columns[metric::Loss].column(); // every row has a loss
        int64_t from = m_planned[lane].parent < 0 ? 1 : m_planned[lane].forkStep + 1;
        constexpr int64_t kStride = 4096;
        for (; from <= steps.lastStep(); from += kStride) {
            RunBatch batch;
            const int64_t to = std::min(steps.lastStep(), from + kStride - 1);
            steps.values(from, to, [&](int64_t step, double) {
                batch.rows.emplace_back(step, static_cast<int32_t>(lane));
            });
            for (size_t id = 0; id < columns.size(); ++id) {
                size_t next = 0;
                columns[id].column().values(from, to, [&](int64_t step, double value) {
                    while (next < batch.rows.size() && batch.rows[next].step < step)
                        ++next;
                    if (next < batch.rows.size() && batch.rows[next].step == step)
                        batch.rows[next].set(static_cast<MetricId>(id), value);
                });
            }
            m_run->append(std::move(batch));
            const double done = static_cast<double>(to) / static_cast<double>(steps.lastStep());
            const double share =
                (static_cast<double>(lane) + done) / static_cast<double>(m_planned.size());
            if (m_goesOn && !m_goesOn(share)) return false;
        }
        return true;
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

    LanePictures pictures() const {
        LanePictures found;
        Statement row =
            m_database.prepare("SELECT step, data FROM pictures WHERE run = ?1 ORDER BY lane");
        row.bind(1, m_key);
        while (row.next()) {
            found.step = row.whole(0);
            found.outputs.push_back(unpackedPicture(row.bytes(1)));
        }
        if (found.outputs.size() != m_run->lanes().size()) return {};
        return found;
    }

    const Database& m_database;
    int64_t m_key;
    const std::function<bool(double)>& m_goesOn;
    std::vector<LaneInfo> m_planned;
    std::vector<Event> m_events;
    size_t m_nextEvent = 0;
    std::shared_ptr<Run> m_run;
};

} // namespace

LeftSession::LeftSession(SessionLock lock, std::string name)
    : m_lock(std::move(lock)), m_name(std::move(name)) {
    const Database database(m_lock.pathOf(kSessionEnding), Database::Access::ReadOnly);
    Statement version = database.prepare("PRAGMA user_version");
    if (!version.next() || version.whole(0) != kSessionVersion)
        throw RunError(phrase("Files", "%1: another version of the program wrote it"),
                       database.path());
    Statement row =
        database.prepare("SELECT id, name, experiment IS NOT NULL FROM runs ORDER BY id");
    while (row.next()) {
        if (row.whole(2) == 0) continue;
        LeftRun run{row.whole(0), row.text(1), 0};
        Statement tail = database.prepare("SELECT data FROM tails WHERE run = ?1 AND metric = ?2 "
                                          "UNION ALL SELECT data FROM chunks WHERE id = (SELECT "
                                          "chunk FROM columns WHERE run = ?1 "
                                          "AND metric = ?2 ORDER BY place DESC LIMIT 1)");
        tail.bind(1, run.key).bind(2, std::string_view(knownMetrics()[metric::Loss].column));
        while (tail.next()) {
            size_t count = 0, runs = 0;
            if (const auto values = ChunkValues::unpacked(tail.bytes(0), count, runs))
                run.steps = std::max(run.steps, values->stepAt(count - 1));
        }
        if (run.steps > 0) m_runs.push_back(std::move(run));
    }
}

std::shared_ptr<Run> LeftSession::read(const LeftRun& run,
                                       const std::function<bool(double)>& goesOn) const {
    const Database database(m_lock.pathOf(kSessionEnding), Database::Access::ReadOnly);
    return Restoring(database, run.key, goesOn).read();
}

std::vector<LeftSession> leftSessions(const std::string& folder) {
    std::vector<LeftSession> left;
    for (const std::string& name : sessionsIn(folder)) {
        std::optional<SessionLock> lock = SessionLock::ofLeft(folder, name);
        if (!lock) continue;
        try {
            LeftSession session(std::move(*lock), name);
            if (session.runs().empty())
                session.remove();
            else
                left.push_back(std::move(session));
        } catch (const std::exception&) { // of another version, or not a session
        }
    }
    return left;
}

} // namespace halfscope
