// Copies between host and device in the order of a stream, through pinned memory, so that an upload
// returns before the device has it and never waits for a step.
#pragma once

#include "engine/cuda/device.h"

#include <array>
#include <cstddef>
#include <span>

namespace halfscope::cuda {

class Transfer {
public:
    /// Works on the device's stream, or on one that outlives this object.
    explicit Transfer(const Device& device) : Transfer(device, device.stream()) {}
    Transfer(const Device&, CUstream);
    /// Uploads bytes, which are copied before it returns.
    void upload(std::span<const std::byte> from, CUdeviceptr to);
    /// Downloads bytes; waits until the stream has come so far.
    void download(CUdeviceptr from, std::span<std::byte> to);

private:
    /// Half of the pinned memory: one half is filled while the device reads the other.
    struct Half {
        PinnedMemory memory;
        EventHandle read; ///< the device has read everything that was enqueued from it
        size_t used = 0;
    };
    std::byte* reserve(size_t bytes);
    void turn();

    const Device& m_device;
    const CUstream m_stream;
    std::array<Half, 2> m_halves;
    size_t m_current = 0;
};

} // namespace halfscope::cuda
