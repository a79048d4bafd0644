// The pictures: exact nearest-neighbour pixels, also at a device pixel ratio of 2, linked zoom and
// pan, nan, differences, and tiny sizes. Lanes side by side are in tst_compare.
#include "tests/support/pictures.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/images/picture_image.h"
#include "ui/images/picture_words.h"
#include "ui/look/theme.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalSpy>
#include <QWheelEvent>
#include <QtTest>

#include <cmath>
#include <limits>

namespace tst_images {

using namespace halfscope;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

QImage rendered(QWidget& widget, double ratio) {
    QImage image(widget.size() * ratio, QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    image.fill(Qt::gray);
    widget.render(&image, {}, {}, QWidget::DrawChildren);
    return image;
}

void wheel(QWidget& widget, const QPointF& place, int notches) {
    QWheelEvent event(place, widget.mapToGlobal(place), {}, {0, 120 * notches}, Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&widget, &event);
}

/// Moves the mouse without a shown window and its cursor, which QTest::mouseMove needs.
void moveMouse(QWidget& widget, const QPointF& place, Qt::MouseButtons buttons = Qt::NoButton) {
    QMouseEvent move(QEvent::MouseMove, place, widget.mapToGlobal(place), Qt::NoButton, buttons,
                     Qt::NoModifier);
    QApplication::sendEvent(&widget, &move);
}

} // namespace

class TestImages : public QObject {
    Q_OBJECT
private slots:
    void nearestNeighbour_data();
    void nearestNeighbour();
    void keepsAspect();
    void narrowTitlesKeepTheirStart();
    void values_data();
    void values();
    void nanIsHatched();
    void axesOfScattersAreTold();
    void zoomKeepsThePlaceUnderThePointer();
    void linkedZoomAndPan();
    void panHasLimits();
    void pixelUnderThePointer();
    void viridisColours();
    void differences();
    void errors_data();
    void errors();
    void errorsBesideNan();
    void titlesStayOverTheirPictures_data();
    void titlesStayOverTheirPictures();
    void tinySizes_data();
    void tinySizes();
};

void TestImages::nearestNeighbour_data() {
    QTest::addColumn<double>("ratio");
    QTest::addColumn<int>("channels");
    QTest::addColumn<double>("zoom");
    for (const double ratio : {1.0, 2.0})
        for (const int channels : {1, 3})
            for (const double zoom : {1.0, 2.0, 5.0})
                QTest::addRow("ratio %g, %d channels, zoom %g", ratio, channels, zoom)
                    << ratio << channels << zoom;
}

void TestImages::nearestNeighbour() {
    QFETCH(double, ratio);
    QFETCH(int, channels);
    QFETCH(double, zoom);
    const Picture picture = pattern(8, 6, channels);
    ViewTransform transform;
    ImageView view(transform);
    view.setPicture(picture);
    // 20 logical pixels per picture pixel at zoom 1
    view.resize(200, 200);
    const QRectF frame = view.viewport();
    view.resize(static_cast<int>(160 + 200 - frame.width()),
                static_cast<int>(120 + 200 - frame.height()));
    QCOMPARE(view.viewport().size(), QSizeF(160, 120));
    transform.zoomAbout({0.5, 0.5}, zoom);
    const QImage image = rendered(view, ratio);
    const QRectF target = view.pictureRect();
    QCOMPARE(target.width(), 160 * zoom);
    const QImage wanted = pictureImage(picture);
    int checked = 0;
    for (int y = 0; y < picture.height; ++y)
        for (int x = 0; x < picture.width; ++x) {
            const double w = target.width() / picture.width, h = target.height() / picture.height;
            const QRectF cell(target.left() + x * w, target.top() + y * h, w, h);
            const QRectF visible = cell & view.viewport();
            // The whole cell except its outermost device pixels, which may round to a neighbour.
            const int left = static_cast<int>(std::ceil(visible.left() * ratio)) + 1;
            const int right = static_cast<int>(std::floor(visible.right() * ratio)) - 1;
            const int top = static_cast<int>(std::ceil(visible.top() * ratio)) + 1;
            const int bottom = static_cast<int>(std::floor(visible.bottom() * ratio)) - 1;
            for (int py = top; py < bottom; ++py)
                for (int px = left; px < right; ++px, ++checked)
                    QVERIFY2(image.pixel(px, py) == wanted.pixel(x, y),
                             qPrintable(QStringLiteral("pixel %1 %2 in cell %3 %4")
                                            .arg(px)
                                            .arg(py)
                                            .arg(x)
                                            .arg(y)));
        }
    QVERIFY(checked > 1000);
}

/// "Tar…" rather than "T…t"; names of lanes differ at their ends.
void TestImages::narrowTitlesKeepTheirStart() {
    ViewTransform transform;
    ImageView view(transform);
    QFont bold = view.font();
    bold.setBold(true);
    const QString title = QStringLiteral("Target");
    view.resize(QFontMetrics(bold).horizontalAdvance(title) * 3 / 4, 60);
    view.setTitle(title);
    const QString shown = view.shownTitle();
    QVERIFY2(shown.endsWith(QChar(0x2026)) && title.startsWith(shown.chopped(1)),
             qPrintable(shown));
}

void TestImages::keepsAspect() {
    ViewTransform transform;
    ImageView view(transform);
    view.setPicture(pattern(10, 40, 1));
    view.resize(500, 200);
    QRectF rect = view.pictureRect();
    QVERIFY(std::abs(rect.height() / rect.width() - 4) < 1e-9);
    QVERIFY(view.viewport().contains(rect));
    QVERIFY(std::abs(rect.center().x() - view.viewport().center().x()) <= 1);
    view.resize(100, 900);
    rect = view.pictureRect();
    QVERIFY(std::abs(rect.height() / rect.width() - 4) < 1e-9);
    QVERIFY(view.viewport().adjusted(0, 0, 1, 1).contains(rect));
}

void TestImages::values_data() {
    QTest::addColumn<float>("value");
    QTest::addColumn<uint>("color");
    QTest::newRow("black") << 0.0f << 0xff000000u;
    QTest::newRow("white") << 1.0f << 0xffffffffu;
    QTest::newRow("half") << 0.5f << 0xff808080u;
    QTest::newRow("below") << -3.0f << 0xff000000u;
    QTest::newRow("above") << 7.0f << 0xffffffffu;
    QTest::newRow("inf") << kInf << 0xffff00ffu; // white would look painted
    QTest::newRow("-inf") << -kInf << 0xffff00ffu;
    QTest::newRow("nan") << kNan << 0xffff00ffu;
}

void TestImages::values() {
    QFETCH(float, value);
    QFETCH(uint, color);
    QCOMPARE(pictureImage(constant(2, value)).pixel(1, 1), color);
    QCOMPARE(pictureImage({1, 1, 3, {value, value, value}}).pixel(0, 0), color);
}

void TestImages::nanIsHatched() {
    Picture picture = constant(4, 1.0f);
    picture.values[0] = kNan; // upper left
    ViewTransform transform;
    ImageView view(transform);
    view.setPicture(picture);
    view.resize(164, 200);
    for (const double ratio : {1.0, 2.0}) {
        const QImage image = rendered(view, ratio);
        const QRectF target = view.pictureRect();
        QSet<QRgb> inNan, outside;
        for (int y = 4; y < 32; ++y)
            for (int x = 4; x < 32; ++x) {
                const QPointF corner = target.topLeft() * ratio;
                inNan << image.pixel((corner + QPointF(x, y)).toPoint());
                outside << image.pixel(
                    (corner + QPointF(x + 60 * ratio, y + 60 * ratio)).toPoint());
            }
        QCOMPARE(inNan, QSet<QRgb>({0xffff00ffu, 0xff000000u}));
        QCOMPARE(outside, QSet<QRgb>({0xffffffffu}));
    }
    QVERIFY(notFiniteMask(constant(4, 1.0f)).isNull());
    // nan in one channel is enough
    QCOMPARE(pictureImage({1, 1, 3, {0, kNan, 0}}).pixel(0, 0), 0xffff00ffu);
}

void TestImages::zoomKeepsThePlaceUnderThePointer() {
    ViewTransform transform;
    ImageView view(transform);
    view.setPicture(pattern(64, 64, 1));
    view.resize(300, 320);
    wheel(view, view.viewport().center(), 4); // from here on the whole view is covered
    const QPointF place = view.viewport().topLeft() + QPointF(70, 60);
    const auto fraction = [&] {
        const QRectF rect = view.pictureRect();
        return QPointF((place.x() - rect.left()) / rect.width(),
                       (place.y() - rect.top()) / rect.height());
    };
    const QPointF before = fraction();
    for (const int notches : {3, 2, -1}) {
        wheel(view, place, notches);
        // the picture's corner is rounded to whole device pixels
        const double bound = 1.0 / view.pictureRect().width() + 1e-9;
        QVERIFY(std::abs(fraction().x() - before.x()) <= bound + 1.0 / 300);
        QVERIFY(std::abs(fraction().y() - before.y()) <= bound + 1.0 / 300);
    }
    QVERIFY(transform.zoom() > 2);
    for (int i = 0; i < 100; ++i)
        wheel(view, place, 3);
    QCOMPARE(transform.zoom(), ViewTransform::kMaxZoom);
    QTest::mouseDClick(&view, Qt::LeftButton);
    QCOMPARE(transform.zoom(), 1.0);
    QVERIFY(view.viewport().adjusted(0, 0, 1, 1).contains(view.pictureRect()));
}

void TestImages::linkedZoomAndPan() {
    ViewTransform transform;
    ImageView a(transform), b(transform);
    for (ImageView* view : {&a, &b}) {
        view->setPicture(pattern(64, 64, 1));
        view->resize(300, 320);
    }
    wheel(a, {100, 100}, 5);
    QCOMPARE(b.pictureRect(), a.pictureRect());
    const QPointF corner = a.pictureRect().topLeft();
    QTest::mousePress(&b, Qt::LeftButton, {}, {150, 150});
    moveMouse(b, {170, 140}, Qt::LeftButton);
    QTest::mouseRelease(&b, Qt::LeftButton, {}, {170, 140});
    QVERIFY((a.pictureRect().topLeft() - corner - QPointF(20, -10)).manhattanLength() <= 2);
    QCOMPARE(b.pictureRect(), a.pictureRect());
    moveMouse(b, {200, 100}); // released: nothing moves any more
    QVERIFY((a.pictureRect().topLeft() - corner - QPointF(20, -10)).manhattanLength() <= 2);
}

void TestImages::panHasLimits() {
    ViewTransform transform;
    QSignalSpy changed(&transform, &ViewTransform::changed);
    transform.panBy({0.3, 0.3}); // when everything is visible there is nothing to move
    QCOMPARE(transform.centre(), QPointF(0.5, 0.5));
    QCOMPARE(changed.count(), 0);
    transform.zoomAbout({0, 0}, 4);
    transform.panBy({100, -100});
    QCOMPARE(transform.centre(), QPointF(1, 0));
    transform.zoomAbout({1, 0}, 1e-9);
    QCOMPARE(transform.zoom(), 1.0);
    QCOMPARE(transform.centre(), QPointF(0.5, 0.5));
}

void TestImages::pixelUnderThePointer() {
    ViewTransform transform;
    ImageView view(transform);
    view.setPicture(pattern(8, 8, 1));
    view.resize(300, 320);
    const QRectF rect = view.pictureRect();
    QSignalSpy hovered(&view, &ImageView::pixelHovered);
    moveMouse(
        view,
        (rect.topLeft() + QPointF(rect.width() * 2.5 / 8, rect.height() * 6.5 / 8)).toPoint());
    QCOMPARE(hovered.last()[0].toPoint(), QPoint(2, 6));
    QVERIFY(!view.pixelAt({1, 1})); // the title
    QCOMPARE(view.pixelAt(rect.topLeft() + QPointF(0.5, 0.5)).value(), QPoint(0, 0));
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(&view, &leave);
    QCOMPARE(hovered.last()[0].toPoint(), QPoint(-1, -1));
}

void TestImages::viridisColours() {
    QCOMPARE(viridis(0), 0xff440154u);
    QCOMPARE(viridis(1), 0xfffde725u);
    QCOMPARE(viridis(-1), viridis(0));
    QCOMPARE(viridis(2), viridis(1));
    for (const float odd : {kNan, kInf, -kInf})
        QCOMPARE(viridis(double{odd}), kNotFiniteColor);
    // equal steps in value are equal steps in lightness: it only gets lighter
    int last = -1;
    for (int i = 0; i <= 100; ++i) {
        const int lightness = qGray(viridis(i / 100.0));
        QVERIFY(lightness >= last);
        last = lightness;
    }
}

void TestImages::differences() {
    Picture a = constant(4, 0.75f), b = constant(4, 0.5f);
    b.values[5] = kNan;
    const Picture d = absoluteDifference(a, b);
    QCOMPARE(d.values[0], 0.25f);
    QVERIFY(std::isnan(d.values[5]));
    QCOMPARE(mappedImage(d, 4).pixel(0, 0), viridis(1));
    QCOMPARE(mappedImage(d, 2).pixel(0, 0), viridis(0.5));
    QCOMPARE(mappedImage(d, 2).pixel(1, 1), kNotFiniteColor);
    QCOMPARE(mappedImage({1, 1, 3, {0.1f, 0.2f, 0.3f}}, 1).pixel(0, 0), viridis(0.2));
    QVERIFY(absoluteDifference(a, constant(5, 0)).values.empty());
    // the scale says that a picture goes beyond its end
    ViewTransform transform;
    ImageView view(transform);
    view.setMappedPicture(d, 4); // nan is no large value
    view.setLegend(0.25);
    QCOMPARE(view.legendEnd(), QStringLiteral("0.25"));
    view.setMappedPicture(d, 8);
    view.setLegend(0.125);
    QCOMPARE(view.legendEnd(), QStringLiteral("≥ 0.125"));
}

void TestImages::errors_data() {
    QTest::addColumn<float>("value");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("shortText");
    QTest::newRow("equal") << 0.5f << "equal"
                           << "equal";
    // mean square 0.01: 20 dB below a peak of 1
    QTest::newRow("a tenth off") << 0.6f << "MAE 0.100, PSNR 20.0 dB"
                                 << "PSNR 20.0 dB";
    QTest::newRow("far off") << 200.5f << "MAE 200, PSNR -46.0 dB"
                             << "PSNR -46.0 dB";
    QTest::newRow("nan") << kNan << "16 not finite"
                         << "16 not finite";
    QTest::newRow("inf") << kInf << "16 not finite"
                         << "16 not finite";
}

void TestImages::errors() {
    QFETCH(float, value);
    QFETCH(QString, text);
    QFETCH(QString, shortText);
    QCOMPARE(errorText(constant(4, value), constant(4, 0.5f)), text);
    QCOMPARE(errorText(constant(4, value), constant(4, 0.5f), ErrorText::Short), shortText);
    if (text.endsWith(QStringLiteral("not finite"))) // the count takes room that others need
        shortText = QStringLiteral("not finite");
    QVERIFY(
        shortText.endsWith(errorText(constant(4, value), constant(4, 0.5f), ErrorText::Shortest)));
    QCOMPARE(errorText(constant(4, value), constant(3, 0.5f)), QString());
    QCOMPARE(errorText(constant(4, value), Picture()), QString());
}

/// Means are taken over the finite values.
void TestImages::errorsBesideNan() {
    Picture picture = constant(4, 0.75f);
    picture.values[3] = kNan;
    const PictureError error = errorBetween(picture, constant(4, 0.5f));
    QCOMPARE(error.notFinite, qint64{1});
    QCOMPARE(error.meanAbsolute, 0.25);
    QCOMPARE(error.meanSquare, 0.0625);
}

void TestImages::titlesStayOverTheirPictures_data() {
    QTest::addColumn<QString>("note");
    QTest::newRow("as wide as the picture") << QString();
    QTest::newRow("wider") << QStringLiteral("MAE 0.794, PSNR 0.4 dB");
}

/// In a wide pane, words at the pane's ends would be nearer to the neighbours' pictures.
void TestImages::titlesStayOverTheirPictures() {
    QFETCH(const QString, note);
    ViewTransform transform;
    ImageView view(transform);
    view.setPicture(pattern(64, 64, 1));
    view.setTitle(QStringLiteral("A fp32"), note);
    view.resize(900, 120);
    const QImage image = view.grab().toImage();
    const QRgb paper = image.pixel(0, 0);
    int left = image.width(), right = -1;
    for (int y = 0; y < static_cast<int>(view.viewport().top()); ++y)
        for (int x = 0; x < image.width(); ++x)
            if (image.pixel(x, y) != paper) {
                left = std::min(left, x);
                right = std::max(right, x);
            }
    const double side = view.viewport().height(), middle = view.viewport().center().x();
    QVERIFY(left < right);
    constexpr double kBearing = 3; // pixels between a glyph's edge and its place
    if (note.isEmpty()) {
        QVERIFY(std::abs(left - (middle - side / 2)) <= kBearing);
    } else {
        QVERIFY2(right - left > side, "the words are wider than the picture");
        QVERIFY2(left > image.width() / 4, qPrintable(QString::number(left)));
        QVERIFY(std::abs((left + right) / 2.0 - middle) <= kBearing);
    }
}

void TestImages::tinySizes_data() {
    QTest::addColumn<QSize>("size");
    for (const QSize size :
         {QSize(1, 1), QSize(3, 400), QSize(400, 3), QSize(30, 30), QSize(2500, 1400)})
        QTest::addRow("%dx%d", size.width(), size.height()) << size;
}

void TestImages::tinySizes() {
    QFETCH(QSize, size);
    ViewTransform transform;
    ImageView view(transform);
    Picture picture = pattern(64, 64, 3);
    picture.values[5] = kNan;
    view.setPicture(picture);
    view.setTitle(QStringLiteral("A"), QStringLiteral("note"));
    view.setLegend(0.125);
    view.setMarked(QPoint(3, 3));
    view.resize(size);
    for (const double zoom : {1.0, 300.0}) {
        transform.zoomAbout({0.1, 0.9}, zoom);
        QVERIFY(!rendered(view, 2).isNull());
        wheel(view, {0, 0}, 1);
    }
    CompareView compare;
    compare.setLanes(QStringList(6, QStringLiteral("fp16")));
    compare.setPictures(1, QVector<Picture>(6, picture));
    compare.setTarget(picture);
    compare.showLast(CompareView::Shows::Difference, 5);
    compare.setMinimumSize(1, 1);
    compare.resize(size);
    QVERIFY(!compare.grab().isNull());
}

/// In the title of the target, which has them in its caption, and in all that explains scatters.
void TestImages::axesOfScattersAreTold() {
    CompareView view;
    view.resize(1200, 400);
    view.show();
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Scatter);
    Picture target = constant(8, 1);
    target.caption = "0.85 to 950";
    view.setTarget(target);
    view.setPictures(1, {constant(8, 0.5f)});
    const QString told = QStringLiteral("Both axes run from 0.85 to 950.");
    QVERIFY2(view.readout().startsWith(told), qPrintable(view.readout()));
    QVERIFY2(view.view(0).toolTip().count(told) == 1, qPrintable(view.view(0).toolTip()));
    QCOMPARE(view.view(1).note(), QStringLiteral("0.85 to 950"));
    QCOMPARE(view.view(1).toolTip().count(told), 1);
    QCOMPARE(axesWords(QStringLiteral("y = 2 to x"), WordsFor::MuchRoom), QString());
    const auto* line = view.findChild<QLabel*>(QStringLiteral("readout"));
    view.resize(650, 400);
    QTRY_VERIFY2(line->text().startsWith(QStringLiteral("Axes: 0.85 to 950.")) &&
                     line->text().endsWith(QStringLiteral("beyond it.")),
                 qPrintable(line->text()));
}

} // namespace tst_images

QTEST_MAIN(tst_images::TestImages)
#include "tst_images.moc"
