// Lanes of the whole window by mouse and keyboard: they come and go, their layers get dtypes of
// their own, and their loss scale is set by hand, while a run with other lanes continues.
#include "tests/support/file_menu.h"
#include "tests/support/opened_window.h"
#include "tests/support/plot_parts.h"
#include "tests/support/served_events.h"
#include "ui/dialogs/scale_dialog.h"
#include "ui/dialogs/types_dialog.h"
#include "ui/images/compare_view.h"
#include "ui/models/lane_titles.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/plots/readout_item.h"

#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QTableView>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <set>

namespace tst_window_lanes {

using namespace halfscope;

namespace {

/// Scrolls a tool button of the setup panel into view and clicks it.
bool clickButton(MainWindow& window, const QString& name) {
    for (auto* button : window.setup().findChildren<QToolButton*>()) {
        const bool meant = button->accessibleName() == name || button->text() == name;
        if (!meant || !button->isVisible() || !button->isEnabled()) continue;
        window.setup().findChild<QScrollArea*>()->ensureWidgetVisible(button);
        QTest::mouseClick(button, Qt::LeftButton);
        return true;
    }
    return false;
}

/// Whether plots, pictures and counters show the lanes of the run, and nothing of another one.
bool showsLanes(MainWindow& window, int lanes) {
    const auto cards = window.findChildren<LaneCard*>();
    const auto* pictures = window.findChild<CompareView*>();
    return window.run().lanes() == lanes && pictures->panes() == lanes + 1 &&
           window.plots().lanes() == lanes && cards.size() == lanes &&
           window.events().rowCount() == 0;
}

} // namespace

class TestWindowLanes : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void lanesComeAndGoByClick_data();
    void lanesComeAndGoByClick();
    void addedFromTheMenu();
    void restartRightAfterPlay();
    void stopStepAfterALaneWent();
    void scaleSetByHand();
    void settingsNameLanesAsTheRunDoes();
    void scaleTriedFromTheMenu();
    void scaleCanBeSetInTheFirstTraining();
    void scalerSwitchedLive();
    void layersChosen();
    void floorNamesTheLaneAsTheWindowDoes();
    void cardsTellWhatThePlotsDo();
};

void TestWindowLanes::lanesComeAndGoByClick_data() {
    QTest::addColumn<bool>("running");
    QTest::newRow("running") << true;
    QTest::newRow("paused") << false;
}

void TestWindowLanes::lanesComeAndGoByClick() {
    QFETCH(const bool, running);
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 3, kPatience);
    if (!running) window.pause();
    if (!running) QVERIFY(reaches(window, SessionState::Paused));
    const auto restarted = [&window, running](int lanes) {
        QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("restartNow")),
                          Qt::LeftButton);
        if (!reaches(window, running ? SessionState::Running : SessionState::Ready)) return false;
        return running ? QTest::qWaitFor([&] { return window.run().step() > 3; }, kPatience)
                       : QTest::qWaitFor([&] { return showsLanes(window, lanes); }, kPatience);
    };
    QVERIFY(clickButton(window, QStringLiteral("Remove lane A")));
    QVERIFY(!clickButton(window, QStringLiteral("Remove lane A"))); // one stays
    QCOMPARE(window.run().lanes(), 2);                              // until the restart
    QCOMPARE(window.plots().lanes(), 2);
    QVERIFY(restarted(1));
    QCOMPARE(window.run().lanes(), 1);
    QCOMPARE(window.run().lane(0).name, QStringLiteral("amp-fp16"));
    QCOMPARE(window.run().lane(0).growthInterval, int64_t(2000));
    for (int lanes = 2; lanes <= 6; ++lanes)
        QVERIFY(clickButton(window, QStringLiteral("Add a lane")));
    QVERIFY(!clickButton(window, QStringLiteral("Add a lane")));
    QVERIFY(restarted(6));
    QCOMPARE(window.findChild<CompareView*>()->panes(), 7);
    QCOMPARE(window.findChildren<LaneCard*>().size(), 6);
    for (const char* lane : {"F", "E", "D", "C"})
        QVERIFY(clickButton(window, QStringLiteral("Remove lane %1").arg(QLatin1String(lane))));
    QVERIFY(restarted(2));
    QCOMPARE(window.run().lanes(), 2);
    QCOMPARE(window.plots().lanes(), 2);
    QVERIFY(window.bannerText().isEmpty());
}

