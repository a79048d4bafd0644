// The panels beside the plots except the settings (tst_setup_panel; here is their first layout) and
// the bar at the top (tst_transport_bar): loss scale and banner show what the models say, and every
// control has a name for screen readers. Events: tst_event_panel.
#include "tests/fake_cuda/fake_run.h"
#include "tests/support/fed_run.h"
#include "tests/support/plot_parts.h"
#include "tests/support/shown_window.h"
#include "ui/look/owned.h"
#include "ui/panels/banner.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/figure_label.h"
#include "ui/panels/memory_bar.h"
#include "ui/panels/message_bar.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QTextDocument>
#include <QToolButton>
#include <QToolTip>

#include <algorithm>

namespace tst_panels {

using namespace halfscope;

namespace {

/// Returns the names of controls without an accessible name or a text.
QStringList nameless(QWidget& root) {
    QStringList found;
    for (QWidget* widget : root.findChildren<QWidget*>()) {
        const bool control = qobject_cast<QAbstractButton*>(widget) ||
                             qobject_cast<QComboBox*>(widget) ||
                             qobject_cast<QAbstractSpinBox*>(widget) ||
                             qobject_cast<QLineEdit*>(widget) || qobject_cast<QTableView*>(widget);
        // parts of Qt's own controls
        if (!control || widget->objectName().startsWith(QLatin1String("qt_"))) continue;
        const auto* button = qobject_cast<QAbstractButton*>(widget);
        const bool inTable = qobject_cast<QTableView*>(widget->parentWidget());
        const bool named =
            !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty());
        if (!named && !inTable)
            found << QString::fromLatin1(widget->metaObject()->className()) + u' ' +
                         widget->objectName();
    }
    return found;
}

} // namespace

class TestPanels : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void scalerCards();
    void skippedUpdatesAreCounted();
    void longScaleMakesNoCardWider();
    void cardKeepsItsHeight();
    void memoryHasThreeDigits_data();
    void memoryHasThreeDigits();
    void memoryByCause();
    void memoryOfHalfPrecision();
    void intervalBelowTheCleanSteps();
    void copyingNothingIsNoFault();
    void largeStepsAreNotCutOff();
    void bannerComesAndGoes();
    void bannerHoldsNoticesBack();
    void bannerOffersWhatToDo();
    void bannerKeepsItsOffer();
    void longMessagesEndBetweenWords();
    void firstLayoutOfSettingsStays();
    void everyControlHasAName();
};

void TestPanels::scalerCards() {
    ScalerPanel panel;
    FedModel run;
    run.start({"fp32", "amp-fp16"});
    run.setGrowthInterval(1, 2000);
    MemoryUse memory;
    memory.peakBytes = size_t{3} << 19;
    panel.setLanes({{false, {}, {}}, {true, memory, QStringLiteral("Mixed.")}});
    StepRecord b;
    b.step = 1000;
    b.lane = 1;
    b.scale = 65536;
    b.growthTracker = 500;
    b.skippedSoFar = 7;
    run.append(std::vector{b}, {});
    panel.refresh(run);
    QStringList texts;
    for (QLabel* label : panel.findChildren<QLabel*>())
        texts << label->text();
    for (const char* part : {"A fp32", "B amp-fp16", "no loss scale", "1.5 MiB", "65536 = 2^16",
                             "7 (0.70 %)", "500 of 2000"})
        QVERIFY2(texts.contains(QString::fromLatin1(part)), qPrintable(texts.join(u'|')));
    const auto bars = panel.findChildren<QProgressBar*>();
    QCOMPARE(bars.size(), 1);
    QCOMPARE(bars.front()->value(), 500);
    QCOMPARE(bars.front()->maximum(), 2000);
    // the skips' number says whether they are normal
    const auto tipOfSkips = [&panel, &run] {
        panel.refresh(run);
        QString tip;
        for (const auto* figure : panel.findChildren<FigureLabel*>())
            if (figure->toolTip().startsWith(QStringLiteral("Steps with gradients"))) {
                tip = figure->toolTip();
            }
        return tip;
    };
    QVERIFY2(tipOfSkips().endsWith(QStringLiteral(
                 "the share of all steps.\n\n7 of 1000 steps were skipped, before step 1000.")),
             qPrintable(tipOfSkips()));
    ++b.step;
    b.flags = kSkipped | kBackedOff;
    run.append(std::vector{b}, {});
    QVERIFY2(
        tipOfSkips().contains(QStringLiteral("\n\n8 of 1001 steps were skipped. That is normal")),
        qPrintable(tipOfSkips()));
    int pointedAt = 0; // the name and the figure
    for (const auto* label : panel.findChildren<QLabel*>())
        pointedAt += label->toolTip() == tipOfSkips();
    QCOMPARE(pointedAt, 2);
}

