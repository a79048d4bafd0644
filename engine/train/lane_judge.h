// Judges the lanes of an experiment together: on the samples to validate on, and at the end on
// those of the test. Keeps what was predicted in the last validation, for pictures of it.
#pragma once

#include "engine/data/judged_samples.h"
#include "engine/runs/lane_pictures.h"
#include "engine/runs/step_record.h"
#include "engine/train/trainer.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

class LaneJudge {
public:
    using Lanes = std::span<const std::unique_ptr<Trainer>>;

    /// Fills StepRecord::validation of all rows, which are those of `step`. Returns false when a
    /// stop request came in between; the next call goes on with the lanes that are left. Rows have
    /// none where the samples cannot be read, see problem(): the step is done. Nor have they where
    /// all samples were skipped, see noValidation(): the training goes on without.
    bool validate(Lanes, int64_t step, std::span<StepRecord> rows, const std::atomic<bool>& stop);
    /// Looks for data that explain a validation loss that is not finite, when the first one is
    /// among the rows, see knownHeldFault(). `data` is what the lanes are validated on.
    void explain(const TaskConfig&, const Dataset& data, std::span<const StepRecord> rows,
                 const std::atomic<bool>& stop);
    /// Fills StepRecord::test in the same way, after validate(). A lane has none where the samples
    /// cannot be read, see testProblem(): a run must not be lost at its last step.
    bool test(Lanes, std::span<StepRecord> rows, const std::atomic<bool>& stop);
    /// Lets the lanes' learning rates follow the validation that rows have, and tells of each fall.
    static void follow(Lanes, const ScheduleConfig&, std::span<const StepRecord> rows,
                       std::vector<Event>& events);
    /// Validates for pictures and for explain() alone, after the step with which a run goes on.
    void look(Lanes, int64_t step, const TaskConfig&, const Dataset& data,
              const std::atomic<bool>& stop);
    /// Lets the last lane, which is new, have predicted what its parent did.
    void addLane(size_t parent);

    /// The last step after which all lanes were validated; 0 when there was none.
    int64_t validated() const { return m_step; }
    /// Why the samples of the last validation could not be read; empty otherwise.
    const Message& problem() const { return m_problem; }
    /// What a lane predicted in the last validation.
    JudgedSamples judged(size_t lane) const {
        return lane < m_judged.size() ? m_judged[lane] : JudgedSamples();
    }
    /// The reasons why the last validation, and the test after it, left samples out.
    const std::vector<Message>& leftOut() const { return m_leftOut; }
    const std::vector<Message>& leftOutOfTest() const { return m_leftOutOfTest; }
    /// Why the last validation could judge no sample, all of which are skipped; empty otherwise.
    const Message& noValidation() const { return m_noValidation; }
    /// Why there was no test after the last validation; empty when there was one, or none was due.
    const Message& testProblem() const { return m_testProblem; }
    /// Shows the last validation in place of the batch, where there was one.
    void show(const TaskView&, LanePictures&) const;
    /// Returns mistakeSheets() of the last validation, of the data that lanes are validated on; no
    /// pictures before one. Nothing when `stop` turns true meanwhile.
    std::optional<std::vector<Picture>> mistakes(const TaskView&, const Dataset&,
                                                 const std::atomic<bool>& stop);
    /// Whether show() has something to show.
    bool shows(const TaskView& view) const { return !pictures(view).empty(); }

private:
    void keep(Lanes, int64_t step);
    void clear();
    std::vector<Picture> pictures(const TaskView&) const;

    int64_t m_step = 0;
    std::vector<JudgedSamples> m_judged;            ///< in that validation, by lane
    std::optional<std::vector<Picture>> m_mistakes; ///< of it, once they were asked for
    std::vector<Message> m_leftOut, m_leftOutOfTest;
    Message m_problem, m_noValidation, m_testProblem;
    bool m_explained = false; ///< see explain()
};

} // namespace halfscope
