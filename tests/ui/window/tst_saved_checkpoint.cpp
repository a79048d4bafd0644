// Results that the window saves contain the run's checkpoint: opened again, the folder's run
// continues, and its networks are those that were trained.
#include "engine/io/input_file.h"
#include "engine/runs/run_manifest.h"
#include "engine/train/checkpoint.h"
#include "tests/support/file_menu.h"
#include "tests/support/growth_limit.h"
#include "tests/support/picture_training.h"
#include "tests/support/saved_run_parts.h"
#include "tests/support/served_events.h"
#include "tests/support/thrown.h"
#include "ui/panels/banner.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/gradient_view.h"
#include "ui/window/window_files.h"

#include <QFileDialog>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTimer>
#include <QToolButton>

namespace tst_saved_checkpoint {

using namespace halfscope;

namespace {

const QString kName = QStringLiteral("checkpoint.safetensors");

ExperimentState checkpointIn(const QString& folder) {
    return readCheckpoint(QDir(folder).filePath(kName).toStdString());
}

/// Returns the file that "Save weights" and similar entries write of a lane.
QByteArray laneFile(MainWindow& window, LaneFile file, int lane, const QString& path) {
    QSignalSpy saved(&window.controller(), &ExperimentController::laneSaved);
    window.controller().saveLane(file, lane, path, QStringLiteral("1"));
    if (!QTest::qWaitFor([&] { return !saved.isEmpty(); }, kPatience)) return {};
    QFile made(path);
    return made.open(QIODevice::ReadOnly) ? made.readAll() : QByteArray();
}

} // namespace

class TestSavedCheckpoint : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void aPausedRunGoesOn();
    void aFinishedRunHasItsNetworks();
    void aCheckpointAloneHasItsScale();
    void aSavedRunTellsWhenItsScaleCanBeSet();
    void whoKeepsTheBestWeightsIsTold();
    void aRunningRunHasItsLastOne();
    void savedAgainItGoesOn();
    void gradientsGoOnToo();
    void withoutItsData();
    void itsDataVanish();
    void anOpenedCheckpointIsSavedWithItsRows();
    void aForkOfASavedRun();
    void aFullDiskLosesNothing();
    void oneThatIsGoneIsTold();
    void oneOfItsOwnIsTold();
    void ofSeveralRunsTheDamagedOnesAreTold();
    void theOneBeforeIsOffered();

private:
    QString path(const char* name) const { return m_folder.filePath(QString::fromUtf8(name)); }
    QTemporaryDir m_folder;
};

/// The saved folder continues as the command line's folder does.
void TestSavedCheckpoint::aPausedRunGoesOn() {
    Opened opened(skippingConfig(30));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(stepsTo(opened.window, 13));
    QVERIFY(opened.window.saveResults(path("paused")).contains(kName));
    const ExperimentState state = checkpointIn(path("paused"));
    QCOMPARE(state.step, int64_t{13});
    const RunManifest manifest = manifestOf(contentOf(path("paused"), "manifest.json"));
    QVERIFY(manifest.whole && manifest.files.count(kName.toStdString()) == 0);
    QCOMPARE(state.run, manifest.run);
    QVERIFY(trainsTo(opened.window, 30));
    opened.window.saveResults(path("whole"));

    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(path("paused")));
    QVERIFY(showsSaved(other.window));
    QTRY_VERIFY2_WITH_TIMEOUT(stateOf(other.window).contains("continue after step 13"),
                              qPrintable(stateOf(other.window)), kPatience);
    QVERIFY(trainsTo(other.window, 30));
    other.window.saveResults(path("went on"));
    for (const char* name : {"steps.csv", "events.csv", "experiment.json"})
        QVERIFY2(contentOf(path("went on"), name) == contentOf(path("whole"), name), name);
    QCOMPARE(checkpointIn(path("went on")).step, int64_t{30});
}

