// What closing asks about: all runs of the session that are not saved, whichever is shown. What is
// kept is there at the next start.
#include "engine/runs/left_session.h"
#include "tests/support/growth_limit.h"
#include "tests/support/left_runs.h"
#include "tests/support/served_events.h"
#include "ui/models/run_list_model.h"
#include "ui/plots/plot_stack.h"

#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QTimer>

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tst_close_guard {

using namespace halfscope;

namespace {

constexpr int64_t kFirst = 25, kSecond = 30; // steps

/// A training with events: the loss scale overflows.
RunConfig config() {
    RunConfig overflows = tinyConfig(kFirst);
    overflows.title = "Mine";
    overflows.lanes[1].scaler.initScale = 1e30;
    return overflows;
}

/// Asks about every run that is not saved, however short.
WindowOptions asking(const QTemporaryDir& sessions) {
    WindowOptions options = keeping(sessions);
    options.askAfterSeconds = 0;
    return options;
}

/// Trains networks that have just been built.
bool trains(MainWindow& window, int64_t steps) {
    if (!reaches(window, SessionState::Ready) ||
        !QTest::qWaitFor([&] { return window.run().step() == 0; }, kPatience))
        return false;
    window.setStopStep(steps);
    window.play();
    return reaches(window, SessionState::Finished) &&
           QTest::qWaitFor([&] { return window.run().step() == steps; }, kPatience);
}

/// Trains two runs after each other; the second one is shown.
bool trainsTwo(MainWindow& window) {
    if (!trains(window, kFirst)) return false;
    window.restart();
    return trains(window, kSecond);
}

/// What was asked when a window was to be closed.
struct Question {
    QString text; ///< empty: nothing was asked
    bool keeps = false, saves = false;
    QMessageBox::StandardButton enter = QMessageBox::NoButton; ///< what Enter chooses
    QString about{};                                           ///< below the text
};

/// Closes a window and answers; without an answer, presses Enter.
Question closes(MainWindow& window, std::optional<QMessageBox::StandardButton> answer = {}) {
    Question asked;
    QTimer::singleShot(0, &window, [&] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box) return;
        asked = {box->text(), box->button(QMessageBox::SaveAll) != nullptr,
                 box->button(QMessageBox::Save) != nullptr,
                 box->standardButton(box->defaultButton()), box->informativeText()};
        if (answer)
            box->button(*answer)->click();
        else
            QTest::keyClick(box, Qt::Key_Return);
        if (box->isVisible()) box->reject(); // the test must not hang
    });
    window.close();
    test::serveEvents(50); // the timer must not outlive what it writes to
    return asked;
}

bool isClosed(MainWindow& window) {
    return QTest::qWaitFor([&] { return !window.isVisible(); }, kPatience);
}

/// Their bits: a loss may be nan.
std::vector<uint32_t> lossesOf(const Run& run) {
    std::vector<uint32_t> losses;
    for (int lane = 0; lane < run.now().laneCount(); ++lane)
        for (int64_t step = 1; step <= run.step(); ++step)
            losses.push_back(std::bit_cast<uint32_t>(run.now().row(lane, step).loss()));
    return losses;
}

std::vector<std::pair<int64_t, std::string>> eventsOf(const Run& run) {
    std::vector<std::pair<int64_t, std::string>> events;
    for (const Event& event : run.events())
        events.emplace_back(event.step, event.text.english());
    return events;
}

} // namespace

class TestCloseGuard : public QObject {
    Q_OBJECT
private slots:
    void asksAboutARunThatIsNotShown();
    void countsThem();
    void saysWhyItCountsFewerThanTheList();
    void savesTheShownOneOfSeveral();
    void aCrashOffersWhatClosingCounts();
    void aCrashOffersNoSavedRun();
    void countsTheWaitsOfASlowPace();
    void countsWhatGoesOnOnce();
    void asksForNoSavedRun();
    void asksAboutARestoredRun();
    void asksAboutOwnFiles();
    void asksAboutANamedRun();
    void keptRunsComeBack();
    void keepsTheLastSteps();
    void discardedRunsAreGone();
    void staysOpenWhereNothingCanBeKept();
    void offersNoKeepingOnAFullDisk();
    void keepsInASessionThatWasRemoved();
    void offersNoKeepingWithoutAFile();
};

