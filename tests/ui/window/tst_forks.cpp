// Lanes that continue from another lane's state, in the window: requested beside their settings,
// drawn from there on, saved, and repeated exactly.
#include "engine/runs/saved_forks.h"
#include "engine/settings/fields.h"
#include "engine/step/pytorch_script.h"
#include "tests/support/opened_window.h"
#include "tests/support/plot_parts.h"
#include "ui/images/compare_view.h"
#include "ui/panels/section.h"
#include "ui/panels/setup_panel.h"

#include <QAction>
#include <QClipboard>
#include <QDir>
#include <QGuiApplication>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QPushButton>
#include <QStatusBar>
#include <QTest>
#include <QToolButton>
#include <algorithm>

namespace tst_forks {

using namespace halfscope;

namespace {

constexpr int64_t kSteps = 40, kForkedAfter = 10;

std::vector<double> pointsOf(MainWindow& window, const QString& name) {
    window.plots().refresh();
    std::vector<double> points;
    if (const QCPGraph* graph = graphNamed(window.plots(), name))
        for (const QCPGraphData& point : *graph->data())
            points.push_back(point.value);
    return points;
}

bool reachesStep(MainWindow& window, int64_t step) {
    return QTest::qWaitFor([&] { return window.run().step() == step; }, kPatience);
}

/// Returns the button beside the settings of a lane.
QToolButton* forkButton(MainWindow& window, int lane) {
    for (auto* button : window.findChildren<QToolButton*>(QStringLiteral("fork:%1").arg(lane)))
        // settings that were rebuilt leave old buttons behind
        if (button->isVisibleTo(&window)) return button;
    return nullptr;
}

/// Trains some steps, then adds a lane in bfloat16 that continues from the last one.
void forkInto(MainWindow& window) {
    QVERIFY(reaches(window, SessionState::Ready));
    window.setStopStep(kForkedAfter);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QVERIFY(reachesStep(window, kForkedAfter));
    QVERIFY(!forkButton(window, 1)); // it runs
    QTest::keyClick(&window, Qt::Key_L, Qt::ControlModifier);
    QCOMPARE(window.config().config().lanes.size(), size_t{3});
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("precision", 2)), QStringLiteral("amp-bf16")));
    QVERIFY(model.restartNeeded());
    QToolButton* button = forkButton(window, 2);
    QVERIFY(button);
    emit button->menu()->aboutToShow();
    QCOMPARE(button->menu()->actions().size(), qsizetype(2));
    // the note about changes offers the same
    const auto* note = window.findChild<QPushButton*>(QStringLiteral("forkNow"));
    QVERIFY(note && note->isVisibleTo(&window));
    QCOMPARE(note->text(), QStringLiteral("Continue from here as lane C"));
    emit note->menu()->aboutToShow();
    QCOMPARE(note->menu()->actions().size(), qsizetype(2));
    note->menu()->actions().at(1)->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lanes(), 3, kPatience);
    QCOMPARE(window.bannerText(), QString());
    QVERIFY(!note->isVisibleTo(&window));
}

/// Forks, and trains to the end with another learning rate.
void trainForked(MainWindow& window) {
    forkInto(window);
    window.setStopStep(kSteps);
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("optimizer.lr")), QStringLiteral("0.005")));
    window.play();
    QVERIFY(reachesStep(window, kSteps)); // it was at an end before
    QVERIFY(reaches(window, SessionState::Finished));
}

/// Whether the settings of a lane are below this heading.
bool hasHeading(MainWindow& window, const QString& title) {
    const auto sections = window.setup().findChildren<Section*>();
    return std::any_of(sections.begin(), sections.end(), [&](const Section* each) {
        return each->title().replace(QChar(QChar::Nbsp), QChar(u' ')) == title;
    });
}

/// Resets, and returns what the window tells at its lower edge.
QString newsOfReset(MainWindow& window) {
    window.statusBar()->clearMessage();
    window.restart();
    const QString told = window.statusBar()->currentMessage();
    return reaches(window, SessionState::Ready) ? told : QString();
}

} // namespace

