// The histogram of gradients: what it says and where it draws, when the session counts, and how the
// window shows it.
#include "tests/support/opened_window.h"
#include "ui/panels/event_panel.h"
#include "ui/plots/gradient_view.h"

#include <QImage>
#include <QLocale>
#include <QSettings>
#include <QSignalSpy>
#include <QToolButton>

#include <cmath>

namespace tst_gradient_view {

using namespace halfscope;

namespace {

using Counts = MagnitudeCounts;

int64_t& at(Counts& counts, int exponent) {
    return counts.buckets[static_cast<size_t>(exponent - Counts::kLowest)];
}

GradientRange rangeOf(DType type) {
    GradientRange range;
    range.step = 1200;
    range.type = type;
    return range;
}

/// Returns the mean place of a colour's pixels from left (0) to right (1); -1 when there are none.
double placeOf(const QImage& image, const QColor& color) {
    double sum = 0;
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            if (image.pixelColor(x, y).rgb() == color.rgb()) {
                sum += x + 0.5;
                ++count;
            }
    return count > 0 ? sum / count / image.width() : -1;
}

/// Returns the number of the picture's rows that contain the colour.
int heightOf(const QImage& image, const QColor& color) {
    int rows = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            if (image.pixelColor(x, y).rgb() == color.rgb()) {
                ++rows;
                break;
            }
    return rows;
}

QImage pictureOf(GradientView& view) {
    view.resize(560, view.sizeHint().height());
    return view.grab().toImage();
}

/// Waits for the session's newest gradients and returns them.
std::vector<GradientRange> nextOf(ExperimentController& controller) {
    std::vector<GradientRange> found;
    const bool came = QTest::qWaitFor(
        [&] {
            SessionBatch batch = controller.drain();
            if (!batch.gradients.empty()) found = std::move(batch.gradients.back());
            return !found.empty();
        },
        kPatience);
    return came ? found : std::vector<GradientRange>();
}

bool reaches(ExperimentController& controller, SessionState state) {
    return QTest::qWaitFor([&] { return controller.state() == state; }, kPatience);
}

} // namespace

class TestGradientView : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    /// Half a heading, as in a narrow column of large letters, would leave out its last bracket.
    void headingIsNotCutOff() {
        GradientView view;
        view.setLanes({QStringLiteral("fp32")});
        const QFontMetrics metrics(view.font());
        GradientRange range = rangeOf(DType::F32);
        range.scale = 1024;
        view.setRanges({range}, true);
        const QString full = QStringLiteral("Scaled gradients of a new training");
        const int width = metrics.horizontalAdvance(full);
        QCOMPARE(view.headingIn(width + 1, metrics), full);
        QCOMPARE(view.headingIn(width - 1, metrics), QStringLiteral("Gradients of a new training"));
        const QString least = QStringLiteral("Gradients after step 1199");
        const int narrow = metrics.horizontalAdvance(least) + 1;
        QCOMPARE(view.headingIn(narrow / 2, metrics), QStringLiteral("New training"));
        view.setRanges({range});
        QCOMPARE(view.headingIn(narrow, metrics), least);
        // beside a lesson
        QCOMPARE(view.headingIn(narrow - 2, metrics), QStringLiteral("After step 1199"));
    }

