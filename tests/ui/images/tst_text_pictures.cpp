// Pictures of texts, with their marks, in the colours of the theme.
#include "engine/data/text_sheet.h"
#include "engine/settings/fields.h"
#include "tests/support/cpu_run.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/images/picture_image.h"
#include "ui/look/theme.h"

#include <QApplication>
#include <QtTest>

#include <map>

namespace tst_text_pictures {

using namespace halfscope;

class TestTextPictures : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { applyTheme(*qApp, Theme::Light); }
    void marksCanBeReadInEitherTheme_data();
    void marksCanBeReadInEitherTheme();
    void lanesWriteOnThePaperOfTheTheme();
};

namespace {

/// A prompt on grey, a letter as lane A has it, another one on blue, a right and a wrong one.
Picture sheet() {
    const std::vector<std::string> names{"a", "b"};
    const std::vector<int32_t> one{0}, written{0, 1}, first{0, 0};
    return writtenSheet(names, {one, written, first, written, first});
}

std::map<QRgb, int> coloursOf(const QImage& image) {
    std::map<QRgb, int> counts;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            ++counts[image.pixel(x, y)];
    return counts;
}

} // namespace

void TestTextPictures::marksCanBeReadInEitherTheme_data() {
    QTest::addColumn<int>("theme");
    QTest::newRow("light") << static_cast<int>(Theme::Light);
    QTest::newRow("dark") << static_cast<int>(Theme::Dark);
}

void TestTextPictures::marksCanBeReadInEitherTheme() {
    QFETCH(const int, theme);
    applyTheme(*qApp, static_cast<Theme>(theme));
    const QColor ink = qApp->palette().color(QPalette::Text);
    const QColor paper = qApp->palette().color(QPalette::Base);
    std::map<QRgb, int> counts = coloursOf(markedImage(sheet(), ink, paper));
    QCOMPARE(counts.size(), size_t{5});
    QVERIFY(counts.contains(ink.rgb()) && counts.contains(paper.rgb()));
    std::vector<int> hues;
    for (const auto& [colour, count] : counts) {
        if (colour == ink.rgb()) continue;
        QVERIFY2(contrast(ink, colour) >= 4.5, qPrintable(QColor(colour).name()));
        if (QColor(colour).hslSaturation() > 60) hues.push_back(QColor(colour).hslHue());
    }
    std::sort(hues.begin(), hues.end());
    QCOMPARE(hues.size(), size_t{2}); // orange and blue stay what the words below call them
    QVERIFY2(hues[0] > 15 && hues[0] < 50, qPrintable(QString::number(hues[0])));
    QVERIFY2(hues[1] > 190 && hues[1] < 250, qPrintable(QString::number(hues[1])));
}

void TestTextPictures::lanesWriteOnThePaperOfTheTheme() {
    applyTheme(*qApp, Theme::Dark);
    const RunConfig config = presetNamed("transformer-lm").config;
    const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
    RunBatch batch;
    const size_t lanes = config.lanes.size();
    batch.pictures = LanePictures{1, std::vector<Picture>(lanes, sheet()), 0,
                                  std::vector<Picture>(lanes + 1, sheet())};
    run->append(std::move(batch));
    CompareView view;
    view.resize(900, 300);
    view.show();
    view.setRun(run);
    view.refresh();
    const auto corner = [&view](int pane) {
        const QImage image = view.view(pane).grab().toImage();
        const QPointF inside = view.view(pane).pictureRect().topLeft() + QPointF(3, 3);
        return QColor(image.pixel((inside * image.devicePixelRatio()).toPoint()));
    };
    for (int pane = 0; pane <= static_cast<int>(lanes); ++pane)
        QCOMPARE(corner(pane), view.palette().color(QPalette::Base));
}

} // namespace tst_text_pictures

QTEST_MAIN(tst_text_pictures::TestTextPictures)
#include "tst_text_pictures.moc"