/// Without the rows of the run: its edits before the checkpoint are none of the next step.
void TestSavedCheckpoint::aCheckpointAloneHasItsScale() {
    Opened opened(skippingConfig(30));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(stepsTo(opened.window, 2));
    opened.window.shown().setScale(1, QStringLiteral("2^40")); // which overflows
    QVERIFY(trainsTo(opened.window, 30));
    const float scale = opened.window.run().lane(1).scale();
    QVERIFY(scale > 1 && scale < 0x1p40F);
    const StepRow last = opened.window.run().lane(1).last;
    QVERIFY(last.skippedSoFar() > 0);
    opened.window.controller().saveCheckpoint(path("alone.safetensors"), {});
    QVERIFY(QTest::qWaitFor([&] { return QFile::exists(path("alone.safetensors")); }, kPatience));

    Opened other(tinyConfig(5));
    MainWindow& window = other.window;
    window.resize(1280, 900); // for cards in full
    QVERIFY(window.tryFile(path("alone.safetensors")));
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lane(1).scale(), scale, kPatience);
    QCOMPARE(window.run().step(), int64_t{0}); // no row is there
    const LaneStatus& lane = window.run().lane(1);
    QCOMPARE(lane.skippedSteps(), last.skippedSoFar());
    QCOMPARE(lane.cleanSteps(), last.growthTracker());
    QStringList figures;
    for (const LaneCard* card : window.findChild<ScalerPanel*>()->findChildren<LaneCard*>())
        for (const FigureLabel* each : card->findChildren<FigureLabel*>())
            figures << each->accessibleName();
    const auto shows = [&figures](const QString& figure) {
        return figures.indexOf(QRegularExpression(QRegularExpression::escape(figure) + ".*")) >= 0;
    };
    const QString skipped = QLocale().toString(static_cast<qlonglong>(last.skippedSoFar()));
    QVERIFY2(shows("Skipped steps: " + skipped + " ("), qPrintable(figures.join('|')));
    QVERIFY2(shows("Clean steps: " +
                   QLocale().toString(static_cast<qlonglong>(last.growthTracker())) + " of "),
             qPrintable(figures.join('|')));
    QVERIFY2(shows("Loss: not in the checkpoint") || shows("Loss: –"), // where there is no room
             qPrintable(figures.join('|')));
    QVERIFY(!window.findChild<ScalerPanel*>()->lanesForScale().at(1).isEmpty());
    window.shown().setScale(1, QStringLiteral("64")); // waits for Continue
    QVERIFY(trainsTo(window, 60));
    QCOMPARE(window.run().run()->now().row(1, 31).scale(), 64.0F);
}

/// Its card has the button, which tells what to do first, like the menu.
void TestSavedCheckpoint::aSavedRunTellsWhenItsScaleCanBeSet() {
    Opened opened(skippingConfig(4));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(trainsTo(opened.window, 4));
    opened.window.saveResults(path("with a scale"));
    Opened other(tinyConfig(5));
    MainWindow& window = other.window;
    QVERIFY(window.tryFile(path("with a scale")));
    QVERIFY(reaches(window, SessionState::Finished));
    QVERIFY(showsSaved(window));
    const auto button = [&window] {
        return window.findChild<QToolButton*>(QStringLiteral("setScale"));
    };
    const QString first = QStringLiteral("This run has ended: continue it first");
    QTRY_COMPARE_WITH_TIMEOUT(button()->toolTip(), first, kPatience);
    QVERIFY(!button()->isEnabled() && !button()->isHidden());
    QCOMPARE(window.shown().scaleObstacle(), first);
    QVERIFY(trainsTo(window, 8));
    QTRY_VERIFY_WITH_TIMEOUT(button()->isEnabled() && button()->toolTip() != first, kPatience);
}

