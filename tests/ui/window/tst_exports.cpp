// What leaves the window for papers and for other programs: pictures of the plots, their values,
// and pictures of the lanes.
#include "tests/support/file_menu.h"
#include "tests/support/opened_window.h"
#include "ui/images/compare_view.h"
#include "ui/look/theme.h"
#include "ui/plots/plot_stack.h"

#include <QImage>
#include <QSvgRenderer>

namespace tst_exports {

using namespace halfscope;

class TestExports : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { applyTheme(*qApp, Theme::Light); }
    void filesOfPlotsAreLight_data();
    void filesOfPlotsAreLight();
    void valuesOfAPlot();
    void pictures();

private:
    static QByteArray read(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
};

void TestExports::filesOfPlotsAreLight_data() {
    QTest::addColumn<QString>("ending");
    QTest::newRow("svg") << QStringLiteral("svg");
    QTest::newRow("png") << QStringLiteral("png");
}

/// A dark page costs ink and cannot be read in print. The window and what is copied from it stay
/// dark.
void TestExports::filesOfPlotsAreLight() {
    QFETCH(const QString, ending);
    WindowOptions options;
    options.theme = Theme::Dark;
    Opened opened(tinyConfig(20), options);
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 20));
    window.plots().refresh();
    const QImage before = window.plots().picture();
    QVERIFY2(before.pixelColor(2, 2).lightness() < 60, qPrintable(before.pixelColor(2, 2).name()));
    const QString path = opened.folder.filePath(QStringLiteral("plots.") + ending);
    QAction* save = fileAction(window, QStringLiteral("Save &picture of the plots…"));
    QVERIFY(save);
    answerWith(path);
    save->trigger();
    QTRY_VERIFY(QFile::exists(path));
    QImage saved(path);
    if (ending == QLatin1String("svg")) {
        saved = QImage(window.plots().size(), QImage::Format_RGB32);
        saved.fill(Qt::red);
        QPainter painter(&saved);
        QSvgRenderer(path).render(&painter);
    }
    QVERIFY(!saved.isNull());
    int light = 0, dark = 0;
    for (int y = 0; y < saved.height(); ++y)
        for (int x = 0; x < saved.width(); ++x) {
            const int lightness = saved.pixelColor(x, y).lightness();
            light += lightness > 240;
            dark += lightness < 60;
        }
    QVERIFY2(light > 10 * dark && dark > 0,
             qPrintable(QStringLiteral("%1 %2").arg(light).arg(dark)));
    QCOMPARE(window.plots().picture(), before); // with the theme's colours, as it was
}

void TestExports::valuesOfAPlot() {
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QAction* menu = fileAction(window, QStringLiteral("Save &values of a plot"));
    QVERIFY(menu && menu->menu());
    const auto entry = [&](const QString& text) {
        emit menu->menu()->aboutToShow();
        for (QAction* each : menu->menu()->actions())
            if (each->text() == text) return each;
        return static_cast<QAction*>(nullptr);
    };
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(entry(QStringLiteral("Loss…")) && !entry(QStringLiteral("Loss…"))->isEnabled());
    QVERIFY(trainsTo(window, 20));
    window.plots().refresh();
    const QString path = opened.folder.filePath(QStringLiteral("loss.csv"));
    answerWith(path);
    entry(QStringLiteral("Loss…"))->trigger();
    QTRY_VERIFY(QFile::exists(path));
    const QList<QByteArray> lines = read(path).split('\n');
    QCOMPARE(lines.size(), qsizetype{22}); // a header, and an empty one behind the last line's end
    QVERIFY2(lines[0].startsWith("step,A fp32,B "), lines[0]);
    QVERIFY2(lines[20].startsWith("20,"), lines[20]);
}

void TestExports::pictures() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 5));
    const QString path = opened.folder.filePath(QStringLiteral("lanes.png"));
    QAction* save = fileAction(window, QStringLiteral("Save pict&ures…"));
    QVERIFY(save);
    answerWith(path);
    save->trigger();
    QTRY_VERIFY(QFile::exists(path));
    auto* view = window.findChild<CompareView*>();
    const QImage clean = view->picture();
    QImage saved = QImage(path).convertToFormat(clean.format());
    saved.setDevicePixelRatio(clean.devicePixelRatio()); // which no file has
    QCOMPARE(saved, clean);
    // the mark of the pixel that is read is no part of them
    QTest::keyClick(view, Qt::Key_Right);
    QVERIFY2(view->readout().startsWith(QStringLiteral("x ")), qPrintable(view->readout()));
    QCOMPARE(view->picture(), clean);
    QVERIFY(view->readout().startsWith(QStringLiteral("x "))); // it stays in the window
    // beside the pictures, too
    QVERIFY(view->actions().contains(save));
    QCOMPARE(view->contextMenuPolicy(), Qt::ActionsContextMenu);
}

} // namespace tst_exports

QTEST_MAIN(tst_exports::TestExports)
#include "tst_exports.moc"
