// How the plots are laid out: marks at the edges, labels of steps, headers that say as much as
// there is room for, and sizes too small for anything.
#include "tests/support/shown_plots.h"
#include "ui/plots/plots_menu.h"
#include "ui/plots/readout_item.h"

#include <QApplication>
#include <QMouseEvent>
#include <QToolButton>
#include <QToolTip>
#include <QtTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace tst_plot_layout {

using namespace halfscope;

namespace {
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
} // namespace

class TestPlotLayout : public QObject, private ShownPlots {
    Q_OBJECT
private slots:
    void init() { makeStack(); }
    void marksAtTheEdgesAreWhole();
    void stepLabelsNeverTouch();
    void littleRoomFoldsPlots();
    void speedFoldsBeforeSkips();
    void foldedPlotsAreGone();
    void samplesAreDashedAtEverySize();
    void samplesAreDashedLikeTheirCurves();
    void foldedPlotsAreToldAndCanBeChosen();
    void hiddenPlotsGiveTheirRoom();
    void lossStays();
    void menuChoosesPlots();
    void laneWithoutScaleHasNone();
    void headersCutNoNumber();
    void headersNameLanesAlike();
    void sixLanesFitAtTheUsualSize();
    void curvesCanBeReadInLittleRoom();
    void readouts();
    void headersExplainThemselves();
    void marksAreExplained();
    void audiencesSeeLargeMarks();
    void audiencesSeeTheScaleOfManyLanes();
    void tinySizes();

private:
    ReadoutItem* header(int plot) const;
};

ReadoutItem* TestPlotLayout::header(int plot) const {
    for (int i = 0; i < plotOf(*m_stack).itemCount(); ++i)
        if (auto* item = qobject_cast<ReadoutItem*>(plotOf(*m_stack).item(i)); item && plot-- == 0)
            return item;
    return nullptr;
}

void TestPlotLayout::marksAtTheEdgesAreWhole() {
    constexpr double kHalfAMark = 5; // pixels
    m_stack->append(1, record(5000, 1, 0.1f));
    m_stack->addEvent(eventOf(EventKind::Overflow, 1, 1));
    m_stack->addEvent(eventOf(EventKind::Overflow, 5000, 1));
    for (const int width : {260, 700, 1600}) {
        show(width);
        const QCPAxis* axis = graphNamed(*m_stack, QStringLiteral("Loss/A fp32"))->keyAxis();
        const QRect rect = axis->axisRect()->rect();
        QVERIFY(axis->coordToPixel(1) - rect.left() >= kHalfAMark);
        QVERIFY(rect.right() - axis->coordToPixel(5000) >= kHalfAMark);
    }
}

void TestPlotLayout::stepLabelsNeverTouch() {
    m_stack->append(1, record(300, 1, 0.5f));
    int before = 0;
    for (const int width : {230, 300, 400, 700, 1400}) {
        show(width);
        QCustomPlot& plot = plotOf(*m_stack);
        const QCPAxis* axis = plot.axisRect(plot.axisRectCount() - 1)->axis(QCPAxis::atBottom);
        const QList<double> ticks = axis->tickVector();
        const QStringList labels(axis->tickVectorLabels());
        QVERIFY(ticks.size() > 1 && ticks.size() >= before);
        before = static_cast<int>(ticks.size());
        const QFontMetrics metrics(axis->tickLabelFont());
        for (qsizetype i = 1; i < ticks.size(); ++i) {
            const double apart = axis->coordToPixel(ticks[i]) - axis->coordToPixel(ticks[i - 1]);
            const int needed = metrics.horizontalAdvance(labels[i - 1] + u' ' + labels[i]) / 2;
            QVERIFY2(apart > needed, qPrintable(QString::number(width)));
        }
    }
    QVERIFY(before >= 4);
}

