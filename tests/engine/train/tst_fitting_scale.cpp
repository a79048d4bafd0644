// The loss scale that would have fitted: how it is searched for, and that a step run again is taken
// at that scale and skipped at twice that scale.
#include "engine/train/fitting_scale.h"
#include "engine/train/overflow.h"
#include "tests/support/lane.h"

#include <QTest>

#include <cmath>
#include <set>

namespace tst_fitting_scale {

using namespace halfscope;
using namespace halfscope::test;

using Known = FittingScale::Known;

namespace {

/// Returns the scale that the sentence names after these words; 0 when it does not have them.
float scaleIn(const Event& event, const std::string& lead) {
    const std::string text = event.text.english();
    const size_t at = text.find(lead);
    return at == std::string::npos ? 0.0f : std::stof(text.substr(at + lead.size()));
}
float fittingIn(const Event& event) { return scaleIn(event, " The step would have fitted at "); }

/// Runs the steps after `before` up to `last`, the last one of an update, at `scale`. Returns
/// whether the update is skipped.
bool skips(Trainer& trainer, const LaneState& before, float scale, int64_t last) {
    trainer.restore(before);
    trainer.setScale(scale);
    std::vector<Event> events;
    bool skipped = false;
    for (int64_t step = before.step + 1; step <= last; ++step) {
        const auto record = trainer.step(step, events);
        require(record.has_value(), "nobody asked the step to stop");
        skipped = (record->flags & kSkipped) != 0;
    }
    return skipped;
}

/// Whether the step after `before` is skipped at `scale` by the optimizer that is not the one of
/// this flag.
bool isSkippedBesides(Trainer& trainer, const LaneState& before, float scale, uint32_t stepped) {
    trainer.restore(before);
    trainer.setScale(scale);
    std::vector<Event> events;
    const auto record = trainer.step(before.step + 1, events);
    require(record.has_value(), "nobody asked the step to stop");
    const uint32_t halves = record->flags & (kFirstStepped | kSecondStepped);
    return (record->flags & kSkipped) && (halves == 0 || halves == stepped);
}

/// Checks for each overflow that the scale in the sentence fits and twice that scale does not: both
/// are tried on a second lane that starts where the step did. Returns how many different scales
/// there were.
size_t checkedScales(const RunConfig& config, int batches, int64_t steps) {
    Lane lane(config, {64, 10, 1}, batches);
    Lane other(config, {64, 10, 1}, batches);
    std::set<float> seen;
    const int64_t group = config.gradients.accumulate;
    LaneState before = lane.trainer.state();
    for (int64_t step = 1; step <= steps; ++step) {
        if ((step - 1) % group == 0) before = lane.trainer.state();
        lane.events.clear();
        const uint32_t flags = lane.step(step).flags;
        if (!(flags & kSkipped) || (flags & (kFirstStepped | kSecondStepped))) continue;
        const Event& event = lane.events.front();
        const float fits = fittingIn(event);
        require(fits > 0 && fits < event.scaleBefore, event.text.english());
        require(!skips(other.trainer, before, fits, step), "fits: " + event.text.english());
        require(skips(other.trainer, before, 2 * fits, step), "largest: " + event.text.english());
        seen.insert(fits);
    }
    return seen.size();
}

RunConfig overflowing(Precision precision = Precision::AmpFp16) {
    RunConfig config = laneConfig(precision);
    config.lanes[0].scaler.initScale = std::ldexp(1.0, 24);
    config.lanes[0].scaler.rules.growthInterval = 2;
    return config;
}

} // namespace

class TestFittingScale : public QObject {
    Q_OBJECT

private slots:
    void everyLimitIsFound_data() {
        QTest::addColumn<int>("guess"); // an exponent, or one of the two numbers below
        QTest::newRow("without a guess") << 1000;
        QTest::newRow("after one at which none fitted") << -1000;
        QTest::newRow("small") << -100;
        QTest::newRow("large") << 100;
    }

