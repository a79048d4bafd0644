// Follows the chain of checksums through a write-ahead log.
#include "engine/runs/session_log.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>
#include <vector>

namespace halfscope {

namespace {

constexpr size_t kHeader = 32, kFrameHeader = 24;
constexpr uint32_t kMagic = 0x377f0682; // with the last bit set: checksums of big-endian words
constexpr uint32_t kLeastPage = 512, kMostPage = 65536;

uint32_t bigEndian(const std::byte* at) {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i)
        value = value << 8 | std::to_integer<uint32_t>(at[i]);
    return value;
}

/// The running checksum of a log.
struct Checksum {
    uint32_t first = 0, second = 0;
    bool swaps = false; ///< the words are big-endian

    void add(std::span<const std::byte> bytes) {
        const auto word = [&](size_t at) {
            const uint32_t big = bigEndian(bytes.data() + at);
            return swaps ? big : __builtin_bswap32(big);
        };
        for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
            first += word(at) + second;
            second += word(at + 4) + first;
        }
    }
    bool isAt(const std::byte* at) const {
        return bigEndian(at) == first && bigEndian(at + 4) == second;
    }
};

bool readAll(std::istream& file, std::span<std::byte> out) {
    file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    return file.gcount() == static_cast<std::streamsize>(out.size());
}

} // namespace

bool lostTransactions(const std::string& path) {
    std::error_code none;
    if (!std::filesystem::exists(path, none) && !none) return false;
    if (!std::filesystem::is_regular_file(path, none)) return true;
    std::ifstream file(path, std::ios::binary);
    if (!file) return true;
    std::array<std::byte, kHeader> header{};
    if (!readAll(file, header)) return false; // nothing was in it yet
    const uint32_t magic = bigEndian(header.data()), page = bigEndian(header.data() + 8);
    Checksum sum;
    sum.swaps = (magic & 1) != 0;
    sum.add(std::span(header).first(24));
    const bool sound = (magic & ~1u) == kMagic && page >= kLeastPage && page <= kMostPage &&
                       sum.isAt(header.data() + 24);
    if (!sound) return std::filesystem::file_size(path, none) > kHeader + kFrameHeader;
    bool chain = true;
    std::vector<std::byte> frame(kFrameHeader + page);
    while (readAll(file, frame)) {
        const bool present = std::memcmp(frame.data() + 8, header.data() + 16, 8) == 0; // salts
        if (chain) {
            sum.add(std::span(frame).first(8));
            sum.add(std::span(frame).subspan(kFrameHeader));
            chain = present && sum.isAt(frame.data() + 16);
        }
        const bool commits = bigEndian(frame.data() + 4) != 0;
        if (!chain && present && commits) return true;
    }
    return false;
}

} // namespace halfscope
