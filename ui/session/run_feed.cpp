// Puts what arrives in order.
#include "ui/session/run_feed.h"

#include "engine/data/dataset.h"
#include "engine/train/run_info.h"

#include <QCoreApplication>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace halfscope {

/// Whether a run that goes on needs the target of the networks: its file may have lost its own, and
/// an earlier version may have drawn another kind of picture, to which no new one can be compared.
static bool needsTarget(const Run& begun, const SessionInfo& session) {
    const TargetPicture& target = *begun.now().sharedTarget();
    if (target.empty() || target.isDamaged()) return true;
    const TaskConfig& task = session.config.task;
    return viewKindOf(task, *target.picture()) != viewKindOf(task, session.target);
}

std::shared_ptr<Run> runOf(const SessionInfo& session, const std::string& preset) {
    RunInfo info;
    info.config = session.config;
    info.recorded = session.recorded;
    info.preset = preset;
    info.device = session.device;
    info.cudaReason = session.cudaReason;
    info.memory = session.memory;
    info.program = QCoreApplication::applicationVersion().toStdString();
    info.compiler = compilerVersion();
    if (session.begun) {
        const RunInfo& past = session.begun->info();
        info.pastFolder = past.pastFolder;
        info.pastId = past.pastId;
        info.pastStep = past.pastStep;
        RunBatch batch;
        batch.info = std::move(info);
        if (needsTarget(*session.begun, session)) batch.target = session.target;
        session.begun->append(std::move(batch));
        return session.begun;
    }
    std::vector<LaneInfo> lanes = lanesOf(session.recorded);
    lanes.resize(session.laneNames.size()); // the others are forked later
    for (size_t i = 0; i < lanes.size(); ++i)
        lanes[i].name = session.laneNames[i];
    return std::make_shared<Run>(std::move(info), std::move(lanes), session.target);
}

void RunFeed::take(SessionBatch batch, Counts keep) {
    if (batch.change) takeChange(*batch.change);
    const auto lanes = [this] { return static_cast<size_t>(m_run->now().laneCount()); };
    m_keep = keep;
    m_counts.insert(m_counts.end(), std::make_move_iterator(batch.gradients.begin()),
                    std::make_move_iterator(batch.gradients.end()));
    takeCounts(); // before the rows of their steps
    m_events.insert(m_events.end(), std::make_move_iterator(batch.events.begin()),
                    std::make_move_iterator(batch.events.end()));
    takeRows(batch.records);
    takeEvents();
    if (batch.checkpoint) m_checkpoint = std::move(batch.checkpoint);
    takeCheckpoint();
    if (batch.snapshot) m_picture = std::move(batch.snapshot);
    if (!m_picture || m_picture->outputs.size() > lanes()) return;
    RunBatch news;
    news.pictures = std::move(*m_picture);
    m_picture.reset();
    m_run->append(std::move(news));
}

/// The checkpoint waits for the rows up to its step.
void RunFeed::takeCheckpoint() {
    if (!m_checkpoint || m_run->step() < m_checkpoint->step()) return;
    RunBatch news;
    news.checkpoint = std::move(m_checkpoint);
    m_run->append(std::move(news));
}

void RunFeed::takeChange(const SessionChange& change) {
    RunBatch batch;
    batch.info = m_run->info();
    batch.info->recorded = change.recorded;
    batch.info->memory = change.memory;
    m_run->append(std::move(batch));
    const size_t known = static_cast<size_t>(m_run->now().laneCount()) + m_coming.size();
    const std::vector<LaneInfo> all = lanesOf(change.recorded);
    const size_t there = std::min(all.size(), change.now.lanes.size()); // the rest is planned
    for (size_t lane = known; lane < there; ++lane)
        m_coming.push_back(all[lane]);
}

void RunFeed::takeRows(std::span<const StepRecord> records) {
    size_t next = 0;
    const auto rowsUpTo = [&](int64_t step) {
        RunBatch news;
        for (; next < records.size() && records[next].step <= step; ++next)
            news.rows.push_back(rowOf(records[next]));
        if (!news.rows.empty()) m_run->append(std::move(news));
    };
    while (!m_coming.empty()) {
        const LaneInfo& lane = m_coming.front();
        rowsUpTo(lane.forkStep);
        if (m_run->now().totals(lane.parent).last().step < lane.forkStep) return;
        takeEvents(); // the parent's events belong to the fork, too
        RunBatch fork;
        fork.lanes.push_back(lane);
        m_run->append(std::move(fork));
        m_coming.pop_front();
        takeCounts();
    }
    rowsUpTo(std::numeric_limits<int64_t>::max());
}

void RunFeed::takeCounts() {
    const auto waits = std::find_if(m_counts.begin(), m_counts.end(), [this](const auto& ranges) {
        return ranges.size() > static_cast<size_t>(m_run->now().laneCount());
    });
    if (waits == m_counts.begin()) return;
    RunBatch news;
    if (m_keep == Counts::Glance)
        news.glance = std::move(*std::prev(waits));
    else
        news.gradients.assign(std::make_move_iterator(m_counts.begin()),
                              std::make_move_iterator(waits));
    m_counts.erase(m_counts.begin(), waits);
    m_run->append(std::move(news));
}

void RunFeed::takeEvents() {
    const auto waits = std::find_if(m_events.begin(), m_events.end(), [this](const Event& event) {
        return event.lane >= m_run->now().laneCount();
    });
    if (waits == m_events.begin()) return;
    RunBatch news;
    news.events.assign(std::make_move_iterator(m_events.begin()), std::make_move_iterator(waits));
    m_events.erase(m_events.begin(), waits);
    m_run->append(std::move(news));
}

} // namespace halfscope