class TestForks : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void goesOnWithItsPast();
    void picturesLeaveNoGap();
    void savedRunGoesTheSameWay();
    void experimentFileGoesTheSameWay();
    void programIsThatOfTheRun();
    void whatCannotBeForkedIsRefused();
    void inTheMiddleOfAStep();
    void namesTheScaleItStartsAt();
    void saysThatTheFirstScaleIsNotUsed();
    void aResetTellsWhatItChanges();
    void aResetTellsNoWrongOrigin();
    void aResetTellsOfScalesInAFile();
    void aResetTellsOfNoUndoneScale();
    void aResetCountsItsSteps();
    void continuesBesideAPathThatIsWrong();
};

void TestForks::goesOnWithItsPast() {
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    forkInto(window);
    QVERIFY(!window.config().restartNeeded());
    QVERIFY(!forkButton(window, 2));
    window.setStopStep(kSteps);
    window.play();
    QVERIFY(reachesStep(window, kSteps)); // it was at an end before
    QVERIFY(reaches(window, SessionState::Finished));
    const auto parent = pointsOf(window, QStringLiteral("Loss/B amp-fp16"));
    const auto fork = pointsOf(window, QStringLiteral("Loss/C amp-bf16"));
    QCOMPARE(parent.size(), size_t{kSteps});
    // drawn from the last step that it shares; before, its curve would hide its parent's
    QCOMPARE(fork.size(), size_t{kSteps - kForkedAfter + 1});
    QCOMPARE(fork.front(), parent[size_t{kForkedAfter} - 1]);
    QVERIFY(fork.back() != parent.back()); // bfloat16 rounds otherwise
    QVERIFY(window.config().config().forks.empty());
    // a reset trains all three lanes from the start
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lanes(), 3, kPatience);
    QCOMPARE(window.run().step(), int64_t{0});
}

/// What "Save results" writes, opened in a window, trains exactly the same numbers again.
/// More pictures side by side are lower: the plots get what they leave.
void TestForks::picturesLeaveNoGap() {
    Opened opened(tinyConfig(kSteps));
    opened.window.resize(1280, 800);
    forkInto(opened.window);
    const auto& pictures = *opened.window.findChild<CompareView*>();
    QTRY_COMPARE(pictures.usefulHeight(pictures.width(), pictures.height()), pictures.height());
}

void TestForks::savedRunGoesTheSameWay() {
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    trainForked(window);
    const QString folder = opened.folder.filePath(QStringLiteral("results"));
    window.saveResults(folder);
    const RunConfig saved = readConfig(QDir(folder).filePath("experiment.json").toStdString());
    QCOMPARE(saved.lanes.size(), size_t{2});
    QCOMPARE(saved.forks.size(), size_t{1});
    QCOMPARE(saved.forks[0].step, kForkedAfter + 1);
    QVERIFY(!saved.edits.empty());
    const QString losses[] = {QStringLiteral("Loss/A fp32"), QStringLiteral("Loss/B amp-fp16"),
                              QStringLiteral("Loss/C amp-bf16")};
    std::vector<std::vector<double>> before;
    for (const QString& loss : losses)
        before.push_back(pointsOf(window, loss));
    // from the start, not from where it ended
    QVERIFY(QFile::remove(QDir(folder).filePath(QStringLiteral("checkpoint.safetensors"))));
    Opened again(tinyConfig(7));
    again.window.openFile(folder);
    QTRY_VERIFY_WITH_TIMEOUT(again.window.showsSaved(), kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(again.window.run().lanes(), 3, kPatience);
    for (size_t i = 0; i < 3; ++i)
        QCOMPARE(pointsOf(again.window, losses[i]), before[i]);
    QVERIFY(reaches(again.window, SessionState::Ready));
    again.window.play();
    QTRY_VERIFY_WITH_TIMEOUT(!again.window.showsSaved(), kPatience);
    QVERIFY(reaches(again.window, SessionState::Finished));
    QVERIFY(reachesStep(again.window, kSteps));
    QCOMPARE(again.window.run().lanes(), 3);
    for (size_t i = 0; i < 3; ++i)
        QCOMPARE(pointsOf(again.window, losses[i]), before[i]);
    QCOMPARE(again.window.config().config().optimizer.lr, 0.005); // shown, because it is in effect
    QCOMPARE(again.window.config().config().lanes.size(), size_t{3});
}

/// So does the file that "Save experiment as" writes, unless the settings are others by now: then
/// a sentence says what it lacks.
void TestForks::experimentFileGoesTheSameWay() {
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    trainForked(window);
    const QString path = opened.folder.filePath(QStringLiteral("forked.json"));
    window.saveExperiment(path);
    QCOMPARE(window.bannerText(), QString());
    QCOMPARE(window.statusBar()->currentMessage(),
             QStringLiteral("Saved as %1, with the forks and live changes of the run").arg(path));
    const RunConfig saved = readConfig(path.toStdString());
    QCOMPARE(saved.lanes.size(), size_t{2});
    QCOMPARE(saved.forks.size(), size_t{1});
    QVERIFY(!saved.edits.empty());
    const QString loss = QStringLiteral("Loss/C amp-bf16");
    Opened again(tinyConfig(7));
    again.window.openFile(path);
    QVERIFY(reaches(again.window, SessionState::Ready));
    const QString unchanged = opened.folder.filePath(QStringLiteral("unchanged.json"));
    again.window.saveExperiment(unchanged); // before anything was trained
    QCOMPARE(readConfig(unchanged.toStdString()).forks.size(), size_t{1});
    again.window.play();
    QVERIFY(reachesStep(again.window, kSteps));
    QVERIFY(reaches(again.window, SessionState::Finished));
    QCOMPARE(pointsOf(again.window, loss), pointsOf(window, loss));
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("run.seed")), QStringLiteral("12")));
    window.saveExperiment(path); // other settings
    QVERIFY2(window.bannerText().contains(QStringLiteral("File > Save results")),
             qPrintable(window.bannerText()));
    QVERIFY(readConfig(path.toStdString()).forks.empty());
    QCOMPARE(readConfig(path.toStdString()).lanes.size(), size_t{3});
}

