// A run that is written for TensorBoard while it trains has the same records as one written all at
// once.
#include "engine/runs/tensorboard.h"
#include "engine/settings/fields.h"
#include "tests/support/event_files.h"
#include "ui/session/live_board.h"

#include <QDirIterator>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_live_board {

using namespace halfscope;

namespace {

constexpr int kPatience = 20000; // ms
constexpr double kStart = 1.7e9; // seconds since 1970

std::shared_ptr<Run> emptyRun(int64_t forkAfter = 0) {
    RunInfo info;
    RunConfig config = defaultConfig();
    config.steps = 10000;
    if (forkAfter > 0)
        config.forks.push_back({forkAfter + 1, 1, 0, defaultLane(Precision::AmpBf16)});
    info.config = info.recorded = config;
    std::vector<LaneInfo> lanes = lanesOf(config);
    lanes.resize(config.lanes.size());
    return std::make_shared<Run>(info, lanes);
}

void train(Run& run, int64_t from, int64_t to) {
    RunBatch batch;
    for (int64_t step = from; step <= to; ++step)
        for (int lane = 0; lane < run.now().laneCount(); ++lane)
            batch.rows.push_back(StepRow(step, lane)
                                     .set(metric::Loss, float(std::sin(double(step + lane))))
                                     .set(metric::Scale, 1024.0f)
                                     .set(metric::WallSeconds, 0.01 * double(step)));
    run.append(std::move(batch));
}

} // namespace

class TestLiveBoard : public QObject {
    Q_OBJECT
private slots:
    void piecesAreTheWhole();
    void followsARun();
    void anotherRunTakesItsPlace();
    void tellsWhyNot();
    void aLongRunHoldsNobodyUp();
};

/// Lanes, forks and blocks of rows, whenever the thread looks.
void TestLiveBoard::piecesAreTheWhole() {
    const QTemporaryDir folder;
    const auto run = emptyRun(700);
    train(*run, 1, 1);
    {
        TensorBoardFollower pieces(folder.filePath("pieces").toStdString(), run->now(), kStart);
        pieces.write(run->now());
        train(*run, 2, 650);
        pieces.write(run->now());
        pieces.write(run->now());
        train(*run, 651, 700);
        RunBatch fork;
        fork.lanes.push_back(lanesOf(run->info().recorded).back());
        run->append(std::move(fork));
        train(*run, 701, 5000);
        pieces.write(run->now());
    }
    {
        TensorBoardFollower whole(folder.filePath("whole").toStdString(), run->now(), kStart);
        whole.write(run->now());
    }
    for (const LaneInfo& lane : run->lanes()) {
        const QString name = QString::fromStdString(lane.name);
        const QList<QByteArray> pieces = recordsOf(eventsOf(folder.filePath("pieces"), name)),
                                whole = recordsOf(eventsOf(folder.filePath("whole"), name));
        QCOMPARE(whole.size(), qsizetype(5000 - lane.forkStep + 1)); // and the version
        QCOMPARE(pieces.size(), whole.size());
        for (qsizetype i = 1; i < whole.size(); ++i)
            QVERIFY2(pieces[i] == whole[i], qPrintable(QString::number(i)));
    }
}

void TestLiveBoard::followsARun() {
    const QTemporaryDir folder;
    const auto run = emptyRun();
    {
        LiveBoard board(folder.path().toStdString());
        board.follow(run);
        QTest::qWait(600);
        QVERIFY(QDir(folder.path()).entryList(QDir::Dirs | QDir::NoDotAndDotDot).isEmpty());
        train(*run, 1, 30);
        QVERIFY(QTest::qWaitFor(
            [&] { return recordsOf(eventsOf(folder.path(), "amp-fp16")).size() == 31; },
            kPatience));
        train(*run, 31, 77);
        QVERIFY(board.problem().empty());
    } // the rest
    for (const char* lane : {"fp32", "amp-fp16"})
        QCOMPARE(recordsOf(eventsOf(folder.path(), lane)).size(), qsizetype{78});
}

void TestLiveBoard::anotherRunTakesItsPlace() {
    const QTemporaryDir folder;
    const auto first = emptyRun(), second = emptyRun();
    train(*first, 1, 20);
    {
        LiveBoard board(folder.path().toStdString());
        board.follow(first);
        QVERIFY(QTest::qWaitFor(
            [&] { return recordsOf(eventsOf(folder.path(), "fp32")).size() == 21; }, kPatience));
        board.follow(second); // it has no step: what is there stays
        QTest::qWait(600);
        QCOMPARE(recordsOf(eventsOf(folder.path(), "fp32")).size(), qsizetype{21});
        train(*second, 1, 5);
    }
    QCOMPARE(recordsOf(eventsOf(folder.path(), "fp32")).size(), qsizetype{6});
}

void TestLiveBoard::tellsWhyNot() {
    const QTemporaryDir folder;
    const QString file = folder.filePath("file");
    QVERIFY(QFile(file).open(QIODevice::WriteOnly));
    const auto run = emptyRun();
    train(*run, 1, 5);
    LiveBoard board(file.toStdString());
    board.follow(run);
    QVERIFY(QTest::qWaitFor([&] { return !board.problem().empty(); }, kPatience));
    const std::string problem = board.problem().english();
    QVERIFY2(problem.find(file.toStdString()) != std::string::npos, problem.c_str());
}

/// A window that closes waits for what came last, not for all of a long run.
void TestLiveBoard::aLongRunHoldsNobodyUp() {
    constexpr int64_t kSteps =
        2'000'000; // far more than a fast machine writes while it is waited for
    const QTemporaryDir folder;
    const auto run = emptyRun();
    train(*run, 1, kSteps);
    {
        LiveBoard board(folder.path().toStdString());
        board.follow(run);
        // looks at the size alone: reading takes as long as writing all of it
        const auto begun = [&folder] {
            QDirIterator files(folder.path(), QDir::Files, QDirIterator::Subdirectories);
            while (files.hasNext())
                if (files.next(); files.fileInfo().size() > 1000) return true;
            return false;
        };
        QVERIFY(QTest::qWaitFor(begun, kPatience));
    }
    const qsizetype written = recordsOf(eventsOf(folder.path(), "fp32")).size();
    QVERIFY2(written > 1 && written < kSteps, qPrintable(QString::number(written)));
}

} // namespace tst_live_board

QTEST_GUILESS_MAIN(tst_live_board::TestLiveBoard)
#include "tst_live_board.moc"
