// The panel of settings: what the user types reaches the model, what the model says is shown, lanes
// come and go, and a control in a scrolled panel ignores the wheel.
#include "tests/fake_cuda/fake_run.h"
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "ui/dialogs/sweep_dialog.h"
#include "ui/look/style.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/path_edit.h"
#include "ui/panels/section.h"
#include "ui/panels/setup_panel.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStyleOptionComboBox>
#include <QTest>
#include <QTextDocument>
#include <QToolButton>
#include <QWheelEvent>
#include <cmath>
#include <memory>

namespace tst_setup_panel {

using namespace halfscope;

namespace {

template <class T>
T* controlOf(SetupPanel& panel, const char* key, int lane = -1) {
    FieldEditor* editor = panel.editor(key, lane);
    return editor ? qobject_cast<T*>(editor->control()) : nullptr;
}

void type(QLineEdit* edit, const QString& text) {
    edit->setFocus();
    edit->selectAll();
    QTest::keyClicks(edit, text);
    QTest::keyClick(edit, Qt::Key_Return);
}

} // namespace

class TestSetupPanel : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void setupShowsEveryField();
    void setupEditsReachTheModel();
    void setupWrongValueIsExplained();
    void setupHidesWhatDoesNotApply();
    void setupChangedIsBoldAndGoesBack();
    void boldLabelsMoveNothing();
    void wrongValuesMoveNothing();
    void setupRestartNote();
    void severalValuesBecomeLanes();
    void lanesThatBecomeOneAreTold();
    void choicesSayWhatTheyAre();
    void suggestedValuesAreAllowed();
    void valuesAroundTheScaleThatWasFound();
    void noteOfNewLanes();
    void noteNamesWhatWaits();
    void noteLeavesTheEditInView();
    void setupLanesComeAndGo();
    void setupUnitsFollowTheNumber();
    void setupStripLeadsToLanes();
    void setupWheelScrollsOnly();
    void pathsShowTheirEnd();
    void choicesAreNotCut_data();
    void choicesAreNotCut();
    void nothingIsBehindTheScrollBar();
};

void TestSetupPanel::setupShowsEveryField() {
    ConfigModel model;
    SetupPanel panel(model);
    for (int row = 0; row < model.rowCount(); ++row) {
        const ConfigModel::Row& each = model.row(row);
        FieldEditor* editor = panel.editor(each.field->key, each.lane);
        QVERIFY2(editor, each.field->key.c_str());
        QCOMPARE(editor->isHidden(), !model.index(row).data(ConfigModel::AppliesRole).toBool());
    }
}

void TestSetupPanel::setupEditsReachTheModel() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    type(controlOf<QLineEdit>(panel, "optimizer.lr"), QStringLiteral("2.5e-3"));
    QCOMPARE(model.config().optimizer.lr, 2.5e-3);
    controlOf<QSpinBox>(panel, "model.width")->setValue(48);
    QCOMPARE(model.config().model.width, int64_t(48));
    controlOf<QComboBox>(panel, "model.activation")->setCurrentText(QStringLiteral("tanh"));
    QCOMPARE(model.config().model.activation, Activation::Tanh);
    controlOf<QSpinBox>(panel, "scaler.growth_interval", 1)->setValue(12);
    QCOMPARE(model.config().lanes[1].scaler.rules.growthInterval, int64_t(12));
    // and the other way round
    model.setData(model.index(model.rowOf("model.width")), QStringLiteral("40"));
    QCOMPARE(controlOf<QSpinBox>(panel, "model.width")->value(), 40);
    model.load(presetNamed("regression").config);
    QCOMPARE(controlOf<QSpinBox>(panel, "model.width")->value(), 20);
}

