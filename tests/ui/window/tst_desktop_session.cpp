// The desktop asks the window to save, and ends it.
#include "engine/runs/left_session.h"
#include "tests/support/opened_window.h"
#include "tests/support/served_events.h"
#include "ui/window/desktop_session.h"

#include <QDir>
#include <QFileInfo>
#include <QMessageBox>
#include <QSettings>
#include <QThread>
#include <QTimer>

#include <optional>

namespace tst_desktop_session {

using namespace halfscope;

namespace {

/// A training window of a desktop.
struct Desktop {
    QTemporaryDir folder;
    FakeScript script;
    std::optional<Opened> opened;
    std::vector<Message> kept; ///< what each save returned
    std::optional<DesktopSession> session;

    Desktop() {
        RunConfig config = tinyConfig(100'000'000);
        config.pace = 1000;
        script.stateBytes = 1;
        WindowOptions options = played(script);
        options.sessions = sessions();
        options.askAfterSeconds = 0; // closing asks
        opened.emplace(config, options);
        session.emplace(*qApp, window(),
                        [this](const Message& problem) { kept.push_back(problem); });
    }
    MainWindow& window() { return opened->window; }
    QString sessions() const { return folder.filePath(QStringLiteral("sessions")); }
    bool trains() {
        const int64_t before = script.steps;
        return QTest::qWaitFor([&] { return script.steps > before + 20; }, kPatience);
    }
    /// What a desktop does before it ends, as Qt tells it. Nobody but Qt can make the manager that
    /// the signal carries, and nothing looks at it.
    static bool asksToSave() {
        char manager = 0;
        return QMetaObject::invokeMethod(qApp, "commitDataRequest", Qt::DirectConnection,
                                         QGenericArgument("QSessionManager&", &manager));
    }
    /// Returns the only run that a program would find that starts now; null if there is none.
    std::shared_ptr<Run> onDisk() const {
        const QTemporaryDir copy; // without the lock of the window
        for (const QFileInfo& file : QDir(sessions()).entryInfoList(QDir::Files))
            if (file.suffix() != QLatin1String("lock"))
                QFile::copy(file.filePath(), copy.filePath(file.fileName()));
        const std::vector<LeftSession> left = leftSessions(copy.path().toStdString());
        if (left.size() != 1 || left[0].runs().size() != 1) return nullptr;
        return left[0].read(left[0].runs()[0]);
    }
};

/// Answers questions that must not be asked.
class Answers {
public:
    Answers() {
        QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            if (!box) return;
            ++asked;
            box->button(QMessageBox::Discard)->click();
        });
        m_timer.start(50);
    }
    int asked = 0;

private:
    QTimer m_timer;
};

} // namespace

class TestDesktopSession : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("HalfscopeTest"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_desktop_session"));
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_settings.path());
    }
    void savesAndGoesOn();
    void savesBetweenTrainings();
    void endsWithoutAQuestion_data();
    void endsWithoutAQuestion();

private:
    QTemporaryDir m_settings;
};

/// The desktop saves and does not end, or its user stays: the training goes on and is kept, and
/// closing the window asks as ever.
void TestDesktopSession::savesAndGoesOn() {
    Desktop desktop;
    MainWindow& window = desktop.window();
    window.play();
    QVERIFY(desktop.trains());
    for (size_t saves = 1; saves < 4; ++saves) {
        const int64_t before = desktop.script.steps;
        while (desktop.script.steps < before + 20)
            QThread::msleep(1); // the window has not taken these steps
        QVERIFY(Desktop::asksToSave());
        QCOMPARE(desktop.kept.size(), saves);
        QVERIFY2(desktop.kept.back().empty(), desktop.kept.back().english().c_str());
        const std::shared_ptr<Run> run = desktop.onDisk();
        QVERIFY(run && run->step() >= before + 19 && run->now().checkpoint());
        QVERIFY(run->now().checkpoint()->step() >= before + 19);
        QVERIFY(window.isVisible());
        QVERIFY(desktop.trains());
        QCOMPARE(window.controller().state(), SessionState::Running);
    }
    const int64_t step = window.run().step();
    QTRY_VERIFY_WITH_TIMEOUT(desktop.onDisk()->step() > step, kPatience);
    Answers answers;
    QVERIFY(window.close());
    QCOMPARE(answers.asked, 1);
}

/// A training that rests still rests afterwards.
void TestDesktopSession::savesBetweenTrainings() {
    Desktop desktop;
    MainWindow& window = desktop.window();
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(Desktop::asksToSave());
    test::serveEvents(50);
    QCOMPARE(window.controller().state(), SessionState::Ready);
    window.stepOnce();
    QVERIFY(reaches(window, SessionState::Paused));
    QVERIFY(Desktop::asksToSave());
    test::serveEvents(50);
    QCOMPARE(window.controller().state(), SessionState::Paused);
    QCOMPARE(window.run().step(), int64_t{1});
    QVERIFY(desktop.onDisk() && desktop.onDisk()->step() == 1);
}

void TestDesktopSession::endsWithoutAQuestion_data() {
    QTest::addColumn<bool>("saves");
    QTest::newRow("after saving") << true;
    QTest::newRow("at once") << false;
}

void TestDesktopSession::endsWithoutAQuestion() {
    QFETCH(const bool, saves);
    Desktop desktop;
    MainWindow& window = desktop.window();
    window.play();
    QVERIFY(desktop.trains());
    if (saves) QVERIFY(Desktop::asksToSave());
    QVERIFY(desktop.trains());
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 0, kPatience);
    const Answers answers;
    const int64_t before = desktop.script.steps;
    QTimer::singleShot(0, &window, [] {
        QEvent quit(QEvent::Quit); // as Qt sends it when the desktop ends the program
        QCoreApplication::sendEvent(qApp, &quit);
    });
    QCOMPARE(QCoreApplication::exec(), 0);
    QCOMPARE(answers.asked, 0);
    QVERIFY(!window.isVisible());
    QCOMPARE(desktop.kept.size(), size_t{saves ? 2U : 1U});
    QVERIFY(desktop.kept.back().empty());
    desktop.session.reset();
    desktop.opened.reset();
    const std::shared_ptr<Run> run = desktop.onDisk(); // for the next start
    QVERIFY(run && run->step() >= before && run->step() == desktop.script.steps);
}

} // namespace tst_desktop_session

QTEST_MAIN(tst_desktop_session::TestDesktopSession)
#include "tst_desktop_session.moc"
