// Tables of true and predicted classes: the names beside them and the shares in them.
#include "engine/data/class_counts.h"
#include "engine/data/task_view.h"
#include "engine/io/atomic_file.h"
#include "engine/runs/output_file.h"
#include "tests/support/fed_run.h"
#include "tests/support/pictures.h"
#include "tests/support/shown_window.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/images/view_transform.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"

#include <QHelpEvent>
#include <QScopeGuard>
#include <QSet>
#include <QTemporaryDir>
#include <QToolTip>
#include <QtTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace tst_class_tables {

using namespace halfscope;

class TestClassTables : public QObject {
    Q_OBJECT
private slots:
    void tablesHaveTheNamesOfClasses();
    void namesOfClassesCanBeRead();
    void cellsShowTheirShare();
    void cellsTellTheirCounts();
    void countsHaveNoOtherMeaning();
    void audienceSeesNames();
    void audienceReadsLargeShares();
    void noTipCoversCells();
    void savedTablesTellTheSame();
    void twoClassesAsOneOutput();
    void scaleStandsBelowTheNames();
    void filesHaveTheShares();
    void mistakesAreSeenInTheDark();
    void nanHasNoClasses();
};

/// Beside the rows and below the columns; a table of digits has the digits.
void TestClassTables::tablesHaveTheNamesOfClasses() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Classes);
    view.resize(900, 500);
    view.show();
    QVERIFY(test::isActive(&view));
    Picture table = constant(3, 0.75f), target = constant(3, 1);
    QRectF place[2];
    for (const bool named : {false, true}) {
        target.caption = named ? "0 ankle boot, 1 bag, 2 sandal" : "";
        view.setTarget(target);
        view.setPictures(1, {table});
        place[named] = view.view(0).pictureRect();
    }
    const QRectF plain = place[0], named = place[1];
    QVERIFY2(plain.left() > 5, "room for the digits");
    QVERIFY(named.height() < plain.height() || named.left() > plain.left());
    const auto inked = [&view](const QRectF& area) {
        const QImage image = view.view(0).grab().toImage();
        const QColor paper = view.palette().color(QPalette::Window);
        int pixels = 0;
        for (int y = int(area.top()); y < int(area.bottom()); ++y)
            for (int x = int(area.left()); x < int(area.right()); ++x)
                pixels += QColor(image.pixel(x, y)) != paper;
        return pixels;
    };
    for (int row = 0; row < 3; ++row) {
        const double cell = named.height() / 3;
        QVERIFY(inked({named.left() - 40, named.top() + row * cell, 36, cell}) > 0);
        QVERIFY(inked({named.left() + row * cell, named.bottom() + 2, cell, 20}) > 0);
    }
    emit view.view(0).pixelHovered({2, 1});
    QCOMPARE(view.readout(), QStringLiteral("True: bag. Predicted: sandal.  A 25 %"));
    emit view.view(0).pixelHovered({-1, -1});
    QVERIFY(view.readout().startsWith(QStringLiteral("This batch.")));
    target = constant(300, 1); // too many for names
    view.setTarget(target);
    view.setPictures(1, {constant(300, 0.5f)});
    QVERIFY(view.view(0).pictureRect().height() >= view.view(0).viewport().height());
}

