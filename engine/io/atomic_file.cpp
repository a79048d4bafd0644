// Whole files and growing files, written under a temporary name and renamed when they are complete.
// What is in the files is the callers' business.
#include "engine/io/atomic_file.h"

#include "engine/core/error.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halfscope {
namespace {

namespace fs = std::filesystem;

std::string reasonOf(int error) {
    return std::error_code(error == 0 ? EIO : error, std::generic_category()).message();
}
[[noreturn]] void failWrite(const std::string& path, const std::string& reason) {
    throw RunError(path + ": cannot write: " + reason);
}

/// An open file: closed at the end of its scope, and close() tells whether that went well.
class Descriptor {
public:
    Descriptor(const std::string& path, int flags) : m_fd(::open(path.c_str(), flags, 0666)) {}
    ~Descriptor() {
        if (m_fd >= 0) ::close(m_fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    bool isOpen() const { return m_fd >= 0; }
    int number() const { return m_fd; }
    bool close() { return ::close(std::exchange(m_fd, -1)) == 0; }

private:
    int m_fd;
};

/// Removes a temporary file unless it was renamed.
class TemporaryFile {
public:
    explicit TemporaryFile(std::string path) : m_path(std::move(path)) {}
    ~TemporaryFile() {
        if (!m_path.empty()) ::unlink(m_path.c_str());
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    bool renameTo(const std::string& target) {
        if (::rename(m_path.c_str(), target.c_str()) != 0) return false;
        m_path.clear();
        return true;
    }

private:
    std::string m_path;
};

// The file that is replaced: behind links, so that a link stays one.
std::string targetOf(const std::string& path) {
    std::error_code ignored;
    const fs::path resolved = fs::canonical(path, ignored);
    return resolved.empty() ? path : resolved.string();
}

// A device or a pipe (/dev/stdout) is written to, not replaced.
bool isSpecial(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
}

// Hidden, in the same folder (a rename must not cross file systems), and different for each
// process and call.
std::string temporaryNameFor(const std::string& path) {
    static std::atomic<unsigned> s_number{0};
    const fs::path target(path);
    const std::string name = "." + target.filename().string() + "." + std::to_string(::getpid()) +
                             "-" + std::to_string(s_number++) + ".tmp";
    return (target.parent_path() / name).string();
}

// Whether a file has a name of the form above, and the process that made it is gone: one that was
// killed leaves what it had.
bool isOrphan(std::string_view name) {
    constexpr std::string_view kEnd = ".tmp";
    if (!name.starts_with('.') || !name.ends_with(kEnd)) return false;
    name.remove_suffix(kEnd.size());
    name.remove_prefix(name.rfind('.') + 1);
    const char* const last = name.data() + name.size();
    pid_t process = 0;
    const auto [end, code] = std::from_chars(name.data(), last, process);
    if (code != std::errc{} || process <= 0 || end == last || *end != '-') return false;
    return ::kill(process, 0) != 0 && errno == ESRCH;
}

void removeOrphans(const std::string& folder) {
    std::error_code ignored;
    for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored))
        if (isOrphan(at->path().filename().string())) fs::remove(at->path(), ignored);
}

// 0, or the error.
int writeAll(int file, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(file, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        content.remove_prefix(static_cast<size_t>(written));
    }
    return 0;
}

constexpr size_t kBlock = 65536;

// Keeps the part up to the last end of line: a full disk cuts a row in two. Reads from the end,
// because a file that filled a disk is large. False where that fails.
bool cutAtLastLine(const std::string& path) {
    const Descriptor file(path, O_RDWR | O_CLOEXEC);
    off_t size = file.isOpen() ? ::lseek(file.number(), 0, SEEK_END) : -1;
    std::array<char, kBlock> block;
    while (size > 0) {
        const off_t from = std::max<off_t>(size - static_cast<off_t>(kBlock), 0);
        const ssize_t count = ::pread(file.number(), block.data(), block.size(), from);
        if (count <= 0) return false;
        const size_t end = std::string_view(block.data(), static_cast<size_t>(count)).rfind('\n');
        size = end == std::string_view::npos ? from : from + static_cast<off_t>(end) + 1;
        if (end != std::string_view::npos) break;
    }
    return size >= 0 && ::ftruncate(file.number(), size) == 0;
}

} // namespace

void reserveStandardFiles() {
    // The lowest free number is taken first: the loop ends with one that is no standard stream's.
    int number = -1;
    do {
        number = ::open("/dev/null", O_RDONLY);
    } while (number >= 0 && number <= STDERR_FILENO);
    if (number >= 0) ::close(number);
}

void writeFileAtomically(const std::string& path, std::string_view content) {
    if (fs::path(path).filename().empty()) failWrite(path, "this is not a file name");
    const std::string target = targetOf(path);
    const bool direct = isSpecial(target);
    const std::string name = direct ? target : temporaryNameFor(target);
    Descriptor file(name, O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_EXCL));
    if (!file.isOpen()) failWrite(path, reasonOf(errno));
    TemporaryFile temporary(direct ? std::string() : name);

