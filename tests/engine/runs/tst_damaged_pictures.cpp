// Pictures that are damaged in a session's file: all others are there, and what was saved of them
// earlier stays.
#include "engine/core/error.h"
#include "engine/io/input_file.h"
#include "engine/io/picture.h"
#include "engine/runs/left_session.h"
#include "engine/runs/lost_pictures.h"
#include "engine/runs/run_manifest.h"
#include "engine/runs/run_saving.h"
#include "engine/runs/session_store.h"
#include "engine/runs/session_values.h"
#include "tests/support/cpu_run.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tst_damaged_pictures {

using namespace halfscope;

namespace {

/// A picture that no coding makes small: it takes many pages of a file.
Picture noise(uint32_t seed) {
    constexpr int kSide = 128;
    Picture picture{kSide, kSide, 1, std::vector<float>(size_t{kSide} * kSide), "a caption"};
    for (float& each : picture.values)
        each = static_cast<float>((seed = seed * 1664525 + 1013904223) >> 8) / (1 << 24);
    return picture;
}

constexpr uint32_t kOutputs = 10, kGalleries = 20, kMistakes = 30; ///< the seeds of the first ones

/// A run of two lanes, with pictures of its only step.
std::shared_ptr<Run> paintedRun() {
    const RunConfig config = defaultConfig();
    auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config), noise(1));
    RunBatch batch;
    LanePictures pictures;
    pictures.step = 1;
    for (int32_t lane = 0; lane < 2; ++lane) {
        batch.rows.push_back(StepRow(1, lane).set(metric::Loss, 1.0f));
        pictures.outputs.push_back(noise(kOutputs + static_cast<uint32_t>(lane)));
        pictures.mistakes.push_back(noise(kMistakes + static_cast<uint32_t>(lane)));
    }
    for (uint32_t place = 0; place < 3; ++place)
        pictures.galleries.push_back(noise(kGalleries + place));
    batch.pictures = std::move(pictures);
    run->append(std::move(batch));
    return run;
}

/// Leaves a session with such a run, and returns the path of its file.
std::string leave(const QTemporaryDir& sessions) {
    SessionStore store({sessions.path().toStdString()});
    store.watch(paintedRun(), "run");
    store.flush();
    return store.path();
}

/// Returns the number of pictures that are there, or -1 when one of them is not what it was.
int wholeOf(const LanePictures& pictures) {
    int count = 0;
    const auto look = [&count](const std::vector<Picture>& all, uint32_t seed) {
        for (const Picture& each : all) {
            const bool whole = each.values == noise(seed++).values;
            if (!whole && each.width > 0) return false;
            count += whole;
        }
        return true;
    };
    const bool all = look(pictures.outputs, kOutputs) && look(pictures.galleries, kGalleries) &&
                     look(pictures.mistakes, kMistakes);
    return all ? count : -1;
}

/// The same run, from which a lane was forked that has painted nothing yet.
std::shared_ptr<Run> forkedRun() {
    RunConfig config = defaultConfig();
    config.forks.push_back({2, 1, 0, defaultLane(Precision::AmpBf16)});
    std::vector<LaneInfo> lanes = lanesOf(config);
    RunBatch forked;
    forked.lanes.push_back(lanes.back());
    lanes.pop_back();
    auto run = std::make_shared<Run>(cpuRunInfo(config), lanes, noise(1));
    RunBatch batch;
    batch.pictures = *paintedRun()->now().pictures();
    for (int32_t lane = 0; lane < 2; ++lane)
        batch.rows.push_back(StepRow(1, lane).set(metric::Loss, 1.0f));
    run->append(std::move(batch));
    run->append(std::move(forked));
    return run;
}

/// Breaks the first page of a table, so that nobody can list its rows.
void breakTable(const std::string& path, const std::string& table) {
    int64_t page = 0;
    {
        const Database database(path, Database::Access::Create);
        Statement row = database.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?1");
        row.bind(1, table);
        QVERIFY(row.next());
        page = row.whole(0);
    }
    const std::string head = readFile(path).substr(0, 18);
    const auto pageBytes = static_cast<std::streamoff>(static_cast<unsigned char>(head[16])) << 8;
    std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp((page - 1) * pageBytes); // what kind of page it is
    out.write("\xff", 1).flush();
    QVERIFY(out.good());
}