/// The command line goes on with that from what the window has trained.
void TestSavedCheckpoint::whoKeepsTheBestWeightsIsTold() {
    Opened opened(skippingConfig(30));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(stepsTo(opened.window, 3));
    opened.window.saveResults(path("best"));
    ExperimentState state = checkpointIn(path("best"));
    QVERIFY(!state.keepsBest);
    state.keepsBest = true;
    state.countGradients = 7;
    state.checkpointEvery = 9;
    writeCheckpoint(path("best").toStdString() + "/" + kName.toStdString(), state, "1");
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(path("best")));
    QVERIFY(showsSaved(other.window));
    QVERIFY2(other.window.bannerText().contains(QStringLiteral("The window does not write them")),
             qPrintable(other.window.bannerText()));
    QVERIFY(trainsTo(other.window, 30));
    other.window.saveResults(path("best, longer"));
    const ExperimentState later = checkpointIn(path("best, longer"));
    QCOMPARE(later.step, int64_t{30});
    QVERIFY(later.keepsBest);
    QCOMPARE(later.countGradients, int64_t{7});
    QCOMPARE(later.checkpointEvery, int64_t{9});
}

void TestSavedCheckpoint::aFinishedRunHasItsNetworks() {
    Opened opened(digits(4));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(trainsTo(opened.window, 4));
    opened.window.saveResults(path("finished"));
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(path("finished")));
    QVERIFY(reaches(other.window, SessionState::Finished));
    QTRY_VERIFY_WITH_TIMEOUT(other.window.showsSaved(), kPatience);
    for (const char* item : {"Save &weights", "Save as O&NNX", "Save pre&dictions"}) {
        QAction* menu = fileAction(other.window, QLatin1String(item));
        QVERIFY2(menu && menu->menu(), item);
        emit menu->menu()->aboutToShow();
        QCOMPARE(menu->menu()->actions().size(), 2);
    }
    for (const LaneFile file : {LaneFile::StateDict, LaneFile::Onnx, LaneFile::Predictions}) {
        const QByteArray trained = laneFile(opened.window, file, 1, path("trained"));
        QVERIFY(!trained.isEmpty());
        QCOMPARE(laneFile(other.window, file, 1, path("opened")), trained);
    }
    // and what they compute for the samples
    const LanePictures seen = *opened.window.shown().run()->now().pictures(),
                       shown = *other.window.shown().run()->now().pictures();
    QVERIFY(seen.validated.value_or(0) > 0);
    QVERIFY(shown.validated == seen.validated); // and their captions say so
    QCOMPARE(shown.galleries.size(), size_t{3});
    for (size_t i = 0; i < 3; ++i)
        QCOMPARE(shown.galleries[i].caption, seen.galleries[i].caption);
    QCOMPARE(shown.outputs.size(), size_t{2});
    QVERIFY(trainsTo(other.window, 8));
}

/// The checkpoint belongs to a step that the tables have; what was trained since is trained again.
void TestSavedCheckpoint::aRunningRunHasItsLastOne() {
    Opened opened(skippingConfig(1000000));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(stepsTo(opened.window, 3));
    opened.window.play();
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.run().step() > 20, kPatience);
    QVERIFY(opened.window.saveResults(path("running")).contains(kName));
    QCOMPARE(opened.window.controller().state(), SessionState::Running);
    const int64_t step = checkpointIn(path("running")).step;
    QVERIFY(step >= 3);
    opened.window.pause();
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(path("running")));
    QVERIFY(showsSaved(other.window));
    QVERIFY(other.window.run().step() >= step);
    QTRY_VERIFY_WITH_TIMEOUT(
        stateOf(other.window).contains(QStringLiteral("continue after step %1").arg(step)),
        kPatience);
}

/// What was counted before the checkpoint stays, and what is counted later follows.
void TestSavedCheckpoint::gradientsGoOnToo() {
    Opened opened(skippingConfig(10));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QTest::keyClick(&opened.window, Qt::Key_G);
    QVERIFY(trainsTo(opened.window, 10));
    const size_t counted = gradientsOf(opened.window)[1].columns().size();
    QVERIFY(counted > 0);
    opened.window.saveResults(path("counted"));
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(path("counted")));
    QVERIFY(showsSaved(other.window));
    QTest::keyClick(&other.window, Qt::Key_G);
    QTRY_COMPARE_WITH_TIMEOUT(other.window.gradients().heading(),
                              QStringLiteral("Scaled gradients after step 10"), kPatience);
    QVERIFY(trainsTo(other.window, 20));
    QTRY_COMPARE_WITH_TIMEOUT(gradientsOf(other.window)[1].lastStep(), int64_t{20}, kPatience);
    const GradientHistory all = gradientsOf(other.window)[1];
    QVERIFY(all.columns().size() > counted);
    for (int64_t step = 1; step <= 20; ++step)
        QVERIFY2(all.at(step), qPrintable(QString::number(step)));
}

