// What a window tells of the memory for its runs, and of sessions that it cannot read.
#include "engine/runs/left_session.h"
#include "engine/runs/session_file.h"
#include "tests/support/cpu_run.h"
#include "tests/support/opened_window.h"
#include "ui/models/run_list_model.h"

#include <QAction>
#include <QDir>
#include <QInputDialog>
#include <QSettings>

namespace tst_session_memory {

using namespace halfscope;

namespace {

/// Chooses what the dialog offers to no user.
bool choosesBudget(MainWindow& window, int mebibytes) {
    for (QAction* action : window.findChildren<QAction*>())
        if (action->text().startsWith(QLatin1String("Memor&y"))) action->trigger();
    auto* dialog = window.findChild<QInputDialog*>();
    if (!dialog) return false;
    dialog->setIntRange(1, mebibytes);
    dialog->setIntValue(mebibytes);
    dialog->accept();
    return true;
}

} // namespace

class TestSessionMemory : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("HalfscopeTest"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_session_memory"));
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_settings.path());
    }
    void cleanup() { QSettings().clear(); }
    void pausesWhenMemoryIsFull();
    void finishedRunsMakeRoom();
    void namesUnreadableSessionsOnce();

private:
    QTemporaryDir m_settings;
};

/// One MiB, and values of which nothing can be dropped yet.
void TestSessionMemory::pausesWhenMemoryIsFull() {
    const QTemporaryDir sessions;
    QSettings().setValue(QStringLiteral("memory/budgetMiB"), 1);
    RunConfig config = tinyConfig(100'000'000);
    config.lanes.resize(6, config.lanes[0]);
    FakeScript script; // of steps that cost nothing but their rows
    WindowOptions options = keeping(sessions);
    options.factory = fakeFactory(script);
    Opened opened(config, options);
    opened.window.play();
    const bool paused = reaches(opened.window, SessionState::Paused);
    QSettings().remove(QStringLiteral("memory/budgetMiB"));
    QVERIFY(paused);
    QVERIFY2(opened.window.bannerText().contains(QStringLiteral("1.00 MiB")),
             qPrintable(opened.window.bannerText()));
    QVERIFY(opened.window.shown().run()->step() > 100);
}

/// The values of a run that is over leave the memory when there is less for them, and what stays of
/// them gets smaller, too: the run that trains goes on.
void TestSessionMemory::finishedRunsMakeRoom() {
    const QTemporaryDir sessions;
    constexpr int kSteps = 600'000;
    FakeScript script;
    WindowOptions options = keeping(sessions);
    options.factory = fakeFactory(script);
    Opened opened(tinyConfig(kSteps), options);
    MainWindow& window = opened.window;
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QVERIFY(QTest::qWaitFor([&] { return window.shown().run()->step() == kSteps; }, kPatience));
    const auto over = window.shown().run();
    const auto spans = [&] { return over->snapshot().column(0, metric::Loss).spans().size(); };
    const size_t before = spans();
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    window.shown().setPace(20);
    window.play();
    QVERIFY(reaches(window, SessionState::Running));
    QVERIFY(choosesBudget(window, 1));
    QVERIFY(QTest::qWaitFor([&] { return spans() < before / 4; }, kPatience));
    QVERIFY(!QTest::qWaitFor([&] { return window.controller().state() != SessionState::Running; },
                             3000));
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
}

/// It stays on disk, and the next window says nothing.
void TestSessionMemory::namesUnreadableSessionsOnce() {
    const QTemporaryDir sessions;
    const QString folder = keeping(sessions).sessions;
    QVERIFY(QDir().mkpath(folder));
    const QString path = folder + QStringLiteral("/20261121-173455-1") + kSessionEnding;
    const QByteArray content = QByteArray(5000, 'x');
    QFile left(path);
    QVERIFY(left.open(QFile::WriteOnly) && left.write(content) == content.size());
    left.close();
    for (const bool first : {true, false}) {
        Opened opened(tinyConfig(7), keeping(sessions));
        const bool told = QTest::qWaitFor([&] { return opened.window.bannerText().contains(path); },
                                          first ? kPatience : 2000);
        QCOMPARE(told, first);
        opened.window.close();
    }
    QVERIFY(left.open(QFile::ReadOnly));
    QCOMPARE(left.readAll(), content);
}

} // namespace tst_session_memory

QTEST_MAIN(tst_session_memory::TestSessionMemory)
#include "tst_session_memory.moc"