/// The button is below all settings; whoever has hidden them finds the entry, and then the
/// settings.
void TestWindowLanes::addedFromTheMenu() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QAction* add = fileAction(window, QStringLiteral("&Add a lane"));
    QVERIFY(add);
    auto* edit = qobject_cast<QMenu*>(add->parent());
    QVERIFY(edit);
    QTest::keyClick(&window, Qt::Key_F9);
    QVERIFY(!window.setup().isVisible());
    for (size_t lanes = 3; lanes <= 6; ++lanes) {
        emit edit->aboutToShow();
        QVERIFY(add->isEnabled());
        add->trigger();
        QCOMPARE(window.config().config().lanes.size(), lanes);
        QVERIFY(window.setup().isVisible());
    }
    emit edit->aboutToShow();
    QVERIFY(!add->isEnabled());
}

/// Rows of a run may arrive before the state that it runs: a restart then must not leave it
/// standing.
void TestWindowLanes::restartRightAfterPlay() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    emit window.setup().restartRequested(); // no event in between
    QVERIFY(reaches(window, SessionState::Running));
    window.pause();
    emit window.setup().restartRequested();
    QVERIFY(reaches(window, SessionState::Ready)); // nor start one that was not to run
    test::serveEvents(200);
    QCOMPARE(window.controller().state(), SessionState::Ready);
}

void TestWindowLanes::stopStepAfterALaneWent() {
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QVERIFY(clickButton(window, QStringLiteral("Remove lane A")));
    // Continue still continues the present run
    QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("play")), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(40), kPatience);
    QCOMPARE(window.run().lane(1).growthInterval, int64_t(2000)); // not that of another lane
    QCOMPARE(window.run().lane(0).growthInterval, int64_t(0));
}

void TestWindowLanes::scaleSetByHand() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(1), kPatience);
    const auto choose = [&window](const QString& text) {
        auto* card = window.findChildren<LaneCard*>().at(1);
        QTest::mouseClick(card->findChild<QToolButton*>(), Qt::LeftButton);
        auto* dialog = window.findChild<ScaleDialog*>();
        if (!dialog) return false;
        QTest::keyClicks(dialog->findChild<QLineEdit*>(), text); // the old text is selected
        QTest::keyClick(dialog, Qt::Key_Return);
        return true;
    };
    QVERIFY(choose(QStringLiteral(" 2^5 ")));
    window.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(2), kPatience);
    QCOMPARE(window.run().lane(1).last.scale(), 32.0f);
    QVERIFY(window.events().rowCount() > 0);
    QVERIFY(window.bannerText().isEmpty());
    QTRY_VERIFY(!window.findChild<ScaleDialog*>());
    QVERIFY(choose(QStringLiteral("-1")));
    // reported where it was typed, to be corrected there
    auto* dialog = window.findChild<ScaleDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    QCOMPARE(dialog->errorText(), QStringLiteral("Allowed: a number above 0 and at most 3.4e+38"));
    QVERIFY(window.bannerText().isEmpty());
    QTest::keyClicks(dialog->findChild<QLineEdit*>(), QStringLiteral("8"));
    QVERIFY(dialog->errorText().isEmpty());
    QTest::keyClick(dialog, Qt::Key_Return);
    QTRY_VERIFY(!window.findChild<ScaleDialog*>());
    window.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().lane(1).last.scale(), 8.0f, kPatience);
}

