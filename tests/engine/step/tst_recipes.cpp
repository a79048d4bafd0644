// The recipes of PyTorch's notes on mixed precision: each one steps as a training by hand in double
// does, skips what it must skip, and moves the loss scale as GradScaler does. The fixture is that
// of PyTorch's own scaler tests: two linear layers of 8 units, four batches, mean squared error,
// plain SGD, and a first scale of 128 that doubles on every clean step.
#include "engine/core/error.h"
#include "engine/models/emit_model.h"
#include "engine/ops/functional.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/schedule.h"
#include "engine/step/step_graph.h"
#include "engine/train/metrics_row.h"
#include "engine/train/trainer.h"
#include "tests/support/plain_network.h"
#include "tests/support/training.h"

#include <QTest>

#include <cmath>
#include <functional>

namespace tst_recipes {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr size_t kBatches = 4;
constexpr size_t kPoisoned = 2; ///< the batch whose gradient overflows
constexpr float kFirstScale = 128;
constexpr std::array kNames{"0.weight", "0.bias", "1.weight", "1.bias"};
constexpr std::string_view kSecondPrefix = "second.";

enum class Autocast : uint8_t { Off, On };

/// The step's graph on the fixture, run batch by batch.
class RecipeRun {
public:
    RecipeRun(const RunConfig& config, Autocast autocast) {
        const Graph graph = buildStepWith(config, config.lanes[0], [&](Builder& b, DType storage) {
            if (autocast == Autocast::On) return emitFixture(b, config, storage);
            const AutocastScope off(b, nullptr); // scaled float32, as in PyTorch's scaler tests
            return emitFixture(b, config, storage);
        });
        m_program = std::make_shared<const Program>(compile(graph));
        m_executor->load(m_program);
        for (const auto& [name, values] : initialWeights(g(), 5))
            upload(g().state(name), values);
        const ScalerConfig& scaler = config.lanes[0].scaler;
        ScalerState start;
        start.scale = static_cast<float>(scaler.initScale);
        upload(g().state("scaler"), slotsOf(start));
        upload(g().state("scaler.rules"), slotsOf(scaler.rules));
        for (const auto& [name, values] : scheduleTables(config))
            upload(g().state(name), values);
    }

    /// Returns the metric found_inf: 0, or 1 and 2 by optimizer.
    int step(const test::Batch& batch, float poison) {
        upload(g().input("x"), batch.x);
        upload(g().input("target"), batch.target);
        upload(g().input("poison"), std::vector<float>{poison});
        if (m_executor->run(RunMode::Captured) != RunResult::Done)
            throw std::runtime_error("stopped");
        return static_cast<int>(readMetrics(*m_executor, g())[kFoundInfMetric]);
    }

    void setState(const std::string& name, const std::vector<float>& values) {
        upload(g().state(name), values);
    }
    std::vector<float> state(const std::string& name) {
        const NodeId id = g().state(name);
        std::vector<float> values(static_cast<size_t>(g()[id].elements()));
        m_executor->download(id, std::as_writable_bytes(std::span(values)));
        return values;
    }
    ScalerState scaler() {
        ScalerSlots values{};
        m_executor->download(g().state("scaler"), std::as_writable_bytes(std::span(values)));
        return stateOf(values);
    }
    Network2 network(const std::string& prefix = {}) {
        Network2 net;
        for (size_t i = 0; i < kNames.size(); ++i)
            net[i] = doubles(state(prefix + kNames[i]));
        return net;
    }

private:
    static NodeId emitNet(Builder& b, NodeId x, const std::string& prefix, DType storage,
                          Forward& f) {
        const std::string square =
            "(" + std::to_string(kWidth) + ", " + std::to_string(kWidth) + ")";
        const ModelSpec model = readModel("Sequential(Linear" + square + ", Linear" + square + ")");
        EmittedModel made =
            emitModel(b, model, {x, b.shapeOf(x)}, {.storage = storage, .prefix = prefix});
        f.parameters.push_back(std::move(made.parameters));
        return made.output;
    }

