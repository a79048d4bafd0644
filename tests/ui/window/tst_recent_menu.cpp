// File > Open recent: what gets into it, what it looks like, and that the next window has it, too.
#include "tests/support/file_menu.h"
#include "tests/support/opened_window.h"
#include "ui/session/recent_files.h"
#include "ui/session/user_settings.h"
#include "ui/window/recent_menu.h"

#include <QDir>
#include <QFileInfo>
#include <QImage>
#include <QSettings>

namespace tst_recent_menu {

using namespace halfscope;

namespace {

WindowOptions remembering() {
    WindowOptions options;
    options.remember = true;
    return options;
}

/// Returns the entries as they are when the menu opens, the last one being "Clear list".
QList<QAction*> entries(MainWindow& window) {
    auto* menu = window.findChild<RecentMenu*>();
    if (!menu) return {};
    emit menu->aboutToShow();
    QList<QAction*> shown = menu->actions();
    shown.removeIf([](const QAction* action) { return action->isSeparator(); });
    return shown;
}

QStringList texts(MainWindow& window) {
    QStringList all;
    for (const QAction* action : entries(window))
        all << action->text();
    return all;
}

const QString kNothing = QStringLiteral("Nothing was opened or saved yet");
const QString kClear = QStringLiteral("&Clear list");

} // namespace

class TestRecentMenu : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("HalfscopeTest"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_recent_menu"));
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_settings.path());
    }
    void init() { RecentFiles(true).clear(); }
    void listsTheNewestTenOnce();
    void theProgramsOwnFilesAreNotListed();
    void openedAndSavedInTheWindow();
    void weightsAndPicturesAreNoExperiments();
    void theNextWindowOpensThem();
    void whatIsGoneSaysSo();
    void namesAreShownAsTheyAre();

private:
    QTemporaryDir m_settings;
};

void TestRecentMenu::listsTheNewestTenOnce() {
    for (const bool remembers : {true, false}) {
        RecentFiles files(remembers);
        RecentFiles other(remembers); // of another window
        for (int i = 0; i < RecentFiles::kMost + 2; ++i)
            (i % 2 ? files : remembers ? other : files).add(QStringLiteral("/runs/%1").arg(i));
        QStringList paths = files.paths();
        QCOMPARE(paths.size(), qsizetype{RecentFiles::kMost});
        QCOMPARE(paths.first(), QStringLiteral("/runs/11"));
        QCOMPARE(paths.last(), QStringLiteral("/runs/2"));
        files.add(QStringLiteral("/runs/x/../5/")); // another spelling
        paths = files.paths();
        QCOMPARE(paths.size(), qsizetype{RecentFiles::kMost});
        QCOMPARE(paths.first(), QStringLiteral("/runs/5"));
        QCOMPARE(paths.count(QStringLiteral("/runs/5")), 1);
        QCOMPARE(other.paths().isEmpty(), !remembers);
        files.clear();
        QVERIFY(files.paths().isEmpty());
    }
}

void TestRecentMenu::theProgramsOwnFilesAreNotListed() {
    RecentFiles files(false, QStringLiteral("/disk/me/sessions"));
    files.add(QStringLiteral("/disk/me/sessions/experiment.json"));
    QVERIFY(files.paths().isEmpty());
    files.add(QStringLiteral("/disk/me/sessions-of-mine/experiment.json"));
    QCOMPARE(files.paths().size(), qsizetype{1});
}

void TestRecentMenu::openedAndSavedInTheWindow() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    const auto path = [&](const char* name) {
        return opened.folder.filePath(QString::fromLatin1(name));
    };
    QVERIFY(trainsTo(window, 5));
    window.saveExperiment(path("mine.json"));
    window.saveResults(path("results"));
    answerWith(path("kept.safetensors"));
    fileAction(window, QStringLiteral("Save &checkpoint…"))->trigger();
    const auto shown = [&](std::initializer_list<const char*> names) {
        QStringList wanted;
        for (const char* name : names)
            wanted << path(name);
        QStringList tips;
        for (const QAction* action : entries(window))
            if (action->text() != kClear) tips << action->toolTip();
        return tips == wanted;
    };
    QTRY_VERIFY_WITH_TIMEOUT(shown({"kept.safetensors", "results", "mine.json", "small.json"}),
                             kPatience);
    QVERIFY(window.tryFile(path("results") + QStringLiteral("/steps.csv"))); // the same run
    QTRY_VERIFY_WITH_TIMEOUT(shown({"results", "kept.safetensors", "mine.json", "small.json"}),
                             kPatience);
    QVERIFY(!window.tryFile(path("nothing.json")));
    QVERIFY(shown({"results", "kept.safetensors", "mine.json", "small.json"}));
    entries(window).last()->trigger();
    QCOMPARE(texts(window), QStringList({kNothing, kClear}));
    for (const QAction* action : entries(window))
        QVERIFY(!action->isEnabled());
}