/// Every drawn plot is high enough for a label; with less room there are fewer plots, never none.
void TestPlotLayout::littleRoomFoldsPlots() {
    for (int i = 1; i <= 100; ++i)
        m_stack->append(1, record(i, 1, 0.5f));
    int before = 0;
    QCOMPARE(m_stack->minimumSizeHint().height(), 200);
    for (const int height : {200, 220, 240, 260, 300, 420, 800}) {
        m_stack->setMinimumSize(1, 1);
        show(500, height);
        QCustomPlot& plot = plotOf(*m_stack);
        const int line = QFontMetrics(plot.font()).height();
        int open = 0;
        for (int i = 0; i < 4; ++i) {
            if (!plot.axisRect(i)->visible()) continue;
            ++open;
            if (i > 0) QVERIFY(plot.axisRect(i)->rect().height() >= line - 2);
        }
        QVERIFY(open >= before);
        before = open;
        if (height <= 220) QVERIFY(open < 4);
        QVERIFY(plot.axisRect(0)->visible());
        for (int i = 0; i < 4; ++i) {                             // headers lie one below the other
            if (plot.axisRect(i)->margins().top() == 0) continue; // it gave its room to curves
            const int apart = plot.axisRect(i + 1)->rect().top() - plot.axisRect(i)->rect().top();
            QVERIFY2(
                apart >= (i < 3 ? ReadoutItem::heightFor(plot.font()) : 1),
                qPrintable(
                    QStringLiteral("%1 pixels below plot %2 in %3").arg(apart).arg(i).arg(height)));
        }
    }
    QCOMPARE(before, 4);
}

/// The speed folds first beside the gradients, too: the plots are about skipped steps, and the
/// strip at the top also shows the speed.
void TestPlotLayout::speedFoldsBeforeSkips() {
    m_stack->append(1, record(1, 1, 0.5f));
    const auto open = [this](const char* curve) {
        const QString name = QLatin1String(curve) + QStringLiteral("/B amp-fp16");
        return graphNamed(*m_stack, name)->keyAxis()->axisRect()->visible();
    };
    m_stack->setMinimumSize(1, 1);
    for (const bool gradients : {false, true}) {
        m_stack->showGradients(gradients);
        bool alone = false;
        for (int height = 240; height <= 900; height += 4) {
            show(650, height);
            const bool skips = open("Skipped steps"), speed = open("Throughput (steps/s)");
            QVERIFY2(skips || !speed, qPrintable(QString::number(height)));
            alone = alone || (skips && !speed);
        }
        QVERIFY(alone);
        QVERIFY(open("Throughput (steps/s)"));
    }
}

/// A header without axes and curve would look like a broken plot. Its value is told nevertheless.
void TestPlotLayout::foldedPlotsAreGone() {
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {},
                      {Measure::LearningRate, Measure::GradientNorm});
    for (int i = 1; i <= 50; ++i)
        m_stack->append(1, record(i, 1, 0.5f));
    m_stack->setMinimumSize(1, 1);
    for (const bool gradients : {false, true}) {
        m_stack->showGradients(gradients);
        for (int height = 220; height <= 700; height += 16) {
            show(650, height);
            for (const QCPAxisRect* rect : plotOf(*m_stack).axisRects())
                QVERIFY2(rect->visible() || rect->margins().top() == 0,
                         qPrintable(QString::number(height)));
        }
    }
    show(650, 230);
    QVERIFY(!m_stack->svg().contains("Throughput"));
    QTest::keyClick(m_stack.get(), Qt::Key_End);
    QVERIFY(m_stack->accessibleDescription().contains(
        QStringLiteral("Throughput (steps/s), B amp-fp16 1k")));
}

/// The shortest sample, too, is longer than a dash of lane B.
void TestPlotLayout::samplesAreDashedAtEverySize() {
    m_stack->append(1, record(1, 1, 0.012345f));
    const QRgb color = colorsFor(m_stack->palette()).lane(1).rgb();
    int sampled = 0;
    for (int width = 180; width <= 700; width += 20) {
        show(width, 300);
        QCustomPlot& plot = plotOf(*m_stack);
        const QImage image = plot.toPixmap().toImage();
        const QRect rect = plot.axisRect(0)->rect();
        const int y = rect.top() - ReadoutItem::heightFor(plot.font()) / 2;
        int dashes = 0;
        for (int x = rect.left() + 1; x < rect.right(); ++x)
            dashes +=
                image.pixelColor(x, y).rgb() == color && image.pixelColor(x - 1, y).rgb() != color;
        QVERIFY2(dashes != 1, qPrintable(QString::number(width)));
        if (dashes > 1) ++sampled;
    }
    QVERIFY2(sampled > 10, qPrintable(QString::number(sampled)));
}

