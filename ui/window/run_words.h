// Sentences about a run and its training: what is shown, how the training stands, what Play does.
#pragma once

#include "engine/runs/run.h"
#include "ui/session/session_channel.h"

#include <QCoreApplication>
#include <QString>

#include <optional>

namespace halfscope {

class RunWords {
    Q_DECLARE_TR_FUNCTIONS(RunWords)
public:
    /// How a training begins.
    enum class Begins {
        Anew,
        FromCheckpoint,
        CheckpointLost, ///< it was to go on from one that cannot be read
    };
    /// How the training stands, as far as sentences need to know.
    struct State {
        SessionState session = SessionState::Building;
        bool playWaits = false;
        Begins begins = Begins::Anew;
        std::optional<int64_t> goesOnAfter{}; ///< the step of the checkpoint, once it is read
        int64_t nextStop = 0;                 ///< where a finished run would go on to
    };

    /// Which run of the past is shown. `back`: it was brought back from the list.
    static QString savedRun(const Run&, bool back);
    /// For the status bar. `saved`: what savedRun() gives, or empty.
    static QString state(const State&, const QString& saved);
    /// The device that trained a run, its libraries, and what the next training will use, one a
    /// line. `built`: the networks that are there, or null.
    static QString device(const std::optional<DeviceInfo>&, bool isSaved, const SessionInfo* built);
    /// What a training will do that has no rows yet. `about`: a preset's own sentence, or empty.
    static QString invitation(const State&, qsizetype lanes, const QString& about);
    /// Why there are no gradients to look at, and when they come. `midway`: the training rests in
    /// the middle of the step `next`.
    static QString noGradients(SessionState, bool midway, int64_t next);
    /// Where settings were tried in vain. `showsOther`: a run of other settings is still there.
    static QString failedStart(bool showsOther);
};

} // namespace halfscope