    void saysWhatFp16Does() {
        GradientView view;
        view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")});
        QCOMPARE(view.figures(0), QString());
        GradientRange exact = rangeOf(DType::F32);
        exact.outputs.zeros = 20;
        at(exact.outputs, -25) = 30; // rounds up to fp16's smallest value
        at(exact.outputs, -26) = 10;
        at(exact.weights, -40) = 20;
        at(exact.weights, 3) = 20;
        GradientRange half = rangeOf(DType::F16);
        half.outputs.zeros = 999;
        at(half.outputs, -20) = 1;
        at(half.weights, 0) = 799;
        at(half.weights, -15) = 151; // FP32 keeps their digits, fp16 would not
        at(half.weights, -14) = 40;  // normal
        at(half.weights, -26) = 10;  // zero in fp16
        view.setRanges({exact, half});
        QCOMPARE(view.heading(), QStringLiteral("Gradients after step 1199")); // no loss is scaled
        half.scale = 1024;
        view.setRanges({exact, half});
        QCOMPARE(view.heading(), QStringLiteral("Scaled gradients after step 1199"));
        QCOMPARE(view.figures(0), QStringLiteral("20 % zero, in fp16 another 30 %"));
        QCOMPARE(view.figures(1), QStringLiteral("50 % zero, 7.6 % subnormal in fp16"));
        QCOMPARE(view.figures(1, true), QStringLiteral("50 % zero, 7.6 % subnormal"));
        QCOMPARE(view.figures(2), QString());
        QVERIFY(view.legend().startsWith(QStringLiteral("Bars: gradients of layer outputs.")));
        QVERIFY(view.legend().contains(QStringLiteral("Hatched: zero or inf in fp16")));
        half.weights.notFinite = 2000;
        view.setRanges({exact, half});
        QCOMPARE(view.figures(1), QStringLiteral("50 % inf or nan, 25 % zero"));
        QVERIFY(view.accessibleDescription().contains(
            QStringLiteral("B amp-fp16: 50 % inf or nan, 25 % zero")));
        GradientRange wide = rangeOf(DType::BF16); // it has no subnormals worth mentioning
        at(wide.outputs, -30) = 1;
        view.setRanges({exact, wide});
        QCOMPARE(view.figures(1), QStringLiteral("0 % zero, in fp16 another 100 %"));
        QVERIFY2(!view.legend().contains(u"Hatched"), qPrintable(view.legend())); // nothing is
        view.setLanes({QStringLiteral("fp32")});
        QCOMPARE(view.figures(0), QString());
    }

    /// The tip tells of the lanes that there are.
    void tipFollowsTheLanes() {
        RunInfo info;
        info.config = info.recorded = tinyConfig(10); // FP32 and AMP in fp16
        GradientView view;
        const auto tipOf = [&view, &info](bool anew = false) {
            view.setRun(std::make_shared<Run>(info, lanesOf(info.config)), anew);
            return view.toolTip();
        };
        QVERIFY2(tipOf().startsWith("What the gradients are after this step: the next step will "
                                    "use them. Those of lanes with a loss scale are multiplied"),
                 qPrintable(view.toolTip()));
        QVERIFY2(view.toolTip().contains("a lane whose loss scaler skips such steps will skip"),
                 qPrintable(view.toolTip()));
        QVERIFY2(tipOf(true).startsWith("What the gradients of a new training with the settings"),
                 qPrintable(view.toolTip()));
        info.config.lanes = {info.config.lanes[1]};
        QVERIFY2(tipOf().contains("use them. They are multiplied by the loss scale."),
                 qPrintable(view.toolTip()));
        QVERIFY2(view.toolTip().contains("the next step will be skipped."),
                 qPrintable(view.toolTip()));
        info.config.lanes[0].scaler.onOverflow = OverflowAction::Step;
        QVERIFY2(tipOf().contains("the next step will be taken with them."),
                 qPrintable(view.toolTip()));
        info.config.lanes[0] = defaultLane(Precision::Bf16);
        QVERIFY2(tipOf().contains("No lane has a loss scale."), qPrintable(view.toolTip()));
        QVERIFY(!view.toolTip().contains("Set the loss scale"));
    }

    void drawsEachBucketInItsPlace_data() {
        QTest::addColumn<int>("exponent");
        for (const int exponent : {-40, -14, 0, 23})
            QTest::addRow("2^%d", exponent) << exponent;
    }
    void drawsEachBucketInItsPlace() {
        QFETCH(const int, exponent);
        GradientView view;
        view.setLanes({QString()});
        GradientRange range = rangeOf(DType::F32);
        at(range.outputs, exponent) = 100;
        view.setRanges({range});
        constexpr double kWidth = 560, kMargin = 8, kColumns = Counts::kBuckets + 4;
        const double middle = (exponent - Counts::kLowest + 2.5) / kColumns;
        const double wanted = (kMargin + middle * (kWidth - 2 * kMargin)) / kWidth;
        // the lane's letter has another colour than its bars
        const QColor bar = colorsFor(view.palette()).lane(0);
        const double column = 1 / kColumns;
        const double found = placeOf(pictureOf(view).copy(0, 40, 560, 30), bar);
        QVERIFY2(std::abs(found - wanted) < column / 2,
                 qPrintable(QStringLiteral("%1, not %2").arg(found).arg(wanted)));
    }

