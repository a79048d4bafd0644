// PNG has the size at a fixed place; JPEG has it in the header of its frame, behind segments that
// each say how long they are.
#include "engine/io/picture_size.h"

#include "engine/core/error.h"
#include "engine/io/input_file.h"

#include <array>
#include <span>
#include <string_view>

namespace halfscope {

namespace {

int64_t bigEndian(std::span<const char> bytes) {
    int64_t value = 0;
    for (const char byte : bytes)
        value = value << 8 | static_cast<uint8_t>(byte);
    return value;
}

bool readAll(InputFile& file, std::span<char> into) {
    while (!into.empty()) {
        const size_t count = file.read(into);
        if (count == 0) return false;
        into = into.subspan(count);
    }
    return true;
}

/// Whether a marker begins a frame: SOF0 to SOF15, without the three that are other tables.
bool beginsFrame(uint8_t marker) {
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

std::optional<PictureSize> jpegSize(InputFile& file) {
    constexpr int64_t kFirst = 2;  // behind the mark of the file
    std::array<char, 9> segment{}; // FF, marker, length (2), bits, height (2), width (2)
    for (int64_t at = kFirst; at + static_cast<int64_t>(segment.size()) <= file.size();) {
        file.skipTo(at);
        if (!readAll(file, segment) || segment[0] != '\xFF') return std::nullopt;
        const std::span<const char> bytes(segment);
        const int64_t length = bigEndian(bytes.subspan(2, 2));
        if (beginsFrame(static_cast<uint8_t>(segment[1])))
            return PictureSize{bigEndian(bytes.subspan(7, 2)), bigEndian(bytes.subspan(5, 2))};
        if (segment[1] == '\xFF') // fills the space before a marker
            ++at;
        else
            at += 2 + length;
    }
    return std::nullopt;
}

} // namespace

std::optional<PictureSize> pictureSize(const std::string& path) {
    constexpr std::string_view kPng = "\x89PNG\r\n\x1A\n", kJpeg = "\xFF\xD8";
    try {
        InputFile file(path);
        std::array<char, 24> start{}; // of a PNG: its mark, IHDR, width (4), height (4)
        if (!readAll(file, start)) return std::nullopt;
        const std::string_view begins(start.data(), start.size());
        const std::span<const char> bytes(start);
        if (begins.starts_with(kPng))
            return PictureSize{bigEndian(bytes.subspan(16, 4)), bigEndian(bytes.subspan(20, 4))};
        return begins.starts_with(kJpeg) ? jpegSize(file) : std::nullopt;
    } catch (const InputError&) {
        return std::nullopt;
    }
}

} // namespace halfscope
