// The models of runs and events: they keep Qt's rules at every change (QAbstractItemModelTester)
// and hold the right words and numbers.
#include "engine/settings/fields.h"
#include "engine/train/overflow.h"
#include "tests/fake_cuda/fake_run.h"
#include "tests/support/fed_run.h"
#include "tests/support/plot_parts.h"
#include "ui/models/event_model.h"
#include "ui/models/run_model.h"
#include "ui/models/translated.h"

#include <QAbstractItemModelTester>
#include <QLocale>
#include <QScopeGuard>
#include <QTest>
#include <cmath>
#include <limits>

namespace tst_models {

using namespace halfscope;

namespace {

constexpr auto kFatal = QAbstractItemModelTester::FailureReportingMode::Fatal;

StepRecord record(int lane, int64_t step, double deviceSeconds, double wallSeconds) {
    StepRecord made;
    made.lane = lane;
    made.step = step;
    made.loss = 0.25f;
    made.scale = 65536;
    made.growthTracker = static_cast<int32_t>(step);
    made.skippedSoFar = step / 10;
    made.deviceSeconds = deviceSeconds;
    made.wallSeconds = wallSeconds;
    return made;
}

} // namespace

class TestModels : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void scaleWords_data();
    void scaleWords();
    void numberWords();
    void runKeepsTheNewest();
    void runScaleOfTheNextStep();
    void runSpeedsOfTheLastSecond();
    void oneMomentIsNotTheSpeed();
    void oneStepHeldUpIsNotTheSpeed();
    void sumsUp();
    void whyAnOverflow();
    void underflowInWords();
    void whyInTheFirstStep();
    void eventsNewestFirst();
    void eventsInOrderOfSteps();
    void eventsOfAnotherVersion();
    void overflowAndBackoffAreOneEvent();
    void editsSayWhatChanged();
    void numbersAreGrouped_data();
    void numbersAreGrouped();
    void settingsHaveTheirLabels();
    void movingTheStopIsNoNewsOfALane();
    void everyEventHasItsRow();
};

void TestModels::scaleWords_data() {
    QTest::addColumn<double>("scale");
    QTest::addColumn<QString>("text");
    QTest::newRow("usual") << 65536.0 << "65536 = 2^16";
    QTest::newRow("one") << 1.0 << "1 = 2^0";
    QTest::newRow("large") << 16777216.0 << "16777216 = 2^24";
    QTest::newRow("larger") << 33554432.0 << "2^25";
    QTest::newRow("half") << 0.5 << "2^-1";
    QTest::newRow("no power") << 1000.0 << "1000";
    QTest::newRow("no power, many digits") << 98304.0 << "98304";
    QTest::newRow("no power, huge") << 1e30 << "1e+30";
    QTest::newRow("infinite") << double(std::numeric_limits<double>::infinity()) << "infinite";
}

void TestModels::scaleWords() {
    QFETCH(double, scale);
    QFETCH(QString, text);
    QCOMPARE(scaleText(scale), text);
}

void TestModels::numberWords() {
    QCOMPARE(shownNumber(0.123456), QStringLiteral("0.1235"));
    QCOMPARE(shownNumber(std::nan("")), QStringLiteral("not a number"));
    QCOMPARE(shownNumber(-std::numeric_limits<double>::infinity()), QStringLiteral("-infinite"));
}

void TestModels::runKeepsTheNewest() {
    FedModel model;
    const QAbstractItemModelTester tester(&model, kFatal);
    model.start({"fp32", "amp-fp16"});
    QCOMPARE(model.rowCount(), 2);
    model.setGrowthInterval(1, 2000);
    const std::vector<StepRecord> rows{record(0, 1, 1e-3, 0.1), record(1, 1, 1e-3, 0.1),
                                       record(0, 2, 1e-3, 0.2)};
    std::vector<Event> events{eventOf(EventKind::Overflow, 1, 1, "Step 1 was skipped.")};
    events[0].scaleBefore = events[0].scaleAfter = 65536; // forgiven
    model.append(rows, events);
    QCOMPARE(model.step(), int64_t(1)); // lane B has not finished step 2
    QCOMPARE(model.lane(0).last.step, int64_t(2));
    QCOMPARE(model.index(1, RunModel::LaneColumn).data().toString(), QStringLiteral("B amp-fp16"));
    QCOMPARE(model.index(1, RunModel::ScaleColumn).data().toString(),
             QStringLiteral("65536 = 2^16"));
    QCOMPARE(model.index(1, RunModel::TrackerColumn).data().toString(),
             QStringLiteral("1 of 2000"));
    QCOMPARE(model.index(0, RunModel::TrackerColumn).data().toString(), QString());
    QCOMPARE(model.lane(1).lastEvent, QStringLiteral("Step 1 was skipped."));
    QCOMPARE(model.lane(0).lastEvent, QString());
    // the backoff of the same step is the same incident; that of a later one is news
    model.append({}, std::vector{eventOf(EventKind::Backoff, 1, 1, "The scale fell.")});
    QCOMPARE(model.lane(1).lastEvent, QStringLiteral("Step 1 was skipped."));
    model.append({}, std::vector{eventOf(EventKind::Backoff, 2, 1, "The scale fell.")});
    QCOMPARE(model.lane(1).lastEvent, QStringLiteral("The scale fell."));
    model.start({"fp32"});
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.step(), int64_t(0));
}

