// Which fused chains a step has on which device, what they save, and that their text compiles there
// with its values in registers.
#include "tests/emulator/nvrtc.h"
#include "tests/support/chain_plans.h"

#include "engine/cuda/codegen/chain_shape.h"
#include "engine/ops/builder.h"
#include "engine/passes/plan.h"

#include <QtTest>

#include <set>

namespace tst_cuda_chain_plans {

using namespace halfscope;
using cuda::ElementForm;
using cuda::isChain;
using test::chainsOf;
using test::checkerboard;
using test::h200;
using test::kForms;
using test::kH200Shared;
using test::nameOf;
using test::passesOf;
using test::stepOf;

class TestCudaChainPlans : public QObject {
    Q_OBJECT
private slots:
    void presetIsFused_data();
    void presetIsFused();
    void smallStaysUnfused();
    void blocksAreOnTheDeviceAtOnce();
    void rowsThatCanBeCounted_data();
    void rowsThatCanBeCounted();
    void compilesForDevices_data();
    void compilesForDevices();
};

void TestCudaChainPlans::presetIsFused_data() {
    QTest::addColumn<int>("precision");
    QTest::newRow("amp-fp16") << static_cast<int>(Precision::AmpFp16);
    QTest::newRow("tf32") << static_cast<int>(Precision::Tf32);
    QTest::newRow("fp32") << static_cast<int>(Precision::Fp32);
}

void TestCudaChainPlans::presetIsFused() {
    QFETCH(int, precision);
    const bool half = precision == static_cast<int>(Precision::AmpFp16);
    const Program plain = stepOf(checkerboard(512, 256), static_cast<Precision>(precision));
    const Program fused = cuda::fuseChains(plain, h200());
    checkPlan(fused.graph, fused.kernels, fused.memory);
    const double tensor = 512.0 * 512 * 256 * (half ? 2 : 4);
    qInfo("passes over an activation: %.1f, unfused %.1f; peak %.0f MB, unfused %.0f MB",
          passesOf(fused, tensor), passesOf(plain, tensor),
          static_cast<double>(fused.memory.peakBytes) / 1e6,
          static_cast<double>(plain.memory.peakBytes) / 1e6);
    QVERIFY(chainsOf(fused) >= 9);
    // Collected, the backward of each of the 3 normalizations has one sum of products, not two.
    int sums = 0, collected = 0;
    for (const Kernel& kernel : fused.kernels) {
        if (!isChain(kernel)) continue;
        sums += cuda::chainShape(fused.graph, kernel)->partials();
        collected += cuda::chainShape(fused.graph, kernel, ElementForm::Collected)->partials();
    }
    QCOMPARE(collected, sums - 3);
    // u1 and u2: written, and read 3 times (the next product, its weight gradient, the own
    // backward) or 3 (the output, the sums behind it, the own backward); du of both: written, read
    // once; dh of both: written, read once; the coordinates over and over
    QVERIFY(passesOf(fused, tensor) < 17.5);
    QVERIFY(static_cast<double>(fused.memory.peakBytes) <
            0.7 * static_cast<double>(plain.memory.peakBytes));
}

void TestCudaChainPlans::smallStaysUnfused() {
    const Program plain = stepOf(checkerboard(16, 64), Precision::AmpFp16);
    QCOMPARE(chainsOf(cuda::fuseChains(plain, h200())), 0);
    cuda::DeviceTraits tiny = h200();
    tiny.sharedBytes = 8192; // no tile fits
    const Program large = stepOf(checkerboard(512, 256), Precision::AmpFp16);
    const Program fused = cuda::fuseChains(large, tiny);
    for (const Kernel& kernel : fused.kernels)
        for (NodeId id : kernel.members)
            QVERIFY(!isChain(kernel) || fused.graph[id].op != Op::Matmul ||
                    cuda::isNarrowProduct(fused.graph, id) || cuda::isDotProduct(fused.graph, id) ||
                    cuda::isNarrowDeep(fused.graph, id));
}

/// The blocks of a chain run through all tiles side by side: each is compiled with as few registers
/// as their number on a multiprocessor needs.
void TestCudaChainPlans::blocksAreOnTheDeviceAtOnce() {
    const Program step = stepOf(checkerboard(512, 256), Precision::AmpFp16);
    for (const ElementForm form : kForms) {
        const cuda::DeviceTraits device = h200(form);
        cuda::SourceOptions options;
        options.chainWay.form = form;
        const cuda::StepSource source = cuda::writeStep(step, device, options);
        std::set<size_t> seen;
        int shared = 0;
        for (const cuda::Launch& launch : source.launches)
            for (const size_t kernel : launch.kernels) {
                if (!isChain(source.program.kernels[kernel]) || !seen.insert(kernel).second)
                    continue; // merges are launches of small blocks
                const cuda::KernelText chain =
                    cuda::writeChain({source.program, kernel, "k", 1000, 0, 0}, device).front();
                const size_t entry = source.text.find(" " + launch.entry + "(char* arena");
                const size_t bounds = source.text.rfind("__launch_bounds__(256, ", entry);
                const int each = source.text[bounds + 23] - '0';
                QVERIFY2(chain.blocks <= each * device.multiprocessors, launch.entry.c_str());
                QVERIFY(static_cast<size_t>(each) * (launch.sharedBytes + cuda::kReservedShared) <=
                        device.sharedBytes + cuda::kReservedShared);
                shared += chain.blocks > device.multiprocessors ? 1 : 0;
            }
        QVERIFY(seen.size() >= 8);
        QVERIFY(shared >= 2); // blocks of the passes
    }
}

void TestCudaChainPlans::rowsThatCanBeCounted_data() {
    QTest::addColumn<bool>("deep");
    QTest::newRow("rows of a product") << false;
    QTest::newRow("rows that a product sums over") << true;
}

/// Rows of whole tiles are counted in 32 bits, and so are the whole steps of an inner extent.
void TestCudaChainPlans::rowsThatCanBeCounted() {
    QFETCH(bool, deep);
    const auto chains = [&](int64_t rows) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {rows, 64}, DType::F16);
        if (deep) {
            const MatmulAttrs transposed{.transposeA = true, .transposeB = false};
            graph.addOutput("product", b.matmul(x, b.neg(x), transposed));
        } else {
            const NodeId weight = b.input("weight", {64, 64}, DType::F16);
            const NodeId y = b.cast(b.matmul(b.neg(x), weight), DType::F32);
            graph.addOutput("sum", b.sum(y, {0}));
        }
        return chainsOf(cuda::fuseChains(compile(graph), h200()));
    };
    constexpr int64_t kMost = (int64_t{1} << 31) - 128;
    QCOMPARE(chains(kMost), 1);
    QCOMPARE(chains(kMost + 1), 0);
}