/// Breaks the list of the pages in which a picture lies, as a damaged disk does; returns whether
/// there is such a list.
bool breakPages(const std::string& path, const Picture& picture) {
    const std::string file = readFile(path);
    const auto pageBytes = static_cast<size_t>(static_cast<unsigned char>(file[16])) << 8;
    const std::vector<std::byte> bytes = packed(picture);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    constexpr size_t kPart = 64;
    size_t at = std::string::npos; // a part may lie in two pages
    for (size_t from = text.size() / 2; at == std::string::npos && from < text.size() - kPart;
         from += kPart)
        at = file.find(text.substr(from, kPart));
    if (at == std::string::npos || pageBytes == 0) return false;
    std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(
        static_cast<std::streamoff>(at / pageBytes * pageBytes)); // the number of the next one
    out.write("\xff\xff\xff\xff", 4).flush();
    return out.good();
}

/// Returns the contents of a folder's files by name.
std::map<std::string, std::string> filesIn(const QTemporaryDir& folder) {
    std::map<std::string, std::string> files;
    for (const auto& each : std::filesystem::directory_iterator(folder.path().toStdString()))
        if (each.is_regular_file())
            files[each.path().filename().string()] = readFile(each.path().string());
    return files;
}

/// A run whose pictures are in a session, and have been saved in a folder, too.
struct SavedRun {
    QTemporaryDir sessions, results;
    SessionStore store;
    std::shared_ptr<Run> run = paintedRun();
    std::string folder = results.path().toStdString();

    SavedRun() : store({sessions.path().toStdString()}) {
        store.watch(run, "run");
        store.flush();
        saveRun(run->snapshot(), folder);
    }
    void lose(const char* sql) const {
        Database(store.path(), Database::Access::LeavesLog).run(sql);
    }
};

} // namespace

class TestDamagedPictures : public QObject {
    Q_OBJECT
private slots:
    void noOtherIsMissing_data();
    void noOtherIsMissing();
    void aForkMayHavePaintedNothing();
    void aForksOutputIsLostWithTheList();
    void aMendedTargetIsStored();
    void aTableThatCannotBeListed_data();
    void aTableThatCannotBeListed();
    void aMissingRowKeepsItsSession_data();
    void aMissingRowKeepsItsSession();
    void oneThatCannotBeReadStaysInItsSession_data();
    void oneThatCannotBeReadStaysInItsSession();
    void savedOnesStay_data();
    void savedOnesStay();
    void classesStayWithTheirOutput();
    void someOfTheLostStay();
    void thoseOfOtherStepsAreNotDeleted();
};

void TestDamagedPictures::noOtherIsMissing_data() {
    QTest::addColumn<QByteArray>("sql");
    QTest::addColumn<QByteArray>("lost");
    QTest::addColumn<int>("whole");
    const auto row = [](const char* name, const char* sql, const char* lost, int whole) {
        QTest::newRow(name) << QByteArray(sql) << QByteArray(lost) << whole;
    };
    row("none", "UPDATE pictures SET data = data", "", 7);
    row("bytes", "UPDATE pictures SET data = substr(data, 1, 100) WHERE lane = 1", "lane amp-fp16",
        6);
    row("a row", "DELETE FROM pictures WHERE lane = 0", "lane fp32", 6);
    row("samples", "UPDATE galleries SET data = x'00' WHERE place = 0", "the samples of lane fp32",
        6);
    row("a row of samples", "DELETE FROM galleries WHERE place = 1", "the samples of lane amp-fp16",
        6);
    row("true classes", "UPDATE galleries SET data = x'00' WHERE place = 2",
        "the samples with their true classes", 6);
    row("the last row of samples", "DELETE FROM galleries WHERE place = 2",
        "the samples with their true classes", 6);
    row("mistakes", "UPDATE mistakes SET data = x'00' WHERE place = 0", "the mistakes of lane fp32",
        6);
    row("the last row of mistakes", "DELETE FROM mistakes WHERE place = 1",
        "the mistakes of lane amp-fp16", 6);
    row("two",
        "UPDATE pictures SET data = x'00' WHERE lane = 1; "
        "UPDATE galleries SET data = x'00' WHERE place = 1",
        "lane amp-fp16, the samples of lane amp-fp16", 5);
    row("outputs", "UPDATE pictures SET data = x'00'", "lane fp32, lane amp-fp16", 5);
    row("target", "UPDATE targets SET data = substr(data, 1, 100)", "the target", 7);
    row("target's row", "DELETE FROM targets", "the target", 7);
}