/// Short names are whole in a narrow pane; of long ones a tool tip has what is cut.
void TestClassTables::namesOfClassesCanBeRead() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Classes);
    const QFontMetrics metrics(scaledFont(view.font(), 0.85));
    const int name = metrics.horizontalAdvance(QStringLiteral("<=50K"));
    view.resize(6 * name, 220); // about as wide as in a window of 800 x 600
    view.show();
    QVERIFY(test::isActive(&view));
    const auto show = [&view](const char* names) {
        Picture target = constant(2, 1);
        target.caption = names;
        view.setTarget(target);
        view.setPictures(1, {constant(2, 0.75f)});
    };
    show("0 <=50K, 1 >50K");
    const ImageView& pane = view.view(0);
    QVERIFY2(0.3 * pane.width() < name, qPrintable(QString::number(pane.width())));
    QVERIFY2(pane.pictureRect().left() > name,
             qPrintable(QString::number(pane.pictureRect().left())));
    show("0 Lactarius deliciosus (saffron milk cap), 1 Russula emetica");
    const QRectF table = pane.pictureRect();
    QVERIFY(table.width() > name);
    const auto nameAt = [&](double x, double y) { return pane.nameAt({x, y}); };
    const QString whole = QStringLiteral("Lactarius deliciosus (saffron milk cap)");
    QCOMPARE(nameAt(table.left() - 5, table.top() + 5), whole);
    QCOMPARE(nameAt(table.left() - 5, table.bottom() - 5), QStringLiteral("Russula emetica"));
    QCOMPARE(nameAt(table.left() + 5, table.bottom() + 5), whole);
    QCOMPARE(nameAt(table.center().x(), table.center().y()), QString());
}

/// As many cells as have room for it show their share.
void TestClassTables::cellsShowTheirShare() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Classes);
    view.resize(900, 300);
    view.show();
    QVERIFY(test::isActive(&view));
    const auto shades = [&view](int side, float light) -> QSet<QRgb> {
        view.setTarget(constant(side, 1));
        view.setPictures(1, {constant(side, light)});
        const QRect table = view.view(0).pictureRect().toAlignedRect().adjusted(1, 1, -1, -1);
        const QImage image = view.view(0).grab(table).toImage();
        QSet<QRgb> different;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                different << image.pixel(x, y);
        return different;
    };
    QPalette greys = view.palette(); // from black to white
    greys.setColor(QPalette::Text, Qt::black);
    greys.setColor(QPalette::Base, Qt::white);
    view.setPalette(greys);
    for (const float light : {0.0f, 0.25f, 0.45f, 0.475f, 0.5f, 0.9f}) { // with the better ink
        const QColor ground = QColor::fromRgbF(light, light, light);
        const bool white = contrast(Qt::white, ground) > contrast(Qt::black, ground);
        const QSet<QRgb> inks = shades(3, light);
        QVERIFY(inks.size() > 1);
        for (const QRgb ink : inks)
            QVERIFY2(white ? qGray(ink) >= qGray(ground.rgb()) : qGray(ink) <= qGray(ground.rgb()),
                     qPrintable(QStringLiteral("%1 on %2").arg(qGray(ink)).arg(double(light))));
    }
    QCOMPARE(shades(3, 1).size(), 1);      // 0 %
    QCOMPARE(shades(100, 0.5f).size(), 1); // no room
}

/// Of how many samples a share is: in the line below, for a screen reader, and in the tool tip.
void TestClassTables::cellsTellTheirCounts() {
    ClassCounts counts(3);
    std::vector<int32_t> taken(982);
    std::fill_n(taken.begin(), 12, 2);
    counts.add(std::vector<int32_t>(982), taken);
    counts.add(std::array{1}, std::array{1});
    CompareView view;
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {}, ViewKind::Classes);
    view.resize(1200, 400);
    view.show();
    QVERIFY(test::isActive(&view));
    Picture target = constant(3, 1);
    target.caption = "0 ankle boot, 1 bag, 2 sandal";
    view.setTarget(target);
    view.setPictures(1, {classTable(counts), classTable(counts)});
    QCOMPARE(view.view(0).note(), QStringLiteral("971 of 983 right"));
    emit view.view(0).pixelHovered({2, 0});
    const QString told = QStringLiteral("True: ankle boot. Predicted: sandal.  "
                                        "A 12 of 982 (1.2 %); B 12 of 982 (1.2 %)");
    QCOMPARE(view.readout(), told);
    QCOMPARE(view.accessibleDescription(), told);

    const QRectF table = view.view(1).pictureRect();
    const QPoint at(int(table.left() + table.width() * 5 / 6), int(table.top() + 5));
    QHelpEvent help(QEvent::ToolTip, at, view.view(1).mapToGlobal(at));
    QCoreApplication::sendEvent(&view.view(1), &help);
    QVERIFY2(QToolTip::text().contains(QStringLiteral("A 12 of 982 (1.2 %)")),
             qPrintable(QToolTip::text()));
    FedRun other;
    other.start({QStringLiteral("fp32"), QStringLiteral("fp16")}, {false, false});
    CompareView another;
    QToolTip::showText(QPoint(9, 9), QStringLiteral("of the run before"), &another);
    another.setRun(other.run);
    QTRY_VERIFY(!QToolTip::isVisible());

    emit view.view(0).pixelHovered({-1, -1});
    view.setFocus(Qt::TabFocusReason);
    QTest::keyClick(&view, Qt::Key_Right); // the first key only shows the place
    QVERIFY2(
        view.readout().startsWith(QStringLiteral("True: bag. Predicted: bag.  A 1 of 1 (100 %)")),
        qPrintable(view.readout()));
    QTest::keyClick(&view, Qt::Key_Right);
    QTest::keyClick(&view, Qt::Key_Up);
    QCOMPARE(view.accessibleDescription(), told);
}

