// Pictures in a session's file: small, a target once for all runs, and those of earlier versions.
#include "engine/runs/session_pictures.h"

#include "engine/runs/left_session.h"
#include "engine/runs/session_file.h"
#include "engine/runs/session_store.h"
#include "engine/runs/session_values.h"
#include "tests/support/cpu_run.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tst_session_pictures {

using namespace halfscope;

namespace {

constexpr int kSide = 128;
constexpr size_t kBytes = size_t{kSide} * kSide * sizeof(float);

/// A picture such as a network paints, with a value that is no number.
Picture painted(int which) {
    Picture picture{kSide, kSide, 1, std::vector<float>(size_t{kSide} * kSide), "a caption"};
    for (int i = 0; i < kSide * kSide; ++i)
        picture.values[static_cast<size_t>(i)] =
            std::round(std::sin(static_cast<float>(i / kSide + which) * 0.1f) * 100) / 100;
    picture.values[3] = std::numeric_limits<float>::quiet_NaN();
    return picture;
}

bool isSame(const Picture& a, const Picture& b) {
    return a.width == b.width && a.height == b.height && a.channels == b.channels &&
           a.caption == b.caption && a.values.size() == b.values.size() &&
           std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(float)) == 0;
}

/// Returns the pictures of a step for all lanes.
LanePictures picturesOf(const Run& run, int64_t step) {
    LanePictures pictures;
    pictures.step = step;
    pictures.outputs.resize(static_cast<size_t>(run.now().laneCount()), painted(7));
    pictures.galleries = {painted(8)};
    return pictures;
}

std::shared_ptr<Run> runWith(const Picture& target) {
    const RunConfig config = defaultConfig();
    auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config), target);
    RunBatch batch;
    for (int lane = 0; lane < run->now().laneCount(); ++lane)
        batch.rows.push_back(StepRow(1, lane).set(metric::Loss, 1.0f));
    batch.pictures = picturesOf(*run, 1);
    run->append(std::move(batch));
    return run;
}

/// Returns bytes as version 1 had them.
std::vector<std::byte> packedBefore(const Picture& picture) {
    const int32_t head[] = {picture.width, picture.height, picture.channels};
    std::vector<std::byte> bytes(sizeof head + picture.values.size() * sizeof(float) +
                                 picture.caption.size());
    std::byte* at = bytes.data();
    std::memcpy(at, head, sizeof head);
    at += sizeof head;
    std::memcpy(at, picture.values.data(), picture.values.size() * sizeof(float));
    at += picture.values.size() * sizeof(float);
    std::memcpy(at, picture.caption.data(), picture.caption.size());
    return bytes;
}

int64_t numberIn(const std::string& path, const char* sql) {
    const Database database(path, Database::Access::LeavesLog);
    Statement row = database.prepare(sql);
    return row.next() ? row.whole(0) : -1;
}

} // namespace

class TestSessionPictures : public QObject {
    Q_OBJECT
private slots:
    void takeLittleRoom();
    void aTargetGoesWithItsLastRun();
    void aTargetThatChangesIsReplaced();
    void runsShareTheirTarget();
    void thoseOfVersion1AreRead();
    void movedRunsAreRemoved();
    void damageIsNoPicture_data();
    void damageIsNoPicture();
};

void TestSessionPictures::takeLittleRoom() {
    constexpr int kRuns = 30;
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    size_t before = 0;
    {
        SessionStore store({sessions});
        path = store.path();
        for (int i = 0; i < kRuns; ++i) {
            const std::shared_ptr<Run> run = runWith(painted(1));
            before += (2 + run->now().pictures().outputs.size()) * kBytes;
            store.watch(run, "run " + std::to_string(i));
        }
        store.flush();
        QCOMPARE(store.problem().english(), std::string());
    }
    QCOMPARE(numberIn(path, "SELECT count(*) FROM targets"), int64_t{1});
    QVERIFY(std::filesystem::file_size(path) < before / 4);
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.at(0).runs().size(), size_t{kRuns});
    const std::shared_ptr<Run> back = left[0].read(left[0].runs().back());
    QVERIFY(isSame(back->now().target(), painted(1)));
    const LanePictures& pictures = back->now().pictures();
    QCOMPARE(pictures.outputs.size(), size_t{2});
    QVERIFY(isSame(pictures.outputs[1], painted(7)));
    QCOMPARE(pictures.galleries.size(), size_t{1});
    QVERIFY(isSame(pictures.galleries[0], painted(8)));
}

void TestSessionPictures::aTargetGoesWithItsLastRun() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> a = runWith(painted(1)), b = runWith(painted(1)),
                               c = runWith(painted(2));
    for (const auto& run : {a, b, c})
        store.watch(run, "run");
    const auto targets = [&store] {
        store.flush();
        return numberIn(store.path(), "SELECT count(*) FROM targets");
    };
    QCOMPARE(targets(), int64_t{2});
    store.forget(a.get());
    QCOMPARE(targets(), int64_t{2});
    store.forget(b.get());
    QCOMPARE(targets(), int64_t{1});
    store.forget(c.get());
    QCOMPARE(targets(), int64_t{0});
}

