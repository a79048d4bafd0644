// Gradients counted by power of two: which gradients are counted, that the counts are those of the
// next step, and that a training continues as if nobody had looked.
#include "engine/core/dtype.h"
#include "engine/settings/fields.h"
#include "tests/support/lane.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tst_gradient_range {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int64_t kBatch = 64, kInputs = 10, kUnits = 20;

MagnitudeCounts counted(DType type, const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * bytesOf(type));
    storeFromFloat(type, values.data(), bytes.data(), values.size());
    MagnitudeCounts counts;
    counts.add(type, bytes);
    return counts;
}

int64_t at(const MagnitudeCounts& counts, int exponent) {
    return counts.buckets[static_cast<size_t>(exponent - MagnitudeCounts::kLowest)];
}

int64_t below(const MagnitudeCounts& counts, int exponent) {
    return counts.negative[static_cast<size_t>(exponent - MagnitudeCounts::kLowest)];
}

RunConfig scaled(Precision precision, double scale) {
    RunConfig config = laneConfig(precision);
    config.lanes[0].scaler.rules.mode = ScalerMode::Static;
    config.lanes[0].scaler.initScale = static_cast<float>(scale);
    return config;
}

GradientRange rangeOf(Lane& lane) {
    const auto range = lane.trainer.gradientRange();
    require(range.has_value(), "nobody asked to stop");
    return *range;
}

} // namespace

class TestGradientRange : public QObject {
    Q_OBJECT

private slots:
    void countsByPowerOfTwo() {
        const float inf = std::numeric_limits<float>::infinity();
        const MagnitudeCounts half =
            counted(DType::F16, {0, -0.0f, 0x1p-24f, -0x1p-15f, 0x1p-14f, 1, -1.5f, 65504, inf,
                                 -inf, std::nanf("")});
        QCOMPARE(half.zeros, int64_t{2});
        QCOMPARE(half.notFinite, int64_t{3});
        QCOMPARE(half.subnormals, int64_t{2});
        QCOMPARE(half.total(), int64_t{11});
        for (const int exponent : {-24, -15, -14, 15})
            QCOMPARE(at(half, exponent), int64_t{1});
        QCOMPARE(at(half, 0), int64_t{2});
        for (const int exponent : {-24, -14, 15})
            QCOMPARE(below(half, exponent), int64_t{0});
        for (const int exponent : {-15, 0})
            QCOMPARE(below(half, exponent), int64_t{1});
        // the first and the last bucket include what lies beyond them
        const MagnitudeCounts wide =
            counted(DType::F32, {0x1p-41f, 0x1p-40f, 0x1p-149f, 0x1p23f, -0x1p127f});
        QCOMPARE(at(wide, -40), int64_t{3});
        QCOMPARE(at(wide, 23), int64_t{2});
        QCOMPARE(below(wide, -40), int64_t{0});
        QCOMPARE(below(wide, 23), int64_t{1});
        QCOMPARE(wide.subnormals, int64_t{1});
        // more than one block of the loop
        QCOMPARE(at(counted(DType::BF16, std::vector<float>(2500, 3)), 1), int64_t{2500});
    }

    /// Each layer's outputs and each parameter are counted once, whatever the lane's precision
    /// stores.
    void everyGradientIsCountedOnce_data() {
        QTest::addColumn<Precision>("precision");
        QTest::addColumn<DType>("type");
        QTest::newRow("fp32") << Precision::Fp32 << DType::F32;
        QTest::newRow("amp-fp16") << Precision::AmpFp16 << DType::F16;
        QTest::newRow("amp-bf16") << Precision::AmpBf16 << DType::BF16;
        QTest::newRow("fp16") << Precision::Fp16 << DType::F16;
    }
    void everyGradientIsCountedOnce() {
        QFETCH(const Precision, precision);
        QFETCH(const DType, type);
        Lane lane(laneConfig(precision));
        const GradientRange range = rangeOf(lane);
        QCOMPARE(range.type, type);
        QCOMPARE(range.step, int64_t{1});
        int64_t parameters = 0;
        for (const auto& [name, values] : lane.trainer.weights())
            parameters += static_cast<int64_t>(values.size());
        QCOMPARE(range.weights.total(), parameters);
        // two layers of 20 units and the output
        QCOMPARE(range.outputs.total(), kBatch * (2 * kUnits + 1));
    }

