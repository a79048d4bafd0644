// Turns pictures into bytes and back.
#include "engine/runs/session_values.h"

#include "engine/core/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <string>

#include <zlib.h>

namespace halfscope {

namespace {

using Head = std::array<int32_t, 3>; // width, height, channels

size_t valuesOf(const Head& head) {
    return static_cast<size_t>(head[0]) * static_cast<size_t>(head[1]) *
           static_cast<size_t>(head[2]);
}

/// What is added to the negative number of channels where the values are packed as differences.
constexpr int32_t kDifferences = -16;

/// Packs quickly: the pictures of a run in training are written every few seconds. Differences
/// repeat nothing but single bytes, so that zlib need not look for more.
std::vector<std::byte> deflated(std::span<const std::byte> bytes) {
    constexpr int kWindowBits = 15, kMemory = 9;
    z_stream stream{};
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kWindowBits, kMemory, Z_RLE) != Z_OK)
        throw std::bad_alloc(); // it fails for nothing else
    std::vector<std::byte> into;
    try {
        into.resize(deflateBound(&stream, bytes.size()));
    } catch (const std::bad_alloc&) {
        deflateEnd(&stream);
        throw;
    }
    // zlib's types know no const
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(into.data());
    stream.avail_out = static_cast<uInt>(into.size());
    deflate(&stream, Z_FINISH); // there is room for all
    into.resize(stream.total_out);
    deflateEnd(&stream);
    return into;
}

/// The rows of a picture as whole numbers: a value's difference from the one to its left is
/// compared with that of the row above. Where a network paints smoothly, little is left of it.
/// Each function changes the values in place; the other one brings them back bit for bit.
class Differences {
public:
    Differences(std::span<uint32_t> values, const Head& head)
        : m_values(values), m_row(static_cast<size_t>(head[0]) * static_cast<size_t>(head[2])),
          m_channels(static_cast<size_t>(head[2])) {}
    void take() {
        for (size_t row = 0; row < m_values.size(); row += m_row)
            for (size_t i = row + m_row; i-- > row + m_channels;)
                m_values[i] -= m_values[i - m_channels];
        for (size_t i = m_values.size(); i-- > m_row;)
            m_values[i] -= m_values[i - m_row];
    }
    void giveBack() {
        for (size_t i = m_row; i < m_values.size(); ++i)
            m_values[i] += m_values[i - m_row];
        for (size_t row = 0; row < m_values.size(); row += m_row)
            for (size_t i = row + m_channels; i < row + m_row; ++i)
                m_values[i] += m_values[i - m_channels];
    }

private:
    std::span<uint32_t> m_values;
    size_t m_row, m_channels;
};

/// Returns the lowest bytes of all values, then the next ones, and so on: those of the same weight
/// are alike.
std::vector<std::byte> planesOf(std::span<const uint32_t> values) {
    std::vector<std::byte> bytes(values.size_bytes());
    for (size_t plane = 0; plane < sizeof(uint32_t); ++plane)
        for (size_t i = 0; i < values.size(); ++i)
            bytes[plane * values.size() + i] = static_cast<std::byte>(values[i] >> (8 * plane));
    return bytes;
}

void joinPlanes(std::span<const std::byte> bytes, std::span<uint32_t> values) {
    for (size_t i = 0; i < values.size(); ++i) {
        uint32_t value = 0;
        for (size_t plane = sizeof(uint32_t); plane-- > 0;)
            value = value << 8 | std::to_integer<uint32_t>(bytes[plane * values.size() + i]);
        values[i] = value;
    }
}

