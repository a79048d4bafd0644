// The pictures of all lanes side by side: their places, titles and notes, what the last pane shows,
// and the pixel that is read, by pointer and by keys.
#include "engine/settings/run_config.h"
#include "tests/support/fed_run.h"
#include "tests/support/pictures.h"
#include "tests/support/shown_window.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/images/picture_words.h"
#include "ui/look/text_fit.h"

#include <QComboBox>
#include <QLabel>
#include <QtTest>

#include <algorithm>
#include <limits>

namespace tst_compare {

using namespace halfscope;

namespace {
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
} // namespace

class TestCompare : public QObject {
    Q_OBJECT
private slots:
    void panesFillTheirArea_data();
    void panesFillTheirArea();
    void compareShowsTargetAndDifference();
    void savedPicturesHaveNoErrors();
    void compareGrows();
    void choicesNeedLittleRoom();
    void choiceIsNamedWholeOrNot();
    void readout();
    void keysSwitch();
    void keysReadAndZoom();
    void swipe();
    void lastPaneAlone();
    void scatterIsExplained();
    void formulasStandByTheirCurves();
    void mapsAreExplained();
    void samplesOrTables();
    void samplesNameWhatIsPredicted();
    void captionsInLittleRoom();
    void drawingsTakeTheThemesColours();
};

void TestCompare::panesFillTheirArea_data() {
    QTest::addColumn<int>("lanes");
    QTest::addColumn<QSize>("room");
    for (int lanes = 1; lanes <= 6; ++lanes)
        for (const QSize room : {QSize(660, 280), QSize(1290, 390), QSize(330, 240)})
            QTest::addRow("%d lanes %d", lanes, room.width()) << lanes << room;
}

// The space around a picture: its pane's margins, the slack of the title and the rounding of the
// rows.
constexpr double kSlack = 8;

/// At the useful height there is no empty space below the lowest picture.
void TestCompare::panesFillTheirArea() {
    QFETCH(const int, lanes);
    QFETCH(const QSize, room);
    CompareView view;
    const Picture picture{2, 2, 1, {0, 1, 1, 0}};
    view.setLanes(QStringList(lanes, QStringLiteral("fp32")));
    view.setPictures(1, QVector<Picture>(lanes, picture));
    view.setTarget(picture);
    const int height = view.usefulHeight(room.width(), room.height());
    QVERIFY(height <= room.height());
    view.resize(room.width(), height);
    view.show();
    QVERIFY(test::isExposed(&view));
    const ImageView& last = view.view(lanes);
    const double pictureBottom = last.pictureRect().bottom();
    QVERIFY2(last.height() - pictureBottom <= kSlack,
             qPrintable(QStringLiteral("%1 of %2").arg(pictureBottom).arg(last.height())));
    // a taller area would not enlarge the pictures, except when there is too little room
    const double side = last.pictureRect().width();
    if (height < room.height()) {
        view.resize(room.width(), room.height());
        QTRY_VERIFY(view.height() == room.height());
        QCoreApplication::processEvents();
        QVERIFY(last.pictureRect().width() <= 1.1 * side + 2);
    }
}

void TestCompare::compareShowsTargetAndDifference() {
    CompareView view;
    view.resize(1200, 400);
    view.show();
    for (const auto* box : view.findChildren<QComboBox*>()) // only a difference has a gain
        QCOMPARE(box->isVisible(), box->accessibleName() == QLatin1String("Last picture"));
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")});
    QCOMPARE(view.panes(), 3);
    view.setTarget(constant(8, 1));
    view.setPictures(12, {constant(8, 0.75f), constant(8, 0.5f)});
    QCOMPARE(view.view(0).title(), QStringLiteral("A fp32"));
    QCOMPARE(view.view(1).title(), QStringLiteral("B amp-fp16"));
    QCOMPARE(view.view(1).note(), QStringLiteral("MAE 0.500, PSNR 6.0 dB"));
    view.resize(480, 230); // in less space all notes are short, or none could be compared
    QCoreApplication::processEvents();
    QCOMPARE(view.view(0).note(), QStringLiteral("12.0 dB"));
    QCOMPARE(view.view(1).note(), QStringLiteral("6.0 dB"));
    view.resize(250, 230); // too little room for one of them: none is shown, but the tool tip has
                           // all
    QCoreApplication::processEvents();
    QCOMPARE(view.view(0).note(), QString());
    QCOMPARE(view.view(1).note(), QString());
    QVERIFY2(view.view(1).toolTip().contains(QStringLiteral("MAE 0.500, PSNR 6.0 dB")),
             qPrintable(view.view(1).toolTip()));
    view.resize(480, 230);
    QVERIFY(!(view.shows() == CompareView::Shows::Difference));
    QCOMPARE(view.view(2).picture().values[0], 1.0f);
    view.showLast(CompareView::Shows::Difference);
    QVERIFY((view.shows() == CompareView::Shows::Difference));
    QCOMPARE(view.view(2).picture().values[0], 0.25f);
    view.setGain(4);
    QCOMPARE(view.gain(), 4.0);
    const QString tip = view.view(2).toolTip(); // says what the factor means
    QVERIFY2(tip.contains(QStringLiteral("difference of 0.25 or more")), qPrintable(tip));
    QVERIFY2(view.view(2).title().contains(QStringLiteral("× 4")),
             qPrintable(view.view(2).title()));
    // new pictures update the difference, too
    view.setPictures(13, {constant(8, 0.75f), constant(8, 0.75f)});
    QCOMPARE(view.view(2).picture().values[0], 0.0f);
    view.showLast(CompareView::Shows::Target);
    QCOMPARE(view.view(2).title(), QStringLiteral("Target"));
    view.clear();
    QVERIFY(view.view(0).picture().values.empty() && view.view(2).picture().values.empty());
}

/// What a network paints may lie outside of 0 and 1, and a file cuts that off: after a run is
/// opened again, the picture of a network that had learnt nothing would seem closer to its target.
void TestCompare::savedPicturesHaveNoErrors() {
    for (const bool saved : {false, true}) {
        FedRun fed;
        fed.start({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {}, defaultConfig());
        RunBatch batch;
        batch.pictures = LanePictures{12, {constant(8, 0.75f), constant(8, saved ? 0 : -0.5f)}};
        batch.pictures->fromFiles = saved;
        fed.run->append(std::move(batch));
        CompareView view;
        view.resize(1200, 400);
        view.show();
        view.setRun(fed.run);
        view.setTarget(constant(8, 1));
        QCOMPARE(view.view(0).note(),
                 saved ? QString() : QStringLiteral("MAE 0.250, PSNR 12.0 dB"));
        QCOMPARE(view.view(1).toolTip().contains(QStringLiteral("MAE")), !saved);
        const QString why = QStringLiteral("saved picture");
        QCOMPARE(view.view(1).toolTip().contains(why), saved);
        QVERIFY(!view.view(2).toolTip().contains(why)); // the target is what it was
        QTest::keyClick(&view, Qt::Key_Right);          // reads the pixel in the middle
        QCOMPARE(view.readout().contains(QStringLiteral("8-bit values of a saved picture")), saved);
    }
}

/// Whatever a style takes for a choice, a narrow window cuts it rather than its own right edge.
void TestCompare::choicesNeedLittleRoom() {
    CompareView view;
    const QList<QComboBox*> choices = view.findChildren<QComboBox*>();
    QVERIFY(choices.size() >= 2);
    for (const char* name : {"What the pictures show", "Last picture"})
        for (QComboBox* choice : choices)
            if (choice->accessibleName() == QLatin1String(name)) {
                choice->addItem(QStringLiteral("A choice of very many words"));
                choice->ensurePolished();
                QVERIFY2(choice->minimumSizeHint().width() < choice->sizeHint().width(), name);
            }
}

void TestCompare::choiceIsNamedWholeOrNot() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {}, ViewKind::Classes);
    view.setTarget(constant(20, 1));
    view.setGalleries({constant(20, 0.5f), constant(20, 0.25f), constant(20, 1)});
    view.setPictures(1'000, {constant(10, 0.5f), constant(10, 0.25f)});
    view.show();
    QVERIFY(test::isActive(&view));
    const auto labels = view.findChildren<QLabel*>();
    const auto label = std::find_if(labels.begin(), labels.end(), [](const QLabel* each) {
        return each->text() == QLatin1String("Last picture:");
    });
    QVERIFY(label != labels.end());
    int whole = 0, hidden = 0;
    for (int width = 1'200; width > 300; width -= 20) {
        view.resize(width, 400);
        QCoreApplication::processEvents();
        ((*label)->isVisible() ? whole : hidden) += 1;
        if ((*label)->isVisible())
            QVERIFY2((*label)->width() >= (*label)->sizeHint().width(), QByteArray::number(width));
    }
    QVERIFY(whole > 0 && hidden > 0);
}

void TestCompare::compareGrows() {
    CompareView view;
    view.resize(900, 500);
    view.show();
    for (const int lanes : {1, 6, 2, 3}) {
        view.setLanes(QStringList(lanes, QStringLiteral("fp16")));
        QCOMPARE(view.panes(), lanes + 1);
        view.setTarget(constant(8, 1));
        view.setPictures(1, QVector<Picture>(lanes, constant(8, 0.5f)));
        if (lanes > 2) {
            view.showLast(CompareView::Shows::Difference, 2);
            QCOMPARE(view.view(lanes).title(), QStringLiteral("|A − C| × 8"));
            view.showLast(CompareView::Shows::Target);
        }
        QCoreApplication::processEvents();
        // no two panes overlap, and none is outside
        for (int i = 0; i < view.panes(); ++i) {
            const QRect pane = view.view(i).geometry();
            QVERIFY(view.view(i).parentWidget()->rect().contains(pane));
            QVERIFY(pane.width() > 100 && pane.height() > 100);
            for (int j = 0; j < i; ++j)
                QVERIFY(!pane.intersects(view.view(j).geometry()));
        }
    }
}

void TestCompare::readout() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")});
    view.setTarget(constant(64, 1));
    Picture b = constant(64, 0.979f);
    b.values[40 * 64 + 13] = kNan;
    view.setPictures(12, {constant(64, 0.981f), b});
    Q_EMIT view.view(2).pixelHovered({12, 40}); // any pane
    QCOMPARE(view.readout(), QStringLiteral("x 12, y 40:  A 0.981  B 0.979  target 1"));
    Q_EMIT view.view(0).pixelHovered({13, 40});
    QVERIFY(view.readout().contains(QStringLiteral("B nan")));
    Q_EMIT view.view(0).pixelHovered({-1, -1});
    QVERIFY(!view.readout().contains(QStringLiteral("A 0")));
    QCOMPARE(view.readout(),
             QStringLiteral("Point at a picture to read its values. Magenta: not finite."));
    view.setPictures(13, {constant(64, 0.981f), constant(64, 0.979f)});
    QCOMPARE(view.readout(), QStringLiteral("Point at a picture to read its values."));
}