    /// The poison reaches the gradient of one weight and no other value: it is a factor of that
    /// weight in a term of the loss. With two networks the weight is the second one's.
    static Forward emitFixture(Builder& b, const RunConfig& config, DType storage) {
        const NodeId x = b.input("x", {kWidth, kWidth}, storage);
        const NodeId target = b.input("target", {kWidth, kWidth}, DType::F32);
        const NodeId poison = b.input("poison", {}, DType::F32);
        const bool two = config.model.networks == 2;
        Forward f;
        const NodeId y0 = emitNet(b, x, "", storage, f);
        NodeId other = kNoNode;
        if (two) {
            const std::string prefix(kSecondPrefix);
            const NodeId y1 = emitNet(b, x, prefix, storage, f);
            f.prediction = fn::add(b, b.scale(y0, 2), b.scale(y1, 3));
            other = fn::mseLoss(b, fn::add(b, b.scale(y0, 3), b.scale(y1, -5)), target);
        } else {
            f.prediction = y0;
        }
        const NodeId bias = b.graph().state(std::string(two ? kSecondPrefix : "") + "1.bias");
        const NodeId first = b.reshape(b.slice(bias, 0, 0, 1), {});
        f.losses = {b.add(fn::mseLoss(b, f.prediction, target), b.mul(first, poison))};
        if (two) f.losses.push_back(other);
        return f;
    }

    const Graph& g() const { return m_program->graph; }
    template <class T>
    void upload(NodeId id, const T& values) {
        m_executor->upload(id, std::as_bytes(std::span(values)));
    }

    std::shared_ptr<const Program> m_program;
    std::unique_ptr<Executor> m_executor = makeCpuExecutor(1);
};

RunConfig fixtureConfig() {
    RunConfig config;
    config.optimizer.kind = OptimizerKind::Sgd;
    config.optimizer.momentum = 0;
    config.optimizer.lr = 1;
    LaneConfig lane = defaultLane(Precision::AmpFp16);
    lane.scaler.initScale = double{kFirstScale};
    lane.scaler.rules.growthInterval = 1;
    config.lanes = {lane};
    return config;
}

/// Bounds how far a weight, of size about 1, may be from that by hand after four steps. A step
/// rounds five values on the way to a gradient (two activations, two cotangents, the gradient):
/// once in float16 under autocast, and in float32 with each of the up to 16 terms of a sum.
double boundOf(Autocast autocast) {
    constexpr double kValues = 5 * kBatches;
    return autocast == Autocast::On ? kValues * 0x1p-11 : kValues * 16 * 0x1p-24;
}

QString difference(const Network2& a, const Network2& b, double bound) {
    for (size_t t = 0; t < a.size(); ++t)
        for (size_t i = 0; i < a[t].size(); ++i)
            if (!(std::abs(a[t][i] - b[t][i]) <= bound))
                return QString("%1[%2]: %3, by hand %4")
                    .arg(kNames[t])
                    .arg(i)
                    .arg(a[t][i])
                    .arg(b[t][i]);
    return {};
}

/// A recipe on one network: its settings, and its gradient by hand.
struct Recipe {
    const char* name;
    std::function<void(RunConfig&)> set;
    std::function<Network2(const Network2&, const test::Batch&)> gradient;
};

const std::vector<Recipe>& recipes() {
    static constexpr double kLimit = 0.25, kValue = 0.02;
    static const std::vector<Recipe> all{
        {"plain", [](RunConfig&) {}, gradientOf},
        {"clip by norm",
         [](RunConfig& c) { c.gradients.clip = ClipKind::Norm2, c.gradients.clipLimit = kLimit; },
         [](const Network2& net, const test::Batch& batch) {
             Network2 g = gradientOf(net, batch);
             addScaled(g, g, std::min(1.0, kLimit / (normOf(g) + 1e-6)) - 1);
             return g;
         }},
        {"clip by largest",
         [](RunConfig& c) { c.gradients.clip = ClipKind::NormInf, c.gradients.clipLimit = kValue; },
         [](const Network2& net, const test::Batch& batch) {
             Network2 g = gradientOf(net, batch);
             double largest = 0;
             for (const Tensor& tensor : g)
                 for (const double x : tensor)
                     largest = std::max(largest, std::abs(x));
             addScaled(g, g, std::min(1.0, kValue / (largest + 1e-6)) - 1);
             return g;
         }},
        {"clip by value",
         [](RunConfig& c) { c.gradients.clip = ClipKind::Value, c.gradients.clipLimit = kValue; },
         [](const Network2& net, const test::Batch& batch) {
             Network2 g = gradientOf(net, batch);
             for (Tensor& tensor : g)
                 for (double& x : tensor)
                     x = std::clamp(x, -kValue, kValue);
             return g;
         }},
        {"penalty", [](RunConfig& c) { c.gradients.penalty = 1; },
         [](const Network2& net, const test::Batch& batch) {
             Network2 g = gradientOf(net, batch);
             addScaled(g, penaltySlope(net, batch), 1);
             return g;
         }},
    };
    return all;
}

/// Returns both losses' gradients for the recipe with two networks, by hand.
std::array<Network2, 2> mixedGradients(const Network2& a, const Network2& b,
                                       const test::Batch& batch) {
    const Tensor x = doubles(batch.x), target = doubles(batch.target);
    const Tensor y0 = forward(a, x), y1 = forward(b, x);
    Tensor first(y0.size()), second(y0.size());
    for (size_t i = 0; i < y0.size(); ++i) {
        first[i] = 2 * y0[i] + 3 * y1[i];
        second[i] = 3 * y0[i] - 5 * y1[i];
    }
    const Tensor s0 = lossSlope(first, target), s1 = lossSlope(second, target);
    Tensor dy0(y0.size()), dy1(y0.size());
    for (size_t i = 0; i < y0.size(); ++i) {
        dy0[i] = 2 * s0[i] + 3 * s1[i];
        dy1[i] = 3 * s0[i] - 5 * s1[i];
    }
    return {backward(a, x, dy0), backward(b, x, dy1)};
}

void addAutocastRows() {
    QTest::addColumn<Autocast>("autocast");
    QTest::newRow("scaled float32") << Autocast::Off;
    QTest::newRow("autocast float16") << Autocast::On;
}

} // namespace