/// A program for PyTorch is that of the recorded run: it names the fork among what it leaves out,
/// and the status bar says so. Once the settings are others, the banner says what they lack.
void TestForks::programIsThatOfTheRun() {
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    trainForked(window);
    const QString path = opened.folder.filePath(QStringLiteral("forked.json"));
    window.saveExperiment(path);
    const QString program = QString::fromStdString(pytorchScript(readConfig(path.toStdString())));
    QVERIFY(program.contains(QStringLiteral(": lanes that begin in the middle\n")));
    QGuiApplication::clipboard()->clear();
    QTest::keyClick(&window, Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE_WITH_TIMEOUT(QGuiApplication::clipboard()->text(), program, kPatience);
    QVERIFY(window.statusBar()->currentMessage().contains(QStringLiteral("leaves out")));
    QCOMPARE(window.bannerText(), QString());
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("run.seed")), QStringLiteral("12")));
    QTest::keyClick(&window, Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY_WITH_TIMEOUT(window.bannerText().contains(QStringLiteral("are left out")),
                             kPatience);
    QVERIFY(!QGuiApplication::clipboard()->text().contains(QStringLiteral("in the middle")));
}

void TestForks::whatCannotBeForkedIsRefused() {
    FakeScript script;
    Opened opened(tinyConfig(kSteps), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.setup().addLane();
    QToolButton* button = forkButton(window, 2);
    QVERIFY(button);
    emit button->menu()->aboutToShow();
    button->menu()->actions().front()->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(window.bannerText(), QStringLiteral("this run forks no lanes"),
                              kPatience);
    QCOMPARE(window.run().lanes(), 2);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished)); // it continues as before
}

/// While it trains, the fork takes place between two steps, and all lanes continue.
void TestForks::inTheMiddleOfAStep() {
    Opened opened(tinyConfig(100000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 20, kPatience);
    window.setup().addLane();
    QToolButton* button = forkButton(window, 2);
    QVERIFY(button);
    emit button->menu()->aboutToShow();
    button->menu()->actions().front()->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lanes(), 3, kPatience);
    const int64_t there = window.run().step();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > there + 20, kPatience);
    window.pause();
    QVERIFY(reaches(window, SessionState::Paused));
    QCOMPARE(window.bannerText(), QString());
    const RunPtr& run = window.shown().run();
    QTRY_COMPARE_WITH_TIMEOUT(run->now().totals(2).last().step, run->now().totals(0).last().step,
                              kPatience);
}

