// Figures that leave the window: pictures of a table with all of its rows, of the histogram, and
// the same as text.
#include "engine/core/error.h"
#include "tests/support/opened_window.h"
#include "ui/dialogs/figure_menu.h"
#include "ui/dialogs/grid_dialog.h"
#include "ui/dialogs/types_dialog.h"
#include "ui/look/owned.h"
#include "ui/look/theme.h"
#include "ui/plots/gradient_view.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollBar>
#include <QStandardItemModel>
#include <QStatusBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QVBoxLayout>

namespace tst_figure_menu {

using namespace halfscope;

namespace {

QByteArray read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// A small window with a table of 40 rows, most of them scrolled away.
struct Table {
    QWidget window;
    QStandardItemModel model{40, 2};
    QTableView* view = make<QTableView>(&window);
    QLabel* below = make<QLabel>(QStringLiteral("What it means"), &window);
    FigureMenu* menu = nullptr;
    QTemporaryDir folder;

    Table() {
        model.setHorizontalHeaderLabels({QStringLiteral("Layer"), QStringLiteral("Type, here")});
        for (int row = 0; row < model.rowCount(); ++row)
            model.setItem(row, 0, make<QStandardItem>(QStringLiteral("layer %1").arg(row)));
        view->setModel(&model);
        menu = make<FigureMenu>(*view, FigureMenu::Figure{QStringLiteral("types"),
                                                          [] { return QStringLiteral("Caption"); },
                                                          {below}});
        auto* column = make<QVBoxLayout>(&window);
        column->addWidget(view);
        column->addWidget(below);
        window.resize(300, 200);
        window.show();
    }
    /// Saves the figure, and returns the file once it is there.
    QByteArray saved(const char* name) {
        const QString path = folder.filePath(QLatin1String(name));
        menu->save(path);
        return QTest::qWaitFor([&] { return !read(path).isEmpty(); }, kPatience) ? read(path)
                                                                                 : QByteArray();
    }
};

QMenu* openMenu() { return qobject_cast<QMenu*>(QApplication::activePopupWidget()); }

} // namespace

class TestFigureMenu : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void showsAllOfATable() {
        Table table;
        table.view->setCurrentIndex(table.model.index(3, 0));
        table.view->scrollToBottom();
        const QSize size = table.view->size();
        const QByteArray svg = table.saved("types.svg");
        for (const char* text : {"Caption", "Type, here", "layer 0<", "layer 39", "What it means"})
            QVERIFY2(svg.contains(text), text);
        QVERIFY(table.saved("types.pdf").startsWith("%PDF"));
        QVERIFY(QImage::fromData(table.saved("types.png")).height() > 2 * 40 * 10);
        QCOMPARE(table.view->size(), size); // as it was
        QCOMPARE(table.view->currentIndex(), table.model.index(3, 0));
        QVERIFY(table.view->verticalScrollBar()->value() > 0);
        QVERIFY_THROWS_EXCEPTION(RunError, table.menu->save(QStringLiteral("types.doc")));
    }

    void tablesAreTextToo() {
        Table table;
        QVERIFY(table.saved("types.csv").startsWith(",Layer,\"Type, here\"\n1,layer 0,\n"));
        table.model.setHorizontalHeaderItem(0, make<QStandardItem>(QStringLiteral("Broken\nname")));
        QVERIFY(table.saved("broken.csv").startsWith(",Broken name,"));
        table.model.setHorizontalHeaderItem(0, make<QStandardItem>(QStringLiteral("Layer")));
        QVERIFY(table.menu->table(false).startsWith(QStringLiteral("\tLayer\tType, here\n")));
    }

    /// Paper is white, whatever the theme; a picture to paste has the window's colours.
    void isPrintedOnWhite() {
        applyTheme(*qApp, Theme::Dark);
        {
            Table table;
            const QImage saved = QImage::fromData(table.saved("types.png"));
            QVERIFY(saved.pixelColor(2, 2).lightness() > 200);
            QVERIFY(table.menu->picture().pixelColor(2, 2).lightness() < 100);
            QVERIFY(table.view->palette() == table.window.palette());
        }
        applyTheme(*qApp, Theme::Light);
    }

