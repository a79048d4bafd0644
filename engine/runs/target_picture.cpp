// Finds equal targets by a hash of their values or bytes.
#include "engine/runs/target_picture.h"

#include "engine/runs/session_values.h"

#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace halfscope {

namespace {

std::string_view bytesAsText(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The bits of the values: nan is equal to itself here, and -0 is not 0.
std::string_view valueBitsOf(const Picture& picture) {
    return bytesAsText(std::as_bytes(std::span(picture.values)));
}

bool isSamePicture(const Picture& a, const Picture& b) {
    return a.width == b.width && a.height == b.height && a.channels == b.channels &&
           a.caption == b.caption && valueBitsOf(a) == valueBitsOf(b);
}

/// A target that is in memory in both forms is found in the form that it came in.
class HeldTargets {
public:
    std::shared_ptr<const TargetPicture> shared(Picture picture) {
        return found(
            valueBitsOf(picture),
            [&](const TargetPicture& held) { return isSamePicture(*held.picture(), picture); },
            [&] { return std::make_shared<const TargetPicture>(std::move(picture)); });
    }
    std::shared_ptr<const TargetPicture> shared(TargetPicture::Bytes packed) {
        return found(
            bytesAsText(packed), [&](const TargetPicture& held) { return *held.pack() == packed; },
            [&] { return std::make_shared<const TargetPicture>(std::move(packed)); });
    }

private:
    template <class IsSame, class Make>
    std::shared_ptr<const TargetPicture> found(std::string_view bits, IsSame isSame, Make make) {
        const size_t hash = std::hash<std::string_view>()(bits);
        const std::lock_guard lock(m_mutex);
        const auto [first, last] = m_held.equal_range(hash);
        for (auto each = first; each != last; ++each)
            if (auto held = each->second.lock(); held && isSame(*held)) return held;
        if (m_held.size() >= m_tidyAt) {
            std::erase_if(m_held, [](const auto& each) { return each.second.expired(); });
            m_tidyAt = 2 * m_held.size() + kFew;
        }
        std::shared_ptr<const TargetPicture> made = make();
        m_held.emplace(hash, made);
        return made;
    }

    static constexpr size_t kFew = 16;
    std::mutex m_mutex;
    std::unordered_multimap<size_t, std::weak_ptr<const TargetPicture>> m_held;
    size_t m_tidyAt = kFew; ///< targets that are gone are forgotten at this size
};

HeldTargets& heldTargets() {
    static HeldTargets held;
    return held;
}

} // namespace

TargetPicture::TargetPicture(Picture picture)
    : m_made(std::make_shared<const Picture>(std::move(picture))) {}

TargetPicture::TargetPicture(Bytes packed)
    : m_packed(std::make_shared<const Bytes>(std::move(packed))) {}

bool TargetPicture::empty() const {
    const std::lock_guard lock(m_mutex);
    return m_packed ? m_packed->empty() : m_made->width < 1;
}

std::shared_ptr<const Picture> TargetPicture::picture() const {
    const std::lock_guard lock(m_mutex);
    if (m_made) return m_made;
    if (auto seen = m_seen.lock()) return seen;
    auto unpacked = std::make_shared<const Picture>(unpackedPicture(*m_packed));
    m_seen = unpacked;
    return unpacked;
}

std::shared_ptr<const TargetPicture::Bytes> TargetPicture::pack() const {
    const std::lock_guard lock(m_mutex);
    if (m_packed) return m_packed;
    m_packed = std::make_shared<const Bytes>(m_made->width < 1 ? Bytes() : packed(*m_made));
    m_seen = m_made;
    m_made.reset();
    return m_packed;
}

size_t TargetPicture::bytes() const {
    const std::lock_guard lock(m_mutex);
    const auto seen = m_made ? m_made : m_seen.lock();
    return (seen ? seen->values.size() * sizeof(float) : 0) + (m_packed ? m_packed->size() : 0);
}

std::shared_ptr<const TargetPicture> sharedTarget(Picture picture) {
    return heldTargets().shared(std::move(picture));
}

std::shared_ptr<const TargetPicture> sharedTarget(TargetPicture::Bytes packed) {
    return heldTargets().shared(std::move(packed));
}

} // namespace halfscope
