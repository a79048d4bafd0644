// A lane in float16 whose optimizer divides by zero, because its epsilon is zero there: the event
// says so, and it blames no other cause on it.
#include "engine/runs/events.h"
#include "tests/support/lane.h"

#include <QTest>

#include <cmath>

namespace tst_zero_epsilon {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr const char* kReason = "'s epsilon is zero in fp16, so it divides by zero. Set Epsilon to "
                                "1e-4 and train from the start, or use AMP.";

} // namespace

class TestZeroEpsilon : public QObject {
    Q_OBJECT

private slots:
    void adamDividesByZero_data() {
        QTest::addColumn<Precision>("precision");
        QTest::addColumn<OptimizerKind>("kind");
        QTest::addColumn<double>("epsilon");
        QTest::addColumn<QString>("optimizer");
        const auto none = QString();
        QTest::newRow("adam") << Precision::Fp16 << OptimizerKind::Adam << 1e-8
                              << QStringLiteral("Adam");
        QTest::newRow("adamw") << Precision::Fp16 << OptimizerKind::AdamW << 1e-8
                               << QStringLiteral("AdamW");
        QTest::newRow("rmsprop") << Precision::Fp16 << OptimizerKind::RmsProp << 1e-8
                                 << QStringLiteral("RMSprop");
        QTest::newRow("nadam") << Precision::Fp16 << OptimizerKind::NAdam << 1e-8
                               << QStringLiteral("NAdam");
        QTest::newRow("adamax") << Precision::Fp16 << OptimizerKind::Adamax << 1e-8
                                << QStringLiteral("Adamax");
        QTest::newRow("adagrad") << Precision::Fp16 << OptimizerKind::Adagrad << 1e-10
                                 << QStringLiteral("Adagrad");
        QTest::newRow("adadelta") << Precision::Fp16 << OptimizerKind::Adadelta << 1e-8
                                  << QStringLiteral("Adadelta");
        QTest::newRow("a larger epsilon") << Precision::Fp16 << OptimizerKind::Adam << 1e-4 << none;
        QTest::newRow("bf16") << Precision::Bf16 << OptimizerKind::Adam << 1e-8 << none;
        QTest::newRow("fp32") << Precision::Fp32 << OptimizerKind::Adam << 1e-8 << none;
    }
    /// Behind dead units gradients are zero, and so are their means of squares: 0 / (0 + epsilon).
    void adamDividesByZero() {
        QFETCH(Precision, precision);
        QFETCH(OptimizerKind, kind);
        QFETCH(double, epsilon);
        QFETCH(QString, optimizer);
        RunConfig config = laneConfig(precision);
        config.optimizer.kind = kind;
        config.optimizer.eps = epsilon;
        Lane lane(config);
        const StepRecord first = lane.step(1), second = lane.step(2);
        QVERIFY(std::isfinite(first.loss) && std::isfinite(first.gradientNorm));
        QCOMPARE((second.flags & kLossNotFinite) != 0, !optimizer.isEmpty());
        if (optimizer.isEmpty()) return;
        const std::string name = optimizer.toStdString();
        QCOMPARE(lane.events.size(), size_t{1});
        const std::string text = lane.events[0].text.english();
        QVERIFY2(text == "Step 2: the loss itself is nan. " + name + kReason ||
                     text == "Step 2: the loss itself is infinite. " + name + kReason,
                 text.c_str());
        QCOMPARE(lane.events[0].tensor, "the zero epsilon of " + name);
        QCOMPARE(std::string(optimizerOfZeroEpsilon(lane.events[0].tensor)), name);
    }

    /// Before each step only so many weights are looked at, but the small arrays of a large network
    /// tell it, too, and so do all of them after the first update.
    void largeNetworks() {
        RunConfig config = laneConfig(Precision::Fp16);
        config.model.width = 2100; // 4.41 million weights between two hidden layers
        config.threads = 2;
        Lane lane(config, {4, 10, 1});
        lane.step(1);
        QVERIFY(lane.step(2).flags & kLossNotFinite);
        QCOMPARE(lane.events.at(0).tensor, "the zero epsilon of Adam");
        struct Case {
            int64_t step;
            const char* array;
            bool told;
        };
        for (const auto& [step, array, told] :
             {Case{1, "2.weight", true}, Case{5, "2.weight", false}, Case{5, "2.bias", true}}) {
            Lane spoilt(config, {4, 10, 1});
            Weights weights = spoilt.trainer.weights();
            weights.at(array)[0] = INFINITY;
            spoilt.trainer.setWeights(weights);
            LaneState state = spoilt.trainer.state();
            state.step = step;
            spoilt.trainer.restore(state);
            QVERIFY(spoilt.step(step + 1).flags & kLossNotFinite);
            QCOMPARE(spoilt.events.at(0).tensor == "the zero epsilon of Adam", told);
        }
    }

    /// An epsilon of zero is not blamed for weights that a gradient has spoilt, nor for weights
    /// that are finite.
    void epsilonIsNotToBlame() {
        RunConfig config = laneConfig(Precision::Fp16);
        const FixedDataset::Batch large{std::vector<float>(64, 60000.0f),
                                        std::vector<float>(64, 0.0f)};
        Lane lane(config, {{64, 1, 1}, {large}});
        Weights ones = lane.trainer.weights();
        for (auto& [name, values] : ones)
            std::fill(values.begin(), values.end(), name.ends_with("weight") ? 1.0f : 0.0f);
        lane.trainer.setWeights(ones); // the second layer overflows in the first step
        QVERIFY(lane.step(1).flags & kLossNotFinite);
        QCOMPARE(lane.events[0].text.english().find("epsilon"), std::string::npos);
        // weights that were so from the start, then some that a gradient has spoilt
        for (const bool fromTheStart : {true, false}) {
            Lane spoilt(config);
            Weights weights = spoilt.trainer.weights();
            weights["4.bias"][0] = INFINITY;
            spoilt.trainer.setWeights(weights);
            LaneState state = spoilt.trainer.state();
            state.step = fromTheStart ? 0 : 1;
            for (auto& [name, value] : state.states)
                if (!fromTheStart && name.ends_with(".exp_avg_sq"))
                    for (size_t i = 0; i + 1 < value.bytes.size(); i += 2)
                        value.bytes[i + 1] = std::byte{0x3c}; // 1 in float16
            spoilt.trainer.restore(state);
            QVERIFY(spoilt.step(state.step + 1).flags & kLossNotFinite);
            QCOMPARE(spoilt.events[0].text.english().find("epsilon"), std::string::npos);
        }
    }
};

} // namespace tst_zero_epsilon

QTEST_GUILESS_MAIN(tst_zero_epsilon::TestZeroEpsilon)
#include "tst_zero_epsilon.moc"
