// Every way to run a step at the size that benches time, against the unfused step: all gradients,
// moments and running statistics after one step, the same bits again, captured and launch by
// launch. Here blocks have several tiles each, which smaller pictures (tst_gpu_chains) do not give
// them.
#include "engine/cuda/step_distance.h"
#include "engine/cuda/variants.h"
#include "tests/support/gpu_steps.h"

#include <map>

namespace tst_gpu_ways {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int kSteps = 3; ///< whose bits are compared
constexpr const char* kUnfused = "unfused";

/// The way without a search, and all that a device with or without products of warpgroups has.
const std::vector<cuda::Variant>& allWays() {
    static const std::vector<cuda::Variant> all = [] {
        std::vector<cuda::Variant> ways{{"usual", {}}};
        for (const int capability : {cuda::kWarpgroupCapability, 80})
            for (const cuda::Variant& way : cuda::variantsOf({}, capability))
                if (std::none_of(ways.begin(), ways.end(), [&](const cuda::Variant& earlier) {
                        return earlier.name == way.name;
                    }))
                    ways.push_back(way);
        return ways;
    }();
    return all;
}
/// Returns the way of this name, without a search for a faster one.
cuda::Variant wayNamed(const std::string& name) {
    for (cuda::Variant way : allWays())
        if (way.name == name) {
            way.options.searchSeconds = 0;
            return way;
        }
    throw std::invalid_argument("no way is named " + name);
}
cuda::SourceOptions optionsOf(const std::string& name) { return wayNamed(name).options; }

/// What one step leaves.
struct Left {
    std::vector<cuda::StepResult> results;
    MetricsRow metrics{};
};
Left oneStep(StepRunner& runner) {
    runner.run(1);
    Left left{{}, runner.metrics()};
    for (const StateInfo& state : runner.graph().states())
        if (state.role == StateRole::Moment || state.role == StateRole::Gradient ||
            state.role == StateRole::RunningStatistic)
            left.results.push_back(
                {state.name, state.name.substr(state.name.rfind('.') + 1), runner.get(state.node)});
    return left;
}

/// Says whether the products that a way is compared with come from libraries. Generated kernels
/// round operands of TF32 to the nearest, as the CPU does; a library may truncate them, which moves
/// results further apart than any order of sums does. So only ways that leave products to a library
/// are compared with it.
cuda::Libraries librariesBeside(int lane, const cuda::Variant& way) {
    const bool tf32 = std::string_view(kLanes[lane]) == "tf32";
    return tf32 && way.options.chains == cuda::Chains::Fused ? cuda::Libraries::Unused
                                                             : cuda::Libraries::Used;
}

/// Of the lane, once a process.
const Left& unfused(int lane, const StepCase& c, cuda::Libraries libraries) {
    static std::map<std::pair<int, cuda::Libraries>, Left> known;
    const std::pair key(lane, libraries);
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    cuda::SourceOptions options = wayNamed(kUnfused).options;
    options.libraries = libraries;
    return known[key] = oneStep(*cudaRunner(c, lane, options));
}

} // namespace

class TestGpuWays : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        SKIP_WITHOUT_GPU();
        if (gpuDevice() != "cuda") QSKIP("only CUDA has several ways");
    }

    void ways_data() {
        QTest::addColumn<int>("lane");
        QTest::addColumn<std::string>("way");
        for (const cuda::Variant& way : allWays())
            for (const int lane : {2, 0, 1, 3, 4}) { // amp-fp16 first
                const bool half = lane >= 2;
                if (way.name == kUnfused || (way.options.chainWay.warpgroups && !half)) continue;
                QTest::addRow("%s %s", kLanes[lane], way.name.c_str()) << lane << way.name;
            }
    }
    void ways() {
        telling([&] {
            QFETCH(int, lane);
            QFETCH(std::string, way);
            const StepCase c = checkerboardCase(512, 256);
            const Left& want = unfused(lane, c, librariesBeside(lane, wayNamed(way)));
            // a step that is skipped would leave zeros, which are all alike
            QCOMPARE(want.metrics[kFoundInfMetric], 0.0);
            BytesByName states;
            {
                const auto runner = cudaRunner(c, lane, optionsOf(way));
                const Left got = oneStep(*runner);
                QCOMPARE(got.metrics[kFoundInfMetric], 0.0);
                const cuda::StepDistance distance =
                    cuda::stepDistance(runner->graph(), want.results, got.results);
                qInfo("largest distance %.2g, %.2g of what is allowed", distance.relative,
                      distance.part);
                QVERIFY2(distance.fault.empty(), distance.fault.c_str());
                const double bound = cuda::distanceBound(runner->graph());
                for (const size_t slot : {size_t{kLossMetric}, size_t{kGradientNormMetric}})
                    QVERIFY2(std::abs(got.metrics[slot] - want.metrics[slot]) <=
                                 bound * std::abs(want.metrics[slot]),
                             told("metric %zu: %.9g instead of %.9g, bound %.3g", slot,
                                  got.metrics[slot], want.metrics[slot], bound)
                                 .c_str());
                runner->run(kSteps - 1);
                states = storedStates(*runner);
            }
            {
                const auto again = cudaRunner(c, lane, optionsOf(way));
                again->run(kSteps);
                QCOMPARE(firstDifference(states, storedStates(*again)), std::string());
            }
            const auto single = cudaRunner(c, lane, optionsOf(way));
            for (int step = 0; step < kSteps; ++step)
                QCOMPARE(single->executor().run(RunMode::Stepwise), RunResult::Done);
            QCOMPARE(firstDifference(states, storedStates(*single)), std::string());
        });
    }

    /// For compute-sanitizer: chains of 9 million elements, whose blocks have two or three tiles
    /// each on 132 multiprocessors, and more on fewer.
    void manyTiles_data() {
        QTest::addColumn<int>("lane");
        QTest::addColumn<std::string>("way");
        for (const char* way : {"usual", "collected and lean by warpgroups", "collected and lean"})
            for (const int lane : {2, 0, 1}) {
                if (lane != 2 && std::string(way) != "usual") continue;
                QTest::addRow("%s %s", kLanes[lane], way) << lane << std::string(way);
            }
    }
    void manyTiles() {
        telling([&] {
            QFETCH(int, lane);
            QFETCH(std::string, way);
            const auto runner = cudaRunner(checkerboardCase(192, 256), lane, optionsOf(way));
            runner->run(1);
            const MetricsRow row = runner->metrics();
            QVERIFY(std::isfinite(row[kLossMetric]) && row[kLossMetric] > 0);
            QCOMPARE(row[kFoundInfMetric], 0.0);
        });
    }
};

} // namespace tst_gpu_ways

QTEST_GUILESS_MAIN(tst_gpu_ways::TestGpuWays)
#include "tst_gpu_ways.moc"
