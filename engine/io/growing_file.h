// A file that grows under a temporary name until it is placed, and goes on growing under its own.
#pragma once

#include "engine/io/open_folder.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace halfscope {

/// Until place() the folder keeps what it had under the name, and the destructor removes the
/// temporary file. The temporary file is locked while it is written: one that nobody locks was left
/// by a killed program. All of it throws RunError "PATH: cannot write: REASON".
class GrowingFile {
public:
    /// The folder must outlive the file. `shown`: its path in messages, unless it is the folder's.
    GrowingFile(const OpenFolder&, std::string name, std::string shown = {});
    /// Hands to the system what has gathered, without a word about errors.
    ~GrowingFile();
    GrowingFile(const GrowingFile&) = delete;
    GrowingFile& operator=(const GrowingFile&) = delete;

    const std::string& name() const { return m_name; }
    int number() const { return m_file.number(); }
    /// Gathers text, and hands it to the system in large pieces.
    void append(std::string_view text);
    void append(std::span<const std::string_view> parts);
    /// Hands what has gathered to the system: a kill of this process cannot take it away.
    void flush();
    /// The same, and waits for the disk: nor can a power cut.
    void sync();
    /// Gives the file its name, in place of what had it: a link is replaced, not what it points to.
    /// The name is safe from power cuts when the folder is synced.
    void place();
    /// Syncs, places it unless that is done, and closes.
    void finish();

    /// Bytes that were appended, and those of them that the system has.
    int64_t appended() const { return m_written + static_cast<int64_t>(m_gathered.size()); }
    int64_t written() const { return m_written; }
    /// After an error: keeps so many bytes and takes no more.
    void cutAt(int64_t bytes) noexcept;

private:
    void open();
    int write();

    const OpenFolder& m_folder;
    std::string m_name;
    std::string m_shown;     ///< path in messages
    std::string m_temporary; ///< name; empty once the file is placed
    Descriptor m_file;
    std::string m_gathered;
    int64_t m_written = 0;
    int64_t m_lineEnd = 0; ///< bytes up to the last end of line that the system has
};

/// A hidden name for a file until it gets this one, or while its own is taken.
std::string temporaryNameFor(const std::string& name);
/// Whether a name is one of those.
bool isTemporaryName(std::string_view name);

} // namespace halfscope
