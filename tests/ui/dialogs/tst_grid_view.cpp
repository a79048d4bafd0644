// The table of a map of settings: what is read at a cell while others are still being trained.
#include "tests/support/fed_run.h"
#include "tests/support/grid_cells.h"
#include "tests/support/opened_window.h"
#include "tests/support/shown_window.h"
#include "ui/dialogs/grid_view.h"

#include <QCursor>
#include <QHelpEvent>
#include <QLocale>
#include <QTest>
#include <QToolTip>

namespace tst_grid_view {

using namespace halfscope;

class TestGridView : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void tipsFollowTheStar();
};

/// The star moves with each better cell; the tip that is being read does not keep it.
void TestGridView::tipsFollowTheStar() {
    GridModel model;
    model.begin(SettingGrid(tinyConfig(5), 1, {parseSweep("scaler.init_scale=1,2")}));
    model.set(0, cellOf(5));
    GridView view(model);
    view.resize(300, 200);
    view.show();
    QVERIFY(test::isExposed(&view));
    const QPoint place = view.visualRect(model.index(0, 0)).center();
    const QPoint global = view.viewport()->mapToGlobal(place);
    QCursor::setPos(global);
    QHelpEvent help(QEvent::ToolTip, place, global);
    QApplication::sendEvent(view.viewport(), &help);
    QVERIFY2(QToolTip::text().contains(u'★'), qPrintable(QToolTip::text()));
    model.set(1, cellOf(4));
    QVERIFY2(QToolTip::isVisible() && !QToolTip::text().contains(u'★') &&
                 QToolTip::text().contains(QStringLiteral("Loss: 5")),
             qPrintable(QToolTip::text()));
}

} // namespace tst_grid_view

QTEST_MAIN(tst_grid_view::TestGridView)
#include "tst_grid_view.moc"