void TestCloseGuard::asksAboutARunThatIsNotShown() {
    const QTemporaryDir sessions;
    Opened opened(config(), asking(sessions));
    MainWindow& window = opened.window;
    QVERIFY(trainsTwo(window));
    window.saveResults(opened.folder.filePath(QStringLiteral("saved")));
    const Question asked = closes(window, QMessageBox::Cancel);
    QVERIFY2(asked.text.startsWith(QStringLiteral("The run “Mine” has trained for ")) &&
                 asked.text.endsWith(QStringLiteral(" and has not been saved.")),
             qPrintable(asked.text));
    QVERIFY(asked.keeps);
    QVERIFY(!asked.saves); // it would save the run that is shown
    QCOMPARE(asked.enter, QMessageBox::SaveAll);
    QVERIFY(window.isVisible());
    window.bringBack(); // now it is shown
    QVERIFY(QTest::qWaitFor([&] { return window.run().step() == kFirst; }, kPatience));
    const Question shown = closes(window, QMessageBox::Cancel);
    QVERIFY2(shown.text.startsWith(QStringLiteral("This run has trained for ")),
             qPrintable(shown.text));
    QVERIFY(shown.keeps && shown.saves);
}

/// None of the runs is worth a question by itself.
void TestCloseGuard::countsThem() {
    FakeScript script; // a millisecond a step
    WindowOptions options = played(script);
    options.askAfterSeconds = 3.0;
    Opened opened(tinyConfig(1050), options);
    MainWindow& window = opened.window;
    for (int run = 0; run < 3; ++run) {
        if (run > 0) window.restart();
        QVERIFY(trains(window, 1050));
    }
    const Question asked = closes(window, QMessageBox::Cancel);
    QCOMPARE(asked.text,
             QStringLiteral("3 runs trained for 3 seconds in all and have not been saved."));
    QVERIFY(!asked.keeps); // nothing is kept on disk here
    QVERIFY(asked.saves);  // the run that is shown is one of them
    QCOMPARE(asked.enter, QMessageBox::Save);
    QVERIFY(window.isVisible());
}

/// A run that another one went on from is lost with none: both are in the list.
void TestCloseGuard::saysWhyItCountsFewerThanTheList() {
    const QTemporaryDir sessions;
    Opened opened(config(), asking(sessions));
    MainWindow& window = opened.window;
    QVERIFY(trainsTwo(window));
    const QString differs = QStringLiteral("The list has ");
    QVERIFY(!closes(window, QMessageBox::Cancel).about.contains(differs));
    window.bringBack();
    QVERIFY(QTest::qWaitFor([&] { return window.run().step() == kFirst; }, kPatience));
    window.setStopStep(kFirst + 10);
    QVERIFY(trainsTo(window, kFirst + 10));
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 3, kPatience);
    const Question asked = closes(window, QMessageBox::Cancel);
    QVERIFY2(asked.text.startsWith(QStringLiteral("2 runs trained for ")), qPrintable(asked.text));
    QVERIFY2(asked.about.contains(differs + QStringLiteral("1 more. ")), qPrintable(asked.about));
}

/// Each of them alone would be too short for a question, but the other one must not go unasked.
void TestCloseGuard::savesTheShownOneOfSeveral() {
    FakeScript script; // a millisecond a step
    WindowOptions options = played(script);
    options.askAfterSeconds = 2.0;
    Opened opened(tinyConfig(1050), options);
    MainWindow& window = opened.window;
    QVERIFY(trains(window, 1050));
    window.restart();
    QVERIFY(trains(window, 1050));
    const RunPtr shown = window.shown().run();
    const QString folder = opened.folder.filePath(QStringLiteral("shown"));
    QStringList asked, saves;
    QTimer answers;
    connect(&answers, &QTimer::timeout, &window, [&] {
        QWidget* modal = QApplication::activeModalWidget();
        if (auto* dialog = qobject_cast<QFileDialog*>(modal)) {
            dialog->findChild<QLineEdit*>()->setText(folder);
            QMetaObject::invokeMethod(dialog, "accept");
        } else if (auto* box = qobject_cast<QMessageBox*>(modal)) {
            QAbstractButton* save = box->button(QMessageBox::Save);
            asked << box->text();
            saves << (save ? save->text() : QString());
            (save ? save : box->button(QMessageBox::Cancel))->click();
        }
    });
    answers.start(10);
    window.close();
    answers.stop();
    QCOMPARE(asked.size(), qsizetype{2});
    QVERIFY2(asked[0].startsWith(QStringLiteral("2 runs trained for ")), qPrintable(asked[0]));
    QVERIFY2(asked[1].startsWith(QStringLiteral("The run “")), qPrintable(asked[1]));
    QCOMPARE(saves, (QStringList{QStringLiteral("&Save results of the shown run…"), QString()}));
    QVERIFY(QDir(folder).exists(QStringLiteral("steps.csv")));
    QVERIFY(window.isVisible());
    QCOMPARE(window.shown().unsavedRuns().size(), size_t{1});
    QVERIFY(window.shown().unsavedRuns().front() != shown);
}

