// The event files of `run --tensorboard`. They only watch a run: when they cannot be written any
// more, because their disk is full for example, the training goes on without them.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/gradient_counts.h"
#include "engine/runs/tensorboard.h"
#include "engine/train/gradient_pace.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope::cli {

class BoardFiles {
public:
    /// For the parameters see TensorBoardWriter. Throws RunError when the files cannot be begun:
    /// nothing is trained by then. `beforeNote` is called before a line is printed while the run
    /// goes on.
    BoardFiles(std::string folder, std::span<const LaneInfo> lanes, int64_t after,
               std::function<void()> beforeNote);

    void append(const RunBatch&);
    /// Appends what `count` returns, by lane, when a count is due: once a second and every so many
    /// steps, but counts take about a hundredth of the time. `stepSeconds` is what the last step
    /// took. `count` returns nothing when it was stopped. When it fails for lack of memory or by
    /// its device, this says so, and counts no more: the training itself may still fit.
    void countGradients(int64_t step, int64_t every, double stepSeconds,
                        const std::function<std::vector<GradientRange>()>& count);
    /// Returns when the disk has everything so far.
    void sync();
    /// Returns when the disk has everything.
    void finish();

    /// Returns why the files could not be written to their end; empty if they could.
    const Message& problem() const { return m_problem; }
    const std::string& folder() const { return m_folder; }
    /// Whether files of an earlier run gave way to these.
    bool replaced() const { return m_writer && m_writer->replaced(); }

private:
    void stopCounting(const Message& why);
    void attempt(const std::function<void(TensorBoardWriter&)>& write);

    const std::string m_folder;
    const std::function<void()> m_beforeNote;
    std::optional<TensorBoardWriter> m_writer; ///< nothing after a problem
    Message m_problem;
    GradientPace m_pace;
    bool m_counts = true; ///< false once a count has failed
};

/// Says that files of an earlier run were replaced, and names the lanes of earlier runs whose files
/// TensorBoard shows beside those of these lanes; empty without any.
std::string boardNote(const BoardFiles&, std::span<const LaneInfo> lanes);

} // namespace halfscope::cli
