// The window's three columns: settings, pictures with plots, and lanes with events. Two of them can
// be hidden, and the settings give way in a narrow window.
#include "tests/support/opened_window.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/plot_stack.h"

#include <QSplitter>

namespace tst_columns {

using namespace halfscope;

class TestColumns : public QObject {
    Q_OBJECT
private slots:
    void roomForPicturesAndPlots();
    void settingsGiveWay();
};

/// F7 leaves the whole width to pictures and plots. What is shown in the column that it hides
/// brings that column back, and so does F7 after the border was pushed to the edge.
void TestColumns::roomForPicturesAndPlots() {
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    window.resize(1280, 800);
    QVERIFY(reaches(window, SessionState::Ready));
    const auto* events = window.findChild<EventPanel*>();
    const int before = window.plots().width();
    QTest::keyClick(&window, Qt::Key_F7);
    QVERIFY(!events->isVisible());
    QTRY_VERIFY(window.plots().width() > before + 200);
    QTest::keyClick(&window, Qt::Key_F7);
    QVERIFY(events->isVisible());
    QTRY_COMPARE(window.plots().width(), before);
    for (const Qt::Key key : {Qt::Key_G, Qt::Key_F8}) {
        QTest::keyClick(&window, Qt::Key_F7);
        QVERIFY(!events->isVisible());
        QTest::keyClick(&window, key);
        QVERIFY(events->isVisible());
    }
    auto* columns = window.findChild<QSplitter*>();
    columns->setSizes({columns->sizes()[0], columns->sizes()[1] + columns->sizes()[2], 0});
    QTRY_COMPARE(columns->sizes().back(), 0);
    QTest::keyClick(&window, Qt::Key_F7);
    QTest::keyClick(&window, Qt::Key_F7);
    QTRY_VERIFY(columns->sizes().back() > 200);
}

/// Where three columns do not fit, the settings give way, but not to a column that is hidden.
void TestColumns::settingsGiveWay() {
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    window.resize(1280, 800);
    QVERIFY(reaches(window, SessionState::Ready));
    const int right = window.findChild<QSplitter*>()->widget(2)->minimumWidth();
    window.resize(window.setup().minimumWidth() + right + 290, 600); // 300 is left to the middle
    QTRY_VERIFY(!window.setup().isVisible());
    QTest::keyClick(&window, Qt::Key_F7);
    QVERIFY(window.setup().isVisible());
    QTest::keyClick(&window, Qt::Key_F7);
    QVERIFY(!window.setup().isVisible());
    window.resize(1280, 800);
    QTRY_VERIFY(window.setup().isVisible());
}

} // namespace tst_columns

QTEST_MAIN(tst_columns::TestColumns)
#include "tst_columns.moc"