void TestCompare::keysSwitch() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")});
    view.resize(600, 300);
    view.show();
    QVERIFY(test::isActive(&view));
    QTest::keyClick(&view, Qt::Key_2); // whatever has the focus in the window
    QVERIFY((view.shows() == CompareView::Shows::Difference));
    QTest::keyClick(&view, Qt::Key_3);
    QVERIFY(view.shows() == CompareView::Shows::Swipe);
    QTest::keyClick(&view, Qt::Key_1);
    QVERIFY(!(view.shows() == CompareView::Shows::Difference));
}

void TestCompare::keysReadAndZoom() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32")}, {QStringLiteral("Everything in float32.")});
    view.setTarget(pattern(8, 8, 1));
    view.setPictures(1, {pattern(8, 8, 1)});
    view.resize(600, 300);
    view.show();
    QVERIFY(test::isActive(&view));
    QVERIFY(view.view(0).toolTip().contains(QStringLiteral("Everything in float32.")));
    view.setFocus(Qt::TabFocusReason);
    QVERIFY(view.hasFocus());
    QTest::keyClick(&view, Qt::Key_Right); // the first key only shows the place
    QVERIFY2(view.readout().startsWith(QStringLiteral("x 4, y 4:")), qPrintable(view.readout()));
    QTest::keyClick(&view, Qt::Key_Right);
    QTest::keyClick(&view, Qt::Key_Up);
    QVERIFY2(view.readout().startsWith(QStringLiteral("x 5, y 3:")), qPrintable(view.readout()));
    QCOMPARE(view.accessibleDescription(), view.readout());
    for (int i = 0; i < 20; ++i)
        QTest::keyClick(&view, Qt::Key_Left);
    QVERIFY(view.readout().startsWith(QStringLiteral("x 0, y 3:")));
    for (int i = 0; i < 6; ++i)
        QTest::keyClick(&view, Qt::Key_Plus);
    QVERIFY(view.transform().zoom() > 2);
    const auto inView = [&view](QPoint pixel) {
        const QRectF all = view.view(0).pictureRect();
        const QPointF centre(all.left() + (pixel.x() + 0.5) * all.width() / 8,
                             all.top() + (pixel.y() + 0.5) * all.height() / 8);
        return view.view(0).viewport().contains(centre);
    };
    QVERIFY(inView({0, 3}));
    for (int i = 0; i < 7; ++i)
        QTest::keyClick(&view, Qt::Key_Right);
    QVERIFY(inView({7, 3})); // a zoomed picture moves along
    QTest::keyClick(&view, Qt::Key_0);
    QCOMPARE(view.transform().zoom(), 1.0);
    QTest::keyClick(&view, Qt::Key_Escape);
    QVERIFY(view.readout().startsWith(QStringLiteral("Point at a picture")));
}