/// The sample of each lane has the dashes that tell its curve from others, also in a saved picture
/// and where lines are thick.
void TestPlotLayout::samplesAreDashedLikeTheirCurves() {
    constexpr int kLanes = 6;
    m_stack->setLanes(QStringList(kLanes, QStringLiteral("amp-fp16")));
    for (int lane = 0; lane < kLanes; ++lane)
        m_stack->append(lane, record(1, lane, 0.5f));
    for (const double size : {1.0, 1.7}) {
        m_stack->magnify(size);
        show(1600, 400);
        const QCustomPlot& plot = plotOf(*m_stack);
        const QImage image = m_stack->picture();
        const double ratio = double(image.width()) / plot.width();
        const QRect rect = plot.axisRect(0)->rect();
        const int y = int(ratio * (rect.top() - ReadoutItem::heightFor(plot.font()) / 2));
        for (int lane = 1; lane < 4; ++lane) { // the letters of the others have the same colour
            const QRgb color = colorsFor(m_stack->palette()).lane(lane).rgb();
            int dashes = 0, gap = 100;
            for (int x = int(ratio * rect.left()); x < image.width(); ++x) {
                const bool inked = image.pixelColor(x, y).rgb() == color;
                if (inked && gap > 1) ++dashes;
                gap = inked ? 0 : gap + 1;
            }
            QVERIFY2(dashes > 1, qPrintable(laneLetter(lane) + QString::number(dashes)));
        }
    }
}

/// The plots of a network that is validated, beside the gradients, in the room that a window of
/// 1280 x 800 has for them. The button names what is folded, and gives room to what is chosen.
void TestPlotLayout::foldedPlotsAreToldAndCanBeChosen() {
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {},
                      {Measure::LearningRate, Measure::GradientNorm});
    m_stack->append(1, record(1, 1, 0.5f));
    show(650, 700);
    auto* button = m_stack->findChild<QToolButton*>(QStringLiteral("foldedPlots"));
    QVERIFY(button && button->isHidden()); // there is room for all
    m_stack->showGradients(true);
    show(650, 330);
    const auto high = [this](const char* plot) {
        const QString name = QLatin1String(plot) + QStringLiteral("/B amp-fp16");
        const QCPAxisRect* rect = graphNamed(*m_stack, name)->keyAxis()->axisRect();
        return rect->visible() ? rect->height() : 0;
    };
    const char* const folding[] = {"Throughput (steps/s)", "Skipped steps", "Learning rate"};
    int folded = 0;
    for (const char* plot : folding) {
        QCOMPARE(button->accessibleName().contains(QLatin1String(plot)), high(plot) == 0);
        if (high(plot) == 0) ++folded;
    }
    QVERIFY(button->isVisible() && folded > 1 && button->text().startsWith(u'4'));
    QVERIFY(m_stack->rect().contains(button->geometry()));
    const auto choose = [&](const char* plot) {
        for (QAction* action : button->findChild<QMenu*>()->actions())
            if (action->text().endsWith(QLatin1String(plot))) return action->trigger();
        QFAIL(plot);
    };
    const int readable = 2 * QFontMetrics(plotOf(*m_stack).font()).height() - 2;
    for (const char* plot : folding) {
        choose(plot);
        draw();
        QVERIFY2(high(plot) >= readable, qPrintable(QString::number(high(plot))));
        QVERIFY(!button->accessibleName().contains(QLatin1String(plot)));
        QVERIFY(high("Loss") >= readable);
    }
    m_stack->showGradients(false);
    show(650, 700);
    QVERIFY(button->isHidden());
    for (const char* plot : folding)
        QVERIFY(high(plot) > 0);
    show(650, 230);
    QVERIFY(high(folding[2]) == 0 && button->isVisible()); // nothing stays wanted
    m_stack->magnify(2);
    QVERIFY(button->isHidden()); // an audience cannot press it
}

