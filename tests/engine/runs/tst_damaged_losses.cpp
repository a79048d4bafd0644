// The losses of a session's run are damaged: its checkpoint and its other curves come back.
#include "engine/io/database.h"
#include "engine/runs/left_session.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_saving.h"
#include "engine/runs/session_store.h"
#include "tests/support/session_run.h"

#include <QTemporaryDir>
#include <QTest>

#include <string>
#include <vector>

namespace tst_damaged_losses {

using namespace halfscope;

namespace {

constexpr int64_t kSteps = 9000; // two full chunks, and a tail
constexpr const char* kCheckpoint = "networks";

/// Leaves a run with a checkpoint in a session, damages its file, and returns its path.
std::string leaveDamaged(const std::string& sessions, const char* sql) {
    std::string path;
    {
        SessionStore store({sessions});
        const std::shared_ptr<Run> run = madeRun(kSteps);
        RunBatch batch;
        batch.checkpoint =
            std::make_shared<const RunCheckpoint>(kSteps, [] { return std::string(kCheckpoint); });
        run->append(std::move(batch));
        store.watch(run, "one");
        store.flush();
        path = store.path();
    }
    Database(path, Database::Access::Create).run(sql);
    return path;
}

} // namespace

class TestDamagedLosses : public QObject {
    Q_OBJECT
private slots:
    void theRestComesBack_data();
    void theRestComesBack();
    void savedWithoutThem();
};

void TestDamagedLosses::theRestComesBack_data() {
    QTest::addColumn<QByteArray>("sql");
    QTest::addColumn<QList<int>>("losses"); // the last step of each lane's losses
    QTest::addColumn<QList<int>>("norms");  // the last step of each lane's gradient norms
    QTest::addColumn<QByteArray>("lanes");
    const int end = kSteps, full = 8192;
    QTest::newRow("the tails") << QByteArray("UPDATE tails SET data = zeroblob(length(data)) "
                                             "WHERE metric = 'loss'")
                               << QList<int>{full, full, full} << QList<int>{end, end, end}
                               << QByteArray("lanes fp32, amp-fp16, amp-bf16");
    QTest::newRow("of one lane")
        << QByteArray("UPDATE tails SET data = zeroblob(length(data)) WHERE metric = 'loss' "
                      "AND lane = 0; UPDATE chunks SET data = x'00' WHERE id IN (SELECT chunk "
                      "FROM columns WHERE metric = 'loss' AND lane = 0)")
        << QList<int>{0, end, end} << QList<int>{end, end, end} << QByteArray("lane fp32");
    QTest::newRow("the first chunk")
        << QByteArray("UPDATE chunks SET data = x'00' WHERE id = (SELECT chunk FROM columns WHERE "
                      "metric = 'loss' AND lane = 0 AND place = 0)")
        << QList<int>{end, end, end} << QList<int>{end, end, end} << QByteArray("lane fp32");
    QTest::newRow("gone") << QByteArray("DELETE FROM tails WHERE metric = 'loss' AND lane = 0; "
                                        "DELETE FROM columns WHERE metric = 'loss' AND lane = 0")
                          << QList<int>{0, end, end} << QList<int>{end, end, end}
                          << QByteArray("lane fp32");
    QTest::newRow("all columns of a lane")
        << QByteArray("DELETE FROM tails WHERE lane = 0; DELETE FROM columns WHERE lane = 0")
        << QList<int>{0, end, end} << QList<int>{0, end, end} << QByteArray("lane fp32");
    QTest::newRow("all columns") << QByteArray("DELETE FROM tails; DELETE FROM columns")
                                 << QList<int>{0, 0} << QList<int>{0, 0} // the fork never began
                                 << QByteArray("lanes fp32, amp-fp16");
}

void TestDamagedLosses::theRestComesBack() {
    QFETCH(const QByteArray, sql);
    QFETCH(const QList<int>, losses);
    QFETCH(const QList<int>, norms);
    QFETCH(const QByteArray, lanes);
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::string path = leaveDamaged(sessions, sql.constData());
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(left[0].runs().size(), size_t{1});
    const LeftRun& listed = left[0].runs()[0];
    QCOMPARE(listed.steps, kSteps);
    const std::shared_ptr<Run> back = left[0].read(listed);
    const RunSnapshot& run = back->now();
    QVERIFY(run.checkpoint() != nullptr);
    QCOMPARE(run.checkpoint()->step(), kSteps);
    QCOMPARE(run.checkpoint()->bytes(), std::string(kCheckpoint));
    QCOMPARE(run.laneCount(), static_cast<int>(losses.size()));
    for (int lane = 0; lane < run.laneCount(); ++lane) {
        QCOMPARE(run.column(lane, metric::Loss).lastStep(), int64_t{losses[lane]});
        const Column& norm = run.column(lane, metric::GradientNorm);
        QCOMPARE(norm.lastStep(), int64_t{norms[lane]});
        QCOMPARE(norm.size(), int64_t{norms[lane]});
        QCOMPARE(run.totals(lane).last().step, int64_t{norms[lane]});
        if (norms[lane] > 0)
            QCOMPARE(norm.at(kSteps).value(), rowAt(kSteps, lane)[metric::GradientNorm]);
    }
    QVERIFY(!left[0].isWhole(listed));
    QCOMPARE(QByteArray::fromStdString(left[0].damage().english()),
             QByteArray::fromStdString(path) + ": values of “one” are damaged in " + lanes);
    const QTemporaryDir later; // the copy has all that was left, and is no damaged run
    {
        SessionStore store({later.path().toStdString()});
        store.watch(back, "one");
        store.flush();
    }
    const std::vector<LeftSession> next = leftSessions(later.path().toStdString());
    QCOMPARE(next.at(0).runs().at(0).steps, kSteps);
    const std::shared_ptr<Run> again = next[0].read(next[0].runs()[0]);
    for (int lane = 0; lane < run.laneCount(); ++lane)
        QCOMPARE(again->now().column(lane, metric::GradientNorm).size(), int64_t{norms[lane]});
    QVERIFY2(next[0].isWhole(next[0].runs()[0]), next[0].damage().english().c_str());
}

/// What is saved of such a run can be opened.
void TestDamagedLosses::savedWithoutThem() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString() + "/sessions",
                      out = folder.path().toStdString() + "/out";
    leaveDamaged(sessions, "DELETE FROM tails WHERE metric = 'loss'; "
                           "DELETE FROM columns WHERE metric = 'loss'");
    const std::vector<LeftSession> left = leftSessions(sessions);
    const std::shared_ptr<Run> back = left.at(0).read(left[0].runs().at(0));
    saveRun(back->now(), out);
    const std::shared_ptr<Run> opened = readRun(out);
    QCOMPARE(opened->step(), kSteps);
    QVERIFY(opened->now().column(0, metric::Loss).empty());
    QCOMPARE(opened->now().column(0, metric::GradientNorm).size(), kSteps);
    QVERIFY(opened->now().info().summary.find("\"final_loss\": null") != std::string::npos);
}

} // namespace tst_damaged_losses

QTEST_APPLESS_MAIN(tst_damaged_losses::TestDamagedLosses)
#include "tst_damaged_losses.moc"