    const int error = writeAll(file.number(), content);
    if (error != 0) failWrite(path, reasonOf(error));
    if (!file.close()) failWrite(path, reasonOf(errno));
    if (!direct && !temporary.renameTo(target)) failWrite(path, reasonOf(errno));
}

std::string readFile(const std::string& path) {
    const auto fail = [&](const std::string& reason) {
        throw InputError(path + ": cannot read: " + reason);
    };
    const Descriptor file(path, O_RDONLY | O_CLOEXEC);
    if (!file.isOpen()) fail(reasonOf(errno));
    std::string content;
    struct stat status {};
    if (::fstat(file.number(), &status) == 0 && status.st_size > 0)
        content.reserve(std::min(static_cast<size_t>(status.st_size), kMostFileBytes));
    std::array<char, kBlock> block;
    for (;;) {
        const ssize_t count = ::read(file.number(), block.data(), block.size());
        if (count == 0) return content;
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail(reasonOf(errno));
        content.append(block.data(), static_cast<size_t>(count));
        if (content.size() > kMostFileBytes)
            fail("it has more than " + std::to_string(kMostFileBytes >> 20) + " MiB");
    }
}

void makeOutputFolder(const std::string& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw RunError(path + ": cannot create the folder: " + error.message());
    if (!fs::is_directory(path, error)) throw RunError(path + ": this is a file, not a folder");
    const std::string probe = temporaryNameFor((fs::path(path) / "probe").string());
    const Descriptor file(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
    if (!file.isOpen()) throw RunError(path + ": cannot write to this folder: " + reasonOf(errno));
    const TemporaryFile remove(probe);
    removeOrphans(path);
}

FolderLock::FolderLock(const std::string& folder)
    : m_folder(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (m_folder < 0 || ::flock(m_folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(m_folder);
    throw RunError(folder +
                   ": another run is writing into this folder; only one may do so at a time");
}

FolderLock::~FolderLock() {
    if (m_folder >= 0) ::close(m_folder);
}

GrowingFile::GrowingFile(std::string path) : m_path(std::move(path)) {
    if (fs::path(m_path).filename().empty()) failWrite(m_path, "this is not a file name");
    const std::string target = targetOf(m_path);
    // Not only when the run is over and the rename fails.
    std::error_code ignored;
    if (fs::is_directory(target, ignored)) failWrite(m_path, reasonOf(EISDIR));
    m_temporary = isSpecial(target) ? target : temporaryNameFor(target);
    errno = 0;
    m_stream.open(m_temporary, std::ios::binary | std::ios::out);
    if (!m_stream) failWrite(m_path, reasonOf(errno));
}

GrowingFile::~GrowingFile() {
    if (m_finished) return;
    try {
        if (m_stream && m_written) {
            finish();
            return;
        }
    } catch (const RunError&) {
        // A destructor has nobody to tell; what is on the disk is still worth keeping, below.
    }
    const std::string target = targetOf(m_path);
    if (m_temporary == target) return;
    TemporaryFile temporary(m_temporary);
    m_stream.clear();
    m_stream.close();
    if (m_written && cutAtLastLine(m_temporary)) temporary.renameTo(target);
}

void GrowingFile::append(std::string_view text) {
    errno = 0;
    m_written = m_written || !text.empty();
    m_stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!m_stream) failWrite(m_path, reasonOf(errno));
}

void GrowingFile::finish() {
    if (m_finished) return;
    errno = 0;
    m_stream.flush();
    if (!m_stream) failWrite(m_path, reasonOf(errno));
    m_stream.close();
    if (!m_stream) failWrite(m_path, reasonOf(errno));
    const std::string target = targetOf(m_path);
    if (m_temporary != target && ::rename(m_temporary.c_str(), target.c_str()) != 0)
        failWrite(m_path, reasonOf(errno));
    m_finished = true;
}

} // namespace halfscope