/// Of a hidden plot nothing stays, not even its header, until it comes back as it was.
void TestPlotLayout::hiddenPlotsGiveTheirRoom() {
    for (int i = 1; i <= 50; ++i)
        m_stack->append(1, record(i, 1, 0.5f));
    show();
    const auto rectOf = [this](const char* plot) {
        const QString name = QLatin1String(plot) + QStringLiteral("/B amp-fp16");
        return graphNamed(*m_stack, name)->keyAxis()->axisRect();
    };
    const int before = rectOf("Loss")->height();
    const QStringList hidden{QStringLiteral("device_seconds"), QStringLiteral("skipped_so_far")};
    m_stack->hidePlots(hidden);
    draw();
    const int less = rectOf("Loss")->height();
    QVERIFY2(less > before + 40, qPrintable(QStringLiteral("%1 -> %2").arg(before).arg(less)));
    QVERIFY(rectOf("Loss scale")->visible());
    QVERIFY(!rectOf("Throughput (steps/s)")->visible() && !rectOf("Skipped steps")->visible());
    QVERIFY(header(1)->visible() && !header(2)->visible() && !header(3)->visible());
    QVERIFY(!m_stack->svg().contains("Throughput"));
    QTest::keyClick(m_stack.get(), Qt::Key_End); // tells screen readers at once
    QVERIFY(!m_stack->accessibleDescription().contains(QStringLiteral("Throughput")));
    m_stack->setLanes({QStringLiteral("fp32")}, {}, {Measure::LearningRate}); // another run
    draw();
    QCOMPARE(m_stack->hiddenPlots(), hidden);
    QVERIFY(m_stack->svg().contains("Learning rate") && !m_stack->svg().contains("Throughput"));
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")});
    m_stack->append(1, record(1, 1, 0.5f));
    m_stack->hidePlots({});
    draw();
    QCOMPARE(rectOf("Loss")->height(), before);
    QVERIFY(rectOf("Throughput (steps/s)")->visible() && header(2)->visible());
    QVERIFY(m_stack->svg().contains("Throughput"));
}

/// The gradients do without the loss scale above them, and the loss stays whatever a settings file
/// contains.
void TestPlotLayout::lossStays() {
    m_stack->append(1, record(1, 1, 0.5f));
    show(700, 600);
    m_stack->showGradients(true);
    m_stack->hidePlots({QStringLiteral("scale")});
    draw();
    const QByteArray svg = m_stack->svg();
    QVERIFY(svg.contains("Gradients over time") && !svg.contains("Loss scale"));
    m_stack->hidePlots({QStringLiteral("loss"), QStringLiteral("scale"),
                        QStringLiteral("device_seconds"), QStringLiteral("skipped_so_far")});
    draw();
    m_stack->showStep(1);
    QVERIFY(header(0)->visible() && !header(1)->visible());
    QVERIFY(
        graphNamed(*m_stack, QStringLiteral("Loss/B amp-fp16"))->keyAxis()->axisRect()->visible());
}

/// The menu has every plot of the run, and never lets the loss go.
void TestPlotLayout::menuChoosesPlots() {
    show();
    QMenu menu;
    listPlots(menu, *m_stack);
    const auto entry = [&menu](const char* name) {
        emit menu.aboutToShow();
        for (QAction* action : menu.actions())
            if (action->text() == QLatin1String(name)) return action;
        return static_cast<QAction*>(nullptr);
    };
    QVERIFY(entry("Loss") && entry("Loss scale") && entry("Throughput (steps/s)"));
    QCOMPARE(menu.actions().size(), qsizetype(4));
    entry("Throughput (steps/s)")->trigger();
    QCOMPARE(m_stack->hiddenPlots(), QStringList(QStringLiteral("device_seconds")));
    QVERIFY(!entry("Throughput (steps/s)")->isChecked());
    entry("Skipped steps")->trigger();
    QCOMPARE(m_stack->hiddenPlots().size(), qsizetype(2));
    entry("Throughput (steps/s)")->trigger();
    QCOMPARE(m_stack->hiddenPlots(), QStringList(QStringLiteral("skipped_so_far")));
    QVERIFY(entry("Loss")->isChecked() && !entry("Loss")->isEnabled());
}

