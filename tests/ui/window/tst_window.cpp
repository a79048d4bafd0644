// The whole window with the real engine, offscreen: a user's session, from the first picture to
// closing the window while it trains.
#include "engine/settings/recipes.h"
#include "tests/support/opened_window.h"
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "ui/dialogs/types_dialog.h"
#include "ui/dialogs/verify_dialog.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/plot_stack.h"

#include <QAccessible>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMimeData>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTextBrowser>

namespace tst_window {

using namespace halfscope;

namespace {

/// Returns the name that a screen reader says of a control. Qt gives the choice of a combo box out
/// as its name, which does not tell what is chosen.
QString spokenName(QWidget& widget) {
    if (qobject_cast<const QComboBox*>(&widget)) {
        if (!widget.accessibleName().isEmpty()) return widget.accessibleName();
        for (const QLabel* label : widget.window()->findChildren<QLabel*>())
            if (label->buddy() == &widget) return label->text();
        return {};
    }
    const QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(&widget);
    return interface ? interface->text(QAccessible::Name) : QString();
}

/// Returns the controls that Tab can reach but that have no name for a screen reader.
QStringList namelessIn(const QWidget& root) {
    QStringList found;
    for (QWidget* widget : root.findChildren<QWidget*>()) {
        if (!(widget->focusPolicy() & Qt::TabFocus) || widget->focusProxy()) continue;
        // parts of Qt's own widgets: lists of combo boxes, lines of spin boxes, headers of tables
        if (widget->window() != &root || widget->objectName().startsWith(QLatin1String("qt_")))
            continue;
        if (qobject_cast<const QHeaderView*>(widget)) continue;
        if (spokenName(*widget).isEmpty())
            found << QString::fromLatin1(widget->metaObject()->className()) + u' ' +
                         widget->objectName() + u' ' + widget->parentWidget()->objectName();
    }
    return found;
}

} // namespace

class TestWindow : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void startsWithAPicture();
    void keysPlayStepAndReset();
    void spaceOnAButtonPressesIt();
    void trainsToTheEndAndContinues();
    void epochsDecideWhenItEnds();
    void growthIntervalLive();
    void growsAtLeastWhereAsked();
    void overflowShowsAsEvent();
    void restartFieldWaits();
    void playTakesUpEdits_data();
    void playTakesUpEdits();
    void statesKeepPalettes();
    void errorBecomesBanner();
    void badFilesAreExplained();
    void droppedPicture();
    void opensEitherKindOfFile();
    void presetsSayWhatTheyAreFor();
    void everyRecipeRuns();
    void countersAreNotCut();
    void resizesAndChangesTheme();
    void areaIsDividedByThePictures();
    void everyWidgetInReachHasAName();
    void closesWhileTraining();
    void closesWhileBuilding();
};

void TestWindow::startsWithAPicture() {
    MainWindow window;
    QSignalSpy settled(&window, &MainWindow::settled);
    window.openPreset(QStringLiteral("checkerboard"));
    window.show();
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_VERIFY_WITH_TIMEOUT(settled.count() > 0, kPatience);
    auto* pictures = window.findChild<CompareView*>();
    QCOMPARE(pictures->panes(), 3);
    QCOMPARE(pictures->view(0).picture().width, 64);
    QVERIFY(window.findChild<QLabel*>(QStringLiteral("headline"))
                ->text()
                .contains(QStringLiteral("Press Play")));
    QCOMPARE(window.run().step(), int64_t(0));
    QVERIFY(window.bannerText().isEmpty());
}

void TestWindow::keysPlayStepAndReset() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(test::isActive(&window));
    // As it appears at first, and after a preset was chosen by mouse: keys go to the focus.
    const auto press = [](Qt::Key key) { QTest::keyClick(QApplication::focusWidget(), key); };
    QVERIFY(QApplication::focusWidget());
    press(Qt::Key_Period);
    QVERIFY(reaches(window, SessionState::Paused));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(1), kPatience);
    auto* stopAt = window.findChild<QSpinBox*>(QStringLiteral("stopAt"));
    stopAt->setFocus();
    press(Qt::Key_Space);
    QVERIFY(reaches(window, SessionState::Running));
    window.plots().setFocus();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 5, kPatience);
    QCOMPARE(window.findChild<QPushButton*>(QStringLiteral("play"))->text(),
             QStringLiteral("Pause"));
    QTest::keyClick(&window, Qt::Key_Space);
    QVERIFY(reaches(window, SessionState::Paused));
    QTest::keyClick(&window, Qt::Key_R);
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(window.run().step(), int64_t(0));
}