    void drawsZerosAndInf() {
        GradientView view;
        view.setLanes({QString()});
        const QColor bar = colorsFor(view.palette()).lane(0);
        GradientRange range = rangeOf(DType::F32);
        range.outputs.zeros = 1;
        view.setRanges({range});
        QVERIFY(placeOf(pictureOf(view).copy(0, 40, 560, 30), bar) < 0.05);
        range.outputs.zeros = 0;
        range.outputs.notFinite = 1;
        view.setRanges({range});
        QVERIFY(placeOf(pictureOf(view).copy(0, 40, 560, 30), bar) > 0.95);
        // a few among many are visible
        at(range.outputs, 0) = 10000000;
        view.setRanges({range});
        QVERIFY(heightOf(pictureOf(view).copy(540, 40, 20, 40), bar) >= 1);
    }

    /// fp16's limits are marked in every lane, and filled where they apply.
    void hatchesWhatFp16CannotHold() {
        GradientView view;
        view.setLanes({QString()});
        const QColor hatch = colorsFor(view.palette()).error;
        view.setRanges({rangeOf(DType::F32)});
        QCOMPARE(placeOf(pictureOf(view), hatch), -1.0);
        view.setRanges({rangeOf(DType::BF16)});
        QCOMPARE(placeOf(pictureOf(view), hatch), -1.0);
        view.setRanges({rangeOf(DType::F16)});
        QVERIFY(placeOf(pictureOf(view), hatch) > 0);
    }

    /// A name gives way to its letter when the figures need the room.
    void longNamesGiveWay() {
        GradientView view;
        QFont solid = view.font(); // thin strokes would be blends, on some systems of other colours
        solid.setStyleStrategy(QFont::NoAntialias);
        view.setFont(solid);
        const QFontMetrics metrics(view.font());
        const QColor name = colorsFor(view.palette()).laneText(0);
        const auto endAt = [&](int width) {
            view.resize(width, view.sizeHint().height());
            const QImage image = view.grab().toImage();
            int end = 0;
            for (int x = 0; x < width; ++x)
                if (heightOf(image.copy(x, 0, 1, 2 * metrics.lineSpacing()), name) > 0) end = x + 1;
            return end;
        };
        const QString longName = QStringLiteral("a-lane-whose-name-is-long");
        view.setLanes({longName});
        GradientRange range = rangeOf(DType::F16);
        at(range.outputs, 0) = 100;
        view.setRanges({range});
        QVERIFY(endAt(700) > metrics.horizontalAdvance(longName) / 2);
        // the least of the figures fits beside the letter, but not beside a part of the name
        const int narrow = endAt(16 + metrics.horizontalAdvance(QStringLiteral("A 0 % zero")));
        QVERIFY(narrow > 0 && narrow < 8 + 2 * metrics.horizontalAdvance(u'A'));
    }

    /// Labels reach from end to end of the axis.
    void axisHasItsLabels() {
        GradientView view;
        view.setLanes({QString()});
        const QImage image = pictureOf(view);
        const QRgb background = image.pixel(0, image.height() - 1);
        const int line = QFontMetrics(view.font()).lineSpacing();
        const int top = 2 * line + 42, rows = line / 2; // the heading, its lane, a bar of 34, gaps
        const auto marked = [&](int from, int to) {
            for (int y = top; y < top + rows; ++y)
                for (int x = from; x < to; ++x)
                    if (image.pixel(x, y) != background) return true;
            return false;
        };
        QVERIFY(marked(0, 20));    // 0
        QVERIFY(marked(120, 260)); // what fp16 rounds to zero, and its subnormals
        QVERIFY(marked(320, 360)); // 1
        QVERIFY(marked(530, 560)); // inf
    }

    void sixLanesFitBesideEvents() {
        GradientView two, three, six;
        two.setLanes({QString(), QString()});
        three.setLanes(QStringList(3, QString()));
        six.setLanes(QStringList(6, QString()));
        QVERIFY(six.minimumSizeHint().height() <= 300);
        QVERIFY(three.sizeHint().height() > three.minimumSizeHint().height());
        six.setLanes(QStringList(4, QString()));
        QCOMPARE(six.sizeHint().height(), six.minimumSizeHint().height());
        QVERIFY(two.sizeHint().height() >= two.minimumSizeHint().height());
    }