    void everyLimitIsFound() {
        QFETCH(const int, guess);
        FittingScale earlier;
        if (guess == -1000) earlier.known = Known::None;
        if (std::abs(guess) < 1000) earlier = {Known::Largest, std::ldexp(1.0f, guess)};
        for (const float scale : {0x1p127f, 0x1.8p24f, 0x1p24f, 1000.0f, 0x1p-20f, INFINITY}) {
            for (int limit = kLeastExponent - 1; limit <= 126; ++limit) {
                if (!(std::ldexp(1.0f, limit) < scale)) break;
                std::set<float> fitting, over{scale};
                bool below = true;
                const auto found = fittingScale(scale, earlier, [&](float tried) {
                    below = below && tried < scale;
                    const bool fits = tried <= std::ldexp(1.0f, limit);
                    (fits ? fitting : over).insert(tried);
                    return !fits;
                });
                QVERIFY(found.has_value() && below);
                if (limit < kLeastExponent) {
                    QCOMPARE(found->known, Known::None);
                    QVERIFY(over.contains(std::ldexp(1.0f, kLeastExponent)));
                    continue;
                }
                QCOMPARE(found->known, Known::Largest);
                QCOMPARE(found->largest, std::ldexp(1.0f, limit));
                QVERIFY(fitting.contains(found->largest)); // tried, not assumed
                QVERIFY(2 * found->largest >= scale || over.contains(2 * found->largest));
                QVERIFY(fitting.size() + over.size() < 20);
            }
        }
    }

    /// The next step often has the same limit, which is then only confirmed.
    void aRightGuessTakesTwoTrials() {
        int trials = 0;
        const auto found = fittingScale(0x1p20f, {Known::Largest, 0x1p11f}, [&](float tried) {
            ++trials;
            return tried > 0x1p11f;
        });
        QCOMPARE(found->largest, 0x1p11f);
        QCOMPARE(trials, 2);
        trials = 0;
        QVERIFY(fittingScale(0x1p20f, {Known::None, 0}, [&](float) { return ++trials > 0; }));
        QCOMPARE(trials, 1);
    }

    void nothingIsToldWithoutTrials() {
        const auto stopped = [](float) { return std::optional<bool>(); };
        QVERIFY(!fittingScale(1024, {}, stopped));
        for (const float scale : {0.0f, -1.0f, NAN, 0x1p-130f, std::ldexp(1.0f, kLeastExponent)})
            QCOMPARE(fittingScale(scale, {}, stopped)->known, Known::Nothing);
    }

    void theStepFitsAtThatScale_data() {
        QTest::addColumn<QString>("layers");
        QTest::addColumn<int>("accumulate");
        QTest::addColumn<int>("networks");
        QTest::addColumn<double>("penalty");
        const QString plain = QStringLiteral("nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1)");
        QTest::newRow("plain") << plain << 1 << 1 << 0.0;
        QTest::newRow("batches of an update") << plain << 3 << 1 << 0.0;
        QTest::newRow("gradient penalty") << plain << 1 << 1 << 1.0;
        QTest::newRow("two optimizers") << plain << 1 << 2 << 0.0;
        const QString dropout = QStringLiteral("nn.Linear(10, 20), nn.Dropout(0.8), "
                                               "nn.Linear(20, 20), nn.Dropout(0.8), "
                                               "nn.Linear(20, 1)");
        QTest::newRow("dropout") << dropout << 1 << 1 << 0.0;
        QTest::newRow("dropout, batches of an update") << dropout << 3 << 1 << 0.0;
        QTest::newRow("batch norm")
            << QStringLiteral("nn.Linear(10, 20), nn.BatchNorm1d(20), nn.Linear(20, 1)") << 1 << 1
            << 0.0;
    }

