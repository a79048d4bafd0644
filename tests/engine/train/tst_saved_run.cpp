// A run that is saved again when its checkpoint can no longer be read.
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/database.h"
#include "engine/io/input_file.h"
#include "engine/runs/left_session.h"
#include "engine/runs/session_store.h"
#include "engine/train/saved_run.h"
#include "tests/support/cpu_run.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tst_saved_run {

using namespace halfscope;

namespace {

void appendStep(Run& run, int64_t step) {
    RunBatch batch;
    for (int32_t lane = 0; lane < run.now().laneCount(); ++lane)
        batch.rows.push_back(StepRow(step, lane).set(metric::Loss, 1.0f));
    run.append(std::move(batch));
}

} // namespace

class TestSavedRun : public QObject {
    Q_OBJECT
private slots:
    void theEarlierCheckpointStays_data();
    void theEarlierCheckpointStays();
    void whatASessionCannotTellStays_data();
    void whatASessionCannotTellStays();
};

void TestSavedRun::theEarlierCheckpointStays_data() {
    QTest::addColumn<bool>("noMemory");
    QTest::addColumn<int>("steps"); // when it is saved again
    QTest::newRow("gone") << false << 1;
    QTest::newRow("no memory") << true << 1;
    QTest::newRow("of other steps") << false << 2; // would pass for the run's
}

void TestSavedRun::theEarlierCheckpointStays() {
    QFETCH(const bool, noMemory);
    QFETCH(const int, steps);
    const bool stays = steps == 1;
    const QTemporaryDir results;
    const std::string folder = results.path().toStdString();
    const std::string checkpoint = folder + "/" + run_file::kCheckpoint,
                      best = folder + "/" + run_file::best("fp32");
    const auto run = std::make_shared<Run>(cpuRunInfo(), lanesOf(defaultConfig()));
    appendStep(*run, 1);
    const MadeFile made{run_file::kCheckpoint, "weights"};
    const std::string id = saveRun(run->snapshot(), folder, std::span(&made, 1)).id;
    writeFileAtomically(best, "best weights");
    if (steps > 1) appendStep(*run, 2);
    RunBatch batch;
    batch.checkpoint = std::make_shared<const RunCheckpoint>(steps, [noMemory]() -> std::string {
        if (noMemory) throw std::bad_alloc();
        throw RunError(Message::data("it is gone"));
    });
    run->append(std::move(batch));
    const SavedFiles saved = saveWithCheckpoint(run->snapshot(), folder, "Mine", "1");
    const std::string reason = noMemory ? "there is no memory for it" : "it is gone";
    QCOMPARE(saved.checkpointError.english(),
             (stays ? "Saved, but without the run's checkpoint. The one that was saved earlier "
                      "stays in the folder: "
                    : "Saved without a checkpoint: ") +
                 reason);
    QCOMPARE(std::filesystem::exists(checkpoint), stays);
    QCOMPARE(std::filesystem::exists(best), stays);
    // the checkpoint names the run that it belongs to
    QCOMPARE(saved.id == id, stays);
    QCOMPARE(readManifest(folder + "/" + run_file::kManifest).run, saved.id);
    if (stays) QCOMPARE(readFile(checkpoint), std::string("weights"));
}

void TestSavedRun::whatASessionCannotTellStays_data() {
    QTest::addColumn<QByteArray>("sql");
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QByteArray>("told");
    QTest::newRow("checkpoint") << QByteArray("ALTER TABLE checkpoints RENAME COLUMN step TO lost")
                                << QByteArray(run_file::kCheckpoint)
                                << QByteArray("Saved, but without the run's checkpoint. ");
    QTest::newRow("gradients") << QByteArray("ALTER TABLE gradients RENAME COLUMN data TO lost")
                               << QByteArray(run_file::kGradients) << QByteArray();
}

/// The file in the folder may be the only copy of what the session has lost.
void TestSavedRun::whatASessionCannotTellStays() {
    QFETCH(const QByteArray, sql);
    QFETCH(const QByteArray, file);
    QFETCH(const QByteArray, told);
    const QTemporaryDir results, sessions;
    const std::string folder = results.path().toStdString();
    const std::string kept = folder + "/" + file.toStdString();
    std::string path;
    {
        const auto run = std::make_shared<Run>(cpuRunInfo(), lanesOf(defaultConfig()));
        appendStep(*run, 1);
        SessionStore store({sessions.path().toStdString()});
        path = store.path();
        store.watch(run, "one");
        store.flush();
    }
    Database(path, Database::Access::Create).run(sql.constData());
    const std::vector<LeftSession> left = leftSessions(sessions.path().toStdString());
    const std::shared_ptr<Run> run = left.at(0).read(left[0].runs().at(0));
    saveRun(run->snapshot(), folder);
    QVERIFY(!std::filesystem::exists(kept));
    writeFileAtomically(kept, "earlier");
    const SavedFiles saved = saveWithCheckpoint(run->snapshot(), folder, "Mine", "1");
    QVERIFY(std::filesystem::exists(kept));
    QCOMPARE(readFile(kept), std::string("earlier"));
    const std::string error = saved.checkpointError.english();
    QVERIFY2(error.starts_with(told.constData()), error.c_str());
    QCOMPARE(error.empty(), told.isEmpty());
    appendStep(*run, 2);
    (void)saveWithCheckpoint(run->snapshot(), folder, "Mine", "1");
    QVERIFY(!std::filesystem::exists(kept)); // would pass for the run's
}

} // namespace tst_saved_run

QTEST_GUILESS_MAIN(tst_saved_run::TestSavedRun)
#include "tst_saved_run.moc"
