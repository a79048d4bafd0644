// The names that users give runs in the list: they outlast the window, and are the titles of the
// experiments that are saved. What saving tells of a run.
#include "engine/io/input_file.h"
#include "engine/io/strict_json.h"
#include "tests/support/file_menu.h"
#include "tests/support/left_runs.h"
#include "ui/models/run_list_model.h"

#include <QAbstractButton>
#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QLineEdit>
#include <QLocale>
#include <QStatusBar>
#include <QTimer>

namespace tst_given_names {

using namespace halfscope;

namespace {

constexpr int64_t kTrained = 20;

RunConfig titledConfig() {
    RunConfig config = tinyConfig(kTrained);
    config.title = "Board";
    return config;
}

bool trains(MainWindow& window) {
    return trainsTo(window, kTrained) &&
           QTest::qWaitFor([&] { return window.runs().rowCount() > 0; }, kPatience);
}

bool rename(MainWindow& window, int row, const QString& name) {
    RunListModel& list = window.runs();
    return list.setData(list.index(row, RunListModel::NameColumn), name, Qt::EditRole);
}

QString nameAt(MainWindow& window, int row) {
    return window.runs().index(row, RunListModel::NameColumn).data(Qt::EditRole).toString();
}

/// Saves the experiment and returns its title in the file.
QString savedTitle(Opened& opened) {
    const QString path = opened.folder.filePath(QStringLiteral("saved.json"));
    opened.window.saveExperiment(path);
    return QString::fromStdString(readConfig(path.toStdString()).title);
}

/// Chooses an entry of the menu File, and `path` in its dialog, or leaves the dialog without one;
/// returns the name that the dialog proposed.
QString proposedBy(MainWindow& window, const QString& entry, const QString& path = {}) {
    QString proposed;
    QTimer::singleShot(0, &window, [&] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog) return;
        auto* name = dialog->findChild<QLineEdit*>();
        proposed = name->text();
        name->setText(path);
        if (!path.isEmpty()) QTest::keyClick(name, Qt::Key_Return);
        if (dialog->isVisible()) dialog->reject();
    });
    fileAction(window, entry)->trigger();
    return proposed;
}

} // namespace

class TestGivenNames : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void outlastACrash();
    void outlastACrashLikeAnothersNumber();
    void areTitles();
    void areNotOfOtherSettings();
    void areProposed();
    void anyNameCanBeATitle();
    void savingTellsTheStep();
};

/// And a run that was over is saved as such.
void TestGivenNames::outlastACrash() {
    const QTemporaryDir sessions;
    {
        Opened opened(titledConfig(), keeping(sessions));
        QVERIFY(trains(opened.window));
        QVERIFY(opened.window.keepSession().empty());
        QVERIFY(rename(opened.window, 0, QStringLiteral("Underflow")));
        QVERIFY(opened.window.keepSession().empty());
    }
    Opened opened(tinyConfig(7), keeping(sessions));
    MainWindow& window = opened.window;
    QMessageBox* box = offer(window);
    QVERIFY(box);
    window.openPreset(QStringLiteral("overflow")); // which the restored run replaces
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY2(box->informativeText().startsWith(QStringLiteral("Underflow, 20 steps")),
             qPrintable(box->informativeText()));
    box->button(QMessageBox::Open)->click();
    QTRY_VERIFY_WITH_TIMEOUT(window.showsSaved() && window.runs().rowCount() == 1, kPatience);
    QCOMPARE(nameAt(window, 0), QStringLiteral("Underflow"));
    QTRY_COMPARE_WITH_TIMEOUT(window.windowTitle(), QStringLiteral("Underflow – Halfscope"),
                              kPatience);
    QCOMPARE(savedTitle(opened), QStringLiteral("Underflow"));
    const QDir folder(opened.folder.filePath(QStringLiteral("out")));
    window.saveResults(folder.path());
    const std::string summary =
        readFile(folder.filePath(QStringLiteral("summary.json")).toStdString());
    QCOMPARE(Json::parse(summary).at("outcome").get<std::string>(), std::string("finished"));
}

