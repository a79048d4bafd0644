// What the manual's lessons tell their readers to see.
#include "engine/runs/lane_totals.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>

namespace tst_lesson_pages {

using namespace halfscope;

namespace {

/// An experiment of the lesson, trained on the CPU.
struct Lesson {
    explicit Lesson(const char* preset, const std::function<void(RunConfig&)>& change = {})
        : experiment([&] {
              RunConfig config = presetNamed(preset).config;
              config.device = "cpu";
              config.pace = 0;
              if (change) change(config);
              return config;
          }()) {}

    void train(int64_t until) {
        while (experiment.step() < until)
            experiment.advance(records, events);
    }
    /// Returns the row of a lane, which has trained so many steps.
    const StepRecord& row(int lane, int64_t step) const {
        return records[static_cast<size_t>((step - 1) * experiment.lanes() + lane)];
    }
    bool skipped(int lane, int64_t step) const { return (row(lane, step).flags & kSkipped) != 0; }
    /// Returns the text of the step's first event, or of the first one of a kind.
    QString eventOf(int64_t step, std::optional<EventKind> kind = std::nullopt) const {
        for (const Event& event : events)
            if (event.step == step && event.kind == kind.value_or(event.kind))
                return QString::fromStdString(event.text.english());
        return {};
    }

