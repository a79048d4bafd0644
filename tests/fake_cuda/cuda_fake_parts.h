// What the files of the fake CUDA machine share: faults, streams of late work, memory.
#pragma once

#include "tests/fake_cuda/cuda_fake.h"

#include <functional>
#include <memory>
#include <mutex>

namespace halfscope::test::fake {

/// Held while the machine is changed: texts are compiled by several threads.
std::recursive_mutex& machineMutex();

/// Counts a call; the result that the test wants of it, 0 for success.
int enter(const char* function);
/// The same for the driver, whose failures can be for good.
CUresult entered(const char* function);
#define FAKE_ENTER(name)                                                                           \
    if (const CUresult result = fake::entered(name); result != CUDA_SUCCESS) return result
/// Notes the first wrong use.
void complain(const std::string& what);

/// Work on a stream or in a graph. It may throw nothing.
using Task = std::function<void()>;
/// Adds work to a stream, or to the graph that it captures. A null stream is the device's default.
void enqueue(CUstream, Task);
/// Whether there still is such a stream.
bool isAlive(CUstream);
/// Whether a stream records: nobody may then allocate, wait, load code or ask for algorithms.
bool isCapturing();
/// Makes the capture at hand fail, as a forbidden call does, with a complaint.
void spoilCapture(const char* function);
/// Whether the calling thread's calls go to a context that exists.
bool hasContext();
/// Does all that is enqueued, on every stream.
void drainAll();
/// Milliseconds that the work at hand takes on the fake clock.
void spend(double milliseconds);

/// Bytes of device or pinned memory at an address that the device uses; complains when some of them
/// belong to no allocation.
std::byte* memoryAt(CUdeviceptr, size_t bytes, const char* who);

void fillDriver(cuda::DriverApi&);
void fillStreams(cuda::DriverApi&);
void fillKernels(cuda::DriverApi&);
void fillCompiler(cuda::CompilerApi&);
void fillBlas(cuda::BlasApi&);
void fillDnn(cuda::DnnApi&);
void resetDriver();
void resetStreams();
void resetKernels();
/// The text behind what the fake compiler gave out as machine code.
std::string textOfCode(const void* image);

} // namespace halfscope::test::fake
