// The PTX that NVRTC makes of generated texts, run by the interpreter of support/ptx_module.h: that
// it finds the faults that it is there for, and that whole steps compute what they compute in the
// emulator, whose lanes' instructions are the host's.
#include "tests/emulator/ptx_probe.h"
#include "tests/support/chained_step.h"
#include "tests/support/cuda_nodes.h"
#include "tests/support/node_rows.h"
#include "tests/support/stored_values.h"

#include "engine/settings/fields.h"

#include <QtTest>

namespace tst_cuda_ptx {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Few multiprocessors and slow blocks: kernels spread over blocks, with chains however small.
EmulationOptions spread(int capability) {
    EmulationOptions options;
    options.traits.capability = capability;
    options.traits.multiprocessors = 3;
    options.traits.sharedBytes = capability == 75    ? 65536
                                 : capability == 80  ? 166912
                                 : capability == 120 ? 101376
                                                     : 232448;
    options.traits.blockWork = 1000;
    options.source.chainElements = 1;
    return options;
}

struct Step {
    const char* name;
    Precision precision;
    std::vector<const char*> settings;
    cuda::ChainWay way{};
};
RunConfig configOf(const Step& step) {
    RunConfig config = defaultConfig();
    config.task.side = 16;
    config.model.width = 32;
    config.model.depth = 1;
    for (const char* setting : step.settings)
        applySetting(config, setting);
    return config;
}

BytesByName valuesAfterTwoSteps(const Step& step, const EmulationOptions& options) {
    LaneConfig lane = defaultLane(step.precision);
    lane.scaler.initScale = 1024;
    StepRunner runner =
        trained(configOf(step), lane, std::make_unique<EmulatedExecutor>(options), 2);
    return storedValues(runner);
}

} // namespace

class TestCudaPtx : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (!compiler().unavailable().empty()) QSKIP(compiler().unavailable().c_str());
    }
    void cleanup() { emulatePtx(0); }
    void findsFaults();
    void findsRaces();
    void waitsForCopies();
    void fragmentsOfProducts();
    void steps_data();
    void steps();
    void nodes();
};

void TestCudaPtx::findsFaults() {
    QCOMPARE(failureOf("own[thread] = 1;\n__syncthreads();\nif (block == 0) values[thread] = "
                       "own[255 - thread];"),
             std::string());
    QVERIFY(says("Pack<F16, 4> pack;\npack.load((F16*)arena + 2 * thread);\nif (block == 0) "
                 "pack.store((F16*)arena + 4 * thread);",
                 "misaligned"));
    QVERIFY(
        says("if (thread == 0) *(int*)scratch = ((int*)arena)[1024 + block];", "outside every"));
    QVERIFY(says("if (thread == 0) values[-1 - block] = 1;", "outside every area"));
    QVERIFY(says("own[thread + block] = 1;", "outside shared memory"));
    QVERIFY(says("if (block == 0) values[thread] = own[thread];", "nobody wrote"));
    QVERIFY(says("if (own[thread] > 1) values[thread] = 1;", "nobody wrote"));
    QVERIFY(
        says("if (block == 0) values[thread] = ((float*)scratch)[thread % 128];", "nobody wrote"));
    QVERIFY(says("if (thread < 31) __syncthreads();", "never meet"));
    QVERIFY(says("if (thread < 32) __syncthreads();", "ends before a barrier"));
    QVERIFY(says("if (thread % 2 == 0) ((int*)scratch)[block] = __shfl_xor_sync(kAllLanes, "
                 "thread, 2);",
                 "never meet"));
    QVERIFY(says("u32 words[4];\nown[thread] = 1;\n__syncthreads();\n"
                 "if (thread % 32 < 16) {\nloadMatrices<false>(words, shared);\n"
                 "if (block == 0) ((int*)arena)[thread] = words[0];\n}",
                 "never meet"));
    QVERIFY(says("u32 words[4];\nown[thread] = 1;\n__syncthreads();\n"
                 "loadMatrices<false>(words, shared + 8);\nif (block == 0) ((int*)arena)[thread] = "
                 "words[0];",
                 "misaligned"));
    QVERIFY(says("values[512 + thread] = __ldg(values + thread);", "must not change"));
    QVERIFY(says("if (thread == 0) asm volatile(\"nanosleep.u32 20;\");", "is not known"));
}

/// The search is cuda_races'; what orders accesses is PTX's.
void TestCudaPtx::findsRaces() {
    const std::string neighbour = "if (block == 0) values[thread] = own[thread ^ 1];";
    QVERIFY(says("own[thread] = 1;\n" + neighbour, "race at shared"));
    QCOMPARE(failureOf("own[thread] = 1;\n__syncwarp();\n" + neighbour), std::string());
    // a shuffle orders no memory
    const std::string shuffled = "const int other = __shfl_xor_sync(kAllLanes, thread, 1);\n"
                                 "if (block == 0) values[256 + thread] = other;\n";
    QCOMPARE(failureOf(shuffled), std::string());
    QVERIFY(says("own[thread] = 1;\n" + shuffled + neighbour, "race at shared"));
    QVERIFY(says("if (thread == 0) values[1 + block / 2] = 1;", "race at arena + 4"));
}