/// Shows lane A up to the pixel that is read, and the other lane from there on.
void TestCompare::swipe() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16"), QStringLiteral("fp16")});
    view.setTarget(constant(16, 0.25f));
    view.setPictures(1, {constant(16, 0), constant(16, 0.5f), constant(16, 1)});
    view.resize(1000, 300);
    view.show();
    QVERIFY(test::isExposed(&view));
    view.showLast(CompareView::Shows::Swipe, 2);
    const ImageView& last = view.view(3);
    QCOMPARE(last.title(), QStringLiteral("A | C"));
    const auto greyAt = [&last](double share) {
        const QRectF all = last.pictureRect();
        const QImage image = const_cast<ImageView&>(last).grab().toImage();
        const QPointF place(all.left() + share * all.width(), all.center().y());
        return qGray(image.pixel((place * image.devicePixelRatio()).toPoint()));
    };
    QCOMPARE(greyAt(0.3), 0);
    QCOMPARE(greyAt(0.7), 255);
    Q_EMIT view.view(0).pixelHovered({2, 8}); // any pane moves it
    QCOMPARE(greyAt(0.3), 255);
    Q_EMIT view.view(0).pixelHovered({13, 8});
    QCOMPARE(greyAt(0.7), 0);
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}); // lane C has gone
    QVERIFY(view.shows() == CompareView::Shows::Swipe);
    QCOMPARE(view.view(2).title(), QStringLiteral("A | B"));
    view.setLanes({QStringLiteral("fp32")}); // nothing to compare
    QVERIFY(view.shows() == CompareView::Shows::Target);
}