/// A step's row has the scale that the step used; the next step's scale follows from its event, in
/// either order.
void TestModels::runScaleOfTheNextStep() {
    for (const bool eventFirst : {true, false}) {
        FedModel model;
        model.start({"fp32", "amp-fp16"});
        Event overflow = eventOf(EventKind::Overflow, 5, 1, "Step 5 skipped");
        overflow.scaleBefore = 65536;
        overflow.scaleAfter = 32768;
        const std::vector rows{record(0, 5, 1e-3, 0.1), record(1, 5, 1e-3, 0.1)};
        if (eventFirst) model.append({}, std::vector{overflow});
        QCOMPARE(model.lane(1).scale(), 1.0f);
        model.append(rows, {});
        if (!eventFirst) model.append({}, std::vector{overflow});
        QCOMPARE(model.lane(1).scale(), 32768.0f);
        QCOMPARE(model.lane(0).scale(), 65536.0f);
        QCOMPARE(model.index(1, RunModel::ScaleColumn).data().toString(),
                 QStringLiteral("32768 = 2^15"));
        StepRecord next = record(1, 6, 1e-3, 0.2);
        next.scale = 1024; // set by hand
        model.append(std::vector{next}, {});
        QCOMPARE(model.lane(1).scale(), 1024.0f);
    }
}

void TestModels::runSpeedsOfTheLastSecond() {
    FedModel model;
    model.start({"fp32", "amp-fp16"});
    // 100 slow steps over 10 s, then 1000 fast ones over 1.1 s: only the fast ones count
    for (int i = 1; i <= 100; ++i)
        model.append(std::vector{record(0, i, 0.05, 0.1 * i), record(1, i, 0.05, 0.1 * i)}, {});
    for (int i = 1; i <= 1000; ++i) {
        const double wall = 10.0 + 1.1e-3 * i;
        model.append(std::vector{record(0, 100 + i, 1e-3, wall), record(1, 100 + i, 5e-4, wall)},
                     {});
    }
    QVERIFY2(std::abs(model.lane(0).stepsPerSecond - 1000) < 1,
             qPrintable(QString::number(model.lane(0).stepsPerSecond)));
    QVERIFY2(std::abs(model.speedRatio() - 2) < 1e-6,
             qPrintable(QString::number(model.speedRatio())));
}

/// Lanes that are equally fast differ for a moment, when the machine has other work to do.
void TestModels::oneMomentIsNotTheSpeed() {
    FedModel model;
    model.start({"fp32", "amp-fp16"});
    std::vector<StepRecord> rows;
    for (int i = 1; i <= 100; ++i) {
        const bool moment = i > 88; // the last second
        rows.push_back(record(0, i, moment ? 0.055 : 0.04, 0.08 * i));
        rows.push_back(record(1, i, moment ? 0.025 : 0.04, 0.08 * i));
    }
    model.append(rows, {});
    QVERIFY2(std::abs(model.speedRatio() - 1) < 1e-6,
             qPrintable(QString::number(model.speedRatio())));
}

