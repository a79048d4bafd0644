// Staged copies: two halves of pinned memory that take turns.
#include "engine/cuda/transfer.h"

#include <algorithm>
#include <cstring>

namespace halfscope::cuda {
namespace {

constexpr size_t kHalfBytes = size_t{4} << 20;
constexpr size_t kAlignment = 64; ///< of a piece: a cache line, so that pieces do not share one

} // namespace

Transfer::Transfer(const Device& device, CUstream stream) : m_device(device), m_stream(stream) {
    for (Half& half : m_halves) {
        half.memory = device.allocatePinned(kHalfBytes, phrase("Devices", "transfers"));
        half.read = device.makeEvent(CU_EVENT_DISABLE_TIMING);
    }
}

void Transfer::turn() {
    const DriverApi& driver = m_device.driver();
    m_device.check(driver.cuEventRecord(m_halves[m_current].read.get(), m_stream),
                   phrase("Devices", "transfer"));
    m_current = 1 - m_current;
    // An event that was never recorded counts as reached.
    m_device.check(driver.cuEventSynchronize(m_halves[m_current].read.get()),
                   phrase("Devices", "transfer"));
    m_halves[m_current].used = 0;
}

std::byte* Transfer::reserve(size_t bytes) {
    if (kHalfBytes - m_halves[m_current].used < bytes) turn();
    Half& half = m_halves[m_current];
    std::byte* place = static_cast<std::byte*>(half.memory.get()) + half.used;
    half.used =
        std::min(kHalfBytes, (half.used + bytes + kAlignment - 1) / kAlignment * kAlignment);
    return place;
}

void Transfer::upload(std::span<const std::byte> from, CUdeviceptr to) {
    for (size_t done = 0; done < from.size();) {
        const size_t bytes = std::min(from.size() - done, kHalfBytes);
        std::byte* staged = reserve(bytes);
        std::memcpy(staged, from.data() + done, bytes);
        m_device.check(m_device.driver().cuMemcpyHtoDAsync(to + done, staged, bytes, m_stream),
                       phrase("Devices", "upload"));
        done += bytes;
    }
}

void Transfer::download(CUdeviceptr from, std::span<std::byte> to) {
    for (size_t done = 0; done < to.size();) {
        const size_t bytes = std::min(to.size() - done, kHalfBytes);
        std::byte* staged = reserve(bytes);
        m_device.check(m_device.driver().cuMemcpyDtoHAsync(staged, from + done, bytes, m_stream),
                       phrase("Devices", "download"));
        m_device.check(m_device.driver().cuStreamSynchronize(m_stream),
                       phrase("Devices", "download"));
        std::memcpy(to.data() + done, staged, bytes);
        done += bytes;
    }
}

} // namespace halfscope::cuda
