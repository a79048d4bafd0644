// A CUDA device in use: its context, its one stream, its library handles, and how its failures
// become sentences. Lanes on one device share it and take turns.
#pragma once

#include "engine/core/error.h"
#include "engine/cuda/api.h"
#include "engine/cuda/codegen/kernel_text.h"
#include "engine/cuda/handles.h"
#include "engine/exec/executor.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace halfscope::cuda {

/// The lowest capability (10 * major + minor) for which kernels are made, and the lowest that has
/// bfloat16 and TF32 arithmetic.
inline constexpr int kLowestCapability = 75, kBfloat16Capability = 80;

using DeviceMemory = Owned<CUdeviceptr, CUresult>;
using PinnedMemory = Owned<void*, CUresult>;
using StreamHandle = Owned<CUstream, CUresult>;
using EventHandle = Owned<CUevent, CUresult>;
using GraphHandle = Owned<CUgraph, CUresult>;
using GraphExecHandle = Owned<CUgraphExec, CUresult>;
using ModuleHandle = Owned<CUmodule, CUresult>;
using BlasHandle = Owned<cublasLtHandle_t, cublasStatus_t>;
#ifdef HALFSCOPE_CUDNN
using DnnHandle = Owned<cudnnHandle_t, cudnnStatus_t>;
#endif

/// Why a device must not be used any more; empty while it may be used. Outlives the device: a
/// context that failed stays unusable until the program ends.
struct DeviceHealth {
    std::mutex mutex;
    Message failure;
};

/// The device has too little memory; otherwise it is as good as before.
class OutOfMemory : public EngineError {
public:
    using EngineError::EngineError;
};

/// A library cannot do a node, or cannot do anything; generated kernels can.
class NoAlgorithm : public EngineError {
public:
    using EngineError::EngineError;
};
/// The same for cuDNN.
class NoConvolution : public NoAlgorithm {
public:
    using NoAlgorithm::NoAlgorithm;
};
/// The libraries cannot do some nodes of a step; they may do all others.
class NodesRefused : public NoAlgorithm {
public:
    NodesRefused(const Message& reasons, std::set<NodeId> nodes)
        : NoAlgorithm(reasons), m_nodes(std::move(nodes)) {}
    const std::set<NodeId>& nodes() const { return m_nodes; }

private:
    std::set<NodeId> m_nodes;
};

class Device {
public:
    /// Opens the device. Throws EngineError when it is busy, given up, or too old.
    Device(const Api&, int ordinal, std::string id, std::shared_ptr<DeviceHealth>);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const Api& api() const { return m_api; }
    const DriverApi& driver() const { return m_api.driver; }
    const std::string& id() const { return m_id; } ///< "cuda:0"
    const DeviceInfo& info() const { return m_info; }
    const DeviceTraits& traits() const { return m_traits; }

    /// Makes the calling thread's calls go to this device. Throws EngineError once it has failed.
    void activate() const;
    /// Whether the device was given up.
    bool isLost() const;
    /// Does the same as activate() without throwing, for destructors.
    void activateQuietly() const noexcept;

    /// Throws EngineError "WHAT: REASON" unless the call succeeded, or OutOfMemory, NoAlgorithm or
    /// NoConvolution when the result tells that. After a failure that no later call can recover
    /// from, the device is given up.
    template <class Result, class What>
    void check(Result result, const What& what) const {
        if (result != Result{}) fail(result, Message::of(what)); // 0 is success everywhere
    }

    /// Allocates memory, which the stream zeroes. Throws OutOfMemory "WHAT: 3.2 GiB wanted, 1.1 GiB
    /// free (out of memory)".
    DeviceMemory allocate(size_t bytes, const Message& what) const;
    /// Allocates host memory that the device can read and write.
    PinnedMemory allocatePinned(size_t bytes, const Message& what) const;
    StreamHandle makeStream() const;
    EventHandle makeEvent(unsigned flags) const;
    float millisecondsBetween(const EventHandle& start, const EventHandle& stop) const;

    /// All steps of all lanes go to this stream, one after the other, so that the time between two
    /// events belongs to one lane. Only the batches of later steps are copied beside them
    /// (staged_inputs).
    CUstream stream() const { return m_stream.get(); }
    /// Held while calls of one lane that belong together are made.
    std::mutex& turn() const { return m_turn; }

    /// What was chosen on this device by measurement, by what the choice depends on: lanes with the
    /// same step run alike, whatever the disk keeps. Used while turn() is held.
    std::map<std::string, std::string>& choices() { return m_choices; }

    /// Made at the first call. Throws NoAlgorithm or NoConvolution when the library cannot start,
    /// for example when the driver does not support its version.
    cublasLtHandle_t blas();
#ifdef HALFSCOPE_CUDNN
    cudnnHandle_t dnn(); ///< its stream is set at every use
#endif

    /// Throws EngineError when something that was enqueued has failed; does not wait.
    void checkStream(const Message& what) const;

private:
    [[noreturn]] void fail(CUresult, const Message& what) const;
    [[noreturn]] void fail(cublasStatus_t, const Message& what) const;
#ifdef HALFSCOPE_CUDNN
    [[noreturn]] void fail(cudnnStatus_t, const Message& what) const;
#endif

    const Api& m_api;
    const std::string m_id;
    const std::shared_ptr<DeviceHealth> m_health;
    CUdevice m_device = 0;
    CUcontext m_context = nullptr; ///< the primary one, which cuBLASLt and cuDNN also use
    DeviceInfo m_info;
    DeviceTraits m_traits;
    mutable std::mutex m_turn;
    std::map<std::string, std::string> m_choices;
    StreamHandle m_stream;
    BlasHandle m_blas;
#ifdef HALFSCOPE_CUDNN
    DnnHandle m_dnn;
#endif
};

/// The devices of this machine that can be used.
class Platform {
public:
    explicit Platform(Api);

    int devices() const { return static_cast<int>(m_ordinals.size()); }
    const Message& reason() const { return m_reason; } ///< why there are none
    DeviceInfo info(int index) const;
    /// Opens a device, which is the same object for all callers. Once open it stays so: the
    /// libraries' own state belongs to the primary context, which must not end before they do, and
    /// the next run starts sooner.
    std::shared_ptr<Device> open(int index);

private:
    void findDevices();

    const Api m_api;
    Message m_reason;
    std::vector<int> m_ordinals; ///< the driver's numbers, by our index
    std::vector<std::shared_ptr<DeviceHealth>> m_health;
    std::mutex m_mutex;
    std::vector<std::shared_ptr<Device>> m_open;
};

} // namespace halfscope::cuda
