// Writing and reading whole files. They are written under a temporary name beside the target and
// renamed, so that a reader never sees half a file and a full disk loses nothing that was there.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace halfscope {

/// Call first in main(): where a standard stream is closed, the next file would get its number, and
/// what is printed would go into that file. Afterwards printing there fails, as it should.
void reserveStandardFiles();

/// On the disk when it returns. Behind a link the file is replaced that the link leads to. RunError
/// "PATH: cannot write: REASON" on any failure; the temporary file is removed.
void writeFileAtomically(const std::string& path, std::string_view content);
/// The same for a content in pieces.
void writeFileAtomically(const std::string& path, std::span<const std::string_view> parts);

} // namespace halfscope