void TestDamagedPictures::noOtherIsMissing() {
    QFETCH(const QByteArray, sql);
    QFETCH(const QByteArray, lost);
    QFETCH(const int, whole);
    const QTemporaryDir sessions;
    const std::string path = leave(sessions);
    Database(path, Database::Access::Create).run(sql.constData());
    const std::vector<LeftSession> left = leftSessions(sessions.path().toStdString());
    const std::shared_ptr<Run> run = left.at(0).read(left[0].runs().at(0));
    const auto pictures = run->now().pictures();
    QCOMPARE(pictures->outputs.size(), size_t{2});
    QCOMPARE(pictures->galleries.size(), size_t{3});
    QCOMPARE(wholeOf(*pictures), whole);
    QCOMPARE(run->now().target()->width > 0, !lost.contains("target"));
    const std::string text = path + ": some pictures of step 1 are damaged (" + lost.data() + ")";
    QCOMPARE(lostPicturesText(run->now(), *pictures).english(), lost.isEmpty() ? "" : text);
    QCOMPARE(left[0].isWhole(left[0].runs()[0]), lost.isEmpty());
    // what the program cannot find, the file may still have: its session stays
    const bool gone = sql == "DELETE FROM targets";
    QCOMPARE(left[0].damage().english(),
             gone ? path + ": the target of “run” cannot be read" : std::string());
}

/// Its program was killed between the fork and its first picture.
void TestDamagedPictures::aForkMayHavePaintedNothing() {
    const QTemporaryDir sessions;
    {
        SessionStore store({sessions.path().toStdString()});
        store.watch(forkedRun(), "run");
        store.flush();
    }
    const std::vector<LeftSession> left = leftSessions(sessions.path().toStdString());
    const std::shared_ptr<Run> run = left.at(0).read(left[0].runs().at(0));
    const auto pictures = run->now().pictures();
    QCOMPARE(run->now().laneCount(), 3);
    QCOMPARE(pictures->outputs.size(), size_t{3});
    QCOMPARE(pictures->galleries.size(), size_t{4});
    QCOMPARE(pictures->galleries[1].values, noise(kGalleries + 1).values);
    QCOMPARE(pictures->galleries[2].width, 0);
    QCOMPARE(pictures->galleries[3].values, noise(kGalleries + 2).values); // the true classes
    QCOMPARE(pictures->mistakes.size(), size_t{3});
    QCOMPARE(lostPicturesText(run->now(), *pictures).english(), std::string());
    QVERIFY(left[0].isWhole(left[0].runs()[0]));
    // the pictures of the others are saved, before and after
    for (const std::shared_ptr<Run>& each : {forkedRun(), run}) {
        const QTemporaryDir folder;
        const std::string place = folder.path().toStdString();
        QCOMPARE(saveRun(each->snapshot(), place).picturesError.english(), std::string());
        int count = 0;
        for (const auto& [name, content] : filesIn(folder))
            count += name.ends_with(".png");
        QCOMPARE(count, 8);
        const Picture truth = readPicture(place + "/samples_target.png"),
                      lane = readPicture(place + "/samples_fp32.png");
        QVERIFY(truth.values != lane.values);
    }
}