/// Its data are gone: all that the window says is about the run that is shown, and once the data
/// are back, the run goes on.
void TestSavedCheckpoint::withoutItsData() {
    QString table = QStringLiteral("a,b\n");
    for (int i = 0; i < 40; ++i)
        table += QStringLiteral("%1,%2\n").arg(i).arg(3 * i);
    const QString data = write(m_folder, QStringLiteral("t.csv"), table.toStdString());
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QTest::keyClick(&window, Qt::Key_G);
    QVERIFY(window.tryFile(data));
    QVERIFY(reaches(window, SessionState::Ready));
    window.shown().setStopStep(10);
    QVERIFY(trainsTo(window, 10));
    window.saveResults(path("of a table"));
    QVERIFY(window.tryFile(path("of a table")));
    QVERIFY(showsSaved(window));
    QVERIFY(trainsTo(window, 20)); // what is shown before the data are gone
    QVERIFY(QFile::rename(data, data + QStringLiteral(".away")));
    QVERIFY(window.tryFile(path("of a table")));
    QVERIFY(reaches(window, SessionState::Failed));
    QVERIFY(showsSaved(window));
    QCOMPARE(window.run().step(), int64_t{10});
    const auto says = [&](const QString& text, const QString& end) {
        return text.startsWith(QStringLiteral("Saved run of 10 steps")) && text.endsWith(end);
    };
    QTRY_VERIFY2_WITH_TIMEOUT(says(stateOf(window),
                                   "Training could not start. Correct the setting or file that "
                                   "was named, then press Play (Space). If the message is gone, "
                                   "Play shows it again."),
                              qPrintable(stateOf(window)), kPatience);
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QTRY_VERIFY2_WITH_TIMEOUT(
        says(headline->toolTip(), "Training cannot start with these settings."),
        qPrintable(headline->toolTip()), kPatience);
    QVERIFY(window.gradients().empty());
    QCOMPARE(window.gradients().note(),
             QStringLiteral("The gradients are counted once the networks are built."));
    QVERIFY(window.bannerText().remove(u'\u200b').contains(QStringLiteral("t.csv")));
    QTRY_VERIFY_WITH_TIMEOUT(window.setup()
                                 .editor("data.path")
                                 ->errorText()
                                 .remove(u'\u200b')
                                 .contains(QStringLiteral("t.csv")),
                             kPatience);
    QVERIFY(QFile::rename(data + QStringLiteral(".away"), data));
    window.play();
    QVERIFY(reaches(window, SessionState::Finished)); // as it was saved
    QVERIFY(trainsTo(window, 11));
    QCOMPARE(window.shown().run()->now().firstStep(), int64_t{1});
}

