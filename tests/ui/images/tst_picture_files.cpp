// Pictures of the lanes as files, with a layout of their own, and the step that the window and the
// files name.
#include "engine/settings/fields.h"
#include "tests/support/fed_run.h"
#include "tests/support/pictures.h"
#include "tests/support/shown_window.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/images/pane_sheet.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"

#include <QLabel>
#include <QScopeGuard>
#include <QtTest>

#include <limits>

namespace tst_picture_files {

using namespace halfscope;

class TestPictureFiles : public QObject {
    Q_OBJECT
private slots:
    void stepsAreNamedTruthfully();
    void savedRunsDoNotTellWhichWeights();
    void theTargetShowsTheSamplesOfTheLanes();
    void filesHaveALayoutOfTheirOwn();
    void lettersAreTheProgramsOwn();
    void errorsStandBesideTheTitles();
    void scalesSayThatPicturesGoBeyondThem();
    void manyClassesStaySmall();
};

/// The output of a step is that of the weights before it; drawings are made afterwards.
void TestPictureFiles::stepsAreNamedTruthfully() {
    CompareView view;
    view.resize(1200, 400);
    const auto said = [&view](ViewKind kind, std::optional<int64_t> validated, qint64 step) {
        view.setLanes({QStringLiteral("fp32")}, {}, kind);
        view.setBare(false);
        view.setTarget(constant(4, 1));
        view.setValidated(validated);
        view.setPictures(step, {constant(4, 0.5f)});
        const QList<QLabel*> labels = view.findChildren<QLabel*>();
        for (const QLabel* label : labels) {
            if (!label->text().contains(QStringLiteral("step "), Qt::CaseInsensitive)) continue;
            const QString tip = label->toolTip();
            if (view.view(0).toolTip().contains(tip) && label->accessibleDescription() == tip)
                return label->text() + (tip.isEmpty() ? QString() : QStringLiteral(": ") + tip);
        }
        return QString();
    };
    const QString how = QStringLiteral(": As the networks were when they computed the loss of step "
                                       "%1, before that step changed their weights.");
    QCOMPARE(said(ViewKind::Painted, 0, 300), QStringLiteral("In step 300") + how.arg(300));
    view.setBare(true); // for an audience
    QCOMPARE(view.readout(), QStringLiteral("In step 300"));
    view.setPictures(300, {constant(4, std::numeric_limits<float>::quiet_NaN())});
    QCOMPARE(view.readout(), QStringLiteral("In step 300   Magenta: not finite."));
    QVERIFY(said(ViewKind::Painted, 0, 0).startsWith(QStringLiteral("Before step 1: As the ")));
    QCOMPARE(said(ViewKind::Curve, 0, 300), QStringLiteral("After step 300"));
    QCOMPARE(said(ViewKind::Plane, 0, 0), QStringLiteral("Before step 1"));
    for (const ViewKind kind : {ViewKind::Scatter, ViewKind::Classes}) {
        QCOMPARE(said(kind, 0, 9), QStringLiteral("In step 9") + how.arg(9)); // this batch
        QCOMPARE(said(kind, 7, 9), QStringLiteral("After step 7"));           // the validation
        QVERIFY(said(kind, std::nullopt, 9).startsWith(QStringLiteral("Step 9: A saved run")));
    }
}

/// Of painted pictures it is told by what made them; files have no word of it.
void TestPictureFiles::savedRunsDoNotTellWhichWeights() {
    const auto said = [](std::optional<PicturesMade> made, int64_t step) {
        FedRun fed;
        fed.start({QStringLiteral("fp32")}, {}, defaultConfig());
        RunBatch batch;
        batch.pictures = LanePictures{step, {constant(8, 0.75f)}};
        if (made) batch.pictures->made = *made;
        fed.run->append(std::move(batch));
        CompareView view;
        view.resize(1200, 400);
        view.setRun(fed.run);
        view.setBare(true);
        return view.readout();
    };
    QCOMPARE(said(PicturesMade::InStep, 12), QStringLiteral("In step 12"));
    QCOMPARE(said(PicturesMade::AfterStep, 12), QStringLiteral("After step 12"));
    QCOMPARE(said({}, 12), QStringLiteral("Step 12")); // as readers of files leave it
    QCOMPARE(said({}, 0), QStringLiteral("Before step 1"));
}

/// A scatter shows the first batch, and from the first validation on the samples of that.
void TestPictureFiles::theTargetShowsTheSamplesOfTheLanes() {
    FedRun fed;
    fed.start({QStringLiteral("fp32")}, {}, presetNamed("regression").config);
    const auto lanes = fed.run->lanes();
    const auto run = std::make_shared<Run>(fed.run->info(), std::vector(lanes.begin(), lanes.end()),
                                           constant(8, 0.25f));
    CompareView view;
    view.setRun(run);
    const auto shown = [&](LanePictures pictures) {
        RunBatch batch;
        batch.pictures = std::move(pictures);
        run->append(std::move(batch));
        view.refresh();
        return view.target().values.front();
    };
    QCOMPARE(shown({1, {constant(8, 0.5f)}}), 0.25f);
    QCOMPARE(view.view(1).title(), QStringLiteral("Target (first batch)"));
    LanePictures validated{2, {constant(8, 0.5f)}, 2};
    validated.target = constant(8, 0.75f);
    QCOMPARE(shown(validated), 0.75f);
    QCOMPARE(view.view(1).title(), QStringLiteral("Target"));
    view.setRun(run); // as after a look at another run
    QCOMPARE(view.target().values.front(), 0.75f);
}

/// From a wide window in the dark theme, too: no gaps, dark on white, with the caption.
void TestPictureFiles::filesHaveALayoutOfTheirOwn() {
    applyTheme(*qApp, Theme::Dark);
    const auto light = qScopeGuard([] { applyTheme(*qApp, Theme::Light); });
    CompareView view;
    view.resize(1900, 360);
    view.show();
    QVERIFY(test::isExposed(&view));
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("bf16")}, {}, ViewKind::Plane);
    view.setTarget(constant(8, 0.5f));
    const auto saved = [&view](qint64 step) {
        view.setPictures(step, {constant(8, 0.25f), constant(8, 0.75f)});
        return view.picture(paperColors());
    };
    const QImage image = saved(3);
    const double side = view.view(0).side(), fine = image.devicePixelRatio();
    QVERIFY2(image.width() / fine < 3 * side + 70, qPrintable(QString::number(image.width())));
    QVERIFY(image.height() / fine > side + 2 * view.fontMetrics().height());
    const QColor text = paperColors().text;
    int ground = 0, ink = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) {
            ground += image.pixelColor(x, y) == QColor(Qt::white);
            ink += image.pixelColor(x, y) == text;
        }
    QCOMPARE(image.pixelColor(1, 1), QColor(Qt::white));
    QVERIFY2(ground > 1000 && ink > 50, qPrintable(QString::number(ink)));
    const QImage later = saved(4);
    QVERIFY(later.size() == image.size() && later != image); // the caption tells the step
    QVERIFY(view.picture(colorsFor(view.palette())).pixelColor(1, 1).lightness() < 60);
    // the window is as it was
    QCOMPARE(view.view(0).titleColor(), colorsFor(view.palette()).laneText(0));
}