/// Where the gradients of several steps are added up, the share is that of the updates.
void TestPanels::skippedUpdatesAreCounted() {
    ScalerPanel panel;
    FedRun fed;
    RunConfig config;
    config.gradients.accumulate = 4;
    fed.start({QStringLiteral("amp-fp16")}, {}, config);
    RunModel run;
    run.setRun(fed.run);
    panel.setLanes({{true, {}, {}}});
    StepRecord record;
    record.step = 1000;
    record.scale = 65536;
    record.skippedSoFar = 7;
    fed.append(std::vector{record}, {});
    run.refresh();
    panel.refresh(run);
    const auto figures = panel.findChildren<FigureLabel*>();
    QVERIFY(std::any_of(figures.begin(), figures.end(), [](const FigureLabel* each) {
        return each->text() == QStringLiteral("7 (2.80 %)") &&
               each->toolTip().contains(QStringLiteral("the share of all updates.\n\n7 of 250 "));
    }));
}

/// A long scale takes its short form rather than pushing the figures under the scroll bar.
void TestPanels::longScaleMakesNoCardWider() {
    ScalerPanel panel;
    FedModel run;
    run.start({"amp-fp16"});
    panel.setLanes({{true, 0, {}}});
    panel.show();
    const auto widthAt = [&](float scale) {
        StepRecord record;
        record.step = run.step() + 1;
        record.scale = scale;
        run.append(std::vector{record}, {});
        panel.refresh(run);
        QCoreApplication::processEvents();
        return panel.widget()->minimumSizeHint().width();
    };
    const auto shows = [&panel](const char* text) {
        const auto labels = panel.findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(), [text](const QLabel* label) {
            return label->text() == QString::fromLatin1(text);
        });
    };
    panel.resize(600, 300);
    const int narrow = widthAt(2);
    QCOMPARE(widthAt(8388608), narrow);
    QVERIFY(shows("8388608 = 2^23"));
    panel.resize(narrow, 300);
    QCoreApplication::processEvents();
    QVERIFY(shows("2^23"));
    QVERIFY(panel.widget()->width() <= panel.viewport()->width());
    panel.resize(600, 300);
    QCoreApplication::processEvents();
    QVERIFY(shows("8388608 = 2^23"));
}

/// A card says what happened last in one line: the figures below must not move during the training.
void TestPanels::cardKeepsItsHeight() {
    ScalerPanel panel;
    panel.setLanes({{true, 0, {}}});
    panel.resize(280, 400);
    panel.show();
    FedModel run;
    run.start({"amp-fp16"});
    run.setGrowthInterval(0, 2000);
    panel.refresh(run);
    const int before = panel.contentHeight();
    Event event;
    event.kind = EventKind::Overflow;
    event.step = 123456;
    event.scaleBefore = 65536, event.scaleAfter = 32768;
    event.text = Message::data(
        "Step 123456 skipped: gradient of layers.12.running_something.weight reached inf "
        "at loss scale 65536 (2^16); the scale falls to 32768 (2^15).");
    run.append(std::vector{record(123456, 0, 0.5f)}, std::vector{event});
    panel.refresh(run);
    QCoreApplication::processEvents();
    QCOMPARE(panel.contentHeight(), before);
    const auto labels = panel.findChildren<QLabel*>();
    const auto said = std::find_if(labels.begin(), labels.end(), [](const QLabel* label) {
        return label->text().contains(QLatin1String("Overflow"));
    });
    QVERIFY(said != labels.end());
    QVERIFY2((*said)->toolTip().contains(QStringLiteral("running_something")),
             qPrintable((*said)->toolTip()));
}

