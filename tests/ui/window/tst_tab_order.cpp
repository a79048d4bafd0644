// The order in which Tab reaches the controls of a part of the window: as they are read.
#include "tests/support/opened_window.h"
#include "tests/support/served_events.h"
#include "ui/images/compare_view.h"
#include "ui/look/tab_order.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"

#include <QGridLayout>
#include <QLineEdit>
#include <QScrollArea>
#include <QToolButton>

#include <algorithm>

namespace tst_tab_order {

using namespace halfscope;

namespace {

bool isStop(const QWidget& widget) {
    return widget.isVisible() && widget.isEnabled() && (widget.focusPolicy() & Qt::TabFocus) &&
           !widget.focusProxy() && !qobject_cast<const QScrollArea*>(&widget);
}

/// Returns the stops of Tab inside a part of a window, in their order.
QList<QWidget*> stopsIn(QWidget& part) {
    QList<QWidget*> stops;
    QWidget* const window = part.window();
    for (QWidget* each = window->nextInFocusChain(); each != window;
         each = each->nextInFocusChain())
        if (each != &part && part.isAncestorOf(each) && isStop(*each)) stops << each;
    return stops;
}

QString nameOf(const QWidget& widget) {
    return QStringLiteral("%1 \"%2\" %3")
        .arg(QLatin1String(widget.metaObject()->className()), widget.accessibleName(),
             widget.objectName());
}

/// Returns the first stop that stands above the one before it, or left of it in the same row; empty
/// where there is none.
QString outOfOrder(QWidget& part) {
    const QList<QWidget*> stops = stopsIn(part);
    for (qsizetype i = 1; i < stops.size(); ++i) {
        const QRect before(stops[i - 1]->mapTo(&part, QPoint()), stops[i - 1]->size());
        const QRect next(stops[i]->mapTo(&part, QPoint()), stops[i]->size());
        const bool below = next.center().y() > before.bottom();
        const bool sameRow = next.top() <= before.bottom() && next.bottom() >= before.top();
        if (!below && !(sameRow && next.left() >= before.right()))
            return nameOf(*stops[i]) + " after " + nameOf(*stops[i - 1]);
    }
    return {};
}

} // namespace

class TestTabOrder : public QObject {
    Q_OBJECT
private slots:
    void followsGridsByPlace();
    void isThatOfReading();
};

/// Whatever the order in which controls are made, and in which a layout gets them.
void TestTabOrder::followsGridsByPlace() {
    QWidget window;
    auto* grid = new QGridLayout(&window); // NOLINT: the window deletes it
    QList<QLineEdit*> made;
    for (const auto& [row, column] : {std::pair(1, 1), {0, 1}, {1, 0}, {0, 0}}) {
        made << new QLineEdit(&window);
        grid->addWidget(made.back(), row, column);
    }
    window.show();
    QCOMPARE(stopsIn(window), (QList<QWidget*>{made[0], made[1], made[2], made[3]}));
    orderTabs(window);
    QList<QWidget*> stops = stopsIn(window); // in a ring
    std::rotate(stops.begin(), stops.begin() + stops.indexOf(made[3]), stops.end());
    QCOMPARE(stops, (QList<QWidget*>{made[3], made[1], made[2], made[0]}));
}

void TestTabOrder::isThatOfReading() {
    Opened opened(presetNamed("mnist-mlp").config);
    MainWindow& window = opened.window;
    window.resize(1280, 800);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(stepsTo(window, 2));
    for (QWidget* part : {static_cast<QWidget*>(window.findChild<TransportBar*>()),
                          static_cast<QWidget*>(window.findChild<SetupPanel*>()),
                          static_cast<QWidget*>(window.findChild<CompareView*>()),
                          static_cast<QWidget*>(window.findChild<ScalerPanel*>()),
                          static_cast<QWidget*>(window.findChild<EventPanel*>())}) {
        QVERIFY(part && part->isVisible());
        QVERIFY2(stopsIn(*part).size() >= 2, part->metaObject()->className());
        QVERIFY2(outOfOrder(*part).isEmpty(), qPrintable(outOfOrder(*part)));
    }
    auto* pictures = window.findChild<CompareView*>(); // F6 leads to it, past its boxes
    QWidget* next = pictures->nextInFocusChain();
    while (!isStop(*next))
        next = next->nextInFocusChain();
    QVERIFY2(pictures->isAncestorOf(next), qPrintable(nameOf(*next)));
    // the settings are made anew
    window.config().addLane();
    QWidget& lanes = *window.setup().findChild<QScrollArea*>()->widget();
    test::serveEvents(100);
    QVERIFY2(outOfOrder(lanes).isEmpty(), qPrintable(outOfOrder(lanes)));
}

} // namespace tst_tab_order

QTEST_MAIN(tst_tab_order::TestTabOrder)
#include "tst_tab_order.moc"