/// The folder of its pictures is gone before all of them were read: the run ends and names it. What
/// it has stays, is saved, and goes on once the folder is back.
void TestSavedCheckpoint::itsDataVanish() {
    const QString pictures = path("pictures"), away = path("away");
    const RunConfig config = onPictures(pictures, 12);
    {
        Opened opened(config);
        MainWindow& window = opened.window;
        QVERIFY(reaches(window, SessionState::Ready));
        window.controller().glanceAtGradients(false); // it would read the next step's pictures
        QVERIFY(stepsTo(window, 3));
        QVERIFY(QDir().rename(pictures, away));
        window.play();
        QVERIFY(reaches(window, SessionState::Failed));
        const auto told = [&] { return window.bannerText().remove(u'\u200b'); };
        QTRY_VERIFY2_WITH_TIMEOUT(
            told().endsWith(pictures + " cannot be read: No such file or directory"),
            qPrintable(told()), kPatience);
        QVERIFY2(!told().contains('\n'), qPrintable(told()));
        const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
        QTRY_VERIFY2_WITH_TIMEOUT(headline->toolTip().startsWith("Ended by an error. In step 3"),
                                  qPrintable(headline->toolTip()), kPatience);
        QCOMPARE(window.run().step(), int64_t{3});
        QVERIFY(window.saveResults(path("lost")).contains(kName));
    }
    QCOMPARE(readRun(path("lost").toStdString())->step(), int64_t{3});
    QCOMPARE(checkpointIn(path("lost")).step, int64_t{3});
    QVERIFY(QDir().rename(away, pictures));
    Opened whole(config);
    QVERIFY(reaches(whole.window, SessionState::Ready));
    QVERIFY(trainsTo(whole.window, 12));
    whole.window.saveResults(path("never stopped"));
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(path("lost")));
    QVERIFY(showsSaved(other.window));
    QVERIFY(trainsTo(other.window, 12));
    other.window.saveResults(path("found again"));
    QVERIFY(contentOf(path("found again"), "steps.csv") ==
            contentOf(path("never stopped"), "steps.csv"));
}

/// It is saved in another folder and in its own, where its checkpoint must not be removed as an
/// earlier run's.
void TestSavedCheckpoint::savedAgainItGoesOn() {
    Opened opened(skippingConfig(20));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(stepsTo(opened.window, 7));
    opened.window.saveResults(path("once"));
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(path("once")));
    QVERIFY(showsSaved(other.window));
    for (const char* folder : {"twice", "once"}) {
        QVERIFY(other.window.saveResults(path(folder)).contains(kName));
        const ExperimentState state = checkpointIn(path(folder));
        QCOMPARE(state.step, int64_t{7});
        QCOMPARE(state.run, manifestOf(contentOf(path(folder), "manifest.json")).run);
    }
    // brought back behind another experiment it continues, too
    Opened third(tinyConfig(5));
    QVERIFY(third.window.tryFile(path("twice")));
    QVERIFY(showsSaved(third.window));
    third.window.openPreset(QStringLiteral("regression"));
    QVERIFY(reaches(third.window, SessionState::Ready));
    third.window.bringBack();
    QTRY_VERIFY2_WITH_TIMEOUT(stateOf(third.window).contains("continue after step 7"),
                              qPrintable(stateOf(third.window)), kPatience);
}

void TestSavedCheckpoint::anOpenedCheckpointIsSavedWithItsRows() {
    Opened opened(skippingConfig(20));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(stepsTo(opened.window, 9));
    opened.window.saveResults(path("rows"));
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(QDir(path("rows")).filePath(kName)));
    QTRY_COMPARE_WITH_TIMEOUT(other.window.run().step(), int64_t{9}, kPatience);
    QVERIFY(reaches(other.window, SessionState::Ready));
    QVERIFY(other.window.saveResults(path("rows again")).contains(kName));
    QCOMPARE(checkpointIn(path("rows again")).step, int64_t{9});
    QVERIFY(contentOf(path("rows again"), "steps.csv") == contentOf(path("rows"), "steps.csv"));
}

/// File > Save checkpoint proposes the name that a run's checkpoint has in its folder.
void TestSavedCheckpoint::oneOfItsOwnIsTold() {
    Opened opened(skippingConfig(20));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(stepsTo(opened.window, 5));
    opened.window.saveResults(path("replaced"));
    QVERIFY(stepsTo(opened.window, 7));
    const QString file = QDir(path("replaced")).filePath(kName);
    QSignalSpy saved(&opened.window.controller(), &ExperimentController::saved);
    opened.window.controller().saveCheckpoint(file, QStringLiteral("1"));
    QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, kPatience);
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(path("replaced")));
    QVERIFY(showsSaved(other.window));
    QVERIFY2(other.window.bannerText().contains("open that file to go on from it"),
             qPrintable(other.window.bannerText()));
    QVERIFY(other.window.tryFile(file));
    QTRY_VERIFY2_WITH_TIMEOUT(stateOf(other.window).contains("continue after step 7"),
                              qPrintable(stateOf(other.window)), kPatience);
    QVERIFY2(other.window.bannerText().isEmpty(), qPrintable(other.window.bannerText()));
}

