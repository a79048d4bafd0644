// The window's side of the training thread: owns it, sends commands, hands out what arrived. One
// controller can build and run any number of experiments, one after the other.
#pragma once

#include "ui/session/training_worker.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <thread>

namespace halfscope {

class ExperimentController : public QObject {
    Q_OBJECT
public:
    explicit ExperimentController(RunFactory factory = makeExperimentRun,
                                  QObject* parent = nullptr);
    /// Stops a running step and joins the thread, unless a dead network holds the thread: then it
    /// is left to itself, with all that it uses (see left_threads.h).
    ~ExperimentController() override;

    SessionState state() const { return m_state; }
    bool running() const { return m_state == SessionState::Running; }
    /// Returns how a run ended, finished or failed; nothing in other states.
    std::optional<RunOutcome> outcome() const;
    /// Experiment::outOfPatience() of a finished run; 0 in other states.
    int64_t outOfPatience() const { return m_outOfPatience; }
    /// Whether it trains, or will train because of a command that has not been answered yet.
    bool willTrain() const { return m_asked.value_or(running()); }
    /// Whether the run is built and has not begun, so that a restart with other settings would lose
    /// nothing: neither steps nor forks and edits that it repeats.
    bool untrained() const;
    /// Whether the run has trained its last step and no command takes it further, as far as is
    /// known: it may also have been built from a checkpoint there.
    bool isOver() const {
        if (m_state == SessionState::Finished) return true;
        const bool built = m_state == SessionState::Building || m_state == SessionState::Ready;
        return built && m_info && m_info->ended && !m_whenBuilt;
    }
    /// Whether a Play waits for the run to be built; a pause cancels it.
    bool playWaits() const { return m_state == SessionState::Building && willTrain(); }
    /// Whether a pause has stopped the run in the middle of a step: its lanes stand at different
    /// places, and there are no gradients to count until the step is complete.
    bool restsMidway() const { return m_info && m_channel->restsMidway(); }
    /// Whether there are networks, also after an error that has left them.
    bool hasNetworks() const {
        return m_info && (m_state != SessionState::Failed || m_hasFailedNetworks);
    }
    /// Whether a run has failed because a setting or a file is wrong.
    bool failedOfInput() const { return m_failedOfInput; }
    /// Returns why the device of a lane cannot show gradients; empty as far as it can.
    const Message& whyNoGradients() const { return m_noGradients; }
    /// Returns what the current run was built as; null until it is built.
    const SessionInfoPtr& info() const { return m_info; }

    /// Discards the current run and builds another one, which continues from what `from` reads.
    /// When that cannot be read, refused() is emitted and the run begins at the start of these
    /// settings. From now on drain() returns only what belongs to the new run.
    void reset(const RunConfig&, BeginningReader from = nullptr);
    /// A call of play(), pause() or stepOnce() while a run is being built waits until it is there:
    /// the last call takes effect, after the edits that receivers of built() send.
    void play();
    void pause();
    void stepOnce();
    /// Pauses between two steps, and keeps the networks with their run, so that a later start can
    /// continue from there. Returns whether that is done; call it again until it is, or let it wait
    /// for `patience`. Networks that are too large are not kept.
    bool rest(std::chrono::milliseconds patience = {});
    /// Changes a live field; lane -1 means a field of the run. The change comes back as an Edit
    /// event.
    void edit(int lane, const std::string& key, const FieldValue&);
    /// Adds a lane that continues from another lane's present state. It comes back in a batch's
    /// change, with an Edit event, or as refused().
    void fork(int parent, const LaneConfig& lane) { m_channel->post(ForkCommand{parent, lane}); }
    /// Writes a checkpoint after the step in progress. Answered by saved() or notSaved().
    void saveCheckpoint(const QString& path, const QString& program) {
        m_channel->post(SaveCommand{path.toStdString(), program.toStdString()});
    }
    /// Writes a file of one lane after the step in progress. Answered by laneSaved() or notSaved().
    /// `samples` is the file whose samples are predicted.
    void saveLane(LaneFile file, int lane, const QString& path, const QString& program,
                  const QString& samples = {}) {
        m_channel->post(SaveCommand{path.toStdString(), program.toStdString(), file, lane,
                                    samples.toStdString()});
    }
    /// Sets whether gradients are counted, in this run and in later ones.
    void watchGradients(bool on) { m_channel->watchGradients(on); }
    /// Sets whether those of each layer are, with their errors.
    void watchLayers(bool on) { m_channel->watchLayers(on); }
    /// Sets whether they are counted now and then while nobody watches them, on a CPU.
    void glanceAtGradients(bool on) { m_channel->glanceAtGradients(on); }

    /// Limits the steps a second, in this run and in later ones; 0 means as fast as possible.
    void setPace(double stepsPerSecond) { m_channel->setPace(stepsPerSecond); }

    /// Returns what has arrived since the last call; nothing before built(), so that a row never
    /// comes before the names of its lanes. Call it every frame: the worker waits while nobody
    /// takes its rows.
    SessionBatch drain() { return m_info ? m_channel->take(m_number) : SessionBatch(); }

signals:
    /// Emitted also when a Play begins or ceases to wait for the run to be built.
    void stateChanged(halfscope::SessionState state);
    void built();
    void failed(const halfscope::Message& reason);
    /// A command contradicts the settings of the run, or the state that the run was to continue
    /// from cannot be used. The run continues, or begins, without it.
    void refused(const halfscope::Message& reason);
    /// A file of the run could not be written, or its networks are too large to be kept with it.
    void notSaved(const halfscope::Message& reason);
    void saved(const QString& path, qint64 step);
    /// `note` is what users should know about the file, see LaneFileBytes.
    void laneSaved(const QString& path, qint64 step, const halfscope::Message& note);
    /// Emitted by the training thread, for this object alone.
    void told(QPrivateSignal);

private:
    /// Takes one notice, if there is one; called once for each told(). One that finds no memory
    /// comes again.
    bool hear();
    void act(const SessionChannel::Told&);
    bool restsNow();
    void train(Command);
    void startThread();
    void enter(SessionState, int64_t outOfPatience = 0);

    std::shared_ptr<SessionChannel> m_channel;
    RunFactory m_factory;
    std::thread m_thread; ///< runs from the first reset on, and owns its worker
    std::future<void> m_ended;
    QTimer m_impatience; ///< interrupts the step when a pause has waited long enough; short steps
                         ///< finish, so that all lanes stand at one step
    std::optional<SessionChannel::Told> m_missed; ///< for lack of memory
    QTimer m_again;                               ///< hears that
    uint32_t m_number = 0;
    SessionState m_state = SessionState::Building;
    int64_t m_outOfPatience = 0;
    bool m_hasFailedNetworks = false; ///< an error has ended the run, but left its networks
    bool m_failedOfInput = false;     ///< see FailedNotice
    Message m_noGradients;
    SessionInfoPtr m_info;
    std::optional<Command> m_whenBuilt; ///< play or step, to be sent once the run is built
    enum class Rest : uint8_t { No, Asked, Kept } m_rest = Rest::No;
    uint64_t m_keep = 0;         ///< the number of the last KeepCommand
    std::optional<bool> m_asked; ///< the unanswered command: true to train, false to pause
};

} // namespace halfscope
