// The object that lives on the training thread: builds a run, advances it, obeys commands between
// steps. All that it has to tell goes by the channel.
#pragma once

#include "ui/session/checkpoint_pace.h"
#include "ui/session/gradient_pace.h"
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

    /// The whole life of the thread; returns when the channel quits.
    void run();

private:
    /// Obeys what has come, then trains a step.
    void turn();
    /// How long the thread may wait for commands before it trains.
    std::chrono::milliseconds patience(bool delivered) const;
    /// Seconds until the next step may begin.
    double wait() const;
    bool busy() const {
        const bool asked = m_midway && (m_fork || !m_saves.empty()); // the step is finished first
        return m_run && (m_state == SessionState::Running || m_stepOnce || asked);
    }
    void obey(Command&);
    void build(const ResetCommand&);
    /// What the run goes on from; nothing where that cannot be read.
    Beginning read(const ResetCommand&, const std::stop_token&);
    void edit(const EditCommand&);
    /// Carries out the fork that was asked for, between two steps.
    void fork();
    /// Likewise, the file that was asked for first.
    void save();
    void saveLane(const SaveCommand&);
    /// Tells the window of forks and edits that it does not know of.
    void publishChange();
    void checkFinished();
    void pause();
    /// Shows gradients while nothing trains, because a setting or the step has changed.
    void look();
    void destroyRun();
    void advance();
    void showPicture();
    /// Hands out a checkpoint, for the run to be kept with.
    void keepState();
    void tellTooLarge(size_t bytes);
    void keepChange();
    /// False where there are none, or it was stopped midway.
    bool showGradients();
    /// Ends the run, of the exception that is being handled.
    void fail();
    /// Tells the window why the run failed, unless memory is short of the signal.
    void tellFailure();
    void setState(SessionState);
    void tell(Notice notice) { m_channel->tell(m_number, std::move(notice)); }

    std::shared_ptr<SessionChannel> m_channel;
    RunFactory m_factory;
    std::unique_ptr<TrainingRun> m_run;
    uint32_t m_number = 0;
    SessionState m_state = SessionState::Building;
    bool m_stepOnce = false;
    bool m_midway = false;             ///< the last step was interrupted
    std::exception_ptr m_failure;      ///< that the window was not told of yet
    std::optional<ForkCommand> m_fork; ///< waits for the end of a step
    std::deque<SaveCommand> m_saves;   ///< likewise
    size_t m_changes = 0;              ///< that the window was told of
    std::vector<StepRecord> m_records; ///< not yet in the channel
    std::vector<Event> m_events;
    std::chrono::steady_clock::time_point m_nextPicture{};
    double m_pictureSeconds = 0;     ///< what the last picture took
    int64_t m_keptStep = -1;         ///< of the last checkpoint
    size_t m_toldBytes = 0;          ///< of networks that are too large to be kept
    CheckpointPace m_checkpoints{0}; ///< of the run, as the next one
    GradientPace m_counts;
    StepPace m_steps;
    Message m_outOfMemory;             ///< the sentence, made while there is memory
    std::unique_ptr<char[]> m_reserve; ///< given back before an error is reported
};

} // namespace halfscope