    /// Each layer has its own counts, in the order of the network; together they are those of the
    /// lane.
    void everyLayerIsCounted_data() {
        QTest::addColumn<Precision>("precision");
        QTest::addColumn<DType>("products");
        QTest::addColumn<DType>("norm");
        QTest::newRow("fp32") << Precision::Fp32 << DType::F32 << DType::F32;
        QTest::newRow("amp-fp16") << Precision::AmpFp16 << DType::F16 << DType::F32;
        // whose sums are float32, but rounded to its type afterwards
        QTest::newRow("bf16") << Precision::Bf16 << DType::BF16 << DType::BF16;
        QTest::newRow("fp8") << Precision::Fp8 << DType::BF16 << DType::F32;
    }
    void everyLayerIsCounted() {
        QFETCH(const Precision, precision);
        QFETCH(const DType, products);
        QFETCH(const DType, norm);
        RunConfig config = laneConfig(precision);
        config.model.layers = "nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.LayerNorm(20), "
                              "nn.Linear(20, 1))";
        Lane lane(config);
        const GradientRange range = rangeOf(lane);
        struct Wanted {
            const char* layer;
            int64_t outputs, weights;
            DType type;
            bool fp8;
            std::vector<std::string> parameters;
        };
        const bool fp8 = precision == Precision::Fp8;
        const Wanted wanted[] = {
            {"Linear 0",
             kBatch * kUnits,
             kInputs * kUnits + kUnits,
             products,
             fp8,
             {"0.weight", "0.bias"}},
            {"LayerNorm 2",
             0,
             2 * kUnits,
             norm,
             false, // no product takes its gradients
             {"2.weight", "2.bias"}},
            {"Linear 3", kBatch, kUnits + 1, products, fp8, {"3.weight", "3.bias"}}};
        QCOMPARE(range.layers.size(), std::size(wanted));
        MagnitudeCounts outputs, weights;
        for (size_t i = 0; i < std::size(wanted); ++i) {
            const LayerGradients& layer = range.layers[i];
            QCOMPARE(layer.layer, std::string(wanted[i].layer));
            QCOMPARE(layer.outputs.total(), wanted[i].outputs);
            QCOMPARE(layer.weights.total(), wanted[i].weights);
            QCOMPARE(layer.type, wanted[i].type);
            QCOMPARE(layer.fp8, wanted[i].fp8);
            QCOMPARE(layer.parameters, wanted[i].parameters);
            QVERIFY(!layer.error); // nobody asked for it
            outputs.add(layer.outputs);
            weights.add(layer.weights);
        }
        QCOMPARE(outputs.buckets, range.outputs.buckets);
        QCOMPARE(outputs.zeros, range.outputs.zeros);
        QCOMPARE(weights.buckets, range.weights.buckets);
        QCOMPARE(outputs.negative, range.outputs.negative);
        QCOMPARE(weights.negative, range.weights.negative);
        QCOMPARE(weights.total(), range.weights.total());
    }

    /// Where batches are added up, the gradients are those of the batch, in every lane: a sum may
    /// not be stored.
    void oneBatchIsCounted() {
        for (const Precision precision : {Precision::Fp32, Precision::AmpFp16, Precision::Bf16}) {
            RunConfig config = laneConfig(precision);
            applySetting(config, "gradients.accumulate=3");
            Lane lane(config, {kBatch, kInputs, 1}, 3);
            const GradientRange first = rangeOf(lane);
            lane.step(1);
            const GradientRange second = rangeOf(lane);
            constexpr int64_t kParameters =
                kInputs * kUnits + kUnits * (kUnits + 1) + 2 * kUnits + 1;
            QCOMPARE(first.weights.total(), kParameters);
            QCOMPARE(second.weights.total(), kParameters);
        }
    }

