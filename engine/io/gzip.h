// Reads the bytes of a file, unpacked if it is a gzip file, which its first bytes tell.
#pragma once

#include "engine/io/input_file.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Returns the path without the ending .gz, in upper or lower case, if it has one.
std::string_view unpackedName(std::string_view path);

/// A file that is read from start to end with a few blocks of memory, however large it is unpacked.
class UnpackedFile {
public:
    /// Throws InputError, see InputFile.
    explicit UnpackedFile(std::string path);
    /// Reads a file in memory, which must outlive this object; `name` replaces its path in errors.
    UnpackedFile(std::string name, std::string_view bytes);
    ~UnpackedFile();
    UnpackedFile(const UnpackedFile&) = delete;
    UnpackedFile& operator=(const UnpackedFile&) = delete;

    const std::string& path() const { return m_path; }
    bool packed() const { return m_stream != nullptr; }
    int64_t size() const; ///< in bytes, as it is on disk
    /// Returns the most bytes that the file can hold: its size or, for gzip, the most that it can
    /// unpack to.
    int64_t mostBytes() const;
    /// Reads bytes and returns how many it read, which is 0 only at the end. Can be cancelled.
    /// Throws InputError for a gzip file that is damaged or ends early: when 0 is returned, its
    /// checksum has been compared.
    size_t read(std::span<char> into);
    /// Fills all of `into`. Throws InputError "PATH: ends after N bytes; M are expected".
    void readAll(std::span<char> into);
    /// Returns the number of bytes that were read.
    int64_t taken() const { return m_taken; }
    /// Returns the share of the file on the disk that they took, 0 to 1.
    double share() const;
    /// Throws InputError when the file has more bytes.
    void expectEnd();

private:
    struct Stream;
    void begin();
    bool fill();
    bool nextMember();
    size_t unpack(std::span<char> into);

    std::string m_path;
    std::optional<InputFile> m_file;
    std::string_view m_memory, m_left; ///< of a file in memory: all of it, and what is left
    std::vector<char> m_block;
    size_t m_at = 0, m_end = 0; ///< what is left of the block that was read
    int64_t m_onDisk = 0;       ///< bytes before the end of the block
    int64_t m_taken = 0;        ///< bytes that read() has returned
    std::unique_ptr<Stream> m_stream;
};

} // namespace halfscope