/// Four runs are in the list; one of them is saved, and another one goes on from a third.
void TestCloseGuard::aCrashOffersWhatClosingCounts() {
    constexpr int64_t kThird = kFirst + 10, kSaved = 20; // steps
    const QTemporaryDir sessions, saved;
    {
        Opened opened(config(), asking(sessions));
        MainWindow& window = opened.window;
        QVERIFY(trainsTwo(window));
        window.bringBack();
        QVERIFY(QTest::qWaitFor([&] { return window.run().step() == kFirst; }, kPatience));
        window.setStopStep(kThird);
        QVERIFY(trainsTo(window, kThird));
        window.restart();
        QVERIFY(trains(window, kSaved));
        window.saveResults(saved.filePath(QStringLiteral("saved")));
        QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 4, kPatience);
        const QString asked = closes(window, QMessageBox::Cancel).text;
        QVERIFY2(asked.startsWith(QStringLiteral("2 runs trained for ")), qPrintable(asked));
        QVERIFY(window.keepSession().empty());
    } // as after a crash
    Opened opened(tinyConfig(7), keeping(sessions));
    MainWindow& window = opened.window;
    QMessageBox* box = offer(window);
    QVERIFY(box);
    QVERIFY2(
        box->text().startsWith(QStringLiteral("Halfscope ended unexpectedly in the session ")) &&
            box->text().endsWith(QStringLiteral(". These 2 runs were not saved:")),
        qPrintable(box->text()));
    const QString lines = box->informativeText();
    const auto placeOf = [&lines](int64_t steps) {
        return lines.indexOf(QStringLiteral(", %1 steps").arg(steps));
    };
    QVERIFY2(placeOf(kThird) < placeOf(kSecond), qPrintable(lines)); // the newest first
    for (const int64_t steps : {kFirst, kSecond, kThird, kSaved})
        QVERIFY2(lines.contains(QStringLiteral(", %1 steps").arg(steps)) ==
                     (steps == kSecond || steps == kThird),
                 qPrintable(lines));
    QTest::mouseClick(box->button(QMessageBox::Open), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 2, kPatience);
    const QString asked = closes(window, QMessageBox::Cancel).text;
    QVERIFY2(asked.startsWith(QStringLiteral("2 runs trained for ")), qPrintable(asked));
}

void TestCloseGuard::aCrashOffersNoSavedRun() {
    const QTemporaryDir sessions, saved;
    {
        Opened opened(config(), asking(sessions));
        QVERIFY(trains(opened.window, kFirst));
        opened.window.saveResults(saved.filePath(QStringLiteral("saved")));
        QVERIFY(opened.window.keepSession().empty());
    } // as after a crash
    QCOMPARE(namesIn(sessions).size(), size_t{1});
    Opened opened(tinyConfig(7), keeping(sessions));
    QVERIFY(QTest::qWaitFor([&] { return namesIn(sessions).empty(); }, kPatience));
    QVERIFY(!opened.window.findChild<QMessageBox*>(QStringLiteral("leftRuns")));
}

/// Somebody watched this training, although its steps took next to no time.
void TestCloseGuard::countsTheWaitsOfASlowPace() {
    constexpr int64_t kSteps = 30; // of a millisecond each
    FakeScript script;
    WindowOptions options = played(script);
    options.askAfterSeconds = 0.3;
    RunConfig slow = tinyConfig(kSteps);
    slow.pace = 20;
    Opened opened(slow, options);
    QVERIFY(trains(opened.window, kSteps));
    const QString asked = closes(opened.window, QMessageBox::Cancel).text;
    QVERIFY2(asked.startsWith("This run has trained for "), qPrintable(asked));
}

