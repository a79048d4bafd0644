// What the list of events says about single events.
#include "ui/models/event_model.h"

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

} // namespace

class TestEventWords : public QObject {
    Q_OBJECT

private slots:
    void scalesThatCannotComeBack();
    void whyAnEpsilonOfZero();
    void aLostClassIsNoSample();
};

/// Neither halving nor doubling changes these scales: "stays" would sound as if all were well.
void TestEventWords::scalesThatCannotComeBack() {
    Event event = eventOf(EventKind::Overflow, 293, "Step 293 skipped.");
    event.scaleBefore = event.scaleAfter = 0;
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Overflow, scale stays 0"));
    event.scaleBefore = event.scaleAfter = INFINITY;
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Overflow, scale stays inf"));
    event.scaleBefore = event.scaleAfter = 8;
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Overflow, scale stays"));
}

/// The sentence of such an event has the reason; a loss scale has nothing to do with it.
void TestEventWords::whyAnEpsilonOfZero() {
    Event event = eventOf(EventKind::LossNotFinite, 2, "Step 2: the loss itself is nan.");
    event.tensor = "the zero epsilon of Adam";
    QCOMPARE(EventModel::whyText(event), QString());
    event.kind = EventKind::Overflow;
    QCOMPARE(EventModel::whyText(event),
             QStringLiteral("What to do: set Epsilon to 1e-4, or use AMP."));
}

void TestEventWords::aLostClassIsNoSample() {
    Event event = eventOf(EventKind::Damaged, 1, "Step 1: a.png: cut off.");
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Damaged sample"));
    QVERIFY(EventModel::whyText(event).contains("The next sample took its place"));
    event.text = {kLostClass, 1, Message::data("no sample of \"dog\" can be read")};
    QCOMPARE(EventModel::whatText(event), QStringLiteral("Class without samples"));
    QVERIFY(EventModel::whyText(event).contains("What to do: mend the files"));
}

} // namespace tst_event_words

QTEST_GUILESS_MAIN(tst_event_words::TestEventWords)
#include "tst_event_words.moc"
