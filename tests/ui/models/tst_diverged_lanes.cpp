// What is said where a lane in float32 diverges with the one that is explained.
#include "tests/support/shown_lanes.h"
#include "ui/models/event_model.h"
#include "ui/models/translated.h"

#include <QLocale>
#include <QTest>

#include <cmath>

namespace tst_diverged_lanes {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns steps after the first of which lane B skips all, and A has this loss.
RunBatch lostFromTheSecond(float lossOfA) {
    RunBatch batch;
    for (int64_t step = 1; step <= 30; ++step) {
        const bool late = step > 1;
        batch.rows.push_back(rowAt(step, 0, 1).set(metric::Loss, late ? lossOfA : 2.3f));
        batch.rows.push_back(rowAt(step, 1, 65536)
                                 .set(metric::Loss, late ? NAN : 2.3f)
                                 .set(metric::SkippedSoFar, step - 1)
                                 .setFlags(late ? kSkipped | kBackedOff | kLossNotFinite : 0));
        if (!late) continue;
        Event event{EventKind::Overflow, step, 1, 65536, 32768, {}, {}};
        event.tensor = "forward pass of layer 0";
        event.text = Message::data("Step skipped. No loss scale would have helped.");
        batch.events.push_back(event);
    }
    return batch;
}

} // namespace

class TestDivergedLanes : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    /// The headline, the list of events and the card say the same, and first that A diverged.
    void theLearningRateComesFirst() {
        RunModel model;
        const auto run = shownIn(model);
        run->append(lostFromTheSecond(940));
        model.refresh();
        const QStringList texts =
            model.summaries().replaceInStrings(QString(QChar::Nbsp), QStringLiteral(" "));
        QVERIFY2(
            texts[0].contains(
                " B skipped more steps than is normal. A diverged as well, so the precision is "
                "not the cause. Lower the learning rate first, or clip the gradients. The "
                "forward pass of layer 0 reached inf or nan in step 2, before any other."),
            qPrintable(texts[0]));
        QVERIFY2(texts[1].endsWith(" A diverged as well: lower the learning rate."),
                 qPrintable(texts[1]));
        const QString reason = QStringLiteral("A diverged as well, so the precision is not");
        QVERIFY(translated(model.lane(1).skipSentence()).contains(reason));
        EventModel events;
        events.setRun(run);
        const Event& newest = events.eventAt(0);
        const QString why = EventModel::whyText(newest, events.skipReason(newest));
        QVERIFY2(why.contains(reason) && !why.contains("bfloat16"), qPrintable(why));
    }

    /// Where A trains well, the type of the layer is the reason.
    void theTypeIsTheReasonOtherwise() {
        RunModel model;
        shownIn(model)->append(lostFromTheSecond(2));
        model.refresh();
        const QString text = model.summary();
        QVERIFY2(text.contains("bfloat16") && !text.contains("diverged"), qPrintable(text));
    }
};

} // namespace tst_diverged_lanes

QTEST_GUILESS_MAIN(tst_diverged_lanes::TestDivergedLanes)
#include "tst_diverged_lanes.moc"