/// A run that is brought back and trained on is another one, with the rows of the first: saving it
/// saves them all.
void TestCloseGuard::countsWhatGoesOnOnce() {
    const QTemporaryDir sessions;
    Opened opened(config(), asking(sessions));
    MainWindow& window = opened.window;
    QVERIFY(trains(window, kFirst));
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    window.bringBack();
    QVERIFY(reaches(window, SessionState::Finished));
    QVERIFY(closes(window, QMessageBox::Cancel).text.startsWith("This run has trained for "));
    QVERIFY(trainsTo(window, kFirst + 1)); // as many steps again
    QCOMPARE(window.runs().rowCount(), 2);
    const QString asked = closes(window, QMessageBox::Cancel).text;
    QVERIFY2(asked.startsWith("This run has trained for "), qPrintable(asked));
    window.saveResults(sessions.filePath("saved"));
    QVERIFY(closes(window).text.isEmpty());
    QVERIFY(isClosed(window));
}

void TestCloseGuard::asksForNoSavedRun() {
    const QTemporaryDir sessions;
    Opened opened(config(), asking(sessions));
    MainWindow& window = opened.window;
    QVERIFY(trains(window, kFirst));
    window.saveResults(opened.folder.filePath(QStringLiteral("first")));
    window.restart();
    QVERIFY(trains(window, kSecond));
    window.saveResults(opened.folder.filePath(QStringLiteral("second")));
    QCOMPARE(closes(window).text, QString());
    QVERIFY(!window.isVisible());
}

/// However short it was: its user has said that it is wanted. What goes on from it is it, too.
void TestCloseGuard::asksAboutARestoredRun() {
    const QTemporaryDir sessions;
    {
        Opened opened(config(), keeping(sessions)); // asks about long runs only
        QVERIFY(trains(opened.window, kFirst));
        QVERIFY(opened.window.keepSession().empty());
    } // as after a crash
    Opened opened(tinyConfig(7), keeping(sessions));
    MainWindow& window = opened.window;
    QMessageBox* box = offer(window);
    QVERIFY(box);
    QTest::mouseClick(box->button(QMessageBox::Open), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 1, kPatience);
    Question asked = closes(window, QMessageBox::Cancel);
    QVERIFY2(asked.text.startsWith(QStringLiteral("The run “Mine” has trained for ")),
             qPrintable(asked.text));
    QVERIFY(asked.keeps);
    window.bringBack();
    QVERIFY(QTest::qWaitFor([&] { return window.showsSaved(); }, kPatience));
    QVERIFY(reaches(window, SessionState::Finished)); // its networks, after its last step
    QVERIFY(trainsTo(window, kFirst + 1));
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 2, kPatience);
    QVERIFY(!window.shown().run()->info().restored);
    asked = closes(window, QMessageBox::Cancel);
    QVERIFY2(asked.text.startsWith(QStringLiteral("This run has trained for ")),
             qPrintable(asked.text));
    window.saveResults(opened.folder.filePath(QStringLiteral("saved")));
    QCOMPARE(closes(window).text, QString());
    QVERIFY(!window.isVisible());
}

/// A table is trained on in less than a second. What comes with the program is nobody's own.
void TestCloseGuard::asksAboutOwnFiles() {
    const QTemporaryDir sessions;
    Opened opened(config(), keeping(sessions));
    MainWindow& window = opened.window;
    QVERIFY(trains(window, kFirst));
    std::string table = "size,kind\n";
    for (int i = 0; i < 100; ++i)
        table += std::to_string(i) + (i < 50 ? ",small\n" : ",large\n");
    QVERIFY(window.tryFile(write(opened.folder, QStringLiteral("kinds.csv"), table)));
    QTRY_COMPARE_WITH_TIMEOUT(window.windowTitle(), QStringLiteral("kinds – Halfscope"), kPatience);
    QVERIFY(reaches(window, SessionState::Ready));
    const auto untrained = [&] { return window.run().step() == 0; };
    QVERIFY(QTest::qWaitFor(untrained, kPatience));
    window.stepOnce(); // one step is enough
    QVERIFY(QTest::qWaitFor([&] { return window.run().step() == 1; }, kPatience));
    const Question asked = closes(window, QMessageBox::Cancel);
    QVERIFY2(asked.text.startsWith(QStringLiteral("2 runs trained for ")), qPrintable(asked.text));
    QVERIFY(window.isVisible());
    window.saveResults(opened.folder.filePath(QStringLiteral("saved")));
    QCOMPARE(closes(window).text, QString()); // the other one is short, and on built-in data
    QVERIFY(!window.isVisible());
}

