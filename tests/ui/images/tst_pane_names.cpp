// What pictures of lanes are called where whole names have no room: enough to tell what each lane
// is.
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/images/pane_titles.h"
#include "ui/models/lane_titles.h"

#include <QtTest>

namespace tst_pane_names {

using namespace halfscope;

class TestPaneNames : public QObject {
    Q_OBJECT
private slots:
    void longestParts_data();
    void longestParts();
    void saysWhichListOfPyTorch();
    void theLastTitleHasAShortForm();
};

void TestPaneNames::longestParts_data() {
    QTest::addColumn<QString>("labels");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* labels, const char* said) {
        QTest::newRow(labels) << QString::fromLatin1(labels) << QString::fromLatin1(said);
    };
    row("A fp32|B tf32|C amp-fp16|D torch-cpu-fp16|E keras-mixed-float16",
        "A fp32|B tf32|C amp|D torch-cpu|E keras-mixed");
    row("A torch-cpu-fp16|B torch-cpu-bf16|C torch-xpu-fp16", "A cpu-fp16|B cpu-bf16|C torch-xpu");
    row("A apex-o0|B apex-o1", "A o0|B o1");
    row("A fp32|B amp-fp16|C fp16", "A fp32|B amp|C fp16");
}

void TestPaneNames::longestParts() {
    QFETCH(const QString, labels);
    const QStringList all = labels.split(u'|');
    QStringList said;
    for (int lane = 0; lane < all.size(); ++lane)
        said << distinctLabel(all, lane, DistinctPart::Longest);
    QTEST(said.join(u'|'), "said");
}

/// "D torch" would not tell the lists for the CPU from those for CUDA, which are PyTorch's, too.
void TestPaneNames::saysWhichListOfPyTorch() {
    constexpr int kWidth = 648; // of the pictures in a window of 1280 x 800
    CompareView pictures;
    pictures.setLanes({QStringLiteral("fp32"), QStringLiteral("tf32"), QStringLiteral("amp-fp16"),
                       QStringLiteral("torch-cpu-fp16"), QStringLiteral("keras-mixed-float16")});
    pictures.resize(kWidth, 200);
    pictures.show();
    QCoreApplication::processEvents();
    QCOMPARE(pictures.view(3).shownTitle(), QStringLiteral("D torch-cpu"));
    QCOMPARE(pictures.view(4).shownTitle(), QStringLiteral("E keras-mixed"));
    pictures.resize(2 * kWidth, 200);
    QCoreApplication::processEvents();
    QCOMPARE(pictures.view(3).shownTitle(), QStringLiteral("D torch-cpu-fp16"));
}

/// The title of the last pane gets shorter before it is cut.
void TestPaneNames::theLastTitleHasAShortForm() {
    const auto chosen = [](qsizetype room) {
        const auto fits = [room](int, const QString& title, const QString&, TitleSize) {
            return title.size() <= room;
        };
        return titlesTogether(
                   {QStringLiteral("A fp32")},
                   {QStringLiteral("Target (first batch)"), QStringLiteral("First batch")}, {{}},
                   fits)
            .titles.back();
    };
    QCOMPARE(chosen(20), QStringLiteral("Target (first batch)"));
    QCOMPARE(chosen(19), QStringLiteral("First batch"));
    QCOMPARE(chosen(5), QStringLiteral("First batch"));
}

} // namespace tst_pane_names

QTEST_MAIN(tst_pane_names::TestPaneNames)
#include "tst_pane_names.moc"
