// What the lanes of a run paint after a step. It weighs more than all else of a run, and a window
// shows one run at a time: it is in memory until a store has it, and is then read from there.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/lane_pictures.h"
#include "engine/runs/target_picture.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace halfscope {

/// The pictures of LanePictures as a session's file has them, see session_values.h.
struct PackedPictures {
    std::string from{}; ///< the path of the file
    /// What the file has lost has no bytes. There are no galleries or one more than outputs, and no
    /// mistakes or as many.
    std::vector<std::vector<std::byte>> outputs{}, galleries{}, mistakes{};
    Message unread{}; ///< why the file does not give some of them; empty when it gives all
};

/// Returns the bytes of all values.
size_t bytesOf(const LanePictures&);

/// Any thread may call the functions.
class RunPictures {
public:
    /// Throws RunError or InputError when none of the pictures can be read.
    using Read = std::function<PackedPictures()>;

    RunPictures() : RunPictures(LanePictures()) {}
    explicit RunPictures(LanePictures);
    /// Pictures that lie in a file. `about` tells all but the pictures themselves.
    RunPictures(LanePictures about, Read);
    RunPictures(const RunPictures&) = delete;
    RunPictures& operator=(const RunPictures&) = delete;

    int64_t step() const { return m_about.step; }
    /// Whether nothing has been painted yet.
    bool empty() const { return m_empty; }
    /// What these pictures are compared with; null when it is what the run began with.
    const std::shared_ptr<const TargetPicture>& target() const { return m_target; }
    /// Returns the pictures, without their target, if they are in memory; null otherwise.
    std::shared_ptr<const LanePictures> held() const;
    /// Returns them in any case, which may take the disk long. Those that are damaged are left out,
    /// see LanePictures::lost. Throws RunError or InputError when the file has none of them.
    std::shared_ptr<const LanePictures> read() const;
    /// Returns them for another file. Throws like read().
    PackedPictures packed() const;
    /// From now on they are read from a store, and are in memory as long as somebody holds them.
    void setStored(Read) const;
    /// Takes them into memory for good, because the store will lose them. Throws like read().
    void hold() const;
    /// Returns the heap bytes that they hold now, whoever keeps them there.
    size_t bytes() const;

private:
    std::shared_ptr<const LanePictures> unpacked(const PackedPictures&) const;

    LanePictures m_about; ///< without pictures
    bool m_empty;
    std::shared_ptr<const TargetPicture> m_target;
    mutable std::mutex m_mutex;                         ///< guards what follows
    mutable std::shared_ptr<const LanePictures> m_kept; ///< null while a file has them
    mutable std::weak_ptr<const LanePictures> m_seen;   ///< what others hold
    mutable Read m_read;                                ///< empty before a file has them
};

} // namespace halfscope
