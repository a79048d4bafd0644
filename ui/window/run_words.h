// Sentences about a run and its training: what is shown, how the training stands, what Play does.
#pragma once

#include "engine/runs/run.h"
#include "ui/session/session_channel.h"

#include <QCoreApplication>
#include <QString>

#include <optional>
#include <vector>

namespace halfscope {

class RunWords {
    Q_DECLARE_TR_FUNCTIONS(RunWords)
public:
    /// How a training begins.
    enum class Begins {
        Anew,
        FromCheckpoint,
        CheckpointLost, ///< the run was to continue from a checkpoint that cannot be read
    };
    /// How the training stands, as far as sentences need to know.
    struct State {
        SessionState session = SessionState::Building;
        bool playWaits = false;
        Begins begins = Begins::Anew;
        std::optional<int64_t> goesOnAfter{}; ///< the step of the checkpoint, once it is read
        int64_t step = 0;                     ///< of the last row that is shown; 0 without networks
        int64_t nextStop = 0;                 ///< the step to which a finished run would continue
        Message dataChange{};                 ///< Experiment::dataChange()
        bool built = true;                    ///< there are networks
        bool outOfPatience = false;           ///< run.patience has ended the finished run
        bool recorded = false;                ///< isRecorded(), so that there are no networks
        int64_t keptStep = 0;    ///< from which a failed run can go on; 0 where it cannot
        bool allTrained = false; ///< that is its last step: what follows a step has failed
        bool startsOver = false; ///< the run that is shown has lost its networks to a failed start
        Message noGradients{};   ///< why they cannot be counted; empty where they can
        QString reading{};       ///< the file that will take the experiment's place, or empty
        bool firstStepLasts = false; ///< it trains, but has not taken a step for a while
        bool onCpu = false;
        bool failedOfInput = false; ///< a setting or a file must be corrected before it can start
        double secondsLeft = 0;     ///< until the training ends; 0 or infinite: not known
    };

    /// Says which run of the past is shown. `back` tells that it was brought back from the list.
    static QString savedRun(const Run&, bool back);
    /// Says that a file is being read, from long to short; nothing while none is.
    static QStringList reading(const State&);
    /// Says how many saved runs were opened. `lost` tells of their checkpoints that cannot be used,
    /// and `problem` why other runs were not opened; empty when all were.
    static QString openedRuns(size_t count, const std::vector<Message>& lost,
                              const Message& problem);
    /// Says that the training is over; empty as long as it is not, and before a first row.
    static QString over(const State&);
    /// Says what to do before a loss scale can be set; empty when nothing hinders. `saved`: a saved
    /// run is shown; `known`: the next scale is.
    static QString scaleObstacle(const State&, bool saved, bool known);
    /// Returns the sentence for the status bar. `saved` is what savedRun() returned, or empty.
    static QString state(const State&, const QString& saved);
    /// Says the same in a word or two, with the pace: "paused, 5 steps/s". A pace of 0 means no
    /// limit; `waits` tells that it makes the lanes wait.
    static QString briefState(SessionState, double pace, bool waits);
    /// Returns the device that trained a run, its libraries, and what the next training will use,
    /// one a line. `built` describes the networks that are there; null when there are none.
    static QString device(const std::optional<DeviceInfo>&, bool isSaved, const SessionInfo* built);
    /// Says what a training without rows will do. `about` is a preset's own sentence, or empty.
    static QString invitation(const State&, qsizetype lanes, const QString& about);
    /// Says that a run would continue with other data than those that it began with. Empty when
    /// they are the same.
    static QString changedData(const State&);
    /// Says what is learned from the user's own files, and from how many samples. Empty for other
    /// data, and while they are being read.
    static QString data(const RunConfig&);
    /// Says from which file of weights the lanes start; empty where they are drawn.
    static QString weights(const RunConfig&);
    /// Whether these are files of the user with too little to learn from; false while they are
    /// being read.
    static bool hasOneSample(const RunConfig&);
    /// Says why there are no gradients to look at, and when they come. `midway` tells that the
    /// training rests in the middle of step `next`.
    static QString noGradients(const State&, bool midway, int64_t next);
    /// Says that gradients are not at the loss scale that was set since the run's end.
    static QString gradientsOfTheEnd();
    /// Says why a recorded run has no gradients by layer, and which gradients it may have.
    static QString recordedLayers();
    /// Says what to do with the program for PyTorch that was copied, and what it needs.
    static QString copiedProgram(const RunConfig&);
    /// Says so of the program that was saved.
    static QString savedProgram(const QString& path, const RunConfig&);
    /// Whether the user forked a lane or changed a setting while the run was trained. That it was
    /// to end earlier or later does not count: Continue alone does that.
    static bool isChanged(const RunConfig& recorded);
    /// Says where the experiment of a run with forks or edits was saved, and which of these the
    /// file has.
    static QString savedExperiment(const QString& path, const RunConfig& recorded);
    /// Says that settings were saved without what changed in the run, isChanged().
    static QString savedWithoutChanges(const RunConfig& recorded);
    /// Says that a run with these settings failed to start. `showsOther` tells that a run that was
    /// trained before is still shown.
    static QString failedStart(bool showsOther);
    /// Whether a run was recorded in PyTorch, see TaskKind::Recorded.
    static bool isRecorded(const RunConfig&);
    /// Throws InputError for such a run, which cannot be trained.
    static void refuseRecorded(const RunConfig&);
    /// Says that such a run cannot be trained.
    static QString recorded();

private:
    static QString training(const State&);
    static QString leftOut(const TaskConfig&);
};

} // namespace halfscope