void TestPanels::memoryHasThreeDigits_data() {
    QTest::addColumn<quint64>("bytes");
    QTest::addColumn<QString>("told");
    QTest::newRow("KiB") << quint64{512} << "0.5 KiB";
    QTest::newRow("under a MiB") << quint64{999} * 1024 << "999 KiB";
    QTest::newRow("four digits") << quint64{1000} * 1024 << "0.977 MiB";
    QTest::newRow("under a GiB") << (quint64{657} << 20) << "657 MiB";
    QTest::newRow("GiB") << (quint64{1300} << 20) << "1.27 GiB";
    QTest::newRow("many") << (quint64{141} << 30) << "141 GiB";
}

void TestPanels::memoryHasThreeDigits() {
    QFETCH(const quint64, bytes);
    QFETCH(const QString, told);
    ScalerPanel panel;
    MemoryUse memory;
    memory.peakBytes = static_cast<size_t>(bytes);
    panel.setLanes({{true, memory, {}}});
    QStringList texts;
    for (QLabel* label : panel.findChildren<QLabel*>())
        texts << label->text();
    QVERIFY2(texts.contains(told), qPrintable(texts.join(u'|')));
}

/// Each cause has a part as wide as its share; the pointer, the focus and a screen reader give the
/// figures, and there is one legend.
void TestPanels::memoryByCause() {
    MemoryUse memory;
    memory.peakBytes = 100 << 10;
    const auto set = [&memory](MemoryCause cause, size_t kib) {
        memory.peakByCause[static_cast<size_t>(cause)] = kib << 10;
    };
    set(MemoryCause::Parameters, 10);
    set(MemoryCause::Activations, 50);
    set(MemoryCause::Workspace, 25);
    set(MemoryCause::Inputs, 10);
    set(MemoryCause::OtherState, 5);
    ScalerPanel panel;
    panel.setLanes({{false, memory, {}}, {true, memory, {}}, {true, {}, {}}});
    panel.resize(280, 500);
    panel.show();
    const auto bars = panel.findChildren<MemoryBar*>();
    QCOMPARE(bars.size(), 2); // nothing is known about the third
    const auto legends = panel.findChildren<MemoryLegend*>();
    QCOMPARE(legends.size(), 1);
    QCOMPARE(legends[0]->accessibleDescription(),
             QStringLiteral("parameters, optimizer, activations, gradients, workspace, other"));
    MemoryBar& bar = *bars[1];
    QCOMPARE(bar.accessibleName(), QStringLiteral("Memory of lane B by cause"));
    QCOMPARE(bar.accessibleDescription(),
             QStringLiteral("parameters: 10 KiB (10 %)\noptimizer: 0 KiB (0 %)\n"
                            "activations: 50 KiB (50 %)\ngradients: 0 KiB (0 %)\n"
                            "workspace: 25 KiB (25 %)\nother: 15 KiB (15 %)"));
    QVERIFY(bar.toolTip().endsWith(bar.accessibleDescription()));
    QVERIFY(bar.focusPolicy() & Qt::TabFocus);
    const QImage image = bar.grab().toImage();
    const Colors colors = colorsFor(bar.palette());
    int activations = 0;
    for (int x = 0; x < image.width(); ++x)
        activations += image.pixelColor(x, image.height() / 2) == colors.run(2);
    QVERIFY2(std::abs(activations - image.width() / 2) <= 4,
             qPrintable(QStringLiteral("%1 of %2").arg(activations).arg(image.width())));
    panel.setLanes({{true, {}, {}}});
    QCOMPARE(panel.findChildren<MemoryLegend*>().size(), 0);
}

