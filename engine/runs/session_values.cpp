// Turns pictures into bytes and back.
#include "engine/runs/session_values.h"

#include "engine/core/text.h"

#include <algorithm>
#include <array>
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

/// Packs quickly: the pictures of a run in training are written every few seconds. Those that
/// networks paint are smooth, and become a small part of what they were.
std::vector<std::byte> deflated(std::span<const std::byte> bytes) {
    uLongf size = compressBound(bytes.size());
    std::vector<std::byte> into(size);
    if (compress2(reinterpret_cast<Bytef*>(into.data()), &size,
                  reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_SPEED) != Z_OK)
        throw std::bad_alloc(); // it fails for nothing else
    into.resize(size);
    return into;
}

/// Returns whether the bytes unpack to as many as there is room for.
bool inflates(std::span<const std::byte> bytes, std::span<std::byte> into) {
    uLongf size = into.size();
    const int code = uncompress(reinterpret_cast<Bytef*>(into.data()), &size,
                                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    return code == Z_OK && size == into.size();
}

size_t valuesOf(const Head& head) {
    return static_cast<size_t>(head[0]) * static_cast<size_t>(head[1]) *
           static_cast<size_t>(head[2]);
}

std::string textOf(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What the bytes of a picture are made of.
struct Parts {
    Head head;
    bool packs; ///< the values are packed
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
    const bool packs = head[2] < 0;
    if (head[0] < 1 || head[1] < 1 || head[0] > kMostSide || head[1] > kMostSide)
        return std::nullopt;
    if (head[2] == -1 || head[2] == -3) head[2] = -head[2];
    if (head[2] != 1 && head[2] != 3) return std::nullopt;
    size_t size = valuesOf(head) * sizeof(float);
    if (packs) {
        int32_t stored = 0;
        if (bytes.size() < sizeof stored) return std::nullopt;
        std::memcpy(&stored, bytes.data(), sizeof stored);
        bytes = bytes.subspan(sizeof stored);
        constexpr size_t kMostTimes = 1032; // deflate packs at most so many bytes into one
        if (stored < 0 || size / kMostTimes > static_cast<size_t>(stored)) return std::nullopt;
        size = static_cast<size_t>(stored);
    }
    if (bytes.size() < size) return std::nullopt;
    return Parts{head, packs, bytes.first(size), bytes.subspan(size)};
}

} // namespace

std::vector<std::byte> packed(const Picture& picture) {
    const std::vector<std::byte> values = deflated(std::as_bytes(std::span(picture.values)));
    const Head head{picture.width, picture.height, -picture.channels};
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
    const std::span<std::byte> values = std::as_writable_bytes(std::span(picture.values));
    if (!parts->packs)
        std::memcpy(values.data(), parts->values.data(), values.size());
    else if (!inflates(parts->values, values))
        return {};
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
