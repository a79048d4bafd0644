// The ring: slots for rows, and the number of the last complete step.
#include "engine/cuda/metrics_ring.h"

#include "engine/core/error.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace halfscope::cuda {
namespace {

constexpr size_t kSlots = 4;
constexpr size_t kSequenceBytes = 64; ///< before the slots, on a cache line of its own
constexpr int kSpins = 4096;          ///< some microseconds, as a small step takes
// Measured by the clock: on a busy machine, a yielded processor comes back after milliseconds.
constexpr std::chrono::milliseconds kYielding{10}; ///< a longer wait need not end that promptly
constexpr std::chrono::microseconds kNap{50};
constexpr std::chrono::microseconds kBetweenChecks{300}; ///< of the device's health

size_t slotBytes(size_t rowBytes) { return (rowBytes + 63) / 64 * 64; }

} // namespace

std::string publishText(size_t offset, size_t bytes) {
    const auto number = [](size_t value) { return std::to_string(value) + "ull"; };
    // Neighbouring threads copy whole words: one write over the bus, not one per byte.
    return std::string("\n// The metrics row into host memory, then its number.\n"
                       "extern \"C\" __global__ void ") +
           kPublishEntry +
           "(char* arena, char* scratch, unsigned* tickets) {\n"
           "    const unsigned step = tickets[0] + 1;\n"
           "    const unsigned long long* from = (const unsigned long long*)(arena + " +
           number(offset) +
           ");\n"
           "    unsigned long long* to = (unsigned long long*)(scratch + " +
           number(kSequenceBytes) + " + (step % " + std::to_string(kSlots) + "u) * " +
           number(slotBytes(bytes)) +
           ");\n"
           "    for (unsigned long long i = threadIdx.x; i < " +
           number(bytes / sizeof(uint64_t)) + "; i += " + std::to_string(kPublishThreads) +
           "u)\n"
           "        to[i] = from[i];\n"
           "    __syncthreads();\n"
           "    if (threadIdx.x == 0) {\n"
           "        tickets[0] = step;\n"
           "        __threadfence_system(); // the words of all threads before the number\n"
           "        *(volatile unsigned*)scratch = step;\n"
           "    }\n"
           "}\n";
}

MetricsRing::MetricsRing(const Device& device, size_t rowBytes)
    : m_device(device), m_rowBytes(rowBytes) {
    const size_t bytes = kSequenceBytes + kSlots * slotBytes(rowBytes);
    m_memory = device.allocatePinned(bytes, phrase("Devices", "metrics"));
    std::memset(m_memory.get(), 0, bytes);
    device.check(device.driver().cuMemHostGetDevicePointer(&m_ring, m_memory.get(), 0),
                 phrase("Devices", "metrics"));
    m_counter = device.allocate(sizeof(uint32_t), phrase("Devices", "metrics"));
}

void MetricsRing::restart() {
    std::memset(m_memory.get(), 0, sizeof(uint32_t));
    m_device.check(
        m_device.driver().cuMemsetD8Async(m_counter.get(), 0, sizeof(uint32_t), m_device.stream()),
        phrase("Devices", "metrics"));
}

void MetricsRing::read(uint32_t number, std::span<std::byte> row) const {
    require(row.size() == m_rowBytes, "cuda: transfer of a wrong number of bytes");
    auto* const base = static_cast<std::byte*>(m_memory.get());
    const std::atomic_ref<uint32_t> sequence(*reinterpret_cast<uint32_t*>(base));
    // Signed, because the count wraps after 2^32 steps.
    const auto waiting = [&] {
        return static_cast<int32_t>(sequence.load(std::memory_order_acquire) - number) < 0;
    };
    using Clock = std::chrono::steady_clock;
    for (int spin = 0; spin < kSpins && waiting(); ++spin) {
    }
    const Clock::time_point start = Clock::now();
    Clock::time_point checked = start;
    while (waiting()) {
        const Clock::time_point now = Clock::now();
        if (now - start < kYielding)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(kNap);
        if (now - checked < kBetweenChecks) continue;
        checked = now;
        const CUresult state = m_device.driver().cuStreamQuery(m_device.stream());
        if (state == CUDA_ERROR_NOT_READY) continue;
        m_device.check(state, phrase("Devices", "waiting for the metrics of a step"));
        // The stream is empty, so everything that the device wrote is here now.
        require(!waiting(), "cuda: a step ended without its metrics");
    }
    std::memcpy(row.data(), base + kSequenceBytes + number % kSlots * slotBytes(m_rowBytes),
                m_rowBytes);
}

} // namespace halfscope::cuda
