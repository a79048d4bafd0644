// What an audience reads beside the gradients, and the messages that it sees.
#include "tests/support/fed_run.h"
#include "tests/support/plot_parts.h"
#include "tests/support/presented_window.h"
#include "ui/dialogs/figure_dialog.h"
#include "ui/dialogs/grid_dialog.h"
#include "ui/dialogs/scale_dialog.h"
#include "ui/images/compare_view.h"
#include "ui/panels/banner.h"
#include "ui/panels/figure_strip.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"

#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QSplitter>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTableView>
#include <QTextCursor>
#include <QToolButton>
#include <QToolTip>

namespace tst_presented_figures {

using namespace halfscope;

class TestPresentedFigures : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QLocale::setDefault(QLocale::c());
    }
    void figuresHaveTheWholeWidth_data();
    void figuresHaveTheWholeWidth();
    void stateCutsNoFigures();
    void leadsBackToTheNewestStep();
    void scalesAreWrittenAsInThePlots();
    void forksHaveNoFiguresBeforeTheyBegin();
    void plotsBesideGradientsAreWide();
    void tellsWhatWasSaved();
    void messagesCoverNoFigure();
    void noticesWait();
    void noticesMakeWay();
    void noticesAreWhole();
    void pointingKeepsTheSentence();
    void figuresExplainThemselves();
    void mapsAreRead();
    void numbersAndTypesAreRead_data();
    void numbersAndTypesAreRead();
    void theLessonsWaysAreThere();
};

void TestPresentedFigures::figuresHaveTheWholeWidth_data() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("lanes");
    QTest::addColumn<QString>("words");
    QTest::newRow("two lanes") << QSize(1920, 1080) << 2 << QStringLiteral("skipped");
    QTest::newRow("three lanes, small") << QSize(1024, 600) << 3 << QStringLiteral("skipped");
    QTest::newRow("six lanes, small") << QSize(1024, 600) << 6 << QString();
}

/// Beside the gradients, too: all lanes, before the letters are as large as usual.
void TestPresentedFigures::figuresHaveTheWholeWidth() {
    QFETCH(const QSize, size);
    QFETCH(const int, lanes);
    QFETCH(const QString, words);
    Opened opened(overflowing(lanes));
    MainWindow& window = opened.window;
    trainTo(window, 40);
    present(window);
    window.resize(size);
    QTest::keyClick(&window, Qt::Key_G);
    QTRY_VERIFY(window.gradients().isVisible());
    const auto* figures = window.findChild<QLabel*>(QStringLiteral("largeFigures"));
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QTRY_VERIFY2(headline->width() > 0.95 * size.width(),
                 qPrintable(QString::number(headline->width())));
    QTRY_VERIFY2(figures->width() > 0.6 * size.width(),
                 qPrintable(QString::number(figures->width())));
    QTRY_VERIFY2(figuresOf(window).contains(QStringLiteral("loss scale")),
                 qPrintable(figuresOf(window)));
    QVERIFY2(figuresOf(window).contains(words), qPrintable(figuresOf(window)));
    for (int lane = 1; lane < lanes; ++lane) {
        const QRegularExpression told(QStringLiteral("\\b%1 [^A-F]*2\\^").arg(QChar(u'A' + lane)));
        QVERIFY2(told.match(figuresOf(window)).hasMatch(), qPrintable(figuresOf(window)));
    }
    QVERIFY(figures->sizeHint().width() <= figures->width());
    const auto* page = window.findChild<QWidget*>(QStringLiteral("page"));
    QTRY_COMPARE(page->size(), size); // nothing is pushed out of sight
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_VERIFY(headline->width() <= window.plots().width());
}

