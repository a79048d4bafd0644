// What the settings do with a value that is not allowed: it stays to be corrected, with what is
// allowed below it, and goes with whatever replaces it. That no run begins with one is tested with
// the whole window, in tst_refused_start.
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "ui/look/style.h"
#include "ui/look/theme.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/section.h"
#include "ui/panels/setup_panel.h"

#include <QApplication>
#include <QComboBox>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QTest>

#include <memory>

namespace tst_refused_values {

using namespace halfscope;

namespace {

void type(QWidget* box, const QString& text) {
    box->setFocus();
    QTest::keyClick(box, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(box, text);
    QTest::keyClick(box, Qt::Key_Return);
}

} // namespace

class TestRefusedValues : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void wholeNumbersStayAsTyped_data();
    void wholeNumbersStayAsTyped();
    void choicesThatOthersRefuse();
    void refusedNumbersGo();
    void refusedTextsGo();
    void hiddenOnesAreForgotten();
    void thePanelLeadsToThem();
    void theReasonIsInView();
    void aLengthIsReset();
    void noRestartIsOfferedWithThem();
    void tabLeavesThemWhereTheyAre(); // before double clicks, which QTest leaves pressed
    void unitsAreNotTypedIn();
    void clicksBesideABoxLeadIntoIt();
    void decimalCommas_data();
    void decimalCommas();
    void aPanelGoesWhileANumberIsTyped();
    void theyAreFramed_data();
    void theyAreFramed();
};

void TestRefusedValues::wholeNumbersStayAsTyped_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("most");
    QTest::newRow("seven digits") << "model.width"
                                  << "1000000"
                                  << "4096";
    QTest::newRow("three digits") << "model.depth"
                                  << "900" << QString();
    QTest::newRow("too small") << "model.width"
                               << "0"
                               << "4096";
    QTest::newRow("beyond any number") << "model.width"
                                       << "99999999999999999999"
                                       << "4096";
    QTest::newRow("no whole number") << "model.width"
                                     << "2.5"
                                     << "4096";
    QTest::newRow("no thousands") << "model.depth"
                                  << "1,5" << QString(); // 15 would be allowed
    QTest::newRow("a number with a special text") << "run.threads"
                                                  << "99999999" << QString();
}

/// A number that left digits out would be quite another one.
void TestRefusedValues::wholeNumbersStayAsTyped() {
    QFETCH(const QString, key);
    QFETCH(const QString, typed);
    QFETCH(const QString, most);
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    QVERIFY(test::isActive(&panel));
    const std::string before = configText(model.config());
    FieldEditor* editor = panel.editor(key.toStdString());
    auto* box = qobject_cast<QSpinBox*>(editor->control());
    const QString shown = box->text();
    for (const bool byEnter : {true, false}) {
        box->setFocus();
        box->selectAll();
        QTest::keyClicks(box, typed);
        if (byEnter)
            QTest::keyClick(box, Qt::Key_Return);
        else
            panel.setFocus(); // the typing ends there, too
        QVERIFY2(box->text().startsWith(typed), qPrintable(box->text()));
        QVERIFY2(editor->errorText().startsWith(QStringLiteral("Allowed: ")) &&
                     editor->errorText().contains(most),
                 qPrintable(editor->errorText()));
        QVERIFY(OutlinedStyle::isFramedAsWrong(*box));
        QCOMPARE(configText(model.config()), before);
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Escape);
        QCOMPARE(box->text(), shown);
        QCOMPARE(editor->errorText(), QString());
    }
}