/// Returns whether the bytes unpack to as many as there is room for.
bool inflates(std::span<const std::byte> bytes, std::span<std::byte> into) {
    uLongf size = into.size();
    const int code = uncompress(reinterpret_cast<Bytef*>(into.data()), &size,
                                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    return code == Z_OK && size == into.size();
}

std::string textOf(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

enum class Form : uint8_t { Plain, Packed, Differences };

/// What the bytes of a picture are made of.
struct Parts {
    Head head;
    Form form;
    std::span<const std::byte> values, caption;
};

/// Returns nothing for bytes that packed() did not make, as far as that can be told without
/// unpacking.
std::optional<Parts> partsOf(std::span<const std::byte> bytes) {
    Head head{};
    if (bytes.size() < sizeof head) return std::nullopt;
    std::memcpy(head.data(), bytes.data(), sizeof head);
    bytes = bytes.subspan(sizeof head);
    constexpr int32_t kMostSide = 16384;
    const Form form = head[2] >= 0              ? Form::Plain
                      : head[2] >= kDifferences ? Form::Packed
                                                : Form::Differences;
    if (form == Form::Differences) head[2] -= kDifferences;
    if (head[0] < 1 || head[1] < 1 || head[0] > kMostSide || head[1] > kMostSide)
        return std::nullopt;
    if (head[2] == -1 || head[2] == -3) head[2] = -head[2];
    if (head[2] != 1 && head[2] != 3) return std::nullopt;
    size_t size = valuesOf(head) * sizeof(float);
    if (form != Form::Plain) {
        int32_t stored = 0;
        if (bytes.size() < sizeof stored) return std::nullopt;
        std::memcpy(&stored, bytes.data(), sizeof stored);
        bytes = bytes.subspan(sizeof stored);
        constexpr size_t kMostTimes = 1032; // deflate packs at most so many bytes into one
        if (stored < 0 || size / kMostTimes > static_cast<size_t>(stored)) return std::nullopt;
        size = static_cast<size_t>(stored);
    }
    if (bytes.size() < size) return std::nullopt;
    return Parts{head, form, bytes.first(size), bytes.subspan(size)};
}

/// Returns false for values that cannot be unpacked.
bool unpackValues(const Parts& parts, std::vector<float>& into) {
    const std::span<std::byte> values = std::as_writable_bytes(std::span(into));
    if (parts.form == Form::Packed) return inflates(parts.values, values);
    if (parts.form == Form::Plain) {
        std::memcpy(values.data(), parts.values.data(), values.size());
        return true;
    }
    std::vector<std::byte> planes(values.size());
    if (!inflates(parts.values, planes)) return false;
    std::vector<uint32_t> bits(into.size());
    joinPlanes(planes, bits);
    Differences(bits, parts.head).giveBack();
    std::transform(bits.begin(), bits.end(), into.begin(),
                   [](uint32_t each) { return std::bit_cast<float>(each); });
    return true;
}

} // namespace

std::vector<std::byte> packed(const Picture& picture) {
    Head head{picture.width, picture.height, picture.channels};
    std::vector<uint32_t> bits(picture.values.size());
    std::transform(picture.values.begin(), picture.values.end(), bits.begin(),
                   [](float value) { return std::bit_cast<uint32_t>(value); });
    if (!bits.empty() && bits.size() == valuesOf(head)) Differences(bits, head).take();
    const std::vector<std::byte> values = deflated(planesOf(bits));
    head[2] = kDifferences - picture.channels;
    const auto size = static_cast<int32_t>(values.size());
    std::vector<std::byte> bytes(sizeof head + sizeof size);
    bytes.reserve(bytes.size() + values.size() + picture.caption.size());
    std::memcpy(bytes.data(), head.data(), sizeof head);
    std::memcpy(bytes.data() + sizeof head, &size, sizeof size);
    bytes.insert(bytes.end(), values.begin(), values.end());
    std::transform(picture.caption.begin(), picture.caption.end(), std::back_inserter(bytes),
                   [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

Picture unpackedPicture(std::span<const std::byte> bytes) {
    const std::optional<Parts> parts = partsOf(bytes);
    if (!parts) return {};
    const auto [width, height, channels] = parts->head;
    Picture picture{width, height, channels, std::vector<float>(valuesOf(parts->head))};
    if (!unpackValues(*parts, picture.values)) return {};
    picture.caption = textOf(parts->caption);
    if (!isPlainText(picture.caption)) return {};
    return picture;
}

bool isPackedEmpty(std::span<const std::byte> bytes) {
    Head head{};
    if (bytes.size() < sizeof head) return false;
    std::memcpy(head.data(), bytes.data(), sizeof head);
    return head[0] == 0 && head[1] == 0;
}

std::string packedCaption(std::span<const std::byte> bytes) {
    const std::optional<Parts> parts = partsOf(bytes);
    std::string caption = parts ? textOf(parts->caption) : std::string();
    return isPlainText(caption) ? caption : std::string();
}

} // namespace halfscope