/// A fixed scale that was set by hand is not fixed any more, on the cards and in the settings
/// alike.
void TestWindowLanes::settingsNameLanesAsTheRunDoes() {
    RunConfig config = tinyConfig(1000000);
    config.lanes = parseLanes("amp-fp16,amp-fp16");
    for (const int lane : {0, 1}) {
        setField(config, lane, "scaler.mode", std::string("static"));
        setField(config, lane, "scaler.init_scale", lane == 0 ? 1.0 : 4.0);
    }
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const auto named = [&window](const QString& words) {
        const QString title = window.run().lane(1).title;
        const auto jumps = window.setup().findChildren<QToolButton*>();
        return QString(title).replace(QChar(QChar::Nbsp), u' ').endsWith(words) &&
               std::any_of(jumps.begin(), jumps.end(), [&](const QToolButton* jump) {
                   return jump->toolTip().endsWith(laneLabel(1, title));
               });
    };
    QTRY_VERIFY(named(QStringLiteral("Fixed scale 2^2")));
    window.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(1), kPatience);
    window.shown().setScale(1, QStringLiteral("2"));
    window.stepOnce();
    QTRY_VERIFY_WITH_TIMEOUT(named(QStringLiteral("Fixed scale 2^2 then 2^1")), kPatience);
    window.restart(); // which begins with the settings
    QTRY_VERIFY_WITH_TIMEOUT(named(QStringLiteral("Fixed scale 2^2")), kPatience);
}

/// The menu offers another scale; with it comes the view that shows its effect, but not when the
/// user thinks better of it.
void TestWindowLanes::scaleTriedFromTheMenu() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const auto entries = [&window] {
        QStringList texts;
        for (QMenu* menu : window.findChildren<QMenu*>()) {
            if (menu->title() != QStringLiteral("Se&t the loss scale")) continue;
            emit menu->aboutToShow();
            for (QAction* action : menu->actions())
                texts << action->text() + (action->isEnabled() ? u'+' : u'-');
            if (!menu->isEmpty() && menu->actions().first()->isEnabled())
                menu->actions().first()->trigger();
        }
        return texts.join(u'|');
    };
    QCOMPARE(entries(), QStringLiteral("Train a step first (Play)-"));
    const auto* button = window.findChild<QToolButton*>(QStringLiteral("setScale"));
    QVERIFY(!button->isEnabled() && button->toolTip().startsWith(QStringLiteral("Train a step")));
    window.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(1), kPatience);
    GradientView& gradients = window.gradients();
    QVERIFY(!gradients.isVisible());
    QCOMPARE(entries(), QStringLiteral("Of lane B amp-fp16…+"));
    QPointer<ScaleDialog> dialog = window.findChild<ScaleDialog*>();
    QVERIFY(dialog);
    QTest::keyClick(dialog, Qt::Key_Escape);
    QTRY_VERIFY(!dialog);
    QVERIFY(!gradients.isVisible());
    QCOMPARE(entries(), QStringLiteral("Of lane B amp-fp16…+"));
    dialog = window.findChild<ScaleDialog*>();
    QVERIFY(dialog && !gradients.isVisible());
    QTest::keyClicks(dialog->findChild<QLineEdit*>(), QStringLiteral("2^60"));
    QTest::keyClick(dialog, Qt::Key_Return);
    QVERIFY(gradients.isVisible());
    // at once, and for the step that was trained
    QTRY_VERIFY_WITH_TIMEOUT(gradients.figures(1).contains(QLatin1String("inf")), kPatience);
    QTRY_COMPARE(gradients.heading(),
                 QStringLiteral("Scaled gradients after step 1, at the new scale"));
    // the card has the scale of the next step, and the headline says what was done
    const auto figures = window.findChildren<LaneCard*>().at(1)->findChildren<FigureLabel*>();
    QTRY_VERIFY(std::any_of(figures.begin(), figures.end(), [](const FigureLabel* each) {
        const QString text = each->text(); // the last event's words contain it, too
        return text.endsWith(QStringLiteral("2^60")) && !text.startsWith(QLatin1String("Step"));
    }));
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QTRY_VERIFY2(headline->text().startsWith(QStringLiteral("From step 2: Loss scale set to ")),
                 qPrintable(headline->text()));
    QCOMPARE(window.events().index(0, EventModel::KindColumn).data().toString(),
             QStringLiteral("Loss scale: 2^60"));
    QCOMPARE(window.run().step(), int64_t(1));
}

