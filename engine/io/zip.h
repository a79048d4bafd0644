// Reads zip archives of plain or deflated files. Archives may come from strangers: what a header
// says is checked against the archive's size before anything is read or allocated.
#pragma once

#include "engine/core/message.h"
#include "engine/io/input_file.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// A file in an archive, as the list at the archive's end has it.
struct ZipEntry {
    std::string name;
    int64_t header = 0; ///< where its own header begins
    int64_t packed = 0; ///< bytes in the archive
    int64_t bytes = 0;  ///< bytes of the file
    uint32_t checksum = 0;
    int method = 0; ///< 0: as it is; 8: deflated
    bool encrypted = false;
};

class ZipFile {
public:
    /// Reads the list. InputError "PATH: not a zip archive that can be read: WHAT", also for one of
    /// more than 4 GiB or 65,534 files.
    explicit ZipFile(std::string path);

    std::span<const ZipEntry> entries() const { return m_entries; }

private:
    friend class ZipReader;
    [[noreturn]] void fail(const Message& what) const;
    std::string readAt(int64_t offset, int64_t bytes);
    void readEntry(std::string_view& list);

    std::string m_path;
    InputFile m_file;
    int64_t m_list = 0; ///< where the list begins, behind all files
    std::vector<ZipEntry> m_entries;
};

/// The content of one file, from its start to its end. One at a time of an archive, which outlives
/// it.
class ZipReader {
public:
    /// InputError for what is encrypted or packed in another way, for a damaged header, and for
    /// more bytes than the packed ones can hold.
    ZipReader(ZipFile&, const ZipEntry&);
    ~ZipReader();
    ZipReader(const ZipReader&) = delete;
    ZipReader& operator=(const ZipReader&) = delete;

    /// 0 at the end only, after the checksum was compared. Cancellable. InputError for what is
    /// damaged.
    size_t read(std::span<char> into);

private:
    struct Stream;
    size_t fill();
    size_t unpack(std::span<char> into);

    ZipFile& m_zip;
    const ZipEntry m_entry;
    int64_t m_packedLeft, m_left; ///< bytes
    uint32_t m_checksum = 0;
    std::vector<char> m_block;
    std::unique_ptr<Stream> m_stream; ///< of a deflated file
};

} // namespace halfscope