/// However short it is: a name is given to what one wants to keep.
void TestCloseGuard::asksAboutANamedRun() {
    const QTemporaryDir sessions;
    Opened opened(config(), keeping(sessions));
    MainWindow& window = opened.window;
    QVERIFY(trains(window, kFirst));
    RunListModel& list = window.runs();
    const QModelIndex run = list.index(0, RunListModel::NameColumn);
    QVERIFY(list.setData(run, QStringLiteral("Underflow"), Qt::EditRole));
    QVERIFY(!closes(window, QMessageBox::Cancel).text.isEmpty());
    QVERIFY(window.isVisible());
}

void TestCloseGuard::keptRunsComeBack() {
    const QTemporaryDir sessions;
    std::vector<uint32_t> losses;
    std::vector<std::pair<int64_t, std::string>> events;
    {
        Opened opened(config(), asking(sessions));
        MainWindow& window = opened.window;
        QVERIFY(trains(window, kFirst));
        const RunPtr first = window.shown().run();
        window.restart();
        QVERIFY(trains(window, kSecond));
        window.saveResults(opened.folder.filePath(QStringLiteral("saved")));
        losses = lossesOf(*first);
        events = eventsOf(*first);
        QVERIFY(!events.empty());
        QVERIFY(closes(window).keeps); // Enter
        QVERIFY(isClosed(window));
    }
    QCOMPARE(namesIn(sessions).size(), size_t{1});
    Opened opened(tinyConfig(7), keeping(sessions));
    MainWindow& window = opened.window;
    QMessageBox* box = offer(window);
    QVERIFY(box);
    // the day may change meanwhile
    static const QRegularExpression kept(
        QStringLiteral("^In the session begun (today at|on) .*[0-9]:[0-9]{2}.*, you kept this run "
                       "when you closed Halfscope:$"));
    QVERIFY2(kept.match(box->text()).hasMatch(), qPrintable(box->text()));
    // the other one is saved
    QCOMPARE(box->informativeText(),
             QStringLiteral("Mine, 25 steps; its networks of step 25 were kept"));
    window.openPreset(QStringLiteral("overflow"));
    QVERIFY(reaches(window, SessionState::Ready));
    QTest::mouseClick(box->button(QMessageBox::Open), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return window.showsSaved(); }, kPatience));
    QCOMPARE(window.runs().rowCount(), 1);
    QVERIFY(lossesOf(*window.shown().run()) == losses);
    QVERIFY(eventsOf(*window.shown().run()) == events);
    QTRY_COMPARE_WITH_TIMEOUT(window.plots().lastStep(), kFirst, kPatience);
    QVERIFY(reaches(window, SessionState::Finished)); // its networks, after its last step
    QCOMPARE(window.controller().info()->goesOnAfter.value_or(0), kFirst);
    QCOMPARE(window.networks().size(), qsizetype{2});
}

/// The training rests before the window closes, and its networks are kept after its last step.
void TestCloseGuard::keepsTheLastSteps() {
    const QTemporaryDir sessions;
    RunConfig endless = tinyConfig(100'000'000);
    endless.pace = 500;
    int64_t trained = 0;
    {
        Opened opened(endless, asking(sessions));
        MainWindow& window = opened.window;
        QVERIFY(reaches(window, SessionState::Ready));
        window.play();
        QVERIFY(QTest::qWaitFor([&] { return window.run().step() > 20; }, kPatience));
        QCOMPARE(closes(window).enter, QMessageBox::SaveAll);
        QVERIFY(isClosed(window));
        trained = window.shown().run()->step();
    }
    const std::vector<LeftSession> left = leftSessions(keeping(sessions).sessions.toStdString());
    QCOMPARE(left.size(), size_t{1});
    QVERIFY(left[0].wasKept());
    QCOMPARE(left[0].runs().at(0).steps, trained);
    const std::shared_ptr<Run> run = left[0].read(left[0].runs()[0]);
    QVERIFY(run->now().checkpoint());
    QCOMPARE(run->now().checkpoint()->step(), trained);
}

