// The sentence above the pictures in windows that are too narrow for it: a shorter one replaces it,
// never a part of it. Also when the gradients are counted that it may tell of.
#include "engine/data/dataset.h"
#include "tests/support/cpu_run.h"
#include "tests/support/opened_window.h"
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "ui/look/text_fit.h"
#include "ui/models/run_model.h"
#include "ui/models/zero_gradient_words.h"
#include "ui/panels/setup_panel.h"
#include "ui/window/figures.h"
#include "ui/window/headline.h"

#include <QElapsedTimer>
#include <QLabel>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>

namespace tst_headline {

using namespace halfscope;

namespace {

const QChar kCut(0x2026);

QLabel* headlineOf(const MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("headline"));
}

/// Makes the window as large as one of 1280 x 800 at scale factor 2, and shows the settings, which
/// are hidden at that size until they are asked for.
void showNarrow(MainWindow& window) {
    window.resize(640, 400);
    window.show();
    QVERIFY(test::isActive(&window));
    QTRY_VERIFY(!window.setup().isVisible());
    QTest::keyClick(&window, Qt::Key_F9);
    QTRY_VERIFY(window.setup().isVisible() && headlineOf(window)->width() < 260);
}

} // namespace

class TestHeadline : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QLocale::setDefault(QLocale::c());
    }
    void presetsInvite();
    void eventsAreTold();
    void lostGradientsAreTold();
    void growthsHideNoLostGradients();
    void aHiddenWindowCountsNone();
    void lossesOfManyLanesFit();
    void skipsAreToldOfLanesThatScale();
    void runsAreSummedUp();
};

void TestHeadline::presetsInvite() {
    Opened opened(tinyConfig(10));
    showNarrow(opened.window);
    const int width = headlineOf(opened.window)->width();
    QVERIFY2(width < 260, qPrintable(QString::number(width)));
    QWidget window;
    Headline headline(&window);
    headline.resize(width, headline.height());
    for (const Preset& preset : presets()) {
        const QString about = QString::fromUtf8(preset.aboutHere().text());
        const QString title = QString::fromUtf8(preset.titleHere().text());
        for (const double size : {1.0, 1.5}) {
            headline.say(Figures::invitations(about, Figures::Press::Nothing, title), size);
            const QString shown = headline.text();
            QCOMPARE(headline.said(), about);
            QVERIFY2(!shown.isEmpty() && !shown.contains(kCut), qPrintable(shown));
            QVERIFY2(heightOf(shown, headline.font(), width) <= headline.height(),
                     qPrintable(shown));
        }
    }
}

void TestHeadline::eventsAreTold() {
    Opened opened(presetNamed("overflow").config);
    MainWindow& window = opened.window;
    showNarrow(window);
    QVERIFY(reaches(window, SessionState::Ready));
    window.stepOnce();
    const QLabel* headline = headlineOf(window);
    const QString whole = QStringLiteral(
        "B amp-fp16 \u00b7 Step 1 skipped: gradient of the predictions reached inf at loss "
        "scale 16777216 (2^24); the scale falls to 8388608 (2^23). The step would "
        "have fitted at 2048 (2^11) or below.");
    QTRY_COMPARE_WITH_TIMEOUT(headline->toolTip(), whole, kPatience);
    QCOMPARE(headline->text(), QStringLiteral("B \u00b7 Step 1: Overflow, scale halved"));
    window.resize(960, 540); // 1920 x 1080 at scale factor 2
    QTRY_COMPARE(
        headline->text(),
        QStringLiteral("B \u00b7 Step 1 skipped: gradient of the predictions reached inf at loss "
                       "scale 2^24; the scale falls to 2^23."));
    window.resize(1280, 800);
    const QString oneLine = QStringLiteral("B\u00a0amp-\u2060fp16");
    QTRY_VERIFY2(headline->text().startsWith(oneLine), qPrintable(headline->text()));
    QCOMPARE(headline->text().replace(oneLine, QStringLiteral("B amp-fp16")), whole);
}

/// An old event gives way to a lane that learns next to nothing, of which no event tells.
void TestHeadline::lostGradientsAreTold() {
    RunConfig config = tinyConfig(100000);
    config.lanes[1].scaler.initScale = 0x1p-24F;
    config.pace = 30;
    Opened opened(config);
    QVERIFY(reaches(opened.window, SessionState::Ready));
    opened.window.play();
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.run().lane(1).last.step > 0, kPatience);
    QTest::keyClick(&opened.window, Qt::Key_G);
    const auto says = [&opened](const char* words) {
        return headlineOf(opened.window)->toolTip().contains(QLatin1String(words));
    };
    constexpr const char* kLost = "of the gradients of B are zero";
    QTRY_VERIFY_WITH_TIMEOUT(says(kLost), kPatience);
    // what is new comes first, for as long as it takes to read it
    QElapsedTimer clock;
    clock.start(); // at the change: a slow machine may see it late
    opened.window.shown().setScale(1, QStringLiteral("2^-25"));
    QTRY_VERIFY_WITH_TIMEOUT(!says(kLost), kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(says(kLost), kPatience);
    QVERIFY2(clock.elapsed() > 1000, qPrintable(QString::number(clock.elapsed())));
    // likewise where the training is paused meanwhile, and no step comes
    opened.window.shown().setScale(1, QStringLiteral("2^-26"));
    QTRY_VERIFY_WITH_TIMEOUT(!says(kLost), kPatience);
    opened.window.pause();
    QVERIFY(reaches(opened.window, SessionState::Paused));
    QTRY_VERIFY_WITH_TIMEOUT(says(kLost), kPatience);
}

