// What the manual's first lesson tells its readers to see.
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tst_first_lesson {

using namespace halfscope;

namespace {

/// An experiment of the lesson, trained on the CPU.
struct Lesson {
    explicit Lesson(const char* preset)
        : experiment([preset] {
              RunConfig config = presetNamed(preset).config;
              config.device = "cpu";
              config.pace = 0;
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

double zerosIn(const GradientRange& range) {
    return static_cast<double>(range.zeros()) / static_cast<double>(range.total());
}

} // namespace

class TestFirstLesson : public QObject {
    Q_OBJECT
private slots:
    void overflow();
    void underflow();
};

void TestFirstLesson::overflow() {
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
    // a scale of 2^-30 loses all gradients, which an event tells once
    lesson.experiment.setLive(1, kLiveScale, 0x1p-30, lesson.events);
    lesson.train(60);
    QVERIFY2(lesson.eventOf(55, EventKind::Underflow)
                 .contains(QStringLiteral("(underflow), so nothing is learned")),
             qPrintable(lesson.eventOf(55, EventKind::Underflow)));
    for (int64_t step = 56; step <= 60; ++step)
        QVERIFY(lesson.eventOf(step, EventKind::Underflow).isEmpty());
    QVERIFY2(a > 0.3 && std::abs(a - b) < 0.1, qPrintable(QStringLiteral("%1, %2").arg(a).arg(b)));
}

void TestFirstLesson::underflow() {
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

} // namespace tst_first_lesson

QTEST_GUILESS_MAIN(tst_first_lesson::TestFirstLesson)
#include "tst_first_lesson.moc"
