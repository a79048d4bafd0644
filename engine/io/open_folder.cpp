// Calls of the system relative to a folder's descriptor, and the words for their errors.
#include "engine/io/open_folder.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"

#include <cerrno>
#include <memory>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halfscope {

bool Descriptor::close() {
    const int number = std::exchange(m_number, -1);
    return number < 0 || ::close(number) == 0;
}

std::string reasonOf(int error) {
    return std::error_code(error == 0 ? EIO : error, std::generic_category()).message();
}

void failFile(const std::string& path, Phrase what, int error) {
    if (error == ENOSPC || error == EDQUOT) throw DiskFull(what, path, reasonOf(error));
    throw RunError(what, path, reasonOf(error));
}

int writeAll(int file, std::string_view content, size_t& written) {
    while (!content.empty()) {
        const ssize_t count = ::write(file, content.data(), content.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        content.remove_prefix(static_cast<size_t>(count));
        written += static_cast<size_t>(count);
    }
    return 0;
}

int syncToDisk(int file) {
    while (::fsync(file) != 0) {
        if (errno == EINVAL || errno == EROFS || errno == ENOTSUP) return 0;
        if (errno == EBADF) return 0; // a folder that may not be read
        if (errno != EINTR) return errno;
    }
    return 0;
}

Descriptor openFolder(const std::string& path) {
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.isOpen() || errno != EACCES) return folder;
    return Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

namespace {

bool isWanted(DIR* folder, const dirent& entry, Entries wanted) {
    const std::string_view name = entry.d_name;
    if (name == "." || name == "..") return false;
    if (wanted == Entries::All) return true;
    const bool known = entry.d_type != DT_UNKNOWN && entry.d_type != DT_LNK;
    struct stat status {};
    if (!known && ::fstatat(::dirfd(folder), entry.d_name, &status, 0) != 0)
        return wanted == Entries::NotFolders;
    const unsigned type = known ? entry.d_type : IFTODT(status.st_mode);
    if (wanted == Entries::Files) return type == DT_REG;
    return (type == DT_DIR) == (wanted == Entries::Folders);
}

} // namespace

std::vector<std::string> namesIn(const std::string& folder, Entries wanted, int* error,
                                 size_t most) {
    if (error) *error = 0;
    const auto close = [](DIR* list) { ::closedir(list); };
    const std::unique_ptr<DIR, decltype(close)> list(::opendir(folder.c_str()), close);
    std::vector<std::string> names;
    errno = list ? 0 : errno;
    while (const dirent* entry = list ? ::readdir(list.get()) : nullptr) {
        checkCancelled();
        if (names.size() == most) return names;
        if (isWanted(list.get(), *entry, wanted)) names.emplace_back(entry->d_name);
        errno = 0; // only errno tells the end from a failure
    }
    if (errno == 0) return names;
    if (error) *error = errno;
    return {};
}

std::string fileStamp(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    std::string stamp;
    for (const auto part :
         {int64_t(status.st_ino), int64_t(status.st_mtim.tv_sec), int64_t(status.st_mtim.tv_nsec),
          int64_t(status.st_size), int64_t(status.st_mode)})
        stamp += std::to_string(part) + "/";
    return stamp;
}

OpenFolder::OpenFolder(std::string path) : m_path(std::move(path)), m_folder(openFolder(m_path)) {
    if (!m_folder.isOpen())
        failFile(m_path, phrase("Files", "%1: cannot open the folder: %2"), errno);
}

std::string OpenFolder::pathOf(const std::string& name) const {
    return m_path.ends_with('/') ? m_path + name : m_path + '/' + name;
}

void OpenFolder::checkReplaceable(const std::string& name, const std::string& shown) const {
    struct stat status {};
    if (::fstatat(number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISDIR(status.st_mode)) failFile(shown, phrase("Files", "%1: cannot write: %2"), EISDIR);
    if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
        throw RunError(phrase("Files", "%1: cannot write: it is neither a file nor a link"), shown);
}

bool OpenFolder::hasFile(const std::string& name) const {
    struct stat status {};
    return ::fstatat(number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode));
}

int64_t OpenFolder::sizeOf(const std::string& name) const {
    struct stat status {};
    const bool there = ::fstatat(number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                       S_ISREG(status.st_mode);
    return there ? int64_t{status.st_size} : -1;
}

void OpenFolder::sync() const {
    if (const int error = syncToDisk(number()))
        failFile(m_path, phrase("Files", "%1: cannot write the folder to disk: %2"), error);
}

} // namespace halfscope
