// The plot of gradients over time: where it draws which share, fp16's limits and skipped steps,
// what it says at a step, whose gradients it shows, and how it appears in the window and in files.
#include "tests/support/opened_window.h"
#include "tests/support/shown_plots.h"
#include "ui/plots/gradient_map.h"
#include "ui/plots/gradient_map_item.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/lane_button.h"
#include "ui/plots/readout_item.h"

#include <QAction>
#include <QMenu>
#include <QToolButton>

#include <cmath>

namespace tst_gradient_map {

using namespace halfscope;

namespace {

using Counts = MagnitudeCounts;
using Item = GradientMapItem;

const QStringList kLanes{QStringLiteral("fp32"), QStringLiteral("amp-fp16")};

GradientRange rangeOf(int64_t step, int exponent, DType type = DType::F16) {
    GradientRange range;
    range.step = step;
    range.type = type;
    range.scale = 65536; // as in the rows of plot_parts
    range.outputs.buckets[static_cast<size_t>(exponent - Counts::kLowest)] = 100;
    return range;
}

/// Returns CIE 1976's lightness, 0 to 100.
double lightness(const QColor& color) {
    const double y = contrast(color, Qt::black) * 0.05 - 0.05; // the luminance, from WCAG's ratio
    return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
}

} // namespace

class TestGradientMap : public QObject, private ShownPlots {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void init() {
        makeStack();
        m_stack->setLanes(kLanes, {false, true});
    }
    void bucketsAreInTheirPlace_data();
    void bucketsAreInTheirPlace();
    void stepsAreInTheirPlace();
    void limitsAreMarked();
    void limitsAreNamedAtOnce();
    void skippedStepsAreRed();
    void shadesAreEven();
    void comesAndGoes();
    void laneIsChosen();
    void saysWhatIsThere();
    void saysWhyItIsEmpty();
    void headerLeavesOutWholeParts();
    void startsAgain();
    void isExported();
    void fitsAtTheUsualSizes();
    void leavesTheLossScaleItsRoom();
    void marksKeepTheirLetters();
    void windowShowsAndSavesIt();

private:
    QCPAxisRect& mapRect() const { return *plotOf(*m_stack).axisRect(2); }
    template <class T>
    T* itemOf() const {
        QCustomPlot& plot = plotOf(*m_stack);
        T* found = nullptr; // the last one: headers of other plots are older
        for (int i = 0; i < plot.itemCount(); ++i)
            if (auto* item = qobject_cast<T*>(plot.item(i))) found = item;
        return found;
    }
    QString said() const { return itemOf<ReadoutItem>()->entries().value(0).value; }
    void train(int64_t from, int64_t to, uint32_t flags = 0) {
        for (int64_t step = from; step <= to; ++step)
            for (int lane = 0; lane < m_stack->lanes(); ++lane) {
                StepRecord row = record(step, lane, 0.5f);
                row.flags = flags;
                m_stack->append(lane, row);
            }
    }
    /// Draws ten steps of these gradients in both lanes.
    void showRange(const GradientRange& range) {
        m_stack->showGradients(true);
        m_stack->addGradients({range, range});
        train(1, 10);
        show(700, 700);
    }
    QImage picture() const { return plotOf(*m_stack).toPixmap().toImage(); }
    int xOf(double step) const {
        return qRound(mapRect().axis(QCPAxis::atBottom)->coordToPixel(step));
    }
    int yOf(double exponent) const {
        return qRound(mapRect().axis(QCPAxis::atLeft)->coordToPixel(exponent));
    }
    /// Returns how far a pixel is from the background.
    static double strength(const QImage& image, int x, int y, const Colors& colors) {
        return contrast(image.pixelColor(x, y), colors.background);
    }
};

void TestGradientMap::bucketsAreInTheirPlace_data() {
    QTest::addColumn<int>("exponent");
    QTest::addColumn<double>("place"); // on the axis
    for (const int exponent : {-30, -25, -14, 0, 15})
        QTest::addRow("2^%d", exponent) << exponent << exponent + 0.5;
    QTest::newRow("below the lowest row") << -40 << Item::kLowest + 0.5;
    QTest::newRow("above the highest") << 23 << Item::kHighest + 0.5;
    QTest::newRow("zero") << -100 << (Item::kBottom + Item::kZerosTop) / 2.0;
    QTest::newRow("inf") << 100 << (Item::kInfBottom + Item::kTop) / 2.0;
}

void TestGradientMap::bucketsAreInTheirPlace() {
    QFETCH(const int, exponent);
    QFETCH(const double, place);
    GradientRange range = rangeOf(1, std::clamp(exponent, -40, 23), DType::F32);
    if (exponent == -100) range.outputs.zeros = 100;
    if (exponent == 100) range.outputs.notFinite = 100;
    if (std::abs(exponent) == 100) range.outputs.buckets = {};
    showRange(range);
    const Colors colors = colorsFor(m_stack->palette());
    const QImage image = picture();
    const QRect rect = mapRect().rect();
    double sum = 0;
    int rows = 0;
    for (int y = rect.top(); y < rect.bottom(); ++y)
        if (strength(image, xOf(5.3), y, colors) > 5) { // darker than limits and grid
            sum += y + 0.5;
            ++rows;
        }
    QVERIFY(rows > 0);
    const double row = rect.height() / double{Item::kTop - Item::kBottom};
    const double wanted = mapRect().axis(QCPAxis::atLeft)->coordToPixel(place);
    QVERIFY2(std::abs(sum / rows - wanted) <= row / 2 + 1,
             qPrintable(QStringLiteral("%1, not %2").arg(sum / rows).arg(wanted)));
}

/// A count begins half a step before its step's middle, and nothing is drawn before or after the
/// run.
void TestGradientMap::stepsAreInTheirPlace() {
    m_stack->showGradients(true);
    m_stack->addGradients({GradientRange(), rangeOf(4, 0)});
    m_stack->addGradients({GradientRange(), rangeOf(7, 10)});
    train(1, 10);
    show(700, 700);
    const Colors colors = colorsFor(m_stack->palette());
    const QImage image = picture();
    const auto filled = [&](double step, double exponent) {
        return strength(image, xOf(step), yOf(exponent), colors) > 5;
    };
    QVERIFY(!filled(3.3, 0.5));
    QVERIFY(filled(3.7, 0.5));
    QVERIFY(filled(6.3, 0.5));
    QVERIFY(!filled(6.7, 0.5));
    QVERIFY(!filled(6.3, 10.5));
    QVERIFY(filled(6.7, 10.5));
    QVERIFY(filled(10.0, 10.5));
}

void TestGradientMap::limitsAreMarked() {
    for (const DType type : {DType::F16, DType::F32}) {
        makeStack();
        showRange(rangeOf(1, 0, type));
        const Colors colors = colorsFor(m_stack->palette());
        const QImage image = picture();
        const QRect rect = mapRect().rect();
        const auto dots = [&](int y) {
            int count = 0;
            for (int x = rect.left(); x < rect.right(); ++x)
                count += strength(image, x, y, colors) > 2.5;
            return count;
        };
        for (const int limit : {kHalfZero, kHalfNormal, kHalfInfinite}) {
            const int y = yOf(limit);
            const int on = std::max({dots(y - 1), dots(y), dots(y + 1)});
            QVERIFY2(on > rect.width() / 4, qPrintable(QString::number(limit)));
            QVERIFY(dots(y - 4) < on / 2);
        }
        // what fp16 cannot hold is tinted when the gradients are stored in fp16
        const QRgb background = colors.background.rgb();
        const int x = xOf(5) + 3;
        for (const double beyond : {-27.5, -20.5, 17.5})
            QCOMPARE(image.pixel(x, yOf(beyond)) != background, type == DType::F16);
        QCOMPARE(image.pixel(x, yOf(-7.5)), background);
    }
}

/// They are named even when nothing trains, which would draw the plot a second time.
void TestGradientMap::limitsAreNamedAtOnce() {
    train(1, 10);
    show(700, 700);
    m_stack->showGradients(true);
    QVERIFY(m_stack->refresh());
    plotOf(*m_stack).replot();
    const QVector<QString> labels = mapRect().axis(QCPAxis::atLeft)->tickVectorLabels();
    for (const char* label : {"inf", "0", "2^-14", "2^0"})
        QVERIFY2(labels.contains(QLatin1String(label)), label);
}

void TestGradientMap::skippedStepsAreRed() {
    m_stack->showGradients(true);
    train(1, 4);
    train(5, 5, kSkipped);
    train(6, 10);
    show(700, 700);
    const QImage image = picture();
    const QRgb red = colorsFor(m_stack->palette()).error.rgb();
    const int y = yOf((Item::kInfBottom + Item::kTop) / 2.0);
    QCOMPARE(image.pixel(xOf(5), y), red);
    QCOMPARE(image.pixel(xOf(4.6), y), red);
    QVERIFY(image.pixel(xOf(4.3), y) != red);
    QVERIFY(image.pixel(xOf(5.7), y) != red);
    QVERIFY(image.pixel(xOf(5), yOf(0.5)) != red);
}

/// One hue, from the background on in even steps of lightness; for six lanes and both themes.
void TestGradientMap::shadesAreEven() {
    QCOMPARE(Item::shadeOf(0), 0.0);
    QCOMPARE(Item::shadeOf(Item::kFull), 1.0);
    QCOMPARE(Item::shadeOf(1), 1.0);
    QVERIFY(Item::shadeOf(1e-9) > 0.05); // a small share is visible
    for (double share = 0; share < 0.2; share += 0.01)
        QVERIFY(Item::shadeOf(share + 0.01) > Item::shadeOf(share));
    for (const bool dark : {false, true}) {
        QPalette palette;
        palette.setColor(QPalette::Base, dark ? QColor(0x1b, 0x1d, 0x20) : QColor(Qt::white));
        palette.setColor(QPalette::Text, dark ? Qt::white : Qt::black);
        const Colors colors = colorsFor(palette);
        for (int lane = 0; lane < 6; ++lane) {
            const QColor full = Item::fullShade(colors, lane);
            QVERIFY(contrast(full, colors.background) > 7);
            double least = 1000, most = 0, before = lightness(colors.background);
            for (int i = 1; i <= 8; ++i) {
                const auto mix = [i](int a, int b) { return a + (b - a) * i / 8; };
                const QColor shade(mix(colors.background.red(), full.red()),
                                   mix(colors.background.green(), full.green()),
                                   mix(colors.background.blue(), full.blue()));
                const double now = lightness(shade), step = (before - now) * (dark ? -1 : 1);
                least = std::min(least, step);
                most = std::max(most, step);
                before = now;
            }
            QVERIFY2(
                least > 0 && most < 2 * least,
                qPrintable(QStringLiteral("lane %1: %2 to %3").arg(lane).arg(least).arg(most)));
        }
    }
}

/// The plot appears below the loss scale; curves stay as they are, and earlier counts appear again.
void TestGradientMap::comesAndGoes() {
    QCustomPlot& plot = plotOf(*m_stack);
    const int items = plot.itemCount();
    QCOMPARE(plot.axisRectCount(), 5);
    m_stack->addGradients({rangeOf(1, 0), rangeOf(1, 0)}); // nobody looks
    train(1, 3);
    m_stack->showGradients(true);
    QVERIFY(m_stack->showsGradients());
    QCOMPARE(plot.axisRectCount(), 6);
    QVERIFY(m_stack->gradients(1).empty());
    m_stack->addGradients({rangeOf(4, 0), rangeOf(4, 0)});
    train(4, 6);
    show(700, 700);
    const auto topOf = [&plot](int i) { return plot.axisRect(i)->rect().top(); };
    for (int i = 1; i < 6; ++i)
        QVERIFY(topOf(i) > topOf(i - 1));
    QVERIFY(graphNamed(*m_stack, QStringLiteral("Loss scale/A fp32"))->keyAxis()->axisRect() ==
            plot.axisRect(1));
    QVERIFY(mapRect().graphs().isEmpty());
    m_stack->showGradients(false);
    train(7, 9);
    draw();
    QCOMPARE(plot.axisRectCount(), 5);
    QCOMPARE(plot.itemCount(), items);
    QCOMPARE((graphNamed(*m_stack, QStringLiteral("Loss/B amp-fp16"))->data()->end() - 1)->key,
             9.0);
    m_stack->showGradients(true);
    train(10, 12);
    draw();
    QVERIFY(m_stack->gradients(1).at(6));
    QVERIFY(!m_stack->gradients(1).at(7));
    QVERIFY(!m_stack->gradients(1).at(12));
    // other plots may appear while it is there
    m_stack->setLanes(kLanes, {false, true}, {Measure::LearningRate});
    QVERIFY(m_stack->showsGradients());
    QCOMPARE(plot.axisRectCount(), 7);
    show(700, 701);
    QVERIFY(mapRect().graphs().isEmpty());
}

void TestGradientMap::laneIsChosen() {
    auto* box = m_stack->findChild<QToolButton*>(QStringLiteral("gradientLane"));
    QVERIFY(box);
    QVERIFY(!box->isVisibleTo(m_stack.get()));
    QCOMPARE(m_stack->gradientLane(), 1); // the first with a loss scale
    showRange(rangeOf(1, 0));
    QVERIFY(box->isVisible());
    QVERIFY(box->text().startsWith(u'B'));
    const QRect header(mapRect().rect().left(), mapRect().rect().top() - box->height(),
                       mapRect().rect().width(), box->height());
    QVERIFY(header.adjusted(0, -2, 4, 4).contains(box->geometry()));
    QCOMPARE(itemOf<ReadoutItem>()->entries().value(0).label, QStringLiteral("B amp-fp16"));
    const QImage before = picture();
    const QList<QAction*> lanes = box->findChild<QMenu*>()->actions();
    QCOMPARE(lanes.size(), 2);
    QVERIFY(lanes[1]->isChecked());
    lanes[0]->trigger();
    QCOMPARE(m_stack->gradientLane(), 0);
    QVERIFY(box->text().startsWith(u'A'));
    QVERIFY(box->accessibleName().contains(QStringLiteral("A fp32")));
    draw();
    QVERIFY(picture() != before);             // has the lane's hue
    m_stack->setLanes(kLanes, {false, true}); // the same lanes: a reset
    QCOMPARE(m_stack->gradientLane(), 0);
    m_stack->setLanes({QStringLiteral("amp-fp16"), QStringLiteral("fp32")}, {true, false});
    QCOMPARE(m_stack->gradientLane(), 0);
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("tf32")}, {false, false});
    QCOMPARE(m_stack->gradientLane(), 0);
    m_stack->setLanes({QStringLiteral("amp-fp16")}, {true});
    QVERIFY(!box->isVisible()); // nothing to choose
    m_stack->chooseGradientLane(7);
    QCOMPARE(m_stack->gradientLane(), 0);
}

