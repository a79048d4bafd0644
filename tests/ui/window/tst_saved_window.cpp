// Saved runs in the window: what was visible when the run was saved is visible again, a training
// replaces it and has its losses behind the new ones, and what cannot be read is reported in a
// sentence.
#include "tests/support/saved_run_parts.h"
#include "tests/support/served_events.h"
#include "ui/window/run_words.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTimer>

#include <algorithm>

namespace tst_saved_window {

using namespace halfscope;

namespace {

constexpr int64_t kTrained = 30;

bool trains(MainWindow& window) {
    window.play();
    return reaches(window, SessionState::Finished) &&
           QTest::qWaitFor([&] { return !window.showsSaved() && window.run().step() == kTrained; },
                           kPatience);
}

/// Returns rows of a run of two lanes, as long as a run may be.
std::string longTable(int64_t steps) {
    const std::vector<std::string> lanes = laneNames(tinyConfig(kTrained));
    std::string text = table::kSteps;
    StepRecord record;
    record.loss = 0.5f;
    for (record.step = 1; record.step <= steps; ++record.step)
        for (record.lane = 0; record.lane < 2; ++record.lane)
            text += table::stepLine(rowOf(record), lanes);
    return text;
}

/// Opens a folder as its user does and waits until that has ended. What is not there then never
/// comes: a test that waited for it would take minutes to fail.
bool opens(MainWindow& window, const QString& folder) {
    constexpr int kSoon = 20000; // ms; a few short runs are read by then, with sanitizers, too
    QSignalSpy ended(&window, &MainWindow::fileEnded);
    return window.tryFile(folder) && QTest::qWaitFor([&] { return !ended.isEmpty(); }, kSoon) &&
           ended.front().front().toBool();
}

/// Closes the window, which has to ask nothing: a question would wait for an answer for ever, so it
/// is cancelled, and the window stays.
bool closesUnasked(MainWindow& window) {
    QTimer::singleShot(0, &window, [] {
        if (QWidget* question = QApplication::activeModalWidget()) question->close();
    });
    return window.close();
}

} // namespace

class TestSavedWindow : public SavedRunTest {
    Q_OBJECT
private slots:
    void initTestCase();
    void looksAsItWasSaved();
    void oneStepIsOne();
    void sumsUpWhileItIsBuilt();
    void playMakesItTheRunBefore();
    void playMayComeBeforeIt();
    void playMayComeWhileItIsRead();
    void playAtTheEndCountsTrainedSteps();
    void resetMakesItTheRunBefore();
    void editsCountFromTheFirstStep();
    void ofTheCommandLine();
    void aFolderOfRunsListsThem();
    void theirNumberIsToldUntilATraining();
    void withoutTheOtherTables();
    void anExperimentAloneIsNoRun();
    void badFilesLeaveTheSettings_data();
    void badFilesLeaveTheSettings();
    void longTablesAreReadAside();
    void aResetMeanwhileLetsItBeRead();
    void anotherExperimentEndsReading();

private:
    QString longResults(int64_t steps);
    std::vector<double> m_losses, m_scales, m_speeds;
    QStringList m_sentences; ///< those of the event list
};

void TestSavedWindow::initTestCase() {
    QLocale::setDefault(QLocale::c());
    Opened opened(skippingConfig(kTrained));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(trains(opened.window));
    QTRY_VERIFY_WITH_TIMEOUT(pointsOf(opened.window, "Loss/A fp32").size() == 2 * kTrained,
                             kPatience);
    m_losses = pointsOf(opened.window, "Loss/A fp32");
    m_scales = pointsOf(opened.window, "Loss scale/B amp-fp16");
    m_speeds = pointsOf(opened.window, "Throughput (steps/s)/A fp32");
    m_sentences = sentencesOf(opened.window);
    QVERIFY(!m_scales.empty() && !m_speeds.empty() && !m_sentences.isEmpty());
    opened.window.saveResults(m_results);
    // the run would continue from there: tst_saved_checkpoint
    QVERIFY(QFile::remove(QDir(m_results).filePath(QStringLiteral("checkpoint.safetensors"))));
}

/// Writes results without times, which a long table does not have, and without the summary of a
/// shorter run.
QString TestSavedWindow::longResults(int64_t steps) {
    QString folder = copyOfResults();
    put(folder, "steps.csv", longTable(steps));
    for (const char* name : {"timing.csv", "summary.json"})
        if (!QFile::remove(QDir(folder).filePath(QLatin1String(name)))) return {};
    return folder;
}

void TestSavedWindow::oneStepIsOne() {
    RunInfo info;
    info.config = info.recorded = tinyConfig(1);
    Run run(info, lanesOf(info.config));
    const auto train = [&run](int64_t step) {
        RunBatch batch;
        for (const int lane : {0, 1})
            batch.rows.push_back(StepRow(step, lane).set(metric::Loss, 0.5f));
        run.append(std::move(batch));
    };
    train(1);
    QCOMPARE(RunWords::savedRun(run, true), QStringLiteral("Restored: a run of 1 step."));
    train(2);
    QCOMPARE(RunWords::savedRun(run, true), QStringLiteral("Restored: a run of 2 steps."));
}

void TestSavedWindow::looksAsItWasSaved() {
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(m_results);
    QVERIFY(showsSaved(window));
    QCOMPARE(window.windowTitle(), QStringLiteral("Kept – Halfscope"));
    const QString lead = QStringLiteral("Saved run of 30 steps, trained on ");
    QVERIFY(stateOf(window).startsWith(lead));
    QVERIFY(stateOf(window).endsWith(
        QStringLiteral(" Press Play (Space) to train it from the start.")));
    const QString tip = window.findChild<QLabel*>(QStringLiteral("headline"))->toolTip();
    QVERIFY(tip.startsWith(lead) && tip.contains(QStringLiteral(". In step 30 the loss is: ")));
    QCOMPARE(window.run().step(), kTrained);
    QCOMPARE(pointsOf(window, "Loss/A fp32"), m_losses);
    QCOMPARE(pointsOf(window, "Loss scale/B amp-fp16"), m_scales);
    QCOMPARE(pointsOf(window, "Throughput (steps/s)/A fp32"), m_speeds);
    QCOMPARE(sentencesOf(window), m_sentences);
    // and is saved again unchanged
    const QString again = m_folder.filePath(QStringLiteral("again"));
    window.saveResults(again);
    for (const char* name : {"experiment.json", "steps.csv", "events.csv", "timing.csv",
                             "output_fp32.png", "output_amp-fp16.png", "target.png"})
        QVERIFY2(contentOf(again, name) == contentOf(m_results, name), name);
}

/// It was trained already: that is told while networks are built, too, which may take long.
void TestSavedWindow::sumsUpWhileItIsBuilt() {
    FakeScript script;
    script.slowBuild = true;
    Opened opened(tinyConfig(7), played(script));
    MainWindow& window = opened.window;
    window.openFile(m_results);
    QTRY_VERIFY_WITH_TIMEOUT(window.showsSaved(), kPatience);
    QVERIFY(window.controller().state() == SessionState::Building);
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QTRY_VERIFY2_WITH_TIMEOUT(
        headline->accessibleName().startsWith(QStringLiteral("Saved run of 30 steps")),
        qPrintable(headline->accessibleName()), kPatience);
    QVERIFY(!headline->accessibleName().contains(QStringLiteral("Press Play")));
}

void TestSavedWindow::playMakesItTheRunBefore() {
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(m_results);
    QVERIFY(showsSaved(window));
    QTest::keyClick(&window, Qt::Key_B);
    QVERIFY(window.shown().showsBefore());
    QVERIFY(pointsOf(window, "Loss/before A").empty());
    QVERIFY(trains(window)); // all of it, from the first step on
    QTRY_COMPARE_WITH_TIMEOUT(pointsOf(window, "Loss/before A"), m_losses, kPatience);
    QCOMPARE(pointsOf(window, "Loss/A fp32"), m_losses); // the same seed, the same bits
    QCOMPARE(sentencesOf(window), m_sentences);
    QVERIFY(stateOf(window).startsWith(QStringLiteral("Finished.")));
}

/// `halfscope FOLDER --play` does this.
void TestSavedWindow::playMayComeBeforeIt() {
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.shown().showBefore(true);
    window.openFile(m_results);
    QVERIFY(trains(window));
    QTRY_COMPARE_WITH_TIMEOUT(pointsOf(window, "Loss/before A"), m_losses, kPatience);
    QCOMPARE(sentencesOf(window), m_sentences);
}

/// What is trained then waits until the saved run has been seen.
void TestSavedWindow::playMayComeWhileItIsRead() {
    const QString folder = longResults(200000);
    bool seen = false; // only for a moment
    FakeScript script; // built and trained in no time
    Opened opened(tinyConfig(7), played(script));
    MainWindow& window = opened.window;
    window.shown().showBefore(true);
    QVERIFY(reaches(window, SessionState::Ready));
    test::serveEvents(300); // its first frames are long ones
    connect(&window.shown(), &ShownRun::stirred, &window,
            [&] { seen = seen || window.showsSaved(); });
    window.openFile(folder);
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(seen, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(!window.showsSaved() && window.run().step() == kTrained, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(!pointsOf(window, "Loss/before A").empty(), kPatience);
    QCOMPARE(pointsOf(window, "Loss/A fp32").at(1), 1.0); // the loss of a FakeRun's first step
}

/// Continue asks for more steps than were trained, even before a row of the training has come.
void TestSavedWindow::playAtTheEndCountsTrainedSteps() {
    constexpr int64_t kSteps = 200;
    const QString folder = longResults(kSteps);
    FakeScript script;
    Opened opened(tinyConfig(7), played(script));
    MainWindow& window = opened.window;
    window.openFile(folder);
    QTRY_VERIFY_WITH_TIMEOUT(window.showsSaved() && window.run().step() == kSteps, kPatience);
    QVERIFY(reaches(window, SessionState::Ready));
    window.setStopStep(3);
    bool sawSaved = false;
    connect(&window.controller(), &ExperimentController::stateChanged, &window,
            [&](SessionState state) {
                // hears of the end before a frame can take the rows
                while (state == SessionState::Running && !sawSaved &&
                       window.controller().running()) {
                    QThread::msleep(1);
                    QCoreApplication::sendPostedEvents(&window.controller());
                }
                if (state != SessionState::Finished || sawSaved) return;
                sawSaved = window.showsSaved() && window.run().step() == kSteps;
                window.play();
            });
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(sawSaved, kPatience);
    QCOMPARE(window.config().config().steps, 3 + kTrained);
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), 3 + kTrained, kPatience);
}

void TestSavedWindow::resetMakesItTheRunBefore() {
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.shown().showBefore(true);
    window.openFile(QDir(m_results).filePath(QStringLiteral("steps.csv")));
    QVERIFY(showsSaved(window));
    window.restart();
    QTRY_VERIFY_WITH_TIMEOUT(!pointsOf(window, "Loss/before A").empty(), kPatience);
    const std::vector<double> before = pointsOf(window, "Loss/before A"); // as far as it is in view
    QVERIFY(std::equal(before.begin(), before.end(), m_losses.begin()));
    QVERIFY(!window.showsSaved());
    QCOMPARE(window.run().step(), int64_t{0});
    QCOMPARE(window.events().rowCount(), 0);
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(stateOf(window), QStringLiteral("Ready. Press Play (Space)."));
}

void TestSavedWindow::editsCountFromTheFirstStep() {
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(m_results);
    QVERIFY(showsSaved(window));
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& model = window.config();
    QVERIFY(
        model.setData(model.index(model.rowOf("scaler.growth_interval", 1)), QStringLiteral("7")));
    test::serveEvents(200); // some frames
    QCOMPARE(sentencesOf(window), m_sentences);
    QVERIFY(trains(window));
    // the new run began with it
    QVERIFY(sentencesOf(window).filter(QStringLiteral("From step 1: ")).isEmpty());
    QCOMPARE(window.run().lane(1).growthInterval, int64_t{7});
}

/// Its events.csv has the echoes, too, and its times are exact.
void TestSavedWindow::ofTheCommandLine() {
    const QString folder = m_folder.filePath(QStringLiteral("cli"));
    trainInto(folder.toStdString(), skippingConfig(kTrained));
    Opened opened(tinyConfig(7));
    opened.window.openFile(folder);
    QVERIFY(showsSaved(opened.window));
    QCOMPARE(pointsOf(opened.window, "Loss/A fp32"), m_losses);
    QCOMPARE(sentencesOf(opened.window), m_sentences);
    opened.window.saveResults(folder);
    const std::string summary = contentOf(folder, "summary.json"); // still this run's
    QVERIFY(trains(opened.window));
    opened.window.saveResults(folder);
    QVERIFY(contentOf(folder, "summary.json") != summary); // other times
}

/// Folders with pictures in each of them would else be taken for a data set of pictures.
void TestSavedWindow::aFolderOfRunsListsThem() {
    QTemporaryDir folder;
    for (const char* name :
         {"run 10", "run 2", "damaged 1", "damaged 2", "damaged 3", "damaged 10", "a half"})
        QVERIFY(!copyOf(m_results, folder.filePath(QLatin1String(name))).isEmpty());
    for (const char* number : {"1", "2", "3", "10"})
        put(folder.filePath(QStringLiteral("damaged %1").arg(number)), "steps.csv", "abc\n1\n");
    QVERIFY(QFile::remove(folder.filePath(QStringLiteral("a half/steps.csv"))));
    WindowOptions options;
    options.askAfterSeconds = 0; // closing asks about any run that is not saved
    Opened opened(tinyConfig(20), options);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY2(opens(window, folder.path()), qPrintable(window.bannerText()));
    QCOMPARE(window.runs().rowCount(), 2);
    const auto nameOf = [&](int row) { return window.runs().index(row, 0).data().toString(); };
    QVERIFY2(nameOf(0).contains(QStringLiteral("run 2")), qPrintable(nameOf(0)));
    QVERIFY2(nameOf(1).contains(QStringLiteral("run 10")), qPrintable(nameOf(1)));
    QVERIFY(window.runs().index(1, 0).data(RunListModel::CurrentRole).toBool());
    QVERIFY(window.showsSaved());
    QVERIFY(QTest::qWaitFor([&] { return !pointsOf(window, "Loss/A fp32").empty(); }, kPatience));
    QCOMPARE(pointsOf(window, "Loss/A fp32"), m_losses);
    const QString banner = window.bannerText();
    QVERIFY2(banner.startsWith(QStringLiteral("Saved runs opened: 2. F8 shows the list of runs. "
                                              "Not all could be read: ")),
             qPrintable(banner));
    QVERIFY2(banner.contains(QStringLiteral("/a half: steps.csv is missing, without which a saved "
                                            "run cannot be opened; ")),
             qPrintable(banner));
    for (const char* name : {"/damaged 1/", "/damaged 2/"})
        QVERIFY2(banner.count(QLatin1String(name)) == 1, qPrintable(banner));
    QVERIFY2(!banner.contains(QStringLiteral("damaged 3")), qPrintable(banner));
    QVERIFY2(banner.endsWith(QStringLiteral("; and 2 more")), qPrintable(banner));
    // as if each of them had been opened alone
    const QString lead = QStringLiteral("Saved run of 30 steps, trained on ");
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY2(stateOf(window).startsWith(lead), qPrintable(stateOf(window)));
    QCOMPARE(window.bannerText(), banner);
    window.shown().bringBack(window.runs().idAt(0));
    QCOMPARE(window.bannerText(), QString()); // the user has gone on
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY2(stateOf(window).startsWith(lead), qPrintable(stateOf(window)));
    QVERIFY(closesUnasked(window));
}

void TestSavedWindow::theirNumberIsToldUntilATraining() {
    QTemporaryDir folder;
    QVERIFY(!copyOf(m_results, folder.filePath(QStringLiteral("run 1"))).isEmpty());
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY2(opens(window, folder.path()), qPrintable(window.bannerText()));
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(window.bannerText(),
             QStringLiteral("Saved runs opened: 1. F8 shows the list of runs."));
    QVERIFY(trains(window));
    QCOMPARE(window.bannerText(), QString());
}

void TestSavedWindow::withoutTheOtherTables() {
    const QString folder = copyOfResults();
    QVERIFY(QFile::copy(QDir(m_results).filePath(QStringLiteral("manifest.json")),
                        QDir(folder).filePath(QStringLiteral("manifest.json"))));
    for (const char* name :
         {"events.csv", "timing.csv", "summary.json", "output_fp32.png", "target.png"})
        QVERIFY(QFile::remove(QDir(folder).filePath(QLatin1String(name))));
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(folder);
    QVERIFY(showsSaved(window));
    QCOMPARE(stateOf(window), QStringLiteral("Saved run of 30 steps; missing: events.csv, "
                                             "output_fp32.png, summary.json, target.png, "
                                             "timing.csv. Press Play (Space) to train it from the "
                                             "start."));
    QCOMPARE(pointsOf(window, "Loss/A fp32"), m_losses);
    QVERIFY(pointsOf(window, "Throughput (steps/s)/A fp32").empty());
    QCOMPARE(window.events().rowCount(), 0);
}

void TestSavedWindow::anExperimentAloneIsNoRun() {
    const QString folder = copyOfResults();
    QVERIFY(QFile::remove(QDir(folder).filePath(QStringLiteral("steps.csv"))));
    QVERIFY(QFile::copy(QDir(m_results).filePath(QStringLiteral("experiment.json")),
                        QDir(m_results).filePath(QStringLiteral("other.json"))));
    for (const QString& path : {folder, QDir(m_results).filePath(QStringLiteral("other.json"))}) {
        Opened opened(tinyConfig(7));
        opened.window.openFile(path);
        QVERIFY(reaches(opened.window, SessionState::Ready));
        test::serveEvents(100);
        QCOMPARE(opened.window.windowTitle(), QStringLiteral("Kept – Halfscope"));
        QVERIFY(!opened.window.showsSaved());
        QCOMPARE(opened.window.bannerText(), QString());
    }
}

void TestSavedWindow::badFilesLeaveTheSettings_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("part");
    for (const char* table : {"steps.csv", "timing.csv", "events.csv"})
        QTest::newRow(table) << table
                             << ", line 1: there is no column step, which every such file has";
}