void TestSetupPanel::setupWrongValueIsExplained() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    auto* edit = controlOf<QLineEdit>(panel, "optimizer.lr");
    const double before = model.config().optimizer.lr;
    type(edit, QStringLiteral("-3"));
    FieldEditor* editor = panel.editor("optimizer.lr");
    QVERIFY2(editor->errorText().contains(QStringLiteral("1000")), qPrintable(editor->errorText()));
    QVERIFY(OutlinedStyle::isFramedAsWrong(*edit));
    QCOMPARE(edit->text(), QStringLiteral("-3")); // what was typed can be corrected
    QCOMPARE(model.config().optimizer.lr, before);
    type(edit, QStringLiteral("0.5"));
    QVERIFY(editor->errorText().isEmpty() && !OutlinedStyle::isFramedAsWrong(*edit));
    QCOMPARE(model.config().optimizer.lr, 0.5);
    type(edit, QStringLiteral("x"));
    QTest::keyClick(edit, Qt::Key_Escape);
    QCOMPARE(edit->text(), QStringLiteral("0.5"));
    QCOMPARE(editor->errorText(), QString());
}

void TestSetupPanel::setupHidesWhatDoesNotApply() {
    ConfigModel model;
    SetupPanel panel(model);
    QVERIFY(!panel.editor("task.frequency")->isHidden());
    controlOf<QComboBox>(panel, "data.kind")->setCurrentText(QStringLiteral("Regression"));
    QVERIFY(panel.editor("task.frequency")->isHidden());
    QVERIFY(!panel.editor("task.batch")->isHidden());
    QVERIFY(panel.editor("scaler.mode", 0)->isHidden()); // fp32
    controlOf<QComboBox>(panel, "precision", 0)->setCurrentText(QStringLiteral("amp-fp16"));
    QVERIFY(!panel.editor("scaler.mode", 0)->isHidden());
}

void TestSetupPanel::setupChangedIsBoldAndGoesBack() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    FieldEditor* editor = panel.editor("model.width");
    auto* revert = editor->findChild<QToolButton*>();
    QVERIFY(revert);
    QVERIFY(!revert->isVisible());
    controlOf<QSpinBox>(panel, "model.width")->setValue(24);
    QVERIFY(revert->isVisible());
    QVERIFY(editor->findChild<QLabel*>()->font().bold());
    QTest::mouseClick(revert, Qt::LeftButton);
    QCOMPARE(model.config().model.width, model.preset().model.width);
    QVERIFY(!revert->isVisible());
    QVERIFY(!editor->findChild<QLabel*>()->font().bold());
}

void TestSetupPanel::boldLabelsMoveNothing() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.resize(320, 800);
    panel.show();
    for (const FieldEditor* editor : panel.findChildren<FieldEditor*>()) {
        QLabel* label = nullptr;
        for (QLabel* each : editor->findChildren<QLabel*>())
            if (each->buddy() == editor->control()) label = each;
        QVERIFY(label);
        int heights[2];
        for (const bool bold : {false, true}) {
            QFont font = label->font();
            font.setBold(bold);
            label->setFont(font);
            editor->layout()->invalidate();
            heights[bold] = editor->layout()->totalHeightForWidth(editor->width());
        }
        QVERIFY2(heights[0] == heights[1], qPrintable(label->text()));
    }
    // most have room for one line only
    const FieldEditor* penalty = panel.editor("gradients.penalty");
    const FieldEditor* rate = panel.editor("optimizer.lr");
    QCOMPARE(penalty->layout()->totalHeightForWidth(penalty->width()),
             rate->layout()->totalHeightForWidth(rate->width()));
}