/// A scatter picture's pixels are no values: none is read, and no error is computed from them.
void TestCompare::lastPaneAlone() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16"), QStringLiteral("fp16")});
    const Picture picture{2, 2, 1, {0, 1, 1, 0}};
    view.setPictures(1, QVector<Picture>(3, picture));
    view.setTarget(picture);
    view.resize(660, 280);
    view.show();
    QVERIFY(test::isExposed(&view));
    const double beside = view.view(3).pictureRect().width();
    QTest::keyClick(&view, Qt::Key_4);
    QVERIFY(view.alone());
    QVERIFY(!view.view(0).isVisible() && view.view(3).isVisible());
    QVERIFY(view.view(3).pictureRect().width() > 1.3 * beside);
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}); // stays so in the next run
    QVERIFY(!view.view(0).isVisible() && view.view(2).isVisible());
    QTest::keyClick(&view, Qt::Key_4);
    QVERIFY(view.view(0).isVisible() && view.view(1).isVisible());
    QVERIFY(view.view(2).x() > view.view(1).x());
}

void TestCompare::scatterIsExplained() {
    CompareView view;
    view.resize(1200, 400);
    view.show();
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Scatter);
    view.setTarget(constant(8, 1));
    view.setPictures(1, {constant(8, 0.5f)});
    QCOMPARE(view.view(0).note(), QString());
    QVERIFY2(view.readout().contains(QStringLiteral("diagonal")), qPrintable(view.readout()));
    // values outside of the picture are drawn on its edge, which does not show how far out they are
    const auto* label = view.findChild<QLabel*>(QStringLiteral("readout"));
    for (const int validated : {0, 2})
        for (const int width : {1200, 650}) {
            view.resize(width, 400);
            view.setValidated(validated);
            view.setPictures(1, {constant(8, 0.5f)});
            QTRY_VERIFY2(label->text().contains(QStringLiteral("Dots on the edge lie beyond it.")),
                         qPrintable(label->text()));
        }
    view.setValidated(0);
    view.resize(1200, 400);
    view.setPictures(1, {constant(8, 0.5f)});
    Q_EMIT view.view(0).pixelHovered({1, 1});
    QVERIFY(view.readout().contains(QStringLiteral("diagonal")));
    QVERIFY(!view.readout().contains(QStringLiteral("not finite")));
    view.setValidated(2);
    view.setPictures(3, {constant(8, 0.5f)});
    QVERIFY(view.readout().startsWith(QStringLiteral("Validation samples: ")));
    view.setPictures(2, {constant(8, kNan)});
    QVERIFY2(view.readout().endsWith(QStringLiteral("Magenta: not finite.")),
             qPrintable(view.readout()));
    view.setLanes({QStringLiteral("fp32")});
    view.setPictures(1, {constant(8, 0.5f)});
    QCOMPARE(view.view(0).note(), QStringLiteral("MAE 0.500, PSNR 6.0 dB"));
}

