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

qsizetype recordsIn(const QString& folder, const char* lane) {
    return recordsOf(eventsOf(folder, QLatin1String(lane))).size();
}

bool comesTo(const QString& folder, const char* lane, qsizetype records) {
    return QTest::qWaitFor([&] { return recordsIn(folder, lane) == records; }, kPatience);
}

/// A window that closes waits a tenth of a second for the last look, and a busy machine may not let
/// the thread look meanwhile: it does so in one of some tries.
template <class Attempt>
bool oneOfSome(const Attempt& attempt) {
    for (int tries = 0; tries < 5; ++tries)
        if (const QTemporaryDir folder; attempt(folder.path())) return true;
    return false;
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
    QVERIFY(oneOfSome([](const QString& folder) {
        const auto run = emptyRun();
        {
            LiveBoard board(folder.toStdString());
            board.follow(run);
            QTest::qWait(600);
            if (!QDir(folder).isEmpty(QDir::Dirs | QDir::NoDotAndDotDot)) return false;
            train(*run, 1, 30);
            if (!comesTo(folder, "amp-fp16", 31)) return false;
            train(*run, 31, 77);
            if (!board.problem().empty()) return false;
        } // the rest
        return recordsIn(folder, "fp32") == 78 && recordsIn(folder, "amp-fp16") == 78;
    }));
}

void TestLiveBoard::anotherRunTakesItsPlace() {
    QVERIFY(oneOfSome([](const QString& folder) {
        const auto first = emptyRun(), second = emptyRun();
        train(*first, 1, 20);
        {
            LiveBoard board(folder.toStdString());
            board.follow(first);
            if (!comesTo(folder, "fp32", 21)) return false;
            board.follow(second); // it has no step: what is there stays
            QTest::qWait(600);
            if (recordsIn(folder, "fp32") != 21) return false;
            train(*second, 1, 5);
        }
        return recordsIn(folder, "fp32") == 6;
    }));
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
