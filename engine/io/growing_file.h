// A file that grows under a temporary name until it is placed, and then goes on growing under its
// own name.
#pragma once

#include "engine/io/open_folder.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace halfscope {

/// Until place() the folder keeps what it had under the name, and the destructor removes the
/// temporary file. The temporary file is locked while it is written: one without a lock was left by
/// a killed program. Every function may throw RunError "PATH: cannot write: REASON".
class GrowingFile {
public:
    /// The folder must outlive the file. `shown` is its path in messages, by default the one in the
    /// folder.
    GrowingFile(const OpenFolder&, std::string name, std::string shown = {});
    /// Hands what was gathered to the system, ignoring errors.
    ~GrowingFile();
    GrowingFile(const GrowingFile&) = delete;
    GrowingFile& operator=(const GrowingFile&) = delete;

    const std::string& name() const { return m_name; }
    int number() const { return m_file.number(); }
    /// Gathers text and hands it to the system in large pieces.
    void append(std::string_view text);
    void append(std::span<const std::string_view> parts);
    /// Hands what was gathered to the system, so that it survives a kill of this process.
    void flush();
    /// Does the same and waits for the disk, so that it survives a power cut, too.
    void sync();
    /// Gives the file its name, in place of what had it: a link itself is replaced, not what it
    /// points to. The name survives power cuts once the folder is synced.
    void place();
    /// Syncs the file, places it unless that is done, and closes it.
    void finish();

    /// Before place(): whether what has the name now is a file of the same bytes. False where that
    /// cannot be told.
    bool equalsNamed() const;

    /// The bytes that were appended, and those of them that the system has.
    int64_t appended() const { return m_written + static_cast<int64_t>(m_gathered.size()); }
    int64_t written() const { return m_written; }
    /// Whether a file that was placed still has its name, and as many bytes as were written:
    /// another program may have removed, replaced or changed it. Where the system cannot tell,
    /// nothing counts as lost.
    bool isIntact() const;
    /// After an error: keeps the first `bytes` bytes and accepts no more.
    void cutAt(int64_t bytes) noexcept;

private:
    void open();
    int write();

    const OpenFolder& m_folder;
    std::string m_name;
    std::string m_shown;     ///< its path in messages
    std::string m_temporary; ///< its name; empty once the file is placed
    Descriptor m_file;
    std::string m_gathered;
    int64_t m_written = 0;
    int64_t m_lineEnd = 0; ///< bytes up to the last line end that the system has
};

/// Returns a hidden name for a file, for use until it gets the name `name` or while its own is
/// taken away.
std::string temporaryNameFor(const std::string& name);
/// Whether temporaryNameFor() makes such names.
bool isTemporaryName(std::string_view name);

} // namespace halfscope