/// The reason of a refusal takes room: of the settings above, not of the one that is being used.
void TestSetupPanel::wrongValuesMoveNothing() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.resize(320, 400);
    panel.show();
    QVERIFY(test::isActive(&panel));
    auto* scroll = panel.findChild<QScrollArea*>();
    auto* rate = controlOf<QLineEdit>(panel, "optimizer.lr");
    const auto top = [scroll](const QWidget& each) {
        return each.mapTo(scroll->viewport(), QPoint()).y();
    };
    rate->setFocus();
    scroll->ensureWidgetVisible(rate, 0, 150);
    test::serveEvents(50);
    const int before = top(*rate), height = rate->height();
    rate->selectAll();
    QTest::keyClicks(rate, QStringLiteral("-3"));
    QTest::keyClick(rate, Qt::Key_Return);
    QVERIFY(!panel.editor("optimizer.lr")->errorText().isEmpty());
    test::serveEvents(50);
    QCOMPARE(top(*rate), before);
    QCOMPARE(rate->height(), height);
    QTest::keyClicks(rate, QStringLiteral("1"));
    QTest::keyClick(rate, Qt::Key_Tab); // on to the next setting, which stands below the reason
    const QWidget* next = panel.focusWidget();
    QVERIFY(next && next != rate);
    const int then = top(*next);
    model.setData(model.index(model.rowOf("optimizer.lr")), QStringLiteral("0.1"));
    QVERIFY(panel.editor("optimizer.lr")->errorText().isEmpty());
    test::serveEvents(50);
    QCOMPARE(top(*next), then);
}

void TestSetupPanel::setupRestartNote() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    QSignalSpy restart(&panel, &SetupPanel::restartRequested);
    model.setRunning(model.config());
    QVERIFY(!panel.restartShown());
    type(controlOf<QLineEdit>(panel, "optimizer.lr"), QStringLiteral("0.5"));
    QVERIFY(!panel.restartShown());
    controlOf<QSpinBox>(panel, "model.depth")->setValue(5);
    QVERIFY(panel.restartShown());
    auto* button = panel.findChild<QPushButton*>(QStringLiteral("restartNow"));
    QCOMPARE(button->text(), QStringLiteral("Restart now"));
    model.setUntrained(true); // nothing has run that could restart
    QCOMPARE(button->text(), QStringLiteral("Apply now"));
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(restart.count(), 1);
    model.setRunning(model.config());
    QVERIFY(!panel.restartShown());
}

void TestSetupPanel::severalValuesBecomeLanes() {
    ConfigModel model; // fp32, amp-fp16
    SetupPanel panel(model);
    panel.show();
    const auto ask = [&panel] {
        QTest::mouseClick(panel.findChild<QToolButton*>(QStringLiteral("sweep")), Qt::LeftButton);
        return panel.findChild<SweepDialog*>();
    };
    const QSignalSpy restarts(&panel, &SetupPanel::restartRequested);
    SweepDialog* dialog = ask();
    QVERIFY(dialog && dialog->isVisible());
    auto* values = dialog->findChild<QLineEdit*>();
    const auto result = [&] {
        return dialog->findChild<QLabel*>(QStringLiteral("sweepResult"))->text();
    };
    QCOMPARE(values->text(), QStringLiteral("2^8, 2^16, 2^24")); // around the present 2^16
    QCOMPARE(result().count(u'\n'), 3);                          // four lanes
    type(values, QStringLiteral("2^3, x"));
    QVERIFY2(result().contains(QStringLiteral("\"x\" is not allowed")), qPrintable(result()));
    QVERIFY2(result().endsWith(u'.'), qPrintable(result()));
    const auto* make = qobject_cast<QPushButton*>(
        dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok));
    QVERIFY(make && !make->isEnabled());
    QTest::keyClick(dialog, Qt::Key_Return);
    QVERIFY(dialog->isVisible()); // to be corrected there
    QCOMPARE(model.config().lanes.size(), size_t{2});
    type(values, QStringLiteral("2^3, 2^5"));
    QVERIFY2(result().contains(QStringLiteral("First\u00a0scale 2^5")), qPrintable(result()));
    QVERIFY(make->isEnabled());
    QTest::keyClick(dialog, Qt::Key_Return);
    QTRY_VERIFY(!panel.findChild<SweepDialog*>());
    QCOMPARE(restarts.size(), 1);
    QCOMPARE(model.config().lanes.size(), size_t{3});
    QCOMPARE(model.config().lanes[1].scaler.initScale, 8.0);
    QCOMPARE(model.config().lanes[2].scaler.initScale, 32.0);
    QVERIFY(panel.editor("scaler.init_scale", 2));
    QVERIFY(model.removeLane(2) && model.removeLane(1)); // fp32 is left, which has no loss scale
    QVERIFY(sweptFields(model.config()).empty());
    QVERIFY(!panel.findChild<QToolButton*>(QStringLiteral("sweep"))->isEnabled());
}

