// What gives way where plots have little room: rows of marks before curves, words of the slider
// before samples of lines, numbers of steps to those that are read; and nothing is cut off at the
// bottom.
#include "tests/support/shown_plots.h"
#include "ui/look/theme.h"
#include "ui/plots/readout_item.h"
#include "ui/plots/smoothing_box.h"

#include <QtTest>

#include <algorithm>

namespace tst_plot_room {

using namespace halfscope;

class TestPlotRoom : public QObject, private ShownPlots {
    Q_OBJECT
private slots:
    void init() { makeStack(); }
    void namesOfMarksAreWhole();
    void audiencesSeeCurvesRatherThanRows();
    void audiencesSeeRowsWithMarksOnly();
    void audiencesSeeNoSpeedsWithoutFigures();
    void slidersGiveTheirWordsForSamples();
    void buttonsGiveTheirWordsForLanes();
    void numbersOfTheAxisAreWholeOrGone();
    void theNumberOfThePinIsWholeOrGone();

private:
    void setLanes(int lanes) {
        m_stack->setLanes(QStringList(lanes, QStringLiteral("amp-fp16")));
        for (int lane = 0; lane < lanes; ++lane)
            m_stack->append(lane, record(1, lane, 0.0664f));
    }
    const QCPAxisRect& events() const { return *plotOf(*m_stack).axisRects().back(); }
    QStringList letters() const {
        return QStringList(events().axis(QCPAxis::atLeft)->tickVectorLabels());
    }
    int heightOf(const char* plot) const {
        const QString name = QLatin1String(plot) + QStringLiteral("/B amp-fp16");
        return graphNamed(*m_stack, name)->keyAxis()->axisRect()->height();
    }
    /// Returns the places of the numbers at the crosshair, that of the pin first.
    QList<QRectF> tags() const {
        QCustomPlot& plot = plotOf(*m_stack);
        QList<QRectF> rects;
        for (int i = 0; i < plot.itemCount(); ++i)
            if (const auto* tag = qobject_cast<QCPItemText*>(plot.item(i));
                tag && tag->visible() && tag->layer()->name() == QStringLiteral("crosshair"))
                rects << QRectF(tag->topLeft->pixelPosition(), tag->bottomRight->pixelPosition());
        return rects;
    }
    /// Returns the area of the axis' numbers between two places.
    QRect below(double from, double to) const {
        const QCPAxis& axis = *events().axis(QCPAxis::atBottom);
        const int high = axis.tickLabelPadding() + QFontMetrics(axis.tickLabelFont()).height();
        return {QPoint(static_cast<int>(from), events().bottom() + axis.tickLengthOut() + 2),
                QSize(static_cast<int>(to - from) + 1, high)};
    }
    QImage picture() const { return plotOf(*m_stack).toPixmap().toImage(); }
    /// Whether the header of the loss has a sample of lane B's line.
    bool hasSamples() const {
        QCustomPlot& plot = plotOf(*m_stack);
        const QImage image = plot.toPixmap().toImage();
        const QRect rect = plot.axisRect(0)->rect();
        const int y = rect.top() - ReadoutItem::heightFor(plot.font()) / 2;
        const QRgb color = colorsFor(m_stack->palette()).lane(1).rgb(); // its name's is darker
        for (int x = rect.left(); x < rect.right(); ++x)
            if (image.pixelColor(x, y).rgb() == color) return true;
        return false;
    }
};

/// At every height, although the heights of many plots are rounded.
void TestPlotRoom::namesOfMarksAreWhole() {
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {},
                      {Measure::LearningRate, Measure::GradientNorm});
    m_stack->append(1, record(1, 1, 0.5f));
    m_stack->addEvent(eventOf(EventKind::Edit, 1, 1));
    for (int height = 600; height < 630; ++height) {
        show(700, height);
        const QCPAxis& axis = *events().axis(QCPAxis::atBottom);
        const int line = QFontMetrics(plotOf(*m_stack).font()).height();
        // see EventLegend::draw(): below the labels of the ticks
        const int end = events().bottom() + axis.tickLengthOut() + axis.tickLabelPadding() +
                        axis.labelPadding() + 2 * line;
        QVERIFY2(end <= plotOf(*m_stack).height(), qPrintable(QString::number(height)));
    }
}

/// Six lanes at 1920 x 1080, all of them with marks.
void TestPlotRoom::audiencesSeeCurvesRatherThanRows() {
    setLanes(6);
    m_stack->addEvent(eventOf(EventKind::Edit, 1, -1));
    QFont large = m_stack->font();
    large.setPixelSize(26);
    m_stack->setFont(large);
    m_stack->magnify(2.2);
    show(1000, 520);
    const int line = QFontMetrics(plotOf(*m_stack).font()).height();
    QVERIFY2(heightOf("Loss scale") >= 2 * line, qPrintable(QString::number(line)));
    QVERIFY(heightOf("Loss") + heightOf("Loss scale") > 4 * events().height());
    show(1000, 1000); // there is room for all
    QCOMPARE(letters().size(), qsizetype(6));
}

