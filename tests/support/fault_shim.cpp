// Stands before the system's calls on files and threads (LD_PRELOAD; fault_alloc.cpp before
// operator new) and makes one of them fail, kills the program there, or holds it; and keeps a copy
// of what the disk would have after a power cut.
//   HALFSCOPE_FAULT=KIND:N:HOW    KIND: open, read, list (a name of a folder), write, sync, rename,
//                                 unlink, close, mmap, thread, alloc (of the program's own code),
//                                 or change (any write, sync, rename, unlink or new file) HOW:
//                                 once, on (from there on), kill, hang (from there on)
//   HALFSCOPE_FAULT_MARK=FILE     made when the N-th call came
//   HALFSCOPE_FAULT_COUNTS=FILE   gets a line "KIND CALLS" of each kind when the program ends
//   HALFSCOPE_FAULT_FOLDER=FOLDER calls on files of this folder alone are counted
//   HALFSCOPE_FAULT_WAITS=1       calls are counted between halfscopeFaultsBegin() and
//                                 halfscopeFaultsEnd(), not in all of main()
//   HALFSCOPE_DISK=FOLDER         gets a file INODE with the bytes of each file that was synced,
//                                 and names.INODE with "INODE NAME" lines of each folder that was
// Calls that the C library makes for itself are not seen; fopen is one call of kind open.
#include "tests/support/fault_plan.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

using halfscope::faults::fails;
using halfscope::faults::Kind;

enum class How { Once, On, Kill, Hang };

constexpr std::array kNames{"open",   "read",  "list", "write",  "sync",  "rename",
                            "unlink", "close", "mmap", "thread", "alloc", "change"};

struct Plan {
    int kind = -1; ///< index into kNames; -1: nothing fails
    long number = 0;
    How how = How::Once;
    const char* mark = nullptr;
    const char* counts = nullptr;
    const char* folder = nullptr;
    const char* disk = nullptr;
    bool waits = false;
};

long raw(long call, long a, long b = 0, long c = 0, long d = 0) {
    return ::syscall(call, a, b, c, d);
}

Plan planOfEnvironment() {
    Plan plan;
    plan.mark = std::getenv("HALFSCOPE_FAULT_MARK");
    plan.counts = std::getenv("HALFSCOPE_FAULT_COUNTS");
    plan.folder = std::getenv("HALFSCOPE_FAULT_FOLDER");
    plan.disk = std::getenv("HALFSCOPE_DISK");
    plan.waits = std::getenv("HALFSCOPE_FAULT_WAITS") != nullptr;
    char kind[16] = "", how[8] = "";
    const char* text = std::getenv("HALFSCOPE_FAULT");
    if (!text || std::sscanf(text, "%15[a-z]:%ld:%7[a-z]", kind, &plan.number, how) != 3)
        return plan;
    for (size_t i = 0; i < kNames.size(); ++i)
        if (std::strcmp(kind, kNames[i]) == 0) plan.kind = static_cast<int>(i);
    plan.how = std::strcmp(how, "on") == 0     ? How::On
               : std::strcmp(how, "kill") == 0 ? How::Kill
               : std::strcmp(how, "hang") == 0 ? How::Hang
                                               : How::Once;
    return plan;
}

const Plan& plan() {
    static const Plan s_plan = planOfEnvironment();
    return s_plan;
}

std::atomic<bool> g_counts{false};
std::array<std::atomic<long>, kNames.size()> g_calls{};
/// By descriptor: whether it belongs to a file whose calls count.
std::array<std::atomic<bool>, 4096> g_inside{};

bool isInside(int file) {
    if (!plan().folder) return true;
    return file >= 0 && file < static_cast<int>(g_inside.size()) &&
           g_inside[static_cast<size_t>(file)];
}

bool isInside(int folder, const char* path) {
    if (!plan().folder) return true;
    if (path && path[0] == '/')
        return std::strncmp(path, plan().folder, std::strlen(plan().folder)) == 0;
    return isInside(folder);
}

void setInside(int file, bool inside) {
    if (file >= 0 && file < static_cast<int>(g_inside.size()))
        g_inside[static_cast<size_t>(file)] = inside;
}

bool comes(Kind kind) {
    const long call = ++g_calls[static_cast<size_t>(kind)];
    if (plan().kind != static_cast<int>(kind)) return false;
    const bool lasts = plan().how == How::On || plan().how == How::Hang;
    return call == plan().number || (lasts && call > plan().number);
}

/// Writes the counts when the program ends by itself.
__attribute__((destructor)) void writeCounts() {
    if (!plan().counts) return;
    const long file = raw(SYS_openat, AT_FDCWD, reinterpret_cast<long>(plan().counts),
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    for (size_t i = 0; i < kNames.size(); ++i) {
        std::array<char, 40> line;
        const int size =
            std::snprintf(line.data(), line.size(), "%s %ld\n", kNames[i], g_calls[i].load());
        raw(SYS_write, file, reinterpret_cast<long>(line.data()), size);
    }
    raw(SYS_close, file);
}

} // namespace