/// The fork has painted, and the list of outputs is gone: its output is lost as well.
void TestDamagedPictures::aForksOutputIsLostWithTheList() {
    const QTemporaryDir sessions;
    std::string path;
    {
        const std::shared_ptr<Run> run = forkedRun();
        RunBatch batch;
        batch.pictures = *run->now().pictures();
        batch.pictures->outputs.push_back(noise(kOutputs + 2));
        batch.pictures->galleries.clear();
        batch.pictures->mistakes.push_back(noise(kMistakes + 2));
        run->append(std::move(batch));
        SessionStore store({sessions.path().toStdString()});
        store.watch(run, "run");
        store.flush();
        path = store.path();
    }
    breakTable(path, "pictures");
    const std::vector<LeftSession> left = leftSessions(sessions.path().toStdString());
    const std::shared_ptr<Run> run = left.at(0).read(left[0].runs().at(0));
    QCOMPARE(run->now().pictures()->lost.outputs, (std::vector<size_t>{0, 1, 2}));
    QVERIFY(run->now().pictures()->lost.mistakes.empty());
}

void TestDamagedPictures::aTableThatCannotBeListed_data() {
    QTest::addColumn<QByteArray>("lost");
    QTest::addColumn<int>("whole");
    QTest::newRow("pictures") << QByteArray("lane fp32, lane amp-fp16") << 5;
    QTest::newRow("galleries") << QByteArray("the samples of lane fp32, the samples of lane "
                                             "amp-fp16, the samples with their true classes")
                               << 4;
    QTest::newRow("mistakes") << QByteArray("the mistakes of lane fp32, the mistakes of lane "
                                            "amp-fp16")
                              << 5;
}

/// All of its pictures are lost, because it does not even tell which ones it has.
void TestDamagedPictures::aTableThatCannotBeListed() {
    QFETCH(const QByteArray, lost);
    QFETCH(const int, whole);
    const QTemporaryDir before, after;
    const std::string path = leave(before);
    breakTable(path, QTest::currentDataTag());
    const std::vector<LeftSession> left = leftSessions(before.path().toStdString());
    QVERIFY(!left.at(0).isWhole(left[0].runs().at(0)));
    const std::shared_ptr<Run> run = left[0].read(left[0].runs()[0]);
    const auto pictures = run->now().pictures();
    QCOMPARE(wholeOf(*pictures), whole);
    QCOMPARE(pictures->galleries.size(), size_t{3});
    QCOMPARE(pictures->mistakes.size(), size_t{2});
    QCOMPARE(lostPicturesText(run->now(), *pictures).english(),
             path + ": some pictures of step 1 are damaged (" + lost.data() + ")");
    SessionStore store({after.path().toStdString()});
    store.watch(run, "run");
    store.flush();
    QVERIFY2(store.problem().empty(), store.problem().english().c_str());
    QVERIFY(!store.unreadIn(left[0].name()).empty());
}

void TestDamagedPictures::aMissingRowKeepsItsSession_data() {
    QTest::addColumn<QByteArray>("sql");
    QTest::addColumn<QByteArray>("told");
    const QByteArray some(": some pictures of step 1 are gone");
    QTest::newRow("output") << QByteArray("DELETE FROM pictures WHERE lane = 1") << some;
    QTest::newRow("last samples") << QByteArray("DELETE FROM galleries WHERE place = 2") << some;
    QTest::newRow("last mistakes") << QByteArray("DELETE FROM mistakes WHERE place = 1") << some;
    QTest::newRow("all outputs") << QByteArray("DELETE FROM pictures")
                                 << QByteArray(": the pictures of step 1 are gone");
}

/// The session may have the only copy; another program may still find it.
void TestDamagedPictures::aMissingRowKeepsItsSession() {
    QFETCH(const QByteArray, sql);
    QFETCH(const QByteArray, told);
    const QTemporaryDir before, after;
    const std::string path = leave(before);
    Database(path, Database::Access::Create).run(sql.constData());
    const std::vector<LeftSession> left = leftSessions(before.path().toStdString());
    SessionStore store({after.path().toStdString()});
    store.watch(left.at(0).read(left[0].runs().at(0)), "run");
    store.flush();
    QCOMPARE(store.unreadIn(left[0].name()).english(), path + told.constData());
}