    void theStepFitsAtThatScale() {
        QFETCH(const QString, layers);
        QFETCH(const int, accumulate);
        QFETCH(const int, networks);
        QFETCH(const double, penalty);
        RunConfig config = overflowing();
        config.model.layers = "nn.Sequential(" + layers.toStdString() + ")";
        config.model.networks = networks;
        config.gradients.accumulate = accumulate;
        config.gradients.penalty = penalty;
        config.optimizer.lr = 0.05;
        const size_t scales = checkedScales(config, 7, 60 * accumulate);
        QVERIFY2(scales > 1, QByteArray::number(qulonglong(scales)));
    }

    /// The lane goes on as if there had been no search.
    void theSearchLeavesNoTrace() {
        RunConfig config = overflowing();
        config.model.layers = "nn.Sequential(nn.Linear(10, 20), nn.Dropout(0.5), "
                              "nn.BatchNorm1d(20), nn.Linear(20, 1))";
        Lane skipping(config, {64, 10, 1}, 3);
        const LaneState before = skipping.trainer.state();
        QVERIFY(skipping.step(1).flags & kSkipped);
        QVERIFY(fittingIn(skipping.events.front()) > 0);
        // the same step without a search: it is taken with inf in the gradients
        config.lanes[0].scaler.onOverflow = OverflowAction::Step;
        Lane taking(config, {64, 10, 1}, 3);
        QVERIFY(taking.step(1).flags & kSteppedOnOverflow);
        const StateValues after = skipping.trainer.state().states;
        const StateValues plain = taking.trainer.state().states;
        for (const char* name : {"dropout.step", "schedule.tick", "2.running_mean"})
            QVERIFY2(after.at(name) == plain.at(name), name);
        for (const char* name : {"0.weight", "3.bias", "optimizer.step"})
            QVERIFY2(after.at(name) == before.states.at(name), name);
    }

    /// No loss scale mends what overflows before the loss is scaled.
    void noScaleHelpsTheForwardPass() {
        const FixedDataset::Batch batch{std::vector<float>(64, 60000), std::vector<float>(64, 0)};
        Lane lane(overflowing(), {{64, 1, 1}, {batch}});
        Weights weights = lane.trainer.weights();
        for (auto& [name, values] : weights)
            std::fill(values.begin(), values.end(), 1.0f);
        lane.trainer.setWeights(weights);
        for (int64_t step = 1; step <= 3; ++step) {
            lane.events.clear();
            QVERIFY(lane.step(step).flags & kSkipped);
            const std::string text = lane.events.front().text.english();
            QVERIFY2(text.ends_with(". No loss scale would have helped."), text.c_str());
        }
    }

    /// When one of the optimizers has stepped, its weights have changed. With these, the other one
    /// takes the step at the scale that the sentence names, and skips it at twice that scale.
    void halfASkipIsTriedWithTheChangedWeights() {
        RunConfig config = overflowing();
        config.model.networks = 2;
        Lane lane(config), other(config);
        int named = 0;
        for (int64_t step = 1; step <= 200; ++step) {
            lane.events.clear();
            const uint32_t flags = lane.step(step).flags;
            if (!(flags & (kFirstStepped | kSecondStepped))) continue;
            const Event& event = lane.events.front();
            const float fits = scaleIn(event, " With the weights that the other optimizer has set "
                                              "since, the step fits at ");
            if (fits == 0) continue; // it fits at no scale
            ++named;
            const std::string text = event.text.english();
            QVERIFY2(fits < event.scaleBefore, text.c_str());
            LaneState changed = lane.trainer.state();
            changed.step = step - 1; // the same batch once more
            const uint32_t stepped = flags & kFirstStepped ? kFirstStepped : kSecondStepped;
            QVERIFY2(!isSkippedBesides(other.trainer, changed, fits, stepped), text.c_str());
            if (2 * fits < event.scaleBefore)
                QVERIFY2(isSkippedBesides(other.trainer, changed, 2 * fits, stepped), text.c_str());
        }
        QVERIFY(named > 0);
    }
};

} // namespace tst_fitting_scale

QTEST_GUILESS_MAIN(tst_fitting_scale::TestFittingScale)
#include "tst_fitting_scale.moc"
