// What the folder of a saved run tells besides its curves: the machine that trained it, and its
// gradients over the steps.
#include "engine/io/strict_json.h"
#include "tests/support/file_menu.h"
#include "tests/support/plot_parts.h"
#include "tests/support/saved_run_parts.h"
#include "ui/dialogs/layer_gradients_dialog.h"
#include "ui/panels/scaler_panel.h"
#include "ui/plots/gradient_view.h"

#include <QAbstractButton>
#include <QApplication>
#include <QFocusEvent>
#include <QToolButton>

#include <algorithm>

namespace tst_saved_results {

using namespace halfscope;

namespace {

constexpr int64_t kTrained = 30;
constexpr const char* kHere = "Test device"; // a FakeRun's

QString deviceOf(MainWindow& window) {
    return window.findChild<QToolButton*>(QStringLiteral("device"))->text();
}

QString statusDeviceOf(MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("statusDevice"))->text();
}

/// Returns the memory texts by lane, as on the cards.
QStringList memoriesOf(MainWindow& window) {
    QStringList memories;
    for (const LaneCard* card : window.findChildren<LaneCard*>())
        for (const QLabel* name : card->findChildren<QLabel*>())
            if (const auto* figure = qobject_cast<const QLabel*>(name->buddy());
                figure && name->text() == QLatin1String("Memory"))
                memories << figure->text();
    return memories;
}

/// Returns everything written on the window and in its tips.
QString wordsOf(MainWindow& window) {
    QStringList words;
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        words << widget->toolTip() << widget->accessibleName() << widget->accessibleDescription();
        if (const auto* label = qobject_cast<const QLabel*>(widget)) words << label->text();
        if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
            words << button->text();
    }
    return words.join(u'\n');
}

bool sameColumns(const GradientHistory& a, const GradientHistory& b) {
    const auto first = a.columns(), second = b.columns();
    return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                      [](const GradientColumn& x, const GradientColumn& y) {
                          return x.from == y.from && x.to == y.to && x.counted == y.counted &&
                                 x.merged == y.merged && x.shares.buckets == y.shares.buckets &&
                                 x.shares.zeros == y.shares.zeros &&
                                 x.shares.notFinite == y.shares.notFinite;
                      });
}

bool sameSkips(const GradientHistory& a, const GradientHistory& b) {
    for (double step = 1; step <= kTrained; ++step)
        if (a.skipped(step - 0.4, step + 0.4) != b.skipped(step - 0.4, step + 0.4)) return false;
    return a.lastStep() == b.lastStep();
}

/// Whether the plots say so to those who cannot see them.
bool plotsSay(MainWindow& window, const QString& words) {
    return QTest::qWaitFor(
        [&] {
            QFocusEvent focus(QEvent::FocusIn); // then they are described at once
            QApplication::sendEvent(&window.plots(), &focus);
            return window.plots().accessibleDescription().contains(words);
        },
        kPatience);
}

} // namespace

class TestSavedResults : public SavedRunTest {
    Q_OBJECT
private slots:
    void initTestCase() {
        QLocale::setDefault(QLocale::c());
        trainElsewhere(m_results, skippingConfig(kTrained));
    }
    void tellsWhatTrainedIt();
    void withoutSummary();
    void anotherSummaryIsRefused();
    void gradientsLookAsTrained();
    void gradientsOfTheCommandLine();
    void withoutGradients();
    void damagedGradientsAreTold();
};