/// Another task allows them again; the choice that was made stays.
void TestRefusedValues::choicesThatOthersRefuse() {
    ConfigModel model;
    SetupPanel panel(model);
    const auto* box = qobject_cast<QComboBox*>(panel.editor("task.loss")->control());
    QVERIFY(box);
    const auto isOffered = [box](const char* loss) {
        const int row = box->findData(QString::fromLatin1(loss));
        return box->model()->flags(box->model()->index(row, 0)).testFlag(Qt::ItemIsEnabled);
    };
    const auto tipOf = [box](const char* loss, int role = Qt::ToolTipRole) {
        return box->itemData(box->findData(QString::fromLatin1(loss)), role).toString();
    };
    const auto learns = [&model](const char* kind) {
        QVERIFY(model.setData(model.index(model.rowOf("data.kind")), QString::fromLatin1(kind)));
    };
    learns("image");
    QVERIFY(isOffered("mse") && !isOffered("cross-entropy"));
    const QString why = QStringLiteral("its targets are numbers, not classes");
    QVERIFY2(tipOf("cross-entropy").endsWith(why), qPrintable(tipOf("cross-entropy")));
    QVERIFY(tipOf("cross-entropy", Qt::AccessibleDescriptionRole).endsWith(why));
    learns("pictures");
    QVERIFY(!isOffered("mse") && isOffered("cross-entropy"));
    QCOMPARE(model.text(model.rowOf("task.loss")), QStringLiteral("cross-entropy"));
    QCOMPARE(box->currentData().toString(), QStringLiteral("cross-entropy"));
    learns("csv");
    QVERIFY(isOffered("mse") && isOffered("cross-entropy"));
    QVERIFY(!tipOf("mse").contains(QStringLiteral("not allowed")));
}

/// The reason goes with the text, whatever replaces it.
void TestRefusedValues::refusedNumbersGo() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    FieldEditor* editor = panel.editor("model.width");
    auto* box = qobject_cast<QSpinBox*>(editor->control());
    const QString shown = box->text();
    const auto refuse = [&] {
        type(box, QStringLiteral("70000"));
        return !editor->errorText().isEmpty() && box->text().startsWith(QStringLiteral("70000"));
    };
    QVERIFY(refuse());
    type(box, QString::number(model.config().model.width)); // the value in force
    QCOMPARE(editor->errorText(), QString());
    QCOMPARE(box->text(), shown);
    QVERIFY(refuse());
    type(box, QStringLiteral("48"));
    QCOMPARE(editor->errorText(), QString());
    QCOMPARE(model.config().model.width, int64_t{48});
    QVERIFY(refuse());
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Up);
    QCOMPARE(editor->errorText(), QString());
    QVERIFY(model.config().model.width > 48);
    QVERIFY(refuse());
    QVERIFY(model.setData(model.index(model.rowOf("model.width")), QStringLiteral("20")));
    QCOMPARE(editor->errorText(), QString());
    QVERIFY2(box->text().startsWith(QStringLiteral("20")), qPrintable(box->text()));
    QVERIFY(refuse());
    QCOMPARE(model.settle().model.width, int64_t{20});
    QCOMPARE(model.refusedRow(), model.rowOf("model.width")); // no run begins with it
    QVERIFY(!editor->errorText().isEmpty());
    QVERIFY2(box->text().startsWith(QStringLiteral("70000")), qPrintable(box->text()));
    type(box, QStringLiteral("50"));
    QCOMPARE(model.refusedRow(), -1);
    QCOMPARE(model.config().model.width, int64_t{50});
}

/// What is not finished is judged before a run begins.
void TestRefusedValues::refusedTextsGo() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    FieldEditor* editor = panel.editor("optimizer.lr");
    auto* line = qobject_cast<QLineEdit*>(editor->control());
    type(line, QStringLiteral("0.25"));
    type(line, QStringLiteral("1e30"));
    QVERIFY(!editor->errorText().isEmpty());
    line->undo(); // as Ctrl+Z does when no setting was edited
    while (line->isUndoAvailable() && line->text() != QStringLiteral("0.25"))
        line->undo();
    QCOMPARE(line->text(), QStringLiteral("0.25"));
    QCOMPARE(editor->errorText(), QString());
    type(line, QStringLiteral("1e30"));
    line->selectAll();
    QTest::keyClicks(line, QStringLiteral("1e30 rb")); // unfinished
    QCOMPARE(model.settle().optimizer.lr, 0.25);
    QCOMPARE(model.refusedRow(), model.rowOf("optimizer.lr"));
    QCOMPARE(line->text(), QStringLiteral("1e30 rb"));
    QVERIFY(!editor->errorText().isEmpty());
    line->selectAll();
    QTest::keyClicks(line, QStringLiteral("0.5"));
    QCOMPARE(model.settle().optimizer.lr, 0.5); // what can be used is used
    QCOMPARE(model.refusedRow(), -1);
    QCOMPARE(line->text(), QStringLiteral("0.5"));
    QCOMPARE(editor->errorText(), QString());
}