/// "paused, 15 steps/s" takes more room than "15 steps/s", and the figures make it.
void TestPresentedFigures::stateCutsNoFigures() {
    FigureStrip strip;
    const QString speeds = QStringLiteral("A 120 steps/s, B 240 steps/s");
    strip.showFigures(nullptr, {}, 370, speeds);
    strip.showState(QStringLiteral("15 steps/s"));
    strip.resize(100, strip.sizeHint().height());
    strip.show();
    const auto* figures = strip.findChild<QLabel*>(QStringLiteral("largeFigures"));
    while (!figures->text().contains(speeds) && strip.width() < 4000)
        strip.resize(strip.width() + 4, strip.height()); // until they just fit
    QVERIFY(figures->text().contains(speeds));
    strip.showState(QStringLiteral("paused in the middle, 15 steps/s"));
    QVERIFY2(!figures->text().contains(speeds), qPrintable(figures->text()));
    QVERIFY(figures->sizeHint().width() <= figures->width());
    strip.showState(QStringLiteral("15 steps/s"));
    QVERIFY(figures->text().contains(speeds));
}

/// Behind E, a button says how the figures come back to the newest step, and takes no figure's
/// room.
void TestPresentedFigures::leadsBackToTheNewestStep() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 40);
    present(window);
    auto* newest = window.findChild<QToolButton*>(QStringLiteral("presentNewestStep"));
    QVERIFY(newest && !newest->isVisible());
    const auto* figures = window.findChild<QLabel*>(QStringLiteral("largeFigures"));
    for (const bool byKey : {false, true}) {
        QTest::keyClick(&window, Qt::Key_E);
        QTRY_VERIFY2(figuresOf(window).startsWith(QStringLiteral("Step 1 ")),
                     qPrintable(figuresOf(window)));
        QVERIFY(newest->isVisible());
        QVERIFY2(newest->text().contains(QStringLiteral("(F)")), qPrintable(newest->text()));
        QVERIFY(figures->sizeHint().width() <= figures->width());
        if (byKey)
            QTest::keyClick(&window, Qt::Key_F);
        else
            newest->click();
        QTRY_VERIFY2(figuresOf(window).startsWith(QStringLiteral("Step 40")),
                     qPrintable(figuresOf(window)));
        QVERIFY(!newest->isVisible() && window.plots().following());
    }
}

/// In the shortest form, too, a scale that is no power of two has all of its digits. The past of a
/// fork is that of its parent, which may have no scale.
void TestPresentedFigures::scalesAreWrittenAsInThePlots() {
    FedRun fed;
    const QStringList titles{QStringLiteral("fp32"), QStringLiteral("amp-fp16")};
    fed.start(titles, {false, true, true});
    std::vector<StepRecord> rows(2);
    rows[0].step = rows[1].step = 3;
    rows[0].scale = 1;
    rows[1].lane = 1;
    rows[1].scale = 12621775;
    fed.append(rows, {});
    RunBatch fork;
    fork.lanes.push_back({.name = "amp-fp16-2", .title = "fork", .parent = 0, .forkStep = 3});
    fed.run->append(std::move(fork));
    FigureStrip strip;
    strip.show();
    const auto* figures = strip.findChild<QLabel*>(QStringLiteral("largeFigures"));
    bool barest = false;
    for (int width = 1600; width > 0; width -= 5) {
        strip.resize(width, strip.sizeHint().height());
        strip.showFigures(fed.run.get(), titles + QStringList{QStringLiteral("fork")},
                          std::nullopt);
        const QString text = figures->text();
        if (!text.contains(u'B')) break; // the step alone
        QVERIFY2(text.contains(QStringLiteral("12621775")), qPrintable(text));
        QVERIFY2(!text.contains(QStringLiteral("2^0")), qPrintable(text));
        barest = barest || !text.contains(QStringLiteral("loss scale"));
    }
    QVERIFY(barest);
}

