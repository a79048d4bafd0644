// Finds equal pictures by a hash of their values.
#include "engine/runs/shared_picture.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace halfscope {

namespace {

/// The bits of the values: nan is equal to itself here, and -0 is not 0.
std::string_view valueBitsOf(const Picture& picture) {
    return {reinterpret_cast<const char*>(picture.values.data()),
            picture.values.size() * sizeof(float)};
}

bool isSamePicture(const Picture& a, const Picture& b) {
    return a.width == b.width && a.height == b.height && a.channels == b.channels &&
           a.caption == b.caption && valueBitsOf(a) == valueBitsOf(b);
}

class HeldPictures {
public:
    std::shared_ptr<const Picture> shared(Picture picture) {
        const size_t hash = std::hash<std::string_view>()(valueBitsOf(picture));
        const std::lock_guard lock(m_mutex);
        const auto [first, last] = m_held.equal_range(hash);
        for (auto each = first; each != last; ++each)
            if (auto held = each->second.lock(); held && isSamePicture(*held, picture)) return held;
        if (m_held.size() >= m_tidyAt) {
            std::erase_if(m_held, [](const auto& each) { return each.second.expired(); });
            m_tidyAt = 2 * m_held.size() + kFew;
        }
        auto made = std::make_shared<const Picture>(std::move(picture));
        m_held.emplace(hash, made);
        return made;
    }

private:
    static constexpr size_t kFew = 16;
    std::mutex m_mutex;
    std::unordered_multimap<size_t, std::weak_ptr<const Picture>> m_held;
    size_t m_tidyAt = kFew; ///< pictures that are gone are forgotten at this size
};

} // namespace

std::shared_ptr<const Picture> sharedPicture(Picture picture) {
    static HeldPictures held;
    return held.shared(std::move(picture));
}

} // namespace halfscope
