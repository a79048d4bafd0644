// How often a training makes a checkpoint: small and quick ones every few seconds, large or slow
// ones less often.
#include "ui/session/checkpoint_pace.h"

#include <QTest>

namespace tst_checkpoint_pace {

using namespace halfscope;

class TestCheckpointPace : public QObject {
    Q_OBJECT
private slots:
    void waitsAtTheStart();
    void waits_data();
    void waits();
};

void TestCheckpointPace::waitsAtTheStart() {
    const CheckpointPace pace(100);
    QVERIFY(!pace.due(104.9));
    QVERIFY(pace.due(105));
}

void TestCheckpointPace::waits_data() {
    QTest::addColumn<qulonglong>("bytes");
    QTest::addColumn<double>("took");
    QTest::addColumn<double>("seconds");
    QTest::newRow("none") << 0ull << 0.0 << 5.0;
    QTest::newRow("small") << (4ull << 20) << 0.001 << 5.0;
    QTest::newRow("large") << (256ull << 20) << 0.1 << 256.0;
    QTest::newRow("slow") << (4ull << 20) << 1.0 << 99.0;
}

void TestCheckpointPace::waits() {
    QFETCH(qulonglong, bytes);
    QFETCH(double, took);
    QFETCH(double, seconds);
    CheckpointPace pace(0);
    pace.made(size_t{bytes}, 100, 100 + took);
    QVERIFY(!pace.due(100 + took + seconds - 0.001));
    QVERIFY(pace.due(100 + took + seconds + 0.001));
}

} // namespace tst_checkpoint_pace

QTEST_GUILESS_MAIN(tst_checkpoint_pace::TestCheckpointPace)
#include "tst_checkpoint_pace.moc"