void TestSavedWindow::badFilesLeaveTheSettings() {
    QFETCH(const QString, name);
    QFETCH(const QString, part);
    const QString folder = copyOfResults();
    const QByteArray file = name.toLatin1();
    put(folder, file.constData(), "nonsense\n");
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(folder);
    QTRY_VERIFY_WITH_TIMEOUT(!window.bannerText().isEmpty(), kPatience);
    const QString banner = window.bannerText();
    QVERIFY2(banner.startsWith(QDir(folder).filePath(name)), qPrintable(banner));
    QVERIFY2(banner.contains(part), qPrintable(banner));
    QVERIFY2(banner.endsWith(
                 QStringLiteral(". The settings were opened without the curves of the run.")),
             qPrintable(banner));
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(configText(window.config().config()), configText(skippingConfig(kTrained)));
    QVERIFY(!window.showsSaved());
    QCOMPARE(window.run().step(), int64_t{0});
    QVERIFY(trains(window));
}

/// The window stays responsive while a long table is read.
void TestSavedWindow::longTablesAreReadAside() {
    constexpr int64_t kSteps = 150000;
    const QString folder = longResults(kSteps);
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    int frames = 0;
    QTimer ticks;
    ticks.callOnTimeout([&] { frames += window.shown().reads() ? 1 : 0; });
    ticks.start(1);
    window.openFile(folder);
    QVERIFY(window.shown().reads());
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), kSteps, kPatience);
    QVERIFY2(frames >= 5, qPrintable(QString::number(frames)));
    QVERIFY(showsSaved(window));
    QCOMPARE(stateOf(window),
             QStringLiteral("Saved run of 150000 steps; missing: timing.csv, summary.json. Press "
                            "Play (Space) to train it from the start."));
    QVERIFY(trains(window));
}

