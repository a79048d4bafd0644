// What the list of events says about single events.
#include "engine/data/target_scale.h"
#include "engine/settings/fields.h"
#include "tests/support/cpu_run.h"
#include "tests/support/fed_run.h"
#include "ui/models/event_model.h"
#include "ui/models/run_model.h"
#include "ui/models/translated.h"

#include <QAbstractItemModelTester>
#include <QLocale>
#include <QTest>

#include <cmath>

namespace tst_event_words {

using namespace halfscope;

namespace {

Event eventOf(EventKind kind, int64_t step, const char* text) {
    Event event;
    event.kind = kind;
    event.step = step;
    event.lane = 1;
    event.text = Message::data(text);
    return event;
}

/// Returns three steps of lane B without a finite loss, all of them skipped because of a tensor.
RunBatch threeLost(float loss, const char* tensor) {
    RunBatch batch;
    for (int64_t step = 1; step <= 3; ++step) {
        batch.rows.push_back(StepRow(step, 1)
                                 .set(metric::Loss, loss)
                                 .set(metric::SkippedSoFar, step)
                                 .setFlags(kSkipped | kBackedOff | kLossNotFinite));
        batch.events.push_back(
            eventOf(EventKind::Overflow, step, "Skipped. No loss scale would have helped."));
        batch.events.back().tensor = tensor;
    }
    return batch;
}

} // namespace

class TestEventWords : public QObject {
    Q_OBJECT

private slots:
    void scalesThatCannotComeBack();
    void whatToDoAboutUnderflow();
    void whyAnEpsilonOfZero();
    void whichLayerThePredictionsAre();
    void allSayTheSameOfALayer();
    void allSayTheSameOfALargeInput();
    void anEarlierLossHasNoLaterReason();
    void aLostClassIsNoSample();
    void noScaleHelps();
    void briefSentencesHaveOneForm();
    void scalesOfOneStepAreOneRow();
    void editToldByLetter();
    void uncountedGradientsInBrief();
};

/// The device's reason is long, and the sentence has it.
void TestEventWords::uncountedGradientsInBrief() {
    Event event = eventOf(EventKind::Edit, 3, "From step 3: gradients are not counted, because x.");
    event.lane = -1;
    event.tensor = "gradients";
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Gradients are not counted"));
    QVERIFY(EventModel::sentenceOf(event).endsWith(QStringLiteral("because x.")));
}

/// Neither halving nor doubling changes these scales: "stays" would sound as if all were well.
void TestEventWords::scalesThatCannotComeBack() {
    Event event = eventOf(EventKind::Overflow, 293, "Step 293 skipped.");
    event.scaleBefore = event.scaleAfter = 0;
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Overflow, scale stays 0"));
    event.scaleBefore = event.scaleAfter = INFINITY;
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Overflow, scale stays inf"));
    event.scaleBefore = event.scaleAfter = 8;
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Overflow, scale stays"));
    event.tensor = "the input of sample 362"; // not the scale's fault
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Bad data, scale stays"));
}

/// Where overflows at any loss scale brought it down, a larger one is no advice.
void TestEventWords::whatToDoAboutUnderflow() {
    Event event = eventOf(EventKind::Underflow, 46, "Step 46: all gradients rounded to zero.");
    QVERIFY(EventModel::whyText(event).contains("What to do: set a larger loss scale."));
    const Message words{kUnderflowOfFault, 46, "2^-29", "65536 (2^16)"};
    for (const Message& each : {words, Message::data(words.english())}) { // as saved runs have it
        event.text = each;
        const QString why = EventModel::whyText(event);
        QVERIFY2(why.contains("What to do: see the events of the overflows that brought the loss "
                              "scale down, and correct what they name."),
                 qPrintable(why));
        QVERIFY2(!why.contains("set a larger"), qPrintable(why));
    }
}

/// The sentence of such an event has the reason; a loss scale has nothing to do with it.
void TestEventWords::whyAnEpsilonOfZero() {
    Event event = eventOf(EventKind::LossNotFinite, 2, "Step 2: the loss itself is nan.");
    event.tensor = "the zero epsilon of Adam";
    QCOMPARE(EventModel::whyText(event), QString());
    event.kind = EventKind::Overflow;
    QCOMPARE(EventModel::whyText(event),
             QStringLiteral("What to do: set Epsilon to 1e-4 and press Reset, or use AMP."));
}

/// "Which layer overflowed?" has an answer where none did.
void TestEventWords::whichLayerThePredictionsAre() {
    const auto names = [](const char* tensor) {
        Event event = eventOf(EventKind::Overflow, 1, "Step 1 skipped.");
        event.tensor = tensor;
        event.scaleBefore = 1024;
        event.scaleAfter = 512;
        return EventModel::whyText(event).contains(
            QLatin1String(" The predictions are what the last layer gives to the loss."));
    };
    QVERIFY(names("gradient of the predictions"));
    QVERIFY(!names("gradient of 4.bias (output layer)"));
}

/// No step has changed the weights, so the learning rate cannot be the reason: neither the events
/// nor the headline nor the tip of the skipped steps may blame it.
void TestEventWords::allSayTheSameOfALayer() {
    const RunConfig config = defaultConfig();
    const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
    RunBatch batch = threeLost(INFINITY, "forward pass of Linear 2");
    batch.events.push_back(eventOf(EventKind::LossNotFinite, 1, "Step 1: the loss is infinite."));
    run->append(batch);
    EventModel events;
    events.setRun(run);
    RunModel lanes;
    lanes.setRun(run);
    QStringList texts{lanes.summary(), translated(lanes.lane(1).skipSentence())};
    for (const Event& event : batch.events)
        texts << EventModel::whyText(event, events.skipReason(event));
    for (const QString& text : texts) {
        QVERIFY2(text.contains(QLatin1String("If that layer computes in float16, run it and those "
                                             "that take its output in float32 or bfloat16.")),
                 qPrintable(text));
        QVERIFY2(!text.contains(QLatin1String("learning rate")), qPrintable(text));
    }
    QVERIFY2(lanes.summaries().at(1).endsWith(
                 QLatin1String(" The forward pass of Linear 2 was not finite.")),
             qPrintable(lanes.summaries().at(1)));
}

/// All name the setting with which the input fits, and none blames a layer.
void TestEventWords::allSayTheSameOfALargeInput() {
    const auto run = std::make_shared<Run>(cpuRunInfo(defaultConfig()), lanesOf(defaultConfig()));
    RunBatch batch = threeLost(NAN, "the input in fp16 without data.standardise_x");
    batch.events.push_back(eventOf(EventKind::LossNotFinite, 1, "Step 1: the loss is nan."));
    batch.events.back().tensor = batch.events.front().tensor;
    run->append(batch);
    EventModel events;
    events.setRun(run);
    RunModel lanes;
    lanes.setRun(run);
    QStringList texts{lanes.summary(), translated(lanes.lane(1).skipSentence())};
    for (const Event& event : batch.events)
        texts << EventModel::whyText(event, events.skipReason(event));
    const QString remedy = translated(Message(kSetToTrue, "data.standardise_x"));
    for (QString& text : texts) {
        text.replace(QChar::Nbsp, u' ');
        QVERIFY2(text.contains(remedy) && text.contains(QLatin1String("fp16")), qPrintable(text));
        QVERIFY2(!text.contains(QLatin1String("layer")), qPrintable(text));
    }
    QVERIFY2(lanes.summaries().at(1).endsWith(
                 QLatin1String(" Values of the input do not fit into fp16.")),
             qPrintable(lanes.summaries().at(1)));
}

/// A loss that came back was lost for another reason than the one that is lost now.
void TestEventWords::anEarlierLossHasNoLaterReason() {
    const RunConfig config = defaultConfig();
    for (const bool skips : {false, true}) {
        const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
        RunBatch batch;
        for (int64_t step = 1; step <= 6; ++step) {
            StepRow row = StepRow(step, 1).set(metric::Loss, 0.25f);
            if (step == 3 || step > 4) row.set(metric::Loss, NAN).setFlags(kLossNotFinite);
            if (skips && step > 4)
                row.set(metric::SkippedSoFar, step - 4).setFlags(kSkipped | kLossNotFinite);
            batch.rows.push_back(row);
        }
        const Event earlier = eventOf(EventKind::LossNotFinite, 3, "Step 3: the loss is nan."),
                    later = eventOf(EventKind::LossNotFinite, 5, "Step 5: the loss is nan.");
        batch.events = {earlier, later};
        run->append(std::move(batch));
        EventModel events;
        events.setRun(run);
        QCOMPARE(events.skipReason(earlier), QString());
        QVERIFY2(events.skipReason(later).contains(QLatin1String("step 5")),
                 qPrintable(events.skipReason(later)));
    }
}

void TestEventWords::aLostClassIsNoSample() {
    Event event = eventOf(EventKind::Damaged, 1, "Step 1: a.png: cut off.");
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Damaged sample"));
    const QString why = EventModel::whyText(event);
    QVERIFY(why.contains("could not be read") && why.endsWith("is skip."));
    event.text = {kLostClass, 1, Message::data("no sample of \"dog\" can be read")};
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Class without samples"));
    QVERIFY(EventModel::whyText(event).contains("What to do: mend the files"));
    event.text = {kNoTest, 1, Message::data("test.csv is missing")};
    QCOMPARE(EventModel::whyText(event), QString());
}

/// An overflow that no loss scale would have prevented does not look like the scaler's usual work.
void TestEventWords::noScaleHelps() {
    QLocale::setDefault(QLocale::c());
    Event event =
        eventOf(EventKind::Overflow, 3, "Step 3 skipped. No loss scale would have helped.");
    event.scaleBefore = 16;
    event.scaleAfter = 8;
    event.tensor = "forward pass of layer 0";
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Not finite at any scale"));
    QCOMPARE(EventModel::briefSentenceOf(event), QStringLiteral("Step 3: Not finite at any scale"));
    event.tensor = "the input of sample 13";
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Bad data, scale halved"));
    event.tensor = "gradient of 0.weight (layer 0)";
    event.text = Message::data("Step 3 skipped. The step would have fitted at 8 or below.");
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Overflow, scale halved"));
    // a step that was taken was not skipped
    event.text = {phrase("Events", "%1 %2"),
                  Message(kTakenStep, 3, "the loss became nan", "the scale falls to 8"),
                  Message(kNoScaleHelps)};
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Overflow, scale halved"));
}

void TestEventWords::briefSentencesHaveOneForm() {
    QLocale::setDefault(QLocale::c());
    Event event = eventOf(EventKind::Overflow, 34, "Step 34 skipped.");
    event.scaleBefore = 16;
    event.scaleAfter = 8;
    QCOMPARE(EventModel::briefSentenceOf(event), QStringLiteral("Step 34: Overflow, scale halved"));
    event = eventOf(EventKind::Edit, 1, "From step 1: Learning rate set to 0.001 (before: 0.01).");
    QCOMPARE(EventModel::briefSentenceOf(event), QStringLiteral("Step 1: Learning rate 0.001"));
    event = eventOf(EventKind::Edit, 2, "From step 2: the run ends after 60 steps (before: 9).");
    QCOMPARE(EventModel::briefSentenceOf(event), QStringLiteral("Step 2: Ends after 60 steps"));
}

/// A scale that was set again before its step, or undone, is not told: no step had it.
void TestEventWords::scalesOfOneStepAreOneRow() {
    FedEvents model;
    const QAbstractItemModelTester tester(&model);
    const auto scale = [](int64_t step, const char* text, int lane = 1) {
        Event event = eventOf(EventKind::Edit, step, text);
        event.lane = lane;
        event.tensor = kLiveScale;
        return event;
    };
    const auto told = [&model] {
        QStringList texts;
        for (int row = 0; row < model.rowCount(); ++row)
            texts << model.index(row, EventModel::TextColumn).data().toString();
        return texts.join(u' ');
    };
    model.append(std::vector{scale(22, "before"), scale(23, "first"), scale(23, "second")});
    QCOMPARE(told(), QStringLiteral("second before"));
    model.append(std::vector{scale(23, "other", 2), eventOf(EventKind::Edit, 23, "edit")});
    model.append(std::vector{scale(23, "third")});
    QCOMPARE(told().count(u' '), 3);
    QVERIFY2(told().contains(QStringLiteral("third")) && !told().contains(QStringLiteral("second")),
             qPrintable(told()));
    QCOMPARE(model.rowOf(1), model.rowOf(5)); // marks of the plots choose the row that is there
    QCOMPARE(model.eventAt(model.rowOf(1)).text.english(), std::string("third"));
    model.append(std::vector{scale(24, "next")});
    QCOMPARE(told().count(u' '), 4);
}

void TestEventWords::editToldByLetter() {
    Event event;
    event.lane = 1;
    event.text =
        Message::data("From step 9: Growth interval is 20 (before: 2000) in lane amp-fp16-2.");
    QCOMPARE(EventModel::sentenceOf(event),
             QStringLiteral("From step 9: Growth interval is 20 (before: 2000) in lane B."));
    event.lane = -1;
    event.text = Message::data("From step 9: Learning rate is 0.1.");
    QCOMPARE(EventModel::sentenceOf(event), QString::fromStdString(event.text.english()));
}

} // namespace tst_event_words

QTEST_GUILESS_MAIN(tst_event_words::TestEventWords)
#include "tst_event_words.moc"
