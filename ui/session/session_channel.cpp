// Hand-over between the two threads. Rows go through the lock-free ring; everything else is rare
// and goes through a mutex.
#include "ui/session/session_channel.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace halfscope {
namespace {

bool endsRun(const Command& command) { return std::holds_alternative<ResetCommand>(command); }

} // namespace

void SessionChannel::post(Command command) {
    {
        const std::lock_guard lock(m_mutex);
        // commands that were meant for the old run are void; of its files the user must be told
        if (std::holds_alternative<ResetCommand>(command))
            std::erase_if(m_commands, [](const Command& waiting) {
                return !std::holds_alternative<SaveCommand>(waiting);
            });
        if (endsRun(command)) m_stopRun.request_stop();
        m_commands.push_back(std::move(command));
    }
    m_wake.notify_one();
}

void SessionChannel::quit() {
    {
        const std::lock_guard lock(m_mutex);
        m_quits = true;
        m_stopRun.request_stop();
    }
    m_wake.notify_one();
}

void SessionChannel::interrupt() {
    const std::lock_guard lock(m_mutex);
    if (m_target) m_target->requestStop();
}

void SessionChannel::watchGradients(bool on) {
    if (m_watchGradients.exchange(on) != on && on) post(LookCommand{});
}

void SessionChannel::watchLayers(bool on) {
    if (m_watchLayers.exchange(on) != on) post(LookCommand{}); // also to free what errors need
}

SessionBatch SessionChannel::take(uint32_t run) {
    SessionBatch batch;
    m_rows.drain(m_incoming);
    for (const Row& row : m_incoming) // when memory runs out, the rows stay in m_incoming
        if (row.run == run) batch.records.push_back(row.record);
    m_incoming.clear();
    const std::lock_guard lock(m_mutex);
    if (m_eventsRun == run) batch.events = std::move(m_events);
    m_events.clear();
    if (m_changeRun == run) batch.change = std::move(m_change);
    m_change.reset();
    if (m_snapshotRun == run) batch.snapshot = std::move(m_snapshot);
    m_snapshot.reset();
    if (m_gradientsRun == run) batch.gradients = std::move(m_gradients);
    m_gradients.clear();
    if (m_checkpointRun == run) batch.checkpoint = std::move(m_checkpoint);
    m_checkpoint.reset();
    return batch;
}

std::vector<Command> SessionChannel::waitForCommands(std::chrono::milliseconds patience) {
    std::unique_lock lock(m_mutex);
    const auto comes = [this] { return m_quits || !m_commands.empty(); };
    if (patience.count() > 0) m_wake.wait_for(lock, patience, comes);
    if (!comes() && m_target) m_target->clearStop();
    return std::exchange(m_commands, {});
}

std::stop_token SessionChannel::newRun() {
    const std::lock_guard lock(m_mutex);
    m_stopRun = {};
    if (m_quits || std::any_of(m_commands.begin(), m_commands.end(), endsRun))
        m_stopRun.request_stop();
    return m_stopRun.get_token();
}

void SessionChannel::setTarget(TrainingRun* target) {
    const std::lock_guard lock(m_mutex);
    m_target = target;
}

bool SessionChannel::publish(uint32_t run, std::vector<StepRecord>& records,
                             std::vector<Event>& events) {
    if (!events.empty()) {
        const std::lock_guard lock(m_mutex);
        if (m_eventsRun != run) m_events.clear();
        m_eventsRun = run;
        m_events.insert(m_events.end(), std::make_move_iterator(events.begin()),
                        std::make_move_iterator(events.end()));
        events.clear();
    }
    if (records.empty()) return true;
    m_outgoing.clear();
    for (const StepRecord& record : records)
        m_outgoing.push_back({record, run});
    const size_t taken = m_rows.push(m_outgoing);
    records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(taken));
    return records.empty();
}

void SessionChannel::publish(uint32_t run, SessionChange change) {
    const std::lock_guard lock(m_mutex);
    m_change = std::move(change);
    m_changeRun = run;
}

void SessionChannel::publish(uint32_t run, Snapshot snapshot) {
    const std::lock_guard lock(m_mutex);
    m_snapshot = std::move(snapshot);
    m_snapshotRun = run;
}

void SessionChannel::publish(uint32_t run, std::vector<GradientRange> gradients) {
    const std::lock_guard lock(m_mutex);
    if (m_gradientsRun != run) m_gradients.clear();
    m_gradientsRun = run;
    if (m_gradients.size() == kMostCounts) m_gradients.pop_back(); // the newest is always told
    if (!m_gradients.empty())
        for (GradientRange& before : m_gradients.back())
            before.layers = {};
    m_gradients.push_back(std::move(gradients));
}

void SessionChannel::publish(uint32_t run, std::shared_ptr<const RunCheckpoint> checkpoint) {
    const std::lock_guard lock(m_mutex);
    m_checkpoint = std::move(checkpoint);
    m_checkpointRun = run;
}

void SessionChannel::listen(std::function<void()> told) {
    const std::lock_guard lock(m_mutex);
    m_told = std::move(told);
}

void SessionChannel::tell(uint32_t run, Notice notice) {
    const std::lock_guard lock(m_mutex);
    if (!m_told) return;
    m_notices.push_back({std::move(notice), run});
    try {
        m_told();
    } catch (...) {
        m_notices.pop_back();
        throw;
    }
}

std::optional<SessionChannel::Told> SessionChannel::takeNotice() {
    const std::lock_guard lock(m_mutex);
    if (m_notices.empty()) return std::nullopt;
    Told first = std::move(m_notices.front());
    m_notices.pop_front();
    return first;
}

bool SessionChannel::hasRoomForGradients() const {
    const std::lock_guard lock(m_mutex);
    return m_gradients.size() < kMostCounts;
}

bool SessionChannel::commandWaits() const {
    const std::lock_guard lock(m_mutex);
    return m_quits || !m_commands.empty();
}

bool SessionChannel::pictureWanted() const {
    const std::lock_guard lock(m_mutex);
    return !m_snapshot;
}

} // namespace halfscope
