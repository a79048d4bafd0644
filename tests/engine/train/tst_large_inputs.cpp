// What a lane says of inputs that fp16 cannot hold: its events, and the verdict on its skipped
// steps.
#include "engine/runs/skips.h"
#include "engine/train/overflow.h"
#include "tests/support/lane.h"

#include <QTest>

#include <cmath>

namespace tst_large_inputs {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns 8 samples of one input value, and targets of 0.
FixedDataset samplesOf(float x) {
    return {{8, 1, 1}, {{std::vector<float>(8, x), std::vector<float>(8, 0.0f)}}};
}

} // namespace

class TestLargeInputs : public QObject {
    Q_OBJECT

private slots:
    /// No layer is blamed for an input that does not fit, nor is the input where it does.
    void inputsBeyondHalf_data() {
        QTest::addColumn<Precision>("precision");
        QTest::addColumn<bool>("standardised");
        QTest::addColumn<std::string>("tensor"); // of the last event
        const std::string input = "the input in fp16 without data.standardise_x";
        QTest::newRow("cast") << Precision::AmpFp16 << false << input;
        QTest::newRow("stored") << Precision::Fp16 << false << input;
        QTest::newRow("no remedy")
            << Precision::AmpFp16 << true << std::string("forward pass of layer 0");
        QTest::newRow("bf16") << Precision::AmpBf16 << false << std::string();
    }
    void inputsBeyondHalf() {
        QFETCH(const Precision, precision);
        QFETCH(const bool, standardised);
        QFETCH(const std::string, tensor);
        RunConfig config = laneConfig(precision);
        config.task.kind = TaskKind::Arrays;
        config.task.standardiseX = standardised;
        Lane lane(config, samplesOf(70000));
        SkipTally tally;
        tally.add(lane.step(1));
        for (const Event& event : lane.events)
            tally.add(event);
        QCOMPARE(lane.events.empty() ? std::string() : lane.events.back().tensor, tensor);
        const std::string why = "alues of the input do not fit into fp16, which ends at 65,504",
                          cure = " To make the values fit, set data.standardise_x to true.";
        const bool told = tensor.starts_with("the input");
        const std::string sentence = tally.sentence(true, config.lanes.data()).english();
        QCOMPARE(sentence.find(why +
                               " (first in step 1), and the loss is not finite from step 1 "
                               "on. No loss scale can fix that." +
                               cure) != std::string::npos,
                 told);
        QCOMPARE(tally.badReasonIsInput(), told);
        if (!told) return;
        QVERIFY(tally.badLayer().empty());
        const std::string lost = lane.events.back().text.english();
        QVERIFY2(lost.ends_with("The reason is in the data: v" + why + "." + cure), lost.c_str());
        if (precision == Precision::Fp16) return; // it has no scaler, so it skips nothing
        QCOMPARE(lane.events.front().text.english(),
                 "Step 1 skipped: v" + why + "; the scale falls to 32768 (2^15)." + cure +
                     " No loss scale would have helped.");
        QVERIFY(isHelpless(lane.events.front()));
    }

    /// A ReLU hides the inf from the loss, but not from the gradient of the weight.
    void inputsBeyondHalfWithAFiniteLoss() {
        RunConfig config = laneConfig(Precision::AmpFp16);
        config.task.kind = TaskKind::Arrays;
        config.model.layers = "nn.Sequential(nn.Linear(1, 1), nn.ReLU())";
        for (const float x : {70000.0f, INFINITY}) {
            Lane lane(config, samplesOf(x));
            lane.trainer.setWeights({{"0.weight", {-1.0f}}, {"0.bias", {0.0f}}});
            SkipTally tally;
            const StepRecord record = lane.step(1);
            QVERIFY((record.flags & kSkipped) && std::isfinite(record.loss));
            tally.add(record);
            tally.add(lane.events.front());
            const std::string sentence = tally.sentence(true).english();
            QVERIFY2(sentence.ends_with("in 1 of them: values of the input do not fit into fp16, "
                                        "which ends at 65,504 (first in step 1). To make the "
                                        "values fit, set data.standardise_x to true.") ==
                         std::isfinite(x),
                     sentence.c_str());
        }
    }
};

} // namespace tst_large_inputs

QTEST_GUILESS_MAIN(tst_large_inputs::TestLargeInputs)
#include "tst_large_inputs.moc"