void TestPlotLayout::laneWithoutScaleHasNone() {
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {false, true});
    m_stack->append(0, record(1, 0, 0.5f, 1));
    m_stack->append(1, record(1, 1, 0.5f, 1)); // a scale of 1 is a scale, too
    show();
    QCOMPARE(graphNamed(*m_stack, QStringLiteral("Loss scale/A fp32"))->data()->size(), 0);
    QCOMPARE(graphNamed(*m_stack, QStringLiteral("Loss scale/B amp-fp16"))->data()->size(), 1);
    const ReadoutItem* scale = header(1);
    QVERIFY(scale);
    QCOMPARE(scale->entries()[0].value, QStringLiteral("none"));
    QCOMPARE(scale->entries()[1].value, QStringLiteral("1 = 2^0"));
}

void TestPlotLayout::headersCutNoNumber() {
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16"),
                       QStringLiteral("amp-bf16"), QStringLiteral("torch-cpu-fp16")});
    for (int lane = 0; lane < 4; ++lane)
        m_stack->append(lane, record(1, lane, 0.012345f));
    show();
    const ReadoutItem* loss = header(0);
    QVERIFY(loss);
    const QStringList whole = loss->textsIn(2000);
    QCOMPARE(whole.size(), 5);
    QCOMPARE(whole.last(), QStringLiteral("D torch-cpu-fp16: 0.01235"));
    const QFontMetrics metrics(plotOf(*m_stack).font());
    qsizetype before = 0;
    for (int width = 60; width <= 2000; width += 7) {
        const QStringList texts = loss->textsIn(width);
        const bool left = texts.last() == QStringLiteral("…");
        QCOMPARE(left, texts.size() - 1 <= 4 && !texts.last().contains(u'D'));
        QVERIFY(texts.size() - left >= before); // more room never shows fewer
        before = texts.size() - left;
        int needed = 0;
        for (const QString& text : texts)
            needed += metrics.horizontalAdvance(text);
        if (texts.size() > 2) QVERIFY2(needed <= width, qPrintable(texts.join(u'|')));
    }
}

/// The loss has less room than the plots below it, because the slider stands in its header.
void TestPlotLayout::headersNameLanesAlike() {
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16, First\u00a0scale 2^24"),
                       QStringLiteral("amp-fp16, First\u00a0scale 2^10")});
    for (int lane = 0; lane < 3; ++lane)
        m_stack->append(lane, record(1, lane, 0.012345f));
    std::array<int, 3> seen{};
    for (int width = 1500; width >= 300; width -= 20) {
        show(width, 420);
        std::set<size_t> forms;
        for (int plot = 0; plot < 4; ++plot) {
            const ReadoutItem* each = header(plot);
            if (!each->isShown()) continue;
            const QString last = each->texts().last();
            forms.insert(last.startsWith(QStringLiteral("C amp"))     ? 0
                         : last.startsWith(QStringLiteral("C First")) ? 1
                                                                      : 2);
        }
        QVERIFY2(forms.size() == 1, qPrintable(QString::number(width)));
        ++seen[*forms.begin()];
    }
    QVERIFY(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
}

/// Long values in every lane, in the room that a window of 1280 pixels has for a plot's header
/// beside the slider.
void TestPlotLayout::sixLanesFitAtTheUsualSize() {
    constexpr int kRoom = 430;
    m_stack->setLanes(QStringList(6, QStringLiteral("amp-fp16, First\u00a0scale 2^24")));
    const auto fits = [this](float loss) {
        for (int lane = 0; lane < 6; ++lane)
            m_stack->append(lane, record(m_stack->lastStep() + 1, lane, loss));
        show(664);
        const QStringList texts = header(0)->textsIn(kRoom);
        return texts.size() == 7 && texts.last() != QStringLiteral("…") ? QString()
                                                                        : texts.join(u'|');
    };
    QCOMPARE(fits(1.2345e-5f), QString());
    QCOMPARE(header(0)->textsIn(kRoom).last(), QStringLiteral("F 1.2e-5"));
    QCOMPARE(fits(0.012345f), QString());
    QCOMPARE(fits(kNan), QString());
    QCOMPARE(header(0)->textsIn(kRoom).last().simplified(), QStringLiteral("F nan"));
}

