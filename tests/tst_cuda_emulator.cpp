// The emulator itself: that it runs what a device would, and finds the faults that it is there for.
#include "tests/support/cuda_emulator.h"

#include "engine/core/dtype.h"

#include <QtTest>

#include <cmath>
#include <string>
#include <vector>

using namespace halfscope;
using test::EmulatedModule;

namespace {

std::string failureOf(const std::string& body, size_t sharedBytes = 1024) {
    const std::string text =
        cuda::prelude() +
        "extern \"C\" __global__ void entry(char* arena, char* scratch, unsigned* tickets) {\n"
        "HS_DYNAMIC_SHARED(shared);\nusing namespace hs;\n" +
        body + "\n}\n";
    try {
        const EmulatedModule module(text);
        cuda::Launch launch;
        launch.entry = "entry";
        launch.sharedBytes = sharedBytes;
        std::vector<std::byte> arena(4096);
        unsigned ticket = 0;
        module.launch(launch, arena.data(), arena.data(), &ticket);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

} // namespace

class TestCudaEmulator : public QObject {
    Q_OBJECT
private slots:
    void sumsOverBlocks();
    void findsFaults();
};

/// Partial sums, tickets, exchanges and barriers in any order of the blocks.
void TestCudaEmulator::sumsOverBlocks() {
    const std::string text =
        cuda::prelude() +
        "extern \"C\" __global__ void entry(char* arena, char* scratch, unsigned* tickets) {\n"
        "    HS_DYNAMIC_SHARED(shared);\n"
        "    using namespace hs;\n"
        "    const int i = blockIdx.x * kThreads + threadIdx.x;\n"
        "    double* partials = (double*)scratch;\n"
        "    const double sum = blockSum(wide(((const F16*)arena)[i]), (double*)shared);\n"
        "    if (threadIdx.x == 0) partials[blockIdx.x] = sum;\n"
        "    if (!isLastBlock(tickets, gridDim.x, shared)) return;\n"
        "    mergeParts(partials, gridDim.x, 1, 1, (double*)shared,\n"
        "               [&](int, double total) { *(double*)(scratch + 4096) = total; });\n"
        "}\n";
    const EmulatedModule module(text);
    cuda::Launch launch;
    launch.entry = "entry";
    launch.blocks = 37;
    launch.sharedBytes = 2048;
    std::vector<uint16_t> values(static_cast<size_t>(launch.blocks) * 256);
    double expected = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = halfFromFloat(static_cast<float>(i % 61) * 0.25f);
        expected += static_cast<double>(i % 61) * 0.25;
    }
    for (int order = 0; order < 4; ++order) {
        std::vector<double> scratch(600, std::nan(""));
        unsigned ticket = 0;
        module.launch(launch, reinterpret_cast<std::byte*>(values.data()),
                      reinterpret_cast<std::byte*>(scratch.data()), &ticket, order);
        QCOMPARE(scratch[512], expected);
        QCOMPARE(ticket, 0u);
    }
}

void TestCudaEmulator::findsFaults() {
    const auto says = [](const std::string& body, const char* words) {
        const std::string what = failureOf(body);
        return what.find(words) != std::string::npos;
    };
    QCOMPARE(failureOf("__syncthreads();"), std::string());
    QVERIFY(says("if (threadIdx.x < 31) __syncthreads();", "not all threads reach a barrier"));
    QVERIFY(says("if (threadIdx.x < 32) __shfl_xor_sync(kAllLanes, 1, threadIdx.x < 3 ? 1 : 2);\n"
                 "if (threadIdx.x == 40) __shfl_xor_sync(kAllLanes, 1, 1);",
                 "not all threads reach a barrier"));
    QVERIFY(says("shared[1024] = 1;", "outside its shared memory"));
    QVERIFY(says("shared[-1] = 1;", "outside its shared memory"));
    QVERIFY(says("no such word", "does not compile"));
}

QTEST_GUILESS_MAIN(TestCudaEmulator)
#include "tst_cuda_emulator.moc"
