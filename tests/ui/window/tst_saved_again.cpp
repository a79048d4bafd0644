// A saved run that is opened and saved again: nothing is lost and nothing is invented.
#include "engine/io/output_folder.h"
#include "tests/support/file_menu.h"
#include "tests/support/saved_run_parts.h"
#include "tests/support/thrown.h"
#include "ui/dialogs/ask.h"
#include "ui/dialogs/kept_files.h"

#include <QDialogButtonBox>
#include <QPushButton>

namespace tst_saved_again {

using namespace halfscope;

namespace {

constexpr int64_t kTrained = 30;

struct Proposed {
    QString path{};
    bool canBeSaved = false;
};

/// Returns the folder that Save results proposes, and chooses none.
Proposed proposedBy(MainWindow& window) {
    Proposed proposed;
    QTimer::singleShot(0, &window, [&proposed] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog);
        const auto* save = dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Open);
        proposed = {dialog->selectedFiles().value(0), save->isEnabled()};
        dialog->reject();
    });
    if (QAction* save = fileAction(window, QStringLiteral("Save &results…"))) save->trigger();
    return proposed;
}

} // namespace

class TestSavedAgain : public SavedRunTest {
    Q_OBJECT
private slots:
    void initTestCase() {
        QLocale::setDefault(QLocale::c());
        trainElsewhere(m_results, skippingConfig(kTrained));
    }
    void itIsTheSame();
    void itHasNoMore();
    void withItsOwnSettings();
    void onceItIsShown();
    void notWhereAnotherRunWrites();
    void noFileOfItAlone();
    void itsFolderIsProposed();
    void onlyItsNameWhereItsPlaceIsGone();
};

/// All files, also those that the window shows in part; and once more after the run was brought
/// back.
void TestSavedAgain::itIsTheSame() {
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(m_results);
    QVERIFY(showsSaved(window));
    QVERIFY(contentOf(m_results, "events.csv").find(",backoff,") != std::string::npos);
    for (const char* name : {"saved once", "saved twice"}) {
        const QString again = m_folder.filePath(QLatin1String(name));
        const QStringList written = window.saveResults(again);
        QVERIFY(written.contains(QStringLiteral("summary.json")));
        for (const QString& file : QDir(m_results).entryList(QDir::Files)) {
            QVERIFY2(written.contains(file), qPrintable(file));
            const QByteArray each = file.toLatin1();
            if (file == QLatin1String("manifest.json")) continue; // of another copy
            if (file == QLatin1String("gradients.csv"))           // lane by lane there
                QCOMPARE(sortedLines(contentOf(again, each.constData())),
                         sortedLines(contentOf(m_results, each.constData())));
            else
                QVERIFY2(contentOf(again, each.constData()) ==
                             contentOf(m_results, each.constData()),
                         each.constData());
        }
        window.restart();
        QTRY_VERIFY_WITH_TIMEOUT(window.run().step() == 0, kPatience);
        window.bringBack();
        QTRY_VERIFY_WITH_TIMEOUT(
            stateOf(window).startsWith(QStringLiteral("Restored: a run of 30 steps.")), kPatience);
    }
}

/// It has neither times of zero nor files of the run that was in the folder before.
void TestSavedAgain::itHasNoMore() {
    const QStringList lacking{QStringLiteral("events.csv"), QStringLiteral("timing.csv"),
                              QStringLiteral("gradients.csv"), QStringLiteral("summary.json")};
    const QString folder = copyOfResults(), other = copyOfResults();
    for (const QString& name : lacking)
        QVERIFY(QFile::remove(QDir(folder).filePath(name)));
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(folder);
    QVERIFY(showsSaved(window));
    const QStringList written = window.saveResults(other);
    QVERIFY(contentOf(other, "steps.csv") == contentOf(m_results, "steps.csv"));
    for (const QString& name : lacking) {
        QVERIFY2(!written.contains(name), qPrintable(name));
        QVERIFY2(!QDir(other).exists(name), qPrintable(name));
    }
}

/// An edit counts only for the next training.
void TestSavedAgain::withItsOwnSettings() {
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(m_results);
    QVERIFY(showsSaved(window));
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& model = window.config();
    QVERIFY(
        model.setData(model.index(model.rowOf("scaler.growth_interval", 1)), QStringLiteral("7")));
    QCOMPARE(model.running()->lanes[1].scaler.rules.growthInterval, int64_t{7});
    const QString again = m_folder.filePath(QStringLiteral("own settings"));
    window.saveResults(again);
    QVERIFY(contentOf(again, "experiment.json") == contentOf(m_results, "experiment.json"));
    // nor the settings of the experiment that is built next
    window.openPreset(QStringLiteral("regression"));
    window.saveResults(again);
    QVERIFY(contentOf(again, "experiment.json") == contentOf(m_results, "experiment.json"));
    QVERIFY(contentOf(again, "steps.csv") == contentOf(m_results, "steps.csv"));
    QVERIFY(contentOf(again, "summary.json") == contentOf(m_results, "summary.json"));
}