/// Nor does a fork have any before it begins, whatever its parent had then.
void TestPresentedFigures::forksHaveNoFiguresBeforeTheyBegin() {
    FedRun fed;
    const QStringList titles{QStringLiteral("fp32"), QStringLiteral("amp-fp16")};
    fed.start(titles, {false, true, true});
    const auto train = [&fed](int64_t step, size_t lanes) {
        std::vector<StepRecord> rows(lanes);
        for (size_t lane = 0; lane < lanes; ++lane) {
            rows[lane].step = step;
            rows[lane].lane = static_cast<int>(lane);
            rows[lane].scale = lane == 0 ? 1.0F : 1024.0F;
        }
        fed.append(rows, {});
    };
    train(1, 2);
    RunBatch fork;
    fork.lanes.push_back({.name = "amp-fp16-2", .title = "fork", .parent = 1, .forkStep = 1});
    fed.run->append(std::move(fork));
    train(2, 3);
    FigureStrip strip;
    strip.resize(1600, strip.sizeHint().height());
    strip.show();
    const auto* figures = strip.findChild<QLabel*>(QStringLiteral("largeFigures"));
    for (const qint64 step : {1, 2}) {
        strip.showFigures(fed.run.get(), titles + QStringList{QStringLiteral("fork")}, step);
        QVERIFY2(figures->text().contains(QStringLiteral("B amp")), qPrintable(figures->text()));
        QCOMPARE(figures->text().contains(QStringLiteral("C fork")), step == 2);
    }
}

/// One large picture gives way where its plots would be a narrow strip.
void TestPresentedFigures::plotsBesideGradientsAreWide() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 5);
    present(window);
    window.resize(1280, 800);
    window.findChild<CompareView*>()->setAlone(true);
    const auto* centre = qobject_cast<const QSplitter*>(window.plots().parentWidget());
    QTRY_COMPARE(centre->orientation(), Qt::Horizontal);
    QTest::keyClick(&window, Qt::Key_G);
    QTRY_COMPARE(centre->orientation(), Qt::Vertical);
    QTRY_VERIFY2(window.plots().width() > 700, qPrintable(QString::number(window.plots().width())));
    QTest::keyClick(&window, Qt::Key_G);
    QTRY_COMPARE(centre->orientation(), Qt::Horizontal);
}

/// Messages are seen in the presentation, too, and never two at once after it.
void TestPresentedFigures::tellsWhatWasSaved() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 5);
    present(window);
    const auto* message = window.findChild<QLabel*>(QStringLiteral("presentationMessage"));
    const auto* state = window.findChild<QLabel*>(QStringLiteral("state"));
    QVERIFY(message && !message->isVisible());
    QTest::keyClick(&window, Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(message->isVisible());
    QCOMPARE(message->text(), window.statusBar()->currentMessage());
    QVERIFY2(message->text().contains(QStringLiteral("opied")), qPrintable(message->text()));
    QVERIFY(window.rect().contains(message->geometry()));
    QVERIFY(message->fontMetrics().height() > window.fontMetrics().height());
    window.statusBar()->clearMessage(); // as it does after a few seconds
    QVERIFY(!message->isVisible());
    window.statusBar()->showMessage(QStringLiteral("Saved as plots.svg"));
    QVERIFY(message->isVisible());
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_VERIFY(window.statusBar()->height() > 0);
    QVERIFY(!message->isVisible());
    QVERIFY(!state->isVisible()); // whose place the message has
    window.statusBar()->clearMessage();
    QVERIFY(state->isVisible());
}

/// A message stands in place of the sentence: axes and legends stay in sight.
void TestPresentedFigures::messagesCoverNoFigure() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 5);
    present(window);
    const auto* message = window.findChild<QLabel*>(QStringLiteral("presentationMessage"));
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    const auto placeOf = [&window](const QWidget& part) {
        return QRect(part.mapTo(&window, QPoint()), part.size());
    };
    for (const QSize size : {QSize(1280, 720), QSize(1920, 1080)}) {
        window.resize(size);
        window.statusBar()->showMessage(QStringLiteral("Saved as plots.svg"));
        QTRY_COMPARE(message->geometry(), placeOf(*headline));
        QVERIFY(message->isVisible());
        QVERIFY(message->height() >= message->fontMetrics().height() + 2 * message->frameWidth());
        QTRY_VERIFY(!message->geometry().intersects(placeOf(window.plots())));
        QTRY_VERIFY(!message->geometry().intersects(placeOf(*window.findChild<CompareView*>())));
        QTRY_VERIFY(!message->geometry().intersects(placeOf(*window.findChild<FigureStrip*>())));
    }
}