/// One sentence names them all; the other runs go on.
void TestSavedCheckpoint::ofSeveralRunsTheDamagedOnesAreTold() {
    Opened opened(skippingConfig(20));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(stepsTo(opened.window, 5));
    const QDir several(path("several"));
    QVERIFY(QDir().mkpath(several.path()));
    for (const char* name : {"run 1", "run 2", "run 3", "run 4"})
        opened.window.saveResults(several.filePath(QLatin1String(name)));
    for (const char* name : {"run 2", "run 3"}) {
        const QString file = several.filePath(QLatin1String(name) + u'/' + kName);
        QVERIFY(QFile::resize(file, QFileInfo(file).size() / 2));
    }
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(several.path()));
    QTRY_COMPARE_WITH_TIMEOUT(other.window.runs().rowCount(), 4, kPatience);
    QTRY_VERIFY2_WITH_TIMEOUT(stateOf(other.window).contains("continue after step 5"),
                              qPrintable(stateOf(other.window)), kPatience);
    const QString banner = other.window.bannerText();
    QVERIFY2(banner.startsWith(QStringLiteral("Saved runs opened: 4. F8 shows the list of runs. "
                                              "A checkpoint cannot be used: ")),
             qPrintable(banner));
    for (const char* name : {"run 1", "run 2", "run 3", "run 4"}) {
        const bool damaged = name[4] == '2' || name[4] == '3';
        const QString file = QLatin1String(name) + u'/' + kName;
        QVERIFY2(banner.contains(file) == damaged, qPrintable(banner));
    }
}

/// The networks of an opened run get a lane that the run does not have; their gradients, which are
/// counted for the cards, are not the run's.
void TestSavedCheckpoint::aForkOfASavedRun() {
    Opened opened(skippingConfig(30));
    QVERIFY(stepsTo(opened.window, 3));
    opened.window.saveResults(path("forked"));
    for (const bool watched : {false, true}) {
        Opened other(tinyConfig(5));
        MainWindow& window = other.window;
        QVERIFY(window.tryFile(path("forked")));
        QVERIFY(showsSaved(window));
        QVERIFY(reaches(window, SessionState::Ready));
        window.shown().watchGradients(watched);
        const RunPtr saved = window.shown().run(), built = window.shown().trained();
        QTRY_COMPARE_WITH_TIMEOUT(built->now().newestGradients().size(), size_t{2}, kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(saved->now().lastGradients().empty(), !watched, kPatience);
        window.setup().addLane();
        window.shown().fork(2, 1);
        QTRY_COMPARE_WITH_TIMEOUT(built->info().recorded.forks.size(), size_t{1}, kPatience);
        test::serveEvents(300); // the gradients of three lanes come
        QVERIFY(window.showsSaved());
        QVERIFY(stepsTo(window, 4));
        QCOMPARE(window.run().lanes(), 3);
    }
}

namespace {

/// Returns all files except the lock.
QMap<QString, QByteArray> filesIn(const QString& folder) {
    QMap<QString, QByteArray> files;
    for (const QString& name : QDir(folder).entryList(QDir::Files | QDir::Hidden)) {
        QFile file(QDir(folder).filePath(name));
        if (name != QLatin1String(".halfscope.lock") && file.open(QIODevice::ReadOnly))
            files[name] = file.readAll();
    }
    return files;
}

} // namespace

/// The folder keeps its earlier content, and the window what it trained.
void TestSavedCheckpoint::aFullDiskLosesNothing() {
    RunConfig config = skippingConfig(20);
    config.model.width = 256; // no other file is as large
    Opened opened(config);
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(stepsTo(opened.window, 4));
    opened.window.saveResults(path("full"));
    const auto before = filesIn(path("full"));
    QVERIFY(stepsTo(opened.window, 6));
    opened.window.saveResults(path("roomy")); // a checkpoint of another step has other digits
    const auto roomy = filesIn(path("roomy"));
    const qint64 size = roomy[kName].size();
    for (auto file = roomy.begin(); file != roomy.end(); ++file)
        QVERIFY2(file.key() == kName || file->size() < size / 2, qPrintable(file.key()));
    {
        // as kept in memory there is room for it: it names no run there, which saves 32 bytes
        const GrowthLimit limit(static_cast<rlim_t>(size - 16));
        QCOMPARE(QString::fromStdString(
                     thrownBy<RunError>([&] { opened.window.saveResults(path("full")); })),
                 path("full") + "/checkpoint.safetensors: cannot write: File too large");
    }
    QCOMPARE(filesIn(path("full")), before);
    QVERIFY(opened.window.saveResults(path("full")).contains(kName));
    QCOMPARE(checkpointIn(path("full")).step, int64_t{6});
    QVERIFY(trainsTo(opened.window, 20));
}

/// The rest is saved, with a sentence about it.
void TestSavedCheckpoint::oneThatIsGoneIsTold() {
    Opened opened(skippingConfig(20));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    for (const auto& [steps, name] : {std::pair(5, "gone"), std::pair(6, "other")}) {
        QVERIFY(stepsTo(opened.window, steps));
        opened.window.saveResults(path(name));
    }
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(path("gone")));
    QVERIFY(showsSaved(other.window));
    const QString file = QDir(path("gone")).filePath(kName);
    QVERIFY(QFile::remove(file) && QFile::copy(QDir(path("other")).filePath(kName), file));
    answerWith(path("without"));
    QAction* save = fileAction(other.window, QStringLiteral("Save &results…"));
    QVERIFY(save);
    save->trigger();
    QCOMPARE(other.window.bannerText(), "Saved without a checkpoint: " + file +
                                            ": another checkpoint has been written there since "
                                            "this run was opened");
    QVERIFY(!QFileInfo::exists(QDir(path("without")).filePath(kName)));
    QVERIFY(contentOf(path("without"), "steps.csv") == contentOf(path("gone"), "steps.csv"));
    QVERIFY(other.window.tryFile(path("without")));
    QVERIFY(showsSaved(other.window));
    fileAction(other.window, QStringLiteral("Save &checkpoint…"))->trigger();
    QCOMPARE(other.window.bannerText(),
             QStringLiteral("The run that is shown is over and was opened without a checkpoint, so "
                            "there is none to save."));
}