/// The window does not name the machine that shows the run, until that machine trains.
void TestSavedResults::tellsWhatTrainedIt() {
    FakeScript script;
    Opened opened(tinyConfig(7), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(memoriesOf(window), QStringList(2, QStringLiteral("1.5 MiB")));
    window.openFile(m_results);
    QVERIFY(showsSaved(window));
    QCOMPARE(stateOf(window), QStringLiteral("Saved run of 30 steps, trained on NVIDIA H200. Press "
                                             "Play (Space) to train it from the start."));
    QTRY_VERIFY_WITH_TIMEOUT(
        window.findChild<QLabel*>(QStringLiteral("headline"))
            ->toolTip()
            .startsWith(QStringLiteral("Saved run of 30 steps, trained on NVIDIA H200. In step ")),
        kPatience);
    QCOMPARE(deviceOf(window), QStringLiteral("GPU: NVIDIA H200"));
    QCOMPARE(statusDeviceOf(window), QStringLiteral("NVIDIA H200"));
    QCOMPARE(memoriesOf(window), (QStringList{QStringLiteral("5 MiB"), QStringLiteral("7 MiB")}));
    QString words = wordsOf(window);
    QVERIFY(words.contains(QStringLiteral("This run was trained on NVIDIA H200\nWith cuDNN 9.7")));
    words.remove(QStringLiteral("Press Play to train on Test device"));
    QVERIFY2(!words.contains(QLatin1String(kHere)), qPrintable(words));

    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(!window.showsSaved() && window.run().step() == kTrained, kPatience);
    QCOMPARE(statusDeviceOf(window), QLatin1String(kHere));
    QCOMPARE(deviceOf(window), QStringLiteral("CPU"));
    QCOMPARE(memoriesOf(window), QStringList(2, QStringLiteral("1.5 MiB")));
    QVERIFY(!wordsOf(window).contains(QStringLiteral("H200")));

    window.bringBack(); // with its own figures
    QTRY_COMPARE_WITH_TIMEOUT(statusDeviceOf(window), QStringLiteral("NVIDIA H200"), kPatience);
    QCOMPARE(memoriesOf(window), (QStringList{QStringLiteral("5 MiB"), QStringLiteral("7 MiB")}));
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_VERIFY_WITH_TIMEOUT(window.showsSaved() && window.run().step() == kTrained, kPatience);
    window.bringBack(); // what was trained here
    QTRY_VERIFY_WITH_TIMEOUT(window.showsSaved() && statusDeviceOf(window) == QLatin1String(kHere),
                             kPatience);
    QCOMPARE(memoriesOf(window), QStringList(2, QStringLiteral("1.5 MiB")));
}

/// When there is no summary the machine is unknown, and no other is named instead.
void TestSavedResults::withoutSummary() {
    const QString folder = copyOfResults();
    QVERIFY(QFile::remove(QDir(folder).filePath(QStringLiteral("summary.json"))));
    FakeScript script;
    Opened opened(tinyConfig(7), played(script));
    MainWindow& window = opened.window;
    window.openFile(folder);
    QVERIFY(showsSaved(window));
    QCOMPARE(stateOf(window), QStringLiteral("Saved run of 30 steps; missing: summary.json. Press "
                                             "Play (Space) to train it from the start."));
    QCOMPARE(deviceOf(window), QStringLiteral("Device not recorded"));
    QCOMPARE(statusDeviceOf(window), QStringLiteral("Device not recorded"));
    QCOMPARE(memoriesOf(window), QStringList());
    QString words = wordsOf(window);
    words.remove(QStringLiteral("Press Play to train on Test device"));
    QVERIFY2(!words.contains(QLatin1String(kHere)), qPrintable(words));
}

void TestSavedResults::anotherSummaryIsRefused() {
    const QString folder = copyOfResults();
    Json summary = Json::parse(contentOf(folder, "summary.json"));
    summary["device"]["kind"] = "tpu";
    put(folder, "summary.json", summary.dump());
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(folder);
    QTRY_COMPARE_WITH_TIMEOUT(
        window.bannerText(),
        QDir(folder).filePath(QStringLiteral("summary.json")) +
            QStringLiteral(": device.kind: \"tpu\" is not allowed: cpu or cuda. The settings were "
                           "opened without the curves of the run."),
        kPatience);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(!window.showsSaved());
    QVERIFY(!deviceOf(window).contains(QStringLiteral("H200")));
}

/// This includes the zones of fp16, which need the dtype that no file has. The run is shown again
/// after it was brought back.
void TestSavedResults::gradientsLookAsTrained() {
    Opened opened(skippingConfig(kTrained));
    MainWindow& trained = opened.window;
    QVERIFY(reaches(trained, SessionState::Ready));
    QTest::keyClick(&trained, Qt::Key_G);
    QTRY_VERIFY_WITH_TIMEOUT(!trained.gradients().figures(1).isEmpty(), kPatience);
    trained.play();
    QVERIFY(reaches(trained, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(gradientsOf(trained)[1].lastStep(), kTrained, kPatience);
    const std::vector<GradientHistory> live = gradientsOf(trained);
    QVERIFY(live[1].columns().size() > 3);
    QVERIFY(live[1].skipped(1, 5));
    QCOMPARE(live[1].type(), std::optional(DType::F16));
    const QString folder = m_folder.filePath(QStringLiteral("counted"));
    trained.saveResults(folder);

    Opened other(tinyConfig(7));
    MainWindow& window = other.window;
    window.openFile(folder);
    QVERIFY(showsSaved(window));
    const std::vector<GradientHistory> saved = gradientsOf(window);
    QVERIFY(!saved[1].type());
    QTest::keyClick(&window, Qt::Key_G);
    QVERIFY(window.plots().showsGradients());
    for (size_t lane = 0; lane < live.size(); ++lane) {
        QVERIFY(sameColumns(saved[lane], live[lane]));
        QVERIFY(sameSkips(saved[lane], live[lane]));
        QTRY_VERIFY_WITH_TIMEOUT(gradientsOf(window)[lane].type() == live[lane].type(), kPatience);
    }
    const QString again = m_folder.filePath(QStringLiteral("counted again"));
    window.saveResults(again);
    QVERIFY(contentOf(again, "gradients.csv") == contentOf(folder, "gradients.csv"));

    for (MainWindow* each : {&trained, &window}) {
        const std::vector<GradientHistory> before = gradientsOf(*each);
        each->restart();
        QTRY_VERIFY_WITH_TIMEOUT(each->run().step() == 0, kPatience);
        QVERIFY(gradientsOf(*each)[1].columns().empty());
        each->bringBack();
        QTRY_VERIFY_WITH_TIMEOUT(
            stateOf(*each).startsWith(QStringLiteral("Restored: a run of 30 steps.")), kPatience);
        for (size_t lane = 0; lane < before.size(); ++lane) {
            const GradientHistory after = gradientsOf(*each)[lane];
            QVERIFY(sameColumns(after, before[lane]) && sameSkips(after, before[lane]));
            QVERIFY(after.type() == before[lane].type());
        }
    }
}

/// Gradients are known for the steps that were counted, and for no others.
void TestSavedResults::gradientsOfTheCommandLine() {
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QTest::keyClick(&window, Qt::Key_G);
    QVERIFY(window.plots().showsGradients());
    window.openFile(m_results);
    QVERIFY(showsSaved(window));
    const GradientHistory lane = gradientsOf(window)[1];
    QCOMPARE(lane.columns().size(), size_t{8});
    for (int64_t step = 1; step <= kTrained; ++step)
        QCOMPARE(lane.at(step).has_value(), step % 4 == 1);
    QVERIFY(lane.at(1)->shares.notFinite > 0);
    QTRY_COMPARE_WITH_TIMEOUT(gradientsOf(window)[1].type(), std::optional(DType::F16), kPatience);
    QVERIFY(plotsSay(window, QStringLiteral("(counted at step 29)")));
    const QString again = m_folder.filePath(QStringLiteral("cli again"));
    window.saveResults(again);
    QCOMPARE(sortedLines(contentOf(again, "gradients.csv")),
             sortedLines(contentOf(m_results, "gradients.csv")));
}

void TestSavedResults::withoutGradients() {
    const QString folder = copyOfResults();
    QVERIFY(QFile::remove(QDir(folder).filePath(QStringLiteral("gradients.csv"))));
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QTest::keyClick(&window, Qt::Key_G);
    QVERIFY(window.plots().showsGradients());
    window.openFile(folder);
    QVERIFY(showsSaved(window));
    QVERIFY(plotsSay(window, QStringLiteral("not counted during this run")));
    QTRY_VERIFY(!plotOf(window.plots()).axisRect(2)->visible()); // the header says it
    QTRY_VERIFY_WITH_TIMEOUT(!window.gradients().figures(1).isEmpty(), kPatience);
    QVERIFY(gradientsOf(window)[1].columns().empty()); // those belong to the next training
    QCOMPARE(window.gradients().heading(), QStringLiteral("Scaled gradients of a new training"));
    // so does the table of layers, whose step is not that of the window
    fileAction(window, QStringLiteral("Gradients by layer"))->trigger();
    auto* layers = window.findChild<LayerGradientsDialog*>();
    QVERIFY(layers);
    QTRY_VERIFY_WITH_TIMEOUT(layers->model().rowCount() > 0, kPatience);
    const QString anew = QStringLiteral("not of the run that is shown.");
    QTRY_VERIFY2(layers->heading().contains(anew), qPrintable(layers->heading()));
    window.stepOnce();
    QTRY_VERIFY_WITH_TIMEOUT(!window.showsSaved(), kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(window.gradients().heading(),
                              QStringLiteral("Scaled gradients after step 1"), kPatience);
    QTRY_VERIFY2(!layers->heading().contains(anew), qPrintable(layers->heading()));
    layers->close();
    window.bringBack();
    QTRY_VERIFY_WITH_TIMEOUT(
        stateOf(window).startsWith(QStringLiteral("Restored: a run of 30 steps.")), kPatience);
    QVERIFY(plotsSay(window, QStringLiteral("not counted during this run")));
    QVERIFY(!window.saveResults(m_folder.filePath(QStringLiteral("uncounted")))
                 .contains(QStringLiteral("gradients.csv")));
}

/// A damaged line hides neither the curves nor what is wrong.
void TestSavedResults::damagedGradientsAreTold() {
    const QString folder = copyOfResults();
    std::string text = contentOf(folder, "gradients.csv");
    text.replace(text.find("\nfp32,1,1,1,"), 12, "\nfp32,1,1,7,");
    put(folder, "gradients.csv", text);
    Opened opened(tinyConfig(7));
    opened.window.openFile(folder);
    QVERIFY(showsSaved(opened.window));
    const QString told = stateOf(opened.window);
    QVERIFY2(told.contains(QStringLiteral("; missing: the rest of gradients.csv (") +
                           QDir(folder).filePath(QStringLiteral("gradients.csv")) +
                           QStringLiteral(", line 2, counted_step: \"7\" is not allowed: 1).")),
             qPrintable(told));
    QCOMPARE(opened.window.bannerText(), QString());
}

} // namespace tst_saved_results

QTEST_MAIN(tst_saved_results::TestSavedResults)
#include "tst_saved_results.moc"