/// What is partly read or shown would be partly saved.
void TestSavedAgain::onceItIsShown() {
    FakeScript script; // built in no time
    WindowOptions options = played(script);
    const QString folder = copyOfResults();
    std::string rows = table::kSteps;
    StepRecord record;
    for (record.step = 1; record.step <= 100000; ++record.step)
        for (record.lane = 0; record.lane < 2; ++record.lane)
            rows += table::stepLine(rowOf(record), laneNames(skippingConfig(kTrained)));
    put(folder, "steps.csv", rows);
    for (const char* name : {"timing.csv", "summary.json"})
        QVERIFY(QFile::remove(QDir(folder).filePath(QLatin1String(name))));
    Opened opened(tinyConfig(7), options);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.openFile(folder);
    const std::string refusal =
        "The saved run is still being read. Save its results when it is shown.";
    int refused = 0;
    std::string other;
    const auto ends = [&] {
        if (stateOf(window).startsWith(u"Saved run of")) return true;
        if (!window.controller().info()) return false; // the earlier run is shown
        const std::string thrown = thrownBy<RunError>([&] { window.saveResults(folder); });
        if (thrown == refusal)
            ++refused;
        else
            other = thrown;
        return !other.empty();
    };
    QTRY_VERIFY_WITH_TIMEOUT(ends(), kPatience);
    QCOMPARE(other, std::string());
    QVERIFY(refused > 0);
    window.saveResults(folder);
    QVERIFY(contentOf(folder, "steps.csv") == rows);
}

/// A folder into which another program writes is left as it is, and taken once that has ended.
void TestSavedAgain::notWhereAnotherRunWrites() {
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(m_results);
    QVERIFY(showsSaved(window));
    const QString folder = m_folder.filePath(QStringLiteral("in use"));
    {
        const OutputFolder held(folder.toStdString());
        held.write("steps.csv", "of another run");
        const std::string said = thrownBy<RunError>([&] { window.saveResults(folder); });
        QVERIFY2(said.find("in use: another run is writing into this folder") != std::string::npos,
                 said.c_str());
        QCOMPARE(contentOf(folder, "steps.csv"), std::string("of another run"));
        QVERIFY(!QFile::exists(folder + QStringLiteral("/summary.json")));
    }
    QVERIFY(window.saveResults(folder).contains(QStringLiteral("summary.json")));
    QVERIFY(contentOf(folder, "steps.csv") == contentOf(m_results, "steps.csv"));
}

/// Its rows would no longer be those of the settings, for example.
void TestSavedAgain::noFileOfItAlone() {
    const QString folder = copyOfResults();
    const QString other = QDir(folder).filePath(QStringLiteral("mine.json"));
    QVERIFY(QFile::copy(QDir(folder).filePath(QStringLiteral("experiment.json")), other));
    const QTemporaryDir elsewhere;
    const QString link = elsewhere.filePath(QStringLiteral("link.json"));
    QVERIFY(QFile::link(QDir(folder).filePath(QStringLiteral("experiment.json")), link));
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    const auto allows = [&](const char* name) {
        return KeptFiles::allow(&window, QDir(folder).filePath(QLatin1String(name)));
    };
    QVERIFY(allows("experiment.json")); // nobody has opened it yet
    window.openFile(folder);
    QVERIFY(showsSaved(window));
    const auto isKept = [&] {
        return !allows("experiment.json") && !allows("steps.csv") && !allows("events.csv") &&
               allows("mine.json") && allows("new.json") && !KeptFiles::allow(&window, link);
    };
    QVERIFY(isKept());
    QVERIFY2(window.bannerText().contains(QStringLiteral("is the file of a saved run and would be "
                                                         "overwritten")),
             qPrintable(window.bannerText()));
    window.restart(); // it is in the list
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() == 0, kPatience);
    QVERIFY(isKept());
    window.bringBack();
    QTRY_VERIFY_WITH_TIMEOUT(
        stateOf(window).startsWith(QStringLiteral("Restored: a run of 30 steps.")), kPatience);
    QVERIFY(window.saveResults(folder).contains(QStringLiteral("steps.csv"))); // all of it
}

/// Not a new one with the title of its experiment.
void TestSavedAgain::itsFolderIsProposed() {
    const QString folder = copyOfResults();
    Opened opened(tinyConfig(7));
    opened.window.openFile(folder);
    QVERIFY(showsSaved(opened.window));
    QCOMPARE(proposedBy(opened.window).path, wholePath(folder));
}

/// Nor in a folder that is gone: Save would refuse every name there.
void TestSavedAgain::onlyItsNameWhereItsPlaceIsGone() {
    const QString place = m_folder.filePath(QStringLiteral("stick"));
    const QString folder = copyOf(m_results, place + QStringLiteral("/lecture"));
    Opened opened(tinyConfig(7));
    opened.window.openFile(folder);
    QVERIFY(showsSaved(opened.window));
    QVERIFY(QDir(folder).removeRecursively());
    Proposed proposed = proposedBy(opened.window); // it can be created again
    QCOMPARE(proposed.path, wholePath(folder));
    QVERIFY(proposed.canBeSaved);
    QVERIFY(QDir(place).removeRecursively());
    proposed = proposedBy(opened.window);
    QCOMPARE(QFileInfo(proposed.path).fileName(), QStringLiteral("lecture"));
    QVERIFY2(QFileInfo(proposed.path).dir().exists(), qPrintable(proposed.path));
    QVERIFY(proposed.canBeSaved);
}

} // namespace tst_saved_again

QTEST_MAIN(tst_saved_again::TestSavedAgain)
#include "tst_saved_again.moc"
