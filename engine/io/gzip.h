// A file's bytes, unpacked where it is a gzip file. Which one it is, its first bytes tell.
#pragma once

#include "engine/io/input_file.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Read from start to end with a few blocks of memory, however much the file unpacks to.
class UnpackedFile {
public:
    /// InputError, see InputFile.
    explicit UnpackedFile(std::string path);
    /// Of a file in memory, which outlives this; `name` stands for its path in errors.
    UnpackedFile(std::string name, std::string_view bytes);
    ~UnpackedFile();
    UnpackedFile(const UnpackedFile&) = delete;
    UnpackedFile& operator=(const UnpackedFile&) = delete;

    const std::string& path() const { return m_path; }
    bool packed() const { return m_stream != nullptr; }
    /// The file cannot hold more than so many bytes: its size, or what gzip makes of it at best.
    int64_t mostBytes() const;
    /// How many bytes were read: 0 at the end only. Cancellable. InputError for a gzip file that is
    /// damaged or ends early: its checksum has been compared when 0 comes back.
    size_t read(std::span<char> into);
    /// Fills all of it; InputError "PATH: ends after N bytes; M are expected".
    void readAll(std::span<char> into);
    /// InputError where the file has more.
    void expectEnd();

private:
    struct Stream;
    void begin();
    bool fill();
    int64_t size() const;
    bool nextMember();
    size_t unpack(std::span<char> into);

    std::string m_path;
    std::optional<InputFile> m_file;
    std::string_view m_memory, m_left; ///< without a file: all, and what was not taken
    std::vector<char> m_block;
    size_t m_at = 0, m_end = 0; ///< of what was read into the block
    int64_t m_taken = 0;        ///< bytes that read() handed out
    std::unique_ptr<Stream> m_stream;
};

} // namespace halfscope