/// A setting that is hidden cannot be corrected, and no run uses it.
void TestRefusedValues::hiddenOnesAreForgotten() {
    ConfigModel model;
    const QModelIndex interval = model.index(model.rowOf("scaler.growth_interval", 1));
    QVERIFY(!model.setData(interval, QStringLiteral("many")));
    QCOMPARE(model.refusedRow(), interval.row());
    QVERIFY(model.setData(model.index(model.rowOf("precision", 1)), QStringLiteral("fp32")));
    QCOMPARE(model.refusedRow(), -1);
    model.settle();
    QVERIFY(model.setData(model.index(model.rowOf("precision", 1)), QStringLiteral("amp-fp16")));
    QCOMPARE(model.refusedRow(), -1); // nor does it come back
}

/// The setting may be folded away or far below.
void TestRefusedValues::thePanelLeadsToThem() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.resize(320, 300);
    panel.show();
    QVERIFY(test::isActive(&panel));
    FieldEditor* editor = panel.editor("scaler.growth_interval", 1);
    for (Section* section : panel.findChildren<Section*>())
        section->setOpen(false);
    QVERIFY(!editor->isVisible());
    panel.goToRow(model.rowOf("scaler.growth_interval", 1));
    QVERIFY(editor->isVisible());
    QCOMPARE(panel.focusWidget(), editor->control());
    const auto* view = panel.findChild<QScrollArea*>()->viewport();
    QVERIFY(view->rect().contains(QRect(editor->mapTo(view, QPoint()), editor->size())));
}

/// At the lower edge, the sentence would be out of sight.
void TestRefusedValues::theReasonIsInView() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.resize(320, 300);
    panel.show();
    QVERIFY(test::isActive(&panel));
    FieldEditor* editor = panel.editor("optimizer.lr");
    auto* scroll = panel.findChild<QScrollArea*>();
    QScrollBar& bar = *scroll->verticalScrollBar();
    bar.setValue(bar.value() + editor->mapTo(scroll->viewport(), QPoint(0, editor->height())).y() -
                 scroll->viewport()->height());
    type(editor->control(), QStringLiteral("abc"));
    QVERIFY(!editor->errorText().isEmpty());
    const int end = editor->mapTo(scroll->viewport(), QPoint(0, editor->height())).y();
    QVERIFY2(end <= scroll->viewport()->height(), qPrintable(QString::number(end)));
}

/// Where the preset counts epochs, their number takes its place.
void TestRefusedValues::aLengthIsReset() {
    ConfigModel model;
    model.load(presetNamed("mnist-mlp").config);
    const QModelIndex steps = model.index(model.rowOf("run.steps"));
    QVERIFY(model.setData(steps, QStringLiteral("9")));
    QVERIFY(!model.setData(steps, QStringLiteral("-3")));
    QCOMPARE(model.refusedRow(), steps.row());
    model.resetToPreset(steps.row());
    QCOMPARE(model.refusedRow(), -1);
    QCOMPARE(model.config().epochs, presetNamed("mnist-mlp").config.epochs);
}

/// A restart would be refused.
void TestRefusedValues::noRestartIsOfferedWithThem() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.show();
    model.setRunning(model.config());
    auto* box = qobject_cast<QSpinBox*>(panel.editor("model.width")->control());
    const auto* button = panel.findChild<QPushButton*>(QStringLiteral("restartNow"));
    const auto* text = panel.findChild<QLabel*>(QStringLiteral("restartText"));
    const auto offers = [&] {
        return panel.restartShown() && !button->isHidden() &&
               text->text() == QStringLiteral("Width will take effect at a restart.");
    };
    type(box, QStringLiteral("48"));
    QVERIFY2(offers(), qPrintable(text->text()));
    type(box, QStringLiteral("70000"));
    QVERIFY(panel.restartShown() && button->isHidden());
    QCOMPARE(text->text(),
             QStringLiteral("Width has a value that is not allowed. Correct it first."));
    type(box, QStringLiteral("64"));
    QVERIFY2(offers(), qPrintable(text->text()));
    // allowed by itself, but not beside the others
    const QModelIndex loss = model.index(model.rowOf("task.loss"));
    QVERIFY(model.setData(loss, QStringLiteral("cross-entropy")));
    QVERIFY(panel.restartShown() && button->isHidden());
    QVERIFY2(text->text().startsWith(QStringLiteral("No training can start with these changes: ")),
             qPrintable(text->text()));
    model.resetToPreset(loss.row());
    QVERIFY2(offers(), qPrintable(text->text()));
    const QModelIndex interval = model.index(model.rowOf("scaler.growth_interval", 1));
    QVERIFY(!model.setData(interval, QStringLiteral("many")));
    QCOMPARE(text->text(), QStringLiteral("Growth interval of lane B has a value that is not "
                                          "allowed. Correct it first."));
    // a setting that is hidden, as FP32 has no loss scaler, cannot be corrected and is not used
    const QModelIndex precision = model.index(model.rowOf("precision", 1));
    QVERIFY(model.setData(precision, QStringLiteral("fp32")));
    QVERIFY(!panel.editor("scaler.growth_interval", 1)->applies());
    QVERIFY2(panel.restartShown() && !button->isHidden() &&
                 !text->text().contains(QStringLiteral("not allowed")),
             qPrintable(text->text()));
}

