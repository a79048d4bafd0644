// Opens and reads files that strangers may have written: regular ones only, for a pipe or a device
// may have no end and may never answer. All of it is cancellable, see core/cancel.h.
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
    /// InputError "PATH: cannot read: REASON"; for a folder, a pipe, a device or a socket without
    /// waiting for it.
    explicit InputFile(std::string path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    /// Bytes when it was opened.
    int64_t size() const { return m_size; }
    /// Whether only this user can have written it, see isPrivate().
    bool isPrivate() const { return m_private; }
    /// How many bytes were read: 0 at the end only. InputError; Cancelled.
    size_t read(std::span<char> into);
    /// The next read() begins so many bytes after the file's start. InputError.
    void skipTo(int64_t offset);
    /// The same file for C libraries, which takes it over: read() has no more to read.
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream();

private:
    std::string m_path;
    int m_file = -1; ///< descriptor
    int64_t m_size = 0;
    bool m_private = false;
};

/// Whether a file or folder belongs to this user, and neither the group nor all may write to it.
bool isPrivate(const struct stat&);

/// No file that is read as a whole is as large.
inline constexpr size_t kMostFileBytes = size_t{256} << 20;
/// The whole file; InputError "PATH: cannot read: REASON", also for more than `most` bytes.
std::string readFile(const std::string& path, size_t most = kMostFileBytes);
/// The same; nothing where another user could have written it.
std::optional<std::string> readPrivateFile(const std::string& path);

} // namespace halfscope