void TestModels::oneStepHeldUpIsNotTheSpeed() {
    FedModel model;
    model.start({"fp32", "amp-fp16"});
    std::vector<StepRecord> rows;
    for (int i = 1; i <= 300; ++i) {
        const double heldUp = i % 50 == 0 ? 0.02 : 0; // as long as all others together
        rows.push_back(record(0, i, 1e-5 + heldUp, 1e-3 * i));
        rows.push_back(record(1, i, 2e-5, 1e-3 * i));
    }
    model.append(rows, {});
    QVERIFY(std::abs(model.lane(0).stepsPerSecond - 1e5) < 1);
    QVERIFY(std::abs(model.speedRatio() - 0.5) < 1e-6);
    // with only a few steps, too
    model.start({"fp32"});
    model.append(std::vector{record(0, 1, 1, 1), record(0, 2, 0.25, 1.2), record(0, 3, 0.25, 1.4)},
                 {});
    QVERIFY(std::abs(model.lane(0).stepsPerSecond - 4) < 1e-9);
}

void TestModels::sumsUp() {
    FedModel model;
    model.start({"fp32", "amp-fp16"});
    StepRecord a = record(0, 300, 1, 1), b = record(1, 300, 1, 1);
    a.loss = 0.03125f;
    a.skippedSoFar = 0;
    b.loss = 0.5f;
    b.skippedSoFar = 24;
    model.append(std::vector{a, b}, {});
    // no line ends between a name and its value
    QCOMPARE(model.summary(), QStringLiteral("In step 300 the loss is: A fp32\u00a00.03125, "
                                             "B amp-fp16\u00a00.5 (24\u00a0skipped)."));
    b.step = 301;
    b.skippedSoFar = 301;
    b.loss = std::nanf("");
    model.append(std::vector{b}, {});
    QCOMPARE(
        model.summary(),
        QStringLiteral("In step 300 the loss is: A fp32\u00a00.03125, "
                       "B amp-fp16\u00a0not\u00a0a\u00a0number (301\u00a0skipped). Every step of B "
                       "was skipped, so its weights never changed."));
    // three lanes: one searched for its scale, one never found it, one has none
    StepRecord c = record(2, 300, 1, 1);
    c.skippedSoFar = 0;
    b.step = 300;
    a.flags = kSkipped | kBackedOff;
    a.skippedSoFar = 1;
    b.skippedSoFar = 0;
    const auto summaryOf = [&](uint32_t flagsOfB, bool moreLanes) {
        model.start({"fp32", "amp-fp16", "amp-bf16"});
        for (const int lane : {0, 1})
            model.setGrowthInterval(lane, 2000);
        b.flags = flagsOfB;
        b.skippedSoFar = flagsOfB ? 299 : 0;
        model.append(moreLanes ? std::vector{a, b, c} : std::vector{b, c}, {});
        return model.summary();
    };
    QVERIFY(summaryOf(0, true).endsWith(QStringLiteral(" A's skip is normal.")));
    a.skippedSoFar = 2;
    QVERIFY(summaryOf(0, true).endsWith(QStringLiteral(" A's skips are normal.")));
    QVERIFY(summaryOf(kSkipped | kLossNotFinite, true)
                .contains(QStringLiteral(" B skipped more steps than is normal. The loss is not")));
    QVERIFY(!summaryOf(0, false).contains(QStringLiteral("normal")));
    // names would make the sentence too long
    model.start({"a", "b", "c", "d"});
    model.append(
        std::vector{record(0, 1, 1, 1), record(1, 1, 1, 1), record(2, 1, 1, 1), record(3, 1, 1, 1)},
        {});
    QVERIFY(!model.summary().contains(QStringLiteral("A a")));
    QVERIFY(model.summary().startsWith(QStringLiteral("In step 1 the loss is: A\u00a0")));
}

/// A scale that stays, as a static one does, is not explained as one that falls.
void TestModels::whyAnOverflow() {
    Event event;
    event.kind = EventKind::Overflow;
    event.scaleBefore = 1024;
    event.scaleAfter = 512;
    QVERIFY(EventModel::whyText(event).contains(
        QStringLiteral("\nWhat to do: nothing, if it happens now and then.")));
    QVERIFY(EventModel::whyText(event).contains(QStringLiteral("a smaller first scale")));
    event.scaleAfter = 1024;
    QVERIFY(!EventModel::whyText(event).contains(QStringLiteral("a smaller first scale")));
    QVERIFY(EventModel::whyText(event).contains(
        QStringLiteral("\nWhat to do: set a smaller loss scale.")));
    QVERIFY(EventModel::whyText(event).contains(QStringLiteral("65504")));
    // at 1 and below, another scale is no way out
    for (const float scale : {1.0f, 0.125f}) {
        event.scaleBefore = scale;
        for (const float after : {scale, scale / 2}) {
            event.scaleAfter = after;
            const QString why = EventModel::whyText(event);
            QVERIFY2(why.contains(QStringLiteral("the gradient overflows even unscaled")),
                     qPrintable(why));
            QVERIFY2(!why.contains(QStringLiteral("nothing, if")), qPrintable(why));
        }
    }
    for (const char* tensor : {"forward pass of layer 1", "the loss"}) {
        event.tensor = tensor;
        QVERIFY2(EventModel::whyText(event).contains(QStringLiteral("no other loss scale")),
                 tensor);
    }
    for (const char* tensor : {"gradient of layers.1.weight", "the scaled loss", ""}) {
        event.tensor = tensor;
        QVERIFY2(!EventModel::whyText(event).contains(QStringLiteral("no other loss scale")),
                 tensor);
    }
}