void TestCompare::formulasStandByTheirCurves() {
    CompareView view;
    view.resize(1300, 400);
    view.show();
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {}, ViewKind::Curve);
    Picture target = constant(8, 1), a = constant(8, 0.5f), b = constant(8, 0.25f);
    target.caption = "y = 5x + 3";
    a.caption = "y = 4.99 x + 3.00";
    b.caption = "y = 4.97 x + 3.01";
    view.setTarget(target);
    view.setPictures(1, {a, b});
    QCOMPARE(view.view(0).note(), QStringLiteral("y = 4.99 x + 3.00"));
    QCOMPARE(view.view(1).note(), QStringLiteral("y = 4.97 x + 3.01"));
    QCOMPARE(view.view(2).note(), QStringLiteral("y = 5x + 3"));
    QVERIFY2(
        view.readout().startsWith(QStringLiteral("A: y = 4.99 x + 3.00   B: y = 4.97 x + 3.01")),
        qPrintable(view.readout()));
    QCOMPARE(view.accessibleDescription(), view.readout());
    view.showLast(CompareView::Shows::Difference); // two curves, but no formula
    QCOMPARE(view.view(2).note(), QString());
    view.showLast(CompareView::Shows::Target);
    view.resize(400, 230); // no room: the read-out and the tool tips have them
    QCoreApplication::processEvents();
    QCOMPARE(view.view(0).note(), QString());
    QVERIFY(view.view(1).toolTip().contains(QStringLiteral("y = 4.97 x + 3.01")));
    QVERIFY(view.view(1).toolTip().contains(QStringLiteral("Dots")));
    QVERIFY(view.readout().contains(QStringLiteral("4.97")));
}

void TestCompare::mapsAreExplained() {
    CompareView view;
    view.resize(1200, 400);
    view.show();
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Plane);
    view.setTarget(constant(8, 1));
    view.setPictures(1, {constant(8, 0.5f)});
    QCOMPARE(view.view(0).note(), QString());
    for (const char* word : {"Blue", "dots", "Orange", "crosses"})
        QVERIFY2(view.readout().contains(QLatin1String(word)), qPrintable(view.readout()));
    QCOMPARE(view.view(0).toolTip().contains(view.readout()), true);
}

