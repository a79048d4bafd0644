// Pictures of the lanes as files, with a layout of their own, and the step that the window and the
// files name.
#include "tests/support/pictures.h"
#include "tests/support/shown_window.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/look/theme.h"

#include <QLabel>
#include <QScopeGuard>
#include <QtTest>

namespace tst_picture_files {

using namespace halfscope;

class TestPictureFiles : public QObject {
    Q_OBJECT
private slots:
    void stepsAreNamedTruthfully();
    void filesHaveALayoutOfTheirOwn();
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
            if (!label->text().contains(QStringLiteral("step "))) continue;
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
    QVERIFY(said(ViewKind::Painted, 0, 0).startsWith(QStringLiteral("Before step 1: As the ")));
    QCOMPARE(said(ViewKind::Curve, 0, 300), QStringLiteral("After step 300"));
    QCOMPARE(said(ViewKind::Plane, 0, 0), QStringLiteral("After step 0"));
    for (const ViewKind kind : {ViewKind::Scatter, ViewKind::Classes}) {
        QCOMPARE(said(kind, 0, 9), QStringLiteral("In step 9") + how.arg(9)); // this batch
        QCOMPARE(said(kind, 7, 9), QStringLiteral("After step 7"));           // the validation
        QCOMPARE(said(kind, std::nullopt, 9), QStringLiteral("After step 9"));
    }
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

} // namespace tst_picture_files

QTEST_MAIN(tst_picture_files::TestPictureFiles)
#include "tst_picture_files.moc"
