// The metrics row of a step in host memory. The device itself puts it there, so that reading it
// waits for that row only and not for the stream.
#pragma once

#include "engine/cuda/device.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace halfscope::cuda {

/// Returns the text of the kernel that ends a step. It copies `bytes` from `offset` of the arena
/// into slot n % 4 of the ring, and then writes the number n of the step, counted on the device
/// from 1. Its launch passes arena, ring and counter in place of arena, scratch and tickets. Both
/// sizes are multiples of 8 bytes. The text goes behind a step's text, whose words it uses.
std::string publishText(size_t offset, size_t bytes);
inline constexpr const char* kPublishEntry = "halfscope_publish";
inline constexpr int kPublishThreads = 32;

class MetricsRing {
public:
    /// Step numbers begin at 1.
    MetricsRing(const Device&, size_t rowBytes);
    /// The arguments of the kernel.
    CUdeviceptr ring() const { return m_ring; }
    CUdeviceptr counter() const { return m_counter.get(); }
    /// Starts counting at 1 again, in the order of the stream, which must be idle.
    void restart();
    /// Waits for the row of step `number`: spins, then yields the processor in between, then
    /// sleeps. Fails when the device does.
    void read(uint32_t number, std::span<std::byte> row) const;

private:
    const Device& m_device;
    size_t m_rowBytes;
    PinnedMemory m_memory;
    CUdeviceptr m_ring = 0; ///< the same memory as the device sees it
    DeviceMemory m_counter;
};

} // namespace halfscope::cuda
