// The window of the gradients by layer: what stays in view of its strips, and what its heading
// says of counts that are older than the settings.
#include "tests/support/fed_run.h"
#include "tests/support/shown_window.h"
#include "ui/dialogs/layer_gradients_dialog.h"
#include "ui/dialogs/layer_gradients_view.h"
#include "ui/look/text_fit.h"

#include <QHeaderView>
#include <QScrollBar>
#include <QTableView>

namespace tst_layer_gradients_dialog {

using namespace halfscope;
using Model = LayerGradientsModel;

namespace {

/// A transformer's layers in each of so many lanes with long names.
FedRun longNames(int lanes) {
    FedRun fed;
    QStringList names;
    std::vector<GradientRange> ranges;
    for (int lane = 0; lane < lanes; ++lane) {
        names << QStringLiteral("amp-fp16, Growth interval %1000").arg(lane + 1);
        GradientRange range;
        range.step = 385;
        range.scale = 65536;
        range.type = DType::F16;
        for (const char* part : {"norm1", "self_attn", "self_attn.out_proj", "linear1"}) {
            LayerGradients layer;
            layer.layer = std::string("CausalTransformerEncoderLayer 2.") + part;
            layer.type = DType::F16;
            layer.weights.buckets[40] = 100;
            layer.error = 0.00123;
            range.layers.push_back(layer);
        }
        ranges.push_back(range);
    }
    fed.start(names, {});
    fed.appendGradients(ranges);
    return fed;
}

LayerGradientsDialog::Source sourceOf(const FedRun& fed, const QString& note = {}) {
    return {[run = fed.run] { return std::shared_ptr<const Run>(run); }, [] { return false; },
            [note](bool) { return note; }};
}

} // namespace

class TestLayerGradientsDialog : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void stripsStayInView_data();
    void stripsStayInView();
    void namesBreakBeforeTheyAreCut_data();
    void namesBreakBeforeTheyAreCut();
    void earlierGradientsAreExplained();
};

void TestLayerGradientsDialog::stripsStayInView_data() {
    QTest::addColumn<int>("lanes");
    QTest::addColumn<int>("letters"); // the width of the window
    QTest::addColumn<double>("size"); // of letters
    QTest::addColumn<bool>("whole");  // names
    QTest::newRow("two lanes") << 2 << 220 << 1.0 << true;
    QTest::newRow("five lanes") << 5 << 120 << 1.0 << false;
    QTest::newRow("a presentation") << 2 << 250 << 2.5 << false;
    QTest::newRow("narrow") << 6 << 105 << 1.0 << false;
}

/// Gradients overflow at a strip's right end: it may be narrow, but is never scrolled away.
void TestLayerGradientsDialog::stripsStayInView() {
    QFETCH(const int, lanes);
    QFETCH(const int, letters);
    QFETCH(const double, size);
    QFETCH(const bool, whole);
    const FedRun fed = longNames(lanes);
    LayerGradientsDialog dialog(sourceOf(fed));
    dialog.show();
    QVERIFY(test::isExposed(&dialog));
    for (QWidget* part : dialog.figure())
        part->setFont(scaledFont(dialog.font(), size));
    dialog.resize(letters * dialog.fontMetrics().averageCharWidth(), 500);
    const auto* table = dialog.findChild<QTableView*>();
    QCOMPARE(table->model()->rowCount(), 4 * lanes);
    const int letter = table->fontMetrics().averageCharWidth();
    const auto rightEnd = [table] {
        return table->columnViewportPosition(Model::Sizes) + table->columnWidth(Model::Sizes);
    };
    QTRY_COMPARE(rightEnd(), table->viewport()->width());
    QVERIFY(table->columnWidth(Model::Sizes) >= 10 * letter);
    QVERIFY(table->columnWidth(Model::Lane) >= 9 * letter);
    QCOMPARE(table->horizontalScrollBar()->maximum(), 0);
    const bool isWhole = table->columnWidth(Model::Lane) >=
                         table->sizeHintForIndex(table->model()->index(0, Model::Lane)).width();
    QCOMPARE(isWhole, whole);
}

void TestLayerGradientsDialog::namesBreakBeforeTheyAreCut_data() {
    QTest::addColumn<double>("size"); // of letters
    for (const double size : {0.8, 1.0, 1.25, 1.5})
        QTest::addRow("%g", size) << size;
}

/// A layer has a row for each lane, so that its name has room in two of them.
void TestLayerGradientsDialog::namesBreakBeforeTheyAreCut() {
    QFETCH(const double, size);
    const FedRun fed = longNames(2);
    LayerGradientsDialog dialog(sourceOf(fed));
    dialog.show();
    QVERIFY(test::isExposed(&dialog));
    auto& view = *dialog.findChild<LayerGradientsView*>();
    for (QWidget* part : dialog.figure())
        part->setFont(scaledFont(dialog.font(), size));
    const auto widthWith = [&](int letters) {
        dialog.resize(letters * view.fontMetrics().averageCharWidth(), 500);
        QCoreApplication::processEvents();
        return view.columnWidth(Model::Layer);
    };
    const QFontMetrics metrics = view.fontMetrics();
    const int whole =
        metrics.horizontalAdvance("CausalTransformerEncoderLayer 2.self_attn.out_proj");
    const int part = metrics.horizontalAdvance("CausalTransformerEncoderLayer");
    QVERIFY(widthWith(200) > whole);
    int letters = 200;
    while (widthWith(letters) > whole)
        --letters;
    letters -= 15;
    QVERIFY(widthWith(letters) < whole && widthWith(letters) > part);
    const QString lane = view.model()->index(0, Model::Lane).data().toString();
    QVERIFY(view.columnWidth(Model::Lane) > metrics.horizontalAdvance(lane));
    // the second row of a layer has the end of its name
    const auto inked = [&view](int row) {
        const QRect cell = view.visualRect(view.model()->index(row, Model::Layer));
        const QImage image = view.viewport()->grab(cell.adjusted(0, 2, -2, -2)).toImage();
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                if (image.pixel(x, y) != image.pixel(0, 0)) return true;
        return false;
    };
    QVERIFY(inked(3));
    widthWith(200);
    QVERIFY(!inked(3));
}

/// A pause inside a step lets no new scale show: the heading says so, as the other view does.
void TestLayerGradientsDialog::earlierGradientsAreExplained() {
    const FedRun fed = longNames(1);
    const QString note = QStringLiteral("Paused in the middle of step 408.");
    LayerGradientsDialog dialog(sourceOf(fed, note));
    QCOMPARE(dialog.heading(),
             QStringLiteral("Gradients after step 384, times the loss scale (A: 65536 = 2^16). ") +
                 note);
    QVERIFY(dialog.model().rowCount() > 0);
    const LayerGradientsDialog now(sourceOf(fed));
    QVERIFY2(now.heading().endsWith(QStringLiteral("2^16).")), qPrintable(now.heading()));
}

} // namespace tst_layer_gradients_dialog

QTEST_MAIN(tst_layer_gradients_dialog::TestLayerGradientsDialog)
#include "tst_layer_gradients_dialog.moc"