void TestGradientMap::saysWhatIsThere() {
    GradientRange range = rangeOf(3, 0);
    range.outputs.buckets = {};
    for (int exponent = -20; exponent < 20; ++exponent)
        range.outputs.buckets[static_cast<size_t>(exponent - Counts::kLowest)] = 10;
    range.outputs.zeros = 100;
    m_stack->showGradients(true);
    show(1200, 700);
    QCOMPARE(said(), QStringLiteral("counting starts at the next step"));
    RunBatch end;
    end.info = m_stack->run()->info();
    end.info->outcome = RunOutcome::Finished;
    m_stack->run()->append(std::move(end));
    draw();
    QVERIFY2(said().contains(QStringLiteral("Continue counts further steps")), qPrintable(said()));
    end.info = m_stack->run()->info();
    end.info->outcome.reset();
    m_stack->run()->append(std::move(end));
    draw();
    QCOMPARE(said(), QStringLiteral("counting starts at the next step"));
    m_stack->addGradients({rangeOf(3, -26, DType::F32), range});
    train(1, 2);
    draw();
    const QString figures =
        QStringLiteral("mostly 2^-19 to 2^18, 12 % subnormal in fp16, 20 % zero");
    // those of the view beside the plots, which shows a count before its step is trained
    QCOMPARE(said(), figures + QStringLiteral(" (after step 2)"));
    // a scale is set while the training rests after step 2, and taken back
    for (const float scale : {32768.0F, 65536.0F}) {
        range.scale = scale;
        m_stack->addGradients({rangeOf(3, -26, DType::F32), range});
        draw();
        QCOMPARE(said(), figures + (scale == 65536 ? QStringLiteral(" (after step 2)")
                                                   : QStringLiteral(" (after step 2, at the new "
                                                                    "scale)")));
    }
    train(3, 20);
    draw();
    QCOMPARE(said(), figures + QStringLiteral(" (after step 2)"));
    m_stack->pinCrosshair(20);
    QCOMPARE(said(), figures + QStringLiteral(" (counted at step 3)"));
    m_stack->pinCrosshair(3);
    QCOMPARE(said(), figures);
    m_stack->pinCrosshair(2);
    QCOMPARE(said(), QString());
    QTest::keyClick(m_stack.get(), Qt::Key_Right); // screen readers hear it
    QVERIFY2(m_stack->accessibleDescription().contains(
                 QStringLiteral("Gradients over time, B amp-fp16 ") + figures),
             qPrintable(m_stack->accessibleDescription()));
    m_stack->chooseGradientLane(0);
    QCOMPARE(said(), QStringLiteral("mostly 2^-26 to 2^-25, 100 % round to 0 in fp16, 0 % zero"));
    range.type = DType::F32;
    range.outputs.notFinite = 500;
    QCOMPARE(
        gradientFigures(GradientShares::of(range), false).join(QStringLiteral("; ")),
        QStringLiteral("mostly 2^-19 to 2^18; 50 % inf or nan; in fp16: 4.0 % inf; 10 % zero"));
    range.outputs.notFinite = 0;
    range.outputs.zeros = 159600; // 400 are not zero
    QCOMPARE(
        gradientFigures(GradientShares::of(range), true).join(QStringLiteral("; ")),
        QStringLiteral("99.8 % zero; the rest mostly 2^-19 to 2^18; <0.1 % subnormal in fp16"));
}