/// Where a lane has trained, first scales around the one that it has found are worth a try.
void TestSetupPanel::valuesAroundTheScaleThatWasFound() {
    ConfigModel model; // fp32, amp-fp16
    SetupPanel panel(model);
    const auto suggested = [&panel] {
        panel.askSweep();
        const std::unique_ptr<SweepDialog> dialog(panel.findChild<SweepDialog*>());
        return dialog->findChild<QLineEdit*>()->text();
    };
    panel.setScaleOfLane([](int lane) { return std::optional(lane == 1 ? 0x1p11 : 1.0); });
    QCOMPARE(suggested(), QStringLiteral("2^8, 2^16, 2^24")); // no lane is one of a run yet
    model.startBuilding();
    model.setRunning(model.config());
    QCOMPARE(suggested(), QStringLiteral("2^3, 2^11, 2^19"));
    QCOMPARE(panel.presentScale(0), std::nullopt);                             // fp32 has none
    panel.setScaleOfLane([](int) { return std::optional<double>(INFINITY); }); // it grew too far
    QCOMPARE(suggested(), QStringLiteral("2^8, 2^16, 2^24"));
}

/// Lanes that only the swept setting sets apart are not dropped silently, and what is suggested
/// counts them as one.
void TestSetupPanel::lanesThatBecomeOneAreTold() {
    RunConfig config = ConfigModel().config();
    config.lanes = parseLanes("fp32,amp-fp16,amp-fp16,amp-bf16,fp8");
    config.lanes[1].scaler.initScale = 0x1p-14;
    config.lanes[2].scaler.initScale = 0x1p30;
    SweepDialog dialog(config);
    auto* values = dialog.findChild<QLineEdit*>();
    const auto* result = dialog.findChild<QLabel*>(QStringLiteral("sweepResult"));
    QCOMPARE(values->text(), QStringLiteral("2^-22, 2^-14, 2^-6"));
    QCOMPARE(result->text().section(u'\n', -1),
             QStringLiteral("B and C become one lane for each value."));
    QCOMPARE(result->text().count(u'\n'), 6);     // below six lanes
    auto* field = dialog.findChild<QComboBox*>(); // a setting in which they stay apart
    field->setCurrentIndex(field->findData(QStringLiteral("scaler.growth_factor")));
    QVERIFY2(!result->text().contains(QStringLiteral("become one")), qPrintable(result->text()));
}

/// Each setting that can be swept is suggested values that can be taken.
/// The names of tasks, optimizers and precisions need a word, at the entries themselves: the
/// setting's own tip does not list the names once more.
void TestSetupPanel::choicesSayWhatTheyAre() {
    ConfigModel model;
    SetupPanel panel(model);
    const auto* tasks = controlOf<QComboBox>(panel, "data.kind");
    const QString digits =
        tasks->itemData(tasks->findData(QStringLiteral("mnist")), Qt::ToolTipRole).toString();
    QCOMPARE(digits,
             QStringLiteral("mnist: pictures of ten classes, as in MNIST and Fashion-MNIST"));
    QVERIFY2(!tasks->toolTip().contains(QStringLiteral("Allowed")), qPrintable(tasks->toolTip()));
    QCOMPARE(tasks->currentText(), QStringLiteral("Checkerboard")); // as in the presets
    QCOMPARE(model.presetText(model.rowOf("data.kind")), QStringLiteral("Checkerboard"));
    for (const char* key : {"precision", "scaler.preset"}) {
        const auto* box = controlOf<QComboBox>(panel, key, 1);
        for (int i = 0; i < box->count(); ++i)
            QVERIFY2(box->itemData(i, Qt::ToolTipRole).toString().startsWith(box->itemText(i)),
                     qPrintable(box->itemText(i)));
    }
    const auto* norms = controlOf<QComboBox>(panel, "model.norm");
    QVERIFY(norms->toolTip().contains(QStringLiteral("Allowed: one of"))); // nothing else has them
}