/// Captions of other pictures, and those of earlier versions, are no counts of rows.
void TestClassTables::countsHaveNoOtherMeaning() {
    for (const char* caption : {"", "3/5", "y = 2; x", "3/5; rows:x", "3/5; rows: 4 one"}) {
        const TableCaption told = tableCaption(caption);
        QVERIFY2(told.rows.empty() && told.right == caption, caption);
    }
    const TableCaption told = tableCaption("3/5; rows: 4 1");
    QVERIFY(told.right == "3/5" && told.rows == (std::vector<int64_t>{4, 1}));
}

/// Letters that are large enough for an audience become smaller before the names are left out.
void TestClassTables::audienceSeesNames() {
    const double line = QFontMetricsF(scaledFont(QFont(), 0.85)).height();
    const int side = static_cast<int>(10 * 1.1 * line / 0.6); // names may take 0.4 of it
    CompareView view;
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Classes);
    view.setFont(scaledFont(view.font(), 1.8));
    view.resize(2 * side + 40, side + 200);
    view.setBare(true);
    view.show();
    QVERIFY(test::isActive(&view));
    Picture target = constant(10, 1);
    target.caption = "0 T-shirt or top, 1 Trousers, 2 Pullover, 3 Evening dress, 4 Winter coat";
    view.setTarget(target);
    view.setPictures(1, {constant(10, 0.5f)});
    const QRectF table = view.view(0).pictureRect();
    QCOMPARE(view.view(0).nameAt({table.left() - 5, table.top() + 5}),
             QStringLiteral("T-shirt or top"));
    QVERIFY(table.height() > side / 2.0);
}

/// The figures are as large as they can be: without a 100, two digits are larger.
void TestClassTables::audienceReadsLargeShares() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Classes);
    view.setFont(scaledFont(view.font(), 2));
    view.setBare(true);
    view.setTarget(constant(10, 1));
    const QFontMetricsF large(scaledFont(view.font(), 0.85));
    const double cell =
        1.1 * std::max(large.height(), large.horizontalAdvance(QStringLiteral("96")));
    QVERIFY(cell < large.horizontalAdvance(QStringLiteral("100")));
    view.resize(static_cast<int>(2 * 10 * cell) + 200, static_cast<int>(10 * cell) + 200);
    view.show();
    QVERIFY(test::isActive(&view));
    const auto heightOfFigures = [&view](float light) {
        view.setPictures(1, {constant(10, light)});
        const QRectF table = view.view(0).pictureRect();
        const QRectF first(table.topLeft(), table.size() / 10);
        const QImage image =
            view.view(0).grab(first.toAlignedRect().adjusted(1, 1, -1, -1)).toImage();
        int rows = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                if (image.pixel(x, y) != image.pixel(0, 0)) {
                    ++rows;
                    break;
                }
        return rows;
    };
    const int two = heightOfFigures(0.04f), three = heightOfFigures(0);
    QVERIFY2(three > 4 && two > three, qPrintable(QStringLiteral("%1, %2").arg(two).arg(three)));
    QVERIFY2(view.readout().contains(u'%'), qPrintable(view.readout()));
}

