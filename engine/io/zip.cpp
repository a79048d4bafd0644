// An archive has the list of its files at its end, and each file has a header of its own.
#include "engine/io/zip.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <zlib.h>

namespace halfscope {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they are");

constexpr int64_t kEndBytes = 22, kMostComment = 65535; ///< sizes, of the record at the end
constexpr size_t kListBytes = 46, kHeaderBytes = 30;    ///< sizes, without the names
constexpr int kStored = 0, kDeflated = 8;
constexpr size_t kBlock = 65536;
constexpr int64_t kMostRatio = 1032;     ///< deflate makes at most this many bytes of one
constexpr uint32_t kMostList = 64 << 20; ///< bytes; the list is read as a whole
constexpr uint32_t kElsewhere = 0xffffffff;
constexpr uint16_t kElsewhereShort = 0xffff; ///< the real number is in a record of zip64

template <class T>
T numberAt(std::string_view bytes, size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

} // namespace

void ZipFile::fail(const Message& what) const {
    throw InputError(phrase("Files", "%1: cannot be read as a zip archive, because %2"),
                     pathText(m_path), what);
}

std::string ZipFile::readAt(int64_t offset, int64_t bytes) {
    if (offset < 0 || bytes < 0 || offset > m_file.size() || bytes > m_file.size() - offset)
        fail(phrase("Files", "it was cut off"));
    m_file.skipTo(offset);
    std::string text(static_cast<size_t>(bytes), '\0');
    for (size_t at = 0; at < text.size();) {
        const size_t count = m_file.read(std::span(text).subspan(at));
        if (count == 0) fail(phrase("Files", "it was cut off"));
        at += count;
    }
    return text;
}

ZipFile::ZipFile(std::string path) : m_path(std::move(path)), m_file(m_path) {
    const int64_t tail = std::min(m_file.size(), kEndBytes + kMostComment);
    const std::string last = readAt(m_file.size() - tail, tail);
    const size_t end = tail < kEndBytes
                           ? last.npos
                           : last.rfind("PK\5\6", last.size() - static_cast<size_t>(kEndBytes));
    if (end == last.npos) fail(phrase("Files", "it has no list of its files"));
    const auto count = numberAt<uint16_t>(last, end + 10);
    const auto bytes = numberAt<uint32_t>(last, end + 12);
    const auto offset = numberAt<uint32_t>(last, end + 16);
    if (count == kElsewhereShort || bytes == kElsewhere || offset == kElsewhere)
        fail(phrase("Files", "it has more than 4 GiB or 65,534 files"));
    if (bytes > kMostList) fail(phrase("Files", "the list of its files is damaged"));
    m_list = int64_t{offset};
    const std::string list = readAt(m_list, int64_t{bytes});
    std::string_view rest = list;
    for (int i = 0; i < count; ++i)
        readEntry(rest);
}

void ZipFile::readEntry(std::string_view& list) {
    if (list.size() < kListBytes || !list.starts_with("PK\1\2"))
        fail(phrase("Files", "the list of its files is damaged"));
    ZipEntry entry;
    entry.encrypted = (numberAt<uint16_t>(list, 8) & 1) != 0;
    entry.method = numberAt<uint16_t>(list, 10);
    entry.checksum = numberAt<uint32_t>(list, 16);
    const auto packed = numberAt<uint32_t>(list, 20), bytes = numberAt<uint32_t>(list, 24);
    const auto header = numberAt<uint32_t>(list, 42);
    const size_t name = numberAt<uint16_t>(list, 28);
    const size_t more = size_t{numberAt<uint16_t>(list, 30)} + numberAt<uint16_t>(list, 32);
    if (list.size() - kListBytes < name + more)
        fail(phrase("Files", "the list of its files is damaged"));
    if (packed == kElsewhere || bytes == kElsewhere || header == kElsewhere)
        fail(phrase("Files", "it has more than 4 GiB or 65,534 files"));
    entry.name = list.substr(kListBytes, name);
    entry.packed = int64_t{packed};
    entry.bytes = int64_t{bytes};
    entry.header = int64_t{header};
    list.remove_prefix(kListBytes + name + more);
    m_entries.push_back(std::move(entry));
}

struct ZipReader::Stream {
    z_stream z{};

    Stream() {
        if (inflateInit2(&z, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    }
    ~Stream() { inflateEnd(&z); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
};

ZipReader::ZipReader(ZipFile& zip, const ZipEntry& entry)
    : m_zip(zip), m_entry(entry), m_packedLeft(entry.packed), m_left(entry.bytes),
      m_checksum(static_cast<uint32_t>(crc32(0, nullptr, 0))) {
    const std::string name = pathText(entry.name);
    if (entry.encrypted || (entry.method != kStored && entry.method != kDeflated))
        zip.fail(
            {phrase("Files", "%1 is encrypted, or packed in another way than by deflate"), name});
    const bool possible = entry.method == kStored ? entry.packed == entry.bytes
                                                  : entry.bytes / kMostRatio <= entry.packed;
    const std::string header = zip.readAt(entry.header, int64_t{kHeaderBytes});
    const int64_t start = entry.header + int64_t{kHeaderBytes} +
                          int64_t{numberAt<uint16_t>(header, 26)} +
                          int64_t{numberAt<uint16_t>(header, 28)};
    if (!possible || !header.starts_with("PK\3\4") || start + entry.packed > zip.m_list)
        zip.fail({phrase("Files", "%1 in it is damaged"), name});
    zip.m_file.skipTo(start);
    if (entry.method == kDeflated) {
        m_stream = std::make_unique<Stream>();
        m_block.resize(kBlock);
    }
}

ZipReader::~ZipReader() = default;

/// Reads packed bytes into the block and returns how many.
size_t ZipReader::fill() {
    const int64_t wanted = std::min<int64_t>(m_packedLeft, static_cast<int64_t>(m_block.size()));
    const size_t count =
        wanted > 0 ? m_zip.m_file.read(std::span(m_block).first(static_cast<size_t>(wanted))) : 0;
    m_packedLeft -= static_cast<int64_t>(count);
    return count;
}

size_t ZipReader::unpack(std::span<char> into) {
    z_stream& z = m_stream->z;
    z.next_out = reinterpret_cast<Bytef*>(into.data());
    z.avail_out = static_cast<uInt>(into.size());
    int code = Z_OK;
    while (z.avail_out == into.size() && code != Z_STREAM_END) {
        if (z.avail_in == 0) {
            const size_t count = fill();
            if (count == 0) break; // the packed data end too early
            z.next_in = reinterpret_cast<Bytef*>(m_block.data());
            z.avail_in = static_cast<uInt>(count);
        }
        code = inflate(&z, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) break;
    }
    return into.size() - z.avail_out;
}

size_t ZipReader::read(std::span<char> into) {
    checkCancelled();
    const auto room = static_cast<size_t>(
        std::min({m_left, static_cast<int64_t>(into.size()), static_cast<int64_t>(kBlock)}));
    if (room == 0) return 0;
    into = into.first(room);
    const size_t count = m_stream ? unpack(into) : m_zip.m_file.read(into);
    m_checksum = static_cast<uint32_t>(
        crc32(m_checksum, reinterpret_cast<const Bytef*>(into.data()), static_cast<uInt>(count)));
    m_left -= static_cast<int64_t>(count);
    if (count == 0 || (m_left == 0 && m_checksum != m_entry.checksum))
        m_zip.fail({phrase("Files", "%1 in it is damaged"), pathText(m_entry.name)});
    return count;
}

} // namespace halfscope