/// A small network in half precision needs more, where a reader expects half: the figure says why.
void TestPanels::memoryOfHalfPrecision() {
    MemoryUse memory;
    memory.peakBytes = 4096;
    for (const bool byCause : {false, true}) {
        memory.peakByCause[0] = byCause ? 4096 : 0;
        ScalerPanel panel;
        LaneFacts single, half;
        single.memory = half.memory = memory;
        half.half = true;
        panel.setLanes({single, half});
        QStringList tips;
        for (const FigureLabel* figure : panel.findChildren<FigureLabel*>())
            if (figure->toolTip().contains(QStringLiteral("can need more than in FP32")))
                tips << figure->toolTip();
        QCOMPARE(tips.size(), 1);
    }
}

/// PyTorch's scaler tests for equality: the card says so, and offers the other test.
void TestPanels::intervalBelowTheCleanSteps() {
    ScalerPanel panel;
    panel.resize(280, 400);
    panel.show();
    FedModel run;
    run.start({"amp-fp16"});
    run.setGrowthInterval(0, 33);
    panel.setLanes({{true, {}, {}}});
    StepRecord row;
    row.step = 305;
    row.growthTracker = 32;
    run.append(std::vector{row}, {});
    panel.refresh(run);
    const auto shown = [&panel](const char* name) {
        return panel.findChild<QWidget*>(QString::fromLatin1(name))->isVisible();
    };
    QVERIFY(!shown("stuck") && !shown("atLeast") && shown("setScale"));
    for (const int tracker : {33, 305}) { // 33: the next one is the 34th
        ++row.step;
        row.growthTracker = tracker;
        run.append(std::vector{row}, {});
        panel.refresh(run);
        QVERIFY(shown("stuck") && shown("atLeast"));
    }
    auto* label = panel.findChild<QLabel*>(QStringLiteral("stuck"));
    QCOMPARE(label->text(),
             QStringLiteral("PyTorch compares with ==: no growth before the next overflow"));
    QTRY_VERIFY(label->height() >= label->heightForWidth(label->width()));
    QSignalSpy chosen(&panel, &ScalerPanel::atLeastChosen);
    QTest::mouseClick(panel.findChild<QToolButton*>(QStringLiteral("atLeast")), Qt::LeftButton);
    QTRY_COMPARE(chosen.count(), 1);
    QCOMPARE(chosen.front().front().toInt(), 0);
    run.edit(
        [](RunConfig& config) { config.lanes[0].scaler.rules.growthTest = GrowthTest::AtLeast; });
    panel.refresh(run);
    QVERIFY(!shown("stuck") && !shown("atLeast"));
    run.edit(
        [](RunConfig& config) { config.lanes[0].scaler.rules.growthTest = GrowthTest::Exact; });
    panel.setLanes({{true, {}, {}, false}}); // of a saved run: nothing can be edited
    panel.refresh(run);
    QVERIFY(shown("stuck") && !shown("atLeast") && !shown("setScale"));
    QCOMPARE(panel.lanesForScale(), QStringList{QString()});
}

/// Ctrl+C in a list without a chosen row asks the model for an invalid index.
void TestPanels::copyingNothingIsNoFault() {
    QTest::failOnWarning(QRegularExpression(QStringLiteral("QModelIndex")));
    FedEvents model;
    EventPanel panel(model);
    panel.show();
    auto* table = panel.findChild<QTableView*>();
    QVERIFY(table);
    QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
    model.append(std::vector<Event>(3));
    QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
}

void TestPanels::largeStepsAreNotCutOff() {
    FedEvents model;
    EventPanel panel(model);
    panel.resize(280, 400);
    panel.show();
    std::vector<Event> events(3);
    events[2].step = 900'000'000;
    model.append(events);
    const QModelIndex newest = model.index(0, EventModel::StepColumn);
    QCOMPARE(newest.data().toString(), QLocale().toString(900'000'000));
    const QFontMetrics metrics(panel.table()->font());
    QVERIFY(panel.table()->columnWidth(EventModel::StepColumn) >=
            metrics.horizontalAdvance(newest.data().toString()) + 8);
}