/// Six lanes in a window of 960 x 540, whose pictures leave the plots this room.
void TestPlotLayout::curvesCanBeReadInLittleRoom() {
    m_stack->setLanes(QStringList(6, QStringLiteral("amp-fp16")));
    for (int lane = 0; lane < 6; ++lane)
        m_stack->append(lane, record(1, lane, 0.5f));
    m_stack->setMinimumSize(1, 1);
    const auto high = [this](const char* plot) {
        const QString name = QLatin1String(plot) + QStringLiteral("/B amp-fp16");
        const QCPAxisRect* rect = graphNamed(*m_stack, name)->keyAxis()->axisRect();
        return rect->visible() ? rect->height() : 0;
    };
    show(330, 305);
    const int readable = 2 * QFontMetrics(plotOf(*m_stack).font()).height() - 2;
    for (const int height : {305, 270}) {
        show(330, height);
        QVERIFY2(high("Loss scale") >= readable, qPrintable(QString::number(high("Loss scale"))));
        QVERIFY(high("Loss") > high("Loss scale"));
    }
    QVERIFY(high("Skipped steps") == 0 && !m_stack->svg().contains("Skipped"));
    show(330, 800);
    QVERIFY(high("Skipped steps") > 0 && m_stack->svg().contains("Skipped"));
}

void TestPlotLayout::readouts() {
    m_stack->append(1, record(1, 1, 0.5f));
    m_stack->append(1, record(2, 1, kNan));
    m_stack->append(1, record(3, 1, 0.25f));
    show();
    const ReadoutItem* loss = header(0);
    QVERIFY(loss);
    QCOMPARE(loss->entries().size(), 2);
    QCOMPARE(loss->entries()[0].value, QString());
    QCOMPARE(loss->entries()[1].value, QStringLiteral("0.25"));
    m_stack->pinCrosshair(1);
    QCOMPARE(loss->entries()[1].value, QStringLiteral("0.5"));
    m_stack->pinCrosshair(2);
    QCOMPARE(loss->entries()[1].value, QStringLiteral("not a number")); // as its card says
    m_stack->pinCrosshair(std::nullopt);
    QCOMPARE(loss->entries()[1].value, QStringLiteral("0.25"));
    // six lanes side by side: three digits, or the last value would be cut
    m_stack->append(1, record(4, 1, 0.012345f));
    m_stack->pinCrosshair(std::nullopt);
    show();
    QCOMPARE(loss->entries()[1].value, QStringLiteral("0.01235"));
    QCOMPARE(loss->entries()[1].shortValue, QStringLiteral("0.0123"));
}

