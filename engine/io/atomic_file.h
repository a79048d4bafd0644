// Writes and reads whole files. They are written under a temporary name beside the target and then
// renamed, so that a reader never sees half a file and a full disk destroys nothing that was there.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace halfscope {

/// To be called first in main(): when a standard stream is closed, the next file would get its
/// number, and what is printed would go into that file. After this call, printing there fails, as
/// it should.
void reserveStandardFiles();

/// Writes a file, which is on the disk when it returns. When the path is a link, the file that it
/// leads to is replaced. Throws RunError "PATH: cannot write: REASON" on any failure; the temporary
/// file is then removed.
void writeFileAtomically(const std::string& path, std::string_view content);
/// Does the same for a content in pieces.
void writeFileAtomically(const std::string& path, std::span<const std::string_view> parts);

} // namespace halfscope