/// The line below the tables tells an audience of a cell, in large letters.
void TestClassTables::noTipCoversCells() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Classes);
    view.resize(900, 500);
    view.show();
    QVERIFY(test::isActive(&view));
    view.setTarget(constant(3, 1));
    view.setPictures(1, {constant(3, 0.75f)});
    const auto tipNow = [&view] {
        QToolTip::hideText();
        const QPoint at = view.view(0).pictureRect().center().toPoint();
        QHelpEvent help(QEvent::ToolTip, at, view.view(0).mapToGlobal(at));
        QCoreApplication::sendEvent(&view.view(0), &help);
        return QToolTip::isVisible() ? QToolTip::text() : QString();
    };
    QTRY_VERIFY2(tipNow().contains(QStringLiteral("True: 1.")), qPrintable(QToolTip::text()));
    view.setBare(true);
    QToolTip::hideText();
    QTRY_VERIFY(!QToolTip::isVisible());
    QCOMPARE(tipNow(), QString());
}

/// A share that is rounded twice may be another: 17 of 18 are 94 %, but 95 % from 8 bits.
void TestClassTables::savedTablesTellTheSame() {
    ClassCounts counts(2);
    for (int i = 0; i < 18; ++i)
        counts.add(std::array{0, 1}, std::array{i < 17 ? 0 : 1, 1});
    const Picture live = classTable(counts);
    TaskConfig task;
    task.kind = TaskKind::Mnist;
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("table.png")).toStdString();
    CompareView view;
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("saved")}, {}, ViewKind::Classes);
    view.resize(900, 500);
    view.setTarget(constant(2, 1));
    const auto told = [&](const std::string& file) {
        writeFileAtomically(path, file);
        view.setPictures(1, {live, readOutput(task, {}, path).picture});
        emit view.view(0).pixelHovered({0, 0});
        return view.readout();
    };
    QCOMPARE(told(outputPng(task, live)),
             QStringLiteral("True: 0. Predicted: 0.  A 17 of 18 (94 %); B 17 of 18 (94 %)"));
    QCOMPARE(told(pngBytes(live)),
             QStringLiteral("True: 0. Predicted: 0.  A 17 of 18 (94 %); B 95 %"));
}

/// The settings do not tell whether targets are 0 and 1; the target of the run does.
void TestClassTables::twoClassesAsOneOutput() {
    ClassCounts counts(2);
    counts.add(std::array{0, 0, 0, 1}, std::array{0, 0, 1, 1});
    FedRun fed;
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Csv;
    config.task.loss.kind = LossKind::BceWithLogits;
    fed.start({QStringLiteral("fp32")}, {}, config);
    const auto lanes = fed.run->lanes();
    const auto readout = [&](const Picture& target, const Picture& output) {
        const auto run =
            std::make_shared<Run>(fed.run->info(), std::vector(lanes.begin(), lanes.end()), target);
        RunBatch batch;
        batch.pictures = LanePictures{1, {output}};
        run->append(std::move(batch));
        CompareView view;
        view.resize(900, 500);
        view.setRun(run);
        emit view.view(0).pixelHovered({0, 0});
        return view.readout();
    };
    QCOMPARE(readout(targetPictureOf(classesView(2), Batch()), classTable(counts)),
             QStringLiteral("True: 0. Predicted: 0.  A 2 of 3 (67 %)"));
    const QString shares = readout(constant(256, 1), constant(256, 0.5f));
    QVERIFY2(shares.contains("target across") && !shares.contains("True:"), qPrintable(shares));
}