/// A click goes on from the whole checkpoint, whether the damaged one or its folder was opened.
void TestSavedCheckpoint::theOneBeforeIsOffered() {
    Opened opened(skippingConfig(20));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    for (const auto& [steps, name] : {std::pair(5, "one"), std::pair(6, "two")}) {
        QVERIFY(stepsTo(opened.window, steps));
        opened.window.saveResults(path(name));
    }
    ExperimentState earlier = checkpointIn(path("one"));
    earlier.run = checkpointIn(path("two")).run;
    const QDir folder(path("two"));
    writeCheckpoint(folder.filePath("checkpoint-before.safetensors").toStdString(), earlier, "1");
    QFile file(folder.filePath(kName));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(file.size() - 100) && file.write("x") == 1);
    file.close();
    for (const bool asFolder : {false, true}) {
        Opened other(tinyConfig(5));
        QVERIFY(reaches(other.window, SessionState::Ready));
        QCOMPARE(other.window.tryFile(asFolder ? folder.path() : file.fileName()), asFolder);
        QVERIFY2(other.window.bannerText().contains("The one before it is whole"),
                 qPrintable(other.window.bannerText()));
        auto& offer = *other.window.findChild<Banner*>()->findChild<QPushButton*>("offer");
        QVERIFY(!offer.isHidden());
        QCOMPARE(offer.text(), QStringLiteral("Go on from step 5"));
        QTest::mouseClick(&offer, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(other.window.run().step(), int64_t{5}, kPatience);
        QVERIFY(trainsTo(other.window, 20));
    }
}

} // namespace tst_saved_checkpoint

QTEST_MAIN(tst_saved_checkpoint::TestSavedCheckpoint)
#include "tst_saved_checkpoint.moc"