    /// When a lane's whole title does not fit beside its figures, the part that distinguishes it is
    /// shown.
    void longTitlesAreToldInBrief() {
        int width = 0;
        const auto drawn = [&width](const QString& title,
                                    const QString& first = QStringLiteral("fp32")) {
            GradientView view;
            view.setLanes({first, title});
            GradientRange range = rangeOf(DType::F16);
            at(range.outputs, 0) = 1;
            view.setRanges({range, range});
            view.resize(width, view.sizeHint().height());
            return view.grab().toImage();
        };
        // a title in one piece has no other form
        const auto whole = [](QString title) {
            return title.replace(QChar(u' '), QChar(QChar::Nbsp));
        };
        constexpr int kBeside = 30; // margins and gaps
        const auto widthFor = [](const QString& label, const QString& figures) {
            return kBeside + QFontMetrics(QWidget().font()).horizontalAdvance(label + figures);
        };
        // the lane's name goes before the second of its figures
        QString said = QStringLiteral("amp-fp16, interval 20");
        width = widthFor(QStringLiteral("B ") + said, QStringLiteral("0 % zero"));
        QVERIFY(drawn(QStringLiteral("amp-fp16, Growth\u00a0interval 20")) == drawn(whole(said)));
        QVERIFY(drawn(QString()) != drawn(whole(said))); // more than the letter
        said = QStringLiteral("amp-fp16, first scale 2^24, interval 2000");
        width = widthFor(QStringLiteral("B ") + said,
                         QStringLiteral("0 % zero, 0 % subnormal in fp16"));
        QVERIFY(
            drawn(QStringLiteral("amp-fp16, First\u00a0scale 2^24, Growth\u00a0interval 2000")) ==
            drawn(whole(said)));
        // its precision alone before none of it
        width = widthFor(QStringLiteral("B amp-fp16"), QStringLiteral("0 % zero"));
        QVERIFY(drawn(QStringLiteral("amp-fp16, First\u00a0scale 2^24")) ==
                drawn(QStringLiteral("amp-fp16")));
        // when there is no room for that either, the letters stand alone, in both rows
        width = 300;
        QVERIFY(drawn(QString(60, QChar(u'm'))) == drawn(QString(), QString()));
    }

    /// When there is nothing to draw, a sentence is shown; above older gradients it replaces the
    /// legend.
    void saysWhyThereAreNone() {
        const auto drawn = [](bool gradients, const QString& note) {
            GradientView view;
            view.setLanes({QStringLiteral("fp32")});
            if (gradients) view.setRanges({rangeOf(DType::F32)});
            view.setNote(note);
            return pictureOf(view);
        };
        const QString note = QStringLiteral("Paused.");
        QVERIFY(drawn(false, note) != drawn(false, QString()));
        const QImage with = drawn(true, note), without = drawn(true, QString());
        QVERIFY(with != without);
        const QRect above(0, 0, with.width(), with.height() / 2); // the gradients themselves
        QCOMPARE(with.copy(above), without.copy(above));
        GradientView view;
        view.setNote(note);
        QVERIFY(view.accessibleDescription().contains(note));
    }

