// Makes a run of what the file has of it.
#include "engine/runs/left_run_reader.h"

#include "engine/core/error.h"
#include "engine/runs/saved_forks.h"
#include "engine/runs/session_file.h"
#include "engine/runs/session_pictures.h"
#include "engine/runs/stored_column.h"
#include "engine/runs/validation_shown.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <span>
#include <utility>

namespace halfscope {

namespace {

/// Returns the names of the kinds of events by their numbers.
std::map<int64_t, std::string> eventKinds(const Database& database) {
    std::map<int64_t, std::string> names;
    for (int kind = 0; kind < static_cast<int>(EventKind::Other); ++kind)
        names[kind] = nameOf(EventKind(kind));
    if (!database.hasTable("event_kinds")) return names;
    Statement row = database.prepare("SELECT kind, name FROM event_kinds");
    while (row.next())
        names[row.whole(0)] = row.text(1);
    return names;
}

} // namespace

Database LeftFile::open() const { return {lock->pathOf(kSessionEnding), access}; }

LeftRunReader::LeftRunReader(LeftFile file, const Database& database, const LeftRun& run,
                             std::string origin, const RestoreWatch& watch)
    : m_file(std::move(file)), m_database(database), m_key(run.key), m_name(run.name),
      m_origin(std::move(origin)), m_steps(run.steps), m_unread(run.unread), m_watch(watch) {}

std::shared_ptr<Run> LeftRunReader::read() {
    begin();
    if (m_watch.begun) m_watch.begun(m_run);
    for (size_t lane = 0; lane < m_planned.size(); ++lane) {
        if (!addLane(lane)) break; // a fork that had not begun
        if (!readLane(lane)) return nullptr;
    }
    addEvents();
    RunBatch last;
    last.info = infoAtEnd();
    last.savedGradients = gradients();
    // m_lacksMore so far: checkpoint() may set it, too
    last.gradientsUnread = m_lacksMore || m_unread.gradients;
    last.storedPictures = pictures();
    last.checkpoint = checkpoint();
    m_run->append(std::move(last));
    return m_run;
}

void LeftRunReader::begin() {
    Statement row =
        m_database.prepare("SELECT preset, experiment, summary, steps FROM runs WHERE id = ?1");
    row.bind(1, m_key);
    if (!row.next()) throw RunError(phrase("Files", "%1: the run is gone"), m_database.path());
    RunInfo info = infoOf(row);
    const auto first = static_cast<std::ptrdiff_t>(info.recorded.lanes.size());
    std::vector<LaneInfo> lanes(m_planned.begin(), m_planned.begin() + first);
    m_run = std::make_shared<Run>(std::move(info), std::move(lanes), target());
    readEvents();
}

/// Without its target the run is worth reading, too.
std::shared_ptr<const TargetPicture> LeftRunReader::target() {
    try {
        return targetIn(m_database, m_key);
    } catch (const RunError&) {
        m_lacksTarget = true;
        return damagedTarget();
    }
}

/// Reads the summary. That of a copy tells nothing of forks that the run had lost before.
TrainedOn LeftRunReader::trainedOn(const Statement& row) const {
    std::vector<std::string> names;
    for (const LaneInfo& lane : m_planned)
        names.push_back(lane.name);
    std::exception_ptr first;
    for (;; names.pop_back()) {
        try {
            return trainedOnOf(row.text(2), "summary", names, row.whole(3),
                               phrase("Files", "%1, as in the column steps of the table runs"));
        } catch (const InputError&) {
            if (!first) first = std::current_exception();
            if (names.empty() || m_planned[names.size() - 1].parent < 0)
                std::rethrow_exception(first);
        }
    }
}

/// Reads the texts of the run's row, and plans its lanes.
RunInfo LeftRunReader::infoOf(const Statement& row) {
    RunInfo info;
    try {
        info.recorded = parseConfig(row.text(1), "experiment"); // the names of the columns
        info.config = settingsAtEnd(info.recorded);
        m_planned = lanesOf(info.recorded);
        TrainedOn on = trainedOn(row);
        info.device = std::move(on.device);
        info.memory = std::move(on.memory);
        info.program = std::move(on.program);
        info.compiler = std::move(on.compiler);
        // it says so of each run that was not over, which may go on here
        if (on.outcome != RunOutcome::Interrupted) info.outcome = on.outcome;
    } catch (const InputError& error) {
        throw InputError(phrase("Files", "%1: the run “%2” is damaged: %3"), m_database.path(),
                         Message::data(m_name), error.message());
    }
    info.preset = row.text(0);
    info.restored = true;
    info.origin = m_origin;
    info.unread = m_unread;
    if (info.unread.keeper.empty()) info.unread.keeper = m_origin;
    return info;
}

/// Returns the run's info as of its end. The program may have ended before it wrote that the run
/// was over although all its steps are there. How many steps epochs have, only the data tell.
RunInfo LeftRunReader::infoAtEnd() const {
    RunInfo info = m_run->info();
    info.unread.values = info.unread.values || !m_damaged.empty();
    info.unread.target = info.unread.target || m_lacksTarget;
    if (!info.outcome && info.config.epochs == 0 && m_run->step() >= info.config.steps)
        info.outcome = RunOutcome::Finished;
    return info;
}

void LeftRunReader::readEvents() {
    const std::map<int64_t, std::string> names = eventKinds(m_database);
    const auto lanes = static_cast<int64_t>(m_planned.size());
    const auto most = static_cast<int64_t>(findField("run.steps")->maximum) + 2;
    Statement row = m_database.prepare("SELECT kind, step, lane, before, after, tensor, text "
                                       "FROM events WHERE run = ?1 ORDER BY place");
    row.bind(1, m_key);
    while (row.next()) {
        const auto name = names.find(row.whole(0));
        const int64_t step = row.whole(1), lane = row.whole(2);
        const bool known = name != names.end() && isKindName(name->second);
        if (!known || step < 0 || step > most || lane < -1 || lane >= lanes) continue; // damaged
        Event event;
        setKind(event, name->second);
        event.step = step;
        event.lane = static_cast<int32_t>(lane);
        event.scaleBefore = static_cast<float>(row.real(3));
        event.scaleAfter = static_cast<float>(row.real(4));
        event.tensor = row.text(5);
        event.text = Message::data(row.text(6));
        recognizeFork(event, m_planned);
        m_events.push_back(std::move(event));
    }
}

/// Whether the lane is there, after adding a fork whose step has come.
bool LeftRunReader::addLane(size_t lane) {
    if (lane < m_run->lanes().size()) return true;
    const LaneInfo& fork = m_planned[lane];
    if (m_run->now().totals(fork.parent).last().step < fork.forkStep) return false;
    addEvents(); // those of the parent are also the fork's
    RunBatch batch;
    batch.lanes.push_back(fork);
    m_run->append(std::move(batch));
    return true;
}

void LeftRunReader::addEvents() {
    const int lanes = m_run->now().laneCount();
    RunBatch batch;
    while (m_nextEvent < m_events.size() && m_events[m_nextEvent].lane < lanes)
        batch.events.push_back(m_events[m_nextEvent++]);
    m_run->append(std::move(batch));
}

/// Reads a lane, however long it is: only one chunk of each column is in memory at a time.
bool LeftRunReader::readLane(size_t lane) {
    const auto number = static_cast<int64_t>(lane);
    std::vector<StoredColumn> columns;
    for (const Metric& metric : m_run->metrics())
        columns.emplace_back(m_database, m_key, number, metric.column);
    const int64_t first = m_planned[lane].parent < 0 ? 1 : m_planned[lane].forkStep + 1;
    for (StoredColumn& column : columns)
        column.take(first - 1);
    const bool hasLosses =
        !m_unread.values &&
        StoredColumn::isWhole(m_database, m_key, number, m_run->metrics()[metric::Loss].column);
    std::optional<int64_t> step = nextStep(columns, hasLosses);
    // the other lanes may be ahead by a step
    const bool lost = !hasLosses && !m_unread.values && (step || m_steps > first);
    constexpr size_t kRows = 4096;
    while (step) {
        RunBatch batch;
        for (; step && batch.rows.size() < kRows; step = nextStep(columns, hasLosses)) {
            StepRow row(*step, static_cast<int32_t>(lane));
            for (size_t id = 0; id < columns.size(); ++id)
                if (const auto value = columns[id].take(*step))
                    row.set(static_cast<MetricId>(id), *value);
            batch.rows.push_back(std::move(row));
        }
        m_run->append(std::move(batch));
        if (!goesOn(lane)) return false;
    }
    if (lost || std::ranges::any_of(columns, &StoredColumn::isDamaged))
        m_damaged.push_back(m_planned[lane].name);
    return true;
}

/// Returns the step of the next row. Each row has a loss; where losses are damaged, the other
/// columns tell the steps, up to the last one that is known.
std::optional<int64_t> LeftRunReader::nextStep(const std::vector<StoredColumn>& columns,
                                               bool hasLosses) const {
    std::optional<int64_t> step;
    if (const auto& loss = columns[metric::Loss].next(); hasLosses)
        return loss ? std::optional(loss->step) : step;
    for (const StoredColumn& column : columns)
        if (const auto& next = column.next(); next && next->step <= m_steps)
            step = std::min(step.value_or(next->step), next->step);
    return step;
}

bool LeftRunReader::goesOn(size_t lane) const {
    if (!m_watch.goesOn) return true;
    const auto at = static_cast<double>(m_run->now().totals(static_cast<int>(lane)).last().step);
    const double done = std::min(1.0, at / static_cast<double>(std::max<int64_t>(m_steps, 1)));
    return m_watch.goesOn((static_cast<double>(lane) + done) /
                          static_cast<double>(m_planned.size()));
}

/// Without them the run is worth reading, too.
std::vector<std::vector<GradientColumn>> LeftRunReader::gradients() {
    std::vector<std::vector<GradientColumn>> lanes(m_run->lanes().size());
    try {
        Statement row = m_database.prepare("SELECT lane, data FROM gradients WHERE run = ?1");
        row.bind(1, m_key);
        while (row.next()) {
            const auto lane = static_cast<size_t>(row.whole(0));
            const std::span<const std::byte> bytes = row.bytes(1);
            if (lane >= lanes.size()) continue;
            const size_t whole = bytes.size() / sizeof(GradientColumn);
            if (bytes.size() % sizeof(GradientColumn) != 0) m_lacksMore = true; // it was cut off
            lanes[lane].resize(whole);
            if (whole > 0)
                std::memcpy(lanes[lane].data(), bytes.data(), whole * sizeof(GradientColumn));
        }
    } catch (const RunError&) {
        m_lacksMore = true;
    }
    return lanes;
}

/// Returns the pictures, which are read when they are asked for: their weight would be that of
/// the whole run. Whoever asks is told what cannot be read.
std::shared_ptr<const RunPictures> LeftRunReader::pictures() const {
    const size_t lanes = m_run->lanes().size();
    LanePictures about;
    try {
        const auto step = pictureStepIn(m_database, m_key);
        if (!step) return unreadPictures();
        about.step = *step;
        if (m_run->now().has(metric::ValidationLoss))
            for (std::string& caption : captionsIn(m_database, m_key, lanes))
                about.outputs.emplace_back().caption = std::move(caption);
        about.validated = validationShown(m_run->now(), about);
    } catch (const RunError&) {
        if (about.step == 0) about.step = m_run->step();
        about.validated.reset();
    }
    const PictureRows rows{m_key, about.step, lanes, m_run->info().recorded.lanes.size()};
    return std::make_shared<const RunPictures>(
        std::move(about), [file = m_file, rows] { return picturesIn(file.open(), rows); });
}

/// Returns pictures that nobody can read, for whoever asks is told why: an earlier copy of them may
/// lie in a folder, which no save must delete. Null when the run never had any.
std::shared_ptr<const RunPictures> LeftRunReader::unreadPictures() const {
    if (m_unread.pictures.empty()) return nullptr;
    LanePictures about;
    about.step = m_unread.picturesStep;
    return std::make_shared<const RunPictures>(
        std::move(about), [why = m_unread.pictures]() -> PackedPictures { throw RunError(why); });
}

/// Returns the checkpoint; its bytes are read when they are asked for. Without it the run is worth
/// reading, too. Where nobody can tell whether there is one, whoever asks for its bytes is told
/// why: an earlier copy of it may lie in a folder, which no save must delete.
std::shared_ptr<const RunCheckpoint> LeftRunReader::checkpoint() {
    const auto unread = [](int64_t step, const Message& why) {
        return std::make_shared<const RunCheckpoint>(
            step, [why]() -> std::string { throw RunError(why); }, RunCheckpoint::Lies::Unread);
    };
    int64_t step = 0;
    try {
        if (!m_database.hasTable("checkpoints")) return nullptr;
        Statement row = m_database.prepare("SELECT step FROM checkpoints WHERE run = ?1");
        row.bind(1, m_key);
        if (!row.next())
            return m_unread.checkpoint.empty()
                       ? nullptr
                       : unread(m_unread.checkpointStep, m_unread.checkpoint);
        step = row.whole(0);
    } catch (const RunError& error) {
        m_lacksMore = true;
        return unread(m_run->step(), error.message());
    }
    return std::make_shared<const RunCheckpoint>(step, [file = m_file, key = m_key] {
        const Database database = file.open();
        Statement found = database.prepare("SELECT data FROM checkpoints WHERE run = ?1");
        found.bind(1, key);
        if (!found.next()) throw RunError(phrase("Files", "%1: the run is gone"), database.path());
        const std::span<const std::byte> bytes = found.bytes(0);
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
}

} // namespace halfscope
