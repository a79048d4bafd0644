// Commands out, rare signals in. Signals of an older run that are still on their way are dropped by
// their run number.
#include "ui/session/experiment_controller.h"

#include <utility>

namespace halfscope {
namespace {
// A pause must answer within 100 ms: this long for the step to finish by itself, the rest for the
// executor to notice the request.
constexpr int kPatienceMs = 40;
} // namespace

ExperimentController::ExperimentController(RunFactory factory, QObject* parent)
    : QObject(parent), m_channel(std::make_shared<SessionChannel>()),
      m_worker(std::make_unique<TrainingWorker>(m_channel, std::move(factory))) {
    m_thread.setObjectName(QStringLiteral("training"));
    auto* worker = m_worker.get();
    worker->moveToThread(&m_thread);
    connect(&m_thread, &QThread::started, worker, [this, worker] {
        worker->run();
        m_thread.quit();
    });
    connect(worker, &TrainingWorker::stateChanged, this, [this](SessionState state, quint32 run) {
        if (run == m_number) enter(state);
    });
    connect(worker, &TrainingWorker::built, this, [this](const SessionInfoPtr& info) {
        if (info->run != m_number) return;
        m_info = info;
        emit built(); // here edits that were made meanwhile are sent: before the training goes on
        if (m_whenBuilt) m_channel->post(*std::exchange(m_whenBuilt, std::nullopt));
    });
    connect(worker, &TrainingWorker::failed, this, [this](const Message& reason, quint32 run) {
        if (run == m_number) emit failed(reason);
    });
    connect(worker, &TrainingWorker::refused, this, &ExperimentController::refused);
    connect(worker, &TrainingWorker::notSaved, this, &ExperimentController::notSaved);
    connect(worker, &TrainingWorker::saved, this, &ExperimentController::saved);
    connect(worker, &TrainingWorker::laneSaved, this, &ExperimentController::laneSaved);
    // Repeats: a request that comes between two runs of the executor is forgotten by the second.
    m_impatience.setInterval(kPatienceMs);
    connect(&m_impatience, &QTimer::timeout, this, [this] { m_channel->interrupt(); });
}

ExperimentController::~ExperimentController() {
    m_channel->quit();
    do
        m_channel->interrupt();
    while (!m_thread.wait(5));
}

void ExperimentController::reset(const RunConfig& config, BeginningReader from) {
    m_whenBuilt.reset();
    m_asked.reset();
    m_channel->post(ResetCommand{config, ++m_number, std::move(from)});
    m_channel->interrupt();
    m_impatience.start();
    m_info.reset();
    m_state = SessionState::Building;
    emit stateChanged(m_state);
    startThread();
}

/// Qt says nothing of a thread that does not start.
void ExperimentController::startThread() {
    if (!m_thread.isRunning()) m_thread.start();
    if (m_thread.isRunning()) return;
    const auto fail = [this, run = m_number] {
        if (run != m_number) return;
        enter(SessionState::Failed);
        emit failed(Message(phrase("Training", "This machine has no thread left for the training. "
                                               "End other programs, then press Play.")));
    };
    QMetaObject::invokeMethod(this, fail, Qt::QueuedConnection); // as failures always come
}

void ExperimentController::enter(SessionState state) {
    if (state != SessionState::Running) m_impatience.stop();
    // the answer to what was asked for, or it ended by itself
    const bool running = state == SessionState::Running;
    const bool stands = state == SessionState::Paused || state == SessionState::Finished ||
                        state == SessionState::Failed;
    if (m_asked && (stands || (running && *m_asked))) m_asked.reset();
    if (state == m_state) return;
    m_state = state;
    emit stateChanged(state);
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

void ExperimentController::stepOnce() { train(StepCommand{}); }

void ExperimentController::train(Command command) {
    if (m_state == SessionState::Building && !m_info) {
        m_whenBuilt = std::move(command);
        return;
    }
    m_impatience.stop();
    m_channel->post(std::move(command));
}

void ExperimentController::edit(int lane, const std::string& key, const FieldValue& value) {
    m_channel->post(EditCommand{lane, key, value});
}

} // namespace halfscope
