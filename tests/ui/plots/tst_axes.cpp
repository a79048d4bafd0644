// What the plots are drawn with: colours of both themes, tick labels, and the averaging of the
// speed.
#include "ui/look/theme.h"
#include "ui/models/run_model.h"
#include "ui/plots/measure.h"
#include "ui/plots/plot_panel.h"
#include "ui/plots/tickers.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QScopeGuard>
#include <QSlider>
#include <QSpinBox>
#include <QtTest>

#include <cmath>
#include <limits>

namespace tst_axes {

using namespace halfscope;

class TestAxes : public QObject {
    Q_OBJECT
private slots:
    void controlsHaveOutlines_data();
    void controlsHaveOutlines();
    void tickLabels_data();
    void tickLabels();
    void labelsInLittleRoom_data();
    void labelsInLittleRoom();
    void stepsInLittleRoom();
    void endsOfScalesHaveLabels();
    void prefixes();
    void percentages();
    void scalesOfAnySize();
    void largeValues();
    void figuresAreWrittenAsElsewhere();
    void sharesFillTheirAxis();
    void sharesReadAsOnTheCards();
    void scalesFarApartStayOffTheAxis();
    void countsOfZeroAreSeen();
    void ratesHaveFewPoints();
    void longRunsAreReadInParts();
};

void TestAxes::controlsHaveOutlines_data() {
    QTest::addColumn<int>("theme");
    QTest::newRow("light") << int(Theme::Light);
    QTest::newRow("dark") << int(Theme::Dark);
}

/// Checks the edges by which controls are recognised, as painted.
void TestAxes::controlsHaveOutlines() {
    QFETCH(int, theme);
    applyTheme(*qApp, static_cast<Theme>(theme));
    QCheckBox check;
    QLineEdit line;
    QSpinBox spin;
    QComboBox box;
    QSlider slider(Qt::Horizontal);
    const QColor window = QApplication::palette().color(QPalette::Window);
    for (QWidget* control :
         {static_cast<QWidget*>(&check), static_cast<QWidget*>(&line), static_cast<QWidget*>(&spin),
          static_cast<QWidget*>(&box), static_cast<QWidget*>(&slider)}) {
        control->resize(control->sizeHint());
        const QImage image = control->grab().toImage();
        const int middle = image.height() / 2;
        double best = 0;
        for (int x = 0; x < std::min(4, image.width()); ++x)
            best = std::max(best, contrast(image.pixelColor(x, middle), window));
        QVERIFY2(best >= 3, qPrintable(QStringLiteral("%1: %2")
                                           .arg(QLatin1String(control->metaObject()->className()))
                                           .arg(best)));
    }
}

void TestAxes::tickLabels_data() {
    QTest::addColumn<QString>("ticker");
    QTest::addColumn<double>("lower");
    QTest::addColumn<double>("upper");
    QTest::addColumn<QStringList>("labels");
    QTest::newRow("whole steps") << "step" << 0.0 << 7.2 << QStringList{"0", "2", "4", "6"};
    QTest::newRow("octaves") << "two" << 0.7 << 5.5 << QStringList{"2^0", "2^1", "2^2"};
    QTest::newRow("16 to 18") << "two" << 46341.0 << 370728.0
                              << QStringList{"2^16", "2^17", "2^18"};
    QTest::newRow("below one") << "two" << 0.1 << 0.6 << QStringList{"2^-3", "2^-2", "2^-1"};
    QTest::newRow("decades") << "ten" << 0.005 << 1.5 << QStringList{"0.01", "0.1", "1"};
    const auto whole = [](int number) { return QLocale().toString(number); };
    QTest::newRow("errors in euros")
        << "ten" << 7000.0 << 120000.0
        << QStringList{whole(10000), whole(20000), whole(50000), whole(100000)};
    // all as powers, where one is
    QTest::newRow("far above one") << "ten" << 0.5 << 1e17 << QStringList{"1", "1e+06", "1e+12"};
    QTest::newRow("far below one") << "ten" << 5e-7 << 2.0 << QStringList{"1e-06", "1e-03", "1"};
    QTest::newRow("around 1e-4") << "share" << 0.0 << 2.1e-4
                                 << QStringList{"0", "5e-05", "1e-04", "1.5e-04", "2e-04"};
    // three digits would put the label 1.33 beside its place, and write two of the next alike
    QTest::newRow("quarters") << "ten" << 1.29 << 1.36 << QStringList{"1.3", "1.325", "1.35"};
    QTest::newRow("close together")
        << "ten" << 0.12341 << 0.12349 << QStringList{"0.12343", "0.12345", "0.12348"};
    QTest::newRow("skipped") << "count" << 0.0 << 1.2 << QStringList{"0", "1"};
    QTest::newRow("zero is not alone") << "low" << 0.0 << 154.0 << QStringList{"0", "100"};
    QTest::newRow("many") << "count" << 0.0 << 5e6 << QStringList{"0", "2M", "4M"};
}

void TestAxes::tickLabels() {
    QFETCH(QString, ticker);
    QFETCH(double, lower);
    QFETCH(double, upper);
    QFETCH(QStringList, labels);
    QSharedPointer<QCPAxisTicker> made;
    if (ticker == QLatin1String("count") || ticker == QLatin1String("low"))
        made = QSharedPointer<PrefixTicker>::create(true);
    else if (ticker == QLatin1String("share"))
        made = QSharedPointer<PrefixTicker>::create(false);
    else if (ticker == QLatin1String("step"))
        made = QSharedPointer<StepTicker>::create();
    else
        made = QSharedPointer<PowerTicker>::create(ticker == QLatin1String("two") ? 2 : 10);
    made->setTickCount(ticker == QLatin1String("low") ? 1 : 3);
    const QCPRange range(lower, upper);
    QVector<double> ticks;
    QVector<QString> texts;
    made->generate(range, QLocale::c(), u'g', 6, ticks, nullptr, &texts);
    QStringList inside;
    for (qsizetype i = 0; i < ticks.size(); ++i)
        if (range.contains(ticks[i])) inside << texts[i];
    QCOMPARE(inside, labels);
}

void TestAxes::labelsInLittleRoom_data() {
    QTest::addColumn<QString>("ticker");
    QTest::addColumn<double>("lower");
    QTest::addColumn<double>("upper");
    QTest::addColumn<double>("share"); // of the axis, which a label needs
    QTest::addColumn<QStringList>("labels");
    QTest::newRow("validation loss") << "ten" << 0.53 << 0.92 << 0.9 << QStringList{"0.6"};
    QTest::newRow("low validation loss")
        << "ten" << 0.53 << 0.92 << 0.7 << QStringList{"0.6", "0.9"};
    QTest::newRow("most of a decade")
        << "ten" << 0.27 << 2.4 << 0.25 << QStringList{"0.5", "1", "2"};
    QTest::newRow("two decades") // their labels would touch
        << "ten" << 0.000275 << 0.052 << 0.6 << QStringList{"0.0005", "0.02"};
    QTest::newRow("two fit") << "ten" << 0.53 << 0.92 << 0.45 << QStringList{"0.6", "0.8"};
    QTest::newRow("a staircase") << "two" << std::exp2(10.5) << std::exp2(24.5) << 0.45
                                 << QStringList{"2^16", "2^24"};
    QTest::newRow("far apart") << "two" << std::exp2(-12.0) << std::exp2(18.0) << 0.3
                               << QStringList{"2^0", "2^16"};
    QTest::newRow("scales held fixed")
        << "two" << std::exp2(-10.5) << std::exp2(16.5) << 0.45 << QStringList{"2^0", "2^16"};
    QTest::newRow("one octave") << "two" << std::exp2(15.5) << std::exp2(17.5) << 0.9
                                << QStringList{"2^16"};
    QTest::newRow("accuracy") << "share" << 0.72 << 0.93 << 0.4 << QStringList{"80 %", "90 %"};
    QTest::newRow("low accuracy") << "share" << 0.705 << 0.862 << 0.7
                                  << QStringList{"74 %", "86 %"};
    QTest::newRow("high accuracy")
        << "share" << 0.9801 << 0.9809 << 0.3 << QStringList{"98.04 %", "98.08 %"};
    QTest::newRow("skipped steps") << "count" << 0.0 << 1.18 << 0.45 << QStringList{"0", "1"};
}

/// One label does not say how far apart two values are: there are two wherever two fit.
void TestAxes::labelsInLittleRoom() {
    QFETCH(QString, ticker);
    QFETCH(double, lower);
    QFETCH(double, upper);
    QFETCH(double, share);
    QFETCH(QStringList, labels);
    QSharedPointer<SpacedTicker> made;
    if (ticker == QLatin1String("count"))
        made = QSharedPointer<PrefixTicker>::create(true);
    else if (ticker == QLatin1String("share"))
        made = QSharedPointer<PercentTicker>::create();
    else
        made = QSharedPointer<PowerTicker>::create(ticker == QLatin1String("two") ? 2 : 10);
    made->setTickCount(1);
    made->setLabelShare(share);
    QVector<double> ticks;
    QVector<QString> texts;
    made->generate(QCPRange(lower, upper), QLocale::c(), u'g', 6, ticks, nullptr, &texts);
    QCOMPARE(QStringList(texts.begin(), texts.end()), labels);
}

/// The lowest and the highest scale have labels, and the others those that touch none of theirs.
void TestAxes::endsOfScalesHaveLabels() {
    const auto labels = [](double lowest, double highest, double share) {
        PowerTicker made(2);
        made.setTickCount(2);
        made.setLabelShare(share);
        made.setEnds(std::exp2(lowest), std::exp2(highest));
        QVector<double> ticks;
        QVector<QString> texts;
        made.generate(QCPRange(std::exp2(lowest - 1), std::exp2(highest + 1)), QLocale::c(), u'g',
                      6, ticks, nullptr, &texts);
        return QStringList(texts.begin(), texts.end()).join(u' ');
    };
    QCOMPARE(labels(-10, 16, 0.2), QStringLiteral("2^-10 2^0 2^16"));
    QCOMPARE(labels(15, 40, 0.2), QStringLiteral("2^15 2^32 2^40"));
    QCOMPARE(labels(15, 40, 0.4), QStringLiteral("2^15 2^40"));
    QCOMPARE(labels(-14, 40, 0.26), QStringLiteral("2^-14 2^16 2^40")); // as 2^0 and 2^32 would not
    QCOMPARE(labels(15.5, 39.5, 0.2), QStringLiteral("2^16 2^32"));     // no powers of two
}

/// Fewer steps have labels where the axis is short, and they stay round.
void TestAxes::stepsInLittleRoom() {
    const QCPRange range(-3, 303);
    const auto labels = [&range](double share) {
        StepTicker made;
        made.setLabelShare(share);
        QVector<double> ticks;
        QVector<QString> texts;
        made.generate(range, QLocale::c(), u'g', 6, ticks, nullptr, &texts);
        QStringList inside;
        for (qsizetype i = 0; i < ticks.size(); ++i)
            if (range.contains(ticks[i])) inside << texts[i];
        return inside.join(u' ');
    };
    QCOMPARE(labels(0), QStringLiteral("0 50 100 150 200 250 300"));
    QCOMPARE(labels(0.15), QStringLiteral("0 50 100 150 200 250 300"));
    QCOMPARE(labels(0.2), QStringLiteral("0 100 200 300"));
    QCOMPARE(labels(0.5), QStringLiteral("0 200"));
    QCOMPARE(labels(0.9), QStringLiteral("0"));
}

/// Numbers have at most three digits, and never an exponent.
void TestAxes::prefixes() {
    QCOMPARE(withPrefix(0), QStringLiteral("0"));
    QCOMPARE(withPrefix(999.4), QStringLiteral("999"));
    QCOMPARE(withPrefix(999.6), QStringLiteral("1k"));
    QCOMPARE(withPrefix(45400), QStringLiteral("45.4k"));
    QCOMPARE(withPrefix(-2.5e6), QStringLiteral("-2.5M"));
    QCOMPARE(withPrefix(7e9), QStringLiteral("7G"));
}

/// What is not all of it is not called 100 %.
void TestAxes::percentages() {
    QCOMPARE(percentText(0), QStringLiteral("0 %"));
    QCOMPARE(percentText(0.0004), QStringLiteral("<0.1 %"));
    QCOMPARE(percentText(0.032), QStringLiteral("3.2 %"));
    QCOMPARE(percentText(0.5), QStringLiteral("50 %"));
    QCOMPARE(percentText(0.994), QStringLiteral("99 %"));
    QCOMPARE(percentText(0.997), QStringLiteral("99.7 %"));
    QCOMPARE(percentText(0.9996), QStringLiteral(">99.9 %"));
    QCOMPARE(percentText(1), QStringLiteral("100 %"));
    QCOMPARE(finePercentText(0), QStringLiteral("0.00 %"));
    QCOMPARE(finePercentText(0.00004), QStringLiteral("<0.01 %"));
    QCOMPARE(finePercentText(0.973), QStringLiteral("97.30 %"));
    QCOMPARE(finePercentText(0.99994), QStringLiteral("99.99 %"));
    QCOMPARE(finePercentText(0.99996), QStringLiteral(">99.99 %"));
    QCOMPARE(finePercentText(1), QStringLiteral("100.00 %"));
}

/// A scale that is no power of two is written out, too, as in the sentences about it.
void TestAxes::scalesOfAnySize() {
    const Metric& scale = knownMetrics()[metric::Scale];
    const QLocale locale; // groups digits
    QCOMPARE(valueText(scale, 65536), locale.toString(65536) + QStringLiteral(" = 2^16"));
    QCOMPARE(valueText(scale, 1), QStringLiteral("1 = 2^0")); // as on the cards
    QCOMPARE(shortValueText(scale, valueText(scale, 1)), QStringLiteral("2^0"));
    QCOMPARE(valueText(scale, 70000), locale.toString(70000));
    for (const double large : {12621775.0, 33600000.0, 1e30})
        QCOMPARE(valueText(scale, large), scaleText(large)); // as on the cards
    QCOMPARE(valueText(scale, 33600000), locale.toString(33600000));
    QCOMPARE(valueText(scale, 0.3), QStringLiteral("0.3"));
    QCOMPARE(valueText(scale, 1e30), QStringLiteral("1e+30"));
}

/// An error in the units of the data is written as prices are.
void TestAxes::largeValues() {
    const Metric& error = knownMetrics()[metric::ValidationError];
    QCOMPARE(valueText(error, 11676.4), QLocale().toString(11676));
    QCOMPARE(valueText(error, 9999.7), QLocale().toString(10000));
    QCOMPARE(valueText(error, 9999), QLocale().toString(9999));
    QCOMPARE(valueText(error, 1.4e11), QStringLiteral("1.4e+11"));
}

/// A scale of "8.192" beside a loss of "31.75" would be read as about 8.
void TestAxes::figuresAreWrittenAsElsewhere() {
    const auto back = qScopeGuard([before = QLocale()] { QLocale::setDefault(before); });
    QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
    const Metric& loss = knownMetrics()[metric::Loss];
    const Metric& rate = knownMetrics()[metric::DeviceSeconds];
    const Metric& scale = knownMetrics()[metric::Scale];
    QCOMPARE(valueText(scale, 8192), QStringLiteral("8.192 = 2^13"));
    QCOMPARE(valueText(loss, 31.75), QStringLiteral("31,75"));
    QCOMPARE(shortValueText(loss, QStringLiteral("31,75")), QStringLiteral("31,8"));
    QCOMPARE(shortValueText(loss, valueText(loss, 0.000012345)), QStringLiteral("1,2e-5"));
    QCOMPARE(valueText(rate, 89123), QStringLiteral("89,1k"));
    QCOMPARE(shortValueText(rate, QStringLiteral("89,1k")), QStringLiteral("89k"));
    QCOMPARE(powerOfTwo(0.3), QStringLiteral("0,3")); // as on an axis
}

/// The header of a plot writes a share as the cards and the closing sentence do.
void TestAxes::sharesReadAsOnTheCards() {
    const Metric& accuracy = knownMetrics()[metric::Accuracy];
    LaneStatus lane;
    for (const double share : {0.0, 3.9e-5, 0.000196, 0.866, 0.88912, 0.99999, 1.0}) {
        lane.accuracy = share;
        QCOMPARE(valueText(accuracy, share), lane.accuracyText());
        QCOMPARE(valueText(knownMetrics()[metric::TrainingAccuracy], share), lane.accuracyText());
    }
    const Metric& unchanged = knownMetrics()[metric::UnchangedWeights];
    QCOMPARE(valueText(unchanged, 0.7312), percentText(0.7312));
    const auto brief = [&](double value) {
        return shortValueText(accuracy, valueText(accuracy, value));
    };
    QCOMPARE(brief(0.866), QStringLiteral("86.6 %"));
    QCOMPARE(brief(3.9e-5), QStringLiteral("<0.01 %"));
    QCOMPARE(brief(0.9996), QStringLiteral(">99.9 %")); // not "100.0 %"
    QCOMPARE(brief(1), QStringLiteral("100.0 %"));
    QCOMPARE(shortValueText(unchanged, valueText(unchanged, 0.7312)), QStringLiteral("73 %"));
}

/// Accuracies of 96 and 97 % are far apart on the axis, and no axis reaches far beyond 100 %.
void TestAxes::sharesFillTheirAxis() {
    const Metric& accuracy = knownMetrics()[metric::Accuracy];
    const QCPRange high = rangeOf(accuracy, 0.96, 0.97);
    QVERIFY(high.lower < 0.96 && high.lower > 0.94 && high.upper > 0.97 && high.upper < 0.99);
    const QCPRange all = rangeOf(accuracy, 0, 1);
    QVERIFY(all.lower == 0 && all.upper > 1 && all.upper < 1.2);
    const QCPRange one = rangeOf(accuracy, 0.5, 0.5);
    QVERIFY(one.lower < 0.5 && one.upper > 0.5);
}

/// The line of the smallest of several fixed scales is seen beside the axis, not below it.
void TestAxes::scalesFarApartStayOffTheAxis() {
    const Metric& scale = knownMetrics()[metric::Scale];
    const auto shareBelow = [&](double lowest, double highest) {
        const QCPRange range = rangeOf(scale, lowest, highest);
        return std::log2(lowest / range.lower) / std::log2(range.upper / range.lower);
    };
    QVERIFY(shareBelow(std::exp2(-10), 65536) > 0.05);
    QCOMPARE(rangeOf(scale, 32768, 65536).lower, std::exp2(14.5)); // a few keep half an octave
}

/// A thin line at zero lies above the axis, also in a low plot and beside many skipped steps.
void TestAxes::countsOfZeroAreSeen() {
    constexpr double kLowest = 50; // pixels
    const Metric& skipped = knownMetrics()[metric::SkippedSoFar];
    for (const double most : {0.0, 1.0, 13.0, 5000.0}) {
        const QCPRange range = rangeOf(skipped, 0, most);
        const double below = -range.lower / range.size();
        QVERIFY2(kLowest * below >= 1 && below < 0.05, qPrintable(QString::number(most)));
    }
}

void TestAxes::ratesHaveFewPoints() {
    ColumnWriter device, wall;
    RateCurve curve;
    double now = 0;
    int64_t step = 0;
    const auto add = [&](double seconds) {
        ++step;
        device.append(step, seconds);
        wall.append(step, now += seconds > 0 ? seconds : 0);
    };
    for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
        add(seconds);
    curve.update(device.column(), wall.column());
    QVERIFY(curve.points().empty() && !curve.rest());
    add(0.01);
    curve.update(device.column(), wall.column());
    QCOMPARE(curve.points().size(), int64_t{1});
    QVERIFY(std::abs(curve.points().lastValue() - 100) < 1e-4);
    QVERIFY(!curve.rest());
    // later a point covers a tenth of a second, here 100 steps of a millisecond
    for (int i = 0; i < 100000; ++i)
        add(0.001);
    RateCurve late; // however often it looks, and from whatever step
    late.update(device.column(), wall.column());
    curve.update(device.column(), wall.column());
    QCOMPARE(late.points().size(), curve.points().size());
    const int64_t points = curve.points().size();
    QVERIFY(std::abs(curve.points().lastValue() - 1000) < 1e-3);
    QVERIFY2(points > 900 && points < 1400, qPrintable(QString::number(points)));
    QVERIFY(late.rest() == curve.rest());
}

/// Or a frame would take as long as the run has rows.
void TestAxes::longRunsAreReadInParts() {
    constexpr int64_t kSteps = 1'200'000;
    ColumnWriter device, wall;
    for (int64_t step = 1; step <= kSteps; ++step) {
        device.append(step, 0.001);
        wall.append(step, 0.001 * static_cast<double>(step));
    }
    RateCurve curve;
    int parts = 1;
    int64_t points = 0;
    while (curve.update(device.column(), wall.column())) {
        QVERIFY(curve.points().size() > points); // each goes on
        points = curve.points().size();
        ++parts;
    }
    QCOMPARE(parts, 3);
    QVERIFY(curve.points().lastStep() > kSteps - 200);
}

} // namespace tst_axes

QTEST_MAIN(tst_axes::TestAxes)
#include "tst_axes.moc"