/// A presentation has large letters; the same pictures in a file are those of every day.
void TestPictureFiles::lettersAreTheProgramsOwn() {
    CompareView view;
    view.resize(600, 200); // a file's pictures are larger
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("bf16")}, {}, ViewKind::Classes);
    view.setTarget(constant(10, 0.5f));
    view.setPictures(1, {constant(10, 0.25f), constant(10, 0.75f)});
    const QImage usual = view.picture(paperColors());
    view.setFont(scaledFont(view.font(), 2));
    QVERIFY(view.view(0).sideForShares() > 0);
    QCOMPARE(view.picture(paperColors()).size(), usual.size());
}

/// Words are left out before a line is added.
void TestPictureFiles::errorsStandBesideTheTitles() {
    CompareView view;
    view.resize(400, 200);
    view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16, apex")});
    view.setTarget(constant(8, 0.5f));
    const auto heightOf = [&view](float value) {
        view.setPictures(1, {constant(8, value), constant(8, value)});
        return view.picture(paperColors()).height();
    };
    QCOMPARE(heightOf(0.6f), heightOf(0.5f)); // "PSNR 20.0 dB", and "equal"
    QFont bold = view.font();
    bold.setBold(true);
    QString title(QStringLiteral("m")); // beside which nothing has room
    while (QFontMetrics(bold).horizontalAdvance(QStringLiteral("B ") + title) < 210)
        title += u'm';
    view.setLanes({QStringLiteral("fp32"), title});
    view.setTarget(constant(8, 0.5f));
    const int noted = heightOf(0.6f);
    view.setTarget(constant(4, 0.5f)); // nothing to compare with
    QVERIFY(noted > heightOf(0.6f));
}

/// A copy for a file has the same end of the scale, with its sign.
void TestPictureFiles::scalesSayThatPicturesGoBeyondThem() {
    ViewTransform transform;
    ImageView shown(transform);
    shown.setMappedPicture(constant(4, 0.25f), 8);
    shown.setLegend(0.125);
    QWidget paper;
    QCOMPARE(make<ImageView>(shown, paper)->legendEnd(), QStringLiteral("≥ 0.125"));
    // and so has the whole sheet: with a larger end, the picture is within it
    const auto sheet = [&shown](float value) {
        shown.setMappedPicture(constant(4, value), 8);
        return paneSheet({{&shown, paperColors().text, {}}}, {}, paperColors());
    };
    QVERIFY(sheet(0.125f) != sheet(0.25f)); // both have the last colour only
}

/// The window waits meanwhile: tables of many classes have no room for shares in a file of a size
/// that can be used.
void TestPictureFiles::manyClassesStaySmall() {
    for (const int classes : {10, 30, 40, 50, 80}) {
        CompareView view;
        view.resize(1200, 400);
        view.setLanes(QStringList(6, QStringLiteral("fp32")), {}, ViewKind::Classes);
        view.setTarget(constant(classes, 0.5f));
        view.setPictures(1, QVector<Picture>(6, constant(classes, 0.25f)));
        const QImage image = view.picture(paperColors());
        const int64_t pixels = int64_t{image.width()} * image.height();
        constexpr int64_t kMost = 21'000'000; // with the caption and the edges
        QVERIFY2(pixels > 0 && pixels <= kMost,
                 qPrintable(QStringLiteral("%1 classes: %2").arg(classes).arg(pixels)));
        if (classes == 10) QCOMPARE(image.devicePixelRatio(), 2.0);
    }
}

} // namespace tst_picture_files

QTEST_MAIN(tst_picture_files::TestPictureFiles)
#include "tst_picture_files.moc"
