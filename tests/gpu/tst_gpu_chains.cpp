// Fused chains on the GPU, in every kind of tile and arithmetic, against the unfused step. That
// their values are right is the emulator's to show (tst_cuda_chains); here the real instructions
// run.
#include "tests/support/gpu_steps.h"

namespace tst_gpu_chains {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr cuda::TileLimits kTiles[] = {{0, 0, 0},
                                       {128, 128, 0},
                                       {64, 256, 0},
                                       {0, 0, 0, 0, cuda::ElementForm::Collected},
                                       {0, 0, 0, 0, cuda::ElementForm::Collected, true},
                                       {0, 0, 0, 0, cuda::ElementForm::Collected, true, true}};
constexpr const char* kForms[] = {"", " collected"}; ///< by ElementForm

} // namespace

class TestGpuChains : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { SKIP_WITHOUT_GPU(); }

    /// Fused chains however small, in tiles of every kind, against the unfused step; twice the same
    /// bits.
    void chains_data() {
        QTest::addColumn<int>("lane");
        QTest::addColumn<int>("tiles");
        for (int lane = 0; lane < static_cast<int>(std::size(kLanes)); ++lane)
            for (int tiles = 0; tiles < static_cast<int>(std::size(kTiles)); ++tiles)
                // one lane in 2 bytes and two in 4 have them all
                if (tiles == 0 || lane <= 2)
                    QTest::addRow("%s %dx%d%s%s%s", kLanes[lane], kTiles[tiles].rows,
                                  kTiles[tiles].columns,
                                  kForms[static_cast<int>(kTiles[tiles].form)],
                                  kTiles[tiles].lean ? " lean" : "",
                                  kTiles[tiles].warpgroups ? " by warpgroups" : "")
                        << lane << tiles;
    }
    void chains() {
        telling([&] {
            if (gpuDevice() != "cuda") QSKIP("only CUDA has chains");
            QFETCH(int, lane);
            QFETCH(int, tiles);
            const StepCase c = tiles == 0 ? checkerboardCase(37, 200) : checkerboardCase(64, 256);
            cuda::SourceOptions options{.chainElements = 1,
                                        .keepOperands = tiles != 1,
                                        .tiles = kTiles[tiles],
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