void TestPanels::bannerComesAndGoes() {
    Banner banner;
    QVERIFY(banner.isHidden());
    banner.showText(QStringLiteral("<b>not markup</b>"));
    QVERIFY(banner.isVisible());
    QCOMPARE(banner.text(), QStringLiteral("<b>not markup</b>"));
    const Colors colors = colorsFor(QGuiApplication::palette());
    const auto edge = [&banner] {
        return banner.grab().toImage().pixelColor(1, banner.height() / 2);
    };
    QCOMPARE(edge().rgb(), colors.error.rgb());
    QTest::mouseClick(banner.findChild<QToolButton*>(), Qt::LeftButton);
    QVERIFY(banner.isHidden());
    banner.showNotice(QStringLiteral("It went well."));
    QCOMPARE(banner.text(), QStringLiteral("It went well."));
    QCOMPARE(edge().rgb(), colors.accent.rgb());
    banner.showText(QStringLiteral("It did not."));
    QCOMPARE(edge().rgb(), colors.error.rgb());
}

/// An audience sees errors, but no banner for notices: the earlier one is there afterwards, and
/// later ones are told elsewhere, once.
void TestPanels::bannerHoldsNoticesBack() {
    Banner banner;
    const QSignalSpy held(&banner, &Banner::toldElsewhere);
    banner.showNotice(QStringLiteral("Before"));
    banner.holdNoticesBack(true);
    QVERIFY(banner.isHidden());
    banner.holdNoticesBack(false);
    QVERIFY(banner.isVisible());
    banner.holdNoticesBack(true);
    banner.showNotice(QStringLiteral("Meanwhile"));
    QVERIFY(banner.isHidden());
    QCOMPARE(held.size(), 1);
    QCOMPARE(held[0][0].toString(), QStringLiteral("Meanwhile"));
    banner.holdNoticesBack(false);
    QVERIFY(banner.isVisible() && banner.text() == QStringLiteral("Before"));
    banner.dismiss();
    banner.holdNoticesBack(true);
    banner.showNotice(QStringLiteral("Meanwhile"));
    banner.holdNoticesBack(false);
    QVERIFY(banner.isHidden());
    banner.holdNoticesBack(true);
    banner.showText(QStringLiteral("It did not."));
    QVERIFY(banner.isVisible());
    banner.dismiss();
    banner.holdNoticesBack(false);
    QVERIFY(banner.isHidden()); // nothing waits
}

void TestPanels::bannerOffersWhatToDo() {
    Banner banner;
    banner.resize(400, 60);
    int taken = 0;
    const auto offer = [&] {
        banner.showText(QStringLiteral("Some of it fits. ").repeated(30));
        banner.offer(QStringLiteral("Take what fits"), QStringLiteral("Why"), [&] { ++taken; });
    };
    auto* button = banner.findChild<QPushButton*>();
    const auto* text = banner.findChild<QLabel*>();
    offer();
    QVERIFY(!button->isHidden());
    QCOMPARE(button->text(), QStringLiteral("Take what fits"));
    const int beside = text->minimumHeight();
    banner.showText(banner.text());
    QVERIFY(button->isHidden());             // it went with its text
    QVERIFY(text->minimumHeight() < beside); // and left its room
    offer();
    QTest::mouseClick(banner.findChild<QToolButton*>(), Qt::LeftButton);
    QVERIFY(banner.isHidden() && taken == 0);
    offer();
    QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(banner.isHidden());
    QCOMPARE(taken, 1);
}