/// What cp.async brings is there for its thread once that has waited, for others after a barrier.
void TestCudaPtx::waitsForCopies() {
    const auto copy = [](const std::string& after, const std::string& index) {
        return "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"((u32)"
               "__cvta_generic_to_shared(own + thread)), \"l\"(arena + 4 * thread) : \"memory\");\n"
               "asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n" +
               after + "\nif (block == 0) values[512 + thread] = own[" + index + "];";
    };
    const std::string wait = "asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");\n";
    QCOMPARE(failureOf(copy(wait, "thread")), std::string());
    QCOMPARE(failureOf(copy(wait + "__syncthreads();", "255 - thread")), std::string());
    QVERIFY(says(copy("", "thread"), "nobody wrote"));
    QVERIFY(says(copy("asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");", "thread"),
                 "nobody wrote"));
    QVERIFY(says(copy(wait, "thread ^ 1"), "race at shared"));
}

/// One mma of each kind against the product of matrices whose elements all differ, fragments
/// filled by the text's own functions.
void TestCudaPtx::fragmentsOfProducts() {
    for (const char* type : {"F16", "BF16"}) {
        const std::string t = type;
        const std::string body =
            t + "* a = (" + t + "*)shared; " + t +
            "* b = a + 256;\n" // a (16, 16), b (16, 8)
            "a[thread] = stored<" +
            t +
            ">((float)(thread % 16 + 2 * (thread / 16)));\n"
            "if (thread < 128) b[thread] = stored<" +
            t +
            ">((float)(thread % 8 - thread / 8));\n"
            "__syncthreads();\nif (thread >= 32 || block != 0) return;\n"
            "u32 left[4], right[4];\nconst int high = thread / 16, low = thread % 16;\n"
            "loadMatrices<false>(left, a + 16 * low + 8 * high);\n"
            "loadMatrices<true>(right, b + 8 * low);\n"
            "float d[4] = {0, 0, 0, 0};\nmultiply<" +
            t +
            ">(d, left, right[0], right[1]);\n"
            "bool same = true;\nfor (int e = 0; e < 4; ++e) {\n"
            "const int row = thread / 4 + 8 * (e / 2), column = 2 * (thread % 4) + e % 2;\n"
            "float sum = 0;\nfor (int k = 0; k < 16; ++k)\n"
            "sum += value(a[16 * row + k]) * value(b[8 * k + column]);\nsame = same && sum == "
            "d[e];\n"
            "}\nif (!same) values[1024] = 1;"; // a fault
        const std::string what = failureOf(body);
        QVERIFY2(what.empty(), what.c_str());
        // the operands of the instruction in another order: the emulator's host code hides that
        std::string swapped = cuda::prelude();
        const std::string right = "\"r\"(b0), \"r\"(b1)";
        for (size_t at = 0; (at = swapped.find(right, at)) != std::string::npos; ++at)
            swapped.replace(at, right.size(), "\"r\"(b1), \"r\"(b0)");
        QVERIFY(failureOf(body, swapped).find("outside every area") != std::string::npos);
    }
}

void TestCudaPtx::steps_data() {
    QTest::addColumn<int>("index");
    QTest::addColumn<int>("capability");
    for (const int capability : {75, 80, 90, 120})
        for (int i = 0; i < 8; ++i)
            if (capability == 90 ? i != 1 : i == (capability == 80 ? 1 : 0))
                QTest::addRow("%d, step %d", capability, i) << i << capability;
}

/// The same bits as in the emulator: NVRTC neither contracts nor reorders. exp, log and their like
/// are another library's, so that a step with them is compared within bounds by other tests.
void TestCudaPtx::steps() {
    QFETCH(int, index);
    QFETCH(int, capability);
    const std::vector<Step> all = {
        {"fp16", Precision::AmpFp16, {}},
        {"bf16", Precision::AmpBf16, {}},
        {"tf32", Precision::Tf32, {}},
        {"fp32", Precision::Fp32, {}},
        {"odd sizes", Precision::AmpFp16, {"task.side=13", "model.width=20"}},
        {"layer norm", Precision::AmpFp16, {"model.norm=layer"}},
        {"penalty, collected",
         Precision::AmpFp16,
         {"gradients.penalty=0.25", "task.side=13", "model.width=20"},
         {.form = cuda::ElementForm::Collected}},
        {"by warpgroups",
         Precision::AmpFp16,
         {},
         {.form = cuda::ElementForm::Collected, .lean = true, .warpgroups = true}}};
    const Step& step = all.at(static_cast<size_t>(index));
    if (!compiler().supports(capability)) QSKIP("this NVRTC does not know the architecture");
    EmulationOptions options = spread(capability);
    options.source.chainWay = step.way;
    const auto emulated = valuesAfterTwoSteps(step, options);
    emulatePtx(capability);
    const auto interpreted = valuesAfterTwoSteps(step, options);
    QCOMPARE(interpreted.size(), emulated.size());
    const std::string different = firstDifference(emulated, interpreted);
    QVERIFY2(different.empty(), (std::string(step.name) + ": " + different).c_str());
}

/// Kernels of single nodes: few of what tst_cuda_nodes has, which runs whole with
/// HALFSCOPE_EMULATED_PTX=90 in its environment.
void TestCudaPtx::nodes() {
    emulatePtx(90);
    constexpr int kBlocks[] = {1024};
    NodeBench bench;
    addUpdates(bench);
    const std::string wrong = NodeCheck(bench.graph, bench.leaves).run(kBlocks);
    QVERIFY2(wrong.empty(), wrong.c_str());
}

} // namespace tst_cuda_ptx

QTEST_GUILESS_MAIN(tst_cuda_ptx::TestCudaPtx)
#include "tst_cuda_ptx.moc"
