// What the pictures of a run are compared with, in as little memory as possible: thousands of runs
// of one experiment have the same one, and those of many seeds have as many.
#pragma once

#include "engine/io/picture.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace halfscope {

/// A target as it was made, until a store packs it; then it is unpacked for whoever looks at it.
/// Any thread may call the functions: none waits while another one packs or unpacks.
class TargetPicture {
public:
    using Bytes = std::vector<std::byte>;

    explicit TargetPicture(Picture);
    /// `packed` is what pack() returned, in this program or an earlier version.
    explicit TargetPicture(Bytes packed);

    /// Whether there is no such picture.
    bool empty() const;
    /// Whether there is one, but its bytes are damaged.
    bool isDamaged() const;
    /// Returns the picture; its width is 0 when there is none, or when its bytes are damaged.
    std::shared_ptr<const Picture> picture() const;
    /// Returns the picture as a session's file has it, see session_values.h. From now on only these
    /// bytes are in memory.
    std::shared_ptr<const Bytes> pack() const;
    /// Returns the heap bytes that it holds.
    size_t bytes() const;

private:
    mutable std::mutex m_mutex;
    mutable std::shared_ptr<const Picture> m_made; ///< null once it is packed
    mutable std::shared_ptr<const Bytes> m_packed; ///< null before
    mutable std::weak_ptr<const Picture> m_seen;   ///< what others hold
    mutable std::optional<bool> m_whole;           ///< nothing until somebody has unpacked it
};

/// Returns the target, or an equal one that somebody still holds. Any thread may call it.
std::shared_ptr<const TargetPicture> sharedTarget(Picture);
/// The same for one that is packed.
std::shared_ptr<const TargetPicture> sharedTarget(TargetPicture::Bytes packed);
/// Returns one that isDamaged(), for a run whose file no longer has it.
std::shared_ptr<const TargetPicture> damagedTarget();

} // namespace halfscope
