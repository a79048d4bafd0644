// Calls of the system relative to a folder's descriptor, with the words of their errors.
#include "engine/io/open_folder.h"

#include "engine/core/error.h"

#include <cerrno>
#include <system_error>

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

void OpenFolder::sync() const {
    if (const int error = syncToDisk(number()))
        failFile(m_path, phrase("Files", "%1: cannot write the folder to disk: %2"), error);
}

} // namespace halfscope
