// Writing whole files: to a temporary name beside the target, flushed, then renamed, so that a
// reader never sees half a file and a full disk loses nothing that was there.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace halfscope {

/// Call first in main(): where a standard stream is closed, the next file would get its number, and
/// what is printed would go into that file. Afterwards printing there fails, as it should.
void reserveStandardFiles();

/// RunError "PATH: cannot write: REASON" on any failure; the temporary file is removed.
void writeFileAtomically(const std::string& path, std::string_view content);
/// The whole file; InputError "PATH: cannot read: REASON", also for more than kMostFileBytes: no
/// file of the program is as large, and a device such as /dev/zero has no end.
inline constexpr size_t kMostFileBytes = size_t{256} << 20;
std::string readFile(const std::string& path);
/// Creates the folder and its parents and checks that a file can be made in it; RunError otherwise.
/// Temporary files that a killed program left there are removed.
void makeOutputFolder(const std::string& path);

/// While it lives no other program can have one for the same folder: two that write there at once
/// would mix their files. RunError when another one has it. It ends with the process at the latest,
/// and leaves nothing behind. Where the file system knows no locks it keeps nobody out.
class FolderLock {
public:
    explicit FolderLock(const std::string& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    int m_folder; ///< descriptor
};

/// A growing text file (steps.csv): rows go to a temporary name, finish() flushes and renames. A
/// destructor without finish() also keeps what was written, under the final name (interrupts);
/// where nothing was, an earlier file of that name stays.
class GrowingFile {
public:
    explicit GrowingFile(std::string path);
    ~GrowingFile();
    GrowingFile(const GrowingFile&) = delete;
    GrowingFile& operator=(const GrowingFile&) = delete;
    void append(std::string_view text); ///< RunError when the disk is full
    void finish();

private:
    std::string m_path, m_temporary;
    std::ofstream m_stream;
    bool m_written = false; ///< something was appended
    bool m_finished = false;
};

} // namespace halfscope
