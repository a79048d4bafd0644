// A folder into which only one program at a time writes.
#pragma once

#include "engine/io/open_folder.h"

#include <span>
#include <string>
#include <string_view>

namespace halfscope {

/// The file by which programs that share a folder keep each other out.
inline constexpr const char* kLockFile = ".halfscope.lock";

/// While an object lives, no other program can have one for the same folder: two that write there
/// at once would mix their files. The system ends the lock together with the process, however it
/// ends, and on whatever machine or in whatever container it runs. Where the file system has no
/// locks, nobody is kept out.
class OutputFolder : public OpenFolder {
public:
    /// Makes the folder and its parents, and removes temporary files that killed programs left.
    /// Throws RunError, also when another program has the folder; then nothing in it has changed.
    explicit OutputFolder(const std::string& path);
    ~OutputFolder();
    OutputFolder(const OutputFolder&) = delete;
    OutputFolder& operator=(const OutputFolder&) = delete;

    /// Writes a whole file, which is there completely or not at all, also after a power cut. Throws
    /// RunError.
    void write(const std::string& name, std::string_view content) const;
    /// Does the same for a content in pieces. If `before` is given, what had the name gets that
    /// name; a reader finds a whole file under `name` at any moment.
    void write(const std::string& name, std::span<const std::string_view> parts,
               const std::string& before = {}) const;

    /// Removes a file, if it is there. Throws RunError.
    void remove(const std::string& name) const;

private:
    void lock();
    void removeLeftovers() const;
    void keepAs(const std::string& before, const std::string& name) const;

    Descriptor m_lock; ///< on a file that all machines sharing the folder see
};

} // namespace halfscope