void TestWindow::spaceOnAButtonPressesIt() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(test::isActive(&window));
    auto* step = window.findChild<QPushButton*>(QStringLiteral("step"));
    step->setFocus();
    QTest::keyClick(step, Qt::Key_Space);
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(1), kPatience);
    QVERIFY(!window.controller().running());
}

void TestWindow::trainsToTheEndAndContinues() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(30), kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(window.plots().lastStep(), qint64(30), kPatience);
    auto* play = window.findChild<QPushButton*>(QStringLiteral("play"));
    auto* state = window.findChild<QLabel*>(QStringLiteral("state"));
    // said before it is pressed
    QTRY_COMPARE_WITH_TIMEOUT(play->toolTip(), QStringLiteral("Train on to step 60 (Space)"),
                              kPatience);
    QCOMPARE(state->text(),
             QStringLiteral("Finished. Continue trains on to step 60; Reset starts over."));
    QTest::mouseClick(play, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(60), kPatience);
    QCOMPARE(window.findChild<QSpinBox*>(QStringLiteral("stopAt"))->value(), 60);
    QTRY_COMPARE_WITH_TIMEOUT(play->toolTip(), QStringLiteral("Train on to step 90 (Space)"),
                              kPatience);
    QVERIFY(window.findChild<QLabel*>(QStringLiteral("speeds"))
                ->text()
                .contains(QStringLiteral("B/A")));
}

/// The stop field and the last step are what the epochs amount to; typing a step ends the epochs.
void TestWindow::epochsDecideWhenItEnds() {
    RunConfig config = presetNamed("regression").config;
    config.device = "cpu";
    config.task.samples = 200; // four batches, the last of 8 samples
    config.epochs = 5;
    Opened opened(config);
    MainWindow& window = opened.window;
    auto* stopAt = window.findChild<QSpinBox*>(QStringLiteral("stopAt"));
    auto* epoch = window.findChild<QLabel*>(QStringLiteral("epoch"));
    QCOMPARE(stopAt->value(), 20);
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_COMPARE_WITH_TIMEOUT(epoch->text(), QStringLiteral("5 epochs of 4 batches"), kPatience);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(20), kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(epoch->text(), QStringLiteral("epoch 5 of 5, batch 4 of 4"),
                              kPatience);
    window.play(); // as many again
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(40), kPatience);
    QCOMPARE(stopAt->value(), 40);
    QVERIFY(reaches(window, SessionState::Finished));
    stopAt->setFocus();
    stopAt->selectAll();
    QTest::keyClicks(stopAt, QStringLiteral("46"));
    QTest::keyClick(stopAt, Qt::Key_Return);
    window.play();
    QTRY_COMPARE_WITH_TIMEOUT(epoch->text(), QStringLiteral("epoch 12 of 12, batch 2 of 4"),
                              kPatience);
    QVERIFY(reaches(window, SessionState::Finished));
    QCOMPARE(window.run().step(), int64_t(46));
}

void TestWindow::growthIntervalLive() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 3, kPatience);
    FieldEditor* editor = window.setup().editor("scaler.growth_interval", 1);
    QVERIFY(editor);
    if (auto* spin = qobject_cast<QSpinBox*>(editor->control())) spin->setValue(1000000);
    const auto edited = [&window] { // the scale may have grown before
        for (int row = 0; row < window.events().rowCount(); ++row)
            if (window.events().eventAt(row).kind == EventKind::Edit)
                return window.events().eventAt(row).lane == 1;
        return false;
    };
    QVERIFY(QTest::qWaitFor(edited, kPatience));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lane(1).growthInterval, int64_t(1000000), kPatience);
    QVERIFY(window.controller().running());
    QVERIFY(!window.setup().restartShown());
}

