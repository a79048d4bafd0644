// What the folder of a saved run lacks.
#pragma once

#include "engine/core/message.h"

#include <cstdint>
#include <string>

namespace halfscope {

struct MissingPart {
    enum class Kind : uint8_t {
        All,      ///< of a file, or of a column: it is not there, empty or damaged
        End,      ///< of a file, which is smaller than it was when the run ended
        Rows,     ///< of a table, after a step
        LastLine, ///< of a file, which was cut off in it
        RunEnd,   ///< of the run: it was killed, or could not be written to its end
    };
    Kind kind = Kind::All;
    std::string name{}; ///< of the file or column
    int64_t step = 0;   ///< Rows: the last one that is there

    /// "timing.csv after step 12".
    Message text() const;
    bool operator==(const MissingPart&) const = default;
};

} // namespace halfscope
