// The window without a mouse: F6 goes from part to part, and Enter presses buttons.
#include "tests/support/opened_window.h"
#include "ui/images/compare_view.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/lesson_panel.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/plot_stack.h"

#include <QAction>
#include <QApplication>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QToolButton>

namespace tst_pane_keys {

using namespace halfscope;

class TestPaneKeys : public QObject {
    Q_OBJECT
private slots:
    void init();
    void cleanup() { m_opened.reset(); }
    void partsInTurn();
    void enterPressesButtons();

private:
    MainWindow& window() { return m_opened->window; }
    template <class Pane>
    bool has() {
        const auto* pane = window().findChild<Pane*>();
        const QWidget* focus = window().focusWidget();
        return focus && (focus == pane || pane->isAncestorOf(focus));
    }
    void press(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) {
        QTest::keyClick(window().focusWidget() ? window().focusWidget() : &window(), key, with);
    }
    std::unique_ptr<Opened> m_opened;
};

void TestPaneKeys::init() {
    m_opened = std::make_unique<Opened>(tinyConfig(3));
    window().resize(1280, 800);
    QVERIFY(trainsTo(window(), 3)); // then the loss scale can be set
    QApplication::setActiveWindow(&window());
    QVERIFY(QTest::qWaitForWindowActive(&window()));
}

void TestPaneKeys::partsInTurn() {
    for (QAction* each : window().findChildren<QAction*>())
        if (each->text() == QStringLiteral("First &lesson")) each->trigger();
    QVERIFY(has<LessonPanel>());
    press(Qt::Key_F6);
    QCOMPARE(window().focusWidget()->objectName(), QStringLiteral("play")); // so Space plays
    press(Qt::Key_F6);
    QVERIFY(has<SetupPanel>());
    press(Qt::Key_F6);
    QVERIFY(has<CompareView>());
    press(Qt::Key_F6);
    QVERIFY(has<PlotStack>());
    press(Qt::Key_F6);
    QVERIFY(has<ScalerPanel>());
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
}

} // namespace tst_pane_keys

QTEST_MAIN(tst_pane_keys::TestPaneKeys)
#include "tst_pane_keys.moc"
