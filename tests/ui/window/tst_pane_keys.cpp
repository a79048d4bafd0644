// The window's keys: F6 goes from part to part, Enter presses buttons, and after a setting was
// edited letters and Space act as before.
#include "tests/support/opened_window.h"
#include "tests/support/shown_window.h"
#include "ui/dialogs/help_dialog.h"
#include "ui/dialogs/layer_gradients_dialog.h"
#include "ui/images/compare_view.h"
#include "ui/panels/banner.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/lesson_panel.h"
#include "ui/panels/pace_slider.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/plot_stack.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QImage>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTableView>
#include <QTextBlock>
#include <QTextBrowser>
#include <QToolButton>

namespace tst_pane_keys {

using namespace halfscope;

class TestPaneKeys : public QObject {
    Q_OBJECT
private slots:
    void init();
    void cleanup() { m_opened.reset(); }
    void partsInTurn();
    void cardsAreScrolled();
    void tabLeavesNothingOut();
    void tabIsSeen();
    void enterPressesButtons();
    void enterPressesButtonsOfDialogs();
    void figuresZoom();
    void trainingIsInTheMenus();
    void keysAfterAChoice();
    void lettersChooseNothing();
    void keysAfterANumber();
    void f6IsSeen();
    void theBannerIsAStop();
    void escClosesTheBanner();
    void whatWasOpenedIsPlayed();
    void aBoxThatGoesGivesPlayTheKeyboard();
    void f1ExplainsASetting();
    void f1ExplainsThePart();

private:
    MainWindow& window() { return m_opened->window; }
    template <class Pane>
    bool has() {
        const auto* pane = window().findChild<Pane*>();
        const QWidget* focus = window().focusWidget();
        return focus && (focus == pane || pane->isAncestorOf(focus));
    }
    /// Whether the keyboard is where it can be seen and a screen reader has something to say.
    bool onControl() {
        const QWidget* focus = window().focusWidget();
        const auto* button = qobject_cast<const QAbstractButton*>(focus);
        return focus && !qobject_cast<const QScrollArea*>(focus) &&
               (!focus->accessibleName().isEmpty() || (button && !button->text().isEmpty()));
    }
    void press(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) {
        QTest::keyClick(window().focusWidget() ? window().focusWidget() : &window(), key, with);
    }
    /// Whether Space trains to the end and R resets, from where the keyboard is.
    bool keysAct() {
        if (window().run().step() == 0) press(Qt::Key_Space);
        if (!reaches(window(), SessionState::Finished)) return false;
        press(Qt::Key_R);
        return reaches(window(), SessionState::Ready) && window().run().step() == 0;
    }
    std::unique_ptr<Opened> m_opened;
};

void TestPaneKeys::init() {
    m_opened = std::make_unique<Opened>(tinyConfig(3));
    window().resize(1280, 800);
    QVERIFY(trainsTo(window(), 3)); // then the loss scale can be set
    QApplication::setActiveWindow(&window());
    QVERIFY(test::isActive(&window()));
}

void TestPaneKeys::partsInTurn() {
    for (QAction* each : window().findChildren<QAction*>())
        if (each->text() == QStringLiteral("First &lesson")) each->trigger();
    QVERIFY(has<LessonPanel>());
    press(Qt::Key_F6);
    QCOMPARE(window().focusWidget()->objectName(), QStringLiteral("play")); // so Space plays
    press(Qt::Key_F6);
    QVERIFY(has<SetupPanel>());
    QVERIFY(onControl());
    press(Qt::Key_F6);
    QVERIFY(has<CompareView>());
    press(Qt::Key_F6);
    QVERIFY(has<PlotStack>());
    press(Qt::Key_F6);
    QVERIFY(has<ScalerPanel>());
    QVERIFY(onControl());
    const auto* cards = window().findChild<ScalerPanel*>();
    const QWidget* control = window().focusWidget();
    QVERIFY(cards->viewport()->rect().contains(
        QRect(control->mapTo(cards->viewport(), QPoint()), control->size()).center()));
    press(Qt::Key_F6);
    QVERIFY(has<EventPanel>());
    press(Qt::Key_F6);
    QVERIFY(has<LessonPanel>());
    press(Qt::Key_F6, Qt::ShiftModifier);
    QVERIFY(has<EventPanel>());
    window().findChild<LessonPanel*>()->hide();
    press(Qt::Key_F6); // a part that cannot be seen is left out
    QVERIFY(has<TransportBar>());
}

/// Compact cards without a loss scale hold nothing that takes the keyboard.
void TestPaneKeys::cardsAreScrolled() {
    RunConfig config = tinyConfig(3);
    config.lanes.assign(6, config.lanes.front()); // FP32
    m_opened = std::make_unique<Opened>(config);
    window().resize(1280, 500);
    QVERIFY(reaches(window(), SessionState::Ready));
    QApplication::setActiveWindow(&window());
    QVERIFY(test::isActive(&window()));
    const auto* cards = window().findChild<ScalerPanel*>();
    const auto* bar = cards->verticalScrollBar();
    QTRY_VERIFY(cards->isVisible() && bar->maximum() > 0);
    for (QWidget* each : cards->widget()->findChildren<QWidget*>())
        each->setFocusPolicy(Qt::NoFocus); // they may be shown in full
    constexpr int kParts = 9;
    for (int part = 0; part < kParts && !has<ScalerPanel>(); ++part)
        press(Qt::Key_F6);
    QVERIFY(has<ScalerPanel>());
    const QImage seen = cards->viewport()->grab().toImage();
    const QPoint edge(0, cards->viewport()->height() / 2);
    QCOMPARE(seen.pixelColor(edge * seen.devicePixelRatio()).name(),
             cards->palette().color(QPalette::Highlight).name());
    press(Qt::Key_Down);
    QVERIFY(bar->value() > 0);
}

/// Tab goes the same way as Shift+Tab, through all buttons.
void TestPaneKeys::tabLeavesNothingOut() {
    auto* presets = window().findChild<QWidget*>(QStringLiteral("presets"));
    presets->setFocus();
    press(Qt::Key_Tab, Qt::ShiftModifier);
    QVERIFY(window().focusWidget() != presets);
    press(Qt::Key_Tab);
    QCOMPARE(window().focusWidget()->objectName(), QStringLiteral("presets"));
    for (const char* next : {"reset", "play"}) {
        press(Qt::Key_Tab);
        QCOMPARE(window().focusWidget()->objectName(), QLatin1String(next));
    }
}

/// The control that Tab reaches can be told from the others.
void TestPaneKeys::tabIsSeen() {
    window().findChild<QWidget*>(QStringLiteral("presets"))->setFocus();
    const QWidget* first = window().focusWidget();
    const auto* events = window().findChild<EventPanel*>();
    constexpr int kMost = 1000;
    int stops = 0, inEvents = 0;
    do {
        const QWidget* stop = window().focusWidget();
        const bool ofEvents = events->isAncestorOf(stop);
        QVERIFY2(ofEvents || !stop->inherits("QScrollArea"),
                 qPrintable(QStringLiteral("%1 in %2")
                                .arg(stop->accessibleName(),
                                     stop->parentWidget()->metaObject()->className())));
        if (ofEvents && stop->inherits("QAbstractScrollArea")) {
            // the frame is the panel's, which draws it around the part that has the keyboard
            const QImage seen = window().findChild<EventPanel*>()->grab().toImage();
            const QPoint corner = stop->geometry().topLeft() - QPoint(2, 2);
            QCOMPARE(seen.pixelColor(corner * seen.devicePixelRatio()).name(),
                     events->palette().color(QPalette::Highlight).name());
            ++inEvents;
        }
        press(Qt::Key_Tab);
    } while (window().focusWidget() != first && ++stops < kMost);
    QVERIFY(stops < kMost);
    QVERIFY(inEvents > 0);
}

void TestPaneKeys::enterPressesButtons() {
    auto* reset = window().findChild<QPushButton*>(QStringLiteral("reset"));
    reset->setFocus();
    QSignalSpy asked(window().findChild<TransportBar*>(), &TransportBar::resetRequested);
    press(Qt::Key_Return);
    QCOMPARE(asked.size(), 1);
    QVERIFY(reaches(window(), SessionState::Ready));
    for (auto* each : window().setup().findChildren<QToolButton*>())
        if (each->text().startsWith(QStringLiteral("B "))) each->setFocus();
    auto* scroll = window().setup().findChild<QScrollArea*>()->verticalScrollBar();
    const int before = scroll->value();
    press(Qt::Key_Enter);
    QTRY_VERIFY(scroll->value() > before); // to the settings of lane B
    press(Qt::Key_Tab);
    const QWidget* stop = window().focusWidget();
    QVERIFY2(stop->accessibleName().contains(QStringLiteral("lane B")),
             qPrintable(stop->accessibleName()));
    press(Qt::Key_L, Qt::ControlModifier);
    QTRY_COMPARE(window().focusWidget()->accessibleName(),
                 QStringLiteral("C amp-fp16, new settings"));
}

/// Enter never presses another button than the one that has the keyboard.
void TestPaneKeys::enterPressesButtonsOfDialogs() {
    for (const auto& [text, close] : {std::pair("&Map of two settings…", "Close"),
                                      std::pair("A &number in 16 or 8 bits…", "Close")}) {
        for (QAction* action : window().findChildren<QAction*>())
            if (action->text() == QString::fromUtf8(text)) action->trigger();
        QDialog* shown = nullptr;
        for (auto* dialog : window().findChildren<QDialog*>())
            if (dialog->isVisible()) shown = dialog;
        QVERIFY2(shown, text);
        QApplication::setActiveWindow(shown);
        for (auto* button : shown->findChildren<QPushButton*>())
            if (button->text().remove(u'&') == QLatin1String(close)) button->setFocus();
        const QPointer<QDialog> open = shown;
        QTest::keyClick(shown->focusWidget(), Qt::Key_Return);
        QTRY_VERIFY2(!open || !open->isVisible(), text);
    }
}

/// + and - are those of the figure that has the keyboard, and elsewhere those of the pace.
void TestPaneKeys::figuresZoom() {
    auto* pictures = window().findChild<CompareView*>();
    auto* plots = window().findChild<PlotStack*>();
    const auto* pace = window().findChild<TransportBar*>()->pace();
    const int before = pace->slider()->value();
    const double steps = plots->lastVisibleStep() - plots->firstVisibleStep();
    pictures->setFocus();
    press(Qt::Key_Plus, Qt::ShiftModifier);
    QVERIFY(pictures->transform().zoom() > 1);
    plots->setFocus();
    press(Qt::Key_Plus);
    QVERIFY(plots->lastVisibleStep() - plots->firstVisibleStep() < steps);
    QCOMPARE(pace->slider()->value(), before);
    window().findChild<QWidget*>(QStringLiteral("play"))->setFocus();
    press(Qt::Key_Minus);
    QVERIFY(pace->slider()->value() < before);
}

/// A click on a choice leaves the keyboard to the window, whether or not another entry is chosen.
void TestPaneKeys::keysAfterAChoice() {
    auto* editor = window().setup().editor("model.activation");
    auto* box = qobject_cast<QComboBox*>(editor->control());
    const QString before = box->currentText();
    QTest::mouseClick(box, Qt::LeftButton);
    QTRY_VERIFY(QApplication::activePopupWidget());
    QTest::keyClick(box->view(), Qt::Key_Escape);
    QTRY_VERIFY(!QApplication::activePopupWidget());
    QApplication::setActiveWindow(&window());
    QCOMPARE(window().focusWidget(), editor);
    QVERIFY(keysAct());
    QCOMPARE(box->currentText(), before);
    QTest::mouseClick(box, Qt::LeftButton);
    QTRY_VERIFY(QApplication::activePopupWidget());
    QTest::keyClick(box->view(), Qt::Key_Down);
    QTest::keyClick(box->view(), Qt::Key_Return);
    QTRY_VERIFY(!QApplication::activePopupWidget());
    QApplication::setActiveWindow(&window()); // without a window manager, none may be active now
    const QString chosen = box->currentText();
    QVERIFY(chosen != before);
    QVERIFY(keysAct());
    QVERIFY(keysAct());
    QCOMPARE(box->currentText(), chosen);
    auto* shuffle = qobject_cast<QCheckBox*>(window().setup().editor("data.shuffle")->control());
    const bool ticked = shuffle->isChecked();
    QTest::mouseClick(shuffle, Qt::LeftButton, {}, QPoint(8, shuffle->height() / 2));
    QCOMPARE(shuffle->isChecked(), !ticked);
    QVERIFY(keysAct());
    QCOMPARE(shuffle->isChecked(), !ticked);
}

/// A box that Tab has reached answers the arrows only; Alt+Down and F4 open it.
void TestPaneKeys::lettersChooseNothing() {
    auto* box = qobject_cast<QComboBox*>(window().setup().editor("optimizer.kind")->control());
    const QString before = box->currentText();
    QVERIFY(box->findText(QStringLiteral("r"), Qt::MatchStartsWith) >= 0);
    QVERIFY(box->findText(QStringLiteral("s"), Qt::MatchStartsWith) >= 0);
    box->setFocus(Qt::TabFocusReason);
    QVERIFY(keysAct());
    press(Qt::Key_S);
    press(Qt::Key_R, Qt::ShiftModifier);
    QCOMPARE(window().focusWidget(), box);
    QCOMPARE(box->currentText(), before);
    for (const auto& [key, with] :
         {std::pair(Qt::Key_F4, Qt::KeyboardModifiers()),
          std::pair(Qt::Key_Down, Qt::KeyboardModifiers(Qt::AltModifier))}) {
        press(key, with);
        QTRY_VERIFY(QApplication::activePopupWidget());
        QTest::keyClick(box->view(), Qt::Key_Escape);
        QTRY_VERIFY(!QApplication::activePopupWidget());
    }
    press(Qt::Key_Down);
    QVERIFY(box->currentText() != before);
}

/// The menu tells the keys and leaves them to the window: two actions for a key would do nothing.
void TestPaneKeys::trainingIsInTheMenus() {
    QStringList menus;
    const QMenu* training = nullptr;
    for (const QAction* each : window().menuBar()->actions()) {
        menus << each->text().remove(u'&');
        if (menus.last() == QLatin1String("Training")) training = each->menu();
    }
    QCOMPARE(menus.join(u' '), QStringLiteral("File Edit Training View Help"));
    QVERIFY(keysAct()); // from the end to the start
    training->actions().at(1)->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(window().run().step(), int64_t(1), kPatience);
    QVERIFY(reaches(window(), SessionState::Paused));
    press(Qt::Key_Period);
    QTRY_COMPARE_WITH_TIMEOUT(window().run().step(), int64_t(2), kPatience);
    QVERIFY(reaches(window(), SessionState::Paused));
    training->actions().at(2)->trigger();
    QVERIFY(reaches(window(), SessionState::Ready));
    QTRY_COMPARE_WITH_TIMEOUT(window().run().step(), int64_t(0), kPatience);
    training->actions().at(0)->trigger();
    QVERIFY(reaches(window(), SessionState::Finished));
}

/// Enter ends the typing, and Tab goes on from where it was.
void TestPaneKeys::keysAfterANumber() {
    auto* width = window().setup().editor("model.width");
    auto* rate = window().setup().editor("optimizer.lr");
    for (FieldEditor* editor : {width, rate}) {
        QWidget* control = editor->control();
        const auto type = [control](const char* number) {
            control->setFocus();
            QTest::keyClick(control, Qt::Key_A, Qt::ControlModifier);
            QTest::keyClicks(control, QLatin1String(number));
            QTest::keyClick(control, Qt::Key_Return);
        };
        type("9");
        QCOMPARE(window().focusWidget(), editor);
        QVERIFY(keysAct());
        QVERIFY(keysAct());
        press(Qt::Key_Tab);
        QWidget* next = window().focusWidget();
        press(Qt::Key_Backtab, Qt::ShiftModifier);
        QCOMPARE(window().focusWidget(), control);
        press(Qt::Key_Tab);
        QCOMPARE(window().focusWidget(), next);
        if (editor == width) continue;
        type("-9"); // has to be corrected: digits and letters are not the window's keys
        QCOMPARE(window().focusWidget(), control);
        const auto* line = qobject_cast<QLineEdit*>(control);
        QVERIFY(line);
        QTest::keyClicks(control, QStringLiteral("5r"));
        QCOMPARE(line->text(), QStringLiteral("-95r"));
        press(Qt::Key_Escape);
        QCOMPARE(line->text(), QStringLiteral("9"));
        press(Qt::Key_Return);
        QCOMPARE(window().focusWidget(), editor);
        QVERIFY(keysAct());
    }
    auto* stopAt = window().findChild<QSpinBox*>(QStringLiteral("stopAt"));
    stopAt->setFocus();
    QVERIFY(keysAct());
    QCOMPARE(stopAt->value(), 3);
    stopAt->setFocus();
    QVERIFY(stopAt->hasFocus());
    QTest::keyClick(stopAt, Qt::Key_Return);
    QVERIFY(!stopAt->hasFocus()); // digits and signs are the window's keys again, too
    QVERIFY(keysAct());
}

/// Styles draw no ring before they know that the keyboard is used.
void TestPaneKeys::f6IsSeen() {
    press(Qt::Key_F6);
    press(Qt::Key_F6);
    QVERIFY(has<SetupPanel>());
    QWidget* stop = window().focusWidget();
    const QImage seen = stop->grab().toImage();
    stop->clearFocus();
    QVERIFY(seen != stop->grab().toImage());
}

/// The keyboard reaches it from the buttons, and goes back to Play with it: the control that Qt
/// would choose answers Space itself.
void TestPaneKeys::theBannerIsAStop() {
    auto* banner = window().findChild<Banner*>();
    banner->showNotice(QStringLiteral("It went well."));
    window().findChild<QWidget*>(QStringLiteral("play"))->setFocus();
    press(Qt::Key_F6);
    QVERIFY(has<Banner>());
    QVERIFY(onControl());
    press(Qt::Key_Space); // on its button
    QVERIFY(banner->isHidden());
    QCOMPARE(window().focusWidget()->objectName(), QStringLiteral("play"));
    QVERIFY(keysAct());
    QVERIFY(keysAct());
    press(Qt::Key_F6); // a banner that has gone is left out
    QVERIFY(has<SetupPanel>());
    banner->showNotice(QStringLiteral("It went well."));
    window().findChild<TransportBar*>()->hide(); // as in a presentation
    banner->findChild<QToolButton*>()->setFocus();
    QVERIFY(has<Banner>());
    press(Qt::Key_Space);
    QVERIFY(banner->isHidden());
    QCOMPARE(window().focusWidget()->objectName(), QStringLiteral("page"));
}

/// But not where Esc means something else.
void TestPaneKeys::escClosesTheBanner() {
    auto* banner = window().findChild<Banner*>();
    const auto showsAgain = [banner] { banner->showNotice(QStringLiteral("It went well.")); };
    showsAgain();
    window().findChild<QWidget*>(QStringLiteral("play"))->setFocus();
    press(Qt::Key_Escape);
    QVERIFY(banner->isHidden());
    showsAgain();
    window().plots().setFocus();
    press(Qt::Key_Left); // brings the crosshair
    press(Qt::Key_Escape);
    QVERIFY(banner->isVisible());
    press(Qt::Key_Escape);
    QVERIFY(banner->isHidden());
    showsAgain();
    auto* rate = qobject_cast<QLineEdit*>(window().setup().editor("optimizer.lr")->control());
    const QString valid = rate->text();
    rate->setFocus();
    QTest::keyClicks(rate, QStringLiteral("9"));
    press(Qt::Key_Escape); // gives up what was typed
    QCOMPARE(rate->text(), valid);
    QVERIFY(banner->isVisible());
    press(Qt::Key_Escape);
    QVERIFY(banner->isHidden());
    ConfigModel& model = window().config(); // a path that is accepted and cannot be read
    QVERIFY(model.setData(model.index(model.rowOf("data.kind")), QStringLiteral("csv")));
    QVERIFY(model.setData(model.index(model.rowOf("data.path")), QStringLiteral("/none.csv")));
    const FieldEditor* editor = window().setup().editor("data.path");
    QTRY_VERIFY_WITH_TIMEOUT(!editor->errorText().isEmpty(), kPatience);
    showsAgain();
    editor->control()->setFocus();
    QCOMPARE(window().focusWidget(), editor->control());
    press(Qt::Key_Escape);
    QVERIFY(banner->isHidden());
    QVERIFY(!editor->errorText().isEmpty());
}

/// A box that is hidden must not hand the keyboard to the next setting.
void TestPaneKeys::aBoxThatGoesGivesPlayTheKeyboard() {
    const auto opens = [this](const char* name, const std::string& content) {
        const QSignalSpy ended(&window(), &MainWindow::fileEnded);
        return window().tryFile(write(m_opened->folder, QString::fromLatin1(name), content)) &&
               QTest::qWaitFor([&ended] { return ended.size() == 1; }, kPatience) &&
               reaches(window(), SessionState::Ready);
    };
    QVERIFY(opens("digits.json", configText(presetNamed("mnist-mlp").config)));
    QLineEdit* mean = nullptr;
    for (auto* each : window().setup().findChildren<QLineEdit*>())
        if (each->accessibleName() == QStringLiteral("Mean") && each->isVisible()) mean = each;
    QVERIFY(mean);
    mean->setFocus();
    QVERIFY(has<SetupPanel>());
    std::string table = "size,price\n";
    for (int i = 0; i < 100; ++i)
        table += std::to_string(i) + "," + std::to_string(3 * i) + "\n";
    QVERIFY(opens("table.csv", table));
    QVERIFY(!mean->isVisible());
    QVERIFY(window().focusWidget());
    QCOMPARE(window().focusWidget()->objectName(), QStringLiteral("play"));
}

/// The button that has the keyboard would take Space, which the status bar names.
void TestPaneKeys::whatWasOpenedIsPlayed() {
    const QString file =
        write(m_opened->folder, QStringLiteral("other.json"), configText(tinyConfig(4)));
    for (auto* each : window().setup().findChildren<QToolButton*>())
        if (each->text() == QStringLiteral("Experiment")) each->setFocus();
    QVERIFY(has<SetupPanel>());
    const QSignalSpy ended(&window(), &MainWindow::fileEnded);
    QVERIFY(window().tryFile(file));
    QTRY_COMPARE_WITH_TIMEOUT(ended.size(), 1, kPatience);
    QCOMPARE(window().focusWidget()->objectName(), QStringLiteral("play"));
    QVERIFY(reaches(window(), SessionState::Ready));
    QTRY_COMPARE_WITH_TIMEOUT(window().run().step(), int64_t{0}, kPatience);
    press(Qt::Key_Space);
    QVERIFY(reaches(window(), SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window().run().step(), int64_t{4}, kPatience);
    auto* page = window().findChild<QWidget*>(QStringLiteral("page"));
    page->setFocus(); // as after a click: Space is the window's already
    QVERIFY(window().tryFile(file));
    QTRY_COMPARE_WITH_TIMEOUT(ended.size(), 2, kPatience);
    QCOMPARE(window().focusWidget(), page);
    auto* stopAt = window().findChild<QSpinBox*>(QStringLiteral("stopAt"));
    stopAt->setFocus(); // somebody may be typing a number
    QVERIFY(window().tryFile(file));
    QTRY_COMPARE_WITH_TIMEOUT(ended.size(), 3, kPatience);
    QCOMPARE(window().focusWidget(), stopAt);
}

/// The manual shows its section first, whatever control the setting has, and after a click on it.
void TestPaneKeys::f1ExplainsASetting() {
    for (const char* key :
         {"model.width", "model.activation", "optimizer.lr", "optimizer.amsgrad"}) {
        FieldEditor* editor = window().setup().editor(key);
        for (QWidget* asks : {editor->control(), static_cast<QWidget*>(editor)}) {
            QApplication::setActiveWindow(&window());
            asks->setFocus();
            QCOMPARE(window().focusWidget(), asks);
            press(Qt::Key_F1);
            const auto* help = window().findChild<HelpDialog*>();
            QVERIFY2(help && help->isVisible(), key);
            const auto* text = help->findChild<QTextBrowser*>();
            constexpr int kBelowTheEdge = 8; // pixels
            QCOMPARE(text->cursorForPosition({kBelowTheEdge, kBelowTheEdge}).block().text(),
                     QString::fromUtf8(findField(key)->label.text()));
        }
    }
}

/// The manual opens where it tells of the list or the table that has the keyboard.
void TestPaneKeys::f1ExplainsThePart() {
    const auto topOfHelp = [this] {
        const auto* help = window().findChild<HelpDialog*>();
        if (!help || !help->isVisible()) return QString();
        constexpr int kBelowTheEdge = 20; // pixels
        return help->findChild<QTextBrowser*>()
            ->cursorForPosition({kBelowTheEdge, kBelowTheEdge})
            .block()
            .text();
    };
    QApplication::setActiveWindow(&window());
    QTableView* events = window().findChild<EventPanel*>()->table();
    events->setFocus();
    QCOMPARE(window().focusWidget(), events);
    press(Qt::Key_F1);
    QCOMPARE(topOfHelp(), QStringLiteral("Marks"));
    QApplication::setActiveWindow(&window());
    for (QAction* action : window().findChildren<QAction*>())
        if (action->text() == QStringLiteral("Gradients by layer")) action->trigger();
    auto* layers = window().findChild<LayerGradientsDialog*>();
    QVERIFY(layers);
    QApplication::setActiveWindow(layers);
    QTRY_VERIFY(layers->isActiveWindow());
    QTest::keyClick(layers, Qt::Key_F1);
    QCOMPARE(topOfHelp(), QStringLiteral("Gradients by layer"));
    // it lies over the buttons, whose keys act in it, too
    QApplication::setActiveWindow(layers);
    QTest::keyClick(layers, Qt::Key_R);
    QVERIFY(reaches(window(), SessionState::Ready));
    QTRY_COMPARE_WITH_TIMEOUT(window().run().step(), int64_t(0), kPatience);
    QApplication::setActiveWindow(layers);
    QTRY_VERIFY(layers->isActiveWindow());
    QTest::keyClick(layers, Qt::Key_Period);
    QTRY_COMPARE_WITH_TIMEOUT(window().run().step(), int64_t(1), kPatience);
}

} // namespace tst_pane_keys

QTEST_MAIN(tst_pane_keys::TestPaneKeys)
#include "tst_pane_keys.moc"