class TestRecipes : public QObject {
    Q_OBJECT

private slots:
    void oneNetwork_data() {
        QTest::addColumn<int>("recipe");
        QTest::addColumn<Autocast>("autocast");
        for (int i = 0; i < static_cast<int>(recipes().size()); ++i) {
            const std::string name = recipes()[static_cast<size_t>(i)].name;
            QTest::newRow(name.c_str()) << i << Autocast::Off;
            QTest::newRow((name + ", autocast").c_str()) << i << Autocast::On;
        }
    }
    /// Three steps and one skip: weights as by hand, and finally the scale 128 * 2^3 / 2.
    void oneNetwork() {
        QFETCH(int, recipe);
        QFETCH(Autocast, autocast);
        const Recipe& given = recipes()[static_cast<size_t>(recipe)];
        RunConfig config = fixtureConfig();
        config.optimizer.lr = 0.5;
        given.set(config);
        RecipeRun run(config, autocast);
        Network2 hand = run.network();
        float scale = kFirstScale;
        for (size_t i = 0; i < kBatches; ++i) {
            const bool poisoned = i == kPoisoned;
            const Network2 before = run.network();
            const int found = run.step(batchOf(i), poisoned ? INFINITY : 0);
            QCOMPARE(found, poisoned ? 1 : 0);
            scale *= poisoned ? 0.5f : 2;
            QCOMPARE(run.scaler().scale, scale);
            if (poisoned)
                QCOMPARE(run.network(), before);
            else
                addScaled(hand, given.gradient(hand, batchOf(i)), -config.optimizer.lr);
            const QString wrong = difference(run.network(), hand, boundOf(autocast));
            QVERIFY2(wrong.isEmpty(), qPrintable(QString("batch %1, ").arg(i) + wrong));
        }
        QCOMPARE(run.scaler().scale, kFirstScale * 4);
        QCOMPARE(run.state("optimizer.step"), std::vector<float>{kBatches - 1});
    }

