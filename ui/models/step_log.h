// Every step of the run that is seen, for the tables that the user saves: the file steps.csv of the
// command line, byte for byte, and timing.csv. Knows no widgets.
#pragma once

#include "engine/runs/step_record.h"

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

class StepLog {
public:
    /// A new run: names by lane.
    void start(std::vector<std::string> laneNames);
    void append(std::span<const StepRecord>);
    size_t size() const { return m_rows.size(); }
    /// As many rows from one on, or as there are.
    std::vector<StepRecord> rows(size_t from, size_t count) const;
    /// RunError when the file cannot be written.
    void write(const std::string& path) const;
    /// The file timing.csv of the command line. RunError.
    void writeTimes(const std::string& path) const;

private:
    /// What the files have of a StepRecord: three quarters of its bytes.
    struct Row {
        double deviceSeconds, wallSeconds;
        float loss, scale, learningRate, gradientNorm;
        uint32_t step, skippedSoFar; ///< run.steps ends at 10^9
        int32_t growthTracker;
        uint16_t flags;
        int16_t lane;
    };
    static StepRecord unpacked(const Row&);

    std::vector<std::string> m_lanes;
    std::deque<Row> m_rows; ///< grows without copying
};

} // namespace halfscope