/// A click on the card makes an edit like any other: it shows in the settings, comes back as an
/// event, is recorded with its step, and can be undone.
void TestWindow::growsAtLeastWhereAsked() {
    RunConfig config = tinyConfig(1000000);
    config.lanes[1].scaler.initScale = 1024;
    config.lanes[1].scaler.rules.ceiling = 1 << 20;
    config.pace = 500; // so that there are a few hundred clean steps when it is paused
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 50, kPatience);
    window.shown().playOrPause();
    QVERIFY(reaches(window, SessionState::Paused));
    ConfigModel& model = window.config();
    const int interval = model.rowOf("scaler.growth_interval", 1);
    QVERIFY(model.setData(model.index(interval), QStringLiteral("33")));
    const auto button = [&window] {
        return window.findChild<ScalerPanel*>()
            ->findChildren<QToolButton*>(QStringLiteral("atLeast"))
            .value(0);
    };
    QTRY_VERIFY_WITH_TIMEOUT(button() && button()->isVisible(), kPatience);
    window.play(); // this alone changes nothing
    const int64_t before = window.run().step();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > before + 100, kPatience);
    QCOMPARE(window.run().lane(1).scale(), 1024.0f);
    QVERIFY(button()->isVisible());
    QTest::mouseClick(button(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(window.run().lane(1).scale() > 1024.0f, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(!button()->isVisible(), kPatience);
    const int test = model.rowOf("scaler.growth_test", 1);
    QCOMPARE(model.text(test), QStringLiteral("at-least"));
    window.shown().playOrPause();
    QVERIFY(reaches(window, SessionState::Paused));
    const QString folder = opened.folder.filePath(QStringLiteral("saved"));
    window.saveResults(folder);
    const RunConfig saved =
        readConfig(QDir(folder).filePath(QStringLiteral("experiment.json")).toStdString());
    QCOMPARE(saved.edits.size(), size_t{2});
    QCOMPARE(saved.edits[1].key, std::string("scaler.growth_test"));
    QCOMPARE(saved.edits[1].lane, 1);
    QVERIFY(takesKeys(window));
    QTest::keySequence(&window, QKeySequence::Undo);
    QTRY_COMPARE_WITH_TIMEOUT(model.text(test), QStringLiteral("exact"), kPatience);
    QCOMPARE(model.text(interval), QStringLiteral("33")); // the earlier edit stays
}

void TestWindow::overflowShowsAsEvent() {
    MainWindow window;
    window.openPreset(QStringLiteral("overflow"));
    window.show();
    window.play();
    const auto overflowed = [&] {
        for (int row = 0; row < window.events().rowCount(); ++row)
            if (window.events().eventAt(row).kind == EventKind::Overflow) return true;
        return false;
    };
    QVERIFY(QTest::qWaitFor(overflowed, kPatience));
    QTRY_VERIFY_WITH_TIMEOUT(window.run().lane(1).last.skippedSoFar() > 0, kPatience);
    QVERIFY(!window.findChild<QLabel*>(QStringLiteral("headline"))->text().isEmpty());
    window.pause();
    // it may have ended before the pause
    QTRY_VERIFY_WITH_TIMEOUT(!window.controller().running(), kPatience);
    // A click on the event brings the plots to its step.
    auto* table = window.findChild<EventPanel*>()->table();
    const int last = window.events().rowCount() - 1;
    table->scrollToBottom();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                      table->visualRect(window.events().index(last, 0)).center());
    QCOMPARE(window.plots().crosshair().value_or(-1), qint64(window.events().eventAt(last).step));
}

void TestWindow::restartFieldWaits() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(reaches(window, SessionState::Running)); // rows can arrive before the state does
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 3, kPatience);
    qobject_cast<QSpinBox*>(window.setup().editor("model.width")->control())->setValue(16);
    QVERIFY(window.setup().restartShown());
    QVERIFY(window.controller().running());
    QCOMPARE(window.controller().info()->config.model.width, int64_t(8));
    QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("restartNow")), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor(
        [&] {
            return window.controller().info() &&
                   window.controller().info()->config.model.width == 16;
        },
        kPatience));
    QVERIFY(reaches(window, SessionState::Running)); // it trained before, so it continues
    QTRY_VERIFY_WITH_TIMEOUT(!window.setup().restartShown(), kPatience);
}

void TestWindow::playTakesUpEdits_data() {
    QTest::addColumn<bool>("plays");
    QTest::newRow("play") << true;
    QTest::newRow("step") << false;
}

/// Before the first step nothing is lost by a restart, so nobody has to ask for it.
void TestWindow::playTakesUpEdits() {
    QFETCH(const bool, plays);
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& settings = window.config();
    const QModelIndex loss = settings.index(settings.rowOf("task.loss"));
    QVERIFY(settings.setData(settings.index(settings.rowOf("model.width")), 16));
    QVERIFY(settings.setData(loss, QStringLiteral("cross-entropy"))); // not with a picture
    const auto* note = window.setup().findChild<QLabel*>(QStringLiteral("restartText"));
    QVERIFY(note->text().startsWith("No training can start with these changes: "));
    const auto trains = [&] { plays ? window.play() : window.stepOnce(); };
    trains();
    QVERIFY(!window.bannerText().isEmpty());
    QCOMPARE(window.controller().state(), SessionState::Ready);
    QVERIFY(!window.controller().willTrain());
    settings.resetToPreset(loss.row());
    QCOMPARE(note->text(), QStringLiteral("Play starts with these changes."));
    trains();
    QVERIFY(reaches(window, plays ? SessionState::Finished : SessionState::Paused));
    QCOMPARE(window.controller().info()->config.model.width, int64_t(16));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), plays ? 3 : 1, kPatience);
    QVERIFY(!window.setup().restartShown());
    // a run that has begun keeps its networks until a restart is asked for
    QVERIFY(settings.setData(settings.index(settings.rowOf("model.width")), 24));
    QCOMPARE(note->text(), QStringLiteral("Width will take effect at a restart."));
    window.stepOnce();
    QCOMPARE(window.controller().info()->config.model.width, int64_t(16));
}

