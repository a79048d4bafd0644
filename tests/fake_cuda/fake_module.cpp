// A module in place of libhalfscope_cuda.so, for tst_devices alone: two devices, of which the first
// makes an executor that counts its runs and the second fails. Built once for each way to be wrong.
#include "engine/core/error.h"
#include "engine/cuda/module_api.h"

namespace {

using namespace halfscope;

#ifdef FAKE_ABI
constexpr int kAbi = FAKE_ABI;
#else
constexpr int kAbi = kCudaModuleAbi;
#endif

#ifdef FAKE_LOST
constexpr size_t kMemory = size_t{1} << 30; ///< room for a run, which is to fail later
#elif defined(FAKE_SMALL)
constexpr size_t kMemory = FAKE_SMALL; ///< room for one lane of a small run
#else
constexpr size_t kMemory = 1000;
#endif

[[maybe_unused]] bool lost = false; ///< as a device that failed stays until the program ends

class CountingExecutor : public Executor {
public:
    const DeviceInfo& device() const override { return m_device; }
    void load(std::shared_ptr<const Program>) override {
#ifdef FAKE_FULL
        throw EngineError(
            Message::data("cuda:0 (Fake 0), arena: 3.2 GiB needed, 1.1 GiB free (out of memory)"));
#endif
        m_runs = 0;
    }
    RunResult run(RunMode, const Visitor&) override {
        ++m_runs;
#ifdef FAKE_LOST
        lost = true;
        throw EngineError(Message::data("cuda:0 (Fake 0) failed"));
#endif
        return RunResult::Done;
    }
    void upload(NodeId, std::span<const std::byte>) override {
#if defined(FAKE_LOST) || defined(FAKE_SMALL)
        return;
#endif
        throw EngineError(Message::data("fake device lost"));
    }
    void download(NodeId, std::span<std::byte>) override {}
    void requestStop() override {}
    double lastStepSeconds() const override { return m_runs; }
    std::vector<VariantTime> variants() const override {
        return {{"usual", 0.002, false, {}}, {"other", 0.001, true, {}}, {"third", 0, false, "no"}};
    }

private:
    DeviceInfo m_device{"Fake 0", "cuda", "fake 1.0", kMemory};
    int m_runs = 0;
};

int deviceCount([[maybe_unused]] Message* reason) {
#ifdef FAKE_NO_DEVICE
    *reason = Message::data("the NVIDIA driver is too old: version 1, at least 2 needed");
    return 0;
#else
    return 2;
#endif
}

void deviceInfo(int index, DeviceInfo* info) {
    *info = {index == 0 ? "Fake 0" : "Fake 1", "cuda", "fake 1.0", kMemory};
}

Executor* createExecutor(int index, const cuda::StepWriter* writer,
                         const cuda::SourceOptions* options) {
    if (writer == nullptr || options == nullptr)
        throw EngineError(Message::data("no steps to be had"));
    if (index != 0) throw EngineError(Message::data("Fake 1: out of memory"));
#ifdef FAKE_BUSY
    throw EngineError(Message::data("cuda:0 (Fake 0) is busy"));
#endif
    if (lost) throw EngineError(Message::data("cuda:0 (Fake 0) failed"));
    return new CountingExecutor; // the interface gives it to the caller
}

} // namespace

/// What a driver before 12.8 has of this name, for the search of functions.
extern "C" int cuEventElapsedTime();
int cuEventElapsedTime() { return 0; }

#ifdef FAKE_NO_ENTRY
extern "C" void someOtherFunction(halfscope::CudaModuleApi* api);
void someOtherFunction(halfscope::CudaModuleApi* api) {
#else
extern "C" void halfscopeCudaModule(halfscope::CudaModuleApi* api);
void halfscopeCudaModule(halfscope::CudaModuleApi* api) {
#endif
    *api = {kAbi, deviceCount, deviceInfo, createExecutor};
}