void TestSetupPanel::suggestedValuesAreAllowed() {
    const RunConfig config = ConfigModel().config();
    SweepDialog dialog(config);
    auto* field = dialog.findChild<QComboBox*>();
    QCOMPARE(field->count(), static_cast<int>(sweptFields(config).size()));
    for (int i = 0; i < field->count(); ++i) {
        field->setCurrentIndex(i);
        const std::string key = field->currentData().toString().toStdString();
        const QString values = dialog.findChild<QLineEdit*>()->text();
        const Sweep sweep = parseSweep(key + '=' + values.toStdString());
        QVERIFY2(sweep.values.size() > 1, qPrintable(field->currentText() + ": " + values));
        RunConfig made = config;
        applySweeps(made, {&sweep, 1});
    }
}

/// A new lane needs no restart, because it can continue from a lane of the run; other edits do.
void TestSetupPanel::noteOfNewLanes() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    model.setRunning(model.config());
    const auto* text = panel.findChild<QLabel*>(QStringLiteral("restartText"));
    panel.addLane();
    QVERIFY(panel.restartShown());
    QVERIFY2(text->text().contains(QStringLiteral("can continue from here")),
             qPrintable(text->text()));
    QVERIFY(!text->text().contains(QStringLiteral("need")));
    const QModelIndex precision = model.index(model.rowOf("precision", 2));
    QVERIFY(!precision.data(ConfigModel::WaitingRole).toBool());
    QVERIFY(model.setData(model.index(model.rowOf("precision", 2)), QStringLiteral("amp-bf16")));
    QVERIFY(text->text().contains(QStringLiteral("can continue from here")));
    QVERIFY(model.setData(model.index(model.rowOf("model.depth")), 5));
    QCOMPARE(text->text(), QStringLiteral("More hidden layers will take effect at a restart."));
    model.resetToPreset(model.rowOf("model.depth"));
    QVERIFY(text->text().contains(QStringLiteral("can continue from here")));
    QVERIFY(model.removeLane(0)); // a lane of the run, in place of which the new one would start
    QCOMPARE(text->text(), QStringLiteral("These changes need a restart."));
}

/// The rules of a scaler's preset act at once, and only its first scale waits.
void TestSetupPanel::noteNamesWhatWaits() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    model.setRunning(model.config());
    const auto* text = panel.findChild<QLabel*>(QStringLiteral("restartText"));
    const auto set = [&](const char* key, int lane, const QVariant& value) {
        return model.setData(model.index(model.rowOf(key, lane)), value);
    };
    QVERIFY(set("scaler.preset", 1, QStringLiteral("megatron")));
    QVERIFY(panel.restartShown());
    QCOMPARE(text->text(), QStringLiteral("First scale will take effect at a restart."));
    QVERIFY(set("model.width", -1, 16));
    QCOMPARE(text->text(), QStringLiteral("Width and First scale will take effect at a restart."));
    QVERIFY(set("model.depth", -1, 5));
    QCOMPARE(text->text(), QStringLiteral("Width, More hidden layers and First scale will take "
                                          "effect at a restart."));
    QVERIFY(set("run.seed", -1, 5)); // one more would be no sentence to read
    QCOMPARE(text->text(), QStringLiteral("These changes need a restart."));
}