void TestDamagedPictures::oneThatCannotBeReadStaysInItsSession_data() {
    QTest::addColumn<uint>("seed");
    QTest::addColumn<QByteArray>("lost");
    QTest::newRow("an output") << kOutputs + 1 << QByteArray("lane amp-fp16");
    QTest::newRow("samples, among which SQLite searches") // from the one in the middle
        << kGalleries + 1 << QByteArray("the samples of lane amp-fp16");
}

/// The others go on in the new session. The old one must not be deleted: another program may still
/// find what is left of the picture.
void TestDamagedPictures::oneThatCannotBeReadStaysInItsSession() {
    QFETCH(const uint, seed);
    QFETCH(const QByteArray, lost);
    const QTemporaryDir before, after;
    const std::string path = leave(before);
    QVERIFY(breakPages(path, noise(seed)));
    const std::vector<LeftSession> left = leftSessions(before.path().toStdString());
    const std::shared_ptr<Run> run = left.at(0).read(left[0].runs().at(0));
    QCOMPARE(wholeOf(*run->now().pictures()), 6);
    {
        SessionStore store({after.path().toStdString()});
        store.watch(run, "run");
        const uint64_t asked = store.askToWrite();
        store.flush();
        QVERIFY2(store.problem().empty(), store.problem().english().c_str());
        QVERIFY(store.isWritten(asked));
        const std::string unread = store.unreadIn(left[0].name()).english();
        QVERIFY2(unread.starts_with(path + ": "), unread.c_str());
        QCOMPARE(lostPicturesText(run->now(), *run->now().pictures()).english(),
                 path + ": some pictures of step 1 are damaged (" + lost.data() + ")");
    }
    const std::vector<LeftSession> next = leftSessions(after.path().toStdString());
    const std::shared_ptr<Run> again = next.at(0).read(next[0].runs().at(0));
    QCOMPARE(wholeOf(*again->now().pictures()), 6);
}

void TestDamagedPictures::savedOnesStay_data() {
    QTest::addColumn<QByteArray>("sql");
    QTest::newRow("one") << QByteArray("UPDATE pictures SET data = x'00' WHERE lane = 1");
    QTest::newRow("samples") << QByteArray("UPDATE galleries SET data = x'00' WHERE place = 0");
    QTest::newRow("all") << QByteArray("UPDATE pictures SET data = x'00'; "
                                       "UPDATE galleries SET data = x'00'; "
                                       "UPDATE mistakes SET data = x'00'");
    QTest::newRow("mistakes") << QByteArray("UPDATE mistakes SET data = x'00' WHERE place = 1");
    QTest::newRow("last rows") << QByteArray("DELETE FROM galleries WHERE place = 2; "
                                             "DELETE FROM mistakes WHERE place = 1");
    QTest::newRow("unread samples") << QByteArray("ALTER TABLE galleries RENAME data TO lost");
    QTest::newRow("unread mistakes") << QByteArray("ALTER TABLE mistakes RENAME data TO lost");
    QTest::newRow("rows") << QByteArray("DELETE FROM pictures; DELETE FROM galleries");
}

void TestDamagedPictures::savedOnesStay() {
    QFETCH(const QByteArray, sql);
    const QTemporaryDir sessions, results, empty;
    SessionStore store({sessions.path().toStdString()});
    const std::shared_ptr<Run> run = paintedRun();
    store.watch(run, "run");
    store.flush();
    const auto saveIn = [&run](const QTemporaryDir& folder) {
        return saveRun(run->snapshot(), folder.path().toStdString()).picturesError.english();
    };
    QCOMPARE(saveIn(results), std::string());
    const auto before = filesIn(results);
    Database(store.path(), Database::Access::LeavesLog).run(sql.constData());
    const std::string told = saveIn(results);
    QVERIFY2(told.starts_with("Saved, but pictures cannot be read any more."), told.c_str());
    const auto now = filesIn(results);
    const RunManifest manifest = readManifest(results.path().toStdString() + "/manifest.json");
    int pictures = 0;
    for (const auto& [name, content] : before) {
        QVERIFY2(now.contains(name), name.c_str());
        if (!name.ends_with(".png")) continue;
        ++pictures;
        QVERIFY2(now.at(name) == content, name.c_str());
        QVERIFY2(manifest.files.contains(name), name.c_str());
    }
    QCOMPARE(pictures, 8); // with the target
    const std::string elsewhere = saveIn(empty);
    QVERIFY2(elsewhere.starts_with("Saved without "), elsewhere.c_str());
    QVERIFY(filesIn(empty).contains("steps.csv"));
}