/// In the first step, the learning rate has had no effect yet.
void TestModels::whyInTheFirstStep() {
    Event event;
    event.tensor = "the loss";
    for (const EventKind kind : {EventKind::Overflow, EventKind::LossNotFinite})
        for (const int64_t step : {1, 2}) {
            event.kind = kind;
            event.step = step;
            const QString why = EventModel::whyText(event);
            // steps before an overflow may all have been skipped
            const bool lost = kind == EventKind::LossNotFinite;
            QVERIFY2(why.contains(QStringLiteral("learning rate")) == (lost && step > 1),
                     qPrintable(why));
            QVERIFY2(why.contains(QStringLiteral("in the data")) == (lost && step == 1),
                     qPrintable(why));
            QVERIFY2(why.contains(QStringLiteral("a wider type")), qPrintable(why));
        }
    // whatever the step, where a sample holds it
    event.tensor = "the input of sample 13";
    for (const EventKind kind : {EventKind::Overflow, EventKind::LossNotFinite}) {
        event.kind = kind;
        const QString why = EventModel::whyText(event);
        QVERIFY2(why.startsWith(QStringLiteral("Why: the inf or nan is")), qPrintable(why));
    }
}

/// Underflow is graver than an overflow, which the scaler answers.
void TestModels::underflowInWords() {
    EventModel events;
    RunInfo info;
    info.config = info.recorded = defaultConfig();
    const auto run = std::make_shared<Run>(info, lanesOf(info.config));
    RunBatch batch;
    const Event underflow = eventOf(EventKind::Underflow, 9, 1, "Step 9: lost.");
    batch.events = {eventOf(EventKind::Overflow, 7, 1), eventOf(EventKind::Overflow, 8, 1),
                    eventOf(EventKind::Edit, 8, 1)};
    run->append(batch);
    events.setRun(run);
    QVERIFY(events.gravest() && events.gravest()->step == 8); // the newest one
    batch.events = {underflow, eventOf(EventKind::Backoff, 12, 1)};
    run->append(batch);
    events.setRun(run);
    QVERIFY(events.gravest() && events.gravest()->step == 9);
    QCOMPARE(EventModel::whatText(underflow), QStringLiteral("All gradients zero"));
    QVERIFY(EventModel::whyText(underflow).contains(QStringLiteral("set a larger loss scale")));
    RunModel lanes;
    lanes.setRun(run);
    QCOMPARE(lanes.lane(0).lastEvent, QString());
    const QString sentence = QStringLiteral("At step 9 all gradients of B rounded to zero: its "
                                            "loss scale was too small.");
    QVERIFY2(lanes.summary().endsWith(u' ' + sentence), qPrintable(lanes.summary()));
    QCOMPARE(lanes.summaries().last(), sentence);
    info.config.lanes[1].scaler.rules.mode = ScalerMode::Off;
    info.recorded = info.config;
    const auto unscaled = std::make_shared<Run>(info, lanesOf(info.config));
    unscaled->append(batch);
    lanes.setRun(unscaled);
    QVERIFY2(lanes.summary().endsWith(QLatin1String("its loss. Switch its loss scaling on.")),
             qPrintable(lanes.summary()));
}

