// An experiment with all that it has measured, and how a run that goes on from a checkpoint is
// compared with one that never stopped.
#pragma once

#include "engine/train/experiment.h"
#include "tests/support/training.h"

#include <QTest>

#include <memory>
#include <vector>

namespace halfscope::test {

/// A run of now, or one that goes on from a checkpoint.
struct ResumedRun {
    std::unique_ptr<Experiment> experiment;
    std::vector<StepRecord> records{};
    std::vector<Event> events{};

    explicit ResumedRun(const RunConfig& config)
        : experiment(std::make_unique<Experiment>(config)) {}
    explicit ResumedRun(const ExperimentState& state) : ResumedRun(state.recorded) {
        experiment->resume(state);
    }
    void to(int64_t step) {
        while (experiment->step() < step)
            QVERIFY(experiment->advance(records, events));
    }
};

/// Compares `rest`, which went on from where `part` is, with `whole`, which is as far and never
/// stopped.
inline void compareRest(const ResumedRun& rest, const ResumedRun& whole, const ResumedRun& part) {
    const size_t before = part.records.size();
    QCOMPARE(before + rest.records.size(), whole.records.size());
    for (size_t i = 0; i < rest.records.size(); ++i)
        QVERIFY2(sameButTimes(rest.records[i], whole.records[before + i]),
                 qPrintable(QString("step %1").arg(rest.records[i].step)));
    QCOMPARE(part.events.size() + rest.events.size(), whole.events.size());
    for (size_t i = 0; i < rest.events.size(); ++i)
        QCOMPARE(rest.events[i].text, whole.events[part.events.size() + i].text);
    if (!part.records.empty()) // the clock goes on, too
        QVERIFY(rest.records.front().wallSeconds > part.records.back().wallSeconds);
    const ExperimentState a = rest.experiment->state(), b = whole.experiment->state();
    QCOMPARE(a.lanes.size(), b.lanes.size());
    size_t bytes = 0;
    for (size_t i = 0; i < a.lanes.size(); ++i) {
        QVERIFY2(a.lanes[i] == b.lanes[i], qPrintable(QString("lane %1").arg(i)));
        for (const auto& [name, values] : a.lanes[i].states)
            bytes += values.bytes.size();
    }
    QCOMPARE(rest.experiment->stateBytes(), bytes);
}

} // namespace halfscope::test