/// A run that trained before the view was opened has a last count, which the header tells, and
/// nothing that the picture could show.
void TestGradientMap::saysWhyItIsEmpty() {
    m_stack->showGradients(true);
    show(700, 700);
    QVERIFY(itemOf<Item>()->note().isEmpty()); // nothing is missing yet
    train(1, 10);
    draw();
    const QStringList forms = itemOf<Item>()->note();
    QCOMPARE(forms.value(0),
             QStringLiteral("Gradients are counted only while this view is open. They appear here "
                            "from the next step on."));
    const Colors colors = colorsFor(m_stack->palette());
    const auto letters = [&] {
        const QImage image = picture();
        int count = 0;
        for (int x = mapRect().left(); x < mapRect().right(); ++x)
            for (int y = yOf(kHalfInfinite) + 2; y < yOf(kHalfNormal) - 2; ++y)
                count += strength(image, x, y, colors) > 5;
        return count;
    };
    QVERIFY(letters() > 100);
    RunBatch end;
    end.info = m_stack->run()->info();
    end.info->outcome = RunOutcome::Finished;
    m_stack->run()->append(std::move(end));
    draw();
    QVERIFY2(itemOf<Item>()->note().value(0).contains(QStringLiteral("Continue counts")),
             qPrintable(itemOf<Item>()->note().value(0)));
    m_stack->addGradients({rangeOf(11, -20), rangeOf(11, -20)});
    train(11, 12);
    draw();
    QVERIFY(itemOf<Item>()->note().isEmpty());
}

