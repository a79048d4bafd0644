// An open folder: files in it are made, replaced and removed relative to its descriptor, so that
// nobody can divert a write by renaming a folder or placing a link meanwhile.
#pragma once

#include "engine/core/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfscope {

/// A descriptor that is closed at the end of its scope.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : m_number(number) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : m_number(std::exchange(other.m_number, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(m_number, other.m_number);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    bool isOpen() const { return m_number >= 0; }
    int number() const { return m_number; }
    bool close(); ///< whether it succeeded
    int release() { return std::exchange(m_number, -1); }

private:
    int m_number = -1;
};

/// Returns the system's words for an error number.
std::string reasonOf(int error);
/// A file has no room on the disk, or in the user's share of it.
class DiskFull : public RunError {
public:
    using RunError::RunError;
};

/// Throws RunError "PATH: cannot WHAT: REASON"; DiskFull where that is the reason.
[[noreturn]] void failFile(const std::string& path, Phrase what, int error);

/// Writes all of the content; returns 0 or the error's number. `written` counts the bytes that were
/// written.
int writeAll(int file, std::string_view content, size_t& written);
/// Opens a folder, also one that may be written but not read. When the result is not open, errno
/// tells why.
Descriptor openFolder(const std::string& path);
/// Waits until the disk has all of a file or folder; returns 0 or the error's number. What cannot
/// be waited for (a pipe, some network folders) counts as done.
int syncToDisk(int file);

/// A link counts as what it leads to. What is neither a file nor a folder (a pipe, a link that
/// leads nowhere) is among NotFolders, so that reading it can say what it is.
enum class Entries { All, Files, Folders, NotFolders };
/// Returns the names of the first `most` entries in a folder except "." and "..", in the disk's
/// order. Empty when the folder cannot be listed; then `error` is the system's number, otherwise 0.
/// Can be cancelled. Not done with the standard library's iterator, which would end the program
/// when there is no memory for a name.
std::vector<std::string> namesIn(const std::string& folder, Entries = Entries::All,
                                 int* error = nullptr, size_t most = SIZE_MAX);
/// Returns a text that changes when the file is written, replaced, or opened to others. Empty when
/// there is no such file.
std::string fileStamp(const std::string& path);

class OpenFolder {
public:
    /// Throws RunError "PATH: cannot open the folder: REASON".
    explicit OpenFolder(std::string path);
    OpenFolder(std::string path, Descriptor folder)
        : m_path(std::move(path)), m_folder(std::move(folder)) {}

    const std::string& path() const { return m_path; }
    /// Returns the path of a file for messages.
    std::string pathOf(const std::string& name) const;
    int number() const { return m_folder.number(); }

    /// Throws RunError when something has the name that must not be replaced: a folder, a pipe, a
    /// device. `shown` is its path in the message.
    void checkReplaceable(const std::string& name, const std::string& shown) const;
    /// Whether there is a file of the name, or a link, wherever it leads.
    bool hasFile(const std::string& name) const;
    /// Returns the size of a file, and -1 when there is no file of the name.
    int64_t sizeOf(const std::string& name) const;
    /// Waits until the disk has the names in the folder. Throws RunError.
    void sync() const;

private:
    std::string m_path;
    Descriptor m_folder;
};

} // namespace halfscope
