// The PTX that NVRTC makes of generated texts, run by the interpreter of support/ptx_module.h: that
// it finds the faults that it is there for, and that whole steps compute what they compute in the
// emulator, whose lanes' instructions are the host's.
#include "tests/support/chained_step.h"
#include "tests/support/cuda_nodes.h"
#include "tests/support/node_rows.h"
#include "tests/support/nvrtc.h"
#include "tests/support/ptx_module.h"
#include "tests/support/stored_values.h"

#include "engine/train/fields.h"

#include <QtTest>

#include <cstring>

using namespace halfscope;
using namespace halfscope::test;

namespace {

const Nvrtc& compiler() {
    static const Nvrtc nvrtc;
    return nvrtc;
}

/// What one launch of three blocks of that body says. `before`: what it does before it waits for
/// the launch before.
std::string failureOf(const std::string& body, const std::string& prelude = cuda::prelude(),
                      const std::string& before = "") {
    const std::string text =
        prelude +
        "extern \"C\" __global__ void entry(char* arena, char* scratch, unsigned* tickets) {\n"
        "HS_DYNAMIC_SHARED(shared);\nusing namespace hs;\n" +
        before +
        "awaitEarlierLaunch();\n"
        "float* values = (float*)arena;\nfloat* own = (float*)shared;\n"
        "const int thread = threadIdx.x, block = blockIdx.x;\n" +
        body + "\n}\n";
    try {
        PtxModule module(text, 90);
        cuda::Launch launch;
        launch.entry = "entry";
        launch.blocks = 3;
        launch.sharedBytes = 1024;
        std::vector<double> arena(512), scratch(64);
        unsigned ticket = 0;
        module.launch(launch, reinterpret_cast<std::byte*>(arena.data()),
                      reinterpret_cast<std::byte*>(scratch.data()), &ticket, {4096, 512, 4}, 0);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}
bool says(const std::string& body, const char* words) {
    const std::string what = failureOf(body);
    if (what.find(words) != std::string::npos) return true;
    qWarning("%s", what.c_str());
    return false;
}

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
    cuda::TileLimits tiles{};
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
    void waitsForTheLaunchBefore();
    void waitsForCopies();
    void fragmentsOfProducts();
    void findsUndefinedExchanges();
    void instructionsByTheIsa();
    void refusesWhatMayBeContracted();
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
    QVERIFY(says("if (thread == 0) asm volatile(\"nanosleep.u32 20;\");", "is not known"));
}

/// The search is cuda_races'; what orders accesses is PTX's.
void TestCudaPtx::findsRaces() {
    const std::string neighbour = "if (block == 0) values[thread] = own[thread ^ 1];";
    QVERIFY(says("own[thread] = 1;\n" + neighbour, "race at shared"));
    QCOMPARE(failureOf("own[thread] = 1;\n__syncwarp();\n" + neighbour), std::string());
    // a shuffle orders no memory
    QVERIFY(says("own[thread] = 1;\nvalues[512 + 32 * block] = __shfl_xor_sync(kAllLanes, thread, "
                 "1);\n" +
                     neighbour,
                 "race at"));
    QVERIFY(says("if (thread == 0) values[1 + block / 2] = 1;", "race at arena + 4"));
}

/// What overlaps with the launch before touches nothing that it may still write, in any thread, and
/// does not end before it.
void TestCudaPtx::waitsForTheLaunchBefore() {
    const auto before = [](const std::string& body, const std::string& prelude = cuda::prelude()) {
        return failureOf("", prelude, body);
    };
    const auto has = [](const std::string& what, const char* words) {
        return what.find(words) != std::string::npos;
    };
    QCOMPARE(before("((float*)shared)[threadIdx.x] = 1;\n"), std::string()); // its own
    const char* const early = "before it waits for the launch before";
    for (const char* body :
         {"((float*)arena)[threadIdx.x] = 1;\n",
          "((float*)shared)[threadIdx.x] = ((float*)arena)[threadIdx.x];\n",
          "if (threadIdx.x == 77) atomicAdd(tickets, 1u);\n",
          "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"((u32)"
          "__cvta_generic_to_shared(shared + 4 * threadIdx.x)), \"l\"(arena) : "
          "\"memory\");\n"})
        QVERIFY2(has(before(body), early), before(body).c_str());
    const std::string gone = before("if (threadIdx.x == 5) return;\n");
    QVERIFY2(has(gone, "has not waited") && has(gone, "thread 5,"), gone.c_str());
    // the helper without the instruction
    std::string without = cuda::prelude();
    const std::string wait = "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");";
    without.replace(without.find(wait), wait.size(), "");
    QVERIFY(has(failureOf("values[thread] = 1;", without), early));
    QVERIFY(has(failureOf("values[512 + thread] = __ldg(values + thread);"), "must not change"));
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

/// What the ISA leaves undefined, and barriers that are not of all.
void TestCudaPtx::findsUndefinedExchanges() {
    const std::string halves = "const unsigned half = thread % 32 < 16 ? 0xFFFFu : 0xFFFF0000u;\n";
    QCOMPARE(failureOf(halves + "if (__ballot_sync(half, 1) != half || !__all_sync(half, 1) ||\n"
                                "__shfl_xor_sync(half, thread, 8) != (thread ^ 8)) values[1024] = "
                                "1;"),
             std::string());
    QVERIFY(says(halves + "((int*)scratch)[0] = __shfl_xor_sync(half, thread, 16);",
                 "from a lane that does not take part"));
    QVERIFY(says("const unsigned most = thread % 32 == 0 ? kAllLanes : kAllLanes - 1;\n"
                 "if (__ballot_sync(most, 1) == 3) values[1024] = 1;",
                 "name other members"));
    const char* part = "a barrier that is not of the whole block";
    QVERIFY(says("asm volatile(\"bar.sync 1;\" ::: \"memory\");", part));
    QVERIFY(says("asm volatile(\"bar.sync 0, 128;\" ::: \"memory\");", part));
    const auto copy = [](const std::string& kind, const std::string& sizes) {
        return "asm volatile(\"cp.async." + kind + ".shared.global [%0], [%1], " + sizes +
               ";\" :: \"r\"((u32)__cvta_generic_to_shared(own + 4 * (thread % 32))), "
               "\"l\"(arena) : \"memory\");\n"
               "asm volatile(\"cp.async.wait_all;\" ::: \"memory\");";
    };
    const std::string alone = "if (thread > 0) return;\n";
    QCOMPARE(failureOf(alone + copy("cg", "16")), std::string());
    QCOMPARE(failureOf(alone + copy("ca", "8, 3")), std::string());
    QVERIFY(says(alone + copy("ca", "8, 9"), "from more bytes than it copies"));
    // the assembler refuses the other sizes of .cg by itself, NVRTC does not look
    QVERIFY(says(alone + copy("cg", "8"), "cp.async.cg of other than 16 bytes"));
}

/// Instructions at the ends of what they take: results by the text of the PTX ISA.
void TestCudaPtx::instructionsByTheIsa() {
    struct Case {
        const char* name;
        const char* operands; ///< each with the letter of its register: f, d, h, r, l
        char result;
        const char* expected; ///< of d, the result
    };
    const char *nan = "__int_as_float(0x7FFFFFFF)", *infinity = "__int_as_float(0x7F800000)";
    const std::string nanOperand = std::string("f ") + nan, endless = std::string("f ") + infinity;
    const std::string nanAndOne = nanOperand + ", f 1.0f", oneAndNan = "f 1.0f, " + nanOperand;
    const std::string endlessOverLarge = endless + ", f 0x1p127f",
                      endlessOverEndless = endless + ", " + endless,
                      oneOverEndless = "f -1.0f, " + endless;
    const Case cases[] = {
        // quotients: .approx loses what lies over 2^126, .full does not
        {"div.approx.f32", "f 0x1p100f, f 0x1p127f", 'f', "d == 0"},
        {"div.approx.f32", endlessOverLarge.c_str(), 'f', "d != d"},
        {"div.approx.f32", "f 0x1p100f, f 0x1p126f", 'f', "d == 0x1p-26f"},
        {"div.full.f32", "f 0x1p100f, f 0x1p127f", 'f', "d == 0x1p-27f"},
        {"div.full.f32", endlessOverLarge.c_str(), 'f', "d > 0x1p127f"},
        {"div.full.f32", endlessOverEndless.c_str(), 'f', "d != d"},
        {"div.full.f32", oneOverEndless.c_str(), 'f', "d == 0"},
        {"div.full.ftz.f32", "f 0x1p-126f, f 2.0f", 'f', "d == 0"},
        {"div.rn.f32", "f 0x1p-126f, f 2.0f", 'f', "d == 0x1p-127f"},
        {"tanh.approx.f32", endless.c_str(), 'f', "d == 1"},
        {"ex2.approx.ftz.f32", "f -126.5f", 'f', "d == 0"},
        {"ex2.approx.f32", "f -127.0f", 'f', "d == 0x1p-127f"},
        // whole numbers
        {"div.s32", "r 0x80000000, r -1", 'r', "d == 0x80000000u"},
        {"rem.s32", "r 0x80000000, r -1", 'r', "d == 0"},
        {"div.s64", "l 0x8000000000000000ull, l -1ll", 'l', "d == 0x8000000000000000ull"},
        {"rem.s32", "r -7, r 4", 'r', "d == (unsigned)-3"},
        {"mul.hi.s32", "r -1, r 1", 'r', "d == 0xFFFFFFFFu"},
        {"mul.hi.u32", "r -1, r -1", 'r', "d == 0xFFFFFFFEu"},
        {"mul.hi.s64", "l -1ll, l 3ll", 'l', "d == ~0ull"},
        {"mul.wide.s32", "r -1, r 2", 'l', "d == (u64)-2ll"},
        {"mul.wide.u32", "r -1, r 2", 'l', "d == 0x1FFFFFFFEull"},
        {"mad.wide.s32", "r -1, r 2, l 1ll", 'l', "d == (u64)-1ll"},
        {"mad.wide.u32", "r -1, r -1, l 1ll", 'l', "d == 0xFFFFFFFE00000002ull"},
        {"shr.s32", "r 0x80000000, r 40", 'r', "d == 0xFFFFFFFFu"},
        {"shr.u32", "r 0x80000000, r 32", 'r', "d == 0"},
        {"shl.b32", "r 1, r 32", 'r', "d == 0"},
        {"shf.l.wrap.b32", "r 0x80000001, r 2, r 33", 'r', "d == 5"},
        {"shf.r.wrap.b32", "r 0x80000001, r 3, r 33", 'r', "d == 0xC0000000u"},
        {"bfe.u32", "r 0xF0F0F0F0, r 28, r 8", 'r', "d == 0xF"},
        {"bfe.s32", "r 0xF0F0F0F0, r 28, r 8", 'r', "d == 0xFFFFFFFFu"},
        {"bfe.s32", "r 0x70, r 4, r 3", 'r', "d == 0xFFFFFFFFu"},
        {"bfe.s32", "r 0x70, r 4, r 4", 'r', "d == 7"},
        {"bfe.s32", "r 0x80000000, r 40, r 4", 'r', "d == 0xFFFFFFFFu"},
        {"bfe.s64", "l 0x8000000000000000ull, r 60, r 4", 'l', "d == (u64)-8ll"},
        {"bfe.s32", "r -1, r 0, r 0", 'r', "d == 0"},
        {"bfi.b32", "r 0xFF, r 0x11111111, r 28, r 8", 'r', "d == 0xF1111111u"},
        {"bfi.b32", "r 0xFF, r 0x11111111, r 8, r 4", 'r', "d == 0x11111F11u"},
        {"prmt.b32", "r 0x44332211, r 0x88776655, r 0x7410", 'r', "d == 0x88552211u"},
        {"prmt.b32", "r 0x44332211, r 0x88776655, r 0x8FC0", 'r', "d == 0x00FF0011u"},
        {"lop3.b32", "r 0xF0, r 0xCC, r 0xAA, n 0x1E", 'r', "(d & 0xFF) == 0x1E"},
        {"popc.b64", "l 0x8000000000000001ull", 'r', "d == 2"},
        {"clz.b64", "l 1ull", 'r', "d == 63"},
        {"clz.b32", "r 0", 'r', "d == 32"},
        // NaN, zeros of both signs
        {"min.f32", nanAndOne.c_str(), 'f', "d == 1"},
        {"max.f32", oneAndNan.c_str(), 'f', "d == 1"},
        {"min.f32", "f 0.0f, f -0.0f", 'f', "__float_as_uint(d) == 0x80000000u"},
        {"max.f32", "f -0.0f, f 0.0f", 'f', "__float_as_uint(d) == 0"},
        {"copysign.f32", "f -1.0f, f 3.0f", 'f', "d == -3"},
        // conversions
        {"cvt.rni.s32.f32", "f 2.5f", 'r', "d == 2"},
        {"cvt.rni.s32.f32", "f -3.5f", 'r', "d == (unsigned)-4"},
        {"cvt.rzi.s32.f32", "f -3.5f", 'r', "d == (unsigned)-3"},
        {"cvt.rmi.s32.f32", "f -3.5f", 'r', "d == (unsigned)-4"},
        {"cvt.rpi.s32.f32", "f -3.5f", 'r', "d == (unsigned)-3"},
        {"cvt.rzi.s32.f32", "f 0x1p40f", 'r', "d == 0x7FFFFFFFu"},
        {"cvt.rzi.u32.f32", "f -1.0f", 'r', "d == 0"},
        {"cvt.rzi.s32.f32", nanOperand.c_str(), 'r', "d == 0"},
        {"cvt.rzi.s64.f32", nanOperand.c_str(), 'l', "d == 0x8000000000000000ull"},
        {"cvt.rzi.u64.f32", "f 0x1p70f", 'l', "d == ~0ull"},
        {"cvt.rn.f32.u64", "l 0xFFFFFF8000000000ull", 'f', "d == 0x1p64f"},
        {"cvt.rn.f32.s32", "r 16777217", 'f', "d == 16777216"},
        {"cvt.sat.f32.f32", nanOperand.c_str(), 'f', "__float_as_uint(d) == 0"},
        {"cvt.rn.f16x2.f32", "f 1.0f, f 2.0f", 'r', "d == 0x3C004000u"},
        {"cvt.rn.f16x2.f32", "f 65520.0f, f 0x1.8p-25f", 'r', "d == 0x7C000001u"},
        {"cvt.rn.bf16x2.f32", "f 0x1.01p0f, f 0x1.03p0f", 'r', "d == 0x3F803F82u"},
        {"add.rn.f16x2", "r 0x7BFF0001, r 0x48000001", 'r', "d == 0x7BFF0002u"},
        {"add.rz.f32", "f 1.0f, f 0x1.8p-24f", 'f', "d == 1"},
        {"fma.rm.f32", "f 1.0f, f 1.0f, f -0x1p-30f", 'f', "d == 0x1.fffffep-1f"},
        // a product half way between two numbers of bf16, and a little
        {"fma.rn.bf16x2", "r 0x3F813F81, r 0x3FC03FC0, r 0x00018001", 'r', "d == 0x3FC23FC1u"},
    };
    std::string body;
    int number = 0;
    for (const Case& each : cases) {
        const char* type = each.result == 'f'   ? "float"
                           : each.result == 'd' ? "double"
                           : each.result == 'l' ? "u64"
                                                : "unsigned";
        std::string places = "%0", inputs;
        for (const QByteArray& operand : QByteArray(each.operands).split(',')) {
            const QByteArray word = operand.trimmed();
            places += ", %" + std::to_string(1 + std::count(places.begin(), places.end(), ','));
            inputs += std::string(inputs.empty() ? "\"" : ", \"") + word[0] + "\"(" +
                      word.mid(2).toStdString() + ")";
        }
        body += std::string("{ ") + type + " d; asm volatile(\"" + each.name + " " + places +
                ";\" : \"=" + each.result + "\"(d) : " + inputs + ");\nif (!(" + each.expected +
                ")) values[" + std::to_string(1024 + number++) + "] = 1; }\n";
    }
    const std::string what = failureOf("if (thread > 0) return;\n" + body);
    const size_t at = what.find("area: arena ");
    if (at != std::string::npos) QFAIL(cases[(std::stoul(what.substr(at + 12)) - 4096) / 4].name);
    QCOMPARE(what, std::string());
}

/// Without ".rn" the assembler may make one fma of a product and a sum.
void TestCudaPtx::refusesWhatMayBeContracted() {
    for (const char* operation : {"mul", "add", "sub"}) {
        const std::string body = std::string("float d; asm volatile(\"") + operation +
                                 ".f32 %0, %1, %1;\" : \"=f\"(d) : \"f\"(1.0f));";
        QVERIFY(says(body, "is not known"));
    }
}

void TestCudaPtx::steps_data() {
    QTest::addColumn<int>("index");
    QTest::addColumn<int>("capability");
    for (const int capability : {75, 80, 90, 120})
        for (int i = 0; i < 7; ++i)
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
        {"penalty, collected in small tiles",
         Precision::AmpFp16,
         {"gradients.penalty=0.25", "task.side=13", "model.width=20"},
         {64, 128, 0, 0, cuda::ElementForm::Collected}}};
    const Step& step = all.at(static_cast<size_t>(index));
    if (!compiler().supports(capability)) QSKIP("this NVRTC does not know the architecture");
    EmulationOptions options = spread(capability);
    options.source.tiles = step.tiles;
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

QTEST_GUILESS_MAIN(TestCudaPtx)
#include "tst_cuda_ptx.moc"
