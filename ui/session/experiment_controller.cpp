// Sends commands and receives rare notices. Notices of an older run that are still on their way are
// dropped by their run number.
#include "ui/session/experiment_controller.h"

#include "engine/core/held_watch.h"
#include "ui/session/left_threads.h"

#include <pthread.h>

#include <chrono>
#include <new>
#include <system_error>
#include <utility>

namespace halfscope {
namespace {

using namespace std::chrono_literals;

// A pause must answer within 100 ms: for this long the step may finish by itself; the rest is left
// for the executor to notice the request.
constexpr int kPatienceMs = 40;
constexpr int kForMemoryMs = 100; // after which memory is tried for again

} // namespace

ExperimentController::ExperimentController(RunFactory factory, QObject* parent)
    : QObject(parent), m_channel(std::make_shared<SessionChannel>()),
      m_factory(std::move(factory)) {
    connect(this, &ExperimentController::told, this, &ExperimentController::hear,
            Qt::QueuedConnection);
    m_channel->listen([this] { emit told(QPrivateSignal()); });
    m_again.setInterval(kForMemoryMs);
    m_again.setSingleShot(true);
    connect(&m_again, &QTimer::timeout, this, [this] {
        while (hear()) {
        }
    });
    // Repeats: a request that arrives between two runs of the executor is cleared by the second.
    m_impatience.setInterval(kPatienceMs);
    connect(&m_impatience, &QTimer::timeout, this, [this] { m_channel->interrupt(); });
}

ExperimentController::~ExperimentController() {
    m_channel->listen(nullptr);
    if (!m_thread.joinable()) return;
    m_channel->quit();
    HeldWatch watch(m_thread.native_handle());
    const auto ended = [this] { return m_ended.wait_for(5ms) == std::future_status::ready; };
    do
        m_channel->interrupt();
    while (!ended() && !watch.isHeld(m_channel->saves() ? kForFiles : kForReading));
    leaveOrJoin(m_thread, m_ended);
}

bool ExperimentController::hear() {
    std::optional<SessionChannel::Told> told =
        m_missed ? std::exchange(m_missed, std::nullopt) : m_channel->takeNotice();
    if (!told) return false;
    try {
        act(*told);
    } catch (const std::bad_alloc&) { // nothing may be missed, or the window shows another run
        m_missed = std::move(told);
        m_again.start();
        throw;
    }
    return true;
}

void ExperimentController::act(const SessionChannel::Told& told) {
    const bool now = told.run == m_number;
    const auto hearers = Overloaded{
        [&](const StateNotice& notice) {
            if (now) enter(notice.state, notice.outOfPatience);
        },
        [&](const BuiltNotice& notice) {
            if (!now) return;
            m_info = notice.info;
            try {
                emit
                built(); // edits that were made meanwhile are sent here, before the run goes on
            } catch (const std::bad_alloc&) { // it is told again
                m_info.reset();
                throw;
            }
            if (m_whenBuilt) m_channel->post(*std::exchange(m_whenBuilt, std::nullopt));
        },
        [&](const FailedNotice& notice) {
            if (!now) return;
            m_hasFailedNetworks = notice.hasNetworks;
            m_failedOfInput = notice.ofInput;
            emit failed(notice.reason);
        },
        [&](const RefusedNotice& notice) { emit refused(notice.reason); },
        [&](const NotSavedNotice& notice) { emit notSaved(notice.reason); },
        [&](const SavedNotice& notice) {
            const QString path = QString::fromStdString(notice.path);
            if (notice.ofLane)
                emit laneSaved(path, notice.step, notice.note);
            else
                emit saved(path, notice.step);
        },
        [&](const KeptNotice&
                notice) { // an earlier one proves nothing: there may have been steps since
            if (now && m_rest == Rest::Asked && notice.number == m_keep) m_rest = Rest::Kept;
        },
        [&](const NoGradientsNotice& notice) {
            if (now) m_noGradients = notice.reason;
        }};
    std::visit(hearers, told.notice);
}

void ExperimentController::reset(const RunConfig& config, BeginningReader from) {
    m_whenBuilt.reset();
    m_asked.reset();
    m_rest = Rest::No;
    m_channel->post(ResetCommand{config, ++m_number, std::move(from)});
    m_channel->interrupt();
    m_impatience.start();
    m_info.reset();
    m_hasFailedNetworks = m_failedOfInput = false;
    m_noGradients = {};
    m_state = SessionState::Building;
    m_outOfPatience = 0;
    emit stateChanged(m_state);
    startThread();
}

void ExperimentController::startThread() {
    if (m_thread.joinable()) return;
    std::promise<void> ended;
    m_ended = ended.get_future();
    try {
        m_thread = std::thread([worker = std::make_unique<TrainingWorker>(m_channel, m_factory),
                                ended = std::move(ended)]() mutable {
            pthread_setname_np(pthread_self(), "training");
            worker->run();
            worker.reset();
            ended.set_value();
        });
    } catch (const std::system_error&) {
        const auto fail = [this, run = m_number] {
            if (run != m_number) return;
            enter(SessionState::Failed);
            emit failed(
                Message(phrase("Training", "This machine has no thread left for the training. "
                                           "End other programs, then press Play.")));
        };
        // through the queue, as failures always come
        QMetaObject::invokeMethod(this, fail, Qt::QueuedConnection);
    }
}

std::optional<RunOutcome> ExperimentController::outcome() const {
    if (m_state == SessionState::Failed && m_info) return RunOutcome::Stopped; // by an error
    if (m_state != SessionState::Finished) return std::nullopt;
    return m_outOfPatience > 0 ? RunOutcome::OutOfPatience : RunOutcome::Finished;
}

void ExperimentController::enter(SessionState state, int64_t outOfPatience) {
    if (state != SessionState::Running) m_impatience.stop();
    // what was asked for has been answered, or the run ended by itself
    const bool running = state == SessionState::Running;
    const bool stands = state == SessionState::Paused || state == SessionState::Finished ||
                        state == SessionState::Failed;
    if (m_asked && (stands || (running && *m_asked))) m_asked.reset();
    if (state == m_state && outOfPatience == m_outOfPatience) return;
    const SessionState before = std::exchange(m_state, state);
    const int64_t waited = std::exchange(m_outOfPatience, outOfPatience);
    try {
        emit stateChanged(state);
    } catch (const std::bad_alloc&) { // it is told again
        m_state = before;
        m_outOfPatience = waited;
        throw;
    }
}

bool ExperimentController::untrained() const {
    return m_state == SessionState::Ready && m_info && !m_info->goesOnAfter &&
           m_info->recorded.forks.empty() && m_info->recorded.edits.empty();
}

void ExperimentController::play() {
    m_asked = true;
    train(PlayCommand{});
    if (playWaits()) emit stateChanged(m_state);
}

void ExperimentController::pause() {
    m_whenBuilt.reset();
    m_asked = false;
    if (m_state == SessionState::Building && !m_info) { // nothing was posted that could be stopped
        emit stateChanged(m_state);
        return;
    }
    m_channel->post(PauseCommand{});
    m_impatience.start();
}

bool ExperimentController::rest(std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!restsNow()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(1ms);
        while (hear()) {
        }
    }
    return true;
}

bool ExperimentController::restsNow() {
    const bool kept = m_rest == Rest::Kept && !willTrain();
    if (!kept && m_rest != Rest::Asked) {
        pause();
        if (!m_info) return true; // nothing is built
        m_channel->post(KeepCommand{++m_keep});
        m_rest = Rest::Asked;
    }
    if (kept) m_rest = Rest::No;
    return kept;
}

void ExperimentController::stepOnce() { train(StepCommand{}); }

void ExperimentController::train(Command command) {
    if (m_state == SessionState::Building && !m_info) {
        m_whenBuilt = std::move(command);
        return;
    }
    m_impatience.stop();
    m_rest = Rest::No; // what rest() has asked for comes before these steps
    m_channel->post(std::move(command));
}

void ExperimentController::edit(int lane, const std::string& key, const FieldValue& value) {
    m_channel->post(EditCommand{lane, key, value});
}

} // namespace halfscope
