// The next batch on its way to the device: copied on a stream of its own into memory of its own,
// while the step that was enqueued still reads the present batch.
#pragma once

#include "engine/cuda/device.h"
#include "engine/cuda/transfer.h"
#include "engine/graph/graph.h"

#include <functional>
#include <map>
#include <optional>
#include <span>

namespace halfscope::cuda {

class StagedInputs {
public:
    explicit StagedInputs(const Device& device) : m_device(device) {}
    ~StagedInputs();
    StagedInputs(const StagedInputs&) = delete;
    StagedInputs& operator=(const StagedInputs&) = delete;

    /// Stages an input. The bytes are copied before it returns. It waits for no step as long as a
    /// batch fits into a Transfer's pinned memory of 8 MiB. A larger one waits for the steps that
    /// were enqueued before the last batch was taken or, the first time, before this call. When an
    /// input is staged twice, the last call counts. Returns false when there is no memory for it;
    /// then it holds nothing.
    bool stage(NodeId, std::span<const std::byte>);
    /// Copies what was staged to its place on the device's stream, before whatever comes next in
    /// it.
    void take(const std::function<CUdeviceptr(NodeId)>& place);
    /// Returns the bytes of the memory that stage() has allocated.
    size_t bytes() const;

private:
    struct Spare {
        DeviceMemory memory;
        size_t bytes = 0;
        bool staged = false;
    };
    /// Made by the first staging: few programs have batches that change.
    struct Path {
        explicit Path(const Device&);
        StreamHandle stream; ///< first, because it must outlive the transfer
        Transfer transfer;
        EventHandle moved; ///< the spares hold what was staged
        EventHandle taken; ///< the device's stream has read the spares
    };
    void makeRoom(NodeId, size_t bytes);
    void release();

    const Device& m_device;
    std::map<NodeId, Spare> m_spares;
    std::optional<Path> m_path;
};

} // namespace halfscope::cuda
