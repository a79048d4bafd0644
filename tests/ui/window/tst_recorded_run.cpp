// A training that was recorded in PyTorch can be looked at, and nothing pretends that it can go on.
#include "tests/support/file_menu.h"
#include "tests/support/opened_window.h"
#include "ui/dialogs/grid_dialog.h"
#include "ui/dialogs/layer_gradients_dialog.h"
#include "ui/images/compare_view.h"
#include "ui/panels/banner.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/gradient_view.h"

#include <QComboBox>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QToolButton>

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

/// Opens such a run and waits until it is known that it cannot be trained.
bool showsRecorded(Opened& opened) {
    MainWindow& window = opened.window;
    if (!reaches(window, SessionState::Ready)) return false;
    window.openFile(recordedBy(opened));
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
    void playWaitsForTheNextFile();
    void getsNoLanes();
    void hasNoLayers();
    void isNoChoice();
};

void TestRecordedRun::canBeLookedAt() {
    Opened opened(tinyConfig(kTrained));
    MainWindow& window = opened.window;
    QVERIFY(showsRecorded(opened));
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
    // its results are told as those of any other run
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QTRY_VERIFY2(headline->toolTip().startsWith(QStringLiteral("Recorded in PyTorch: 12 steps")) &&
                     headline->toolTip().contains(QStringLiteral(". In step 12 the loss is: ")),
                 qPrintable(headline->toolTip()));
    // an experiment that can be trained has its pictures back
    window.openPreset(QStringLiteral("overflow"));
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_VERIFY(window.findChild<CompareView*>()->isVisible());
}

void TestRecordedRun::cannotBeTrained() {
    Opened opened(tinyConfig(kTrained));
    MainWindow& window = opened.window;
    QVERIFY(showsRecorded(opened));
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

void TestRecordedRun::playWaitsForTheNextFile() {
    Opened opened(tinyConfig(kTrained));
    MainWindow& window = opened.window;
    QVERIFY(showsRecorded(opened));
    const auto* play = window.findChild<QPushButton*>(QStringLiteral("play"));
    QVERIFY(!play->isEnabled());
    window.shown().setReading(QStringLiteral("big.csv"));
    QVERIFY(play->isEnabled());
    QCOMPARE(play->toolTip(), QStringLiteral("Start training as soon as the file is read (Space)"));
    window.shown().playOrPause();
    QCOMPARE(play->text(), QStringLiteral("Pause"));
    QVERIFY(window.shown().setReading({}));
    QVERIFY(!play->isEnabled());
}

/// Neither by a button nor by a key, and no map is trained; each says why.
void TestRecordedRun::getsNoLanes() {
    Opened opened(tinyConfig(kTrained));
    MainWindow& window = opened.window;
    QVERIFY(showsRecorded(opened));
    QVERIFY(takesKeys(window));
    const auto lanes = [&window] { return window.config().config().lanes.size(); };
    const size_t recorded = lanes();
    const QString reason = QStringLiteral("recorded in PyTorch");
    const auto isOffered = [&](bool offered) {
        for (const char* text :
             {"&Add a lane", "&Continue as a new lane", "Try several &values of a setting…"}) {
            const QAction* action = fileAction(window, QString::fromUtf8(text));
            QVERIFY2(action && action->isEnabled() == offered, text);
            QCOMPARE(action->toolTip().contains(reason), !offered);
        }
        for (const char* text : {"Add a lane", "Try several values…"}) {
            const QToolButton* found = nullptr;
            for (const QToolButton* each : window.setup().findChildren<QToolButton*>())
                if (each->text() == QString::fromUtf8(text)) found = each;
            QVERIFY2(found && found->isEnabled() == offered, text);
            QCOMPARE(found->toolTip().contains(reason), !offered);
        }
    };
    isOffered(false);
    QTest::keyClick(&window, Qt::Key_L, Qt::ControlModifier);
    window.setup().addLane();
    QCOMPARE(lanes(), recorded);
    fileAction(window, QStringLiteral("&Map of two settings…"))->trigger();
    const auto* map = window.findChild<GridDialog*>();
    QVERIFY(map);
    const auto* start = map->findChild<QPushButton*>(QStringLiteral("gridStart"));
    QVERIFY(!start->isEnabled());
    QVERIFY2(map->note().contains(reason), qPrintable(map->note()));
    // with other data they are possible
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("data.kind")), QStringLiteral("checkerboard")));
    isOffered(true);
    QVERIFY2(!map->note().contains(reason), qPrintable(map->note()));
    window.setup().addLane();
    QCOMPARE(lanes(), recorded + 1);
}

/// The sentence names the plot as its header does.
void TestRecordedRun::hasNoLayers() {
    Opened opened(tinyConfig(kTrained));
    MainWindow& window = opened.window;
    QVERIFY(showsRecorded(opened));
    const QString plot = QStringLiteral("the plot Gradients over time");
    QTRY_VERIFY2(window.gradients().note().contains(plot), qPrintable(window.gradients().note()));
    fileAction(window, QStringLiteral("Gradients by layer"))->trigger();
    const auto* dialog = window.findChild<LayerGradientsDialog*>();
    QVERIFY(dialog);
    QVERIFY2(dialog->heading().startsWith(QStringLiteral("A recording has no gradients by layer")),
             qPrintable(dialog->heading()));
    QVERIFY(dialog->heading().contains(plot));
}

void TestRecordedRun::isNoChoice() {
    Opened opened(tinyConfig(kTrained));
    const auto* box =
        qobject_cast<QComboBox*>(opened.window.setup().editor("data.kind")->control());
    QVERIFY(box->findData(QStringLiteral("csv")) >= 0);
    QVERIFY(box->findData(QStringLiteral("recorded")) < 0);
}

} // namespace tst_recorded_run

QTEST_MAIN(tst_recorded_run::TestRecordedRun)
#include "tst_recorded_run.moc"
