// Opens and reads files that strangers may have written: only regular ones, because a pipe or a
// device may have no end and may never answer. Everything can be cancelled, see core/cancel.h.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <sys/stat.h>

namespace halfscope {

/// An open regular file, read from its start to its end.
class InputFile {
public:
    /// Throws InputError "PATH: cannot read: REASON"; for a folder, a pipe, a device or a socket it
    /// does so without waiting.
    explicit InputFile(std::string path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    /// The number of bytes when it was opened.
    int64_t size() const { return m_size; }
    /// Whether only this user can have written it, see isPrivate().
    bool isPrivate() const { return m_private; }
    /// Reads bytes and returns how many it read, which is 0 only at the end. Throws InputError and
    /// Cancelled.
    size_t read(std::span<char> into);
    /// Makes the next read() begin `offset` bytes after the file's start. Throws InputError.
    void skipTo(int64_t offset);
    /// Returns the same file for C libraries and gives it to them: nothing is left for read().
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream();

private:
    std::string m_path;
    int m_file = -1; ///< the descriptor
    int64_t m_size = 0;
    bool m_private = false;
};

/// Whether a file or folder belongs to this user, and neither its group nor others may write to it.
bool isPrivate(const struct stat&);

/// Every file that is read as a whole is smaller than this.
inline constexpr size_t kMostFileBytes = size_t{256} << 20;
/// Returns the whole file. Throws InputError "PATH: cannot read: REASON", also for more than `most`
/// bytes.
std::string readFile(const std::string& path, size_t most = kMostFileBytes);
/// Returns the whole file, or nothing when another user could have written it.
std::optional<std::string> readPrivateFile(const std::string& path);

} // namespace halfscope