/// Half a number would be another number.
void TestGradientMap::headerLeavesOutWholeParts() {
    GradientRange range = rangeOf(1, -20);
    range.outputs.zeros = 100;
    showRange(range);
    QStringList texts;
    for (int width = 1200; width >= 240; width -= 8) {
        show(width, 700);
        draw();
        QVERIFY2(itemOf<ReadoutItem>()->fits(), qPrintable(said()));
        if (texts.isEmpty() || texts.last() != said()) texts << said();
    }
    const QStringList shorter{QStringLiteral("mostly 2^-20 to 2^-19, 50 % subnormal in fp16"),
                              QStringLiteral("mostly 2^-20 to 2^-19"),
                              QStringLiteral("2^-20 to 2^-19"), QString()};
    QCOMPARE(texts.mid(texts.size() - shorter.size()), shorter);
    show(328, 700); // as in a window 960 pixels wide
    draw();
    QCOMPARE(said(), QStringLiteral("2^-20 to 2^-19"));
}

void TestGradientMap::startsAgain() {
    showRange(rangeOf(1, 0));
    QVERIFY(!m_stack->gradients(1).empty());
    m_stack->keepLosses();
    m_stack->setLanes(kLanes, {false, true});
    QVERIFY(m_stack->showsGradients());
    for (int lane = 0; lane < 2; ++lane)
        QVERIFY(m_stack->gradients(lane).empty() && m_stack->gradients(lane).lastStep() == 0);
    draw();
    const Colors colors = colorsFor(m_stack->palette());
    QVERIFY(strength(picture(), xOf(5.3), yOf(0.5), colors) < 2);
    m_stack->addGradients({rangeOf(1, 3), rangeOf(1, 3)});
    train(1, 10);
    draw();
    QVERIFY(strength(picture(), xOf(5.3), yOf(3.5), colors) > 5);
    m_stack->clear();
    QVERIFY(m_stack->gradients(1).empty());
}