/// What the operator was told before takes no room from the figures, and what is told meanwhile is
/// told once.
void TestPresentedFigures::noticesWait() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 5);
    auto* banner = window.findChild<Banner*>();
    banner->showNotice(QStringLiteral("Saved runs opened: 4."));
    present(window);
    QVERIFY(!banner->isVisible());
    banner->showNotice(QStringLiteral("Another one."));
    QVERIFY(!banner->isVisible());
    QCOMPARE(window.statusBar()->currentMessage(), QStringLiteral("Another one."));
    banner->showText(QStringLiteral("It went wrong."));
    QVERIFY(banner->isVisible());
    QVERIFY(banner->fontMetrics().height() > window.fontMetrics().height());
    banner->dismiss();
    banner->showNotice(QStringLiteral("A third one."));
    QCOMPARE(window.statusBar()->currentMessage(), QStringLiteral("A third one."));
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_VERIFY(window.statusBar()->height() > 0);
    QVERIFY(!banner->isVisible());
    banner->showNotice(QStringLiteral("Saved runs opened: 4."));
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_VERIFY(!banner->isVisible());
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_VERIFY(banner->isVisible());
    QCOMPARE(banner->text(), QStringLiteral("Saved runs opened: 4."));
}

/// R leads to steps that are skipped at once: what it says covers none of their sentences.
void TestPresentedFigures::noticesMakeWay() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 20);
    present(window);
    const auto* message = window.findChild<QLabel*>(QStringLiteral("presentationMessage"));
    QTest::keyClick(&window, Qt::Key_R);
    QTRY_VERIFY2(message->isVisible() && message->text().startsWith(QStringLiteral("Reset.")),
                 qPrintable(message->text()));
    window.shown().setPace(4);
    window.setStopStep(100);
    QTest::keyClick(&window, Qt::Key_Space);
    QTRY_VERIFY(!message->isVisible()); // it would stay for 8 s
    window.statusBar()->showMessage(QStringLiteral("Saved as plots.svg"));
    QVERIFY(message->isVisible());
    QTRY_VERIFY(!message->isVisible()); // the next step is skipped
    window.pause();
    window.statusBar()->showMessage(QStringLiteral("Saved as plots.svg"));
    QVERIFY(message->isVisible());
    QTest::keyClick(&window, Qt::Key_E); // asks for a sentence
    QVERIFY(!message->isVisible());
}

/// What takes two lines has them: the sentence that it covers has, too.
void TestPresentedFigures::noticesAreWhole() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 5);
    present(window);
    window.resize(1280, 720);
    const QString text = QStringLiteral(
        "Reset. Shift+R brings back the run that trained to step 68. Loss scales that were set by "
        "hand are gone; the settings stay as they are.");
    window.statusBar()->showMessage(text);
    const auto* message = window.findChild<QLabel*>(QStringLiteral("presentationMessage"));
    QTRY_COMPARE(message->width(), window.findChild<QLabel*>(QStringLiteral("headline"))->width());
    QTRY_VERIFY2(message->text().contains(u'\n'), qPrintable(message->text()));
    QCOMPARE(message->text().simplified(), text);
    QVERIFY(message->sizeHint().height() <= message->height());
    QVERIFY(message->sizeHint().width() <= message->width());
}

