// Locks a folder, and removes what killed programs left in it.
#include "engine/io/output_folder.h"

#include "engine/core/error.h"
#include "engine/io/growing_file.h"

#include <cerrno>
#include <filesystem>
#include <memory>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halfscope {
namespace {

namespace fs = std::filesystem;

/// Makes a folder and its parents, of which the new ones survive a power cut.
const std::string& made(const std::string& path) {
    std::error_code error;
    std::vector<fs::path> parents;
    for (fs::path at = fs::absolute(path, error); !at.empty() && !fs::exists(at, error);
         at = at.parent_path())
        parents.push_back(at.parent_path());
    fs::create_directories(path, error);
    if (error)
        throw RunError(phrase("Files", "%1: cannot create the folder: %2"), path, error.message());
    if (!fs::is_directory(path, error))
        throw RunError(phrase("Files", "%1: this is a file, not a folder"), path);
    for (const fs::path& parent : parents) {
        const Descriptor folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!folder.isOpen()) continue; // a parent that may not be read
        if (const int failed = syncToDisk(folder.number()))
            failFile(path, phrase("Files", "%1: cannot write the folder to disk: %2"), failed);
    }
    return path;
}

[[noreturn]] void refuse(const std::string& folder) {
    throw RunError(
        phrase("Files",
               "%1: another run is writing into this folder; only one may do so at a time"),
        folder);
}

/// Whether the file of a descriptor still has its name in a folder.
bool hasName(int folder, const char* name, int file) {
    struct stat named {
    }, open{};
    return ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(file, &open) == 0 &&
           named.st_ino == open.st_ino && named.st_dev == open.st_dev;
}

/// Whether no program writes a temporary file any more.
bool isAbandoned(int folder, const char* name) {
    const Descriptor file(::openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    return file.isOpen() && ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) &&
           ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

} // namespace

OutputFolder::OutputFolder(const std::string& path) : OpenFolder(made(path)) {
    lock();
    removeLeftovers();
}

OutputFolder::~OutputFolder() {
    if (m_lock.isOpen()) ::unlinkat(number(), kLockFile, 0); // while it is still locked
}

// Two locks: the one on the folder itself needs no file, and earlier versions know it, but network
// folders can only lock files.
void OutputFolder::lock() {
    if (::flock(number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) refuse(path());
    const auto fail = [this] {
        failFile(path(), phrase("Files", "%1: cannot write to this folder: %2"), errno);
    };
    for (;;) {
        constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
        Descriptor file(::openat(number(), kLockFile, kFlags, 0666));
        if (!file.isOpen() && errno == ELOOP && ::unlinkat(number(), kLockFile, 0) == 0) continue;
        if (!file.isOpen()) fail();
        struct flock whole {};
        whole.l_type = F_WRLCK;
        whole.l_whence = SEEK_SET;
        const bool locked = ::fcntl(file.number(), F_OFD_SETLK, &whole) == 0;
        if (!locked && (errno == EAGAIN || errno == EACCES)) refuse(path());
        // the program that had the lock before removes the file at its end
        if (!hasName(number(), kLockFile, file.number())) continue;
        m_lock = std::move(file);
        return;
    }
}

void OutputFolder::removeLeftovers() const {
    const auto closeFolder = [](DIR* folder) { ::closedir(folder); };
    Descriptor own(::openat(number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::unique_ptr<DIR, decltype(closeFolder)> all(
        own.isOpen() ? ::fdopendir(own.number()) : nullptr, closeFolder);
    if (!all) return;
    own.release(); // it belongs to the list now
    while (const dirent* entry = ::readdir(all.get()))
        if (isTemporaryName(entry->d_name) && isAbandoned(number(), entry->d_name))
            ::unlinkat(number(), entry->d_name, 0);
}

void OutputFolder::remove(const std::string& name) const {
    if (::unlinkat(number(), name.c_str(), 0) != 0 && errno != ENOENT)
        failFile(pathOf(name), phrase("Files", "%1: cannot remove: %2"), errno);
}

void OutputFolder::write(const std::string& name, std::string_view content) const {
    write(name, std::span(&content, 1));
}

void OutputFolder::write(const std::string& name, std::span<const std::string_view> parts,
                         const std::string& before) const {
    GrowingFile file(*this, name);
    file.append(parts);
    file.sync();
    if (!before.empty() && hasFile(name)) keepAs(before, name);
    file.finish();
    sync();
}

/// Keeps the file under a second name, so that the first name always leads to a file.
void OutputFolder::keepAs(const std::string& before, const std::string& name) const {
    checkReplaceable(before, pathOf(before));
    const std::string second = temporaryNameFor(before);
    std::string from = second;
    if (::linkat(number(), name.c_str(), number(), second.c_str(), 0) != 0)
        from = name; // for file systems that allow only one name per file
    const bool kept = ::renameat(number(), from.c_str(), number(), before.c_str()) == 0;
    const int error = errno;
    ::unlinkat(number(), second.c_str(), 0); // two names of one file are not renamed
    if (!kept)
        failFile(pathOf(before), phrase("Files", "%1: cannot keep the earlier file: %2"), error);
}

} // namespace halfscope