void TestModels::eventsNewestFirst() {
    FedEvents model;
    const QAbstractItemModelTester tester(&model, kFatal);
    model.append(std::vector{eventOf(EventKind::Overflow, 7, 1, "first"),
                             eventOf(EventKind::Growth, 8, 1, "second")});
    model.append(std::vector{eventOf(EventKind::Edit, 9, -1, "third")});
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(model.index(0, EventModel::TextColumn).data().toString(), QStringLiteral("third"));
    QCOMPARE(model.index(0, EventModel::LaneColumn).data().toString(), QStringLiteral("all"));
    QCOMPARE(model.index(2, EventModel::TextColumn).data().toString(), QStringLiteral("first"));
    QCOMPARE(model.index(2, EventModel::LaneColumn).data().toString(), QStringLiteral("B"));
    QCOMPARE(model.index(2, EventModel::KindColumn).data().toString(),
             QStringLiteral("Overflow, scale stays"));
    QCOMPARE(model.index(2, 0).data(EventModel::StepRole).toLongLong(), 7);
    model.append({});
    QCOMPARE(model.total(), int64_t(3));
    model.clear();
    QCOMPARE(model.rowCount(), 0);
    QCOMPARE(model.total(), int64_t(0));
}

/// An edit in the middle of a step is told before events of that step, and events of one step may
/// come in any order of lanes.
void TestModels::eventsInOrderOfSteps() {
    FedEvents model;
    const QAbstractItemModelTester tester(&model, kFatal);
    const auto told = [&model] {
        QStringList words;
        for (int row = model.rowCount() - 1; row >= 0; --row)
            words << model.index(row, EventModel::TextColumn).data().toString();
        return words.join(u' ');
    };
    const auto event = [](EventKind kind, int64_t step, int lane, const char* text) {
        return eventOf(kind, step, lane, text);
    };
    model.append(std::vector{event(EventKind::Edit, 3, -1, "edit")});
    model.append(std::vector{event(EventKind::Overflow, 2, 1, "b"),
                             event(EventKind::Overflow, 2, 0, "a"),
                             event(EventKind::Growth, 3, 0, "c")});
    QCOMPARE(told(), QStringLiteral("a b edit c"));
    model.append(std::vector{event(EventKind::Edit, 5, 1, "late")});
    model.append(std::vector{event(EventKind::Growth, 4, 1, "d")});
    model.append(std::vector{event(EventKind::Growth, 5, 1, "e")});
    QCOMPARE(told(), QStringLiteral("a b edit c d late e"));
    for (int row = 0; row < model.rowCount(); ++row) // marks of the plots choose a row this way
        QCOMPARE(model.rowOf(model.indexAt(row)), row);
    QCOMPARE(model.indexAt(0), size_t{6});
    QCOMPARE(model.rowOf(99), -1);
}

/// They are shown under the name that the file has.
void TestModels::eventsOfAnotherVersion() {
    FedEvents model;
    Event other = eventOf(EventKind::Other, 4, 1, "The loss stays.");
    other.otherKind = "plateau";
    Event silent = other;
    silent.text = {};
    silent.step = 5;
    model.append(std::vector{other, silent});
    const auto text = [&](int row, int column) {
        return model.index(row, column).data().toString();
    };
    QCOMPARE(text(1, EventModel::KindColumn), QStringLiteral("plateau"));
    QCOMPARE(text(1, EventModel::TextColumn), QStringLiteral("The loss stays."));
    QCOMPARE(text(0, EventModel::TextColumn), QStringLiteral("plateau"));
    QVERIFY(EventModel::whyText(other).startsWith(QLatin1String("Another version")));
    QVERIFY(!model.gravest());
}

void TestModels::overflowAndBackoffAreOneEvent() {
    const auto change = [](EventKind kind, int64_t step, int lane, float before, float after) {
        Event event = eventOf(kind, step, lane, "x");
        event.scaleBefore = before;
        event.scaleAfter = after;
        return event;
    };
    FedEvents model;
    model.append(std::vector{
        change(EventKind::Overflow, 1, 0, 1024, 512), change(EventKind::Backoff, 1, 0, 1024, 512),
        change(EventKind::Overflow, 1, 1, 8, 2), change(EventKind::Backoff, 1, 1, 8, 2),
        change(EventKind::Growth, 2, 1, 2, 4), // and one without its overflow
        change(EventKind::Backoff, 3, 1, 4, 2)});
    QCOMPARE(model.indexAt(0), size_t{5});
    QCOMPARE(model.rowOf(5), 0);
    QCOMPARE(model.rowOf(1), -1); // an echo has no row
    FedEvents other;              // of another lane: no echo
    other.append(std::vector{change(EventKind::Overflow, 1, 0, 8, 8),
                             change(EventKind::Backoff, 1, 1, 8, 4)});
    QCOMPARE(other.rowCount(), 2);
    QStringList words;
    for (int row = model.rowCount() - 1; row >= 0; --row)
        words << model.index(row, EventModel::KindColumn).data().toString();
    QCOMPARE(words, QStringList({QStringLiteral("Overflow, scale halved"),
                                 QStringLiteral("Overflow, scale × 0.25"),
                                 QStringLiteral("Scale doubled"), QStringLiteral("Scale halved")}));
}

