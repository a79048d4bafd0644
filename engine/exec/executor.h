// Runs a Program on a device. Declares the interface and the CPU executor; CUDA comes as a module
// behind the same interface.
#pragma once

#include "engine/core/message.h"
#include "engine/passes/compile.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace halfscope {

class ThreadPool;

enum class RunMode : uint8_t { Stepwise, Captured };
enum class RunResult : uint8_t {
    Done,       ///< the step is finished, states have their next values
    Stopped,    ///< given up before any state changed; running again repeats the step
    CannotShow, ///< not begun, because there is a visitor; see Executor::whyNotShown()
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
    double bytes = 0, flops = 0;       ///< the least that it must move and compute in products
    int registers = 0, localBytes = 0; ///< of one thread, where the device reports it
};

/// One of the ways to run a program that a device compared when the program was loaded.
struct VariantTime {
    std::string name;
    double seconds = 0; ///< of a step; 0 when it was not timed
    bool chosen = false;
    std::string note; ///< why it was left out
};

class Executor {
public:
    virtual ~Executor() = default;
    virtual const DeviceInfo& device() const = 0;
    /// Returns how programs are best compiled for it. It runs other programs too.
    virtual CompileOptions compileOptions() const { return {}; }
    /// Takes the program and allocates its arena; states and inputs are zero. Throws EngineError
    /// when memory is too small; no program is loaded then, not even an earlier one.
    virtual void load(std::shared_ptr<const Program>) = 0;
    virtual RunResult run(RunMode, const Visitor& = {}) = 0;
    /// Makes ready to show a visitor the values of the loaded program, if that takes anything.
    /// Returns why that is not possible, which holds until the next load(); else nothing. Where a
    /// stop is requested it may leave the matter to run().
    virtual Message whyNotShown() { return {}; }
    /// Copies bytes in storage form: upload() to an input or state, download() from an input, state
    /// or output.
    virtual void upload(NodeId, std::span<const std::byte>) = 0;
    virtual void download(NodeId, std::span<std::byte>) = 0;
    /// Uploads an input's bytes, or reads them where they are. Nobody may change them while the
    /// executor holds `owner`.
    virtual void lend(NodeId id, std::span<const std::byte> bytes,
                      std::shared_ptr<const void> /*owner*/) {
        upload(id, bytes);
    }
    /// Returns whether run() returns before the step is over; the host can do other things
    /// meanwhile.
    virtual bool worksAhead() const { return false; }
    /// Moves an input's next values to the device while the step that was enqueued still reads the
    /// present ones; only for a device that works ahead. The next values count from takeStaged()
    /// on; upload() in between changes the present ones. Returns false when there is no memory for
    /// that: then nothing is staged any more, and the next values must be uploaded.
    virtual bool stage(NodeId, std::span<const std::byte>) { return false; }
    virtual void takeStaged() {}
    /// Returns the threads that run steps, for the host's work between them; null on a device that
    /// has processors of its own.
    virtual ThreadPool* pool() { return nullptr; }
    /// Asks the running step, or the next one when none runs, to give up; answered within 100 ms.
    /// One run() uses up the request, whether it gives up or was beyond the point of no return.
    virtual void requestStop() = 0;
    /// Returns the memory plan of the loaded program when the device makes a plan of its own,
    /// because other kernels store other values; null otherwise. Valid until the next load().
    virtual const MemoryPlan* memory() const { return nullptr; }
    /// Returns the bytes used beside that plan: tiles, converted operands, library workspace, what
    /// a visitor needs.
    virtual size_t workspaceBytes() const { return 0; }
    /// Returns the bytes that count as free until the first run of the loaded program fills them,
    /// on a device whose memory is there only once it is written.
    virtual size_t bytesToFill() const { return 0; }
    /// Returns the seconds that the device worked on the last finished step.
    virtual double lastStepSeconds() const = 0;
    /// Returns the time of each launch, when the last step ran stepwise without a visitor on a
    /// device that has launches.
    virtual std::vector<LaunchTime> launchTimes() const { return {}; }
    /// Returns the ways to run the program that were compared, on a device that does so.
    virtual std::vector<VariantTime> variants() const { return {}; }
    /// Times each launch by itself, many times in a row, on a device that has launches. All values
    /// are worthless afterwards, until they are uploaded again.
    virtual std::vector<LaunchTime> profile() { return {}; }
    /// Returns the source text that the device's compiler was given.
    virtual std::string sourceText() const { return {}; }
};

/// The memory that a program takes on the device where it is loaded, workspace included.
struct MemoryUse {
    size_t bytes = 0;                                ///< allocated: arena and workspace
    size_t peakBytes = 0;                            ///< the most that is alive at once
    std::array<size_t, kMemoryCauses> peakByCause{}; ///< adds up to peakBytes
    size_t bytesToFill = 0;                          ///< see Executor::bytesToFill()
};
MemoryUse memoryUse(const Executor&, const Program& loaded);

/// Makes the CPU executor. With threads 0 it uses one for each hardware thread.
std::unique_ptr<Executor> makeCpuExecutor(int threads = 0);

} // namespace halfscope