/// The cursor stays in the number: digits typed in its unit were lost, or appended unseen.
void TestRefusedValues::unitsAreNotTypedIn() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.resize(400, 600);
    panel.show();
    QVERIFY(test::isActive(&panel));
    auto* box = qobject_cast<QSpinBox*>(panel.editor("model.width")->control());
    auto* line = box->findChild<QLineEdit*>();
    type(box, QStringLiteral("64"));
    const QString shown = line->text();
    QVERIFY2(shown.startsWith(QStringLiteral("64 ")), qPrintable(shown));
    const auto middleOf = [&](qsizetype letter) {
        constexpr int kMargin = 4;
        return QPoint(kMargin + line->fontMetrics().horizontalAdvance(shown.left(letter)),
                      line->height() / 2);
    };
    for (const qsizetype letter : {qsizetype{0}, qsizetype{4}, shown.size()}) {
        QTest::mouseDClick(line, Qt::LeftButton, {}, middleOf(letter));
        QCOMPARE(line->selectedText(), QStringLiteral("64"));
        QTest::mouseClick(line, Qt::LeftButton, {}, middleOf(letter)); // the third
        QVERIFY(!line->selectedText().contains(u' '));
    }
    QTest::mouseDClick(line, Qt::LeftButton, {}, middleOf(4));
    QTest::keyClicks(box, QStringLiteral("7"));
    QVERIFY2(line->text().startsWith(QStringLiteral("7 ")), qPrintable(line->text()));
    QVERIFY(line->isModified()); // so that Undo is the line's
    line->undo();
    QCOMPARE(line->text(), shown);
    QTest::keyClick(box, Qt::Key_End);
    QTest::keyClick(box, Qt::Key_Right);
    QTest::keyClicks(box, QStringLiteral("7"));
    QVERIFY2(line->text().startsWith(QStringLiteral("647 ")), qPrintable(line->text()));
    QVERIFY(line->isModified());
    line->selectAll();
    QCOMPARE(line->selectedText(), QStringLiteral("647"));
}

/// The user clicks the box again, which had moved up by the height of the reason: the text went to
/// the window, whose keys are letters and digits.
void TestRefusedValues::tabLeavesThemWhereTheyAre() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.resize(320, 500);
    panel.show();
    QVERIFY(test::isActive(&panel));
    auto* scroll = panel.findChild<QScrollArea*>();
    QWidget* rate = panel.editor("optimizer.lr")->control();
    rate->setFocus();
    scroll->ensureWidgetVisible(rate, 0, 200);
    test::serveEvents(50);
    const int before = rate->mapTo(scroll->viewport(), QPoint()).y();
    auto* line = qobject_cast<QLineEdit*>(rate);
    line->selectAll();
    QTest::keyClicks(line, QStringLiteral("0,01"));
    QTest::keyClick(line, Qt::Key_Tab);
    QVERIFY(!panel.editor("optimizer.lr")->errorText().isEmpty());
    QVERIFY(panel.focusWidget() != rate);
    test::serveEvents(50);
    QCOMPARE(rate->mapTo(scroll->viewport(), QPoint()).y(), before);
}

