// Turns pictures into bytes and back.
#include "engine/runs/session_values.h"

#include "engine/core/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace halfscope {

namespace {
using Head = std::array<int32_t, 3>; // width, height, channels
} // namespace

std::vector<std::byte> packed(const Picture& picture) {
    const Head head{picture.width, picture.height, picture.channels};
    const size_t values = picture.values.size() * sizeof(float);
    std::vector<std::byte> bytes(sizeof head + values + picture.caption.size());
    std::memcpy(bytes.data(), head.data(), sizeof head);
    if (values > 0) std::memcpy(bytes.data() + sizeof head, picture.values.data(), values);
    std::transform(picture.caption.begin(), picture.caption.end(),
                   bytes.end() - static_cast<std::ptrdiff_t>(picture.caption.size()),
                   [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

Picture unpackedPicture(std::span<const std::byte> bytes) {
    Head head{};
    if (bytes.size() < sizeof head) return {};
    std::memcpy(head.data(), bytes.data(), sizeof head);
    constexpr int32_t kMostSide = 16384;
    const auto [width, height, channels] = head;
    if (width < 1 || height < 1 || width > kMostSide || height > kMostSide ||
        (channels != 1 && channels != 3))
        return {};
    const auto count =
        static_cast<size_t>(width) * static_cast<size_t>(height) * static_cast<size_t>(channels);
    const size_t end = sizeof head + count * sizeof(float);
    if (bytes.size() < end) return {};
    Picture picture{width, height, channels, std::vector<float>(count)};
    std::memcpy(picture.values.data(), bytes.data() + sizeof head, count * sizeof(float));
    const std::span<const std::byte> caption = bytes.subspan(end);
    picture.caption.assign(reinterpret_cast<const char*>(caption.data()), caption.size());
    if (!isPlainText(picture.caption)) return {};
    return picture;
}

} // namespace halfscope
