// Pictures that lie in the session's file are read when their run is shown.
#include "engine/core/error.h"
#include "engine/io/database.h"
#include "engine/runs/session_store.h"
#include "tests/support/cpu_run.h"
#include "tests/support/thrown.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/images/picture_loader.h"
#include "ui/look/theme.h"

#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tst_stored_pictures {

using namespace halfscope;

namespace {

LanePictures picturesOf(size_t lanes, int side, float value) {
    const auto values = static_cast<size_t>(side) * static_cast<size_t>(side);
    LanePictures pictures;
    pictures.step = 1;
    pictures.outputs.resize(lanes, {side, side, 1, std::vector<float>(values, value)});
    return pictures;
}

/// A run whose pictures have this value everywhere.
std::shared_ptr<Run> runWith(float value) {
    const RunConfig config = defaultConfig();
    auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config),
                                     Picture{2, 2, 1, {0, 1, 0.5f, 0.25f}});
    RunBatch batch;
    for (int lane = 0; lane < run->now().laneCount(); ++lane)
        batch.rows.push_back(StepRow(1, lane).set(metric::Loss, 1.0f));
    batch.pictures = picturesOf(config.lanes.size(), 2, value);
    run->append(std::move(batch));
    return run;
}

/// Pictures in a file that answers when it is told to.
class SlowFile {
public:
    std::shared_ptr<const RunPictures> pictures() {
        LanePictures about;
        about.step = 1;
        return std::make_shared<const RunPictures>(about, [state = m_state] {
            std::unique_lock lock(state->mutex);
            state->answers.wait(lock, [&] { return state->answering; });
            return RunPictures(picturesOf(2, 2, 0.5f)).packed();
        });
    }
    void answer() {
        const std::lock_guard lock(m_state->mutex);
        m_state->answering = true;
        m_state->answers.notify_all();
    }

private:
    struct State {
        std::mutex mutex;
        std::condition_variable answers;
        bool answering = false;
    };
    std::shared_ptr<State> m_state = std::make_shared<State>();
};

bool shows(const CompareView& view, float value) {
    const Picture& shown = view.view(0).picture();
    return shown.values.size() == 4 && shown.values.front() == value;
}

} // namespace

class TestStoredPictures : public QObject {
    Q_OBJECT
private slots:
    void areShownAgain();
    void damageIsTold();
    void aDamagedOneHidesNoOther();
    void whatEachStepLacksIsToldOnce();
    void areNotCopiedBeforeTheyAreRead();
    void aSlowDiskHoldsNobodyUp();
    void fewStayInMemory();
};

void TestStoredPictures::areShownAgain() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> one = runWith(0.25f), two = runWith(0.75f);
    store.watch(one, "one");
    store.watch(two, "two");
    store.flush();
    QVERIFY(!one->now().sharedPictures()->held());
    CompareView view;
    view.setRun(one);
    QTRY_VERIFY(shows(view, 0.25f));
    view.setRun(two);
    QTRY_VERIFY(shows(view, 0.75f));
    view.setRun(one);
    QVERIFY(shows(view, 0.25f)); // at once
}

void TestStoredPictures::damageIsTold() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> one = runWith(0.25f), two = runWith(0.75f);
    store.watch(one, "one");
    store.watch(two, "two");
    store.flush();
    {
        const Database database(store.path(), Database::Access::LeavesLog);
        database.run("UPDATE pictures SET data = x'00' WHERE run = 1");
    }
    CompareView view;
    const QSignalSpy failures(&view, &CompareView::failed);
    view.setRun(one);
    QTRY_COMPARE(failures.size(), 1);
    view.refresh(); // it is told once
    QCOMPARE(failures.size(), 1);
    const QString sentence = failures.first().first().toString();
    QCOMPARE(sentence, QStringLiteral("The pictures of this run cannot be read: %1: the pictures "
                                      "of step 1 are damaged")
                           .arg(QString::fromStdString(store.path())));
    const QList<QLabel*> labels = view.findChildren<QLabel*>();
    QVERIFY(std::ranges::any_of(labels, [&](const QLabel* each) {
        return each->text() == QStringLiteral("The pictures cannot be read") &&
               each->toolTip() == sentence;
    }));
    view.setRun(two);
    QTRY_VERIFY(shows(view, 0.75f));
}