/// The button is about the same cause as the sentence. An audience sees neither of a notice.
void TestPanels::bannerKeepsItsOffer() {
    Banner banner;
    banner.resize(400, 60);
    QString words = QStringLiteral("It waits.");
    int taken = 0;
    auto* button = banner.findChild<QPushButton*>();
    QVERIFY(banner.showNotice(words, [&words] { return words; }));
    banner.offer(QStringLiteral("Continue"), QStringLiteral("Why"), [&] { ++taken; });
    words.clear();
    banner.lookAgain();
    QVERIFY(banner.isHidden());
    banner.holdNoticesBack(true);
    words = QStringLiteral("Two wait.");
    banner.lookAgain();
    QVERIFY(banner.isHidden());
    banner.holdNoticesBack(false);
    QVERIFY(banner.isVisible() && !button->isHidden());
    QCOMPARE(banner.text(), words);
    QCOMPARE(button->text(), QStringLiteral("Continue"));
    words = QStringLiteral("Three wait.");
    QVERIFY(test::isActive(&banner));
    button->setFocus();
    QVERIFY(button->hasFocus());
    banner.lookAgain();
    QCOMPARE(banner.text(), words);
    QVERIFY(button->hasFocus()); // a key would have gone elsewhere
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(taken, 1);
    banner.lookAgain();
    QVERIFY(banner.isHidden()); // it was dismissed
}

/// A message was cut within a letter, and ran into what stands beside it.
void TestPanels::longMessagesEndBetweenWords() {
    MessageBar bar;
    bar.show();
    auto* beside = make<QLabel>(QStringLiteral("AMD EPYC (2 threads)"), &bar);
    bar.addPermanentWidget(beside);
    bar.setSizeGripEnabled(false); // as in the window
    bar.resize(500, 30);
    QVERIFY(test::isActive(&bar));
    QTRY_VERIFY(beside->x() > 200);
    const QString brief = QStringLiteral("Saved.");
    bar.showMessage(brief);
    QCOMPARE(bar.shown(), brief);
    const QString text =
        QStringLiteral("Saved the run after step 2,024: ")
            .append(QStringLiteral("many words follow here ").repeated(9).trimmed());
    bar.showMessage(text);
    QCOMPARE(bar.currentMessage(), text);
    const QString shown = bar.shown();
    QVERIFY2(shown.endsWith(QChar(0x2026)), qPrintable(shown));
    QVERIFY2(text.startsWith(shown.chopped(1) + u' '), qPrintable(shown));
    QVERIFY(bar.fontMetrics().horizontalAdvance(shown) < beside->x());
    const QImage with = bar.grab().toImage();
    const QRect gap(beside->x() - 8, 0, 6, bar.height());
    bar.clearMessage();
    QCOMPARE(with.copy(gap), bar.grab().toImage().copy(gap));
    bar.showMessage(text);
    QHelpEvent asks(QEvent::ToolTip, QPoint(9, 9), bar.mapToGlobal(QPoint(9, 9)));
    QCoreApplication::sendEvent(&bar, &asks);
    QTextDocument tip;
    tip.setHtml(QToolTip::text());
    QCOMPARE(tip.toPlainText().simplified(), text);
    QToolTip::hideText();
}

/// No setting moves once the panel has been painted.
void TestPanels::firstLayoutOfSettingsStays() {
    ConfigModel model;
    SetupPanel panel(model);
    panel.resize(320, 400);
    panel.show();
    const QWidget* settings = panel.findChild<QScrollArea*>()->widget();
    const int height = settings->height();
    QTest::qWait(50);
    QCOMPARE(settings->height(), height);
}

void TestPanels::everyControlHasAName() {
    ConfigModel model;
    SetupPanel setup(model);
    TransportBar transport;
    FedEvents events;
    EventPanel eventPanel(events);
    for (QWidget* panel : {static_cast<QWidget*>(&setup), static_cast<QWidget*>(&transport),
                           static_cast<QWidget*>(&eventPanel)})
        QVERIFY2(nameless(*panel).isEmpty(),
                 qPrintable(nameless(*panel).join(QStringLiteral(", "))));
}

} // namespace tst_panels

QTEST_MAIN(tst_panels::TestPanels)
#include "tst_panels.moc"