/// A style keeps a picture of each button for each palette that it has seen.
void TestWindow::statesKeepPalettes() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    const auto train = [&] {
        window.play();
        return reaches(window, SessionState::Finished);
    };
    const auto palettes = [&] {
        std::map<const QWidget*, qint64> keys;
        for (const QWidget* widget : window.findChildren<QAbstractButton*>())
            keys[widget] = widget->palette().cacheKey();
        return keys;
    };
    QVERIFY(train());
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    const auto before = palettes();
    QVERIFY(before.size() > 20);
    QVERIFY(train());
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    for (const auto& [widget, key] : palettes())
        if (const auto found = before.find(widget); found != before.end())
            QVERIFY2(found->second == key, qPrintable(widget->accessibleName()));
}

void TestWindow::errorBecomesBanner() {
    FakeScript script;
    script.failAt = 5;
    WindowOptions options = played(script);
    {
        Opened opened(tinyConfig(20), options);
        MainWindow& window = opened.window;
        window.play();
        QVERIFY(reaches(window, SessionState::Failed));
        QTRY_COMPARE_WITH_TIMEOUT(window.bannerText(), QStringLiteral("the device is gone"),
                                  kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(4), kPatience);
        script.failAt = 0;
        QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("reset")), Qt::LeftButton);
        QVERIFY(reaches(window, SessionState::Ready));
        QVERIFY(window.bannerText().isEmpty());
        window.play();
        QVERIFY(reaches(window, SessionState::Finished));
    }
    QCOMPARE(script.alive.load(), 0);
}

void TestWindow::badFilesAreExplained() {
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY_THROWS_EXCEPTION(InputError, window.openPreset(QStringLiteral("chekerboard")));
    QVERIFY_THROWS_EXCEPTION(
        InputError, window.openExperiment(opened.folder.filePath(QStringLiteral("absent.json"))));
    const QString broken = write(opened.folder, QStringLiteral("broken.json"), "{ \"version\": }");
    QVERIFY_THROWS_EXCEPTION(InputError, window.openExperiment(broken));
    QVERIFY_THROWS_EXCEPTION(InputError, window.openPicture(broken));
    QCOMPARE(window.controller().state(), SessionState::Ready); // what was open is still there
}

void TestWindow::droppedPicture() {
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString path = opened.folder.filePath(QStringLiteral("dot.png"));
    writePng({2, 2, 1, {0, 1, 1, 0}}, path.toStdString());
    const auto drop = [&window](const QString& file) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(file)});
        QDragEnterEvent enter({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&window, &enter);
        QDropEvent event({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&window, &event);
        return enter.isAccepted();
    };
    QVERIFY(drop(path));
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_VERIFY_WITH_TIMEOUT(window.controller().info(), kPatience);
    QCOMPARE(window.controller().info()->config.task.kind, TaskKind::Image);
    drop(write(opened.folder, QStringLiteral("no.png"), "not a picture"));
    QVERIFY2(window.bannerText().contains(QStringLiteral("no.png")),
             qPrintable(window.bannerText()));
}

void TestWindow::opensEitherKindOfFile() {
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString path = opened.folder.filePath(QStringLiteral("dot.PNG"));
    writePng({2, 2, 1, {0, 1, 1, 0}}, path.toStdString());
    const auto kind = [&window] {
        if (!QTest::qWaitFor([&] { return window.controller().info() != nullptr; }, kPatience))
            return TaskKind::Regression;
        return window.controller().info()->config.task.kind;
    };
    window.openFile(path);
    QCOMPARE(kind(), TaskKind::Image);
    window.openFile(opened.folder.filePath(QStringLiteral("small.json")));
    QCOMPARE(kind(), TaskKind::Checkerboard);
    QVERIFY_THROWS_EXCEPTION(InputError,
                             window.openFile(opened.folder.filePath(QStringLiteral("absent.png"))));
}