/// Pointing at an unknown word explains it.
void TestPlotLayout::headersExplainThemselves() {
    m_stack->append(1, record(1, 1, 0.5f));
    show();
    QCustomPlot& plot = plotOf(*m_stack);
    QStringList told;
    for (int i = 0; i < 4; ++i) {
        const QRect rect = plot.axisRect(i)->rect();
        const QPoint place(rect.left() + 10, rect.top() - 8);
        QMouseEvent move(QEvent::MouseMove, QPointF(place), plot.mapToGlobal(QPointF(place)),
                         Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(&plot, &move);
        QTRY_VERIFY(!QToolTip::text().isEmpty() && !told.contains(QToolTip::text()));
        told << QToolTip::text();
    }
    QVERIFY2(told[1].contains(QStringLiteral("multiplied")), qPrintable(told[1]));
}

/// The line below the events names the marks that there are, also in saved pictures.
void TestPlotLayout::marksAreExplained() {
    m_stack->append(1, record(40, 1, 0.5f));
    show(700, 600);
    QVERIFY(!m_stack->svg().contains("overflow"));
    m_stack->addEvent(eventOf(EventKind::Overflow, 9, 1));
    draw();
    QVERIFY(m_stack->svg().contains(">overflow: step skipped<"));
    QVERIFY(!m_stack->svg().contains("grew"));
    m_stack->addEvent(eventOf(EventKind::Growth, 30, 1));
    draw();
    QVERIFY(m_stack->svg().contains(">loss scale grew<"));
    show(360, 400); // briefly rather than in part
    QVERIFY(m_stack->svg().contains(">overflow<") && m_stack->svg().contains(">growth<"));
    show(700, 600);
    Event taken = eventOf(EventKind::Overflow, 31, 1);
    taken.text = {kTakenStep, 31, "a gradient was not finite", "the scale stays"};
    m_stack->addEvent(taken);
    draw();
    QVERIFY(m_stack->svg().contains(">overflow<") && !m_stack->svg().contains("step skipped<"));
    m_stack->clear();
    draw();
    QVERIFY(!m_stack->svg().contains("overflow"));
}

void TestPlotLayout::audiencesSeeLargeMarks() {
    for (int step = 1; step <= 4000; ++step) // more steps than pixels
        m_stack->append(1, record(step, 1, 0.5f + 0.4f * static_cast<float>(step % 2)));
    m_stack->addEvent(eventOf(EventKind::Overflow, 9, 1));
    show(900, 600);
    const QCPGraph* loss = graphNamed(*m_stack, QStringLiteral("Loss/B amp-fp16"));
    const QCPGraph* marks = graphNamed(*m_stack, QStringLiteral("overflow/B"));
    const double mark = marks->scatterStyle().size();
    const auto points = loss->data()->size();
    QCOMPARE(loss->pen().widthF(), 1.0);
    m_stack->magnify(2);
    draw();
    QCOMPARE(loss->pen().widthF(), 3.0);
    QCOMPARE(marks->scatterStyle().size(), 2 * mark);
    // what is closer than a line is thick costs time and cannot be seen
    QVERIFY2(loss->data()->size() <= (points + 1) / 2, // the last point is drawn in any case
             qPrintable(QStringLiteral("%1 of %2").arg(loss->data()->size()).arg(points)));
    // where there is little room, two curves tell more than the headers of four plots
    m_stack->addEvent(eventOf(EventKind::Growth, 30, 1));
    show(900, 220);
    QVERIFY(!m_stack->svg().contains("Throughput") && !m_stack->svg().contains("Skipped"));
    QVERIFY(m_stack->svg().contains("Loss scale"));
    const QCPAxisRect* scale =
        graphNamed(*m_stack, QStringLiteral("Loss scale/B amp-fp16"))->keyAxis()->axisRect();
    QVERIFY2(scale->visible() && scale->height() >= 15,
             qPrintable(QString::number(scale->height())));
    m_stack->magnify(1);
    show(900, 600);
    QVERIFY(m_stack->svg().contains("Throughput"));
    QCOMPARE(loss->pen().widthF(), 1.0);
    QCOMPARE(marks->scatterStyle().size(), mark);
}

/// 220 pixels are left for the plots in the view for lectures at 1280 x 800 and scale factor 2.
void TestPlotLayout::audiencesSeeTheScaleOfManyLanes() {
    constexpr int kLanes = 6;
    m_stack->setLanes(QStringList(kLanes, QStringLiteral("amp-fp16")));
    for (int lane = 0; lane < kLanes; ++lane) {
        m_stack->append(lane, record(1, lane, 0.5f));
        m_stack->addEvent(eventOf(EventKind::Overflow, 1, lane));
    }
    m_stack->magnify(1.2);
    show(640, 220);
    const QCPGraph* scale = graphNamed(*m_stack, QStringLiteral("Loss scale/F amp-fp16"));
    const QCPGraph* last = graphNamed(*m_stack, QStringLiteral("overflow/F"));
    const int line = QFontMetrics(plotOf(*m_stack).font()).height();
    QVERIFY(scale->keyAxis()->axisRect()->visible());
    QVERIFY(scale->keyAxis()->axisRect()->height() >= 2 * line);
    // the marks of all lanes share a row, and can be pointed at there
    QCOMPARE(last->data()->at(0)->value, 0.2); // below a growth
    show(640, 420);
    QCOMPARE(last->data()->at(0)->value, 5.2);
    QVERIFY(scale->keyAxis()->axisRect()->visible());
}

void TestPlotLayout::tinySizes() {
    for (int i = 1; i <= 5000; ++i)
        m_stack->append(i % 2, record(i, i % 2, 0.5f));
    m_stack->addEvent(eventOf(EventKind::Growth, 5, 1));
    show();
    for (const QSize size :
         {QSize(1, 1), QSize(5, 400), QSize(400, 5), QSize(90, 60), QSize(3000, 1200)}) {
        m_stack->setMinimumSize(1, 1);
        m_stack->resize(size);
        QCoreApplication::processEvents();
        draw();
        m_stack->pinCrosshair(2000);
        QVERIFY(!m_stack->grab().isNull());
    }
}

} // namespace tst_plot_layout

QTEST_MAIN(tst_plot_layout::TestPlotLayout)
#include "tst_plot_layout.moc"
