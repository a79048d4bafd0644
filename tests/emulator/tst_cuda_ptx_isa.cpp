// The PTX interpreter of support/ptx_module.h against the text of the PTX ISA: what single
// instructions give at the ends of what they take, and what they leave undefined.
#include "tests/emulator/ptx_probe.h"

#include <QtTest>

#include <algorithm>

namespace tst_cuda_ptx_isa {

using namespace halfscope::test;

class TestCudaPtxIsa : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (!compiler().unavailable().empty()) QSKIP(compiler().unavailable().c_str());
    }
    void findsUndefinedExchanges();
    void instructionsByTheIsa();
    void refusesWhatMayBeContracted();
};

/// What the ISA leaves undefined, and barriers that are not of all.
void TestCudaPtxIsa::findsUndefinedExchanges() {
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
void TestCudaPtxIsa::instructionsByTheIsa() {
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
        {"dp2a.lo.u32.u32", "r 0x00030002, r 0x07050B0A, r 1", 'r', "d == 1 + 2 * 10 + 3 * 11"},
        {"dp2a.hi.u32.u32", "r 0xFFFF0002, r 0x07050B0A, r 1", 'r', "d == 11 + 0xFFFF * 7"},
        {"dp4a.u32.u32", "r 0x04030201, r 0x10FF0A05, r 1", 'r', "d == 855"},
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
void TestCudaPtxIsa::refusesWhatMayBeContracted() {
    for (const char* operation : {"mul", "add", "sub"}) {
        const std::string body = std::string("float d; asm volatile(\"") + operation +
                                 ".f32 %0, %1, %1;\" : \"=f\"(d) : \"f\"(1.0f));";
        QVERIFY(says(body, "is not known"));
    }
}

} // namespace tst_cuda_ptx_isa

QTEST_GUILESS_MAIN(tst_cuda_ptx_isa::TestCudaPtxIsa)
#include "tst_cuda_ptx_isa.moc"
