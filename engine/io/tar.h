// Reads tar archives: which files are in one, and where. Archives may come from strangers: names
// that lead out of a folder, links, devices and sizes that the archive cannot hold are refused.
#pragma once

#include "engine/core/message.h"
#include "engine/io/input_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halfscope {

/// A regular file in an archive.
struct TarEntry {
    std::string name; ///< relative, without ".."
    int64_t offset = 0, bytes = 0;
};

/// What to do with an archive that ends before its end mark, as a copy that was broken off does, or
/// that has something else where a header must be: refuse it, or take the whole files before that.
enum class CutTar : uint8_t { Refuse, TakeWholeFiles };

/// Reads plain archives as POSIX (ustar, pax) and GNU tar write them, from their first file to the
/// last.
class TarReader {
public:
    /// Throws InputError "PATH: cannot read: REASON", also for a compressed archive.
    explicit TarReader(std::string path, CutTar = CutTar::Refuse);

    /// Finds the next file, without reading its content; returns false at the mark that ends the
    /// archive. Can be cancelled. Throws InputError "PATH, byte N: WHAT" for what is refused, and
    /// for an archive that has no header where one must be, or ends before its end mark or in the
    /// middle of a file; with CutTar::TakeWholeFiles, it returns false there.
    bool next(TarEntry&);
    /// Says how the archive was found to end early or to lack a header, as a refusal would; empty
    /// when it was not.
    const Message& cut() const { return m_cut; }
    /// Whether the archive ended early between two files, so that only its end mark is known to be
    /// missing.
    bool lacksOnlyEnd() const { return m_lacksOnlyEnd; }
    /// Returns where it lacks a header; nothing for one that ends early.
    std::optional<int64_t> damagedAt() const { return m_damagedAt; }
    int64_t bytes() const { return m_file.size(); } ///< of the whole archive
    /// Returns the content of a file. Throws InputError when it has more than `most` bytes.
    std::string content(const TarEntry&, size_t most);

private:
    struct Header;
    Message sentence(const Message& what) const;
    [[noreturn]] void fail(const Message& what) const;
    void endEarly(const Message& what);
    bool readBlock(std::span<char> block);
    bool isInside(std::string_view name, int64_t bytes);
    void takePax(const Header&, std::string& name, int64_t& bytes);

    std::string m_path;
    InputFile m_file;
    CutTar m_whenCut;
    Message m_cut;
    bool m_lacksOnlyEnd = false;
    std::optional<int64_t> m_damagedAt;
    int64_t m_header = 0; ///< where the current header begins
    int64_t m_at = 0;     ///< where the next header begins
};

/// Returns the content of a file in the archive at `path`. Throws InputError when it is no longer
/// there.
std::string readTarEntry(const std::string& path, const TarEntry&);

} // namespace halfscope