/// The panes are as wide as beside the columns of a window of 1280 pixels: names and formulas are
/// visible whole.
void TestCompare::captionsInLittleRoom() {
    constexpr int kRoom = 650;
    CompareView view;
    view.resize(kRoom, 400);
    view.show();
    QVERIFY(test::isExposed(&view));
    const auto* label = view.findChild<QLabel*>(QStringLiteral("readout"));
    const QStringList lanes{QStringLiteral("fp32"), QStringLiteral("amp-fp16"),
                            QStringLiteral("bf16")};
    view.setLanes(lanes, {}, ViewKind::Classes);
    view.setValidated(625);
    view.setPictures(1, {constant(10, 0.5f), constant(10, 0.25f), constant(10, 0.25f)});
    QTRY_COMPARE(
        label->text(),
        QStringLiteral("Validation. Rows: true. Columns: predicted, in %. Diagonal: correct."));
    // an audience reads all of it, on more lines, after the one step that the pictures are of
    view.setBare(true);
    QTRY_VERIFY2(label->text().startsWith(QStringLiteral("After step 625")) &&
                     label->text().endsWith(QStringLiteral("Diagonal: correct.")),
                 qPrintable(label->text()));
    QVERIFY(!label->text().contains(QStringLiteral("step 1")));
    view.setFont(scaledFont(view.font(), 1.8));
    QTRY_VERIFY2(label->text().contains(u'\n') && label->sizeHint().width() <= label->width() &&
                     label->text().endsWith(QStringLiteral("correct.")),
                 qPrintable(label->text()));
    QTRY_VERIFY(label->height() >= 2 * label->fontMetrics().height());
    view.setFont(QFont());
    view.setBare(false);
    Picture first = constant(20, 0.5f), truth = constant(20, 1);
    truth.caption = "0 shirt, 1 shoe, 2 pullover, 3 dress, 4 coat, 5 sandal, 6 shirt, 7 bag";
    view.setGalleries({first, first, first, truth});
    view.setPictures(10, {constant(10, 0.5f), constant(10, 0.25f), constant(10, 0.25f)});
    QCOMPARE(label->text(),
             QStringLiteral("Orange: mistakes. ") + QString::fromStdString(truth.caption));
    QVERIFY(view.accessibleDescription().startsWith(QStringLiteral("Validation samples.")));
    view.setLanes(lanes, {}, ViewKind::Curve);
    Picture curve = constant(8, 0.5f);
    curve.caption = "y = −0.37 x² + 0.48 x − 0.47";
    view.setPictures(1, {curve, curve, curve});
    QVERIFY2(label->text().endsWith(QString::fromStdString(curve.caption)),
             qPrintable(label->text()));
    view.resize(3 * kRoom, 400);
    QTRY_VERIFY(label->text().endsWith(QStringLiteral("Dots: samples. Curve: the prediction.")));
    view.resize(kRoom / 2, 400); // what is cut says so, also when a column beside it opens
    QTRY_VERIFY2(label->text().endsWith(QChar(0x2026)) &&
                     label->fontMetrics().horizontalAdvance(label->text()) <= label->width(),
                 qPrintable(label->text()));
}

void TestCompare::samplesOrTables() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {}, ViewKind::Classes);
    view.resize(1200, 400);
    view.show();
    QVERIFY(test::isActive(&view));
    const auto* choice = view.findChild<QComboBox*>();
    view.setPictures(1, {constant(10, 0.5f), constant(10, 0.25f)});
    QVERIFY(!choice->isVisible() && !view.showsSamples());
    QVERIFY(view.readout().startsWith(QStringLiteral("This batch.")));

    Picture target = constant(10, 1);
    target.caption = "64/64"; // of the first batch; the lanes' captions are about other samples
    view.setTarget(target);
    QVERIFY2(view.view(2).note().isEmpty(), qPrintable(view.view(2).note()));

    Picture first = constant(20, 0.5f), truth = constant(20, 1);
    first.caption = "58/64";
    truth.caption = "0 shirt, 1 shoe";
    view.setGalleries({first, constant(20, 0.25f), truth});
    view.setValidated(9);
    view.setPictures(10, {constant(10, 0.5f), constant(10, 0.25f)});
    QVERIFY(choice->isVisible() && view.showsSamples());
    QCOMPARE(view.view(0).picture().width, 20);
    QCOMPARE(view.view(0).note(), QStringLiteral("58 of 64 right"));
    QVERIFY2(view.view(0).toolTip().contains(QStringLiteral("\n58 of 64 are predicted right.\n")),
             qPrintable(view.view(0).toolTip()));
    QCOMPARE(view.view(2).picture().values[0], 1.0f);
    QVERIFY(view.readout().endsWith(QStringLiteral("0 shirt, 1 shoe")));
    view.setMinimumWidth(1);
    QStringList notes; // as the panes get narrower
    for (int width = 1200; width > 200; width -= 5) {
        view.resize(width, 150);
        QCoreApplication::processEvents();
        if (notes.isEmpty() || notes.last() != view.view(0).note()) notes << view.view(0).note();
    }
    QCOMPARE(notes.join(u'|'), QStringLiteral("58 of 64 right|58/64 right|58/64|"));
    view.resize(1200, 400);

    QTest::keyClick(&view, Qt::Key_5);
    QVERIFY(!view.showsSamples());
    QCOMPARE(view.view(0).picture().width, 10);
    QVERIFY(view.readout().startsWith(QStringLiteral("All validation samples. Rows")));
    const auto saysStep = [&view](const char* words) {
        const QList<QLabel*> labels = view.findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(), [words](const QLabel* label) {
            return label->text() == QLatin1String(words);
        });
    };
    QVERIFY(saysStep("After step 9") && !saysStep("After step 10"));
    QTest::keyClick(&view, Qt::Key_5);
    QVERIFY(view.showsSamples());
    QVERIFY(saysStep("After step 10"));      // which are judged anew
    view.setLanes({QStringLiteral("fp32")}); // of another experiment
    QVERIFY(!view.showsSamples() && !choice->isVisible());
}