void TestGradientMap::isExported() {
    showRange(rangeOf(1, 0));
    const QByteArray text = m_stack->svg();
    QVERIFY(text.contains("Gradients over time"));
    QVERIFY(text.contains("<image"));
    const QImage image = m_stack->picture(); // twice the size
    const Colors colors = colorsFor(m_stack->palette());
    QVERIFY(strength(image, 2 * xOf(5.3), 2 * yOf(0.5), colors) > 5);
    QVERIFY(strength(image, 2 * xOf(5.3), 2 * yOf(3.5), colors) < 2);
}

/// The plot stays open when others fold, with at least a pixel for each row; nothing is too small.
void TestGradientMap::fitsAtTheUsualSizes() {
    const QStringList six{QStringLiteral("fp32"),     QStringLiteral("amp-fp16"),
                          QStringLiteral("amp-bf16"), QStringLiteral("fp16"),
                          QStringLiteral("bf16"),     QStringLiteral("tf32")};
    for (const QStringList& lanes : {kLanes, six}) {
        m_stack->setLanes(lanes, {});
        m_stack->showGradients(true);
        train(1, 10);
        show(664, 445); // as in a window of 1280 x 800
        QVERIFY(mapRect().visible());
        QVERIFY2(mapRect().height() >= Item::kTop - Item::kBottom,
                 qPrintable(QString::number(mapRect().height())));
        for (const int height : {220, 100, 20}) {
            m_stack->setMinimumSize(1, 1);
            m_stack->resize(240, height);
            draw();
        }
    }
}

