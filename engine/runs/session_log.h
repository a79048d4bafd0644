// Whether the log beside a session's file has lost anything. SQLite takes a log up to its first
// damaged frame for the whole log, and says nothing.
#pragma once

#include <string>

namespace halfscope {

/// Returns whether a write-ahead log has complete transactions behind a damaged frame. What a
/// program was writing when it was killed is no loss. False when there is no such file; true when
/// it cannot be read. The format: https://www.sqlite.org/fileformat2.html#walformat
bool lostTransactions(const std::string& path);

} // namespace halfscope