/// A scaler that is switched off during the training takes its figures away, and brings them back.
/// Nothing but rows has come since Play was pressed.
void TestWindowLanes::scaleCanBeSetInTheFirstTraining() {
    Opened opened(tinyConfig(1'000'000'000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const auto* button = window.findChild<QToolButton*>(QStringLiteral("setScale"));
    QVERIFY(button && !button->isEnabled());
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 0 && button->isEnabled(), kPatience);
    QCOMPARE(window.controller().state(), SessionState::Running);
    QVERIFY(button->toolTip().startsWith(QStringLiteral("Tries another loss scale")));
}

void TestWindowLanes::scalerSwitchedLive() {
    FakeScript script;
    Opened opened(tinyConfig(1000000), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 3, kPatience);
    const auto saysNone = [&window] {
        for (const auto* label : window.findChildren<LaneCard*>().at(1)->findChildren<QLabel*>())
            if (label->text() == QStringLiteral("no loss scale")) return true;
        return false;
    };
    auto* mode = qobject_cast<QComboBox*>(window.setup().editor("scaler.mode", 1)->control());
    QVERIFY(mode && !saysNone());
    mode->setCurrentText(QStringLiteral("off"));
    QTRY_VERIFY(saysNone());
    QVERIFY(!window.setup().restartShown());
    mode->setCurrentText(QStringLiteral("dynamic"));
    QTRY_VERIFY(!saysNone());
    QCOMPARE(window.findChildren<LaneCard*>().size(), 2);
}

/// The button beside the setting opens the table of types, which gives layers types of their own.
void TestWindowLanes::layersChosen() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    FieldEditor* editor = window.setup().editor("precision.layers", 1);
    QVERIFY(editor);
    QTest::mouseClick(editor->findChild<QToolButton*>(QString(), Qt::FindDirectChildrenOnly),
                      Qt::LeftButton);
    auto* dialog = window.findChild<TypesDialog*>();
    QVERIFY(dialog);
    QTRY_VERIFY(dialog->model().rowCount() > 0);
    auto* table = dialog->findChild<QTableView*>();
    auto* type = dialog->findChild<QComboBox*>(QStringLiteral("layerType"));
    const auto choose = [&](const char* layer) {
        for (int row = 0; row < dialog->model().rowCount(); ++row)
            if (dialog->model().layerAt(row) == QLatin1String(layer)) dialog->choose(row, 1);
    };
    const auto cell = [&](const char* layer, int lane) {
        for (int row = 0; row < dialog->model().rowCount(); ++row)
            if (dialog->model().layerAt(row) == QLatin1String(layer))
                return dialog->model().index(row, TypesModel::FirstLane + lane).data().toString();
        return QString();
    };
    QVERIFY(cell("layer 1", 1).startsWith(QStringLiteral("float16, ")));
    choose("layer 1");
    QTest::keyClicks(type, QStringLiteral("float3")); // as typed in a list
    QTRY_COMPARE(cell("layer 1", 1), QStringLiteral("float32, 1 cast"));
    choose("output layer");
    QTest::keyClick(type, Qt::Key_End);
    const std::string wanted = "layer 1=float32, output layer=bfloat16";
    QCOMPARE(window.config().config().lanes[1].layers, wanted);
    QCOMPARE(window.config().config().lanes[0].layers, std::string());
    QTRY_VERIFY(cell("output layer", 1).startsWith(QStringLiteral("bfloat16, ")));
    QVERIFY(window.setup().restartShown());
    QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("restartNow")), Qt::LeftButton);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(window.bannerText().isEmpty()); // the network has these layers
    // the cursor stayed where it was, and the choice tells what the cell has
    QCOMPARE(table->currentIndex().column(), TypesModel::FirstLane + 1);
    QCOMPARE(type->currentText(), QStringLiteral("bfloat16"));
    QVERIFY(dialog->told().contains(QStringLiteral("a type of its own")));
    dialog->choose(0, 0); // another lane, which has none
    QCOMPARE(type->currentText(), QStringLiteral("the type that the precision gives"));
    dialog->choose(0, 1);
    QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("allAsInThePrecision")),
                      Qt::LeftButton);
    QCOMPARE(window.config().config().lanes[1].layers, std::string());
    // a network that cannot be built is told in place of the table
    const int layers = window.config().rowOf("model.layers");
    window.config().setData(window.config().index(layers), QStringLiteral("Linear(3, 4)"));
    QTRY_COMPARE(dialog->model().rowCount(), 0);
    QVERIFY2(dialog->told().contains(QStringLiteral("2 features")), qPrintable(dialog->told()));
    QVERIFY(!type->isEnabled());
}

