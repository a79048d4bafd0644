// The state of the lanes of a run: one row for each lane with its newest values, and the speeds of
// the last seconds or of the whole run. All of it follows from the run.
#pragma once

#include "engine/runs/run.h"
#include "engine/runs/zero_gradients.h"
#include "engine/train/lane_state.h"
#include "ui/models/shown_numbers.h"
#include "ui/models/step_rate.h"

#include <QAbstractTableModel>
#include <QString>
#include <QStringList>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace halfscope {

/// Whether the setting of this key only says when the run ends.
bool movesTheStop(std::string_view key);
/// Whether an event only changes when the run ends: nothing happened to a lane.
bool movesTheStop(const Event&);
/// Returns "A" for lane 0.
QString laneTag(int lane);

struct LaneStatus {
    QString name;  ///< "amp-fp16-2", in files
    QString title; ///< "amp-fp16, First scale 2^24", on screen
    StepRow last;  ///< step 0: there is none yet
    /// The step of the checkpoint that the run goes on from, and what that tells of the loss
    /// scaler, as long as there is no row: 0, and nothing, otherwise.
    int64_t startStep = 0;
    ScalerFigures start{};
    int64_t growthInterval = 0; ///< 0 when the lane has no dynamic scaler
    double stepsPerSecond = 0;  ///< see StepRate; of a run that is over, see wholeRateOf()
    float scaleAfter = 1;       ///< the loss scale that the next step uses
    bool knowsScale = false;    ///< whether that is known: not before the first step
    QString lastEvent;          ///< as a sentence
    QString lastBrief;          ///< briefly: "Step 9: Overflow, scale halved"
    int64_t lastEventStep = 0;
    SkipTally skips;
    /// The letter of the lane that clears this one's precision, see divergedBeside(); else empty.
    Message diverged;
    std::optional<LaneConfig> config; ///< nothing where the lane's settings are not known
    std::optional<double> accuracy, validationLoss; ///< of the last validation
    std::optional<double> validationError;          ///< likewise, see Validation::error
    std::optional<Validation> test;                 ///< see LaneTotals::test()
    std::optional<LaneTotals::Best> best;           ///< of all validations: accuracy, else the loss
    bool fellFromItsBest = false, overfits = false; ///< see LaneTotals
    /// When the weights were last watched, see WeightChange.
    std::optional<double> unchangedWeights, unchangedCopies;
    std::optional<ZeroGradients> zeros; ///< nothing before they are counted
    std::optional<LostGradients> lost;  ///< see lostGradientsOf()
    int64_t underflowStep = 0;          ///< when all gradients first rounded to zero; 0: never
    bool underflowOfFault = false;      ///< see LaneTotals::faultsExplainUnderflow()
    int64_t zeroUpdates = 0;            ///< see LaneTotals::zeroUpdates()
    int64_t allUpdates = 0;             ///< see LaneTotals::updates()
    bool exact = true; ///< the scale grows only when the clean steps equal the interval
    /// The last loss as a text; "–" when the last step has none, as where it is lost.
    QString lossText() const;
    /// The accuracy at the last validation as a text: "97.31 %". Empty before a validation.
    QString accuracyText() const;
    /// What the card shows of the last validation, from long to short: "97.31 %, best 97.42 %, test
    /// 96.80 %", with the best one where it is better. Empty before a validation.
    QStringList judgedForms() const;
    /// The best validation: "Best: 97.42 % after step 1,200". Empty before a validation.
    QString bestText() const;
    /// Its value: "97.42 %". There must be one.
    QString bestValue() const;
    /// Whether the last validation tells a loss, if only that it is infinite.
    bool tellsValidationLoss() const;
    /// Whether the output was nan at the last validation: then no sample has a class, and an
    /// accuracy of 0 % would be read as one of wrong classes.
    bool outputIsNan() const;
    bool grows() const { return growthInterval > 0; }
    /// Whether the interval was set below the clean steps: the count does not meet it again until
    /// an overflow resets it.
    bool stuck() const { return grows() && exact && cleanSteps() >= growthInterval; }
    SkipVerdict skipVerdict() const { return skips.verdict(grows()); }
    /// See SkipTally::badReason() and sentence().
    Message badReason() const {
        return skips.badReason(grows(), config ? &*config : nullptr, diverged);
    }
    Message skipSentence() const {
        return skips.sentence(grows(), config ? &*config : nullptr, diverged);
    }
    /// See SkipTally::losingStep(); 0 as well where steps were skipped.
    int64_t losingStep() const {
        return skips.skipped() == 0 ? skips.losingStep(config ? &*config : nullptr) : 0;
    }
    /// Whether steps that overflowed at any loss scale brought it down before gradients rounded to
    /// zero: then its size is not the reason.
    bool blamesFaults() const { return grows() && underflowOfFault; }
    /// The scale that the next step uses; `last` has the one that the last step used.
    float scale() const { return scaleAfter; }
    /// Whether the scale has changed so much since the zeros were counted that there may be as many
    /// no longer.
    bool scaleMoved() const;
    /// The steps since the scale changed or a step was skipped, and all skipped ones, also where
    /// only a checkpoint tells them.
    int64_t cleanSteps() const { return startStep > 0 ? start.clean : last.growthTracker(); }
    int64_t skippedSteps() const { return startStep > 0 ? start.skipped : last.skippedSoFar(); }
    /// The steps that the lane has behind it, those before a checkpoint among them.
    int64_t doneSteps() const { return std::max(startStep, last.step); }
    /// The updates up to the last step, each of which was done or skipped.
    int64_t updates() const { return doneSteps() / skips.stepsPerUpdate(); }
    double skippedShare() const {
        return updates() > 0 ? static_cast<double>(skippedSteps()) / static_cast<double>(updates())
                             : 0.0;
    }
};