/// A fork continues with its parent's present scale, not with the initial one of its own settings;
/// only when the parent has none does it begin with that.
void TestForks::namesTheScaleItStartsAt() {
    RunConfig config = tinyConfig(kSteps);
    config.lanes[1].scaler.initScale = 8192;
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(stepsTo(window, 3));
    window.shown().setScale(1, QStringLiteral("64"));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lane(1).scale(), 64.0F, kPatience);
    window.setup().addLane();
    QToolButton* button = forkButton(window, 2);
    QVERIFY(button);
    emit button->menu()->aboutToShow();
    QList<QAction*> ways = button->menu()->actions();
    QCOMPARE(ways.at(0)->text(), QStringLiteral("Continue lane A fp32, at loss scale 8192 = 2^13"));
    QCOMPARE(ways.at(1)->text(),
             QStringLiteral("Continue lane B amp-fp16, at loss scale 64 = 2^6"));
    QVERIFY(hasHeading(window, QStringLiteral("C amp-fp16, new")));
    ways.at(1)->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lanes(), 3, kPatience);
    QVERIFY(hasHeading(window, QStringLiteral("C amp-fp16, from B")));
    QCOMPARE(window.run().lane(2).scale(), 64.0F);
    QVERIFY(stepsTo(window, 4));
    QCOMPARE(window.run().lane(2).last.scale(), 64.0F);
    // named by their letters
    const Event& fork =
        *std::find_if(window.shown().run()->events().begin(), window.shown().run()->events().end(),
                      [](const Event& each) { return each.parent >= 0; });
    QCOMPARE(EventModel::whatText(fork), QStringLiteral("Continues lane B"));
    QCOMPARE(EventModel::sentenceOf(fork), QStringLiteral("From step 4: lane C continues lane B."));
    // one that continues a lane without a scale begins with its own initial scale
    window.setup().addLane();
    window.shown().fork(3, 0);
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lanes(), 4, kPatience);
    QCOMPARE(window.run().lane(3).scale(), 8192.0F);
    // a lane that does not scale its loss takes no scale over
    window.setup().addLane();
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("precision", 4)), QStringLiteral("amp-bf16")));
    button = forkButton(window, 4);
    QVERIFY(button);
    emit button->menu()->aboutToShow();
    QCOMPARE(button->menu()->actions().at(1)->text(), QStringLiteral("Continue lane B amp-fp16"));
}

/// A fork continues at its parent's scale. Where its settings ask for another first one, the menu
/// and the event say that it is not used.
void TestForks::saysThatTheFirstScaleIsNotUsed() {
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    QVERIFY(stepsTo(window, 2));
    window.setup().addLane();
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("scaler.init_scale", 2)), 8));
    QToolButton* button = forkButton(window, 2);
    QVERIFY(button);
    emit button->menu()->aboutToShow();
    QAction* way = button->menu()->actions().at(1);
    const double scale = window.run().lane(1).scale();
    QCOMPARE(way->text(), QStringLiteral("Continue lane B amp-fp16, at its loss scale %1 (First "
                                         "scale 8 = 2^3 is not used)")
                              .arg(scaleText(scale)));
    way->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lanes(), 3, kPatience);
    QCOMPARE(double(window.run().lane(2).scale()), scale);
    QTRY_VERIFY_WITH_TIMEOUT(window.events().rowCount() > 0, kPatience);
    const Event& fork = window.events().eventAt(0);
    QCOMPARE(EventModel::whatText(fork), QStringLiteral("Continues lane B"));
    const QString told = QStringLiteral("From step 3: lane C continues lane B, at the loss scale "
                                        "of B; the first scale of C, 8 (2^3), is not used.");
    QCOMPARE(EventModel::sentenceOf(fork), told);
    Event saved = fork; // as its file has it
    saved.parent = -1;
    saved.text = Message::data(fork.text.english());
    recognizeFork(saved, lanesOf(window.shown().run()->info().recorded));
    QCOMPARE(EventModel::whatText(saved), EventModel::whatText(fork));
    QCOMPARE(EventModel::sentenceOf(saved), told);
}

