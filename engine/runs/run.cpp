// How batches become columns, and what a snapshot shares with its run.
#include "engine/runs/run.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/settings/fields.h"
#include "engine/settings/lane_titles.h"
#include "engine/settings/precision.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace halfscope {

namespace {

/// Returns a copy of a shared list with more values at its end.
template <class T>
std::shared_ptr<const std::vector<T>> extended(const std::vector<T>& before, std::vector<T> more) {
    auto all = std::make_shared<std::vector<T>>(before);
    all->insert(all->end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
    return all;
}

/// Whether the parent of a fork scaled its loss when the fork began. `all` has the lanes of all
/// forks, as they began, and `firstEdits` the first edit that each lane has lived through.
bool parentScales(RunConfig all, const LaneFork& fork, std::span<const int64_t> firstEdits) {
    const std::vector<LiveEdit> edits = std::exchange(all.edits, {});
    const auto parent = static_cast<size_t>(fork.parent);
    for (auto i = static_cast<size_t>(firstEdits[parent]); i < edits.size(); ++i) {
        const LiveEdit& edit = edits[i];
        if (static_cast<int64_t>(i) >= fork.afterEdits) break;
        if (edit.key == "scaler.mode" && (edit.lane < 0 || edit.lane == fork.parent))
            setField(all, fork.parent, edit.key, edit.value);
    }
    return scalesLoss(all.lanes[parent]);
}

} // namespace

RunInfo::RunInfo() = default;

const char* nameOf(RunOutcome outcome) {
    switch (outcome) {
    case RunOutcome::Finished: return "finished";
    case RunOutcome::Interrupted: return "interrupted";
    case RunOutcome::Stopped: return "stopped";
    case RunOutcome::OutOfPatience: return "out_of_patience";
    }
    return "";
}

std::vector<LaneInfo> lanesOf(const RunConfig& config) {
    RunConfig all = config;
    all.forks.clear();
    for (const LaneFork& fork : config.forks)
        all.lanes.push_back(fork.lane);
    std::vector<int> parents(config.lanes.size(), -1);
    for (const LaneFork& fork : config.forks)
        parents.push_back(fork.parent);
    const std::vector<LaneTitle> titles = laneTitleParts(all, parents);
    const std::vector<std::string> names = laneNames(all);
    std::vector<LaneInfo> lanes;
    for (size_t i = 0; i < names.size(); ++i) {
        std::string title = titleText(titles[i]);
        if (titles[i].parent >= 0)
            title += ", from " + names[static_cast<size_t>(titles[i].parent)];
        lanes.push_back({names[i], std::move(title), -1, 0, all.lanes[i]});
    }
    std::vector<int64_t> firstEdits(config.lanes.size(), 0); // a lane's settings have those before
    for (size_t i = 0; i < config.forks.size(); ++i) {
        const LaneFork& fork = config.forks[i];
        LaneInfo& lane = lanes[config.lanes.size() + i];
        lane.parent = fork.parent;
        lane.forkStep = fork.step - 1;
        lane.scalesAnew = parentScales(all, fork, firstEdits) != scalesLoss(fork.lane);
        firstEdits.push_back(fork.afterEdits);
    }
    return lanes;
}

bool belongsToLane(const Event& event, std::span<const LaneInfo> lanes, size_t lane) {
    if (concernsLane(event, lane)) return true;
    while (lanes[lane].parent >= 0 && event.step <= lanes[lane].forkStep) {
        lane = static_cast<size_t>(lanes[lane].parent);
        if (concernsLane(event, lane)) return true;
    }
    return false;
}

std::vector<int> parentsOf(std::span<const LaneInfo> lanes) {
    std::vector<int> parents;
    for (const LaneInfo& lane : lanes)
        parents.push_back(lane.parent);
    return parents;
}

std::vector<Event> eventsUpTo(const RunSnapshot& run, const RunConfig& recorded, int64_t step) {
    std::multiset<std::pair<std::string, int>> next; // the changes that act on the next step
    for (const LiveEdit& edit : recorded.edits)
        if (edit.step == step + 1) next.emplace(edit.key, edit.lane);
    auto lanes = static_cast<int>(recorded.lanes.size());
    for (const LaneFork& fork : recorded.forks) {
        if (fork.step == step + 1) next.emplace("fork", lanes);
        if (fork.step <= step + 1) ++lanes;
    }
    std::vector<Event> events;
    for (const Event& event : run.events()) {
        if (event.lane >= lanes) continue;
        if (event.step > step) {
            const bool acts = event.kind == EventKind::Edit && event.step == step + 1;
            const auto found = acts ? next.find({event.tensor, event.lane}) : next.end();
            if (found == next.end()) continue;
            next.erase(found);
        }
        events.push_back(event);
    }
    return events;
}

bool RunBatch::empty() const {
    return metrics.empty() && lanes.empty() && rows.empty() && samples.empty() && events.empty() &&
           gradients.empty() && glance.empty() && savedGradients.empty() && !pictures &&
           !storedPictures && !checkpoint && !target && !info;
}

MetricId RunSnapshot::metricNamed(std::string_view column) const {
    const auto found = std::find_if(m_metrics->begin(), m_metrics->end(),
                                    [&](const Metric& each) { return each.column == column; });
    return found == m_metrics->end() ? -1 : static_cast<MetricId>(found - m_metrics->begin());
}

bool RunSnapshot::has(MetricId id) const {
    for (int lane = 0; lane < laneCount(); ++lane)
        if (!column(lane, id).empty()) return true;
    return false;
}

int64_t RunSnapshot::firstStep() const {
    int64_t first = 0;
    for (int lane = 0; lane < laneCount(); ++lane) {
        const int64_t own = column(lane, metric::Loss).firstStep();
        if (own > 0 && (first == 0 || own < first)) first = own;
    }
    return std::max<int64_t>(first, 1);
}

int64_t RunSnapshot::step() const {
    if (m_totals.empty()) return 0;
    int64_t step = std::numeric_limits<int64_t>::max();
    for (const LaneTotals& each : m_totals)
        step = std::min(step, each.last().step);
    return step;
}

int64_t RunSnapshot::lastStep() const {
    int64_t last = 0;
    for (const LaneTotals& each : m_totals)
        last = std::max(last, each.last().step);
    return last;
}

const Column& RunSnapshot::column(int lane, MetricId id) const {
    const size_t metrics = m_metrics->size();
    require(lane >= 0 && lane < laneCount() && id >= 0 && static_cast<size_t>(id) < metrics,
            "no such column");
    return m_columns[static_cast<size_t>(lane) * metrics + static_cast<size_t>(id)];
}

StepRow RunSnapshot::row(int lane, int64_t step) const {
    StepRow row(step, lane);
    for (MetricId id = 0; id < metric::kKnown; ++id)
        if (const std::optional<double> value = column(lane, id).at(step)) row.set(id, *value);
    return row;
}

std::vector<StepRow> RunSnapshot::rows(int lane, int64_t from, int64_t to) const {
    std::vector<StepRow> rows(static_cast<size_t>(to - from + 1));
    for (MetricId id = 0; id < metric::kKnown; ++id)
        column(lane, id).values(from, to, [&](int64_t step, double value) {
            StepRow& row = rows[static_cast<size_t>(step - from)];
            if (row.step == 0) row = StepRow(step, lane);
            row.set(id, value);
        });
    std::erase_if(rows, [](const StepRow& row) { return row.step == 0; });
    return rows;
}

double RunSnapshot::trailingMedian(int lane, MetricId id, size_t values) const {
    return halfscope::trailingMedian(column(lane, id), std::numeric_limits<int64_t>::max(), values);
}

double RunSnapshot::medianDeviceSeconds(int lane) const {
    const Column& seconds = column(lane, metric::DeviceSeconds);
    const int64_t last = seconds.lastStep();
    const LaneInfo& info = (*m_lanes)[static_cast<size_t>(lane)];
    const int64_t own = info.parent < 0 ? 1 : info.forkStep + 1;
    std::vector<float> latest;
    seconds.values(std::max(last - RecentTimes::kMost + 1, own), last,
                   [&](int64_t, double value) { latest.push_back(static_cast<float>(value)); });
    return medianOf(std::move(latest));
}

size_t RunSnapshot::columnBytes() const {
    size_t bytes = 0;
    for (const Column& each : m_columns)
        bytes += each.bytes();
    return bytes;
}

size_t RunSnapshot::bytes() const {
    constexpr size_t kEventTexts = 200; // of most events
    size_t sum = columnBytes() + m_events.size() * (sizeof(Event) + kEventTexts);
    for (const auto& each : m_gradients)
        sum += each->bytes();
    for (const GradientRange& each : *m_newestGradients)
        sum += sizeof each + each.layers.size() * sizeof(LayerGradients);
    return sum + m_pictures->bytes();
}

Run::Run(RunInfo info, std::vector<LaneInfo> lanes, Picture target, std::vector<Metric> metrics)
    : Run(std::move(info), std::move(lanes), halfscope::sharedTarget(std::move(target)),
          std::move(metrics)) {}

Run::Run(RunInfo info, std::vector<LaneInfo> lanes, std::shared_ptr<const TargetPicture> target,
         std::vector<Metric> metrics) {
    const std::span<const Metric> known = knownMetrics();
    m_now.m_info = std::make_shared<const RunInfo>(std::move(info));
    m_now.m_metrics = extended(std::vector<Metric>(known.begin(), known.end()), std::move(metrics));
    m_now.m_lanes = std::make_shared<const std::vector<LaneInfo>>();
    m_now.m_target = std::move(target);
    m_now.m_pictures = std::make_shared<const RunPictures>();
    m_now.m_lastGradients = std::make_shared<const std::vector<GradientRange>>();
    m_now.m_newestGradients = m_now.m_lastGradients;
    for (LaneInfo& lane : lanes)
        addLane(std::move(lane));
}

/// Gives the run its next version, also when there is no memory for all of a batch.
struct Run::Moves {
    Run& run;
    ~Moves() {
        ++run.m_now.m_version;
        run.m_version.store(run.m_now.m_version, std::memory_order_release);
    }
};

void Run::append(RunBatch batch) {
    const std::lock_guard lock(m_mutex);
    const Moves moves{*this};
    if (!batch.metrics.empty()) addMetrics(std::move(batch.metrics));
    for (LaneInfo& lane : batch.lanes)
        addLane(std::move(lane));
    for (const auto& ranges : batch.gradients) // they come before the row of their step
        add(ranges);
    if (!batch.glance.empty())
        m_now.m_newestGradients =
            std::make_shared<const std::vector<GradientRange>>(std::move(batch.glance));
    for (const StepRow& row : batch.rows)
        add(row);
    for (const Sample& sample : batch.samples)
        add(sample);
    for (Event& event : batch.events)
        add(std::move(event));
    for (size_t lane = 0; batch.gradientsEnd && lane < m_histories.size(); ++lane)
        historyOf(static_cast<int32_t>(lane)).interrupt();
    for (size_t lane = 0; lane < batch.savedGradients.size(); ++lane)
        for (const GradientColumn& column : batch.savedGradients[lane])
            historyOf(static_cast<int32_t>(lane)).addSaved(column);
    m_now.m_gradientsUnread = m_now.m_gradientsUnread || batch.gradientsUnread;
    if (batch.pictures)
        m_now.m_pictures = std::make_shared<const RunPictures>(std::move(*batch.pictures));
    if (batch.storedPictures) m_now.m_pictures = std::move(batch.storedPictures);
    if (batch.checkpoint) m_now.m_checkpoint = std::move(batch.checkpoint);
    if (batch.target) m_now.m_target = halfscope::sharedTarget(std::move(*batch.target));
    if (batch.info) m_now.m_info = std::make_shared<const RunInfo>(std::move(*batch.info));
}

bool Run::mergeSpans() {
    const std::lock_guard lock(m_mutex);
    bool merged = false;
    size_t at = 0;
    for (std::vector<ColumnWriter>& lane : m_writers)
        for (ColumnWriter& writer : lane) {
            if (writer.mergeSpans()) {
                m_now.m_columns[at] = writer.column();
                merged = true;
            }
            ++at;
        }
    if (merged) const Moves moves{*this};
    return merged;
}

RunSnapshot Run::snapshot() const {
    const std::lock_guard lock(m_mutex);
    return m_now;
}

void Run::addMetrics(std::vector<Metric> metrics) {
    const size_t before = m_now.m_metrics->size();
    auto all = extended(*m_now.m_metrics, std::move(metrics));
    const size_t after = all->size();
    std::vector<Column> columns(m_writers.size() * after);
    for (std::vector<ColumnWriter>& lane : m_writers)
        lane.reserve(after);
    // from here on nothing allocates: all metrics are added, or none
    m_now.m_metrics = std::move(all);
    for (size_t lane = 0; lane < m_writers.size(); ++lane) {
        m_writers[lane].resize(after);
        for (size_t id = 0; id < before; ++id)
            columns[lane * after + id] = std::move(m_now.m_columns[lane * before + id]);
    }
    m_now.m_columns = std::move(columns);
}

void Run::addLane(LaneInfo lane) {
    const RunSnapshot before = m_now; // a copy, because m_now changes below
    const LanePast past{before, lane.parent, lane.forkStep};
    addLane(std::move(lane), past);
}

void Run::addLane(LaneInfo lane, const LanePast& past) {
    const size_t metrics = m_now.m_metrics->size();
    require(lane.parent < m_now.laneCount(), "a lane's parent is a lane before it");
    std::vector<ColumnWriter> writers(metrics);
    const bool saved = !m_now.info().folder.empty() || m_now.info().restored;
    auto history = std::make_shared<GradientHistory>(saved ? GradientHistory::ofSavedRun()
                                                           : GradientHistory());
    LaneTotals totals(m_now.info().recorded.gradients.accumulate);
    if (past.lane >= 0) {
        for (MetricId id = 0; static_cast<size_t>(id) < metrics; ++id)
            writers[static_cast<size_t>(id)].share(past.of.column(past.lane, id), past.upTo);
        *history = past.of.gradients(past.lane).upTo(past.upTo);
        if (!saved) history->goOn(); // also from a saved run
        totals = totalsOf(past);
        if (past.lane == lane.parent) totals.fork(past.upTo, lane.scalesAnew);
    }
    auto lanes = extended(*m_now.m_lanes, {std::move(lane)});
    const size_t count = lanes->size();
    m_writers.reserve(count);
    m_now.m_columns.reserve(count * metrics);
    m_now.m_totals.reserve(count);
    m_now.m_gradients.reserve(count);
    m_histories.reserve(count);
    // from here on nothing allocates: all of the lane is added, or nothing
    for (const ColumnWriter& writer : writers)
        m_now.m_columns.push_back(writer.column());
    m_writers.push_back(std::move(writers));
    m_now.m_totals.push_back(totals);
    m_now.m_gradients.push_back(history);
    m_histories.push_back(std::move(history));
    m_now.m_lanes = std::move(lanes);
}

/// Returns the totals with which the next lane begins.
LaneTotals Run::totalsOf(const LanePast& past) const {
    const int own = m_now.laneCount();
    const LaneTotals& all = past.of.totals(past.lane);
    bool whole = all.last().step <= past.upTo; // then no row has to be read again
    const auto isItsOwn = [&past](const Event& event) {
        return belongsToLane(event, past.of.lanes(), static_cast<size_t>(past.lane));
    };
    for (const Event& event : past.of.events())
        whole = whole && (event.step <= past.upTo || !isItsOwn(event));
    if (whole) return all.ofLane(own);
    LaneTotals totals(m_now.info().recorded.gradients.accumulate);
    const std::span<const LaneInfo> lanes = past.of.lanes();
    std::vector<const LaneInfo*> forks; // that led to the lane, the last one first
    for (int lane = past.lane; lanes[static_cast<size_t>(lane)].parent >= 0;
         lane = forks.back()->parent)
        forks.push_back(&lanes[static_cast<size_t>(lane)]);
    const auto forkBefore = [&](int64_t step) {
        for (; !forks.empty() && forks.back()->forkStep < step; forks.pop_back())
            totals.fork(forks.back()->forkStep, forks.back()->scalesAnew);
    };
    constexpr int64_t kBlock = 1024;
    const int64_t last = std::min(past.upTo, past.of.column(past.lane, metric::Loss).lastStep());
    for (int64_t from = 1; from <= last; from += kBlock) {
        checkCancelled();
        for (StepRow& row : past.of.rows(past.lane, from, std::min(last, from + kBlock - 1))) {
            row.lane = own;
            forkBefore(row.step);
            if (row.measured(metric::Loss)) totals.add(row);
        }
    }
    forkBefore(past.upTo + 1);
    for (const Event& event : past.of.events())
        if (isItsOwn(event) && event.step <= past.upTo) totals.add(event);
    return totals;
}

std::shared_ptr<Run> Run::goingOn(const RunConfig& recorded, const RunSnapshot& before,
                                  int64_t step) {
    RunInfo info;
    info.config = info.recorded = recorded;
    const RunInfo& past = before.info();
    info.unread.values = past.unread.values;
    info.unread.target = past.unread.target;
    const bool saved = !past.folder.empty();
    info.pastFolder = saved ? past.folder : past.pastFolder;
    info.pastId = saved ? past.id : past.pastId;
    info.pastStep = saved ? step : std::min(step, past.pastStep);
    const auto others = before.metrics().subspan(metric::kKnown);
    auto run = std::make_shared<Run>(std::move(info), std::vector<LaneInfo>(), before.m_target,
                                     std::vector<Metric>(others.begin(), others.end()));
    for (const LaneInfo& lane : lanesOf(recorded)) {
        const int index = run->now().laneCount();
        if (lane.forkStep > step || index == before.laneCount()) break; // it is still to come
        run->addLane(lane, {before, index, step});
    }
    run->m_now.m_gradientsUnread = before.m_gradientsUnread;
    const Moves moves{*run};
    std::vector<Event> events = eventsUpTo(before, recorded, step);
    for (Event& event : events) // the totals know those up to the step
        event.step > step ? run->add(std::move(event)) : run->enlist(std::move(event));
    return run;
}

ColumnWriter& Run::writerOf(int32_t lane, MetricId id) {
    const size_t metrics = m_now.m_metrics->size();
    require(lane >= 0 && lane < m_now.laneCount() && id >= 0 && static_cast<size_t>(id) < metrics,
            "a value of a lane or metric that the run does not have");
    return m_writers[static_cast<size_t>(lane)][static_cast<size_t>(id)];
}

void Run::put(int32_t lane, MetricId id, int64_t step, double value) {
    ColumnWriter& writer = writerOf(lane, id);
    writer.append(step, value);
    const size_t metrics = m_now.m_metrics->size();
    m_now.m_columns[static_cast<size_t>(lane) * metrics + static_cast<size_t>(id)] =
        writer.column();
}

void Run::add(const StepRow& row) {
    require(row.lane >= 0 && row.lane < m_now.laneCount(), "a row of a lane that the run lacks");
    // all values of the row are added, or none: the columns of a lane have the same steps
    for (MetricId id = 0; id < metric::kKnown; ++id)
        if (row.measured(id)) writerOf(row.lane, id).makeRoom(row.step, row[id]);
    historyOf(row.lane).stepDone(row); // allocates, too
    for (MetricId id = 0; id < metric::kKnown; ++id)
        if (row.measured(id)) put(row.lane, id, row.step, row[id]);
    m_now.m_totals[static_cast<size_t>(row.lane)].add(row);
}

void Run::add(const Sample& sample) {
    put(sample.lane, sample.metric, sample.step, sample.value);
    LaneTotals& totals = m_now.m_totals[static_cast<size_t>(sample.lane)];
    totals.add(sample.step, sample.metric, sample.value);
}

/// Adds an event, but not to the totals.
void Run::enlist(Event event) {
    require(event.lane < m_now.laneCount(), "an event of a lane that the run does not have");
    m_events.append(std::move(event));
    m_now.m_events = m_events.view();
    m_now.m_lost.add(m_now.m_events.back());
}

void Run::add(Event event) {
    enlist(std::move(event));
    const Event& added = m_now.m_events.back();
    for (size_t lane = 0; lane < m_now.m_totals.size(); ++lane)
        if (belongsToLane(added, *m_now.m_lanes, lane)) m_now.m_totals[lane].add(added);
}

void Run::add(const std::vector<GradientRange>& ranges) {
    require(ranges.size() <= m_now.m_gradients.size(), "gradients of more lanes than the run has");
    for (size_t i = 0; i < ranges.size(); ++i)
        historyOf(static_cast<int32_t>(i)).add(ranges[i]);
    m_now.m_lastGradients = std::make_shared<const std::vector<GradientRange>>(ranges);
    m_now.m_newestGradients = m_now.m_lastGradients;
}

/// Returns the history for changes; it becomes a copy of its own when a snapshot shows it, too.
GradientHistory& Run::historyOf(int32_t lane) {
    auto& own = m_histories[static_cast<size_t>(lane)];
    auto& shown = m_now.m_gradients[static_cast<size_t>(lane)];
    constexpr long kBoth = 2; // m_histories and m_now
    if (own.use_count() > kBoth) {
        own = std::make_shared<GradientHistory>(*own);
        shown = own;
    }
    // The last reader of a snapshot released the count that was read above: this orders its reads
    // before the writes that follow.
#if defined(__SANITIZE_THREAD__)
    const auto counted = own; // ThreadSanitizer understands no fences, but this count
#else
    std::atomic_thread_fence(std::memory_order_acquire);
#endif
    return *own;
}

} // namespace halfscope
