// The state of the lanes of a run: one row for each lane with its newest figures, and the speeds of
// the last second. All of it follows from the run.
#pragma once

#include "engine/runs/run.h"
#include "ui/models/step_rate.h"

#include <QAbstractTableModel>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <vector>

namespace halfscope {

/// Only when the run ends has changed: nothing that happened to a lane.
bool movesTheStop(const Event&);
/// "A" for lane 0.
QString laneTag(int lane);
/// "65536 = 2^16"; other scales to four digits.
QString scaleText(double scale);
/// A number to `digits` significant digits, in the user's language; "not a number", "infinite".
QString shownNumber(double value, int digits = 4);

struct LaneStatus {
    QString name;               ///< "amp-fp16-2", in files
    QString title;              ///< "amp-fp16, init_scale 2^24", on screen
    StepRow last;               ///< step 0: none yet
    int64_t growthInterval = 0; ///< 0: the lane has no dynamic scaler
    double stepsPerSecond = 0;  ///< see StepRate
    float scaleAfter = 1;       ///< the loss scale that the next step uses
    QString lastEvent;          ///< in words
    QString lastBrief;          ///< the same as "Step 9: Overflow, scale halved"
    int64_t lastEventStep = 0;
    SkipTally skips;
    std::optional<double> accuracy, validationLoss; ///< of the last validation
    bool exact = true; ///< the scale grows at as many clean steps as the interval and no others
    bool grows() const { return growthInterval > 0; }
    /// The interval was set below the clean steps: they pass it by until an overflow clears them.
    bool stuck() const { return grows() && exact && last.growthTracker() >= growthInterval; }
    SkipVerdict skipVerdict() const { return skips.verdict(grows()); }
    /// The one that the next step uses; `last` has the one that the last step used.
    float scale() const { return scaleAfter; }
    double skippedShare() const {
        return last.step > 0
                   ? static_cast<double>(last.skippedSoFar()) / static_cast<double>(last.step)
                   : 0.0;
    }
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

    /// Null: no lanes.
    void setRun(std::shared_ptr<const Run>);
    const std::shared_ptr<const Run>& run() const { return m_run; }
    /// Takes what came since the last call; whether there was anything.
    bool refresh();

    int lanes() const { return static_cast<int>(m_lanes.size()); }
    const LaneStatus& lane(int i) const { return m_lanes[static_cast<size_t>(i)].status; }
    /// The step that every lane has finished.
    int64_t step() const;
    /// Whether a lane has skipped a step so far.
    bool skips() const;
    /// How the lanes stand, in a sentence: last losses, skipped steps, and whether those are
    /// normal.
    QString summary() const;
    /// The same in ever fewer words: all; lanes by letter and no medians; the losses alone, or what
    /// went wrong.
    QStringList summaries() const;
    /// Its epoch and batch, see run_facts.h.
    QString epochText() const;
    /// Speed of lane B over lane A; 0 when unknown.
    double speedRatio() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

private:
    enum class Words { All, Few, Fewest };
    QString summaryIn(Words) const;
    QString lossText(int lane, Words) const;
    QString skipText() const;
    struct Lane {
        LaneStatus status;
        StepRate rate;
        int64_t timed = 0; ///< the last step that the rate has
    };
    void update(int index, Lane&);
    static void remember(LaneStatus&, const Event&);

    std::shared_ptr<const Run> m_run;
    uint64_t m_seen = 0; ///< its version
    size_t m_told = 0;   ///< of its events
    std::vector<Lane> m_lanes;
};

} // namespace halfscope
