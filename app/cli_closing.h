// What a run's lanes add up to on the command line, and the tables at its end.
#pragma once

#include "engine/runs/lane_ranking.h"
#include "engine/runs/lane_totals.h"
#include "engine/settings/sweep.h"
#include "engine/train/experiment.h"

#include <span>
#include <string>
#include <vector>

namespace halfscope::cli {

/// What the steps of one lane add up to.
struct LaneSums {
    LaneTotals totals;
    RecentTimes times;
    LatestLosses losses;

    void add(const StepRow& row) {
        totals.add(row);
        times.add(row.deviceSeconds());
        losses.add(static_cast<double>(row.loss()));
    }
    /// See LaneTotals::continueFrom(). A fork's steps take times of their own.
    void continueFrom(const LaneSums& parent, int64_t forkStep, int32_t lane, bool scalesAnew) {
        const int64_t before = totals.last().step;
        totals.continueFrom(parent.totals, forkStep, lane, scalesAnew);
        if (totals.last().step != before) losses = parent.losses;
    }
    double milliseconds() const { return 1000 * times.median(); } ///< of a step
};

/// Returns empty sums of so many lanes.
std::vector<LaneSums> noSums(const Experiment&, size_t lanes);
/// Returns a table with a row for each lane, in their order.
std::string closingTable(Experiment&, std::span<const LaneSums>);
/// Returns a line about the best validation of each lane, by accuracy or else by loss; empty where
/// the last one of every lane is as good. A second one names the lanes that overfit.
std::string bestLine(const Experiment&, std::span<const LaneSums>);
/// Returns a line with what the test at the end has found; empty where there was none.
std::string testLine(const Experiment&, std::span<const LaneSums>);
/// Says for each lane that skipped steps whether that is normal, and why it skipped one of them;
/// and where a lane's gradients were lost. Without ranges, nothing is known of gradients that were
/// only lost in part.
std::string laneNotes(const Experiment&, std::span<const LaneSums>, std::span<const GradientRange>);
/// Names the first sample to validate on that holds inf or nan, where a lane's validation loss is
/// not finite; empty where no such sample is known.
std::string heldFaultLine(const Experiment&, std::span<const LaneSums>);
/// Says why the test loss may not be finite in any lane, where a lane's validation loss is, and in
/// which lanes unless it is in all; else empty.
std::string testFaultLine(const Experiment&, std::span<const LaneSums>);
/// Returns the table of the lanes of a sweep, from the best to the worst.
std::string rankingOf(const Experiment&, std::span<const Sweep>, std::span<const LaneSums>,
                      std::span<const GradientRange>);
/// Returns " (epoch 3 of 10)"; empty before the first step and when every step is an epoch.
std::string epochText(const Experiment&);
/// Says so where pictures were painted by other weights than those of a run without a break.
std::string paintedNote(const Experiment&, const LanePictures&);

} // namespace halfscope::cli