void TestModels::editsSayWhatChanged() {
    const std::pair<const char*, const char*> rows[] = {
        {"From step 301: the run ends after 600 steps (before: 300 steps).",
         "Ends after 600 steps"},
        {"From step 7: Growth interval set to 50 steps (before: 2000) in lane amp-fp16.",
         "Growth interval: 50 steps"},
        {"From step 7: Loss scale set to 1024 in lane amp-fp16.", "Loss scale: 1024"},
        {"From step 7: Check after unscaling switched on in lane amp-fp16.",
         "Check after unscaling: on"},
        {"Anything else", "Anything else"},
        {"", "Edit"}};
    for (const auto& [text, words] : rows)
        QCOMPARE(EventModel::whatText(eventOf(EventKind::Edit, 301, -1, text)),
                 QString::fromLatin1(words));
    // in the words that the engine really uses
    const auto plain = qScopeGuard([] { QLocale::setDefault(QLocale::c()); });
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); // has separators
    Experiment experiment(tinyConfig(10));
    std::vector<Event> events;
    const auto edited = [&](int lane, const char* key, const FieldValue& value) {
        experiment.setLive(lane, key, value, events);
        return QStringList{EventModel::whatText(events.back()),
                           EventModel::sentenceOf(events.back())};
    };
    QCOMPARE(edited(1, "scaler.growth_interval", int64_t{5000}),
             QStringList({QStringLiteral("Growth interval: 5,000 steps"),
                          QStringLiteral("From step 1: Growth interval set to 5,000 steps (before: "
                                         "2,000) in lane B.")}));
    QCOMPARE(edited(-1, "run.steps", int64_t{4000}),
             QStringList({QStringLiteral("Ends after 4,000 steps"),
                          QStringLiteral("From step 1: the run ends after 4,000 steps (before: 10 "
                                         "steps).")}));
    QCOMPARE(edited(1, "scaler.check_unscaled", true),
             QStringList({QStringLiteral("Check after unscaling: on"),
                          QStringLiteral("From step 1: Check after unscaling switched on in lane "
                                         "B.")}));
    QCOMPARE(edited(1, kLiveScale, int64_t{4096}).front(), QStringLiteral("Loss scale: 2^12"));
    QCOMPARE(edited(-1, "optimizer.lr", 0.25).front(), QStringLiteral("Learning rate: 0.25"));
}

void TestModels::numbersAreGrouped_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("grouped");
    const auto add = [](const char* text, const char* grouped) {
        QTest::newRow(text) << QString::fromLatin1(text) << QString::fromLatin1(grouped);
    };
    add("Step 2005 skipped", "Step 2,005 skipped");
    add("from 65536 (2^16) to 1024.", "from 65,536 (2^16) to 1,024.");
    add("after 600 steps", "after 600 steps");
    add("1234567, and 0.12345", "1,234,567, and 0.12345");
    for (const char* name : {"layers.2005.weight", "a2005", "/data/2005/x", "2005.png", "2^1024",
                             "2026-1123", "2005/x", "1e-2005", "99999999999999999999"})
        add(name, name);
}