/// Digits that were meant for the box are the window's keys where the row has the keyboard. A click
/// on a choice gives it to the row.
void TestRefusedValues::clicksBesideABoxLeadIntoIt() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.resize(320, 500);
    panel.show();
    QVERIFY(test::isActive(&panel));
    for (const char* key : {"optimizer.lr", "model.width"}) {
        FieldEditor* editor = panel.editor(key);
        QTest::mouseClick(editor, Qt::LeftButton, {}, QPoint(2, 2));
        QCOMPARE(panel.focusWidget(), editor->control());
        QTest::keyClicks(editor->control(), QStringLiteral("3")); // in place of what stood there
        QTest::keyClick(editor->control(), Qt::Key_Return);
    }
    QCOMPARE(model.config().optimizer.lr, 3.0);
    QCOMPARE(model.config().model.width, int64_t{3});
    FieldEditor* choice = panel.editor("model.activation");
    QTest::mouseClick(choice, Qt::LeftButton, {}, QPoint(2, 2));
    QCOMPARE(panel.focusWidget(), choice);
}

void TestRefusedValues::decimalCommas_data() {
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("offered"); // empty: how numbers are written in general
    QTest::newRow("decimals") << "0,01"
                              << "0.01";
    QTest::newRow("three of them") << " 0,001"
                                   << "0.001";
    QTest::newRow("with a power") << "1,5e-3"
                                  << "1.5e-3";
    QTest::newRow("not allowed") << "5000,5" << QString();
    QTest::newRow("two commas") << "0,0,1" << QString();
}

void TestRefusedValues::decimalCommas() {
    QFETCH(const QString, typed);
    QFETCH(const QString, offered);
    ConfigModel model;
    const QModelIndex rate = model.index(model.rowOf("optimizer.lr"));
    QVERIFY(!model.setData(rate, typed));
    const QString said = rate.data(ConfigModel::ErrorRole).toString();
    const QString last = said.section(u'\n', -1);
    QVERIFY2(last.startsWith(QStringLiteral("Decimals follow a point")), qPrintable(said));
    QCOMPARE(last.section(QStringLiteral(": type "), 1), offered);
}

/// A panel that is destroyed hides first, so that its field loses the keyboard and commits.
void TestRefusedValues::aPanelGoesWhileANumberIsTyped() {
    ConfigModel model;
    auto panel = std::make_unique<SetupPanel>(model);
    panel->show();
    QVERIFY(test::isActive(panel.get()));
    auto* box = qobject_cast<QSpinBox*>(panel->editor("model.width")->control());
    box->setFocus();
    QVERIFY(box->hasFocus());
    QTest::keyClick(box, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(box, QStringLiteral("31"));
    panel.reset(); // crashed: the model told a panel whose members were gone
    QCOMPARE(model.settle().model.width, 31);
}

void TestRefusedValues::theyAreFramed_data() {
    QTest::addColumn<bool>("dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
}

/// The frame leaves the rest of the box as it is: with a style sheet, the arrows of a number were
/// two black bars.
void TestRefusedValues::theyAreFramed() {
    QFETCH(const bool, dark);
    applyTheme(*qApp, dark ? Theme::Dark : Theme::Light);
    ConfigModel model;
    SetupPanel panel(model);
    panel.resize(400, 600);
    panel.show();
    QVERIFY(test::isActive(&panel));
    const QColor error = colorsFor(panel.palette()).error;
    const auto drawn = [](QWidget* control) {
        control->clearFocus(); // whose ring is drawn otherwise
        return control->grab().toImage();
    };
    for (const char* key : {"model.width", "optimizer.lr"}) {
        QWidget* control = panel.editor(key)->control();
        const QImage before = drawn(control);
        type(control, QStringLiteral("-70000"));
        QVERIFY(!panel.editor(key)->errorText().isEmpty());
        const QImage wrong = drawn(control);
        QCOMPARE(wrong.size(), before.size());
        const int middle = wrong.width() / 2, right = wrong.width(), bottom = wrong.height();
        for (const int y : {0, 1, bottom - 2, bottom - 1})
            QCOMPARE(wrong.pixelColor(middle, y).rgb(), error.rgb());
        QVERIFY(before.pixelColor(middle, 0).rgb() != error.rgb());
        constexpr int kFrame = 3, kArrows = 12; // pixels
        const QRect arrows(right - kFrame - kArrows, kFrame, kArrows, bottom - 2 * kFrame);
        QCOMPARE(wrong.copy(arrows), before.copy(arrows));
        control->setFocus();
        QTest::keyClick(control, Qt::Key_Escape);
        QVERIFY(drawn(control).pixelColor(middle, 0).rgb() != error.rgb());
    }
    applyTheme(*qApp, Theme::Light);
}

} // namespace tst_refused_values

QTEST_MAIN(tst_refused_values::TestRefusedValues)
#include "tst_refused_values.moc"
