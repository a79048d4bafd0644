// The words for edits: each setting that can be edited while training, and those for the run's
// length, which have a sentence of their own.
#include "engine/runs/edit_words.h"

#include <QTest>

namespace tst_edit_words {

using namespace halfscope;

namespace {

std::string words(std::string_view key, const RunConfig& before, const RunConfig& after) {
    const Field& field = *findField(key);
    return editWords(field, field.get(after, 1), before, after, 1).english();
}

/// Returns another value that the field could have.
FieldValue otherValue(const Field& field, const FieldValue& now) {
    if (const bool* on = std::get_if<bool>(&now)) return !*on;
    if (const auto* whole = std::get_if<int64_t>(&now)) return *whole + 2;
    if (const auto* real = std::get_if<double>(&now)) return *real == 0.5 ? 0.25 : 0.5;
    const std::string& text = std::get<std::string>(now);
    return text == field.choices.front() ? field.choices.back() : field.choices.front();
}

} // namespace

class TestEditWords : public QObject {
    Q_OBJECT
private slots:
    void theSettingItsValueAndUnit() {
        const RunConfig before;
        RunConfig after;
        after.lanes[1].scaler.rules.growthInterval = 50;
        QCOMPARE(words("scaler.growth_interval", before, after),
                 std::string("Growth interval set to 50 steps (before: 2000)"));
        QCOMPARE(words("scaler.growth_interval", after, before),
                 std::string("Growth interval set to 2000 steps (before: 50)"));
        after.lanes[1].scaler.rules.growthInterval = 1;
        QCOMPARE(words("scaler.growth_interval", before, after),
                 std::string("Growth interval set to 1 step (before: 2000)"));
        after.lanes[1].scaler.checkUnscaled = true;
        QCOMPARE(words("scaler.check_unscaled", before, after),
                 std::string("Check after unscaling switched on"));
        QCOMPARE(words("scaler.check_unscaled", after, before),
                 std::string("Check after unscaling switched off"));
        after.optimizer.lr = 0.25;
        QCOMPARE(words("optimizer.lr", before, after),
                 std::string("Learning rate set to 0.25 (before: 0.001)"));
    }

    /// When epochs are set they decide: the steps that they amount to are not mentioned.
    void theLengthOfTheRun() {
        RunConfig before, after;
        before.steps = 300;
        after.steps = 600;
        QCOMPARE(words("run.steps", before, after),
                 std::string("the run ends after 600 steps (before: 300 steps)"));
        after.epochs = 3;
        QCOMPARE(words("run.epochs", before, after),
                 std::string("the run ends after 3 epochs (before: 300 steps)"));
        QCOMPARE(words("run.steps", after, before),
                 std::string("the run ends after 300 steps (before: 3 epochs)"));
        after.epochs = 1;
        before.steps = 1;
        QCOMPARE(words("run.epochs", before, after),
                 std::string("the run ends after 1 epoch (before: 1 step)"));
    }

    /// A run that is made longer than its schedule goes on at the last rate.
    void theLengthBeyondTheSchedule() {
        RunConfig before, after;
        before.steps = 300;
        after.steps = 600;
        after.optimizer.lr = 0.5;
        after.schedule.kind = ScheduleKind::Linear;
        after.schedule.endFactor = 0.25;
        after.schedule.totalSteps = 150;
        after.gradients.accumulate = 2;
        QCOMPARE(words("run.steps", before, after),
                 std::string("the run ends after 600 steps (before: 300 steps); the schedule ends "
                             "with step 300, and the learning rate then stays at 0.125"));
        after.steps = 300;
        QCOMPARE(words("run.steps", before, after),
                 std::string("the run ends after 300 steps (before: 300 steps)"));
        after.steps = 600;
        after.schedule.kind = ScheduleKind::Cosine; // it rises again
        QCOMPARE(words("run.steps", before, after),
                 std::string("the run ends after 600 steps (before: 300 steps)"));
    }

    void everyLiveSetting() {
        int told = 0;
        for (const Field& field : fieldTable()) {
            if (field.effect != FieldEffect::Live || field.apply == FieldApply::Pace) continue;
            const RunConfig before;
            RunConfig after;
            const FieldValue value = otherValue(field, field.get(before, 1));
            field.set(after, 1, value);
            const std::string text = editWords(field, value, before, after, 1).english();
            const std::string amount =
                valueText(value) + (field.unit.empty() ? "" : std::string(" ") + field.unit.text());
            const bool isSwitch = field.kind == FieldKind::Bool;
            const bool isLength = field.apply == FieldApply::Length;
            QVERIFY2(isSwitch || text.find(amount) != std::string::npos, text.c_str());
            QVERIFY2(isLength || text.starts_with(field.label.text()), text.c_str());
            QVERIFY2(isSwitch == (text.find(" switched o") != std::string::npos), text.c_str());
            ++told;
        }
        QVERIFY(told > 20);
    }
};

} // namespace tst_edit_words

QTEST_GUILESS_MAIN(tst_edit_words::TestEditWords)
#include "tst_edit_words.moc"
