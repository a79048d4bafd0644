// Temporary names, and the bytes that go to them.
#include "engine/io/growing_file.h"

#include "engine/core/error.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halfscope {
namespace {

constexpr size_t kGatherBytes = 1 << 16;
constexpr int kMostNames = 1000; // names that are tried

constexpr std::string_view kEnd = ".tmp";
constexpr size_t kMostKept = 200; // bytes of the name that a temporary one tells, of 255 in all

bool isNumber(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
}

} // namespace

// The name is in the same folder, because a rename must not cross file systems, and differs at each
// call. The process's number only makes a free name likely: O_EXCL decides.
std::string temporaryNameFor(const std::string& name) {
    static std::atomic<unsigned> s_number{0};
    size_t kept = std::min(name.size(), kMostKept);
    while (kept < name.size() && (name[kept] & 0xC0) == 0x80)
        --kept; // a character stays whole: some disks take only UTF-8
    return "." + name.substr(0, kept) + "." + std::to_string(::getpid()) + "-" +
           std::to_string(s_number++) + std::string(kEnd);
}

bool isTemporaryName(std::string_view name) {
    if (!name.starts_with('.') || !name.ends_with(kEnd)) return false;
    name.remove_suffix(kEnd.size());
    const size_t point = name.rfind('.'), line = name.rfind('-');
    return point != std::string_view::npos && point > 1 && line != std::string_view::npos &&
           line > point && isNumber(name.substr(point + 1, line - point - 1)) &&
           isNumber(name.substr(line + 1));
}

GrowingFile::GrowingFile(const OpenFolder& folder, std::string name, std::string shown)
    : m_folder(folder), m_name(std::move(name)), m_shown(std::move(shown)) {
    if (m_shown.empty()) m_shown = m_folder.pathOf(m_name);
    m_folder.checkReplaceable(m_name, m_shown);
    open();
}

void GrowingFile::open() {
    for (int tried = 0; tried < kMostNames; ++tried) {
        m_temporary = temporaryNameFor(m_name);
        // appending: what follows in a file that another program empties would otherwise leave a
        // hole before it, and the file would have the size that it should have
        constexpr int kNew = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
        m_file = Descriptor(::openat(m_folder.number(), m_temporary.c_str(), kNew, 0666));
        if (!m_file.isOpen() && errno == EEXIST) continue;
        if (!m_file.isOpen()) failFile(m_shown, phrase("Files", "%1: cannot write: %2"), errno);
        ::flock(m_file.number(), LOCK_EX | LOCK_NB); // some file systems have no locks
        struct stat status {};
        // another program that looks for leftovers may have removed it before it was locked
        if (::fstat(m_file.number(), &status) != 0 || status.st_nlink > 0) return;
    }
    failFile(m_shown, phrase("Files", "%1: cannot write: %2"), EEXIST);
}

GrowingFile::~GrowingFile() {
    if (!m_file.isOpen()) return;
    if (!m_temporary.empty())
        ::unlinkat(m_folder.number(), m_temporary.c_str(), 0);
    else if (write() != 0)
        cutAt(m_lineEnd); // a full disk cuts a row in two
}

/// Writes what was gathered; returns 0 or the error's number.
int GrowingFile::write() {
    size_t written = 0;
    const int error = writeAll(m_file.number(), m_gathered, written);
    const size_t end = std::string_view(m_gathered).substr(0, written).rfind('\n');
    if (end != std::string_view::npos) m_lineEnd = m_written + static_cast<int64_t>(end) + 1;
    m_gathered.erase(0, written);
    m_written += static_cast<int64_t>(written);
    return error;
}

void GrowingFile::append(std::string_view text) {
    m_gathered += text;
    if (m_gathered.size() >= kGatherBytes) flush();
}

void GrowingFile::append(std::span<const std::string_view> parts) {
    constexpr size_t kPiece = size_t{1}
                              << 20; // a copy of a large array would take its memory a second time
    for (const std::string_view part : parts)
        for (size_t at = 0; at < part.size(); at += kPiece)
            append(part.substr(at, kPiece));
}

void GrowingFile::flush() {
    if (const int error = write())
        failFile(m_shown, phrase("Files", "%1: cannot write: %2"), error);
}

void GrowingFile::sync() {
    flush();
    if (const int error = syncToDisk(m_file.number()))
        failFile(m_shown, phrase("Files", "%1: cannot write to disk: %2"), error);
}

void GrowingFile::place() {
    m_folder.checkReplaceable(m_name, m_shown);
    if (::renameat(m_folder.number(), m_temporary.c_str(), m_folder.number(), m_name.c_str()) != 0)
        failFile(m_shown, phrase("Files", "%1: cannot give the new file its name: %2"), errno);
    m_temporary.clear();
    ::flock(m_file.number(), LOCK_UN);
}

bool GrowingFile::equalsNamed() const {
    constexpr int kRead = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const Descriptor own(::openat(m_folder.number(), m_temporary.c_str(), kRead));
    const Descriptor named(::openat(m_folder.number(), m_name.c_str(), kRead));
    struct stat ownStatus {
    }, namedStatus{};
    if (::fstat(own.number(), &ownStatus) != 0 || ::fstat(named.number(), &namedStatus) != 0 ||
        !S_ISREG(namedStatus.st_mode) || ownStatus.st_size != namedStatus.st_size)
        return false;
    std::vector<char> one(kGatherBytes), other(kGatherBytes);
    for (off_t at = 0; at < ownStatus.st_size;) {
        const ssize_t count = ::pread(own.number(), one.data(), one.size(), at);
        if (count <= 0) return false;
        const auto bytes = static_cast<size_t>(count);
        if (::pread(named.number(), other.data(), bytes, at) != count ||
            std::memcmp(one.data(), other.data(), bytes) != 0)
            return false;
        at += count;
    }
    return true;
}

void GrowingFile::finish() {
    if (!m_file.isOpen()) return;
    sync();
    if (!m_temporary.empty()) place();
    if (!m_file.close()) failFile(m_shown, phrase("Files", "%1: cannot write: %2"), errno);
}

bool GrowingFile::isIntact() const {
    struct stat named {
    }, open{};
    if (::fstat(m_file.number(), &open) != 0) return true;
    if (::fstatat(m_folder.number(), m_name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0)
        return errno != ENOENT && errno != ESTALE;
    return named.st_dev == open.st_dev && named.st_ino == open.st_ino && open.st_size == m_written;
}

void GrowingFile::cutAt(int64_t bytes) noexcept {
    m_gathered.clear();
    if (!m_file.isOpen() || bytes >= m_written) return;
    struct stat status {};
    // one that another program has cut already must not grow again
    const bool longer = ::fstat(m_file.number(), &status) != 0 || status.st_size > bytes;
    if (longer && ::ftruncate(m_file.number(), bytes) == 0) m_written = bytes;
}

} // namespace halfscope