void TestPlotRoom::audiencesSeeRowsWithMarksOnly() {
    setLanes(6);
    m_stack->addEvent(eventOf(EventKind::Overflow, 1, 3));
    show(900, 700);
    QCOMPARE(letters().size(), qsizetype(6));
    const int all = events().height();
    m_stack->magnify(1.5);
    draw();
    QCOMPARE(letters(), QStringList(QStringLiteral("D")));
    QVERIFY(events().height() < all);
    const auto placeOf = [this](const char* marks) {
        return graphNamed(*m_stack, QLatin1String(marks))->data()->at(0)->value;
    };
    QCOMPARE(placeOf("overflow/D"), 0.2); // below the middle of the only row
    const int one = events().height();
    m_stack->addEvent(eventOf(EventKind::Overflow, 1, 1)); // it makes room for itself
    draw();
    QCOMPARE(letters(), QStringList({QStringLiteral("B"), QStringLiteral("D")}));
    QCOMPARE(events().height(), 2 * one);
    QCOMPARE(placeOf("overflow/D"), 1.2);
    m_stack->magnify(1);
    draw();
    QCOMPARE(letters().size(), qsizetype(6));
    QCOMPARE(placeOf("overflow/D"), 3.2);
}

/// Speeds that may not be compared give their room to the other plots, until they may.
void TestPlotRoom::audiencesSeeNoSpeedsWithoutFigures() {
    setLanes(2);
    m_stack->setSpeeds(SpeedsShown::NotComparable);
    show(900, 700);
    QVERIFY(m_stack->svg().contains("not comparable"));
    m_stack->magnify(1.5);
    draw();
    QVERIFY(!m_stack->svg().contains("not comparable"));
    const int skips = heightOf("Skipped steps");
    m_stack->setSpeeds(SpeedsShown::Present);
    draw();
    QVERIFY2(heightOf("Skipped steps") < skips, qPrintable(QString::number(skips)));
    m_stack->setSpeeds(SpeedsShown::NotComparable);
    draw();
    QCOMPARE(heightOf("Skipped steps"), skips);
    m_stack->magnify(1);
    draw();
    QVERIFY(m_stack->svg().contains("not comparable"));
}

/// In the width that a window of 1280 pixels leaves the plots.
void TestPlotRoom::slidersGiveTheirWordsForSamples() {
    const auto* slider = m_stack->findChild<SmoothingBox*>();
    const auto formWith = [&](int lanes, int width) {
        setLanes(lanes);
        show(width);
        draw();
        return slider->form();
    };
    QCOMPARE(formWith(2, 664), SmoothingBox::Form::Words);
    const int whole = slider->width();
    QVERIFY(hasSamples());
    int width = 1000; // fonts differ: the first one that is too narrow for its words
    while (width > 520 && formWith(6, width) == SmoothingBox::Form::Words)
        width -= 8;
    QVERIFY(slider->form() != SmoothingBox::Form::Words);
    QVERIFY(slider->isVisible() && slider->width() < whole);
    QVERIFY2(hasSamples(), qPrintable(QString::number(width)));
    m_stack->setSmoothing(0.9); // what has no room does not come back
    draw();
    QVERIFY(slider->form() != SmoothingBox::Form::Words && hasSamples());
    QCOMPARE(formWith(6, 1400), SmoothingBox::Form::Words);
    QVERIFY(hasSamples());
}

/// While figures stay at a step, a button leads back: it hides no lane that it has room for.
void TestPlotRoom::buttonsGiveTheirWordsForLanes() {
    setLanes(6);
    const auto* live = m_stack->findChild<QToolButton*>(QStringLiteral("toNewestStep"));
    const auto* slider = m_stack->findChild<SmoothingBox*>();
    const ReadoutItem* header = nullptr; // of the loss
    for (int i = 0; i < plotOf(*m_stack).itemCount() && !header; ++i)
        header = qobject_cast<ReadoutItem*>(plotOf(*m_stack).item(i));
    QVERIFY(header);
    show(1400);
    m_stack->pinCrosshair(1);
    draw();
    QVERIFY(live->isVisible() && header->fits());
    const QString words = live->accessibleName();
    QCOMPARE(live->text(), words);
    constexpr int kBetween = 10; // pixels, before each control
    const int least = ReadoutItem::heightFor(plotOf(*m_stack).font()) +
                      slider->widthIn(SmoothingBox::Form::ShortSlider) + 2 * kBetween;
    const int whole = live->width();
    int arrows = 0;
    for (int width = 1400; width > 480; width -= 8) {
        show(width);
        const QString about = QString::number(width);
        QVERIFY2(header->fits() || !header->holdsAll(least), qPrintable(about));
        if (live->arrowType() == Qt::NoArrow) continue;
        ++arrows;
        QVERIFY2(live->width() < whole / 2 && live->text().isEmpty(), qPrintable(about));
        QVERIFY2(slider->form() == SmoothingBox::Form::ShortSlider, qPrintable(about));
    }
    QVERIFY(arrows > 0);
    QCOMPARE(live->accessibleName(), words);
    show(1400);
    QCOMPARE(live->text(), words);
    QVERIFY(live->arrowType() == Qt::NoArrow);
}