    void accumulation_data() { addAutocastRows(); }
    /// Two updates of two batches each; between them only the sum changes.
    void accumulation() {
        QFETCH(Autocast, autocast);
        RunConfig config = fixtureConfig();
        config.gradients.accumulate = 2;
        RecipeRun run(config, autocast);
        Network2 hand = run.network();
        Network2 sum = zeros();
        for (size_t i = 0; i < kBatches; ++i) {
            const Network2 before = run.network();
            QCOMPARE(run.step(batchOf(i), 0), 0);
            addScaled(sum, gradientOf(hand, batchOf(i)), 0.5);
            const float scale = kFirstScale * static_cast<float>(1 << (i + 1) / 2);
            QCOMPARE(run.scaler().scale, scale);
            if (i % 2 == 0) {
                QCOMPARE(run.network(), before);
                continue;
            }
            addScaled(hand, sum, -config.optimizer.lr);
            sum = zeros();
            const QString wrong = difference(run.network(), hand, boundOf(autocast));
            QVERIFY2(wrong.isEmpty(), qPrintable(QString("batch %1, ").arg(i) + wrong));
            QCOMPARE(run.state("optimizer.step"),
                     std::vector<float>{static_cast<float>(i + 1) / 2});
        }
    }

    /// An overflow in any of its batches spoils an update, and nothing of it is left for the next
    /// update.
    void accumulatedOverflow() {
        RunConfig config = fixtureConfig();
        config.gradients.accumulate = 2;
        RecipeRun run(config, Autocast::Off), clean(config, Autocast::Off);
        const Network2 start = run.network();
        QCOMPARE(run.step(batchOf(0), INFINITY), 0); // it is found at the update
        QCOMPARE(run.scaler().scale, kFirstScale);
        QCOMPARE(run.step(batchOf(1), 0), 1);
        QCOMPARE(run.scaler().scale, kFirstScale / 2);
        QCOMPARE(run.network(), start);
        QCOMPARE(run.state("optimizer.step"), std::vector<float>{0});
        for (RecipeRun* each : {&run, &clean}) {
            QCOMPARE(each->step(batchOf(2), 0), 0);
            QCOMPARE(each->step(batchOf(3), 0), 0);
        }
        const QString wrong = difference(run.network(), clean.network(), 1e-6);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }

    void twoOptimizers_data() { addAutocastRows(); }
    /// An overflow in the second network alone: the first steps, the second skips, and their common
    /// scale backs off. Finally the scale is 128 * 2^3 / 2, after four steps and three.
    void twoOptimizers() {
        QFETCH(Autocast, autocast);
        RunConfig config = fixtureConfig();
        config.model.networks = 2;
        config.optimizer.lr = 0.01;
        config.second = {OptimizerKind::Sgd, 0.005};
        RecipeRun run(config, autocast);
        Network2 a = run.network(), b = run.network("second.");
        QVERIFY(a != b);
        for (size_t i = 0; i < kBatches; ++i) {
            const bool poisoned = i == kPoisoned;
            const auto [da, db] = mixedGradients(a, b, batchOf(i));
            QCOMPARE(run.step(batchOf(i), poisoned ? INFINITY : 0), poisoned ? 2 : 0);
            addScaled(a, da, -config.optimizer.lr);
            if (!poisoned) addScaled(b, db, -config.second.lr);
            const double bound = boundOf(autocast);
            const QString first = difference(run.network(), a, bound);
            const QString second = difference(run.network("second."), b, bound);
            QVERIFY2(first.isEmpty(), qPrintable("first network, " + first));
            QVERIFY2(second.isEmpty(), qPrintable("second network, " + second));
        }
        QCOMPARE(run.scaler().scale, kFirstScale * 4);
        QCOMPARE(run.state("optimizer.step"), std::vector<float>{4});
        QCOMPARE(run.state("optimizer2.step"), std::vector<float>{3});
    }