void TestCloseGuard::discardedRunsAreGone() {
    const QTemporaryDir sessions;
    {
        Opened opened(config(), asking(sessions));
        QVERIFY(trainsTwo(opened.window));
        QVERIFY(QTest::qWaitFor([&] { return namesIn(sessions).size() == 1; }, kPatience));
        const Question asked = closes(opened.window, QMessageBox::Discard);
        QVERIFY2(asked.text.startsWith(QStringLiteral("2 runs trained for ")),
                 qPrintable(asked.text));
        QVERIFY(!opened.window.isVisible());
    }
    QVERIFY(QTest::qWaitFor([&] { return namesIn(sessions).empty(); }, kPatience));
}

/// A disk that has become full must not take the runs with it.
void TestCloseGuard::staysOpenWhereNothingCanBeKept() {
    const QTemporaryDir sessions;
    {
        Opened opened(config(), asking(sessions));
        MainWindow& window = opened.window;
        QVERIFY(trainsTwo(window));
        QVERIFY(window.keepSession().empty());
        {
            const GrowthLimit full(1);
            QVERIFY(closes(window, QMessageBox::SaveAll).keeps);
            const auto told = [&window] { // the store may tell of the disk first
                return window.bannerText().startsWith(
                    QStringLiteral("Halfscope stays open, because the runs could not be kept: "));
            };
            QVERIFY2(QTest::qWaitFor(told, kPatience), qPrintable(window.bannerText()));
        }
        QVERIFY(window.isVisible());
    }
    // the window has gone without being closed: nobody has kept its runs
    const std::vector<LeftSession> left = leftSessions(keeping(sessions).sessions.toStdString());
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(left[0].runs().size(), size_t{2});
    QVERIFY(!left[0].wasKept());
}

void TestCloseGuard::offersNoKeepingOnAFullDisk() {
    const QTemporaryDir sessions;
    RunConfig endless = tinyConfig(100'000'000);
    endless.pace = 200;
    Opened opened(endless, asking(sessions));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(QTest::qWaitFor([&] { return !namesIn(sessions).empty(); }, kPatience));
    const GrowthLimit full(1);
    QVERIFY(QTest::qWaitFor(
        [&] { return window.bannerText().contains(QStringLiteral("only in memory")); }, kPatience));
    const Question asked = closes(window, QMessageBox::Cancel);
    QVERIFY(!asked.text.isEmpty() && !asked.keeps);
    QCOMPARE(asked.enter, QMessageBox::Save);
}

/// A cleaner took the file away while the window trained.
void TestCloseGuard::keepsInASessionThatWasRemoved() {
    const QTemporaryDir sessions;
    std::vector<uint32_t> losses;
    {
        Opened opened(config(), asking(sessions));
        MainWindow& window = opened.window;
        QVERIFY(trains(window, kFirst));
        QVERIFY(window.keepSession().empty());
        losses = lossesOf(*window.shown().run());
        QVERIFY(QDir().rename(keeping(sessions).sessions, sessions.filePath("gone")));
        QVERIFY(closes(window).keeps); // Enter
        QVERIFY(isClosed(window));
    }
    const std::vector<LeftSession> left = leftSessions(keeping(sessions).sessions.toStdString());
    QCOMPARE(left.size(), size_t{1});
    QVERIFY(left[0].wasKept());
    QVERIFY(lossesOf(*left[0].read(left[0].runs().at(0))) == losses);
}

void TestCloseGuard::offersNoKeepingWithoutAFile() {
    const QTemporaryDir sessions;
    Opened opened(config(), asking(sessions));
    MainWindow& window = opened.window;
    QVERIFY(trains(window, kFirst));
    QVERIFY(window.keepSession().empty());
    const QString folder = keeping(sessions).sessions;
    QFile file(folder); // where the folder would be made again, perhaps while it is being removed
    QVERIFY(QTest::qWaitFor(
        [&] { return QDir(folder).removeRecursively() && file.open(QIODevice::WriteOnly); },
        kPatience));
    const auto told = [&window] {
        return window.bannerText().contains(QStringLiteral("removed or replaced this file")) &&
               window.bannerText().contains(QStringLiteral("only in memory"));
    };
    QVERIFY2(QTest::qWaitFor(told, kPatience), qPrintable(window.bannerText()));
    const Question asked = closes(window, QMessageBox::Cancel);
    QVERIFY(!asked.text.isEmpty() && !asked.keeps);
}

} // namespace tst_close_guard

QTEST_MAIN(tst_close_guard::TestCloseGuard)
#include "tst_close_guard.moc"
