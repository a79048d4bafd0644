// Runs a Program on a device. CPU here; CUDA comes as a module behind the same interface.
#pragma once

#include "engine/passes/compile.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace halfscope {

enum class RunMode : uint8_t { Stepwise, Captured };
enum class RunResult : uint8_t {
    Done,    ///< the step is finished, states have their next values
    Stopped, ///< given up before any state changed: running again repeats the step
};

struct DeviceInfo {
    std::string name;      ///< "AMD EPYC (2 threads)", "NVIDIA H200"
    std::string kind;      ///< "cpu" or "cuda"
    std::string libraries; ///< "oneDNN 2.6.3"
    size_t memoryBytes = 0;
};

/// Called in Stepwise mode after each kernel for each stored value, in order. The bytes are in
/// storage form and valid during the call.
using Visitor = std::function<void(NodeId, std::span<const std::byte>)>;

/// How long a device worked on one of a step's launches.
struct LaunchTime {
    std::string what; ///< "matmul 'layer 1' [64, 256]"
    double seconds = 0;
    double bytes = 0, flops = 0;       ///< that it must move, and compute in products, at least
    int registers = 0, localBytes = 0; ///< of a thread, where the device tells
};

/// One of the ways to run a program that a device compared when the program was loaded.
struct VariantTime {
    std::string name;
    double seconds = 0; ///< of a step; 0 where it was not timed
    bool chosen = false;
    std::string note; ///< why it was left out
};

class Executor {
public:
    virtual ~Executor() = default;
    virtual const DeviceInfo& device() const = 0;
    /// How programs are best compiled for it. It runs others too.
    virtual CompileOptions compileOptions() const { return {}; }
    /// Takes the program, allocates its arena; states and inputs are zero. EngineError when memory
    /// is too small; then nothing is loaded, whatever was before.
    virtual void load(std::shared_ptr<const Program>) = 0;
    virtual RunResult run(RunMode, const Visitor& = {}) = 0;
    /// Bytes in storage form of an input or state (upload) or of an input, state or output
    /// (download).
    virtual void upload(NodeId, std::span<const std::byte>) = 0;
    virtual void download(NodeId, std::span<std::byte>) = 0;
    /// Whether run() returns before the step is over: the host can do other things meanwhile.
    virtual bool worksAhead() const { return false; }
    /// An input's next values, for a device that works ahead and no other: they are moved there
    /// while the step that was enqueued still reads the present ones, and count from takeStaged()
    /// on. upload() in between changes the present ones.
    virtual void stage(NodeId, std::span<const std::byte>) {}
    virtual void takeStaged() {}
    /// Asks the running step, or the next one where none runs, to give up; answered within 100 ms.
    /// One run() takes it, whether it gives up or was beyond the point of no return.
    virtual void requestStop() = 0;
    /// The plan by which the loaded program has its memory, where the device makes one of its own:
    /// with other kernels, other values are stored. Valid until the next load().
    virtual const MemoryPlan* memory() const { return nullptr; }
    /// Memory beside that: tiles, converted operands, library workspace, what a visitor needs.
    virtual size_t workspaceBytes() const { return 0; }
    /// Seconds that the device worked on the last finished step.
    virtual double lastStepSeconds() const = 0;
    /// Launch by launch, when the last step ran stepwise without a visitor on a device that has
    /// launches.
    virtual std::vector<LaunchTime> launchTimes() const { return {}; }
    /// The ways to run the program that were compared, on a device that does so.
    virtual std::vector<VariantTime> variants() const { return {}; }
    /// Each launch by itself, many times in a row, on a device that has launches. All values are
    /// worthless then, until they are uploaded again.
    virtual std::vector<LaunchTime> profile() { return {}; }
    /// What the device's compiler was given.
    virtual std::string sourceText() const { return {}; }
};

/// What a program takes of the device on which it is loaded, workspace included.
struct MemoryUse {
    size_t bytes = 0;                                ///< allocated
    size_t peakBytes = 0;                            ///< the most that lives at once
    std::array<size_t, kMemoryCauses> peakByCause{}; ///< adds up to that
};
MemoryUse memoryUse(const Executor&, const Program& loaded);

/// The CPU executor. threads 0: one for each hardware thread.
std::unique_ptr<Executor> makeCpuExecutor(int threads = 0);

} // namespace halfscope
