// What the folder of a saved run lacks.
#pragma once

#include "engine/core/message.h"

#include <cstdint>
#include <string>

namespace halfscope {

struct MissingPart {
    enum class Kind : uint8_t {
        All,      ///< of a file or a column: it is not there, empty or damaged
        End,      ///< of a file, which is smaller than when the run ended
        Rows,     ///< of a table, after some step
        LastLine, ///< of a file, which was cut off in that line
        Rest,     ///< of a table, from a damaged line on
        RunEnd,   ///< of the run, which was killed or could not be written to its end
        Shares,   ///< of a table of classes, whose picture tells them in 8 bits only
    };
    Kind kind = Kind::All;
    std::string name{}; ///< of the file or column
    /// For Rows the last step that is there; for Rest of events the last one whose events surely
    /// are, 0 for that of other tables.
    int64_t step = 0;
    Message reason{}; ///< for Rows and Rest: what is damaged; empty when the file ends there

    /// Returns words such as "timing.csv after step 12", with the reason in parentheses.
    Message text() const;
    bool operator==(const MissingPart&) const = default;
};

} // namespace halfscope
