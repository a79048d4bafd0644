// What leaves the window for papers and for other programs: pictures of the plots, their values,
// pictures of the lanes, and the results of a run, which may lie where another run's are.
#include "tests/support/file_menu.h"
#include "tests/support/opened_window.h"
#include "ui/images/compare_view.h"
#include "ui/look/theme.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/results_question.h"

#include <QImage>
#include <QMessageBox>
#include <QPushButton>
#include <QSvgRenderer>

namespace tst_exports {

using namespace halfscope;

namespace {

struct Asked {
    QString text{};
    QMessageBox::StandardButton enter = QMessageBox::NoButton; ///< what Enter chooses
};

/// Answers every question with Enter while something is done.
template <class Act>
Asked asksDuring(const Act& act) {
    Asked asked;
    QTimer answers;
    QObject::connect(&answers, &QTimer::timeout, &answers, [&] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box) return;
        asked = {box->text(), box->standardButton(box->defaultButton())};
        box->defaultButton()->click();
    });
    answers.start(10);
    act();
    return asked;
}

/// Saves the results in a folder through the menu, and answers every question with Enter.
Asked asksOnSaving(MainWindow& window, const QString& folder) {
    return asksDuring([&] {
        answerWith(folder);
        if (QAction* save = fileAction(window, QStringLiteral("Save &results…"))) save->trigger();
    });
}

/// A run of one lane with this many steps.
std::shared_ptr<Run> runWith(RunInfo info, int64_t steps) {
    auto run = std::make_shared<Run>(std::move(info), std::vector<LaneInfo>{{"fp32", "fp32"}});
    RunBatch batch;
    for (int64_t step = 1; step <= steps; ++step) {
        StepRow row;
        row.step = step;
        row.set(metric::Loss, 0.5);
        batch.rows.push_back(row);
    }
    run->append(std::move(batch));
    return run;
}

std::shared_ptr<Run> savedRun(const char* id, int64_t steps) {
    RunInfo info;
    info.folder = "/results/mine";
    info.id = id;
    return runWith(std::move(info), steps);
}

/// A run that went on from the saved one after a step of it, with rows of its own since.
std::shared_ptr<Run> wentOn(const Run& from, int64_t after, int64_t steps) {
    RunInfo info;
    const RunInfo begun = Run::goingOn(defaultConfig(), from.now(), after)->info();
    info.pastFolder = begun.pastFolder;
    info.pastId = begun.pastId;
    info.pastStep = begun.pastStep;
    return runWith(std::move(info), steps);
}

/// Returns what Enter chooses when a run is saved where this one is.
QMessageBox::StandardButton enterFor(const ResultsQuestion& question, const char* id, int64_t steps,
                                     const std::shared_ptr<Run>& run,
                                     const std::shared_ptr<Run>& before = {}) {
    QWidget parent;
    const HeldResults held{{QStringLiteral("steps.csv")}, HeldRun{id, "Mine", steps}};
    return asksDuring([&] {
               (void)question.mayReplace(&parent, QStringLiteral("/results/mine"), held, run,
                                         before);
           })
        .enter;
}

RunConfig named(const char* title, int64_t steps) {
    RunConfig config = tinyConfig(steps);
    config.title = title;
    return config;
}

} // namespace

class TestExports : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { applyTheme(*qApp, Theme::Light); }
    void filesOfPlotsAreLight_data();
    void filesOfPlotsAreLight();
    void valuesOfAPlot();
    void pictures();
    void resultsOfAnotherRunStay();
    void resultsOfTheSameRun();
    void laterStepsOfTheSameRun();
    void rowsThatOnlyTheFolderHas();

private:
    static QByteArray read(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
};

void TestExports::filesOfPlotsAreLight_data() {
    QTest::addColumn<QString>("ending");
    QTest::newRow("svg") << QStringLiteral("svg");
    QTest::newRow("png") << QStringLiteral("png");
}