/// A scatter of validation samples comes with a target of its own, again and again.
void TestSessionPictures::aTargetThatChangesIsReplaced() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    {
        SessionStore store({sessions});
        const std::shared_ptr<Run> run = runWith(painted(1)), other = runWith(painted(1));
        store.watch(run, "run");
        store.watch(other, "other");
        for (int i = 2; i < 5; ++i) {
            RunBatch batch;
            batch.pictures = picturesOf(*run, i);
            batch.pictures->target = painted(i);
            run->append(std::move(batch));
            store.flush();
        }
        QCOMPARE(numberIn(store.path(), "SELECT count(*) FROM targets"), int64_t{2});
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QVERIFY(isSame(left.at(0).read(left[0].runs().at(0))->now().target(), painted(4)));
    QVERIFY(isSame(left[0].read(left[0].runs().at(1))->now().target(), painted(1)));
}

/// In memory, too, where it counts once.
void TestSessionPictures::runsShareTheirTarget() {
    const QTemporaryDir folder;
    Picture large{400, 400, 1, std::vector<float>(160'000, 0.25f)};
    SessionStore store({folder.path().toStdString()});
    std::vector<std::shared_ptr<Run>> runs;
    for (int i = 0; i < 10; ++i) {
        const RunConfig config = defaultConfig();
        runs.push_back(std::make_shared<Run>(cpuRunInfo(config), lanesOf(config), large));
        store.watch(runs.back(), "run");
    }
    QVERIFY(runs[9]->now().sharedTarget() == runs[0]->now().sharedTarget());
    const Picture other{400, 400, 1, std::vector<float>(160'000, 0.5f)};
    QVERIFY(runWith(other)->now().sharedTarget() != runs[0]->now().sharedTarget());
    store.flush();
    store.flush();
    const size_t one = large.values.size() * sizeof(float);
    QVERIFY(store.residentBytes() >= one);
    QVERIFY(store.residentBytes() < 3 * one);
}

void TestSessionPictures::thoseOfVersion1AreRead() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    {
        SessionStore store({sessions});
        path = store.path();
        store.watch(runWith(painted(1)), "one");
        store.watch(runWith(painted(1)), "two");
        store.flush();
    }
    {
        const Database database(path, Database::Access::Create);
        database.run("DROP TABLE targets; DROP INDEX runs_by_target; PRAGMA user_version = 1");
        database.prepare("UPDATE runs SET target = ?1").bind(1, packedBefore(painted(1))).run();
        database.prepare("UPDATE pictures SET data = ?1").bind(1, packedBefore(painted(7))).run();
        database.prepare("UPDATE galleries SET data = ?1").bind(1, packedBefore(painted(8))).run();
    }
    std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(left[0].runs().size(), size_t{2});
    left[0].remove(LeftRun(left[0].runs()[0])); // adds the tables of later versions
    const std::shared_ptr<Run> back = left[0].read(left[0].runs().at(0));
    QVERIFY(isSame(back->now().target(), painted(1)));
    QVERIFY(isSame(back->now().pictures().outputs.at(1), painted(7)));
    QVERIFY(isSame(back->now().pictures().galleries.at(0), painted(8)));
}

/// The others stay, and a target that one of them has.
void TestSessionPictures::movedRunsAreRemoved() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    {
        SessionStore store({sessions});
        for (const char* name : {"one", "two", "three"})
            store.watch(runWith(painted(1)), name);
        store.flush();
    }
    {
        std::vector<LeftSession> left = leftSessions(sessions);
        const std::vector<LeftRun> runs = left.at(0).runs();
        left[0].removeMoved({runs.at(0), runs.at(2)});
        QCOMPARE(left[0].runs().size(), size_t{1});
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.at(0).runs().size(), size_t{1});
    QCOMPARE(left[0].runs()[0].name, std::string("two"));
    QVERIFY(isSame(left[0].read(left[0].runs()[0])->now().target(), painted(1)));
}

void TestSessionPictures::damageIsNoPicture_data() {
    QTest::addColumn<int>("at");
    QTest::addColumn<int>("word");
    QTest::newRow("wide") << 0 << 16384; // more values than the bytes can hold
    QTest::newRow("no width") << 0 << 0;
    QTest::newRow("channels") << 2 << -2;
    QTest::newRow("size") << 3 << -1;
    QTest::newRow("large size") << 3 << (1 << 30);
    QTest::newRow("values") << 6 << 0x55555555;
}

void TestSessionPictures::damageIsNoPicture() {
    QFETCH(int, at);
    QFETCH(int, word);
    std::vector<std::byte> bytes = packed(painted(1));
    QVERIFY(isSame(unpackedPicture(bytes), painted(1)));
    std::memcpy(bytes.data() + static_cast<size_t>(at) * sizeof word, &word, sizeof word);
    QCOMPARE(unpackedPicture(bytes).width, 0);
    for (size_t size = 0; size < 40; ++size)
        QCOMPARE(unpackedPicture(std::span(bytes).first(size)).width, 0);
}

} // namespace tst_session_pictures

QTEST_GUILESS_MAIN(tst_session_pictures::TestSessionPictures)
#include "tst_session_pictures.moc"
