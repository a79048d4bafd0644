// Unpacks with zlib, member by member as RFC 1952 defines them.
#include "engine/io/gzip.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <zlib.h>

namespace halfscope {

namespace {

constexpr size_t kBlock = 65536;
/// Deflate unpacks one byte to at most 1032.
constexpr int64_t kMostRatio = 1032;
constexpr int kGzipOnly = 15 + 16; ///< window bits; zlib checks header and checksum

} // namespace

std::string_view unpackedName(std::string_view path) {
    constexpr std::string_view kEnding = ".gz";
    const size_t stem = path.size() - std::min(path.size(), kEnding.size());
    return lowerCase(std::string(path.substr(stem))) == kEnding ? path.substr(0, stem) : path;
}

struct UnpackedFile::Stream {
    z_stream z{};
    bool ended = false; ///< whether the member has ended

    Stream() {
        if (inflateInit2(&z, kGzipOnly) != Z_OK) throw std::bad_alloc();
    }
    ~Stream() { inflateEnd(&z); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
};

UnpackedFile::UnpackedFile(std::string path)
    : m_path(std::move(path)), m_file(std::in_place, m_path), m_block(kBlock) {
    begin();
}

UnpackedFile::UnpackedFile(std::string name, std::string_view bytes)
    : m_path(std::move(name)), m_memory(bytes), m_left(bytes), m_block(kBlock) {
    begin();
}

void UnpackedFile::begin() {
    fill();
    const bool gzip = m_end >= 2 && static_cast<unsigned char>(m_block[0]) == 0x1f &&
                      static_cast<unsigned char>(m_block[1]) == 0x8b;
    if (gzip) m_stream = std::make_unique<Stream>();
}

UnpackedFile::~UnpackedFile() = default;

int64_t UnpackedFile::mostBytes() const {
    if (!packed()) return size();
    return size() > INT64_MAX / kMostRatio ? INT64_MAX : size() * kMostRatio;
}

int64_t UnpackedFile::size() const {
    return m_file ? m_file->size() : static_cast<int64_t>(m_memory.size());
}

double UnpackedFile::share() const {
    const auto left = static_cast<int64_t>(m_end - m_at);
    return size() > 0
               ? std::min(1.0, static_cast<double>(m_onDisk - left) / static_cast<double>(size()))
               : 1;
}

/// Reads the next block; false at the end of the file.
bool UnpackedFile::fill() {
    m_at = 0;
    if (m_file) {
        m_end = m_file->read(m_block);
    } else {
        m_end = m_left.copy(m_block.data(), m_block.size());
        m_left.remove_prefix(m_end);
    }
    m_onDisk += static_cast<int64_t>(m_end);
    return m_end > 0;
}

size_t UnpackedFile::read(std::span<char> into) {
    checkCancelled();
    size_t count = 0;
    if (packed()) {
        count = unpack(into);
    } else if (m_at < m_end || fill()) {
        count = std::min(into.size(), m_end - m_at);
        std::memcpy(into.data(), m_block.data() + m_at, count);
        m_at += count;
    }
    m_taken += static_cast<int64_t>(count);
    return count;
}

/// Whether another member follows the one that ended.
bool UnpackedFile::nextMember() {
    if (m_at == m_end && !fill()) return false;
    if (inflateReset(&m_stream->z) != Z_OK)
        throw InputError(phrase("Files", "%1: damaged gzip file"), pathText(m_path));
    m_stream->ended = false;
    return true;
}

size_t UnpackedFile::unpack(std::span<char> into) {
    z_stream& z = m_stream->z;
    const auto room = static_cast<uInt>(std::min(into.size(), kBlock));
    z.next_out = reinterpret_cast<Bytef*>(into.data());
    z.avail_out = room;
    while (z.avail_out == room && room > 0) {
        if (m_stream->ended && !nextMember()) return 0;
        if (m_at == m_end && !fill())
            throw InputError(phrase("Files", "%1: the gzip file ends early: it was cut off"),
                             pathText(m_path));
        z.next_in = reinterpret_cast<Bytef*>(m_block.data() + m_at);
        z.avail_in = static_cast<uInt>(m_end - m_at);
        const int code = inflate(&z, Z_NO_FLUSH);
        m_at = m_end - z.avail_in;
        if (code == Z_STREAM_END)
            m_stream->ended = true;
        else if (code != Z_OK && code != Z_BUF_ERROR)
            throw InputError(phrase("Files", "%1: damaged gzip file: %2"), pathText(m_path),
                             z.msg != nullptr ? z.msg : "zlib cannot read it");
    }
    return room - z.avail_out;
}

void UnpackedFile::readAll(std::span<char> into) {
    const int64_t wanted = m_taken + static_cast<int64_t>(into.size());
    while (!into.empty()) {
        const size_t count = read(into);
        if (count == 0)
            throw InputError(phrase("Files", "%1: ends after %2 bytes; %3 are expected"),
                             pathText(m_path), m_taken, wanted);
        into = into.subspan(count);
    }
}

void UnpackedFile::expectEnd() {
    const int64_t before = m_taken;
    char one = 0;
    if (read({&one, 1}) > 0)
        throw InputError(
            phrase("Files", "%1: goes on after the %2 bytes that its header announces"),
            pathText(m_path), before);
}

} // namespace halfscope