void TestCudaChainPlans::compilesForDevices_data() {
    QTest::addColumn<int>("capability");
    QTest::addColumn<int>("sharedBytes");
    QTest::addColumn<int>("precision");
    QTest::addColumn<ElementForm>("form");
    QTest::addColumn<bool>("lean");
    const auto row = [](const char* name, int capability, size_t sharedBytes, Precision precision) {
        for (const ElementForm form : kForms)
            for (const bool lean : {false, true})
                if (!lean || form != ElementForm::AsWritten) // no such way
                    QTest::addRow("%s%s%s", name, nameOf(form), lean ? ", lean" : "")
                        << capability << static_cast<int>(sharedBytes)
                        << static_cast<int>(precision) << form << lean;
    };
    row("7.5", 75, 65536, Precision::AmpFp16);
    row("8.0 tf32", 80, 166912, Precision::Tf32);
    row("8.6", 86, 101376, Precision::AmpFp16);
    row("9.0", 90, kH200Shared, Precision::AmpFp16);
    row("9.0 bf16", 90, kH200Shared, Precision::AmpBf16);
    row("9.0 tf32", 90, kH200Shared, Precision::Tf32);
    row("9.0 fp32", 90, kH200Shared, Precision::Fp32);
    row("12.0", 120, 101376, Precision::AmpFp16);
}

/// All chains of the large step, with few registers in memory: tiles are cut so that what a step of
/// hundreds of instructions keeps there is a few words.
void TestCudaChainPlans::compilesForDevices() {
    constexpr int kMostSpilt = 140; ///< bytes of a thread
    QFETCH(int, capability);
    QFETCH(int, sharedBytes);
    QFETCH(int, precision);
    QFETCH(ElementForm, form);
    QFETCH(bool, lean);
    const test::Nvrtc nvrtc;
    if (!nvrtc.unavailable().empty()) QSKIP(nvrtc.unavailable().c_str());
    if (!nvrtc.supports(capability)) QSKIP("this NVRTC does not know the architecture");
    cuda::DeviceTraits traits = h200();
    traits.capability = capability;
    traits.sharedBytes = static_cast<size_t>(sharedBytes);
    traits.chainWay.form = form;
    traits.chainWay.lean = lean;
    const Program program =
        cuda::fuseChains(stepOf(checkerboard(512, 256), static_cast<Precision>(precision)), traits);
    QVERIFY(chainsOf(program) >= 9);
    std::string text = cuda::prelude();
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        if (!isChain(program.kernels[k])) continue;
        const std::string name = "chain" + std::to_string(k);
        const std::vector<cuda::KernelText> texts =
            cuda::writeChain({program, k, name, 1000, 0, 0}, traits);
        for (const cuda::KernelText& each : texts) {
            QVERIFY(each.sharedBytes <= traits.sharedBytes);
            text += each.function;
        }
        text += "extern \"C\" __global__ void __launch_bounds__(256, " +
                std::to_string(texts.front().blocksEach) + ") run_" + name +
                "(char* arena, char* scratch, unsigned* tickets) {\nHS_DYNAMIC_SHARED(shared);\n" +
                name + "(arena, scratch, tickets, shared, blockIdx.x);\n}\n";
    }
    const auto costs = nvrtc.compile(text, capability);
    QCOMPARE(static_cast<int>(costs.size()), chainsOf(program));
    for (const auto& [name, cost] : costs) {
        qInfo("%s: %d registers, %d bytes spilled", name.c_str(), cost.registers, cost.spillBytes);
        QVERIFY2(cost.registers > 0 && cost.spillBytes <= kMostSpilt, name.c_str());
    }
}

} // namespace tst_cuda_chain_plans

QTEST_GUILESS_MAIN(tst_cuda_chain_plans::TestCudaChainPlans)
#include "tst_cuda_chain_plans.moc"
