// Reads zip archives of stored or deflated files. Archives may come from strangers, so what a
// header says is checked against the archive's size before anything is read or allocated.
#pragma once

#include "engine/core/message.h"
#include "engine/io/input_file.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// A file in an archive, as described by the list at the archive's end.
struct ZipEntry {
    std::string name;
    int64_t header = 0; ///< position of the file's own header
    int64_t packed = 0; ///< size in the archive, in bytes
    int64_t bytes = 0;  ///< size of the file, in bytes
    uint32_t checksum = 0;
    int method = 0; ///< 0: stored; 8: deflated
    bool encrypted = false;
};

class ZipFile {
public:
    /// Reads the list. Throws InputError "PATH: cannot be read as a zip archive, because WHAT",
    /// also for an archive of more than 4 GiB or 65,534 files.
    explicit ZipFile(std::string path);

    std::span<const ZipEntry> entries() const { return m_entries; }

private:
    friend class ZipReader;
    [[noreturn]] void fail(const Message& what) const;
    std::string readAt(int64_t offset, int64_t bytes);
    void readEntry(std::string_view& list);

    std::string m_path;
    InputFile m_file;
    int64_t m_list = 0; ///< position of the list, behind all files
    std::vector<ZipEntry> m_entries;
};

/// Reads the content of one file, from its start to its end. An archive can have only one reader at
/// a time and must outlive it.
class ZipReader {
public:
    /// Throws InputError when the file is encrypted or packed by another method, when its header is
    /// damaged, and when it claims more bytes than the packed ones can hold.
    ZipReader(ZipFile&, const ZipEntry&);
    ~ZipReader();
    ZipReader(const ZipReader&) = delete;
    ZipReader& operator=(const ZipReader&) = delete;

    /// Returns 0 only at the end, after it has compared the checksum. Cancellable. Throws
    /// InputError when the file is damaged.
    size_t read(std::span<char> into);

private:
    struct Stream;
    size_t fill();
    size_t unpack(std::span<char> into);

    ZipFile& m_zip;
    const ZipEntry m_entry;
    int64_t m_packedLeft, m_left; ///< bytes still to read and to return
    uint32_t m_checksum = 0;
    std::vector<char> m_block;
    std::unique_ptr<Stream> m_stream; ///< only for a deflated file
};

} // namespace halfscope