    /// A map has what a reader needs who has no window to ask, and its table has plain numbers.
    void mapsExplainThemselves() {
        RunConfig tiny = tinyConfig(1);
        tiny.title = "The file's own title";
        ConfigModel config;
        config.load(tiny);
        GridDialog dialog(config, nullptr, {}, [] { return QStringLiteral("Underflow"); });
        dialog.show();
        for (auto* box : dialog.findChildren<QComboBox*>()) {
            if (box->accessibleName() == QLatin1String("First setting"))
                box->setCurrentIndex(box->findData(QStringLiteral("scaler.init_scale")));
            if (box->accessibleName() == QLatin1String("Second setting"))
                box->setCurrentIndex(box->findData(QString()));
        }
        for (auto* edit : dialog.findChildren<QLineEdit*>())
            if (edit->accessibleName().startsWith(QLatin1String("Values of the first")))
                edit->setText(QStringLiteral("2^-20, 2^4"));
        const auto* view = dialog.findChild<GridView*>();
        auto* menu = view->findChild<FigureMenu*>();
        const QTemporaryDir folder;
        const QString before = folder.filePath(QStringLiteral("before.svg"));
        menu->save(before); // there is only a measure to name
        QTRY_VERIFY_WITH_TIMEOUT(!read(before).isEmpty(), kPatience);
        QVERIFY(!read(before).contains("Underflow") && !read(before).contains("·"));
        dialog.findChild<QPushButton*>(QStringLiteral("gridStart"))->click();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
        const QAbstractItemModel& cells = *view->model();
        const QChar star(0x2605);
        QVERIFY(cells.index(0, 0).data().toString().contains(star) ||
                cells.index(1, 0).data().toString().contains(star));
        const auto* below = dialog.findChild<QLabel*>(QStringLiteral("gridDoubt"));
        QTRY_VERIFY(below->isVisible() && below->width() > view->width() / 2);
        QVERIFY2(!menu->table(true).contains(star), qPrintable(menu->table(true)));
        const QString path = folder.filePath(QStringLiteral("map.svg"));
        menu->save(path);
        QTRY_VERIFY_WITH_TIMEOUT(!read(path).isEmpty(), kPatience);
        const QString svg = QString::fromUtf8(read(path)), doubt = dialog.model().doubt();
        for (const char* words : {"Underflow", "amp-fp16", "1 step"})
            QVERIFY2(svg.contains(QLatin1String(words)), words);
        QVERIFY(!svg.contains(QStringLiteral("own title")));
        QVERIFY2(!doubt.isEmpty() && svg.contains(doubt.section(u' ', 0, 3)), qPrintable(doubt));
    }

    void keysOpenIt() {
        Table table;
        table.view->setFocus();
        QContextMenuEvent key(QContextMenuEvent::Keyboard, QPoint(5, 5),
                              table.view->mapToGlobal(QPoint(5, 5)));
        QApplication::sendEvent(table.view, &key);
        QVERIFY(openMenu());
        QTest::keyClick(openMenu(), Qt::Key_T);
        QTRY_VERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("layer 39")));
    }

    void saysWhatCannotBeWritten() {
        Table table;
        table.menu->save(table.folder.filePath(QStringLiteral("missing/types.svg")));
        QTRY_VERIFY_WITH_TIMEOUT(table.window.findChild<QMessageBox*>(), kPatience);
        QVERIFY(
            table.window.findChild<QMessageBox*>()->text().contains(QStringLiteral("types.svg")));
    }

    /// All figures of the window have it.
    void theWindowHasIt() {
        Opened opened(tinyConfig(5));
        MainWindow& window = opened.window;
        QVERIFY(reaches(window, SessionState::Ready));
        QTest::keyClick(&window, Qt::Key_G);
        auto* menu = window.gradients().findChild<FigureMenu*>();
        QVERIFY(menu);
        QTRY_VERIFY_WITH_TIMEOUT(!window.gradients().figures(1).isEmpty(), kPatience);
        QVERIFY(window.gradients().focusPolicy() & Qt::TabFocus);
        const QString path = opened.folder.filePath(QStringLiteral("gradients.svg"));
        menu->save(path);
        QTRY_VERIFY_WITH_TIMEOUT(read(path).contains("radients after step 0"), kPatience);
        const QString told = QStringLiteral("Saved as ");
        QTRY_COMPARE_WITH_TIMEOUT(window.statusBar()->currentMessage(), told + path, kPatience);
        auto* types = make<TypesDialog>(window.config(), 0, &window);
        auto* table = types->findChild<QTableView*>()->findChild<FigureMenu*>();
        QVERIFY(table);
        const QString csv = opened.folder.filePath(QStringLiteral("types.csv"));
        table->save(csv); // told by the window whose dialog it is
        QTRY_COMPARE_WITH_TIMEOUT(window.statusBar()->currentMessage(), told + csv, kPatience);
    }
};

} // namespace tst_figure_menu

QTEST_MAIN(tst_figure_menu::TestFigureMenu)
#include "tst_figure_menu.moc"
