// Headers of 512 bytes, each followed by its file's content in whole blocks of 512. Long names come
// in headers of their own, as pax records or in the way of GNU tar.
#include "engine/io/tar.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

namespace halfscope {

namespace {

constexpr int64_t kBlock = 512;
constexpr int64_t kMostExtra = int64_t{1} << 20; // bytes of a long name or of pax records

int64_t inBlocks(int64_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

std::string_view untilZero(std::string_view text) { return text.substr(0, text.find('\0')); }

/// Reads octal digits; returns nothing when anything but spaces and zeros is around them.
std::optional<int64_t> octal(std::string_view field) {
    field = trimmed(untilZero(field));
    int64_t value = 0;
    if (field.empty()) return 0;
    const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value, 8);
    if (code != std::errc{} || end != field.data() + field.size() || value < 0) return {};
    return value;
}

/// Reads a size. One that octal digits cannot hold is a binary number with the highest bit set; the
/// next bit is its sign.
std::optional<int64_t> sizeOf(std::string_view field) {
    const auto first = static_cast<unsigned char>(field.front());
    if ((first & 0x80) == 0) return octal(field);
    int64_t value = first & 0x7f;
    for (const char byte : field.substr(1)) {
        if (value >> 54 != 0) return {}; // negative numbers, too: their highest bits are set
        value = value << 8 | static_cast<unsigned char>(byte);
    }
    return value;
}

bool isSafe(std::string_view name) {
    if (name.empty() || name.front() == '/') return false;
    const auto parts = partsOf(name, '/');
    return std::find(parts.begin(), parts.end(), "..") == parts.end();
}

} // namespace

struct TarReader::Header {
    std::array<char, kBlock> block{};

