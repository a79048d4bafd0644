// Writes whole files, and into devices that have the name of a file.
#include "engine/io/atomic_file.h"

#include "engine/core/error.h"
#include "engine/io/growing_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halfscope {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void failWrite(const std::string& path, const std::string& reason) {
    throw RunError(phrase("Files", "%1: cannot write: %2"), path, reason);
}

// Returns the file that is replaced: the one that a link leads to, so that the link stays a link.
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

void writeDirectly(const std::string& path, const std::string& device,
                   std::span<const std::string_view> parts) {
    Descriptor file(::open(device.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.isOpen()) failWrite(path, reasonOf(errno));
    size_t written = 0;
    for (const std::string_view part : parts)
        if (const int error = writeAll(file.number(), part, written))
            failWrite(path, reasonOf(error));
    if (!file.close()) failWrite(path, reasonOf(errno));
}

} // namespace

void reserveStandardFiles() {
    // The lowest free number is taken first, so the loop ends with one that is not a standard
    // stream's.
    int number = -1;
    do {
        number = ::open("/dev/null", O_RDONLY);
    } while (number >= 0 && number <= STDERR_FILENO);
    if (number >= 0) ::close(number);
}

void writeFileAtomically(const std::string& path, std::string_view content) {
    writeFileAtomically(path, std::span(&content, 1));
}

void writeFileAtomically(const std::string& path, std::span<const std::string_view> parts) {
    if (fs::path(path).filename().empty()) failWrite(path, "this is not a file name");
    const fs::path target = targetOf(path);
    if (isSpecial(target.string())) {
        writeDirectly(path, target.string(), parts);
        return;
    }
    const std::string parent = target.parent_path().string();
    Descriptor opened = openFolder(parent.empty() ? "." : parent);
    if (!opened.isOpen()) failWrite(path, reasonOf(errno));
    const OpenFolder folder(parent, std::move(opened));
    GrowingFile file(folder, target.filename().string(), path);
    file.append(parts);
    file.finish();
    folder.sync();
}

} // namespace halfscope