/// The session tells that the user gave the name: it looks like one of the experiment's runs.
void TestGivenNames::outlastACrashLikeAnothersNumber() {
    const QTemporaryDir sessions;
    {
        Opened opened(titledConfig(), keeping(sessions));
        QVERIFY(trains(opened.window));
        QVERIFY(rename(opened.window, 0, QStringLiteral("Board (small)")));
        QVERIFY(opened.window.keepSession().empty());
    }
    Opened opened(tinyConfig(7), keeping(sessions));
    QMessageBox* box = offer(opened.window);
    QVERIFY(box);
    opened.window.openPreset(QStringLiteral("overflow"));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    box->button(QMessageBox::Open)->click();
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.showsSaved() && opened.window.runs().rowCount() == 1,
                             kPatience);
    QCOMPARE(savedTitle(opened), QStringLiteral("Board (small)"));
}

/// A number that the list has added is no name.
void TestGivenNames::areTitles() {
    Opened opened(titledConfig());
    MainWindow& window = opened.window;
    QVERIFY(trains(window));
    QCOMPARE(savedTitle(opened), QStringLiteral("Board"));
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t{0}, kPatience);
    QVERIFY(trains(window));
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 2, kPatience);
    QCOMPARE(nameAt(window, 1), QStringLiteral("Board (2)"));
    QCOMPARE(savedTitle(opened), QStringLiteral("Board"));
    QVERIFY(rename(window, 0, QStringLiteral("Another run")));
    QCOMPARE(savedTitle(opened), QStringLiteral("Board"));
    QVERIFY(rename(window, 1, QStringLiteral("Board (small)")));
    QCOMPARE(savedTitle(opened), QStringLiteral("Board (small)"));
    window.openExperiment(opened.folder.filePath(QStringLiteral("saved.json")));
    QVERIFY(window.windowTitle().startsWith(QStringLiteral("Board (small)")));
}

/// Settings that were changed since are not those of the run with the name.
void TestGivenNames::areNotOfOtherSettings() {
    Opened opened(titledConfig());
    MainWindow& window = opened.window;
    QVERIFY(trains(window));
    QVERIFY(rename(window, 0, QStringLiteral("Narrow")));
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("model.width")), 6));
    QCOMPARE(savedTitle(opened), QStringLiteral("Board"));
    QVERIFY(model.setData(model.index(model.rowOf("model.width")), 8));
    QCOMPARE(savedTitle(opened), QStringLiteral("Narrow"));
}

void TestGivenNames::areProposed() {
    Opened opened(titledConfig());
    MainWindow& window = opened.window;
    const QString experiment = QStringLiteral("&Save experiment as…");
    QVERIFY(trains(window));
    QCOMPARE(proposedBy(window, experiment), QStringLiteral("experiment.json"));
    QVERIFY(rename(window, 0, QStringLiteral("Scale 2^40")));
    QCOMPARE(proposedBy(window, experiment), QStringLiteral("scale-2-40.json"));
    QCOMPARE(proposedBy(window, QStringLiteral("Save &results…")), QStringLiteral("scale-2-40"));
}

/// What is saved can be opened, whatever the run is called.
void TestGivenNames::anyNameCanBeATitle() {
    Opened opened(titledConfig());
    MainWindow& window = opened.window;
    QVERIFY(trains(window));
    for (const QString& name :
         {QString(230, u'x'), QString(70, u'\u4e00'), QStringLiteral("left\u200eto  right"),
          QString(59, u'x') + QStringLiteral("\U0001F600")}) { // whose second half has no room
        QVERIFY(rename(window, 0, name));
        const QString title = savedTitle(opened);
        QVERIFY2(!title.isEmpty() && !title.contains(QChar(QChar::ReplacementCharacter)),
                 qPrintable(title));
    }
}

/// Results that were saved while the training went on are told from those of its end.
void TestGivenNames::savingTellsTheStep() {
    Opened opened(titledConfig());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(stepsTo(window, 6));
    const QString path = opened.folder.filePath(QStringLiteral("out"));
    proposedBy(window, QStringLiteral("Save &results…"), path);
    const auto files = QDir(path).entryList(QDir::Files).size();
    QVERIFY(files > 5);
    QCOMPARE(window.statusBar()->currentMessage(),
             QStringLiteral("Saved the run after step 6: %1 files in %2").arg(files).arg(path));
}

} // namespace tst_given_names

QTEST_MAIN(tst_given_names::TestGivenNames)
#include "tst_given_names.moc"