    std::string_view field(size_t at, size_t size) const { return {block.data() + at, size}; }
    char type() const { return block[156]; }
    bool isZero() const {
        return std::all_of(block.begin(), block.end(), [](char byte) { return byte == 0; });
    }
    std::optional<int64_t> bytes() const { return sizeOf(field(124, 12)); }
    std::string name() const {
        const std::string own(untilZero(field(0, 100)));
        const std::string_view prefix = untilZero(field(345, 155));
        const bool ustar = field(257, 6) == std::string_view("ustar\0", 6); // GNU's has a space
        return ustar && !prefix.empty() ? std::string(prefix) + "/" + own : own;
    }
    /// Whether the sum of all bytes fits, with spaces in place of the sum itself; some programs add
    /// up signed bytes.
    bool sumFits() const {
        constexpr size_t kSum = 148, kSumBytes = 8;
        int64_t plain = 0, withSign = 0;
        for (size_t i = 0; i < block.size(); ++i) {
            const bool own = i >= kSum && i < kSum + kSumBytes;
            plain += own ? ' ' : static_cast<unsigned char>(block[i]);
            withSign += own ? ' ' : static_cast<signed char>(block[i]);
        }
        const auto written = octal(field(kSum, kSumBytes));
        return written && (*written == plain || *written == withSign);
    }
};

TarReader::TarReader(std::string path, CutTar whenCut)
    : m_path(std::move(path)), m_file(m_path), m_whenCut(whenCut) {
    std::array<char, 2> start{};
    const size_t count = m_file.read(start);
    if (count == start.size() && start[0] == '\x1f' && start[1] == '\x8b')
        throw InputError(phrase("Files", "%1: the archive is compressed with gzip; decompress it "
                                         "first, because samples are read in any order"),
                         pathText(m_path));
}

Message TarReader::sentence(const Message& what) const {
    return {phrase("Files", "%1, byte %2: %3"), pathText(m_path), m_header, what};
}

void TarReader::fail(const Message& what) const { throw InputError(sentence(what)); }

void TarReader::endEarly(const Message& what) {
    if (m_whenCut == CutTar::Refuse) fail(what);
    m_cut = sentence(what);
}

/// Returns false when the file ends before the block does.
bool TarReader::readBlock(std::span<char> block) {
    size_t have = 0;
    while (have < block.size()) {
        const size_t count = m_file.read(block.subspan(have));
        if (count == 0) return false;
        have += count;
    }
    return true;
}

/// Whether the archive has all of a file.
bool TarReader::isInside(std::string_view name, int64_t bytes) {
    const int64_t left = m_file.size() - m_header - kBlock;
    if (bytes <= left) return true;
    endEarly({phrase("Files", "%1 has %2 bytes, and the archive ends after %3 of them"),
              pathText(name), bytes, std::max<int64_t>(left, 0)});
    return false;
}

/// Takes name and size from records such as "27 path=some/long/name\n", each with its own length in
/// front.
void TarReader::takePax(const Header& header, std::string& name, int64_t& bytes) {
    const std::string all = content({"", m_header + kBlock, *header.bytes()}, kMostExtra);
    std::string_view left = all;
    while (!left.empty() && left.front() != '\0') {
        size_t length = 0;
        const auto [end, code] = std::from_chars(left.data(), left.data() + left.size(), length);
        const auto digits = static_cast<size_t>(end - left.data());
        if (code != std::errc{} || length > left.size() || length < digits + 2 ||
            left[digits] != ' ' || left[length - 1] != '\n')
            fail(phrase("Files", "the extended header is damaged"));
        const std::string_view record = left.substr(digits + 1, length - digits - 2);
        left.remove_prefix(length);
        const std::string_view key = record.substr(0, record.find('='));
        const std::string_view value = record.substr(std::min(record.size(), key.size() + 1));
        if (key == "path") name = untilZero(value);
        if (key != "size") continue;
        const auto [last, wrong] =
            std::from_chars(value.data(), value.data() + value.size(), bytes);
        if (wrong != std::errc{} || last != value.data() + value.size() || bytes < 0)
            fail({phrase("Files", "%1 is not allowed as the size of a file"), quotedText(value)});
    }
}

bool TarReader::next(TarEntry& entry) {
    std::string longName;
    int64_t longBytes = -1;
    for (;;) {
        checkCancelled();
        m_header = m_at;
        Header header;
        m_file.skipTo(m_header);
        if (!readBlock(header.block)) {
            endEarly(phrase("Files", "the archive ends early: its end marker is missing"));
            m_lacksOnlyEnd = m_header > 0 && m_header == m_file.size() && longName.empty();
            return false;
        }
        if (header.isZero()) return false;
        if (!header.sumFits()) {
            endEarly(phrase("Files", "not a file header: its checksum is wrong"));
            m_damagedAt = m_header;
            return false;
        }
        const auto bytes = header.bytes();
        const std::string name = longName.empty() ? header.name() : longName;
        if (!bytes)
            fail(
                {phrase("Files", "the size of %1 is not allowed: %2; it must be a number from 0 to "
                                 "2^63 - 1"),
                 pathText(name), quotedText(header.field(124, 12))});
        const char type = header.type();
        const bool extra = type == 'x' || type == 'g' || type == 'L' || type == 'K';
        const int64_t size = !extra && longBytes >= 0 ? longBytes : *bytes;
        if (!isInside(name, size)) return false;
        m_at = m_header + kBlock + inBlocks(size);
        if (type == 'x') takePax(header, longName, longBytes);
        if (type == 'L') longName = untilZero(content({"", m_header + kBlock, size}, kMostExtra));
        if (extra) continue;
        if (!isSafe(name))
            fail({phrase("Files", "the name %1 is not allowed: it must be a relative path "
                                  "without .."),
                  quotedText(name)});
        const bool folder = type == '5' || name.ends_with('/');
        if (!folder && type != '0' && type != '\0' && type != '7')
            fail({type == '1' || type == '2'
                      ? phrase("Files", "%1 is a link; only files and folders are read")
                      : phrase("Files", "%1 is neither a file nor a folder"),
                  pathText(name)});
        longName.clear();
        longBytes = -1;
        if (folder) continue;
        entry = {name, m_header + kBlock, size};
        return true;
    }
}

std::string TarReader::content(const TarEntry& entry, size_t most) {
    if (entry.bytes > static_cast<int64_t>(most))
        throw InputError(phrase("Files", "%1, byte %2: %3 has %4 bytes; at most %5 are read"),
                         pathText(m_path), entry.offset, pathText(entry.name), entry.bytes, most);
    std::string bytes(static_cast<size_t>(entry.bytes), '\0');
    m_file.skipTo(entry.offset);
    if (!readBlock(bytes))
        throw InputError(phrase("Files", "%1, byte %2: the archive ends in the middle of %3"),
                         pathText(m_path), entry.offset, pathText(entry.name));
    return bytes;
}

std::string readTarEntry(const std::string& path, const TarEntry& entry) {
    return TarReader(path).content(entry, kMostFileBytes);
}

} // namespace halfscope
