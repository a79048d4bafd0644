// The metrics row of a step in host memory, put there by the device itself, so that reading it
// waits for that row alone and not for the stream.
#pragma once

#include "engine/cuda/device.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace halfscope::cuda {

/// Text of the kernel that ends a step: copies `bytes` from `offset` of the arena into slot n % 4
/// of the ring and then writes the number n of the step, counted on the device from 1. Its launch
/// passes arena, ring and counter in place of arena, scratch and tickets. Both sizes in whole words
/// of 8 bytes. It goes behind a step's text, whose words it uses.
std::string publishText(size_t offset, size_t bytes);
inline constexpr const char* kPublishEntry = "halfscope_publish";
inline constexpr int kPublishThreads = 32;

class MetricsRing {
public:
    /// Step numbers begin at 1.
    MetricsRing(const Device&, size_t rowBytes);
    /// What the kernel gets.
    CUdeviceptr ring() const { return m_ring; }
    CUdeviceptr counter() const { return m_counter.get(); }
    /// Counts from 1 again; in the order of the stream, which must be idle.
    void restart();
    /// Waits for the row of step `number`: spins, then gives the processor away in between, then
    /// sleeps. Fails with the device.
    void read(uint32_t number, std::span<std::byte> row) const;

private:
    const Device& m_device;
    size_t m_rowBytes;
    PinnedMemory m_memory;
    CUdeviceptr m_ring = 0; ///< the same memory, seen by the device
    DeviceMemory m_counter;
};

} // namespace halfscope::cuda
