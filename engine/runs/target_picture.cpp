// Finds equal targets by a hash of their values or bytes.
#include "engine/runs/target_picture.h"

#include "engine/runs/session_values.h"

#include <algorithm>
#include <functional>
#include <span>
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
    using Targets = std::vector<std::shared_ptr<const TargetPicture>>;

    /// Compares without the lock, because that may unpack a picture: the training must not wait for
    /// a window that restores runs.
    template <class IsSame, class Make>
    std::shared_ptr<const TargetPicture> found(std::string_view bits, IsSame isSame, Make make) {
        const size_t hash = std::hash<std::string_view>()(bits);
        for (Targets others;;) {
            std::shared_ptr<const TargetPicture> next;
            {
                const std::lock_guard lock(m_mutex);
                next = held(hash, others);
                if (!next) return added(hash, make());
            }
            if (isSame(*next)) return next;
            others.push_back(std::move(next));
        }
    }
    /// Returns one with this hash that is none of `but`; null when there is none.
    std::shared_ptr<const TargetPicture> held(size_t hash, const Targets& but) const {
        const auto [first, last] = m_held.equal_range(hash);
        for (auto each = first; each != last; ++each)
            if (auto one = each->second.lock(); one && std::ranges::find(but, one) == but.end())
                return one;
        return nullptr;
    }
    std::shared_ptr<const TargetPicture> added(size_t hash,
                                               std::shared_ptr<const TargetPicture> made) {
        if (m_held.size() >= m_tidyAt) {
            std::erase_if(m_held, [](const auto& each) { return each.second.expired(); });
            m_tidyAt = 2 * m_held.size() + kFew;
        }
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

bool TargetPicture::isDamaged() const {
    if (empty()) return false;
    {
        const std::lock_guard lock(m_mutex);
        if (m_made || m_whole) return !m_made && !*m_whole;
    }
    return picture()->width < 1;
}

std::shared_ptr<const Picture> TargetPicture::picture() const {
    std::shared_ptr<const Bytes> packed;
    {
        const std::lock_guard lock(m_mutex);
        if (m_made) return m_made;
        if (auto seen = m_seen.lock()) return seen;
        packed = m_packed;
    }
    auto unpacked = std::make_shared<const Picture>(unpackedPicture(*packed));
    const std::lock_guard lock(m_mutex);
    if (auto seen = m_seen.lock()) return seen;
    m_seen = unpacked;
    m_whole = unpacked->width > 0;
    return unpacked;
}

std::shared_ptr<const TargetPicture::Bytes> TargetPicture::pack() const {
    std::shared_ptr<const Picture> made; // is released without the lock
    {
        const std::lock_guard lock(m_mutex);
        if (m_packed) return m_packed;
        made = m_made;
    }
    auto bytes = std::make_shared<const Bytes>(made->width < 1 ? Bytes() : packed(*made));
    const std::lock_guard lock(m_mutex);
    if (m_packed) return m_packed; // by another thread meanwhile
    m_packed = std::move(bytes);
    m_seen = made;
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

std::shared_ptr<const TargetPicture> damagedTarget() {
    return sharedTarget(TargetPicture::Bytes(1));
}

} // namespace halfscope