/// It is told once, and its pane says why it is empty.
void TestStoredPictures::aDamagedOneHidesNoOther() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> run = runWith(0.25f);
    store.watch(run, "run");
    store.flush();
    {
        const Database database(store.path(), Database::Access::LeavesLog);
        database.run("UPDATE pictures SET data = x'00' WHERE lane = 1");
    }
    CompareView view;
    const QSignalSpy failures(&view, &CompareView::failed);
    view.setRun(run);
    QTRY_VERIFY(shows(view, 0.25f));
    view.refresh();
    QCOMPARE(failures.size(), 1);
    const QString sentence = failures.first().first().toString();
    QCOMPARE(sentence, QStringLiteral("Not all pictures of this run can be shown: %1: some "
                                      "pictures of step 1 are damaged (lane amp-fp16)")
                           .arg(QString::fromStdString(store.path())));
    QCOMPARE(view.view(1).picture().width, 0);
    QVERIFY(view.view(1).toolTip().contains(sentence));
    QVERIFY(!view.view(0).toolTip().contains(sentence));
}

/// A run without its target trains on.
void TestStoredPictures::whatEachStepLacksIsToldOnce() {
    const RunConfig config = defaultConfig();
    const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config), damagedTarget());
    CompareView view;
    const QSignalSpy failures(&view, &CompareView::failed);
    const auto paint = [&](int64_t step, float value) {
        RunBatch batch;
        batch.pictures = picturesOf(2, 2, value);
        batch.pictures->step = step;
        run->append(std::move(batch));
    };
    paint(1, 0.25f);
    view.setRun(run);
    QTRY_VERIFY(shows(view, 0.25f));
    QCOMPARE(failures.size(), 1);
    paint(2, 0.75f);
    view.refresh();
    QTRY_VERIFY(shows(view, 0.75f));
    QCOMPARE(failures.size(), 1);
    view.setRun(run); // for whoever looks again
    QTRY_COMPARE(failures.size(), 2);
}

/// An empty sheet would replace what the clipboard has.
void TestStoredPictures::areNotCopiedBeforeTheyAreRead() {
    SlowFile file;
    const RunConfig config = defaultConfig();
    const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config),
                                           Picture{2, 2, 1, {0, 1, 0.5f, 0.25f}});
    RunBatch batch;
    batch.storedPictures = file.pictures();
    run->append(std::move(batch));
    CompareView view;
    view.setRun(run);
    QCOMPARE(thrownBy<RunError>([&] { (void)view.picture(paperColors()); }),
             std::string("The pictures are still being read. Copy or save them when they are "
                         "shown."));
    file.answer();
    QTRY_VERIFY(shows(view, 0.5f));
    QVERIFY(!view.picture(paperColors()).isNull());
}

/// What was asked for last is shown, however late.
void TestStoredPictures::aSlowDiskHoldsNobodyUp() {
    SlowFile first, second;
    PictureLoader loader;
    std::vector<PictureLoader::Pictures> loaded;
    connect(&loader, &PictureLoader::loaded, this,
            [&](const PictureLoader::Pictures& pictures) { loaded.push_back(pictures); });
    const auto skipped = first.pictures(), wanted = second.pictures();
    loader.ask(skipped);
    QVERIFY(loader.reads());
    loader.ask(wanted);
    QVERIFY(loader.reads() && loaded.empty());
    first.answer();
    second.answer();
    QTRY_COMPARE(loaded.size(), size_t{1});
    QVERIFY(loaded[0] == wanted->held());
    QVERIFY(!loader.reads());
    SlowFile never;
    loader.ask(never.pictures());
    loader.ask(nullptr);
    QVERIFY(!loader.reads());
    never.answer();
    QTest::qWait(50);
    QCOMPARE(loaded.size(), size_t{1});
}

void TestStoredPictures::fewStayInMemory() {
    constexpr int kSide = 1024;
    constexpr size_t kBytes = 2 * sizeof(float) * kSide * kSide; // of two lanes
    constexpr size_t kMost = PictureLoader::kMostBytes / kBytes;
    PictureLoader loader;
    std::vector<std::shared_ptr<const RunPictures>> all;
    for (size_t i = 0; i < kMost + 3; ++i) {
        const PackedPictures packed = RunPictures(picturesOf(2, kSide, 0.5f)).packed();
        all.push_back(
            std::make_shared<const RunPictures>(LanePictures(), [packed] { return packed; }));
        loader.ask(all.back());
        QTRY_VERIFY(!loader.reads());
        QVERIFY(loader.bytes() <= PictureLoader::kMostBytes);
    }
    QCOMPARE(loader.bytes(), kMost * kBytes);
    QVERIFY(!all[2]->held() && all[3]->held() && all.back()->held());
    all.pop_back(); // their run has newer ones
    loader.ask(all.back());
    QCOMPARE(loader.bytes(), (kMost - 1) * kBytes);
}

} // namespace tst_stored_pictures

QTEST_MAIN(tst_stored_pictures::TestStoredPictures)
#include "tst_stored_pictures.moc"
