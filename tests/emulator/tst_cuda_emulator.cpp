// The emulator itself: that it runs what a device would, and finds the faults that it is there for.
#include "tests/emulator/cuda_emulator.h"

#include "engine/core/dtype.h"

#include <QtTest>

#include <cmath>
#include <string>
#include <vector>

namespace tst_cuda_emulator {

using namespace halfscope;
using test::EmulatedModule;

namespace {

std::string failureOf(const std::string& body) {
    const std::string text =
        cuda::prelude() +
        "extern \"C\" __global__ void entry(char* arena, char* scratch, unsigned* tickets) {\n"
        "HS_DYNAMIC_SHARED(shared);\nusing namespace hs;\n" +
        body + "\n}\n";
    try {
        const EmulatedModule module(text);
        cuda::Launch launch;
        launch.entry = "entry";
        launch.blocks = 3;
        launch.sharedBytes = 1024;
        std::vector<std::byte> arena(4096), scratch(1);
        unsigned ticket = 0;
        module.launch(launch, arena.data(), scratch.data(), &ticket);
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
    void findsRaces();
    void sumsNeedAllTheirBarriers();
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
        "    const double sum = lanesSum<kThreads>(wide(((const F16*)arena)[i]), "
        "(double*)shared);\n"
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
    QVERIFY(says("if (threadIdx.x == 0) shared[1024] = 1;", "outside its shared memory"));
    QVERIFY(says("if (threadIdx.x == 0) shared[-1] = 1;", "outside its shared memory"));
    QVERIFY(says("no such word", "does not compile"));
    QVERIFY(says("Pack<F16, 4> pack;\npack.load((F16*)arena + 2 * threadIdx.x);", "misaligned"));
    QCOMPARE(failureOf("Pack<F16, 4> pack;\npack.load((F16*)arena + 4 * threadIdx.x);"),
             std::string());
}

/// Faults that a run shows only by chance, or on another machine.
void TestCudaEmulator::findsRaces() {
    const auto raceIn = [](const std::string& body) {
        return failureOf("float* values = (float*)arena;\nfloat* own = (float*)shared;\n"
                         "const int thread = threadIdx.x, block = blockIdx.x;\n" +
                         body);
    };
    const auto isRace = [&](const std::string& body, const char* place) {
        return raceIn(body).find(std::string("race at ") + place) != std::string::npos;
    };
    // within a block: a barrier, or an exchange of one warp
    const std::string neighbour = "values[block * kThreads + thread] = own[thread ^ 1];";
    QVERIFY(isRace("own[thread] = 1;\n" + neighbour, "shared"));
    QCOMPARE(raceIn("own[thread] = 1;\n__syncthreads();\n" + neighbour), std::string());
    QCOMPARE(raceIn("own[thread] = 1;\n__syncwarp();\n" + neighbour), std::string());
    QVERIFY(isRace("const float x = own[255 - thread];\nown[thread] = x;", "shared"));
    // narrower than a word: neighbours in one word do not meet, a word and its half do
    const std::string bytes = "unsigned char* bytes = (unsigned char*)arena + 256 * block;\n",
                      halves = "unsigned short* halves = (unsigned short*)own;\n";
    QCOMPARE(raceIn(bytes + "bytes[thread] = 1;\n"), std::string());
    QVERIFY(isRace(bytes + "bytes[thread / 2] = 1;\n", "arena"));
    QCOMPARE(raceIn(halves + "if (thread < 128) own[thread] = 1;\n__syncthreads();\n"
                             "halves[thread] = 1;\n"),
             std::string());
    QVERIFY(isRace(halves + "if (thread == 0) own[0] = 1;\nif (thread == 1) halves[1] = 1;\n",
                   "shared + 2"));
    QVERIFY(isRace(halves + "if (thread == 0) halves[1] = 1;\nif (thread == 1) own[0] = 1;\n",
                   "shared + 2"));
    // between blocks: only the ticket of the last one, with a fence on both sides
    QVERIFY(isRace("if (thread == 0) values[1 + block / 2] = 1;", "arena + 4"));
    const std::string left = "values[block * kThreads + thread] = 1;\n";
    const std::string sum = "values[768] = values[thread] + values[512 + thread];";
    const auto lastBlock = [&](const std::string& before, const std::string& after) {
        return left + "__syncthreads();\nif (thread == 0) {\n" + before +
               "own[0] = atomicAdd(tickets, 1u) == 2;\n" + after +
               "}\n__syncthreads();\nif (own[0] == 0 || thread != 0) return;\n" + sum;
    };
    const std::string fence = "__threadfence();\n";
    QCOMPARE(raceIn(lastBlock(fence, fence)), std::string());
    QVERIFY(isRace(lastBlock("", fence), "arena"));
    QVERIFY(isRace(lastBlock(fence, ""), "arena"));
    QVERIFY(isRace(left + "if (!isLastBlock(tickets, 2, shared)) return;\n" + sum, "arena"));
    // a block's other threads are behind no fence of thread 0 that comes before the barrier
    QVERIFY(isRace("if (thread == 0) __threadfence();\n" + lastBlock("", fence), "arena"));
}

/// The sums over blocks without one of their barriers or fences: each is needed, and missed.
void TestCudaEmulator::sumsNeedAllTheirBarriers() {
    const std::string entry =
        "extern \"C\" __global__ void entry(char* arena, char* scratch, unsigned* tickets) {\n"
        "    HS_DYNAMIC_SHARED(shared);\n"
        "    using namespace hs;\n"
        "    double* parts = (double*)scratch;\n"
        "    const double one = lanesSum<kThreads>(1, (double*)shared),\n"
        "                 two = lanesSum<kThreads>(2, (double*)shared);\n"
        "    const double four = lanesSum<64>(1, (double*)shared) / 16,\n"
        "                 eight = lanesSum<64>(2, (double*)shared) / 16;\n"
        "    double columns = 0;\n"
        "    const double mine[2] = {1, 2};\n"
        "    for (int i = 0; i < 2; ++i)\n" // 8 rows of threads, a column of 1 and one of 2 each
        "        columnSums<32, 2>(mine, (double*)shared,\n"
        "                          [&](int column, double sum) { columns += sum; });\n"
        "    const double all = lanesSum<kThreads>(columns, (double*)shared);\n"
        "    if (threadIdx.x == 32) parts[blockIdx.x] = one + two + four + eight + all;\n"
        "    if (!isLastBlock(tickets, gridDim.x, shared)) return;\n"
        "    for (int i = 0; i < 2; ++i)\n"
        "        mergeParts(parts, gridDim.x, 1, 1, (double*)shared,\n"
        "                   [&](int, double total) { *(double*)arena = total; });\n"
        "}\n";
    const auto failureWith = [&](const std::string& prelude) -> std::string {
        const EmulatedModule module(prelude + entry);
        cuda::Launch launch;
        launch.entry = "entry";
        launch.blocks = 5;
        launch.sharedBytes = 4096;
        double total = 0;
        std::vector<double> parts(5);
        unsigned ticket = 0;
        try {
            module.launch(launch, reinterpret_cast<std::byte*>(&total),
                          reinterpret_cast<std::byte*>(parts.data()), &ticket, 7);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return total == 5 * (256 * 3 + 12 + 2 * 256 * 3) ? "" : "a wrong sum";
    };
    const std::string whole = cuda::prelude();
    QCOMPARE(failureWith(whole), std::string());
    int left = 0;
    for (const auto& [function, next] : {std::pair{"double lanesSum(", "fenceBlocks() {"},
                                         std::pair{"bool isLastBlock(", "double fresh("},
                                         std::pair{"void mergeParts(", "void mergeBlocks("},
                                         std::pair{"void columnSums(", "void copyBytes("}})
        for (const std::string word : {"__syncthreads();", "fenceBlocks();"})
            for (size_t at = whole.find(word, whole.find(function)); at < whole.find(next);
                 at = whole.find(word, at + 1), ++left)
                QVERIFY2(!failureWith(std::string(whole).erase(at, word.size())).empty(),
                         (function + std::to_string(left)).c_str());
    QCOMPARE(left, 11);
}

} // namespace tst_cuda_emulator

QTEST_GUILESS_MAIN(tst_cuda_emulator::TestCudaEmulator)
#include "tst_cuda_emulator.moc"
