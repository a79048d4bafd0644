// Fused chains on the GPU, in every way and arithmetic, against the unfused step. That their
// values are right is the emulator's to show (tst_cuda_chains); here the real instructions
// run.
#include "tests/support/gpu_steps.h"

namespace tst_gpu_chains {

using namespace halfscope;
using namespace halfscope::test;

namespace {

using cuda::ElementForm;

struct Way {
    const char* name;
    cuda::ChainWay chains{};
    bool keepsOperands = true;
};
constexpr Way kWays[] = {
    {"usual"},
    {"operands computed again", {}, false},
    {"collected", {.form = ElementForm::Collected}},
    {"collected and lean", {.form = ElementForm::Collected, .lean = true}},
    {"by warpgroups", {.form = ElementForm::Collected, .lean = true, .warpgroups = true}}};

} // namespace

class TestGpuChains : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { SKIP_WITHOUT_GPU(); }

    /// Fused chains however small, in every way, against the unfused step; twice the same bits.
    void chains_data() {
        QTest::addColumn<int>("lane");
        QTest::addColumn<int>("way");
        for (int lane = 0; lane < static_cast<int>(std::size(kLanes)); ++lane)
            for (int way = 0; way < static_cast<int>(std::size(kWays)); ++way)
                // one lane in 2 bytes and two in 4 have them all
                if (way == 0 || lane <= 2)
                    QTest::addRow("%s %s", kLanes[lane], kWays[way].name) << lane << way;
    }
    void chains() {
        telling([&] {
            if (gpuDevice() != "cuda") QSKIP("only CUDA has chains");
            QFETCH(int, lane);
            QFETCH(int, way);
            const StepCase c = way == 0 ? checkerboardCase(37, 200) : checkerboardCase(64, 256);
            cuda::SourceOptions options{.chainElements = 1,
                                        .keepOperands = kWays[way].keepsOperands,
                                        .chainWay = kWays[way].chains,
                                        .searchSeconds = 0};
            compareFirstSteps(*cudaRunner(c, lane, options),
                              *cudaRunner(c, lane, {.chains = cuda::Chains::Unfused}),
                              kLanes[lane]);
            const auto first = cudaRunner(c, lane, options), second = cudaRunner(c, lane, options);
            first->run(3);
            second->run(3);
            QCOMPARE(firstDifference(storedStates(*first), storedStates(*second)), std::string());
        });
    }
};

} // namespace tst_gpu_chains

QTEST_GUILESS_MAIN(tst_gpu_chains::TestGpuChains)
#include "tst_gpu_chains.moc"