void TestCompare::samplesNameWhatIsPredicted() {
    TaskConfig task;
    task.kind = TaskKind::Mnist;
    const auto words = [&task](const char* caption) {
        Picture target = constant(10, 1);
        target.caption = caption;
        return samplesWords(samplesShow(task, target), WordsFor::MuchRoom);
    };
    QVERIFY(words("").contains(QStringLiteral("predicted digit")));
    QVERIFY(words("0 T-shirt/top").contains(QStringLiteral("predicted class")));
    QVERIFY(!words("").contains(QStringLiteral("character")));
    task.kind = TaskKind::Text;
    task.predicted = Predicted::Last;
    QVERIFY(words("").contains(QStringLiteral("predicted next character")));
    task.kind = TaskKind::TextClasses;
    task.predicted = Predicted::Every; // left over: a class belongs to a whole text
    QVERIFY(words("0 ham").contains(QStringLiteral("texts as the network reads them, each with its "
                                                   "predicted class")));
    QCOMPARE(samplesWords(samplesShow(task, {}), WordsFor::LittleRoom),
             QStringLiteral("Orange: mistakes."));
}

/// A drawing has the theme's ink and paper; a painted picture keeps its grey.
void TestCompare::drawingsTakeTheThemesColours() {
    CompareView view;
    view.resize(900, 300);
    QPalette dark = view.palette();
    dark.setColor(QPalette::Base, QColor(20, 30, 40));
    dark.setColor(QPalette::Text, QColor(240, 230, 220));
    view.show();
    QVERIFY(test::isExposed(&view));
    const auto colourOf = [&view](float value, ViewKind kind) {
        view.setLanes({QStringLiteral("fp32")}, {}, kind);
        view.setTarget(constant(8, value));
        view.setPictures(1, {constant(8, value)});
        const QImage image = view.view(0).grab().toImage();
        const QPointF centre = view.view(0).pictureRect().center();
        return QColor(image.pixel((centre * image.devicePixelRatio()).toPoint()));
    };
    view.setPalette(dark);
    for (const ViewKind kind : {ViewKind::Scatter, ViewKind::Curve, ViewKind::Classes}) {
        QCOMPARE(colourOf(1, kind), QColor(20, 30, 40));
        QCOMPARE(colourOf(0, kind), QColor(240, 230, 220));
    }
    QCOMPARE(colourOf(1, ViewKind::Painted), QColor(Qt::white));
    // the shown picture follows the theme
    QCOMPARE(colourOf(1, ViewKind::Curve), QColor(20, 30, 40));
    dark.setColor(QPalette::Base, QColor(200, 210, 220));
    view.setPalette(dark);
    const QImage image = view.view(0).grab().toImage();
    const QPointF centre = view.view(0).pictureRect().center();
    QCOMPARE(QColor(image.pixel((centre * image.devicePixelRatio()).toPoint())),
             QColor(200, 210, 220));
}

} // namespace tst_compare

QTEST_MAIN(tst_compare::TestCompare)
#include "tst_compare.moc"
