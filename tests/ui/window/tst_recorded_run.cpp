// A training that was recorded in PyTorch can be looked at, and nothing pretends that it can go on.
#include "tests/support/opened_window.h"
#include "ui/images/compare_view.h"
#include "ui/panels/banner.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/setup_panel.h"

#include <QComboBox>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLocale>
#include <QPushButton>

namespace tst_recorded_run {

using namespace halfscope;

namespace {

constexpr int kTrained = 12;

/// Saves a training as a recorder does: with lanes, but without a network and data.
QString recordedBy(Opened& opened) {
    const QString folder = opened.folder.filePath(QStringLiteral("recorded"));
    if (!trainsTo(opened.window, kTrained)) return {};
    opened.window.saveResults(folder);
    const QDir saved(folder);
    QFile file(saved.filePath(QStringLiteral("experiment.json")));
    if (!file.open(QIODevice::ReadOnly)) return {};
    const QJsonObject all = QJsonDocument::fromJson(file.readAll()).object();
    file.close();
    QJsonObject recorded{{"version", all["version"]}, {"title", "Mine"}, {"lanes", all["lanes"]}};
    recorded["data"] = QJsonObject{{"kind", "recorded"}};
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(QJsonDocument(recorded).toJson());
    for (const QString& name : saved.entryList(QDir::Files))
        if (name.endsWith(QLatin1String(".safetensors")) || name.endsWith(QLatin1String(".png")))
            QFile::remove(saved.filePath(name));
    return folder;
}

/// Opens it and waits until it is known that it cannot be trained.
bool shows(MainWindow& window, const QString& folder) {
    window.openFile(folder);
    return QTest::qWaitFor(
        [&] {
            return window.run().step() == kTrained && window.showsSaved() &&
                   window.controller().state() == SessionState::Failed;
        },
        kPatience);
}

} // namespace

class TestRecordedRun : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void canBeLookedAt();
    void cannotBeTrained();
    void isNoChoice();
};

void TestRecordedRun::canBeLookedAt() {
    Opened opened(tinyConfig(kTrained));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString folder = recordedBy(opened);
    QVERIFY(shows(window, folder));
    const auto* banner = window.findChild<Banner*>();
    QVERIFY2(!banner->isVisible(), qPrintable(banner->text())); // nothing is wrong
    QTRY_VERIFY(!window.findChild<CompareView*>()->isVisible());
    const auto tells = [&window] {
        for (const QLabel* label : window.findChildren<QLabel*>())
            if (label->text().contains(QStringLiteral("Recorded in PyTorch")) &&
                label->text().contains(QStringLiteral("it can be looked at, not trained")))
                return true;
        return false;
    };
    QTRY_VERIFY(tells());
    // an experiment that can be trained has its pictures back
    window.openPreset(QStringLiteral("overflow"));
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_VERIFY(window.findChild<CompareView*>()->isVisible());
}

void TestRecordedRun::cannotBeTrained() {
    Opened opened(tinyConfig(kTrained));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString folder = recordedBy(opened);
    QVERIFY(shows(window, folder));
    for (const char* name : {"play", "step", "reset"}) {
        const auto* button = window.findChild<QPushButton*>(QLatin1String(name));
        QVERIFY2(button && !button->isEnabled(), name);
    }
    QVERIFY(takesKeys(window));
    for (const Qt::Key key : {Qt::Key_Space, Qt::Key_Period, Qt::Key_R}) {
        QTest::keyClick(&window, key);
        QCoreApplication::processEvents();
        QCOMPARE(window.controller().state(), SessionState::Failed);
    }
    QCOMPARE(window.run().step(), int64_t{kTrained});
    // a lane's settings cannot change that
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("scaler.growth_interval", 1)), "20"));
    QCoreApplication::processEvents();
    const auto* state = window.findChild<QLabel*>(QStringLiteral("state"));
    const QString said = state->accessibleName() + state->text() + state->toolTip();
    QVERIFY2(said.contains(QStringLiteral("it can be looked at, not trained")) &&
                 !said.contains(QStringLiteral("Press Play")),
             qPrintable(said));
    QVERIFY(!window.findChild<QPushButton*>(QStringLiteral("play"))->isEnabled());
    // other data can be trained on, and this run is still there
    QVERIFY(model.setData(model.index(model.rowOf("data.kind")), QStringLiteral("checkerboard")));
    QTRY_VERIFY(window.findChild<QPushButton*>(QStringLiteral("play"))->isEnabled());
}

void TestRecordedRun::isNoChoice() {
    Opened opened(tinyConfig(kTrained));
    const auto* box =
        qobject_cast<QComboBox*>(opened.window.setup().editor("data.kind")->control());
    QVERIFY(box->findText(QStringLiteral("csv")) >= 0);
    QVERIFY(box->findText(QStringLiteral("recorded")) < 0);
}

} // namespace tst_recorded_run

QTEST_MAIN(tst_recorded_run::TestRecordedRun)
#include "tst_recorded_run.moc"