/// One of two equal lanes is "amp-fp16-2" in files; here it has the name on its card.
void TestWindowLanes::floorNamesTheLaneAsTheWindowDoes() {
    RunConfig config = tinyConfig(20);
    config.lanes = parseLanes("amp-fp16,amp-fp16");
    ScalerConfig& scaler = config.lanes[1].scaler;
    scaler.initScale = scaler.rules.floor = std::ldexp(1.0, 40);
    scaler.rules.atFloor = FloorAction::Stop;
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(reaches(window, SessionState::Failed));
    QTRY_VERIFY(!window.bannerText().isEmpty());
    const QString label = briefLabel(laneLabel(1, window.run().lane(1).title));
    QVERIFY2(label.startsWith(QStringLiteral("B First\u00a0scale 2^40")), qPrintable(label));
    const QString told = QStringLiteral(" in lane %1 at step 1 and the gradients still overflow");
    QVERIFY2(window.bannerText().contains(told.arg(label)), qPrintable(window.bannerText()));
}

/// While steps come faster than anybody can read, a card and the plot have the same step's loss.
void TestWindowLanes::cardsTellWhatThePlotsDo() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    window.resize(1600, 900);
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 3, kPatience);
    const QCustomPlot& plot = plotOf(window.plots());
    const auto* loss = qobject_cast<const ReadoutItem*>(plot.item(0));
    for (int i = 1; i < plot.itemCount() && !loss; ++i)
        loss = qobject_cast<const ReadoutItem*>(plot.item(i));
    QVERIFY(loss);
    const auto onCard = [&window] {
        for (const QLabel* name : window.findChild<LaneCard*>()->findChildren<QLabel*>())
            if (name->buddy() && name->text() == QStringLiteral("Loss"))
                return qobject_cast<const QLabel*>(name->buddy())->text();
        return QString();
    };
    std::set<QString> seen;
    const auto agree = [&] {
        if (onCard() != loss->entries()[0].value) return false;
        seen.insert(onCard());
        return true;
    };
    QTRY_VERIFY_WITH_TIMEOUT(agree(), kPatience); // as soon as there are figures
    QElapsedTimer clock;
    clock.start();
    while (seen.size() < 6 && clock.elapsed() < kPatience) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
        QVERIFY2(agree(), qPrintable(onCard() + u' ' + loss->entries()[0].value));
    }
    QVERIFY(seen.size() >= 6);
    window.pause();
    QVERIFY(reaches(window, SessionState::Paused));
}

} // namespace tst_window_lanes

QTEST_MAIN(tst_window_lanes::TestWindowLanes)
#include "tst_window_lanes.moc"