/// The settings name neither where a lane came from nor a loss scale that was set.
void TestForks::aResetTellsWhatItChanges() {
    Opened opened(tinyConfig(kForkedAfter));
    MainWindow& window = opened.window;
    QVERIFY(stepsTo(window, 3));
    window.shown().setScale(1, QStringLiteral("64"));
    QVERIFY(trainsTo(window, kForkedAfter));
    window.setup().addLane();
    window.shown().fork(2, 1);
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lanes(), 3, kPatience);
    window.play(); // Continue
    QVERIFY(reachesStep(window, 2 * kForkedAfter));
    QVERIFY(reaches(window, SessionState::Finished));
    QCOMPARE(
        newsOfReset(window),
        QStringLiteral("C starts from step 0 now; it no longer continues B. Loss scales that "
                       "were set by hand are gone; the settings stay as they are. “Stop after” "
                       "is 10 steps again, as before you pressed Continue."));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lanes(), 3, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t{0}, kPatience);
    QCOMPARE(newsOfReset(window), QString());
}

/// The letter of a lane that was removed is another one's by then.
void TestForks::aResetTellsNoWrongOrigin() {
    Opened opened(tinyConfig(kForkedAfter));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, kForkedAfter));
    window.setup().addLane();
    window.shown().fork(2, 1);
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lanes(), 3, kPatience);
    QVERIFY(window.config().removeLane(1));
    QCOMPARE(newsOfReset(window), QStringLiteral("B starts from step 0 now."));
}

void TestForks::aResetTellsOfScalesInAFile() {
    RunConfig config = tinyConfig(kForkedAfter);
    config.edits.push_back({3, 1, kLiveScale, 64.0});
    Opened opened(config);
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QCOMPARE(newsOfReset(opened.window),
             QStringLiteral("Loss scales that were set by hand are gone; the settings stay as they "
                            "are."));
}

/// An undone scale is the lane's own again.
void TestForks::aResetTellsOfNoUndoneScale() {
    Opened opened(tinyConfig(kForkedAfter));
    MainWindow& window = opened.window;
    QVERIFY(stepsTo(window, 3));
    window.shown().setScale(1, QStringLiteral("64"));
    actionFor(window, QKeySequence::Undo)->trigger();
    QVERIFY(trainsTo(window, kForkedAfter));
    const auto& edits = window.shown().run()->info().recorded.edits;
    QCOMPARE(edits.size(), size_t{2}); // the run knows of both
    QCOMPARE(newsOfReset(window), QString());
}

void TestForks::aResetCountsItsSteps() {
    const auto newsWith = [](const RunConfig& config) {
        ConfigModel model;
        model.load(config);
        ResetNews news;
        news.stopsAgainAt(model);
        return news.text();
    };
    QCOMPARE(newsWith(tinyConfig(1)),
             QStringLiteral("“Stop after” is 1 step again, as before you pressed Continue."));
    RunConfig lost = tinyConfig(1); // the steps of its epochs are not known
    lost.task.kind = TaskKind::Csv;
    lost.task.path = "/no/such.csv";
    lost.epochs = 91;
    QCOMPARE(newsWith(lost), QStringLiteral("The run ends after 91 epochs again, as before you "
                                            "pressed Continue."));
}

/// A lane that continues uses the data of the run, which a path that was mistyped since does not
/// change; a restart would read the file.
void TestForks::continuesBesideAPathThatIsWrong() {
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    QVERIFY(
        window.tryFile(write(opened.folder, QStringLiteral("a.csv"), "x,y\n1,2\n2,4\n3,5\n4,9\n")));
    QTRY_VERIFY_WITH_TIMEOUT(window.config().config().task.kind == TaskKind::Csv, kPatience);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(stepsTo(window, 3));
    window.setup().addLane();
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("data.path")),
                          opened.folder.filePath(QStringLiteral("b.csv"))));
    const auto* text = window.setup().findChild<QLabel*>(QStringLiteral("restartText"));
    QTRY_VERIFY_WITH_TIMEOUT(text->text().contains(QStringLiteral("b.csv")), kPatience);
    QVERIFY(text->text().startsWith(QStringLiteral("The new lane can continue from here. ")));
    const auto* restart = window.findChild<QPushButton*>(QStringLiteral("restartNow"));
    const auto* fork = window.findChild<QPushButton*>(QStringLiteral("forkNow"));
    QVERIFY(!restart->isVisibleTo(&window) && fork->isVisibleTo(&window));
    emit fork->menu()->aboutToShow();
    fork->menu()->actions().front()->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lanes(), 3, kPatience);
    QCOMPARE(window.bannerText(), QString());
}

} // namespace tst_forks

QTEST_MAIN(tst_forks::TestForks)
#include "tst_forks.moc"
