// The window's side of the training thread: owns it, sends commands, hands out what arrived. One
// object of this class can build and run any number of experiments, one after the other.
#pragma once

#include "ui/session/training_worker.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <future>
#include <optional>
#include <thread>

namespace halfscope {

class ExperimentController : public QObject {
    Q_OBJECT
public:
    explicit ExperimentController(RunFactory factory = makeExperimentRun,
                                  QObject* parent = nullptr);
    /// Stops a running step and joins the thread, unless a dead network holds that: then it is left
    /// to itself, with all that it uses, see left_threads.h.
    ~ExperimentController() override;

    SessionState state() const { return m_state; }
    bool running() const { return m_state == SessionState::Running; }
    /// Whether it trains, or will train because of a command that it has not answered yet.
    bool willTrain() const { return m_asked.value_or(running()); }
    /// Whether a Play waits for the run to be built; a pause takes it back.
    bool playWaits() const { return m_state == SessionState::Building && willTrain(); }
    /// Whether a pause has stopped the run in the middle of a step: its lanes stand at different
    /// places, and there are no gradients to count until the step is complete.
    bool restsMidway() const { return m_info && m_channel->restsMidway(); }
    /// What the current run was built as; null until it is built.
    const SessionInfoPtr& info() const { return m_info; }

    /// Throws away the current run and builds another one, which goes on from what `from` reads;
    /// where that fails, refused() comes, and the run begins at the start of these settings. What
    /// drain() gives from now on is of the new one.
    void reset(const RunConfig&, BeginningReader from = nullptr);
    /// While a run is built, the last of these acts once it is there, after the edits that its
    /// receiver of built() sends.
    void play();
    void pause();
    void stepOnce();
    /// A live field; lane -1 for a field of the run. Comes back as an Edit event.
    void edit(int lane, const std::string& key, const FieldValue&);
    /// A lane that goes on from another one's present state. Comes back in a batch's change, with
    /// an Edit event, or as refused().
    void fork(int parent, const LaneConfig& lane) { m_channel->post(ForkCommand{parent, lane}); }
    /// Writes a checkpoint after the step that is at work. Comes back as saved() or notSaved().
    void saveCheckpoint(const QString& path, const QString& program) {
        m_channel->post(SaveCommand{path.toStdString(), program.toStdString()});
    }
    /// Likewise a file of one lane.
    void saveLane(LaneFile file, int lane, const QString& path, const QString& program) {
        m_channel->post(SaveCommand{path.toStdString(), program.toStdString(), file, lane});
    }
    /// Whether gradients are counted, now and in the runs to come.
    void watchGradients(bool on) { m_channel->watchGradients(on); }

    /// Steps a second at most, now and in the runs to come; 0: as fast as possible.
    void setPace(double stepsPerSecond) { m_channel->setPace(stepsPerSecond); }

    /// What arrived since the last call; nothing before built(), so that a row never comes before
    /// the names of its lanes. Call it every frame: the worker waits when nobody takes its rows.
    SessionBatch drain() { return m_info ? m_channel->take(m_number) : SessionBatch(); }

signals:
    /// Also when a Play begins or ends to wait for the run to be built.
    void stateChanged(halfscope::SessionState state);
    void built();
    void failed(const halfscope::Message& reason);
    /// What was asked of the run goes against its settings, or it cannot go on from where it was
    /// to: the run goes on, or begins, without it.
    void refused(const halfscope::Message& reason);
    /// A file of the run cannot be written.
    void notSaved(const halfscope::Message& reason);
    void saved(const QString& path, qint64 step);
    void laneSaved(const QString& path, qint64 step);
    /// For this object alone, from the training thread.
    void told(QPrivateSignal);

private:
    void hear();
    void train(Command);
    void startThread();
    void enter(SessionState);

    std::shared_ptr<SessionChannel> m_channel;
    RunFactory m_factory;
    std::thread m_thread; ///< runs from the first reset on, and owns its worker
    std::future<void> m_ended;
    QTimer m_impatience; ///< a pause lets a short step finish, so that all lanes stand at one step
    uint32_t m_number = 0;
    SessionState m_state = SessionState::Building;
    SessionInfoPtr m_info;
    std::optional<Command> m_whenBuilt; ///< to play or to step
    std::optional<bool> m_asked;        ///< to train or to pause
};

} // namespace halfscope