/// A dark page costs ink and cannot be read in print. The window and what is copied from it stay
/// dark.
void TestExports::filesOfPlotsAreLight() {
    QFETCH(const QString, ending);
    WindowOptions options;
    options.theme = Theme::Dark;
    Opened opened(tinyConfig(20), options);
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 20));
    const auto drawn = [&window] {
        window.plots().refresh();
        return window.plots().picture();
    };
    QImage before; // once a frame has written the headings of the end
    QTRY_VERIFY((before = drawn(), QTest::qWait(100), before == drawn()));
    QVERIFY2(before.pixelColor(2, 2).lightness() < 60, qPrintable(before.pixelColor(2, 2).name()));
    const QString path = opened.folder.filePath(QStringLiteral("plots.") + ending);
    QAction* save = fileAction(window, QStringLiteral("Save &picture of the plots…"));
    QVERIFY(save);
    answerWith(path);
    save->trigger();
    QTRY_VERIFY(QFile::exists(path));
    QImage saved(path);
    if (ending == QLatin1String("svg")) {
        saved = QImage(window.plots().size(), QImage::Format_RGB32);
        saved.fill(Qt::red);
        QPainter painter(&saved);
        QSvgRenderer(path).render(&painter);
    }
    QVERIFY(!saved.isNull());
    int light = 0, dark = 0;
    for (int y = 0; y < saved.height(); ++y)
        for (int x = 0; x < saved.width(); ++x) {
            const int lightness = saved.pixelColor(x, y).lightness();
            light += lightness > 240;
            dark += lightness < 60;
        }
    QVERIFY2(light > 10 * dark && dark > 0,
             qPrintable(QStringLiteral("%1 %2").arg(light).arg(dark)));
    window.plots().refresh();                   // as the next frame does
    QCOMPARE(window.plots().picture(), before); // with the theme's colours, as it was
}

void TestExports::valuesOfAPlot() {
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QAction* menu = fileAction(window, QStringLiteral("Save &values of a plot"));
    QVERIFY(menu && menu->menu());
    const auto entry = [&](const QString& text) {
        emit menu->menu()->aboutToShow();
        for (QAction* each : menu->menu()->actions())
            if (each->text() == text) return each;
        return static_cast<QAction*>(nullptr);
    };
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(entry(QStringLiteral("Loss…")) && !entry(QStringLiteral("Loss…"))->isEnabled());
    QVERIFY(trainsTo(window, 20));
    window.plots().refresh();
    const QString path = opened.folder.filePath(QStringLiteral("loss.csv"));
    answerWith(path);
    entry(QStringLiteral("Loss…"))->trigger();
    QTRY_VERIFY(QFile::exists(path));
    const QList<QByteArray> lines = read(path).split('\n');
    QCOMPARE(lines.size(), qsizetype{22}); // a header, and an empty one behind the last line's end
    QVERIFY2(lines[0].startsWith("step,A fp32,B "), lines[0]);
    QVERIFY2(lines[20].startsWith("20,"), lines[20]);
}

void TestExports::pictures() {
    WindowOptions options;
    options.theme = Theme::Dark;
    Opened opened(tinyConfig(5), options);
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 5));
    const QString path = opened.folder.filePath(QStringLiteral("lanes.png"));
    QAction* save = fileAction(window, QStringLiteral("Save pict&ures…"));
    QVERIFY(save);
    answerWith(path);
    save->trigger();
    QTRY_VERIFY(QFile::exists(path));
    auto* view = window.findChild<CompareView*>();
    const QImage clean = view->picture(paperColors());
    QImage saved = QImage(path).convertToFormat(clean.format());
    saved.setDevicePixelRatio(clean.devicePixelRatio()); // which no file has
    QCOMPARE(saved, clean);
    QCOMPARE(saved.pixelColor(2, 2), QColor(Qt::white));
    // the mark of the pixel that is read is no part of them
    QTest::keyClick(view, Qt::Key_Right);
    QVERIFY2(view->readout().startsWith(QStringLiteral("x ")), qPrintable(view->readout()));
    QCOMPARE(view->picture(paperColors()), clean);
    QVERIFY(view->readout().startsWith(QStringLiteral("x "))); // it stays in the window
    // beside the pictures, too
    QVERIFY(view->actions().contains(save));
    QCOMPARE(view->contextMenuPolicy(), Qt::ActionsContextMenu);
}

/// Two presses of Return must not lose what another run has taken hours for.
void TestExports::resultsOfAnotherRunStay() {
    const QTemporaryDir folder;
    const QString place = folder.filePath(QStringLiteral("lecture5"));
    Opened first(named("Lecture 5", 20));
    QVERIFY(trainsTo(first.window, 20));
    first.window.saveResults(place);
    const QString manifest = place + QStringLiteral("/manifest.json");
    const QByteArray before = read(manifest);
    QVERIFY(!before.isEmpty());
    Opened second(named("Mine", 5));
    QVERIFY(trainsTo(second.window, 5));
    Asked asked = asksOnSaving(second.window, place);
    QCOMPARE(asked.text, place + QString::fromUtf8(" holds the results of another run, “Lecture 5” "
                                                   "(20 steps). Replace them?"));
    QCOMPARE(asked.enter, QMessageBox::Cancel);
    QCOMPARE(read(manifest), before);
    QVERIFY(second.window.shown().hasUnsavedRows());
    const QTemporaryDir foreign; // no run's
    const QString steps = write(foreign, QStringLiteral("steps.csv"), "mine");
    asked = asksOnSaving(second.window, foreign.path());
    QCOMPARE(asked.text, foreign.path() + QStringLiteral(" already has files with these names, "
                                                         "perhaps of another program: steps.csv. "
                                                         "Replace them?"));
    QCOMPARE(asked.enter, QMessageBox::Cancel);
    QCOMPARE(read(steps), QByteArray("mine"));
}

