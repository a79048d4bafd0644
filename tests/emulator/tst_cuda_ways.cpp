// Ways to run a step whose blocks have several tiles each, in the emulator: as far from the unfused
// step as tst_gpu_ways allows them to be at the size that benches time.
#include "tests/support/emulated_executor.h"

#include "engine/cuda/codegen/chain.h"
#include "engine/cuda/step_distance.h"
#include "engine/settings/fields.h"
#include "engine/train/step_cases.h"

#include <QtTest>

namespace tst_cuda_ways {

using namespace halfscope;
using cuda::ElementForm;
using test::EmulatedExecutor;
using test::EmulationOptions;

namespace {

constexpr int kSide = 32, kTileRows = 128;

struct Way {
    const char* name;
    const char* lane;
    cuda::ChainWay chains{};
};
const std::vector<Way>& ways() {
    static const std::vector<Way> list{
        {"amp-fp16", "amp-fp16"},
        {"amp-fp16, collected, lean, warpgroups",
         "amp-fp16",
         {.form = ElementForm::Collected, .lean = true, .warpgroups = true}},
        {"fp32, collected", "fp32", {.form = ElementForm::Collected}}};
    return list;
}

std::unique_ptr<StepRunner> runnerOf(const char* lane, cuda::Chains chains,
                                     const cuda::ChainWay& way) {
    EmulationOptions options;
    options.traits.multiprocessors = 3;
    options.traits.sharedBytes = 232448;
    options.source.chainElements = 1;
    options.source.chains = chains;
    options.source.chainWay = way;
    LaneConfig config = parseLanes(lane).front();
    config.scaler.initScale = 1024;
    return makeRunner(checkerboardCase(kSide, 32), config,
                      std::make_unique<EmulatedExecutor>(options));
}

std::vector<cuda::StepResult> afterOneStep(StepRunner& runner) {
    runner.run(1);
    std::vector<cuda::StepResult> results;
    for (const StateInfo& state : runner.graph().states())
        if (state.role == StateRole::Moment || state.role == StateRole::RunningStatistic)
            results.push_back(
                {state.name, state.name.substr(state.name.rfind('.') + 1), runner.get(state.node)});
    return results;
}

} // namespace

class TestCudaWays : public QObject {
    Q_OBJECT
private slots:
    void severalTiles_data() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < ways().size(); ++i)
            QTest::newRow(ways()[i].name) << static_cast<int>(i);
    }
    void severalTiles() {
        QFETCH(int, index);
        const Way& way = ways()[static_cast<size_t>(index)];
        const auto plain = runnerOf(way.lane, cuda::Chains::Unfused, {});
        const auto fused = runnerOf(way.lane, cuda::Chains::Fused, way.chains);
        const auto& source = static_cast<EmulatedExecutor&>(fused->executor()).source();
        const auto chains = std::count_if(source.program.kernels.begin(),
                                          source.program.kernels.end(), cuda::isChain);
        QVERIFY(chains >= 7);
        // three blocks of a product at once, and eight tiles
        static_assert(kSide * kSide / kTileRows >= 2 * 3);
        QVERIFY(source.text.find("kParts = 3;") != std::string::npos);
        const auto wanted = afterOneStep(*plain), got = afterOneStep(*fused);
        QCOMPARE(fused->metrics()[kFoundInfMetric], 0.0);
        const cuda::StepDistance distance = cuda::stepDistance(fused->graph(), wanted, got);
        qInfo("largest distance %.2g, %.2g of what is allowed", distance.relative, distance.part);
        QVERIFY2(distance.fault.empty(), distance.fault.c_str());
        QVERIFY(wanted.size() >= 20);
        // that a fault in one tile of eight would be seen
        std::vector<cuda::StepResult> damaged = got;
        for (cuda::StepResult& result : damaged)
            for (float& value : result.values)
                value *= 1 + 1.0f / 16;
        QVERIFY(!cuda::stepDistance(fused->graph(), wanted, damaged).fault.empty());
    }
};

} // namespace tst_cuda_ways

QTEST_GUILESS_MAIN(tst_cuda_ways::TestCudaWays)
#include "tst_cuda_ways.moc"