/// The note takes its room from the settings, but not from the setting that caused it.
void TestSetupPanel::noteLeavesTheEditInView() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.resize(320, 400);
    panel.show();
    model.setRunning(model.config());
    auto* scroll = panel.findChild<QScrollArea*>();
    QWidget* edit = panel.editor("run.seed")->control();
    const auto bottom = [&] {
        return edit->mapTo(scroll->viewport(), QPoint(0, edit->height())).y();
    };
    edit->setFocus();
    auto* bar = scroll->verticalScrollBar();
    bar->setValue(bar->value() + bottom() - scroll->viewport()->height()); // the last row in view
    QVERIFY(bottom() > scroll->viewport()->height() - edit->height());
    model.setData(model.index(model.rowOf("run.seed")), QStringLiteral("48"));
    QVERIFY(panel.restartShown());
    QTRY_VERIFY(bottom() <= scroll->viewport()->height());
    QVERIFY(bottom() > edit->height());
}

void TestSetupPanel::setupLanesComeAndGo() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    const auto sections = [&] {
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QStringList titles;
        for (Section* section : panel.findChildren<Section*>())
            titles << section->title();
        return titles;
    };
    QVERIFY(sections().contains(QStringLiteral("A fp32")));
    QVERIFY(sections().contains(QStringLiteral("B amp-fp16")));
    model.addLane();
    QVERIFY2(sections().contains(QStringLiteral("C amp-fp16-2")),
             qPrintable(sections().join(u',')));
    // the remove button deletes the panel's content, of which it is a part
    for (auto* button : panel.findChildren<QToolButton*>())
        if (button->accessibleName() == QLatin1String("Remove lane A")) {
            QTest::mouseClick(button, Qt::LeftButton);
            break;
        }
    QCOMPARE(model.config().lanes.size(), size_t(2));
    QVERIFY2(!sections().contains(QStringLiteral("A fp32")), qPrintable(sections().join(u',')));
    QVERIFY(panel.editor("precision", 1) && !panel.editor("precision", 2));
}

void TestSetupPanel::setupUnitsFollowTheNumber() {
    ConfigModel model;
    SetupPanel panel(model);
    auto* batches = controlOf<QSpinBox>(panel, "gradients.accumulate");
    QCOMPARE(batches->text(), QStringLiteral("1 batch"));
    batches->setValue(4);
    QCOMPARE(batches->text(), QStringLiteral("4 batches"));
    auto* steps = controlOf<QSpinBox>(panel, "scaler.growth_interval", 1);
    steps->setValue(1);
    QCOMPARE(steps->text(), QStringLiteral("1 step"));
    model.resetToPreset(model.rowOf("scaler.growth_interval", 1));
    // from Qt 6.8 on, the C locale groups digits, too
    QCOMPARE(steps->text().remove(u','), QStringLiteral("2000 steps"));
    QCOMPARE(controlOf<QSpinBox>(panel, "run.threads")->text(), QStringLiteral("all"));
}

void TestSetupPanel::setupStripLeadsToLanes() {
    ConfigModel model;
    model.addLane();
    SetupPanel panel(model);
    panel.resize(320, 300);
    panel.show();
    QVERIFY(test::isExposed(&panel));
    const auto jump = [&panel](const QString& tip) {
        for (auto* button : panel.findChildren<QToolButton*>())
            if (button->toolTip().contains(tip)) return button;
        return static_cast<QToolButton*>(nullptr);
    };
    const auto inView = [&panel](const char* key, int lane) {
        const QWidget* editor = panel.editor(key, lane);
        const QRect all(editor->mapTo(&panel, QPoint(0, 0)), editor->size());
        return editor->isVisible() && panel.rect().contains(all);
    };
    QVERIFY(inView("data.kind", -1) && !inView("precision", 1));
    QVERIFY(jump(QStringLiteral("lane B amp-fp16")));
    for (Section* section : panel.findChildren<Section*>())
        section->setOpen(!section->title().startsWith(u'B')); // folded before
    jump(QStringLiteral("lane B amp-fp16"))->click();
    QTRY_VERIFY(inView("precision", 1));
    jump(QStringLiteral("all lanes share"))->click();
    QTRY_VERIFY(inView("data.kind", -1));
    model.removeLane(2);
    QVERIFY(QTest::qWaitFor([&] { return !jump(QStringLiteral("lane C")); }));
}

