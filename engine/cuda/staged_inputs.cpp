// Two streams and two events: a copy waits until the one before was taken, and taking waits until
// the copy has arrived.
#include "engine/cuda/staged_inputs.h"

namespace halfscope::cuda {

StagedInputs::Path::Path(const Device& device)
    : stream(device.makeStream()), transfer(device, stream.get()),
      moved(device.makeEvent(CU_EVENT_DISABLE_TIMING)),
      taken(device.makeEvent(CU_EVENT_DISABLE_TIMING)) {}

StagedInputs::~StagedInputs() { release(); }

void StagedInputs::release() {
    // what is still on its way uses the memory that is released now
    if (m_path) (void)m_device.driver().cuStreamSynchronize(m_path->stream.get());
    m_spares.clear();
    m_path.reset();
}

void StagedInputs::makeRoom(NodeId id, size_t bytes) {
    if (!m_path) m_path.emplace(m_device);
    Spare& spare = m_spares[id];
    if (spare.bytes == bytes) return;
    spare = {m_device.allocate(bytes, phrase("Devices", "the next batch")), bytes, false};
    // The device's stream zeroes it, perhaps after a step: a copy must not come before that.
    m_device.check(m_device.driver().cuEventRecord(m_path->taken.get(), m_device.stream()),
                   phrase("Devices", "memory for the next batch"));
}

bool StagedInputs::stage(NodeId id, std::span<const std::byte> bytes) {
    if (bytes.empty()) return true;
    try {
        makeRoom(id, bytes.size());
    } catch (const OutOfMemory&) {
        release();
        return false;
    }
    Spare& spare = m_spares.at(id);
    const DriverApi& driver = m_device.driver();
    // An event that was never recorded counts as reached.
    m_device.check(driver.cuStreamWaitEvent(m_path->stream.get(), m_path->taken.get(), 0),
                   phrase("Devices", "the next batch"));
    m_path->transfer.upload(bytes, spare.memory.get());
    m_device.check(driver.cuEventRecord(m_path->moved.get(), m_path->stream.get()),
                   phrase("Devices", "the next batch"));
    spare.staged = true;
    return true;
}

void StagedInputs::take(const std::function<CUdeviceptr(NodeId)>& place) {
    if (!m_path) return;
    const DriverApi& driver = m_device.driver();
    m_device.check(driver.cuStreamWaitEvent(m_device.stream(), m_path->moved.get(), 0),
                   phrase("Devices", "taking the next batch"));
    for (auto& [id, spare] : m_spares) {
        if (!spare.staged) continue;
        m_device.check(
            driver.cuMemcpyDtoDAsync(place(id), spare.memory.get(), spare.bytes, m_device.stream()),
            phrase("Devices", "taking the next batch"));
        spare.staged = false;
    }
    m_device.check(driver.cuEventRecord(m_path->taken.get(), m_device.stream()),
                   phrase("Devices", "taking the next batch"));
}

size_t StagedInputs::bytes() const {
    size_t bytes = 0;
    for (const auto& [id, spare] : m_spares)
        bytes += spare.bytes;
    return bytes;
}

} // namespace halfscope::cuda
