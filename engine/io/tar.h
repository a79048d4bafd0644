// Reads tar archives: which files lie in one and where. Archives may come from strangers: names
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

/// Plain archives as POSIX (ustar, pax) and GNU tar write them, from their first file to the last.
class TarReader {
public:
    /// InputError "PATH: cannot read: REASON"; also for a compressed archive.
    explicit TarReader(std::string path);

    /// The next file, without its content; false at the mark that ends the archive. Cancellable.
    /// InputError "PATH, byte N: WHAT" for a damaged header, for what is refused, and for an
    /// archive that ends before its end mark or in the middle of a file.
    bool next(TarEntry&);
    /// The content of a file. InputError where it has more than `most` bytes.
    std::string content(const TarEntry&, size_t most);

private:
    struct Header;
    [[noreturn]] void fail(const Message& what) const;
    bool readBlock(std::span<char> block);
    void checkInside(std::string_view name, int64_t bytes) const;
    void takePax(const Header&, std::string& name, int64_t& bytes);

    std::string m_path;
    InputFile m_file;
    int64_t m_header = 0; ///< where the header at hand begins
    int64_t m_at = 0;     ///< where the next one does
};

/// The content of a file in an archive of that path. InputError where it is not there any more.
std::string readTarEntry(const std::string& path, const TarEntry&);

} // namespace halfscope