/// 262 pixels are left for the plots in the view for lectures at 1920 x 1080 and scale factor 2.
void TestGradientMap::leavesTheLossScaleItsRoom() {
    m_stack->magnify(1.4);
    showRange(rangeOf(1, 0));
    const QCPAxisRect* scale =
        graphNamed(*m_stack, QStringLiteral("Loss scale/B amp-fp16"))->keyAxis()->axisRect();
    const int line = QFontMetrics(plotOf(*m_stack).font()).height();
    for (const int height : {700, 400, 262, 230}) {
        show(560, height);
        QVERIFY2(scale->visible() && scale->height() >= 2 * line,
                 qPrintable(QStringLiteral("%1: %2").arg(height).arg(scale->height())));
        const bool header = mapRect().margins().top() > 0;
        QCOMPARE(m_stack->findChild<LaneButton*>()->isVisible(), header);
    }
    QVERIFY(!mapRect().visible());
}

/// Marks keep the letters of their lanes where one row for all would not bring a folded plot back.
void TestGradientMap::marksKeepTheirLetters() {
    m_stack->showGradients(true);
    for (int lane = 0; lane < 2; ++lane) {
        m_stack->append(lane, record(1, lane, 0.5f));
        m_stack->addEvent(eventOf(EventKind::Overflow, 1, lane));
    }
    const auto letters = [this] {
        return QStringList(
            plotOf(*m_stack).axisRects().back()->axis(QCPAxis::atLeft)->tickVectorLabels());
    };
    const QStringList both{QStringLiteral("A"), QStringLiteral("B")};
    show(400, 600);
    QVERIFY(mapRect().visible());
    QCOMPARE(letters(), both);
    for (int height = 250; height < 400; height += 2) {
        show(400, height);
        if (!mapRect().visible()) QCOMPARE(letters(), both);
    }
    show(400, 250);
    QVERIFY(!mapRect().visible());
}

void TestGradientMap::windowShowsAndSavesIt() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(!window.plots().showsGradients());
    QTest::keyClick(&window, Qt::Key_G);
    QVERIFY(window.plots().showsGradients());
    QTRY_VERIFY_WITH_TIMEOUT(!window.gradients().figures(1).isEmpty(), kPatience);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(gradientsOf(window)[1].lastStep(), int64_t{30}, kPatience);
    const auto counted = gradientsOf(window);
    QCOMPARE(counted[0].at(1)->counted, int64_t{1}); // before Play
    QVERIFY(counted[1].at(30)->counted > 1);
    const auto lines = counted[0].columns().size() + counted[1].columns().size();
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("gradients.csv"));
    QVERIFY(window.saveResults(folder.path()).contains(QStringLiteral("gradients.csv")));
    QFile table(file);
    QVERIFY(table.open(QIODevice::ReadOnly));
    QCOMPARE(static_cast<size_t>(table.readAll().count('\n')), 1 + lines);
    QTest::keyClick(&window, Qt::Key_G);
    QVERIFY(!window.plots().showsGradients());
    window.restart();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() == 0, kPatience);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(!window.saveResults(folder.path()).contains(QStringLiteral("gradients.csv")));
    QVERIFY(!QFile::exists(file)); // it belonged to another run
}

} // namespace tst_gradient_map

QTEST_MAIN(tst_gradient_map::TestGradientMap)
#include "tst_gradient_map.moc"
