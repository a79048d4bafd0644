// Opens files without waiting, and checks what was opened.
#include "engine/io/input_file.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace halfscope {
namespace {

Message reasonOf(int error) {
    return Message::data(
        std::error_code(error == 0 ? EIO : error, std::generic_category()).message());
}
[[noreturn]] void failRead(const std::string& path, const Message& reason) {
    throw InputError(phrase("Files", "%1: cannot read: %2"), pathText(path), reason);
}

Phrase kindOf(mode_t mode) {
    if (S_ISFIFO(mode)) return phrase("Files", "it is a pipe, not a file");
    if (S_ISSOCK(mode)) return phrase("Files", "it is a socket, not a file");
    return phrase("Files", "it is a device, not a file");
}

} // namespace

InputFile::InputFile(std::string path) : m_path(std::move(path)) {
    // for the system, a name ends at its first zero byte
    if (m_path.find('\0') != std::string::npos) failRead(m_path, reasonOf(ENOENT));
    // without O_NONBLOCK, opening a pipe waits until somebody writes to it
    m_file = ::open(m_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    // it is a socket at which nobody listens, or a device without a driver
    if (m_file < 0 && errno == ENXIO)
        failRead(m_path, phrase("Files", "it is a device or a socket, not a file"));
    if (m_file < 0) failRead(m_path, reasonOf(errno));
    struct stat status {};
    const int error = ::fstat(m_file, &status) == 0 ? 0 : errno;
    if (error == 0 && S_ISREG(status.st_mode)) {
        m_size = static_cast<int64_t>(status.st_size);
        m_private = halfscope::isPrivate(status);
        return;
    }
    ::close(std::exchange(m_file, -1));
    if (error != 0) failRead(m_path, reasonOf(error));
    if (S_ISDIR(status.st_mode)) failRead(m_path, reasonOf(EISDIR));
    failRead(m_path, kindOf(status.st_mode));
}

InputFile::~InputFile() {
    if (m_file >= 0) ::close(m_file);
}

size_t InputFile::read(std::span<char> into) {
    constexpr size_t kMost = size_t{16} << 20; // large reads can be cancelled in between
    for (;;) {
        checkCancelled();
        const ssize_t count = ::read(m_file, into.data(), std::min(into.size(), kMost));
        if (count >= 0) return static_cast<size_t>(count);
        if (errno != EINTR) failRead(m_path, reasonOf(errno));
    }
}

void InputFile::skipTo(int64_t offset) {
    if (::lseek(m_file, static_cast<off_t>(offset), SEEK_SET) < 0)
        failRead(m_path, reasonOf(errno));
}

std::unique_ptr<std::FILE, int (*)(std::FILE*)> InputFile::stream() {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(::fdopen(m_file, "rb"), std::fclose);
    if (!stream) failRead(m_path, reasonOf(errno));
    m_file = -1;
    return stream;
}

bool isPrivate(const struct stat& status) {
    return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

namespace {

std::string contentOf(InputFile& file, const std::string& path, size_t most) {
    const auto check = [&](size_t bytes) {
        if (bytes > most) failRead(path, {phrase("Files", "it has more than %1 MiB"), most >> 20});
    };
    check(static_cast<size_t>(file.size())); // before it takes the time to read them
    std::string content;
    content.reserve(static_cast<size_t>(file.size()));
    std::array<char, 65536> block;
    while (const size_t count = file.read(block)) {
        content.append(block.data(), count);
        check(content.size());
    }
    return content;
}

} // namespace

std::string readFile(const std::string& path, size_t most) {
    InputFile file(path);
    return contentOf(file, path, most);
}

std::optional<std::string> readPrivateFile(const std::string& path) {
    InputFile file(path);
    if (!file.isPrivate()) return std::nullopt;
    return contentOf(file, path, kMostFileBytes);
}

} // namespace halfscope