void TestSetupPanel::setupWheelScrollsOnly() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    auto* spin = controlOf<QSpinBox>(panel, "model.width");
    const int before = spin->value();
    spin->clearFocus();
    QWheelEvent wheel(QPointF(5, 5), spin->mapToGlobal(QPointF(5, 5)), {}, QPoint(0, 120),
                      Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(spin, &wheel);
    QCOMPARE(spin->value(), before);
}

/// Paths fit into the panel's width, and are shown whole while the user types.
void TestSetupPanel::pathsShowTheirEnd() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.resize(320, 600);
    panel.show();
    QVERIFY(test::isExposed(&panel));
    auto* path = controlOf<PathEdit>(panel, "model.weights");
    QVERIFY(path);
    const QString text = QStringLiteral("/data/of/a/long/project/with/<b>many</b>/folders/in/it/"
                                        "weights-after-the-last-epoch.safetensors");
    QVERIFY(model.setData(model.index(model.rowOf("model.weights")), text));
    QTRY_VERIFY(path->width() > 280);
    QVERIFY2(path->shown().endsWith(QStringLiteral("/weights-after-the-last-epoch.safetensors")),
             qPrintable(path->shown()));
    QVERIFY(path->shown().startsWith(QChar(0x2026)));
    QTextDocument tip;
    tip.setHtml(path->toolTip());
    QVERIFY2(tip.toPlainText().startsWith(text), qPrintable(path->toolTip()));
    const QImage brief = path->grab().toImage();
    path->setFocus();
    QTRY_VERIFY(path->hasFocus());
    QCOMPARE(path->shown(), text);
    QVERIFY(path->grab().toImage() != brief);
}

void TestSetupPanel::choicesAreNotCut_data() {
    QTest::addColumn<int>("width");
    QTest::newRow("narrowest") << 270;
    QTest::newRow("usual") << 320;
    QTest::newRow("wide") << 500;
}

/// A lane that can be forked has the widest row.
void TestSetupPanel::nothingIsBehindTheScrollBar() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    model.setRunning(model.config());
    panel.addLane();
    panel.resize(100, 400);
    QTRY_COMPARE(panel.width(), panel.minimumWidth());
    const auto* area = panel.findChild<QScrollArea*>();
    QTRY_VERIFY(area->verticalScrollBar()->isVisible());
    QTRY_VERIFY2(area->widget()->width() <= area->viewport()->width(),
                 qPrintable(QStringLiteral("%1 of %2")
                                .arg(area->widget()->width())
                                .arg(area->viewport()->width())));
}

/// A box that is too narrow for its longest choice has a row of its own.
void TestSetupPanel::choicesAreNotCut() {
    QFETCH(const int, width);
    ConfigModel model;
    QVERIFY(model.setData(model.index(model.rowOf("data.kind")), QStringLiteral("mnist")));
    SetupPanel panel(model);
    panel.resize(500, 600);
    panel.show();
    QVERIFY(test::isExposed(&panel));
    panel.resize(width, 600);
    QCoreApplication::processEvents();
    int below = 0, boxes = 0;
    for (QComboBox* box : panel.findChildren<QComboBox*>()) {
        if (!box->isVisibleTo(&panel)) continue;
        ++boxes;
        QStyleOptionComboBox option;
        option.initFrom(box);
        const QRect room = box->style()->subControlRect(QStyle::CC_ComboBox, &option,
                                                        QStyle::SC_ComboBoxEditField, box);
        for (int i = 0; i < box->count(); ++i)
            QVERIFY2(box->fontMetrics().horizontalAdvance(box->itemText(i)) <= room.width(),
                     qPrintable(box->itemText(i)));
        if (box->x() == 0) ++below;
    }
    QVERIFY(boxes > 8);
    QCOMPARE(below == 0, width == 500);
    QVERIFY(below < boxes); // short choices stay beside their names
}

} // namespace tst_setup_panel

QTEST_MAIN(tst_setup_panel::TestSetupPanel)
#include "tst_setup_panel.moc"