/// They change the experiment that is there: opened again, they would change another one.
void TestRecentMenu::weightsAndPicturesAreNoExperiments() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString weights = opened.folder.filePath(QStringLiteral("a.safetensors"));
    window.controller().saveLane(LaneFile::StateDict, 0, weights, QString());
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(weights), kPatience);
    QVERIFY(window.tryFile(weights));
    QVERIFY(reaches(window, SessionState::Ready));
    const QString picture = opened.folder.filePath(QStringLiteral("a.png"));
    QVERIFY(QImage(8, 8, QImage::Format_RGB32).save(picture));
    window.openPicture(picture);
    QCOMPARE(entries(window).size(), qsizetype{2}); // small.json and "Clear list"
}

void TestRecentMenu::theNextWindowOpensThem() {
    RunConfig config = tinyConfig(33);
    config.title = "Yesterday";
    const QTemporaryDir folder;
    const QString path = write(folder, QStringLiteral("yesterday.json"), configText(config));
    {
        MainWindow window(remembering());
        QCOMPARE(texts(window), QStringList({kNothing, kClear}));
        window.openExperiment(path);
    }
    MainWindow window(remembering());
    QList<QAction*> shown = entries(window);
    QCOMPARE(shown.size(), qsizetype{2});
    QVERIFY2(shown[0]->text().startsWith(QStringLiteral("&1 ")), qPrintable(shown[0]->text()));
    QCOMPARE(shown[0]->toolTip(), path);
    shown[0]->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(window.windowTitle(), QStringLiteral("Yesterday – Halfscope"),
                              kPatience);
}

void TestRecentMenu::whatIsGoneSaysSo() {
    const QTemporaryDir folder;
    RecentFiles files(true);
    for (const char* name : {"there.json", "gone.json"})
        files.add(write(folder, QString::fromLatin1(name), "{}"));
    MainWindow window(remembering());
    QList<QAction*> shown = entries(window);
    QCOMPARE(shown.size(), qsizetype{3});
    QVERIFY(shown[0]->isEnabled() && shown[1]->isEnabled());
    QVERIFY(QFile::remove(folder.filePath(QStringLiteral("gone.json"))));
    shown = entries(window);
    QVERIFY2(shown[0]->text().endsWith(QStringLiteral("gone.json (not found)")),
             qPrintable(shown[0]->text()));
    QVERIFY(!shown[0]->isEnabled());
    QVERIFY2(shown[1]->text().endsWith(QStringLiteral("there.json")), qPrintable(shown[1]->text()));
    QVERIFY(shown[1]->isEnabled());
}

/// An ampersand is no key, a line break does not break the menu, and long paths are cut.
void TestRecentMenu::namesAreShownAsTheyAre() {
    RecentFiles files(true);
    files.add(QStringLiteral("/") + QString(300, u'x') + QStringLiteral("/long.json"));
    files.add(QStringLiteral("/runs/line\nbreak"));
    files.add(QStringLiteral("/runs/this & that"));
    files.add(QDir::homePath() + QStringLiteral("/mine"));
    for (int i = 0; i < 6; ++i)
        files.add(QStringLiteral("/runs/%1").arg(i));
    MainWindow window(remembering());
    const QStringList shown = texts(window);
    QCOMPARE(shown.size(), qsizetype{RecentFiles::kMost + 1});
    QCOMPARE(shown[6], QStringLiteral("&7 ~/mine (not found)"));
    QCOMPARE(shown[7], QStringLiteral("&8 /runs/this && that (not found)"));
    QVERIFY2(!shown[8].contains(u'\n'), qPrintable(shown[8]));
    QVERIFY2(shown[9].startsWith(QStringLiteral("1&0 /xx")) && shown[9].size() < 100 &&
                 shown[9].contains(QStringLiteral("long.json")),
             qPrintable(shown[9]));
}

} // namespace tst_recent_menu

QTEST_MAIN(tst_recent_menu::TestRecentMenu)
#include "tst_recent_menu.moc"
