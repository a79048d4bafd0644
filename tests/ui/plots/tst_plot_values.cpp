// The table of what a plot shows, and where the user asks for it; and the speed that plot and
// figures share.
#include "tests/support/fed_run.h"
#include "tests/support/shown_plots.h"
#include "ui/plots/measure.h"
#include "ui/plots/plot_values.h"
#include "ui/plots/readout_item.h"
#include "ui/plots/smoothing.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QSignalSpy>

#include <cmath>
#include <limits>

namespace tst_plot_values {

using namespace halfscope;

class TestPlotValues : public QObject, private ShownPlots {
    Q_OBJECT
private slots:
    void init() { makeStack(); }
    void hasALineForEachStep();
    void hasWhatIsInView();
    void hasTrendAndOtherRuns();
    void throughputIsAsPlotted();
    void headerReadsTheSpeedOffItsLine();
    void plotAndFigureAgree();
    void headingsSayWhichSpeed();
    void pointerChoosesThePlot();

private:
    QStringList lines(const char* column) const {
        return QString::fromStdString(csvText(m_stack->values(QString::fromLatin1(column))))
            .split(u'\n');
    }
    /// Returns the header of the throughput; null where there is none.
    const ReadoutItem* header() const {
        const QCustomPlot& plot = plotOf(*m_stack);
        for (int i = 0; i < plot.itemCount(); ++i)
            if (const auto* each = qobject_cast<const ReadoutItem*>(plot.item(i));
                each && each->textsIn(2000).front().startsWith(QStringLiteral("Throughput")))
                return each;
        return nullptr;
    }
    /// Returns what it says of the first lane.
    QString speed() const { return header() ? header()->entries().front().value : QString(); }
};

void TestPlotValues::hasALineForEachStep() {
    for (int i = 1; i <= 3; ++i) {
        m_stack->append(0, record(i, 0, 0.5f / static_cast<float>(i)));
        m_stack->append(1, record(i, 1, 0.1f * static_cast<float>(i), 1024, i));
    }
    m_stack->append(0, record(4, 0, std::numeric_limits<float>::quiet_NaN()));
    show();
    QCOMPARE(lines("loss"), (QStringList{"step,A fp32,B amp-fp16", "1,0.5,0.1", "2,0.25,0.2",
                                         "3,0.16666667,0.3", "4,nan,", ""}));
    QCOMPARE(lines("skipped_so_far"),
             (QStringList{"step,A fp32,B amp-fp16", "1,0,1", "2,0,2", "3,0,3", "4,0,", ""}));
    QCOMPARE(lines("unknown"), (QStringList{"step", ""}));
}

/// As in a picture of the plots, what was zoomed or panned away is left out.
void TestPlotValues::hasWhatIsInView() {
    for (int i = 1; i <= 1000; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    QCOMPARE(lines("loss").size(), 1002);
    m_stack->showStep(500);
    for (int i = 0; i < 12; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    const QStringList seen = lines("loss");
    QVERIFY(seen.size() > 10 && seen.size() < 200);
    QVERIFY(seen[1].section(u',', 0, 0).toDouble() >= m_stack->firstVisibleStep());
    QVERIFY(seen[seen.size() - 2].section(u',', 0, 0).toDouble() <= m_stack->lastVisibleStep());
}

void TestPlotValues::hasTrendAndOtherRuns() {
    m_stack->append(0, record(1, 0, 0.75f));
    m_stack->append(0, record(2, 0, 0.25f));
    m_stack->keepLosses();
    m_stack->clear();
    m_stack->showPrevious(true);
    m_stack->append(0, record(1, 0, 1));
    m_stack->append(0, record(2, 0, 2));
    m_stack->setSmoothing(0.5);
    show();
    Smoother smoother(0.5);
    const double first = smoother.add(1), second = smoother.add(2);
    const QStringList table = lines("loss");
    const auto cell = [&table](int line, const QString& column) {
        const auto at = table[0].split(u',').indexOf(column);
        return at < 0 ? -1.0 : table[line].split(u',')[at].toDouble();
    };
    QVERIFY2(table.size() == 4, qPrintable(table.join(u'\n')));
    QCOMPARE(cell(2, QStringLiteral("A fp32")), 2.0);
    QCOMPARE(cell(1, QStringLiteral("A fp32 trend")), first);
    QCOMPARE(static_cast<float>(cell(2, QStringLiteral("A fp32 trend"))),
             static_cast<float>(second));
    QCOMPARE(cell(1, QStringLiteral("before A")), 0.75);
    QCOMPARE(cell(2, QStringLiteral("before A")), 0.25);
}

/// The plot shows steps per second, though its metric is the time of a step.
void TestPlotValues::throughputIsAsPlotted() {
    for (int i = 1; i <= 500; ++i)
        m_stack->append(0, record(i, 0, 0.1f)); // of a millisecond each
    show();
    const QStringList table = lines("device_seconds");
    QVERIFY(table.size() > 3);
    for (int line = 1; line + 1 < table.size(); ++line)
        QVERIFY2(std::abs(table[line].section(u',', 1, 1).toDouble() - 1000) < 1,
                 qPrintable(table[line]));
}

/// Between two points of the curve, and at the end of a run that rests.
void TestPlotValues::headerReadsTheSpeedOffItsLine() {
    constexpr int kFast = 5000, kLast = 5135, kPoint = 5100, kBetween = 5117;
    for (int i = 1; i <= kLast; ++i) {
        StepRecord each = record(i, 0, 0.1f);
        if (i > kFast) each.deviceSeconds = 0.002;
        m_stack->append(0, each);
    }
    m_stack->setResting(true);
    show();
    const QStringList table = lines("device_seconds");
    const auto point = [&table](qsizetype line, int column) {
        return table[table.size() - line].section(u',', column, column).toDouble();
    };
    QCOMPARE(point(2, 0), double{kLast}); // the line after it is empty
    QCOMPARE(point(3, 0), double{kPoint});
    const auto text = [](double value) {
        return valueText(knownMetrics()[metric::DeviceSeconds], value);
    };
    QVERIFY(text(point(2, 1)) != text(point(3, 1)));
    QCOMPARE(speed(), text(point(2, 1)));
    m_stack->showStep(kLast);
    QCOMPARE(speed(), text(point(2, 1)));
    m_stack->showStep(kPoint);
    QCOMPARE(speed(), text(point(3, 1)));
    m_stack->showStep(kBetween);
    const double share = double{kBetween - kPoint} / double{kLast - kPoint};
    QCOMPARE(speed(), text(std::lerp(point(3, 1), point(2, 1), share)));
    m_stack->setResting(false); // the line of a training ends at its last point
    draw();
    QCOMPARE(speed(), text(point(3, 1)));
    m_stack->pinCrosshair(std::nullopt); // the strip above the plots has the newest speed, too
    draw();
    QCOMPARE(speed(), text(point(2, 1)));
}

/// One step that the system delayed: neither the figure nor the plot falls, and both agree.
void TestPlotValues::plotAndFigureAgree() {
    FedModel run;
    run.start({"fp32"});
    FedPlots plots;
    plots.setLanes({QStringLiteral("fp32")});
    double wall = 0;
    for (int step = 1; step <= 300; ++step) {
        const double seconds = step == 150 ? 0.5 : 0.002 + 1e-6 * step;
        wall += seconds;
        StepRecord made = record(step, 0, 0.5f);
        made.deviceSeconds = seconds;
        made.wallSeconds = wall;
        run.append(std::vector{made}, {});
        plots.append(0, made);
    }
    plots.show();
    plots.setResting(true);
    plots.refresh();
    const auto spoken = [&plots](qint64 step) {
        plots.showStep(step - 1);
        QTest::keyClick(&plots, Qt::Key_Right);
        const QString text = plots.accessibleDescription();
        const QString lead = QStringLiteral("Throughput (steps/s), A fp32 ");
        return text.mid(text.indexOf(lead) + lead.size()).section(u';', 0, 0);
    };
    // the plot's last point may lie a tenth of a second before, and the median half as far
    QVERIFY2(std::abs(spoken(300).toDouble() - run.lane(0).stepsPerSecond) <= 5,
             qPrintable(spoken(300)));
    QVERIFY2(spoken(160).toDouble() > 400, qPrintable(spoken(160)));
}

/// The strip above the plots has the median of a whole run that is over, the plot its last speed.
void TestPlotValues::headingsSayWhichSpeed() {
    for (int i = 1; i <= 500; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    const auto titles = [this] { // in much room and in little
        draw();
        return QStringList{header()->textsIn(2000).front(), header()->textsIn(60).front()}.join(
            u'|');
    };
    const QString usual = QStringLiteral("Throughput (steps/s)|Steps/s");
    QCOMPARE(titles(), usual);
    m_stack->setSpeeds(SpeedsShown::AtTheEnd);
    QCOMPARE(titles(), QStringLiteral("Throughput at the end (steps/s)|Steps/s at the end"));
    const auto tells = [this](const char* words) { // a screen reader
        return m_stack->accessibleDescription().contains(QLatin1String(words));
    };
    QTest::qWait(1001); // it is told no more often
    m_stack->append(0, record(501, 0, 0.1f));
    draw();
    QVERIFY2(tells("; Throughput at the end (steps/s), A fp32 "),
             qPrintable(m_stack->accessibleDescription()));
    m_stack->showStep(100);
    QCOMPARE(titles(), usual);
    QTest::keyClick(m_stack.get(), Qt::Key_Left);
    QVERIFY2(tells("; Throughput (steps/s), A fp32 "),
             qPrintable(m_stack->accessibleDescription()));
    m_stack->pinCrosshair(std::nullopt);
    QVERIFY(titles() != usual);
    m_stack->setSpeeds(SpeedsShown::Present);
    QCOMPARE(titles(), usual);
}

void TestPlotValues::pointerChoosesThePlot() {
    m_stack->append(0, record(1, 0, 0.5f));
    m_stack->append(1, record(1, 1, 0.5f));
    show();
    QSignalSpy asked(m_stack.get(), &PlotStack::valuesRequested);
    QCustomPlot& plot = plotOf(*m_stack);
    const std::pair<QString, QString> plots[] = {
        {QStringLiteral("Loss/A fp32"), QStringLiteral("loss")},
        {QStringLiteral("Skipped steps/A fp32"), QStringLiteral("skipped_so_far")}};
    for (const auto& [graph, column] : plots) {
        const QPoint place = at(1, graph);
        QContextMenuEvent event(QContextMenuEvent::Mouse, place, plot.mapToGlobal(place));
        QApplication::sendEvent(&plot, &event);
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        for (QAction* action : menu->actions())
            if (action->text().startsWith(QStringLiteral("Save the values of"))) action->trigger();
        menu->close();
        QTRY_COMPARE(asked.size(), 1);
        QCOMPARE(asked.takeFirst()[0].toString(), column);
    }
}

} // namespace tst_plot_values

QTEST_MAIN(tst_plot_values::TestPlotValues)
#include "tst_plot_values.moc"