namespace {

/// What became of the pixels in which something was drawn.
struct Ink {
    int kept = 0, gone = 0, covered = 0; ///< covered: by a tag

    static Ink in(const QRect& area, const QImage& before, const QImage& now,
                  const QList<QRectF>& tags, QRgb ground) {
        Ink ink;
        for (int y = area.top(); y <= area.bottom(); ++y)
            for (int x = area.left(); x <= area.right(); ++x) {
                if (!before.valid(x, y) || before.pixel(x, y) == ground) continue;
                const bool tagged = std::ranges::any_of(tags, [x, y](const QRectF& tag) {
                    return tag.adjusted(-1, -1, 1, 1).contains(x, y); // with its border
                });
                const bool same = now.pixel(x, y) == before.pixel(x, y);
                if (tagged)
                    ink.covered += !same; // else the tag may have the same colour there
                else
                    ++(same ? ink.kept : ink.gone);
            }
        return ink;
    }
};

} // namespace

/// What the number at the crosshair left of another one would be a wrong number.
void TestPlotRoom::numbersOfTheAxisAreWholeOrGone() {
    for (int i = 1; i <= 300; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    const QCPAxis& axis = *events().axis(QCPAxis::atBottom);
    const QImage without = picture();
    const QRgb ground = colorsFor(m_stack->palette()).background.rgb();
    const QFontMetrics metrics(axis.tickLabelFont());
    int whole = 0, gone = 0;
    for (int step = 1; step <= 300; step += 7) {
        m_stack->pinCrosshair(step);
        draw();
        const QImage now = picture();
        QCOMPARE(tags().size(), 1);
        for (qsizetype i = 0; i < axis.tickVector().size(); ++i) {
            const QString label = axis.tickVectorLabels().value(i);
            const double at = axis.coordToPixel(axis.tickVector().at(i));
            const double half = metrics.horizontalAdvance(label) / 2.0 + 1;
            const Ink ink = Ink::in(below(at - half, at + half), without, now, tags(), ground);
            const bool isWhole = ink.gone == 0 && ink.covered == 0;
            QVERIFY2(isWhole || ink.kept == 0,
                     qPrintable(QStringLiteral("%1 at step %2").arg(label).arg(step)));
            whole += isWhole;
            gone += ink.gone > 0;
        }
    }
    QVERIFY2(whole > 0 && gone > 0, qPrintable(QString::number(gone)));
}

/// Where the step that is read comes near the pin, there is room for its number only.
void TestPlotRoom::theNumberOfThePinIsWholeOrGone() {
    for (int i = 1; i <= 300; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    const QRgb ground = colorsFor(m_stack->palette()).background.rgb();
    const auto read = [this](int step) {
        const QPointF place = at(step, QStringLiteral("Loss/A fp32"));
        QMouseEvent move(QEvent::MouseMove, place, plotOf(*m_stack).mapToGlobal(place),
                         Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(&plotOf(*m_stack), &move);
        draw();
    };
    m_stack->pinCrosshair(173); // between numbers of the axis
    read(20);
    const QImage apart = picture();
    QCOMPARE(tags().size(), 2);
    const QRectF pin = tags()[0];
    int whole = 0, gone = 0;
    for (int step = 143; step < 203; step += 3) {
        read(step);
        if (tags().size() < 2) continue; // at the pin
        const QRectF tag = tags()[1];
        const double gap = std::abs(tag.center().x() - pin.center().x()) - pin.width();
        if (std::abs(gap) < 3) continue;                          // both have three digits
        const QRect inside = pin.adjusted(3, 3, -3, -3).toRect(); // of its border
        const Ink ink = Ink::in(inside, apart, picture(), {tag}, ground);
        QVERIFY2(gap > 0 ? ink.gone == 0 && ink.covered == 0 : ink.kept == 0,
                 qPrintable(QString::number(step)));
        whole += gap > 0;
        gone += ink.gone > 0;
    }
    QVERIFY(whole > 0 && gone > 0);
}

} // namespace tst_plot_room

QTEST_MAIN(tst_plot_room::TestPlotRoom)
#include "tst_plot_room.moc"