/// They say what an output shows that is not written again.
void TestDamagedPictures::classesStayWithTheirOutput() {
    const SavedRun saved;
    const std::string written = saved.folder + "/classes_fp32.csv",
                      stays = saved.folder + "/classes_amp-fp16.csv";
    for (const std::string& path : {written, stays})
        std::ofstream(path) << "classes";
    saved.lose("UPDATE pictures SET data = x'00' WHERE lane = 1");
    saveRun(saved.run->snapshot(), saved.folder);
    QVERIFY(!std::filesystem::exists(written)); // this output has none
    QCOMPARE(readFile(stays), std::string("classes"));
    QVERIFY(readManifest(saved.folder + "/manifest.json").files.contains("classes_amp-fp16.csv"));
}

/// What is said of those that stay does not pass for all.
void TestDamagedPictures::someOfTheLostStay() {
    const SavedRun saved;
    std::filesystem::remove(saved.folder + "/samples_fp32.png");
    saved.lose("UPDATE galleries SET data = x'00' WHERE place < 2");
    const std::string told = saveRun(saved.run->snapshot(), saved.folder).picturesError.english();
    QVERIFY2(told.starts_with("Saved, but pictures cannot be read any more. Some of them were "
                              "saved earlier and stay in the folder, which lacks the others: "),
             told.c_str());
    QVERIFY(std::filesystem::exists(saved.folder + "/samples_amp-fp16.png"));
}

/// They would pass for the run's at the step that is saved now.
void TestDamagedPictures::thoseOfOtherStepsAreNotDeleted() {
    const SavedRun saved;
    const auto before = filesIn(saved.results);
    saved.lose("DELETE FROM pictures");
    RunBatch more;
    for (int32_t lane = 0; lane < 2; ++lane)
        more.rows.push_back(StepRow(2, lane).set(metric::Loss, 0.5f));
    saved.run->append(std::move(more));
    const std::string refusal =
        thrownBy<RunError>([&] { saveRun(saved.run->snapshot(), saved.folder); });
    QVERIFY2(refusal.starts_with(saved.folder + " has pictures, such as output_fp32.png") &&
                 refusal.ends_with("choose another folder"),
             refusal.c_str());
    QVERIFY(filesIn(saved.results) == before);
}

/// Otherwise the next start would find the damaged one again.
void TestDamagedPictures::aMendedTargetIsStored() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const RunConfig config = defaultConfig();
    const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config), damagedTarget());
    RunBatch rows, mended;
    for (int32_t lane = 0; lane < 2; ++lane)
        rows.rows.push_back(StepRow(1, lane).set(metric::Loss, 1.0f));
    run->append(std::move(rows));
    mended.target = Picture{1, 1, 1, {0.5f}, {}};
    {
        SessionStore store({sessions});
        store.watch(run, "one");
        store.flush();
        run->append(std::move(mended));
        store.flush();
        QVERIFY2(store.problem().empty(), store.problem().english().c_str());
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    const std::shared_ptr<Run> back = left.at(0).read(left[0].runs().at(0));
    QCOMPARE(back->now().target()->values, std::vector<float>{0.5f});
}

} // namespace tst_damaged_pictures

QTEST_GUILESS_MAIN(tst_damaged_pictures::TestDamagedPictures)
#include "tst_damaged_pictures.moc"