/// Numbers are grouped whether a sentence comes with its numbers apart, or whole from a saved run.
void TestModels::numbersAreGrouped() {
    QFETCH(QString, text);
    QFETCH(QString, grouped);
    const auto plain = qScopeGuard([] { QLocale::setDefault(QLocale::c()); });
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    QCOMPARE(groupedNumbers(text), grouped);
    StepRecord record;
    record.step = 2005;
    record.scale = 65536;
    record.flags = kSkipped;
    std::vector<Event> events;
    describeStep(record, 32768, {{Message::data("4.weight"), true}, {}}, {}, events);
    const QString sentence = EventModel::sentenceOf(events.front());
    QVERIFY2(sentence.startsWith(QStringLiteral("Step 2,005 skipped: ")) &&
                 sentence.endsWith(QStringLiteral("the scale falls to 32,768 (2^15).")),
             qPrintable(sentence));
    events.front().text = Message::data(events.front().text.english());
    QCOMPARE(EventModel::sentenceOf(events.front()), sentence);
    QVERIFY(events.front().text.english().starts_with("Step 2005 ")); // files keep it plain
    const Message read(phrase("Files", "%1: cannot be read: %2"), "2005", 2005);
    QCOMPARE(translated(read), QStringLiteral("2005: cannot be read: 2,005")); // a file's name
    QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
    const Phrase pair = phrase("Engine", "%1, %2");
    QCOMPARE(translated(Message(pair, 65536, 0.5)), QStringLiteral("65.536, 0,5"));
    QCOMPARE(translated(Message(pair, -2005, 1e-8f)), QStringLiteral("-2.005, 1e-08"));
}

/// Errors name settings as the window does, unless they are about a file that has their keys. Data
/// in quotation marks and paths are left alone.
void TestModels::settingsHaveTheirLabels() {
    RunConfig config = defaultConfig();
    config.lanes[1].scaler.initScale = 0x1p60;
    config.lanes[1].scaler.rules.ceiling = 0x1p20;
    Message refused;
    try {
        checkConfig(config);
    } catch (const InputError& error) {
        refused = error.message();
    }
    const QString ofLane = labelInWindow(*findField("scaler.init_scale")) + " of lane B: ";
    QVERIFY2(translated(refused).startsWith(ofLane), qPrintable(translated(refused)));
    QVERIFY(translated(refused).contains(labelInWindow(*findField("scaler.ceiling"))));
    const QString drop = labelInWindow(*findField("data.drop"));
    const Message column(phrase("Data", "data.drop: %1 has no column %2%3"),
                         "/tmp/data.path/data.target.csv", "\"task.loss\"", "");
    QCOMPARE(translated(Message(phrase("Data", "Set data.drop."))), "Set " + drop + ".");
    QCOMPARE(translated(column),
             drop + ": /tmp/data.path/data.target.csv has no column \"task.loss\"");
    try {
        parseConfig(R"({"version": 1, "task": {"batch": 0}})", "own.json");
        QFAIL("a batch of no samples");
    } catch (const InputError& error) {
        QCOMPARE(translated(error), QString::fromStdString(error.what()));
        QVERIFY2(translated(error).contains("task.batch"), error.what());
    }
}

void TestModels::movingTheStopIsNoNewsOfALane() {
    FedModel model;
    model.start({"fp32", "amp-fp16"});
    Event skipped = eventOf(EventKind::Overflow, 1, 1, "Step 1 skipped");
    Event stop = eventOf(EventKind::Edit, 9, -1, "the run ends after 600 steps");
    stop.tensor = "run.steps";
    model.append({}, std::vector{skipped, stop});
    QCOMPARE(model.lane(1).lastEvent, QStringLiteral("Step 1 skipped"));
    Event rate = eventOf(EventKind::Edit, 10, -1, "Learning rate is 1");
    rate.tensor = "optimizer.lr";
    model.append({}, std::vector{rate});
    QCOMPARE(model.lane(1).lastEvent, QStringLiteral("Learning rate is 1"));
    // told in the middle of step 9, which ends after it
    model.append({}, std::vector{eventOf(EventKind::Overflow, 9, 1, "Step 9 skipped")});
    QCOMPARE(model.lane(1).lastEvent, QStringLiteral("Learning rate is 1"));
}

/// Nothing is cut: the events stay in the run, and a row costs four bytes.
void TestModels::everyEventHasItsRow() {
    constexpr int kMany = 25000;
    FedEvents model;
    const QAbstractItemModelTester tester(&model, kFatal);
    for (int batch = 0; batch < 5; ++batch) {
        std::vector<Event> events;
        for (int i = 0; i < kMany / 5; ++i)
            events.push_back(eventOf(EventKind::Overflow, batch * kMany / 5 + i, 0, "x"));
        model.append(events);
    }
    QCOMPARE(model.rowCount(), kMany);
    QCOMPARE(model.eventAt(0).step, int64_t{kMany - 1});
    QCOMPARE(model.eventAt(kMany - 1).step, int64_t{0});
    QCOMPARE(model.rowOf(7), kMany - 8);
}

} // namespace tst_models

QTEST_GUILESS_MAIN(tst_models::TestModels)
#include "tst_models.moc"