/// The pointer reads figures; the event that is told stays the pinned one until a mark is clicked.
void TestPresentedFigures::pointingKeepsTheSentence() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 40);
    present(window);
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    const auto tells = [headline](const char* step) {
        return headline->toolTip().contains(QLatin1String(step));
    };
    QTest::keyClick(&window, Qt::Key_E);
    QTest::keyClick(&window, Qt::Key_E);
    QTRY_VERIFY2(tells("Step 2 skipped"), qPrintable(headline->toolTip()));
    const QCPGraph* marks = graphNamed(window.plots(), QStringLiteral("overflow/B"));
    QVERIFY(marks);
    QCustomPlot& plot = plotOf(window.plots());
    const auto pointAt = [&](double step, bool clicks) {
        const QPointF place(marks->keyAxis()->coordToPixel(step),
                            marks->valueAxis()->coordToPixel(marks->data()->at(0)->value));
        for (const QEvent::Type type :
             {QEvent::MouseMove, QEvent::MouseButtonPress, QEvent::MouseButtonRelease}) {
            const bool moves = type == QEvent::MouseMove;
            if (!moves && !clicks) continue;
            QMouseEvent event(
                type, place, plot.mapToGlobal(place), moves ? Qt::NoButton : Qt::LeftButton,
                type == QEvent::MouseButtonPress ? Qt::LeftButton : Qt::NoButton, Qt::NoModifier);
            QApplication::sendEvent(&plot, &event);
        }
    };
    for (const int step : {9, 25}) { // with an event of its own, and without
        pointAt(step, false);
        const QString figures = QStringLiteral("Step %1 ").arg(step);
        QTRY_VERIFY2(figuresOf(window).startsWith(figures), qPrintable(figuresOf(window)));
        QVERIFY2(tells("Step 2 skipped"), qPrintable(headline->toolTip()));
    }
    pointAt(9, true);
    QTRY_VERIFY2(tells("Step 9 skipped"), qPrintable(headline->toolTip()));
    QCOMPARE(window.plots().pinnedStep(), std::optional<qint64>(9));
}

/// Where one points or clicks, in letters that are read from afar.
void TestPresentedFigures::figuresExplainThemselves() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 5);
    auto* figures = window.findChild<QLabel*>(QStringLiteral("largeFigures"));
    present(window);
    window.resize(1280, 800);
    QTRY_VERIFY2(figures->toolTip().contains(QStringLiteral("multiplied by the loss scale")),
                 qPrintable(figures->toolTip()));
    QTextDocument tip;
    tip.setHtml(figures->toolTip());
    const QFont letters = QTextCursor(tip.begin()).charFormat().font();
    QVERIFY2(QFontInfo(letters).pixelSize() > 1.3 * QFontInfo(window.font()).pixelSize(),
             qPrintable(figures->toolTip()));
    QToolTip::hideText();
    QTest::mouseClick(figures, Qt::LeftButton);
    QTRY_COMPARE(QToolTip::text(), figures->toolTip());
    QToolTip::hideText();
}

/// The letters and cells of figures in dialogs are as large as those of the plots.
void TestPresentedFigures::mapsAreRead() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 5);
    present(window);
    window.resize(1920, 1080);
    for (QAction* action : window.findChildren<QAction*>())
        if (action->text() == QString::fromUtf8("&Map of two settings…")) action->trigger();
    auto* dialog = window.findChild<GridDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    const int line = window.fontMetrics().height();
    const auto lettersOf = [dialog] {
        QList<int> heights;
        for (const QWidget* each : dialog->figure())
            heights << each->fontMetrics().height();
        return heights;
    };
    for (const int letters : lettersOf())
        QVERIFY2(letters > 1.5 * line, qPrintable(QString::number(letters)));
    QVERIFY(dialog->findChild<QLineEdit*>()->fontMetrics().height() < 1.2 * line);
    auto* cell = dialog->findChild<QLabel*>(QStringLiteral("gridCell"));
    QVERIFY(dialog->figure().contains(cell)); // the figures of a cell are read out, too
    QVERIFY(cell->minimumHeight() >= 3 * cell->fontMetrics().lineSpacing());
    QVERIFY(dialog->height() > 0.8 * window.height());
    window.findChild<QToolButton*>(QStringLiteral("leavePresentation"))->click();
    for (const int letters : lettersOf())
        QCOMPARE(letters, line);
    QCOMPARE(cell->minimumHeight(), 3 * cell->fontMetrics().lineSpacing());
    QVERIFY(dialog->height() < 0.8 * 1080);
}

void TestPresentedFigures::numbersAndTypesAreRead_data() {
    QTest::addColumn<QString>("entry");
    QTest::newRow("number") << QString::fromUtf8("A &number in 16 or 8 bits…");
    QTest::newRow("types") << QStringLiteral("Number types &by layer");
}