/// Its earlier results are written again, also when the run was opened from there, or goes on from
/// its checkpoint there.
void TestExports::resultsOfTheSameRun() {
    const QTemporaryDir folder;
    const QString place = folder.filePath(QStringLiteral("mine"));
    const QString manifest = place + QStringLiteral("/manifest.json");
    Opened opened(named("Mine", 5));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 5));
    QCOMPARE(asksOnSaving(window, place).text, QString());
    const auto isWrittenAgain = [&](MainWindow& by) {
        const QByteArray before = read(manifest);
        const Asked asked = asksOnSaving(by, place);
        return asked.enter == QMessageBox::Yes && read(manifest) != before &&
               asked.text == place + QLatin1String(" already holds results of this run. Replace "
                                                   "them?");
    };
    QVERIFY(isWrittenAgain(window));
    window.openFile(place);
    QVERIFY(QTest::qWaitFor([&] { return window.showsSaved(); }, kPatience));
    QVERIFY(isWrittenAgain(window));
    QVERIFY(isWrittenAgain(window)); // it has another id there now
    Opened later(named("Other", 5));
    QVERIFY(later.window.tryFile(place));
    QVERIFY(reaches(later.window, SessionState::Finished));
    QTRY_VERIFY_WITH_TIMEOUT(later.window.showsSaved(), kPatience);
    QVERIFY(isWrittenAgain(later.window)); // another id again, and then it goes on
    QVERIFY(trainsTo(later.window, 10));
    QTRY_VERIFY_WITH_TIMEOUT(!later.window.showsSaved(), kPatience);
    QVERIFY(isWrittenAgain(later.window));
}

/// Steps that the window has not are lost, although they are the same run's.
void TestExports::laterStepsOfTheSameRun() {
    const QTemporaryDir folder;
    const QString place = folder.filePath(QStringLiteral("mine"));
    Opened opened(named("Mine", 5));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 5));
    window.saveResults(place);
    const QByteArray rows("step,\n1200,\n"); // as if it had gone on in another window
    QFile longer(place + QStringLiteral("/steps.csv"));
    QVERIFY(longer.open(QIODevice::WriteOnly) && longer.write(rows) == rows.size());
    longer.close();
    const Asked asked = asksOnSaving(window, place);
    QCOMPARE(asked.text, place + QStringLiteral(" holds more of this run: it goes up to step 1,200 "
                                                "there, and only up to step 5 here. Replace it?"));
    QCOMPARE(asked.enter, QMessageBox::Cancel);
    QCOMPARE(read(place + QStringLiteral("/steps.csv")), rows);
}

/// Runs that went on from the same saved run are different ones after the step at which they did.
void TestExports::rowsThatOnlyTheFolderHas() {
    const auto first = savedRun("x", 100);
    // one of them is saved in place of the first, and the other one is to be
    ResultsQuestion question;
    const auto one = wentOn(*first, 100, 200), other = wentOn(*first, 100, 300);
    QCOMPARE(enterFor(question, "x", 100, one, first), QMessageBox::Yes);
    question.saved("y", one);
    QCOMPARE(enterFor(question, "y", 200, one, first), QMessageBox::Yes);
    QCOMPARE(enterFor(question, "y", 200, other, first), QMessageBox::Cancel);
    QCOMPARE(enterFor(question, "y", 200, other), QMessageBox::Cancel);
    QCOMPARE(enterFor(question, "y", 200, first), QMessageBox::Cancel);
    // the first one itself, saved again, has no rows that they lack
    ResultsQuestion again;
    again.saved("z", first);
    QCOMPARE(enterFor(again, "z", 100, other), QMessageBox::Yes);
    // neither has a run that went on from an earlier checkpoint the rows since then
    const auto early = wentOn(*first, 50, 120);
    QCOMPARE(enterFor(question, "x", 50, early), QMessageBox::Yes);
    QCOMPARE(enterFor(question, "x", 100, early), QMessageBox::Cancel);
    QCOMPARE(enterFor(again, "z", 100, early), QMessageBox::Cancel);
    // nor one that goes on from that one, however far
    const auto later = wentOn(*early, 120, 300);
    QCOMPARE(enterFor(question, "x", 100, later), QMessageBox::Cancel);
    // and no other has the rows of one that went on from an earlier step and is short
    question.saved("w", wentOn(*first, 50, 80));
    QCOMPARE(enterFor(question, "w", 80, first), QMessageBox::Cancel);
    QCOMPARE(enterFor(question, "w", 80, other, first), QMessageBox::Cancel);
}

} // namespace tst_exports

QTEST_MAIN(tst_exports::TestExports)
#include "tst_exports.moc"
