// When the steps of a watched training come.
#include "ui/session/step_pace.h"

#include <QTest>

namespace tst_step_pace {

using namespace halfscope;

class TestStepPace : public QObject {
    Q_OBJECT
private slots:
    void keepsTheBeat();
    void slowStepsFollowEachOther();
    void aNewPaceActsAtOnce();
    void tellsTheWaits();
    void aRestIsNoWait();
};

/// The beat is kept even when the thread wakes a little late each time.
void TestStepPace::keepsTheBeat() {
    StepPace pace;
    QCOMPARE(pace.wait(10, 100), 0.0);
    double now = 100;
    int steps = 0;
    while (now < 110) {
        now += pace.wait(10, now) + 0.003;
        pace.begins(10, now);
        steps += now < 110 ? 1 : 0;
        now += 0.02; // the step itself
    }
    QCOMPARE(steps, 100);
}

/// Time that the device could not keep up with is not made up for later.
void TestStepPace::slowStepsFollowEachOther() {
    StepPace pace;
    double now = 5;
    for (int i = 0; i < 10; ++i) {
        QCOMPARE(pace.wait(10, now), 0.0);
        pace.begins(10, now);
        now += 0.5;
    }
    pace.begins(10, now);
    QVERIFY(qAbs(pace.wait(10, now + 0.01) - 0.09) < 1e-9);
}

void TestStepPace::aNewPaceActsAtOnce() {
    StepPace pace;
    pace.begins(1, 50);
    QVERIFY(qAbs(pace.wait(1, 50.25) - 0.75) < 1e-9);
    QCOMPARE(pace.wait(100, 50.25), 0.0);
    QCOMPARE(pace.wait(0, 50.25), 0.0);
    pace.begins(0, 60);
    QVERIFY(qAbs(pace.wait(2, 60.1) - 0.4) < 1e-9);
    QVERIFY(pace.wait(2, 10) <= 0.5); // whatever a clock says
}

/// An hour at a step a second is an hour of training, although each step takes a millisecond.
void TestStepPace::tellsTheWaits() {
    StepPace pace;
    constexpr int kSteps = 3600;
    double now = 100, waited = 0;
    for (int i = 0; i < kSteps; ++i) {
        now += pace.wait(1, now);
        waited += pace.begins(1, now);
        pace.ends(now += 0.001);
    }
    QVERIFY2(qAbs(waited - (kSteps - 1) * 0.999) < 1e-6, qPrintable(QString::number(waited)));
    // a picture that takes longer than the wait is no time of the training
    QVERIFY(qAbs(pace.begins(1, now + 7) - 0.999) < 1e-9);
    // nor is one after a step that was too slow to wait
    pace.ends(now += 9);
    QCOMPARE(pace.begins(1, now += 0.5), 0.0);
    // without a pace there are no waits
    pace.ends(now += 8);
    QCOMPARE(pace.begins(0, now + 0.5), 0.0);
}

void TestStepPace::aRestIsNoWait() {
    StepPace pace;
    QCOMPARE(pace.begins(2, 100), 0.0);
    pace.ends(100.1);
    pace.rests();
    QCOMPARE(pace.begins(2, 100.4), 0.0);
    pace.ends(100.5);
    QVERIFY(qAbs(pace.begins(2, 100.9) - 0.4) < 1e-9);
    QCOMPARE(pace.begins(2, 101.4), 0.0); // the step before was interrupted
}

} // namespace tst_step_pace

QTEST_GUILESS_MAIN(tst_step_pace::TestStepPace)
#include "tst_step_pace.moc"