/// The colour scale of a difference covers no name of a column.
void TestClassTables::scaleStandsBelowTheNames() {
    ViewTransform transform;
    ImageView view(transform);
    view.setStyle(ImageView::Style::Cells);
    view.setAxes({QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c")});
    view.setMappedPicture(constant(3, 0.5f), 1);
    view.setLegend(0.5);
    view.resize(200, 400); // as narrow as a pane: there is room left below
    const QRectF table = view.pictureRect();
    const QImage seen = view.grab().toImage();
    const auto isScale = [&seen](int y) {
        int coloured = 0;
        for (int x = 0; x < seen.width(); ++x)
            coloured += seen.pixelColor(x, y).hsvSaturation() > 80;
        return coloured > seen.width() / 3;
    };
    int first = static_cast<int>(std::ceil(table.bottom())) + 1;
    while (first < seen.height() && !isScale(first))
        ++first;
    QVERIFY2(first < seen.height(), "a scale below the table");
    const QFontMetrics metrics(scaledFont(view.font(), 0.85));
    QVERIFY2(first >= table.bottom() + metrics.height(),
             qPrintable(QStringLiteral("%1 of %2").arg(first).arg(table.bottom())));
}

/// Also those of a window whose cells have no room for them.
void TestClassTables::filesHaveTheShares() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Classes);
    view.resize(330, 150);
    view.show();
    QVERIFY(test::isActive(&view));
    view.setTarget(constant(10, 1));
    view.setPictures(1, {constant(10, 0.5f)});
    const auto shares = [](const QImage& image) { // black, while other letters are dark grey
        const int text = qGray(paperColors().text.rgb());
        int pixels = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                pixels += qGray(image.pixel(x, y)) < text - 8;
        return pixels;
    };
    const QRect table = view.view(0).pictureRect().toAlignedRect().adjusted(1, 1, -1, -1);
    QCOMPARE(shares(view.view(0).grab(table).toImage()), 0);
    const int inFile = shares(view.picture(paperColors()));
    QVERIFY2(inFile > 500, qPrintable(QString::number(inFile)));
}

/// A cell of mistakes stands out from the ground, and its share can be read.
void TestClassTables::mistakesAreSeenInTheDark() {
    applyTheme(*qApp, Theme::Dark);
    const auto light = qScopeGuard([] { applyTheme(*qApp, Theme::Light); });
    CompareView view;
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Classes);
    view.resize(900, 300);
    view.show();
    QVERIFY(test::isActive(&view));
    view.setTarget(constant(3, 1));
    view.setPictures(1, {constant(3, 0.86f)});
    const QImage image = view.view(0).grab().toImage();
    const QPoint corner = view.view(0).pictureRect().topLeft().toPoint() + QPoint(2, 2);
    const double seen = contrast(image.pixelColor(corner), colorsFor(view.palette()).background);
    QVERIFY2(seen >= 3, qPrintable(QString::number(seen)));
    QVERIFY(contrast(image.pixelColor(corner), colorsFor(view.palette()).window) >= 2.5);
}

/// An output that is nan is told as on the lane's card, not as mistakes in all samples.
void TestClassTables::nanHasNoClasses() {
    CompareView view;
    view.setLanes({QStringLiteral("fp32")}, {}, ViewKind::Classes);
    view.resize(900, 300);
    view.show();
    QVERIFY(test::isActive(&view));
    Picture table = constant(10, 1);
    table.caption = kNoClasses;
    view.setTarget(constant(10, 1));
    view.setPictures(1, {table});
    QCOMPARE(view.view(0).note(), QStringLiteral("output is nan"));
    QVERIFY2(view.view(0).toolTip().contains(
                 QStringLiteral("The output is nan, so no sample has a class.")),
             qPrintable(view.view(0).toolTip()));
}

} // namespace tst_class_tables

QTEST_MAIN(tst_class_tables::TestClassTables)
#include "tst_class_tables.moc"
