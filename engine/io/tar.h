// Reads tar archives: which files are in one, and where. Archives may come from strangers: names
// that lead out of a folder, links, devices and sizes that the archive cannot hold are refused.
#pragma once

#include "engine/core/message.h"
#include "engine/io/input_file.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace halfscope {

/// A regular file in an archive.
struct TarEntry {
    std::string name; ///< relative, without ".."
    int64_t offset = 0, bytes = 0;
};

/// Reads plain archives as POSIX (ustar, pax) and GNU tar write them, from their first file to the
/// last.
class TarReader {
public:
    /// Throws InputError "PATH: cannot read: REASON", also for a compressed archive.
    explicit TarReader(std::string path);

    /// Finds the next file, without reading its content; returns false at the mark that ends the
    /// archive. Can be cancelled. Throws InputError "PATH, byte N: WHAT" for a damaged header, for
    /// what is refused, and for an archive that ends before its end mark or in the middle of a
    /// file.
    bool next(TarEntry&);
    /// Returns the content of a file. Throws InputError when it has more than `most` bytes.
    std::string content(const TarEntry&, size_t most);

private:
    struct Header;
    [[noreturn]] void fail(const Message& what) const;
    bool readBlock(std::span<char> block);
    void checkInside(std::string_view name, int64_t bytes) const;
    void takePax(const Header&, std::string& name, int64_t& bytes);

    std::string m_path;
    InputFile m_file;
    int64_t m_header = 0; ///< where the current header begins
    int64_t m_at = 0;     ///< where the next header begins
};

/// Returns the content of a file in the archive at `path`. Throws InputError when it is no longer
/// there.
std::string readTarEntry(const std::string& path, const TarEntry&);

} // namespace halfscope