    void tellsOfLayers() {
        LayerGradients layer;
        QCOMPARE(layer.room(), std::nullopt);
        layer.outputs = counted(DType::F32, {0, 0x1p-26f, 0x1p-25f, 0x1.8p-15f, 0x1p-14f, 1});
        layer.weights = counted(DType::F32, {-24, 0, std::nanf("")});
        QCOMPARE(layer.zeros(), int64_t{2});
        QCOMPARE(layer.small(), int64_t{3});
        QCOMPARE(layer.notFinite(), int64_t{1});
        QCOMPARE(layer.room(), std::nullopt); // float32 holds far larger numbers
        layer.type = DType::F16;
        QCOMPARE(layer.room(), std::optional(11)); // 24 x 2^11 is 49152
        layer.weights = counted(DType::F32, {0x1p20f});
        QCOMPARE(layer.room(), std::optional(-5)); // fp16 holds it at 2^-5 of the scale
        layer.type = DType::BF16;
        QCOMPARE(layer.room(), std::nullopt);
        layer.fp8 = true; // E5M2 has the exponents of fp16
        QCOMPARE(layer.room(), std::optional(-5));
    }

    /// Values that a causal mask hides have a gradient of zero, as in every precision, and the
    /// mask's -inf is no gradient.
    void aMaskIsNotCounted() {
        constexpr int64_t kLength = 5, kHeads = 2, kWidth = 8,
                          kHidden = kLength * (kLength - 1) / 2;
        const auto rangeWith = [](const std::string& layer, Precision precision) {
            RunConfig config = scaled(precision, 16);
            config.model.layers = "nn.Sequential(nn.Unflatten(1, (5, 8)), " + layer +
                                  "(8, 2, 4, 0., 'gelu', batch_first=True), nn.Flatten(), "
                                  "nn.Linear(40, 1))";
            Lane lane(config, {kBatch, 40, 1});
            return rangeOf(lane);
        };
        for (const Precision precision : {Precision::Fp32, Precision::AmpFp16}) {
            const GradientRange open = rangeWith("TransformerEncoderLayer", precision);
            const GradientRange causal = rangeWith("CausalTransformerEncoderLayer", precision);
            QCOMPARE(open.notFinite(), int64_t{0});
            QCOMPARE(causal.notFinite(), int64_t{0});
            QCOMPARE(causal.total(), open.total());
            // the first position has a single share, which is 1 whatever its score and its query
            const int64_t wanted = kBatch * (kHeads * (kHidden + 1) + kWidth);
            if (precision == Precision::Fp32) QCOMPARE(causal.zeros(), open.zeros() + wanted);
            QVERIFY(causal.zeros() >= wanted);
        }
    }

    /// A power of two multiplies exactly when nothing under- or overflows: bfloat16 can represent
    /// it.
    void aScaleMovesAllOfThem() {
        Lane plain(scaled(Precision::AmpBf16, 1)), lifted(scaled(Precision::AmpBf16, 4096));
        const GradientRange a = rangeOf(plain), b = rangeOf(lifted);
        QCOMPARE(a.scale, 1.0f);
        QCOMPARE(b.scale, 4096.0f);
        QCOMPARE(b.zeros(), a.zeros());
        constexpr int kShift = 12;
        int filled = 0;
        for (size_t i = 1; i + kShift < MagnitudeCounts::kBuckets - 1; ++i) {
            QCOMPARE(b.outputs.buckets[i + kShift], a.outputs.buckets[i]);
            QCOMPARE(b.weights.buckets[i + kShift], a.weights.buckets[i]);
            filled += a.outputs.buckets[i] > 0;
        }
        QVERIFY2(filled > 5, "the test's gradients spread over several powers of two");
    }

    void smallScalesRoundToZero() {
        Lane small(scaled(Precision::AmpFp16, 0x1p-20)), large(scaled(Precision::AmpFp16, 1024));
        Lane exact(laneConfig(Precision::Fp32));
        const GradientRange lost = rangeOf(small), kept = rangeOf(large);
        const int64_t zeros = rangeOf(exact).outputs.zeros; // those of ReLU
        QCOMPARE(kept.outputs.zeros, zeros);
        QVERIFY(lost.outputs.zeros > zeros + zeros / 10);
        QVERIFY(lost.subnormals() > 0);
    }

