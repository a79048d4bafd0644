// The table of losses: each row compared with its definition in double, and trainings on labels.
#include "engine/core/error.h"
#include "engine/data/losses.h"
#include "engine/passes/compile.h"
#include "engine/settings/fields.h"
#include "engine/train/step_runner.h"
#include "tests/support/lane.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <cmath>
#include <functional>

namespace tst_losses {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int64_t kRows = 7, kClasses = 5;

/// Returns the loss of given numbers, in float32.
double lossOf(const LossSpec& spec, const std::vector<float>& y, const std::vector<float>& target,
              const std::vector<int32_t>& labels) {
    Graph graph;
    Builder b(graph);
    const bool ofLabels = infoOf(spec.kind).ofLabels;
    const NodeId in = b.input("y", {kRows, kClasses}, DType::F32);
    const NodeId to = ofLabels ? b.input("target", {kRows}, DType::I32)
                               : b.input("target", {kRows, kClasses}, DType::F32);
    graph.addOutput("loss", infoOf(spec.kind).emit(b, spec, in, to));
    const auto program = std::make_shared<const Program>(compile(graph));
    const auto executor = makeCpuExecutor(1);
    executor->load(program);
    const Graph& g = program->graph;
    uploadFloats(*executor, g, g.input("y"), y);
    if (ofLabels)
        executor->upload(g.input("target"), std::as_bytes(std::span(labels)));
    else
        uploadFloats(*executor, g, g.input("target"), target);
    executor->run(RunMode::Stepwise);
    return double{downloadFloats(*executor, g, g.output("loss")).at(0)};
}

} // namespace

class TestLosses : public QObject {
    Q_OBJECT

private slots:
    void table() {
        QCOMPARE(losses().size(), static_cast<size_t>(LossKind::BceWithLogits) + 1);
        for (size_t i = 0; i < losses().size(); ++i) {
            QCOMPARE(static_cast<size_t>(losses()[i].kind), i);
            QVERIFY(losses()[i].emit != nullptr);
            QCOMPARE(std::string(nameOf(losses()[i].kind)), std::string(losses()[i].name));
        }
        QCOMPARE(nameOf(static_cast<LossKind>(losses().size())), "");
    }

    void elementwise_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<double>("delta");
        for (const LossInfo& info : losses()) {
            if (info.ofLabels) continue;
            QTest::addRow("%s", info.name) << static_cast<int>(info.kind) << 1.0;
            if (info.hasDelta)
                QTest::addRow("%s 0.3", info.name) << static_cast<int>(info.kind) << 0.3;
        }
    }
    void elementwise() {
        QFETCH(int, kind);
        QFETCH(double, delta);
        const LossSpec spec{static_cast<LossKind>(kind), delta, 0};
        std::vector<float> y(kRows * kClasses), target(y.size());
        Philox(3, 1).fillNormal(y);
        Philox(3, 2).fillUniform(target, 0, 1);
        const auto one = [&](double p, double t) {
            const double error = std::abs(p - t);
            switch (spec.kind) {
            case LossKind::Mse: return error * error;
            case LossKind::L1: return error;
            case LossKind::Huber:
                return error < delta ? error * error / 2 : delta * (error - delta / 2);
            case LossKind::SmoothL1:
                return error < delta ? error * error / (2 * delta) : error - delta / 2;
            case LossKind::BceWithLogits: {
                const double s = 1 / (1 + std::exp(-p));
                return -t * std::log(s) - (1 - t) * std::log1p(-s);
            }
            case LossKind::CrossEntropy: break;
            }
            return std::nan("");
        };
        double wanted = 0;
        for (size_t i = 0; i < y.size(); ++i)
            wanted += one(double{y[i]}, double{target[i]}) / static_cast<double>(y.size());
        QVERIFY(std::abs(lossOf(spec, y, target, {}) / wanted - 1) < 1e-6);
    }

    void crossEntropy_data() {
        QTest::addColumn<double>("smoothing");
        for (const double smoothing : {0.0, 0.1, 1.0})
            QTest::addRow("%g", smoothing) << smoothing;
    }
    void crossEntropy() {
        QFETCH(double, smoothing);
        std::vector<float> y(kRows * kClasses);
        Philox(4, 1).fillNormal(y);
        const std::vector<int32_t> labels{0, 4, 2, 2, 1, 3, 0};
        double wanted = 0;
        for (size_t row = 0; row < kRows; ++row) {
            double sum = 0;
            for (size_t i = 0; i < kClasses; ++i)
                sum += std::exp(double{y[row * kClasses + i]});
            for (size_t i = 0; i < kClasses; ++i) {
                const bool right = static_cast<size_t>(labels[row]) == i;
                const double share = (right ? 1 - smoothing : 0) + smoothing / kClasses;
                wanted += share * (std::log(sum) - double{y[row * kClasses + i]}) / kRows;
            }
        }
        const LossSpec spec{LossKind::CrossEntropy, 1, smoothing};
        QVERIFY(std::abs(lossOf(spec, y, {}, labels) / wanted - 1) < 1e-6);
    }

    /// Trains on samples with axes of their own and on labels, in both precisions.
    void trainsOnLabels_data() {
        QTest::addColumn<bool>("amp");
        QTest::newRow("float32") << false;
        QTest::newRow("float16 autocast") << true;
    }
    void trainsOnLabels() {
        QFETCH(bool, amp);
        RunConfig config = laneConfig(amp ? Precision::AmpFp16 : Precision::Fp32);
        config.task.loss = {LossKind::CrossEntropy, 1, 0.05};
        config.optimizer.lr = 1e-2;
        FixedDataset::Batch batch{std::vector<float>(64 * 6), {}, {}};
        Philox(8, 1).fillNormal(batch.x);
        for (size_t i = 0; i < 64; ++i) // classes that can be learned
            batch.labels.push_back(batch.x[6 * i] > 0 ? 2 : batch.x[6 * i + 1] > 0 ? 1 : 0);
        Lane lane(config,
                  FixedDataset({.rows = 64, .inputs = 6, .outputs = 3, .labels = true}, {batch}));
        StepRecord first = lane.step(1), last;
        while (first.flags & kSkipped)
            first = lane.step(first.step + 1);
        for (int64_t step = first.step + 1; step <= 150; ++step)
            last = lane.step(step);
        QVERIFY2(last.loss < first.loss / 2, std::to_string(last.loss).c_str());
        QCOMPARE(lane.trainer.prediction().size(), size_t{64 * 3});
    }

    void refusedWhereTargetsAreNumbers() {
        RunConfig config = presetNamed("recipe-plain").config;
        applySetting(config, "task.loss=cross-entropy");
        QCOMPARE(thrownBy<InputError>([&] { checkConfig(config); }),
                 std::string("task.loss: cross-entropy is not allowed with data.kind regression: "
                             "its targets are numbers, not classes"));
        applySetting(config, "task.loss=huber");
        checkConfig(config);
    }
};

} // namespace tst_losses

QTEST_GUILESS_MAIN(tst_losses::TestLosses)
#include "tst_losses.moc"