    std::vector<StepRecord> records;
    std::vector<Event> events;
    Experiment experiment;
};

/// Returns the median loss of a lane's last steps: that of one step may be far off.
double lastLoss(const Lesson& lesson, int lane) {
    std::vector<float> last;
    const int64_t end = lesson.experiment.step();
    for (int64_t step = end - 24; step <= end; ++step)
        last.push_back(lesson.row(lane, step).loss);
    return medianOf(last);
}

double zerosIn(const GradientRange& range) {
    return static_cast<double>(range.zeros()) / static_cast<double>(range.total());
}

/// Returns the gradient errors that were measured in 300 steps, from small to large.
std::vector<double> errorsOf(const Lesson& lesson, int lane) {
    std::vector<double> errors;
    for (int64_t step = 1; step <= 300; ++step)
        if (const auto error = lesson.row(lane, step).gradientError) errors.push_back(*error);
    std::sort(errors.begin(), errors.end());
    return errors;
}

double medianError(const Lesson& lesson, int lane) {
    const std::vector<double> errors = errorsOf(lesson, lane);
    return errors.empty() ? 0 : errors[errors.size() / 2];
}

double largestError(const Lesson& lesson, int lane) {
    const std::vector<double> errors = errorsOf(lesson, lane);
    return errors.empty() ? 0 : errors.back();
}

} // namespace

class TestLessonPages : public QObject {
    Q_OBJECT
private slots:
    void overflow();
    void underflow();
    void weights();
    void eightBits();
};

void TestLessonPages::overflow() {
    Lesson lesson("overflow");
    lesson.train(54);
    for (int64_t step = 1; step <= 54; ++step) {
        QVERIFY(!lesson.skipped(0, step));
        QCOMPARE(lesson.skipped(1, step), step <= 13 || step == 34);
    }
    QCOMPARE(lesson.row(1, 14).scale, 2048.0f);
    QVERIFY2(lesson.eventOf(1).contains(QStringLiteral("would have fitted at 2048")),
             qPrintable(lesson.eventOf(1)));
    QVERIFY2(lesson.eventOf(33).contains(QStringLiteral("grows from 2048")),
             qPrintable(lesson.eventOf(33)));
    const auto ranges = lesson.experiment.gradientRanges();
    const double a = zerosIn(ranges[0]), b = zerosIn(ranges[1]);
    QVERIFY2(a > 0.3 && std::abs(a - b) < 0.1, qPrintable(QStringLiteral("%1, %2").arg(a).arg(b)));
    // a scale of 2^-30 loses all gradients, which an event tells once
    lesson.experiment.setLive(1, kLiveScale, 0x1p-30, lesson.events);
    lesson.train(200);
    QVERIFY2(lesson.eventOf(55, EventKind::Underflow)
                 .contains(QStringLiteral("(underflow), so nothing is learned")),
             qPrintable(lesson.eventOf(55, EventKind::Underflow)));
    QVERIFY2(lesson.eventOf(55, EventKind::Underflow).contains(QStringLiteral("at 2048 (2^11)")),
             qPrintable(lesson.eventOf(55, EventKind::Underflow)));
    for (int64_t step = 56; step <= 60; ++step)
        QVERIFY(lesson.eventOf(step, EventKind::Underflow).isEmpty());
    QVERIFY2(lastLoss(lesson, 1) > 2 * lastLoss(lesson, 0),
             qPrintable(QString::number(lastLoss(lesson, 1))));
    // six doublings let the first gradients through
    QCOMPARE(lesson.row(1, 55).scale, 0x1p-30f);
    QCOMPARE(lesson.row(1, 175).scale, 0x1p-24f);
    for (int64_t step = 55; step < 175; ++step)
        QVERIFY2(lesson.row(1, step).gradientNorm == 0, qPrintable(QString::number(step)));
    QVERIFY(lesson.row(1, 200).gradientNorm > 0);
    // the scale that the event names: B catches up
    lesson.experiment.setLive(1, "run.steps", int64_t{400}, lesson.events);
    lesson.experiment.setLive(1, kLiveScale, 2048.0, lesson.events);
    lesson.train(400);
    QVERIFY2(lastLoss(lesson, 1) < 1.1 * lastLoss(lesson, 0),
             qPrintable(QString::number(lastLoss(lesson, 1))));
}

void TestLessonPages::underflow() {
    Lesson lesson("static-scales");
    lesson.train(12);
    for (int64_t step = 1; step <= 12; ++step) {
        QVERIFY(!lesson.skipped(0, step) && !lesson.skipped(1, step));
        QVERIFY(lesson.skipped(2, step));
    }
    QVERIFY(std::none_of(lesson.events.begin(), lesson.events.end(), [](const Event& event) {
        return event.kind == EventKind::Underflow; // not all gradients of a lane are zero
    }));
    const auto ranges = lesson.experiment.gradientRanges();
    QVERIFY2(zerosIn(ranges[0]) > 0.9, qPrintable(QString::number(zerosIn(ranges[0]))));
    QVERIFY(zerosIn(ranges[1]) < 0.1 && 2 * ranges[1].subnormals() > ranges[1].total());
    QVERIFY(lesson.row(0, 12).loss > 1.2f * lesson.row(1, 12).loss);
    for (const int lane : {0, 2})
        lesson.experiment.setLive(lane, kLiveScale, 32768.0, lesson.events);
    lesson.train(15);
    for (int64_t step = 13; step <= 15; ++step)
        QVERIFY(!lesson.skipped(0, step) && !lesson.skipped(2, step));
    QVERIFY(zerosIn(lesson.experiment.gradientRanges()[0]) < 0.1);
}

void TestLessonPages::weights() {
    constexpr int kFp32 = 0, kAmp = 1, kBf16 = 2;
    Lesson lesson("master-weights");
    lesson.train(300);
    const auto change = [&lesson](int lane, int64_t step) {
        return lesson.row(lane, step).weightChange.value();
    };
    for (int64_t step = 50; step <= 300; step += 50) {
        QVERIFY(change(kFp32, step).unchanged < 0.001 && change(kAmp, step).unchanged < 0.001);
        QVERIFY(!change(kFp32, step).unchangedCopies && !change(kBf16, step).unchangedCopies);
        const double lost = change(kBf16, step).unchanged;
        QVERIFY2(lost > 0.75, qPrintable(QString::number(lost)));
        QVERIFY(std::abs(change(kAmp, step).unchangedCopies.value() - lost) < 0.05);
    }
    QVERIFY(change(kBf16, 300).unchanged > change(kBf16, 50).unchanged);
    QVERIFY(lastLoss(lesson, kBf16) > 2 * lastLoss(lesson, kFp32));
    QVERIFY(lastLoss(lesson, kAmp) < 1.15 * lastLoss(lesson, kFp32));
    QVERIFY(lesson.row(kBf16, 300).weightDistance.value() >
            2 * lesson.row(kAmp, 300).weightDistance.value());
    // what helps, tried with lane C alone
    const auto trained = [](const std::function<void(LaneConfig&)>& set) {
        auto alone = std::make_unique<Lesson>("master-weights", [&](RunConfig& config) {
            config.lanes = {config.lanes[kBf16]};
            set(config.lanes.front());
        });
        alone->train(300);
        return alone;
    };
    const auto master = trained([](LaneConfig& lane) { lane.masterWeights = Override::On; });
    QVERIFY(master->row(0, 300).weightChange->unchanged < 0.001);
    QVERIFY(lastLoss(*master, 0) < 1.15 * lastLoss(lesson, kFp32));
    const auto chance =
        trained([](LaneConfig& lane) { lane.rounding = WeightRounding::Stochastic; });
    QVERIFY(chance->row(0, 300).weightChange->unchanged > 0.75);
    QVERIFY(lastLoss(*chance, 0) < 1.15 * lastLoss(lesson, kFp32));
    // larger updates get through
    const double before = change(kBf16, 300).unchanged;
    lesson.experiment.setLive(-1, "run.steps", int64_t{560}, lesson.events);
    lesson.experiment.setLive(-1, "optimizer.lr", 1e-3, lesson.events);
    lesson.train(305);
    const double after = change(kBf16, 305).unchanged;
    QVERIFY2(before > 0.8 && after < 0.33,
             qPrintable(QStringLiteral("%1, %2").arg(before).arg(after)));
    // but not for long
    lesson.train(560);
    double most = 0; // where no jump of the loss has just made the updates larger
    for (int64_t step = 500; step <= 560; step += 5)
        most = std::max(most, change(kBf16, step).unchanged);
    QVERIFY2(most > 0.8, qPrintable(QString::number(most)));
}

void TestLessonPages::eightBits() {
    constexpr int kFp32 = 0, kFp8 = 1, kFirstLayer = 2;
    Lesson lesson("fp8");
    const std::vector<LayerGradients> layers = lesson.experiment.gradientRanges(true)[kFp8].layers;
    QCOMPARE(layers.back().layer, std::string("output layer"));
    QVERIFY(std::abs(layers.back().error.value_or(0) - 0.03) < 0.01);
    QCOMPARE(layers.front().layer, std::string("layer 0"));
    QVERIFY(std::abs(layers.front().error.value_or(0) - 0.5) < 0.1);
    lesson.train(300);
    QVERIFY(lastLoss(lesson, kFp8) > 2 * lastLoss(lesson, kFp32));
    QVERIFY(lastLoss(lesson, kFirstLayer) < 1.25 * lastLoss(lesson, kFp32));
    QVERIFY(zerosIn(lesson.experiment.gradientRanges()[kFirstLayer]) < 0.005);
    for (const int lane : {kFp8, kFirstLayer}) {
        const double off = medianError(lesson, lane);
        QVERIFY2(std::abs(off - 0.55) < 0.1, qPrintable(QString::number(off)));
        QVERIFY(largestError(lesson, lane) > 1);
    }
    Lesson halves("fp8", [](RunConfig& config) { config.lanes = parseLanes("amp-bf16,amp-fp16"); });
    halves.train(300);
    const double bf16 = medianError(halves, 0), fp16 = medianError(halves, 1);
    QVERIFY2(std::abs(bf16 - 0.06) < 0.015, qPrintable(QString::number(bf16)));
    QVERIFY2(std::abs(fp16 - 0.02) < 0.01, qPrintable(QString::number(fp16)));
    // without a scale for each tensor, and with a loss scale instead
    const auto trained = [](const std::function<void(LaneConfig&)>& set, int64_t until) {
        auto alone = std::make_unique<Lesson>("fp8", [&](RunConfig& config) {
            config.lanes = {config.lanes[kFirstLayer]};
            config.lanes.front().fp8Scaling = Fp8Scaling::None;
            set(config.lanes.front());
        });
        alone->train(until);
        return alone;
    };
    const auto zeros = [](Lesson& alone) { return zerosIn(alone.experiment.gradientRanges()[0]); };
    const auto none = trained([](LaneConfig&) {}, 20);
    QVERIFY2(zeros(*none) > 0.5, qPrintable(QString::number(zeros(*none))));
    none->train(300);
    QVERIFY2(zeros(*none) > 0.5, qPrintable(QString::number(zeros(*none))));
    QVERIFY(lastLoss(*none, 0) > 1.05 * lastLoss(lesson, kFirstLayer));
    const auto scaled = trained(
        [](LaneConfig& lane) {
            lane.scaler.rules.mode = ScalerMode::Static;
            lane.scaler.initScale = 0x1p14;
        },
        300);
    QVERIFY2(zeros(*scaled) < 0.02, qPrintable(QString::number(zeros(*scaled))));
    for (int64_t step = 1; step <= 300; ++step)
        QVERIFY(!scaled->skipped(0, step));
}

} // namespace tst_lesson_pages

QTEST_GUILESS_MAIN(tst_lesson_pages::TestLessonPages)
#include "tst_lesson_pages.moc"