    /// The gradient of a norm layer in fp16 is added up in float32, where a sum that fp16 cannot
    /// hold is still finite. Batches are added up in fp16.
    void normsInHalfOverflow_data() {
        QTest::addColumn<int>("batches");
        QTest::newRow("one batch") << 1;
        QTest::newRow("accumulated") << 3;
    }
    void normsInHalfOverflow() {
        QFETCH(const int, batches);
        RunConfig config = scaled(Precision::ApexO3, 0x1p16);
        config.model.layers = "nn.Sequential(nn.Linear(10, 4), nn.BatchNorm1d(4))";
        config.gradients.accumulate = batches;
        Lane lane(config, {kBatch, kInputs, 4}, batches);
        const GradientRange range = rangeOf(lane);
        const LayerGradients& norm = range.layers.at(1);
        QCOMPARE(norm.layer, std::string("BatchNorm1d 1"));
        QCOMPARE(norm.type, DType::F16);
        QCOMPARE(norm.weights.total(), int64_t{8});
        QVERIFY(norm.weights.notFinite >= 4); // each bias has a sum of about 327000
    }

    /// The counts shown before a step explain whether that step is skipped.
    void foretellsOverflows() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = 0x1p20f;
        config.lanes[0].scaler.rules.growthInterval = 5;
        Lane lane(config, {kBatch, kInputs, 1}, 4);
        int skipped = 0;
        constexpr int kSteps = 60;
        for (int step = 1; step <= kSteps; ++step) {
            const GradientRange range = rangeOf(lane);
            const StepRecord record = lane.step(step);
            QCOMPARE(range.step, record.step);
            QCOMPARE(range.scale, record.scale);
            const bool skips = (record.flags & kSkipped) != 0;
            QVERIFY2((range.weights.notFinite > 0) == skips, qPrintable(QString::number(step)));
            skipped += skips;
        }
        QVERIFY(skipped > 5 && skipped < kSteps - 5);
    }

    void lookingChangesNothing_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("plain") << QStringList();
        QTest::newRow("accumulated") << QStringList{"gradients.accumulate=3"};
        QTest::newRow("penalty") << QStringList{"gradients.penalty=0.1"};
        QTest::newRow("norms") << QStringList{"model.norm=batch"};
        QTest::newRow("two networks") << QStringList{"model.networks=2"};
        QTest::newRow("schedule") << QStringList{"schedule.kind=one-cycle",
                                                 "schedule.cycle_momentum=true"};
    }
    void lookingChangesNothing() {
        QFETCH(const QStringList, settings);
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.lanes[0].scaler.initScale = 0x1p20f; // some steps are skipped
        for (const QString& setting : settings)
            applySetting(config, setting.toStdString());
        constexpr int kBatches = 3, kSteps = 12;
        Lane watched(config, {kBatch, kInputs, 1}, kBatches);
        Lane alone(config, {kBatch, kInputs, 1}, kBatches);
        QVERIFY(rangeOf(watched).total() > 0);
        for (int step = 1; step <= kSteps; ++step) {
            const StepRecord a = alone.step(step), b = watched.step(step);
            QCOMPARE(b.loss, a.loss);
            QCOMPARE(b.flags, a.flags);
            QCOMPARE(b.growthTracker, a.growthTracker);
            rangeOf(watched);
            rangeOf(watched);
            QCOMPARE(watched.trainer.prediction(), alone.trainer.prediction());
        }
        QCOMPARE(differentWeights(watched.trainer.weights(), alone.trainer.weights()), 0);
        QCOMPARE(watched.trainer.scaler(), alone.trainer.scaler());
        for (size_t i = 0; i < alone.events.size(); ++i)
            QCOMPARE(watched.events[i].text, alone.events[i].text);
    }

    /// Before any step, counting leaves a picture of its own: that of the first step.
    void looksBeforeTheFirstStep() {
        Lane lane(laneConfig(Precision::AmpFp16));
        rangeOf(lane);
        const std::vector<float> looked = lane.trainer.prediction();
        lane.step(1);
        QCOMPARE(differentBits(looked, lane.trainer.prediction()), 0);
    }

    void stopsMidway() {
        Lane lane(laneConfig(Precision::AmpFp16)), other(laneConfig(Precision::AmpFp16));
        lane.trainer.requestStop();
        QVERIFY(!lane.trainer.gradientRange());
        QVERIFY(lane.trainer.gradientRange().has_value());
        QCOMPARE(lane.step(1).loss, other.step(1).loss);
    }
};

} // namespace tst_gradient_range

QTEST_GUILESS_MAIN(tst_gradient_range::TestGradientRange)
#include "tst_gradient_range.moc"