    /// The search for the tensor that overflowed runs the step again: what an optimizer that did
    /// not skip has done must not happen twice.
    void diagnosisChangesNothing() {
        RunConfig config = presetNamed("recipe-two-optimizers").config;
        config.lanes = {config.lanes[1]};
        config.task.samples = 256;
        const std::unique_ptr<Task> data = makeTask(config);
        Trainer trainer(config, 0, "run", *data, makeCpuExecutor(1));
        const Weights start = trainer.weights();
        const auto program = std::make_shared<const Program>(trainer.program());
        const Graph& g = program->graph;
        const std::unique_ptr<Executor> plain = makeCpuExecutor(1);
        plain->load(program);
        const auto upload = [&](NodeId id, const auto& values) {
            plain->upload(id, std::as_bytes(std::span(values)));
        };
        for (const auto& [name, values] : start)
            upload(g.state(name), values);
        upload(g.state("scaler"), slotsOf(ScalerState{}));
        upload(g.state("scaler.rules"), slotsOf(config.lanes[0].scaler.rules));
        for (const auto& [name, values] : scheduleTables(config))
            upload(g.state(name), values);
        std::vector<float> x(static_cast<size_t>(g[g.input("x")].elements()));
        std::vector<float> target(static_cast<size_t>(g[g.input("target")].elements()));
        std::vector<Event> events;
        int partly = 0;
        for (int64_t step = 1; step <= 60; ++step) {
            data->batch(step, x, target);
            upload(g.input("x"), x);
            upload(g.input("target"), target);
            QCOMPARE(plain->run(RunMode::Captured), RunResult::Done);
            const StepRecord record = trainer.step(step, events).value();
            if (record.flags & (kFirstStepped | kSecondStepped)) ++partly;
        }
        for (const auto& [name, values] : trainer.weights()) {
            std::vector<float> wanted(values.size());
            plain->download(g.state(name), std::as_writable_bytes(std::span(wanted)));
            QVERIFY2(differentBits(values, wanted) == 0, name.c_str());
        }
        QVERIFY2(partly > 0, "no step was skipped by one optimizer alone");
        const auto named = std::count_if(events.begin(), events.end(), [](const Event& event) {
            return event.text.english().find("optimizer: ") != std::string::npos;
        });
        QCOMPARE(static_cast<int>(named), partly);
    }

    /// The schedule advances on a skip, and its rate and momentum are those of the tables.
    void oneCycle() {
        RunConfig config = fixtureConfig();
        config.optimizer.momentum = 0.9;
        config.schedule.kind = ScheduleKind::OneCycle;
        config.schedule.totalSteps = kBatches + 1;
        config.schedule.maxLr = 0.5;
        config.schedule.cycleMomentum = true;
        RecipeRun run(config, Autocast::Off);
        Network2 hand = run.network(), buffer = zeros();
        for (size_t i = 0; i < kBatches; ++i) {
            const bool poisoned = i == kPoisoned;
            QCOMPARE(run.step(batchOf(i), poisoned ? INFINITY : 0), poisoned ? 1 : 0);
            if (poisoned) continue;
            const auto tick = static_cast<int64_t>(i);
            const Network2 g = gradientOf(hand, batchOf(i));
            addScaled(buffer, buffer, cycledMomentum(config.schedule, tick) - 1);
            addScaled(buffer, g, 1);
            addScaled(hand, buffer, -learningRate(config.schedule, 1, tick));
            const QString wrong = difference(run.network(), hand, boundOf(Autocast::Off));
            QVERIFY2(wrong.isEmpty(), qPrintable(QString("batch %1, ").arg(i) + wrong));
        }
    }

    /// At a gradient of zero the penalty's slope is infinite, and an epsilon prevents that.
    void penaltyAtZero() {
        for (const double epsilon : {0.0, 1e-12}) {
            RunConfig config = fixtureConfig();
            config.gradients.penalty = 1;
            config.gradients.penaltyEps = epsilon;
            RecipeRun run(config, Autocast::Off);
            // a correct prediction of zero: inputs and biases are zero
            test::Batch batch{std::vector<float>(kSquare, 0), std::vector<float>(kSquare, 0)};
            run.setState("0.bias", std::vector<float>(kWidth, 0));
            run.setState("1.bias", std::vector<float>(kWidth, 0));
            QCOMPARE(run.step(batch, 0), epsilon == 0 ? 1 : 0);
        }
    }
};

} // namespace tst_recipes

QTEST_GUILESS_MAIN(tst_recipes::TestRecipes)
#include "tst_recipes.moc"