    /// The run is paused in the middle of a long step, where the lanes stand at different places.
    void saysWhenTheyCome() {
        FakeScript script;
        Opened opened(tinyConfig(1000000000), played(script));
        MainWindow& window = opened.window;
        GradientView& view = window.gradients();
        QVERIFY(reaches(window, SessionState::Ready));
        window.play();
        QTRY_VERIFY_WITH_TIMEOUT(window.run().step() >= 1, kPatience);
        window.pause();
        QVERIFY(reaches(window, SessionState::Paused));
        QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), script.steps.load(), kPatience);
        const int64_t done = script.steps;
        script.endless = true;
        script.insideStep = false;
        window.play();
        QTRY_VERIFY_WITH_TIMEOUT(script.insideStep.load(), kPatience);
        QTest::keyClick(&window, Qt::Key_G);
        QTRY_COMPARE_WITH_TIMEOUT(
            view.note(), QStringLiteral("The gradients are counted after this step."), kPatience);
        window.pause();
        QVERIFY(reaches(window, SessionState::Paused));
        const QString text = QStringLiteral("Paused in the middle of step %1. Press Step (.) to "
                                            "complete it and to count its gradients.");
        QTRY_COMPARE_WITH_TIMEOUT(view.note(), text.arg(done + 1), kPatience);
        script.endless = false;
        window.stepOnce();
        QTRY_COMPARE_WITH_TIMEOUT(view.heading(),
                                  QStringLiteral("Scaled gradients after step %1").arg(done + 1),
                                  kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(view.note(), QString(), kPatience);
    }

    /// Counts that no frame showed may have been stored where the new ones are.
    void showsTheNewestCount() {
        RunInfo info;
        info.config = info.recorded = tinyConfig(10);
        const auto run = std::make_shared<Run>(info, lanesOf(info.config));
        GradientView view;
        view.setRun(run);
        for (int64_t step = 1; step < 200; step += 2) {
            for (const int64_t each : {step, step + 1}) {
                RunBatch counts;
                GradientRange range = rangeOf(DType::F16);
                range.step = each;
                counts.gradients.push_back(std::vector<GradientRange>(2, range));
                run->append(std::move(counts));
            }
            view.refresh();
            QCOMPARE(view.heading(), QStringLiteral("Gradients after step %1").arg(step));
        }
        RunBatch trained; // at another scale: it was set to 1 since
        for (const int lane : {0, 1})
            trained.rows.push_back(StepRow(199, lane).set(metric::Scale, 2.0F));
        run->append(std::move(trained));
        QCOMPARE(view.heading(), QStringLiteral("Gradients after step 199, at the new scale"));
    }

    void countsOnlyWhenWatched() {
        FakeScript script;
        ExperimentController controller(fakeFactory(script));
        controller.reset(tinyConfig(50));
        QVERIFY(reaches(controller, SessionState::Ready));
        controller.play();
        QVERIFY(reaches(controller, SessionState::Finished));
        QCOMPARE(script.looks.load(), 0);
        controller.watchGradients(true);
        const auto found = nextOf(controller);
        QCOMPARE(found.size(), tinyConfig(50).lanes.size());
        QCOMPARE(found.front().step, int64_t{51});
        controller.watchGradients(false);
        const int before = script.looks;
        controller.reset(tinyConfig(50));
        QVERIFY(reaches(controller, SessionState::Ready));
        controller.stepOnce();
        QVERIFY(reaches(controller, SessionState::Paused));
        QCOMPARE(script.looks.load(), before);
    }

    /// Cards need a count of a run that trains, on a CPU alone, and another after an edit.
    void glancesNowAndThen() {
        for (const bool gpu : {false, true}) {
            FakeScript script;
            script.onGpu = gpu;
            ExperimentController controller(fakeFactory(script));
            controller.glanceAtGradients(true);
            controller.reset(tinyConfig(50));
            QVERIFY(reaches(controller, SessionState::Ready));
            controller.stepOnce();
            QVERIFY(reaches(controller, SessionState::Paused));
            controller.edit(-1, "run.steps", FieldValue{int64_t{40}});
            if (gpu) {
                controller.play();
                QVERIFY(reaches(controller, SessionState::Finished));
                QCOMPARE(script.looks.load(), 0);
                continue;
            }
            QTRY_VERIFY_WITH_TIMEOUT(script.looks >= 2, kPatience);
            QCOMPARE(nextOf(controller).front().step, int64_t{2});
            controller.glanceAtGradients(false);
            const int before = script.looks;
            controller.play();
            QVERIFY(reaches(controller, SessionState::Finished));
            QCOMPARE(script.looks.load(), before);
        }
    }

    /// Errors are measured while somebody looks at layers, also at rest, and gradients are counted
    /// then although nobody watches them.
    void layersAreWatched() {
        FakeScript script;
        ExperimentController controller(fakeFactory(script));
        controller.reset(tinyConfig(50));
        QVERIFY(reaches(controller, SessionState::Ready));
        QCOMPARE(script.looks.load(), 0);
        controller.watchLayers(true);
        QTRY_COMPARE_WITH_TIMEOUT(script.looksForErrors.load(), 1, kPatience);
        controller.stepOnce();
        QTRY_COMPARE_WITH_TIMEOUT(script.looksForErrors.load(), 2, kPatience);
        QCOMPARE(script.releases.load(), 0);
        controller.watchLayers(false); // what errors need is freed, also at rest
        QTRY_COMPARE_WITH_TIMEOUT(script.releases.load(), 1, kPatience);
        controller.watchGradients(true);
        QTRY_COMPARE_WITH_TIMEOUT(script.looks.load(), 3, kPatience);
        QCOMPARE(script.looksForErrors.load(), 2);
        QCOMPARE(script.releases.load(), 1);
    }

    /// At rest the same gradients are counted once, whatever else is asked of the training.
    void countsNothingTwice() {
        FakeScript script;
        ExperimentController controller(fakeFactory(script));
        QSignalSpy refused(&controller, &ExperimentController::refused);
        /// Whether so many counts are made and, while more is asked, no other one.
        const auto countsTo = [&](int counts) {
            for (int i = 0; i < 3; ++i) {
                if (!QTest::qWaitFor([&] { return script.looks == counts; }, kPatience))
                    return false;
                refused.clear();
                controller.pause();
                controller.edit(-1, "model.width", FieldValue{int64_t{8}}); // answered after these
                if (!QTest::qWaitFor([&] { return !refused.isEmpty(); }, kPatience)) return false;
            }
            return script.looks == counts;
        };
        controller.glanceAtGradients(true);
        controller.reset(tinyConfig(50));
        QVERIFY(reaches(controller, SessionState::Ready));
        controller.stepOnce(); // a first glance is due at once, and the training rests after it
        QVERIFY(reaches(controller, SessionState::Paused));
        QVERIFY(countsTo(1));
        controller.edit(-1, kLiveScale, FieldValue{512.0});
        QVERIFY(countsTo(2));
        controller.watchGradients(true); // what was glanced at is not kept
        QVERIFY(countsTo(3));
        controller.stepOnce();
        QVERIFY(countsTo(4));
    }

    /// A viewer of the old run also watches the new one, even if the reset drops the command.
    void watchesEveryRun() {
        FakeScript script;
        ExperimentController controller(fakeFactory(script));
        controller.watchGradients(true);
        controller.reset(tinyConfig(1000000000));
        QVERIFY(reaches(controller, SessionState::Ready));
        QCOMPARE(nextOf(controller).front().step, int64_t{1});
        controller.stepOnce();
        QVERIFY(reaches(controller, SessionState::Paused));
        QCOMPARE(nextOf(controller).front().step, int64_t{2});
        controller.play();
        QTRY_VERIFY_WITH_TIMEOUT(script.steps > 10, kPatience);
        QVERIFY(!nextOf(controller).empty()); // while it trains
        controller.pause();
        QVERIFY(reaches(controller, SessionState::Paused));
        controller.reset(tinyConfig(9));
        QVERIFY(reaches(controller, SessionState::Ready));
        QCOMPARE(nextOf(controller).front().step, int64_t{1});
    }

    void leftOverStopsDoNotHideThem() {
        FakeScript script;
        ExperimentController controller(fakeFactory(script));
        controller.reset(tinyConfig(9));
        QVERIFY(reaches(controller, SessionState::Ready));
        script.refusals = 3;
        controller.watchGradients(true);
        QCOMPARE(nextOf(controller).size(), tinyConfig(9).lanes.size());
        // but nothing waits for gradients that never come
        controller.watchGradients(false);
        script.refusals = 1000000;
        controller.watchGradients(true);
        controller.stepOnce();
        QVERIFY(reaches(controller, SessionState::Paused));
    }

    /// A new scale moves the histogram at once, also while nothing trains.
    void aNewScaleShowsAtRest() {
        ExperimentController controller;
        controller.watchGradients(true);
        controller.reset(tinyConfig(50));
        QVERIFY(reaches(controller, SessionState::Ready));
        const auto before = nextOf(controller);
        QCOMPARE(before.at(0).type, DType::F32);
        QCOMPARE(before.at(1).type, DType::F16);
        QCOMPARE(before.at(1).scale, 65536.0f);
        controller.edit(1, kLiveScale, FieldValue{1024.0});
        const auto after = nextOf(controller);
        QCOMPARE(after.at(1).scale, 1024.0f);
        QVERIFY(after.at(1).outputs.buckets != before.at(1).outputs.buckets);
        QVERIFY(after.at(0).outputs.buckets == before.at(0).outputs.buckets);
    }

    void theWindowShowsThem() {
        Opened opened(tinyConfig(30));
        MainWindow& window = opened.window;
        GradientView& view = window.gradients();
        QVERIFY(reaches(window, SessionState::Ready));
        QVERIFY(!view.isVisible());
        QTest::keyClick(&window, Qt::Key_G);
        QVERIFY(view.isVisible());
        auto* button = window.findChild<EventPanel*>()->findChild<QToolButton*>();
        QVERIFY(button->isChecked());
        QTRY_VERIFY_WITH_TIMEOUT(!view.figures(1).isEmpty(), kPatience);
        window.play();
        QVERIFY(reaches(window, SessionState::Finished));
        QTRY_COMPARE_WITH_TIMEOUT(view.heading(), QStringLiteral("Scaled gradients after step 30"),
                                  kPatience);
        button->click();
        QVERIFY(!view.isVisible());
    }
};

} // namespace tst_gradient_view

QTEST_MAIN(tst_gradient_view::TestGradientView)
#include "tst_gradient_view.moc"