namespace halfscope::faults {

bool fails(Kind kind, bool changes) {
    if (!g_counts) return false;
    const bool first = comes(kind);
    const bool second = changes && comes(Kind::Change);
    if (!first && !second) return false;
    if (plan().mark) {
        const long mark = raw(SYS_openat, AT_FDCWD, reinterpret_cast<long>(plan().mark),
                              O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        raw(SYS_close, mark);
    }
    if (plan().how == How::Kill) raw(SYS_kill, raw(SYS_getpid, 0), SIGKILL);
    while (plan().how == How::Hang)
        raw(SYS_pause, 0);
    return true;
}

} // namespace halfscope::faults

namespace {

template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

long openRaw(const char* path, int flags) {
    return raw(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), flags, 0666);
}

/// Writes "DISK/INODE" with the bytes that the file has now.
void keepFile(int file, const struct stat& status) {
    std::array<char, 600> path;
    std::snprintf(path.data(), path.size(), "%s/%lu", plan().disk,
                  static_cast<unsigned long>(status.st_ino));
    const long copy = openRaw(path.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    // the file itself may be open for writing only
    std::array<char, 64> own;
    std::snprintf(own.data(), own.size(), "/proc/self/fd/%d", file);
    const long again = openRaw(own.data(), O_RDONLY | O_CLOEXEC);
    std::array<char, 65536> block;
    for (;;) {
        const long count = raw(SYS_read, again, reinterpret_cast<long>(block.data()), sizeof block);
        if (count <= 0) break;
        raw(SYS_write, copy, reinterpret_cast<long>(block.data()), count);
    }
    raw(SYS_close, again);
    raw(SYS_close, copy);
}

template <class Entry>
Entry* readRaw(DIR* folder, const char* name) {
    static auto* const real = next<Entry*(DIR*)>(name);
    return real(folder);
}

template <class Entry>
Entry* readEntry(DIR* folder, const char* name) {
    if (isInside(::dirfd(folder)) && fails(Kind::List)) {
        errno = EIO;
        return nullptr;
    }
    return readRaw<Entry>(folder, name);
}

/// Writes "DISK/names.INODE": the present names of the folder's files.
void keepFolder(int folder, const struct stat& status) {
    std::array<char, 600> path;
    std::snprintf(path.data(), path.size(), "%s/names.%lu", plan().disk,
                  static_cast<unsigned long>(status.st_ino));
    const long list = openRaw(path.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    const long own =
        raw(SYS_openat, folder, reinterpret_cast<long>("."), O_RDONLY | O_DIRECTORY, 0);
    DIR* const all = ::fdopendir(static_cast<int>(own));
    while (const dirent* entry = all ? readRaw<dirent>(all, "readdir") : nullptr) {
        if (entry->d_type != DT_REG) continue;
        std::array<char, 400> line;
        const int size = std::snprintf(line.data(), line.size(), "%lu %s\n",
                                       static_cast<unsigned long>(entry->d_ino), entry->d_name);
        raw(SYS_write, list, reinterpret_cast<long>(line.data()), size);
    }
    if (all) ::closedir(all);
    raw(SYS_close, list);
}

void synced(int file) {
    struct stat status {};
    if (!plan().disk || ::fstat(file, &status) != 0) return;
    if (S_ISREG(status.st_mode)) keepFile(file, status);
    if (S_ISDIR(status.st_mode)) keepFolder(file, status);
}

/// Registers a file that has just been made: what an earlier file with its number left does not
/// belong to it.
int made(int file, int flags) {
    struct stat status {};
    if (!plan().disk || file < 0 || (flags & O_EXCL) == 0 || ::fstat(file, &status) != 0)
        return file;
    std::array<char, 600> path;
    std::snprintf(path.data(), path.size(), "%s/%lu", plan().disk,
                  static_cast<unsigned long>(status.st_ino));
    raw(SYS_unlinkat, AT_FDCWD, reinterpret_cast<long>(path.data()), 0);
    return file;
}

int fail(int error) {
    errno = error;
    return -1;
}

mode_t modeOf(int flags, va_list arguments) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

int (*g_main)(int, char**, char**) = nullptr;

int countedMain(int count, char** arguments, char** environment) {
    g_counts = !plan().waits;
    const int code = g_main(count, arguments, environment);
    g_counts = false;
    return code;
}

} // namespace

extern "C" {

void halfscopeFaultsBegin() { g_counts = true; }
void halfscopeFaultsEnd() { g_counts = false; }

int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments, void (*init)(),
                      void (*finish)(), void (*finishLoader)(), void* stack) {
    static auto* const real = next<int(int (*)(int, char**, char**), int, char**, void (*)(),
                                       void (*)(), void (*)(), void*)>("__libc_start_main");
    g_main = main;
    return real(countedMain, count, arguments, init, finish, finishLoader, stack);
}

int openat(int folder, const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = modeOf(flags, arguments);
    va_end(arguments);
    const bool inside = isInside(folder, path);
    if (inside && fails(Kind::Open, (flags & O_CREAT) != 0))
        return fail((flags & O_CREAT) != 0 ? ENOSPC : EMFILE);
    const long file =
        raw(SYS_openat, folder, reinterpret_cast<long>(path), flags, static_cast<long>(mode));
    setInside(static_cast<int>(file), inside);
    return made(static_cast<int>(file), flags);
}

int open(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = modeOf(flags, arguments);
    va_end(arguments);
    return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));

FILE* fopen(const char* path, const char* mode) {
    static auto* const real = next<FILE*(const char*, const char*)>("fopen");
    if (isInside(AT_FDCWD, path) && fails(Kind::Open, *mode != 'r')) return fail(EMFILE), nullptr;
    return real(path, mode);
}

FILE* fopen64(const char* path, const char* mode) __attribute__((alias("fopen")));

dirent* readdir(DIR* folder) { return readEntry<dirent>(folder, "readdir"); }
dirent64* readdir64(DIR* folder) { return readEntry<dirent64>(folder, "readdir64"); }

ssize_t read(int file, void* bytes, size_t size) {
    if (isInside(file) && fails(Kind::Read)) return fail(EIO);
    return raw(SYS_read, file, reinterpret_cast<long>(bytes), static_cast<long>(size));
}

ssize_t pread(int file, void* bytes, size_t size, off_t at) {
    if (isInside(file) && fails(Kind::Read)) return fail(EIO);
    return raw(SYS_pread64, file, reinterpret_cast<long>(bytes), static_cast<long>(size), at);
}

ssize_t pread64(int file, void* bytes, size_t size, off_t at) __attribute__((alias("pread")));

ssize_t write(int file, const void* bytes, size_t size) {
    if (file > 2 && isInside(file) && fails(Kind::Write, true)) {
        // writes half of it, as a full disk does; the rest fails at the next call, or here
        const ssize_t half =
            plan().how == How::On && size > 1
                ? raw(SYS_write, file, reinterpret_cast<long>(bytes), static_cast<long>(size / 2))
                : 0;
        return half > 0 ? half : fail(ENOSPC);
    }
    return raw(SYS_write, file, reinterpret_cast<long>(bytes), static_cast<long>(size));
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
    if (isInside(file) && fails(Kind::Write, true)) return fail(ENOSPC);
    return raw(SYS_pwrite64, file, reinterpret_cast<long>(bytes), static_cast<long>(size), at);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off_t at)
    __attribute__((alias("pwrite")));

int fsync(int file) {
    if (isInside(file) && fails(Kind::Sync, true)) return fail(EIO);
    const long result = raw(SYS_fsync, file);
    if (result == 0) synced(file);
    return static_cast<int>(result);
}

int fdatasync(int file) { return fsync(file); }

int renameat2(int from, const char* old, int to, const char* name, unsigned flags) {
    if (isInside(to, name) && fails(Kind::Rename, true)) return fail(EIO);
    return static_cast<int>(::syscall(SYS_renameat2, from, old, to, name, flags));
}

int renameat(int from, const char* old, int to, const char* name) {
    return renameat2(from, old, to, name, 0);
}

int rename(const char* old, const char* name) { return renameat(AT_FDCWD, old, AT_FDCWD, name); }

int unlinkat(int folder, const char* name, int flags) {
    if (isInside(folder, name) && fails(Kind::Unlink, true)) return fail(EIO);
    return static_cast<int>(raw(SYS_unlinkat, folder, reinterpret_cast<long>(name), flags));
}

int unlink(const char* name) { return unlinkat(AT_FDCWD, name, 0); }

int remove(const char* name) {
    const int file = unlink(name);
    return file == 0 || errno != EISDIR ? file : unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}

int close(int file) {
    const bool failed = file > 2 && isInside(file) && fails(Kind::Close);
    setInside(file, false);
    const long result = raw(SYS_close, file);
    return failed ? fail(EIO) : static_cast<int>(result);
}

void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
    if (fails(Kind::Mmap)) return fail(ENOMEM), MAP_FAILED;
    return reinterpret_cast<void*>(::syscall(SYS_mmap, at, size, protection, flags, file, offset));
}

void* mmap64(void* at, size_t size, int protection, int flags, int file, off_t offset)
    __attribute__((alias("mmap")));

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) {
    static auto* const real =
        next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
    if (fails(Kind::Thread)) return EAGAIN;
    return real(thread, attributes, work, argument);
}
}
