// A CUDA machine that is none: every function of engine/cuda/api.h, on host memory, with kernels
// run by the emulator. What is enqueued is done late, as on a device, and anything can be made to
// fail. Frozen: nothing is added to it; a GPU decides.
#pragma once

#include "engine/cuda/api.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace halfscope::test {

struct FakeGpu {
    std::string name = "Fake GPU";
    int major = 9, minor = 0;
    int multiprocessors = 4;
    int sharedBytes = 232448;
    size_t bytes = size_t{1} << 30; ///< of memory
};

/// Whether the module was built with cuDNN.
#ifdef HALFSCOPE_CUDNN
inline constexpr bool kHasDnn = true;
#else
inline constexpr bool kHasDnn = false;
#endif

/// One call that fails: the `call`-th of the function (from 1), or all from then on.
struct FakeFault {
    std::string function;
    int call = 1;
    int result = 0;
    bool stays = false;
};

/// The machine. A test changes it, takes api(), and looks at what was called.
struct FakeCuda {
    std::vector<FakeGpu> gpus{1};
    int driverVersion = CUDA_VERSION;
    FakeFault fault;
    /// Names of libraries that are not there: "driver", "compiler", "blas", "dnn".
    std::vector<std::string> missing;
    int order = 0;          ///< of blocks and threads, see EmulatedModule
    int blasCandidates = 3; ///< of which the second adds in another order and is the fastest
    /// The cudnnMathType_t that it offers for every algorithm; -1: the one that was asked for.
    int dnnOffers = -1;
    bool refuseBlas = false; ///< every algorithm that was offered fails when it is used
    bool dnnSupports = true; ///< else it knows no such convolution
    /// Streams after the first do what they get at once, not as late as they may.
    bool eager = false;
    double launchMilliseconds = 0.01; ///< of a kernel
    /// What an entry of this text takes instead, where it is not 0.
    std::function<double(const std::string& text, const std::string& entry)> millisecondsOf;
    /// What compiling this text comes to; it may change the text, as a wrong compiler would.
    std::function<nvrtcResult(std::string& text)> compile;
    double blasSlowness = 1; ///< factor on what products take
    /// Called at every call, with the function's name.
    std::function<void(const std::string&)> watch;
    /// cuStreamQuery finds this once that many steps are enqueued: a device lost on the way.
    int graphLaunchesUntilLost = -1;

    std::map<std::string, int> calls; ///< by function
    int queued = 0,
        mostQueued = 0; ///< graph launches that wait for the device, and the most so far
    int live = 0;       ///< handles and allocations not given back
    size_t used = 0;    ///< bytes of device memory
    int compiled = 0;   ///< texts that the compiler was asked for
    std::vector<std::string> compileOptions;
    std::vector<int> blasUsed; ///< index of the candidate of every product
    std::vector<int> dnnUsed;  ///< algorithm of every convolution
    std::vector<int> dnnMath;  ///< its cudnnMathType_t

    cuda::Api api() const;
    /// Whether no pinned memory, device memory or handle was used wrongly; the first complaint.
    std::string complaint;
};

/// The one that the functions of api() belong to.
FakeCuda& fakeCuda();
/// As new, with everything enqueued or allocated forgotten.
void resetFakeCuda();

} // namespace halfscope::test