/// Dialogs that are open when the presentation begins have large letters, too, and the key that
/// begins and ends it.
void TestPresentedFigures::numbersAndTypesAreRead() {
    QFETCH(const QString, entry);
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.resize(1920, 1080);
    for (QAction* action : window.findChildren<QAction*>())
        if (action->text() == entry) action->trigger();
    auto* dialog = window.findChild<FigureDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    QVERIFY(test::isActive(dialog));
    const auto lettersOf = [dialog] {
        QList<int> heights;
        for (const QWidget* each : dialog->figure()) {
            heights << each->fontMetrics().height();
            for (const QLabel* text : each->findChildren<QLabel*>())
                heights << text->fontMetrics().height();
        }
        return heights;
    };
    const QList<int> usual = lettersOf();
    const QSize before = dialog->size();
    QTest::keyClick(dialog, Qt::Key_F5);
    QTRY_VERIFY(window.findChild<FigureStrip*>()->isVisible());
    QTRY_COMPARE(window.size(), window.screen()->size());
    window.resize(1920, 1080);
    for (qsizetype i = 0; i < usual.size(); ++i)
        QTRY_VERIFY2(lettersOf()[i] > 1.5 * usual[i], qPrintable(QString::number(i)));
    if (const auto* table = dialog->findChild<QTableView*>())
        QVERIFY(table->rowHeight(0) > table->fontMetrics().height());
    QVERIFY(dialog->height() > before.height() || dialog->width() > before.width());
    QTest::keyClick(dialog, Qt::Key_F5);
    QTRY_VERIFY(!window.findChild<FigureStrip*>()->isVisible());
    QCOMPARE(lettersOf(), usual);
    QCOMPARE(dialog->size(), before);
}

/// The first lesson tells what replaces the list of events and the cards: marks to click, and a
/// menu that keys open although its bar is hidden.
void TestPresentedFigures::theLessonsWaysAreThere() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    QVERIFY(test::isActive(&window));
    trainTo(window, 40);
    present(window);
    window.plots().refresh();
    auto& plot = plotOf(window.plots());
    plot.replot(QCustomPlot::rpImmediateRefresh);
    const QCPGraph* marks = graphNamed(window.plots(), QStringLiteral("overflow/B"));
    QVERIFY(marks && !marks->data()->isEmpty());
    const QCPGraphData& first = *marks->data()->at(0);
    QTest::mouseClick(&plot, Qt::LeftButton, {},
                      marks->coordsToPixels(first.key, first.value).toPoint());
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QTRY_VERIFY2(headline->toolTip().contains(QStringLiteral("Step 1 skipped")),
                 qPrintable(headline->toolTip()));

    QTest::keyClick(&window, Qt::Key_E, Qt::AltModifier);
    QTRY_VERIFY(qobject_cast<QMenu*>(QApplication::activePopupWidget()));
    QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_T);
    const auto opens = [] {
        const auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        return menu && menu->title() == QStringLiteral("Se&t the loss scale");
    };
    QTRY_VERIFY(opens());
    QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Return);
    QTRY_VERIFY(window.findChild<ScaleDialog*>());
    auto* dialog = window.findChild<ScaleDialog*>();
    QTest::keyClicks(dialog->findChild<QLineEdit*>(), QStringLiteral("2^7"));
    QTest::keyClick(dialog, Qt::Key_Return);
    QTRY_VERIFY(window.gradients().isVisible()); // which show what a scale does
    window.play();                               // Continue
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 40, kPatience);
    const auto takesTheScale = [&window] {
        const RunSnapshot now = window.shown().run()->now();
        for (const Event& event : now.events())
            if (event.kind == EventKind::Edit && event.step == 41 && event.lane == 1) return true;
        return false;
    };
    QTRY_VERIFY(takesTheScale());
}

} // namespace tst_presented_figures

QTEST_MAIN(tst_presented_figures::TestPresentedFigures)
#include "tst_presented_figures.moc"
