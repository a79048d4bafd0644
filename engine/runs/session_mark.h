// How a session says that nothing went wrong when its window went.
#pragma once

#include <cstdint>

namespace halfscope {

/// The numbers are those of the file.
enum class SessionMark : int64_t {
    None = 0,
    Kept = 1,      ///< the user closed the window and chose to keep its runs
    ToldToEnd = 2, ///< the program was told to end, as at a logout; earlier versions read Kept
};

} // namespace halfscope
