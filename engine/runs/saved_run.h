// What a finished run left in its folder, read back: the rows of steps.csv, and of events.csv and
// timing.csv where they are there, and summary.json. The weights are in no file: a saved run can be
// looked at, not continued. experiment.json is run_config's, pictures are io/picture's.
#pragma once

#include "engine/runs/run_reader.h"
#include "engine/runs/run_summary.h"
#include "engine/runs/step_record.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

struct SavedRun {
    /// Rows of a piece: so that they can be handed on, and freed, a piece at a time.
    static constexpr size_t kPieceRows = size_t{1} << 13;

    /// In the file's order; all pieces but the last one are full. Flags that steps.csv does not
    /// have are 0, times without timing.csv too.
    std::vector<std::vector<StepRecord>> pieces;
    std::vector<Event> events;
    std::vector<std::string> missing; ///< "events.csv", "timing.csv": not there
    int64_t rows = 0;
    int64_t steps = 0;                  ///< that every lane has finished
    std::optional<TrainedOn> trainedOn; ///< nothing without summary.json
    std::string summary;                ///< all of summary.json

    bool lacks(std::string_view file) const;
};

/// Reads the rows of a run whose lanes have these names, see laneNames(). What was written reads
/// back as the same bits. `goesOn` hears how much is read, 0 to 1, after each piece; when it says
/// no, there is no result. InputError "PATH, line 4, loss: "abc" is not allowed: ..." for whatever
/// no run writes: another header, another lane, a value out of range, steps that do not follow each
/// other, a file that was cut off, a summary of another run.
std::optional<SavedRun> readSavedRun(const std::string& folder, std::span<const std::string> lanes,
                                     const std::function<bool(double)>& goesOn = {});

} // namespace halfscope