void TestSavedWindow::aResetMeanwhileLetsItBeRead() {
    constexpr int64_t kSteps = 150000;
    const QString folder = longResults(kSteps);
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(folder);
    QVERIFY(window.shown().reads());
    window.restart();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), kSteps, kPatience);
    QVERIFY(showsSaved(window));
    const std::vector<double> points = pointsOf(window, "Loss/A fp32");
    QCOMPARE(points.front(), 1.0); // all of it, from the first step on
    const QString again = m_folder.filePath(QStringLiteral("reset"));
    window.saveResults(again);
    QVERIFY(contentOf(again, "steps.csv") == contentOf(folder, "steps.csv"));
}

void TestSavedWindow::anotherExperimentEndsReading() {
    const QString folder = copyOfResults();
    put(folder, "steps.csv", longTable(100000));
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(folder);
    window.openExperiment(opened.folder.filePath(QStringLiteral("small.json")));
    QVERIFY(reaches(window, SessionState::Ready));
    test::serveEvents(500);
    QVERIFY(!window.showsSaved());
    QCOMPARE(window.run().step(), int64_t{0});
    QCOMPARE(window.bannerText(), QString());
    // nor does a run that is shown outlive it
    window.openFile(folder);
    QTRY_VERIFY_WITH_TIMEOUT(window.showsSaved() || !window.bannerText().isEmpty(), kPatience);
    window.openExperiment(opened.folder.filePath(QStringLiteral("small.json")));
    QVERIFY(reaches(window, SessionState::Ready));
    test::serveEvents(200);
    QVERIFY(!window.showsSaved());
    QCOMPARE(window.run().step(), int64_t{0});
}

} // namespace tst_saved_window

QTEST_MAIN(tst_saved_window::TestSavedWindow)
#include "tst_saved_window.moc"
