// The object that lives on the training thread: builds a run, advances it, obeys commands between
// steps. It reports through the channel alone.
#pragma once

#include "engine/train/gradient_pace.h"
#include "ui/session/checkpoint_pace.h"
#include "ui/session/session_channel.h"
#include "ui/session/step_pace.h"

#include <deque>
#include <exception>

namespace halfscope {

class TrainingWorker {
public:
    TrainingWorker(std::shared_ptr<SessionChannel>, RunFactory);
    ~TrainingWorker();
    TrainingWorker(const TrainingWorker&) = delete;
    TrainingWorker& operator=(const TrainingWorker&) = delete;

    /// The whole life of the thread; returns when the channel is told to quit.
    void run();

private:
    /// Obeys the commands that have come, then trains a step.
    void turn();
    /// Returns how long the thread may wait for commands before it trains.
    std::chrono::milliseconds patience(bool delivered) const;
    /// Returns the seconds until the next step may begin.
    double wait() const;
    /// Whether there is a run that can go on, unlike one that an error has ended.
    bool canTrain() const { return m_run && m_state != SessionState::Failed; }
    bool busy() const {
        // the step is finished first
        const bool asked = m_midway && (m_fork || !m_saves.empty() || m_keeps);
        return m_run && (m_state == SessionState::Running || m_stepsAsked > 0 || asked);
    }
    void obey(Command&);
    void askForStep();
    void build(const ResetCommand&);
    /// Reads what the run continues from; returns nothing when that cannot be read.
    Beginning read(const ResetCommand&, const std::stop_token&);
    void edit(const EditCommand&);
    /// Carries out the requested fork, between two steps.
    void fork();
    /// Writes the file that was requested first, between two steps.
    void save();
    void saveBeforeItIsGone();
    void saveLane(const SaveCommand&);
    /// Keeps the networks, as a KeepCommand asks, between two steps.
    void keep();
    /// Reports forks and edits that the window does not know of.
    void publishChange();
    void checkFinished();
    void pause();
    void endErrors();
    bool gradientsDue();
    /// Whether cards show counts of this run: on a GPU they would take memory beside the training,
    /// and time to build kernels for them.
    bool glances() const;
    /// Shows gradients while nothing trains, unless they were counted since they last changed.
    void look();
    void destroyRun();
    void advance();
    void showPicture();
    /// Publishes a checkpoint, so that it is kept with the run.
    void keepState();
    ExperimentState stateOfRun();
    void keepLast();
    void tellTooLarge(size_t bytes);
    void keepChange();
    /// Returns false when counting was stopped midway. Where a sample of the next step cannot be
    /// read, nothing is shown; where the device cannot show gradients, the reason is told.
    bool showGradients();
    /// Ends the run because of the exception that is being handled.
    void fail();
    /// Ends it as well, but where neither device nor memory failed and its last step is whole, that
    /// is kept, and its networks stay, so that they can be saved.
    void failBetweenSteps();
    /// Reports why the run failed; when there is no memory for the signal, a later call does.
    void tellFailure();
    void setState(SessionState);
    void tell(Notice notice) { m_channel->tell(m_number, std::move(notice)); }

    std::shared_ptr<SessionChannel> m_channel;
    RunFactory m_factory;
    std::unique_ptr<TrainingRun> m_run;
    uint32_t m_number = 0;
    SessionState m_state = SessionState::Building;
    int64_t m_outOfPatience = 0;       ///< as it was told with the state
    int m_stepsAsked = 0;              ///< single steps that are still to be trained
    bool m_midway = false;             ///< the last step was interrupted
    std::exception_ptr m_failure;      ///< not yet reported to the window
    std::optional<ForkCommand> m_fork; ///< waits for the end of a step
    std::deque<SaveCommand> m_saves;   ///< wait for the end of a step
    std::optional<uint64_t> m_keeps{}; ///< the KeepCommand that waits for the end of a step
    size_t m_changes = 0;              ///< how many the window was told of
    std::vector<StepRecord> m_records; ///< not yet in the channel
    std::vector<Event> m_events;
    std::chrono::steady_clock::time_point m_nextPicture{};
    double m_pictureSeconds = 0;     ///< what the last picture took
    int64_t m_keptStep = -1;         ///< of the last checkpoint
    int64_t m_resumedStep = -1;      ///< of the one that the run goes on from
    bool m_keepsBest = false;        ///< see ExperimentState
    int64_t m_countGradients = 0;    ///< likewise
    int64_t m_checkpointEvery = 0;   ///< likewise
    size_t m_toldBytes = 0;          ///< size of the networks last told to be too large to keep
    CheckpointPace m_checkpoints{0}; ///< for this run, as is m_counts
    GradientPace m_counts;
    bool m_hasErrors = false; ///< the run may hold what the errors of layers need
    bool m_counted = false;   ///< the gradients of the next step have been counted as they are
    bool m_looks = false;     ///< look() gave way to a command, and is called again
    Message m_noGradients;    ///< why this run's cannot be counted, as it was told
    double m_stepSeconds = 0; ///< what the last step took
    StepPace m_steps;
    Message m_outOfMemory;             ///< the sentence, made while there is memory
    std::unique_ptr<char[]> m_reserve; ///< given back before an error is reported
};

} // namespace halfscope