void TestWindow::presetsSayWhatTheyAreFor() {
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    window.openPreset(QStringLiteral("overflow"));
    QVERIFY(reaches(window, SessionState::Ready));
    const QString about = QString::fromUtf8(presetNamed("overflow").about.text());
    auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QTRY_VERIFY2(headline->toolTip().startsWith(about), qPrintable(headline->toolTip()));
    QVERIFY(headline->toolTip().endsWith(QStringLiteral("Press Play.")));
    auto* box = window.findChild<QComboBox*>(QStringLiteral("presets"));
    QCOMPARE(box->accessibleDescription(), about);
}

/// Its whole sentence is visible from the start, and it trains.
void TestWindow::everyRecipeRuns() {
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    for (const Preset& preset : recipePresets()) {
        window.openPreset(QString::fromStdString(preset.name));
        const QString told =
            QString::fromUtf8(preset.about.text()) + QStringLiteral(" Press Play.");
        QTRY_COMPARE_WITH_TIMEOUT(headline->text().remove(QChar(0x2060)), told, kPatience);
        window.setStopStep(25);
        window.shown().setPace(0); // they open at a pace that can be watched
        window.play();
        QVERIFY2(reaches(window, SessionState::Finished), preset.name.c_str());
        QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(25), kPatience);
        // what AMP does on an overflow is visible
        QVERIFY2(window.run().lane(1).last.skippedSoFar() > 0, preset.name.c_str());
        QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    }
}

/// The counters get the room that they need, the events get the rest.
void TestWindow::countersAreNotCut() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    window.resize(1280, 800);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    auto* counters = window.findChild<ScalerPanel*>();
    for (const QSize size : {QSize(1280, 800), QSize(1920, 1080)}) {
        window.resize(size);
        QTRY_VERIFY2(counters->height() >= counters->contentHeight(),
                     qPrintable(QString::number(counters->height())));
        QTRY_VERIFY(!counters->verticalScrollBar()->isVisible());
    }
}

void TestWindow::resizesAndChangesTheme() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(reaches(window, SessionState::Running));
    for (const QSize size :
         {QSize(1280, 800), QSize(1920, 1080), QSize(1152, 700), QSize(920, 620)}) {
        window.resize(size);
        for (const Theme theme : {Theme::Dark, Theme::Light}) {
            window.chooseTheme(theme);
            test::serveEvents(50);
            QVERIFY(window.controller().running());
        }
        QCOMPARE(window.size(), size); // the content must not ask for more room
    }
}

void TestWindow::areaIsDividedByThePictures() {
    RunConfig config = tinyConfig(10);
    config.lanes.resize(6, defaultLane(Precision::AmpFp16));
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    auto* pictures = window.findChild<CompareView*>();
    const auto filled = [pictures] {
        const ImageView& last = pictures->view(6);
        return !last.pictureRect().isEmpty() && last.height() - last.pictureRect().bottom() <= 8;
    };
    for (const QSize size : {QSize(1280, 800), QSize(1920, 1080), QSize(1152, 700)}) {
        window.resize(size);
        QTRY_VERIFY(filled());
    }
}

void TestWindow::everyWidgetInReachHasAName() {
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(namelessIn(window).join(u'\n'), QString());
    TypesDialog layers(window.config(), 1);
    QCOMPARE(namelessIn(layers), QStringList());
    VerifyOptions options;
    QTest::keyClick(&window, Qt::Key_F1);
    auto* help = window.findChild<QTextBrowser*>();
    QVERIFY(help && help->isVisible());
    QVERIFY(help->toPlainText().contains(QStringLiteral("Loss scale")));
    QCOMPARE(namelessIn(*help->window()), QStringList());
    options.suites = {"scaler"};
    VerifyDialog verification(options);
    QCOMPARE(namelessIn(verification), QStringList());
    QLineEdit nameless(&layers); // what the search must find
    QComboBox choice(&layers);
    choice.addItem(QStringLiteral("chosen"));
    QCOMPARE(namelessIn(layers).size(), qsizetype(2));
}

void TestWindow::closesWhileBuilding() {
    RunConfig config = tinyConfig(10);
    config.model.width = 2048;
    config.model.depth = 4;
    Opened opened(config);
    QVERIFY(opened.window.close()); // and is destroyed: the thread is joined
}

void TestWindow::closesWhileTraining() {
    for (int i = 0; i < 5; ++i) {
        Opened opened(tinyConfig(1000000));
        QVERIFY(reaches(opened.window, SessionState::Ready));
        opened.window.play();
        QTRY_VERIFY_WITH_TIMEOUT(opened.window.run().step() > 0, kPatience);
        QVERIFY(opened.window.close());
    }
}

} // namespace tst_window

QTEST_MAIN(tst_window::TestWindow)
#include "tst_window.moc"
