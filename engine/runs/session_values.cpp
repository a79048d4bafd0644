// Turns pictures into bytes and back.
#include "engine/runs/session_values.h"

#include "engine/core/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>

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
    Head head{};
    if (bytes.size() < sizeof head) return {};
    std::memcpy(head.data(), bytes.data(), sizeof head);
    bytes = bytes.subspan(sizeof head);
    constexpr int32_t kMostSide = 16384;
    const bool packs = head[2] < 0;
    const auto [width, height, channels] = Head{head[0], head[1], packs ? -head[2] : head[2]};
    if (width < 1 || height < 1 || width > kMostSide || height > kMostSide ||
        (channels != 1 && channels != 3))
        return {};
    const auto count =
        static_cast<size_t>(width) * static_cast<size_t>(height) * static_cast<size_t>(channels);
    size_t size = count * sizeof(float);
    if (packs) {
        int32_t stored = 0;
        if (bytes.size() < sizeof stored) return {};
        std::memcpy(&stored, bytes.data(), sizeof stored);
        bytes = bytes.subspan(sizeof stored);
        constexpr size_t kMostTimes = 1032; // deflate packs at most so many bytes into one
        if (stored < 0 || size / kMostTimes > static_cast<size_t>(stored)) return {};
        size = static_cast<size_t>(stored);
    }
    if (bytes.size() < size) return {};
    Picture picture{width, height, channels, std::vector<float>(count)};
    const std::span<std::byte> values = std::as_writable_bytes(std::span(picture.values));
    if (!packs)
        std::memcpy(values.data(), bytes.data(), values.size());
    else if (!inflates(bytes.first(size), values))
        return {};
    const std::span<const std::byte> caption = bytes.subspan(size);
    picture.caption.assign(reinterpret_cast<const char*>(caption.data()), caption.size());
    if (!isPlainText(picture.caption)) return {};
    return picture;
}

} // namespace halfscope