/// The loss scale grows by itself, again and again: that is no news beside a lane that learns
/// nothing.
void TestHeadline::growthsHideNoLostGradients() {
    RunConfig config = tinyConfig(100000);
    config.lanes[1].scaler.initScale = 0x1p-40F;
    config.lanes[1].scaler.rules.growthInterval = 30; // a second
    config.pace = 30;
    Opened opened(config);
    QVERIFY(reaches(opened.window, SessionState::Ready));
    opened.window.play();
    QTest::keyClick(&opened.window, Qt::Key_G);
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.run().lane(1).lost.has_value(), kPatience);
    const EventModel& events = opened.window.events();
    QTRY_VERIFY_WITH_TIMEOUT(events.rowCount() > 0 && events.eventAt(0).kind == EventKind::Growth,
                             kPatience);
    test::serveEvents(400); // the headline follows within a fifth of a second
    const QString told = headlineOf(opened.window)->toolTip();
    QVERIFY2(told.contains(QLatin1String("of the gradients of B are zero")), qPrintable(told));
}

/// Counts cost time: nobody reads what they tell.
void TestHeadline::aHiddenWindowCountsNone() {
    FakeScript script;
    Opened opened(tinyConfig(50), played(script));
    MainWindow& window = opened.window;
    ExperimentController& controller = window.controller();
    QVERIFY(reaches(window, SessionState::Ready));
    int64_t steps = 0;
    /// Trains one step; whether it brings the counts to so many, and no further.
    const auto stepCountsTo = [&](int counts) {
        controller.stepOnce();
        ++steps;
        if (!QTest::qWaitFor([&] { return script.steps == steps && script.looks == counts; },
                             kPatience))
            return false;
        for (int i = 0; i < 2; ++i) { // the first one may come before a count
            const QSignalSpy refused(&controller, &ExperimentController::refused);
            controller.edit(-1, "model.width", FieldValue{int64_t{8}});
            if (!QTest::qWaitFor([&] { return !refused.isEmpty(); }, kPatience)) return false;
        }
        return script.looks == counts;
    };
    QVERIFY(stepCountsTo(1));
    window.hide();
    QVERIFY(stepCountsTo(1));
    window.show();
    QVERIFY(stepCountsTo(2));
}

/// Lanes share a sentence: one for each would be cut off.
void TestHeadline::lossesOfManyLanesFit() {
    RunConfig config = tinyConfig(10);
    config.lanes.resize(4, config.lanes[1]); // in fp16
    const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
    RunModel model;
    model.setRun(run);
    RunBatch counted;
    counted.gradients.emplace_back(4);
    for (GradientRange& range : counted.gradients[0]) {
        const bool reference = &range == &counted.gradients[0].front();
        range.step = 8;
        range.type = reference ? DType::F32 : DType::F16;
        range.outputs.zeros = reference ? 40 : 100;
        range.outputs.buckets[20] = 100 - range.outputs.zeros;
    }
    run->append(std::move(counted));
    model.refresh();
    const QStringList texts = lostGradientsTexts(model);
    QWidget window;
    Headline headline(&window);
    const auto shownIn = [&](int letters) {
        headline.resize(letters * window.fontMetrics().averageCharWidth(), headline.height());
        headline.say(texts);
        return headline.text();
    };
    constexpr int kOrdinary = 70, kNarrow = 24; // letters in a line
    QCOMPARE(shownIn(kOrdinary), texts.first());
    QCOMPARE(shownIn(kNarrow), QStringLiteral("Nearly all gradients of B, C and D are zero."));
    QCOMPARE(headline.said(), texts.first());
}

/// Lanes that do not scale their loss cannot skip a step, and nothing is said about it.
void TestHeadline::skipsAreToldOfLanesThatScale() {
    for (const bool scales : {true, false}) {
        RunConfig config = tinyConfig(10);
        if (!scales) config.lanes.resize(1); // FP32
        Opened opened(config);
        QVERIFY(reaches(opened.window, SessionState::Ready));
        opened.window.stepOnce();
        const QString same = QStringLiteral("Every lane learns from the same batches.");
        const QString clean = same + QStringLiteral(" No step has been skipped so far.");
        QTRY_COMPARE_WITH_TIMEOUT(headlineOf(opened.window)->toolTip(), scales ? clean : same,
                                  kPatience);
    }
}

void TestHeadline::runsAreSummedUp() {
    Opened opened(presetNamed("overflow").config);
    MainWindow& window = opened.window;
    showNarrow(window);
    QVERIFY(reaches(window, SessionState::Ready));
    window.shown().setPace(0);
    window.setStopStep(60);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    const QLabel* headline = headlineOf(window);
    QTRY_VERIFY_WITH_TIMEOUT(headline->toolTip().startsWith(QStringLiteral("Finished. In step")),
                             kPatience);
    QVERIFY2(headline->toolTip().contains(QStringLiteral("(median")) &&
                 headline->toolTip().contains(QStringLiteral("\nThe median is that of the last")),
             qPrintable(headline->toolTip()));
    const QString brief = headline->text();
    QVERIFY2(brief.startsWith(QStringLiteral("After step 60 the median loss is: A\u00a0")) ||
                 brief.startsWith(QStringLiteral("Median loss after step 60: A\u00a0")),
             qPrintable(brief));
    QVERIFY2(brief.endsWith(u'.') && !brief.contains(QStringLiteral("(median")), qPrintable(brief));
}

} // namespace tst_headline

QTEST_MAIN(tst_headline::TestHeadline)
#include "tst_headline.moc"