/// What the checkpoint that a run goes on from tells, also where none of its rows is there.
struct RunStart {
    int64_t step = 0;
    std::vector<ScalerFigures> scalers{}; ///< after that step, by lane
};

class RunModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        LaneColumn,
        StepColumn,
        LossColumn,
        ScaleColumn,
        TrackerColumn,
        SkippedColumn,
        RateColumn,
        SpeedColumn,
        EventColumn,
        Columns
    };

    explicit RunModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    /// Sets the run whose lanes are shown. Null: no lanes.
    void setRun(std::shared_ptr<const Run>, RunStart = {});
    const std::shared_ptr<const Run>& run() const { return m_run; }
    /// Takes what came since the last call; returns whether there was anything.
    bool refresh();

    int lanes() const { return static_cast<int>(m_lanes.size()); }
    const LaneStatus& lane(int i) const { return m_lanes[static_cast<size_t>(i)].status; }
    /// Returns the step that every lane has finished.
    int64_t step() const;
    /// Returns the samples in the batch of step() where it had fewer than the others, as the last
    /// one of an epoch may have: their loss says little. Else 0.
    int64_t smallBatch() const;
    /// Returns the step after which the lanes are validated next; 0: there is none.
    int64_t nextValidation() const;
    /// Whether a lane has skipped a step so far.
    bool skips() const;
    /// Says how the lanes stand, in sentences: last losses, skipped steps, whether the skips are
    /// normal, and if not, why the worst lane has them.
    QString summary() const;
    /// Returns the summary in ever fewer words: in full; without the reason for skipped steps,
    /// where there is one; lanes by letter and no medians; the losses alone, or what went wrong.
    QStringList summaries() const;
    /// Returns the median of a lane's last losses; nothing where there are too few, or one that is
    /// not finite.
    std::optional<double> medianLoss(int lane) const;
    /// Says what the medians in them are; empty where they have none.
    QString medianNote() const;
    /// Whether the next loss scale of a lane is known.
    bool knowsScales() const;
    /// Returns the run's epoch and batch, see run_facts.h.
    QString epochText() const;
    QString longestEpochText() const;
    /// Returns how long a step of all lanes takes the device; infinity when unknown.
    double secondsPerStep() const;
    /// Whether a pace of so many steps a second makes the lanes wait between steps; 0: no limit.
    bool waitsAt(double pace) const { return pace > 0 && pace * secondsPerStep() < 1; }
    /// Whether the lanes wait at the pace of setPace().
    bool waits() const { return waitsAt(m_pace); }
    /// Sets the pace at which the run is or was trained, see paceOf(); 0: no limit.
    void setPace(double pace) { m_pace = pace; }
    /// Whether steps come so slowly that figures of each of them can be read.
    bool stepsAreReadable() const;
    /// Sets whether the run is over or a saved one: its last seconds are then no better than the
    /// others, and its speeds are those of all steps. Returns whether that changes a speed.
    bool setOver(bool over);
    bool isOver() const { return m_over; }
    /// Whether the speeds of lanes may be compared at that pace: a step after a wait finds cold
    /// caches, those of fast lanes above all. Whoever shows speeds asks this.
    bool comparesSpeeds() const { return lanes() < 2 || !waits(); }
    /// Returns the speed of lane `of` relative to lane `over`; 0 when unknown.
    double speedRatio(int of = 1, int over = 0) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

private:
    enum class Words { Reasons, All, Few, Fewest };
    QString summaryIn(Words) const;
    enum class Figure { Loss, Median, Accuracy }; ///< that a summary compares the lanes by
    QString lossText(int lane, Words, Figure) const;
    QStringList notesBeside(Figure, int lane) const;
    QString figureText(Words, Figure, const QString& all) const;
    QString overfittingText() const;
    bool hasMedians() const;
    bool hasAccuracies() const;
    QString dataText() const;
    QString heldFaultText() const;
    QString normalText(Words) const;
    struct Lane {
        LaneStatus status;
        StepRate rate;
        int64_t timed = 0; ///< the last step that the rate has taken
    };
    void update(int index, Lane&);
    void measureSpeed(int index, Lane&) const;
    static void remember(LaneStatus&, const Event&);

    std::shared_ptr<const Run> m_run;
    RunStart m_start;
    uint64_t m_seen = 0; ///< the run's version + 1 at the last look; 0: none
    size_t m_told = 0;   ///< how many of its events were taken
    std::vector<Lane> m_lanes;
    double m_pace = 0;   ///< see setPace()
    bool m_over = false; ///< see setOver()
};

} // namespace halfscope
