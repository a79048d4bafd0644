// What a picture file of the plots has that the window has no room for, and what it leaves out.
#include "tests/support/shown_plots.h"
#include "ui/plots/plot_picture.h"

#include <QImage>
#include <QtTest>
#include <qcustomplot.h>

namespace tst_whole_plots {

using namespace halfscope;

class TestWholePlots : public QObject, private ShownPlots {
    Q_OBJECT
private slots:
    void init() { makeStack(); }
    void filesHaveAllPlots();
    void filesHaveNoEmptyRows();
    void slidesAreAsShown();
};

/// A file has no button for more plots, and no window that they must fit into.
void TestWholePlots::filesHaveAllPlots() {
    for (int i = 1; i <= 100; ++i)
        m_stack->append(1, record(i, 1, 0.5f));
    show(650, 230);
    QVERIFY(!m_stack->svg().contains("Throughput"));
    const QByteArray content = m_stack->file(PlotForm::Svg);
    for (const char* title : {">Loss<", ">Loss scale<", ">Throughput", ">Skipped steps<"})
        QVERIFY2(content.contains(title), title);
    const QImage image = QImage::fromData(m_stack->file(PlotForm::Png), "PNG");
    QCOMPARE(image.width(), 2 * plotOf(*m_stack).width());
    QVERIFY(image.height() > 2 * plotOf(*m_stack).height());
    draw(); // the window has its own plots again
    QVERIFY(!m_stack->svg().contains("Throughput"));
    m_stack->hidePlots({QStringLiteral("device_seconds")});
    QVERIFY(!m_stack->file(PlotForm::Svg).contains("Throughput"));
}

/// A row of events without a mark says nothing on paper; the window keeps it for those to come.
void TestWholePlots::filesHaveNoEmptyRows() {
    m_stack->append(0, record(100, 0, 0.5f));
    m_stack->append(1, record(100, 1, 0.5f));
    show();
    QCustomPlot& plot = plotOf(*m_stack);
    const auto rows = [&plot] { // as drawn last
        const QCPAxisRect* events = plot.axisRect(plot.axisRectCount() - 1);
        return QStringList(events->axis(QCPAxis::atLeft)->tickVectorLabels()).join(u' ');
    };
    QCOMPARE(rows(), QStringLiteral("A B"));
    QVERIFY(!m_stack->file(PlotForm::Svg).isEmpty());
    QCOMPARE(rows(), QString());
    m_stack->addEvent(eventOf(EventKind::Overflow, 50, 1));
    draw();
    QVERIFY(!m_stack->file(PlotForm::Svg).isEmpty());
    QCOMPARE(rows(), QStringLiteral("B"));
    draw();
    QCOMPARE(rows(), QStringLiteral("A B"));
}

/// Of plots that are magnified for an audience, a file has those that the audience sees, in their
/// proportions.
void TestWholePlots::slidesAreAsShown() {
    for (int i = 1; i <= 100; ++i)
        m_stack->append(1, record(i, 1, 0.5f));
    m_stack->magnify(2);
    show(900, 230);
    const QByteArray shown = m_stack->svg();
    QVERIFY(!shown.contains("Throughput") && !shown.contains("Steps/s"));
    QVERIFY(m_stack->file(PlotForm::Svg) == shown);
    m_stack->magnify(1);
    draw();
    QVERIFY(m_stack->file(PlotForm::Svg).contains("Throughput"));
}

} // namespace tst_whole_plots

QTEST_MAIN(tst_whole_plots::TestWholePlots)
#include "tst_whole_plots.moc"
