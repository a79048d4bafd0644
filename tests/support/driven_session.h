// A session that a test drives, and what a window would have got from it.
#pragma once

#include "tests/fake_cuda/fake_run.h"
#include "ui/session/experiment_controller.h"

#include <QTest>

#include <atomic>
#include <optional>
#include <vector>

namespace halfscope {

/// What a window would have collected.
struct Collected {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    std::optional<Snapshot> picture;
    int64_t keptStep = -1; ///< of the newest checkpoint

    void take(ExperimentController& controller) {
        SessionBatch batch = controller.drain();
        records.insert(records.end(), batch.records.begin(), batch.records.end());
        events.insert(events.end(), batch.events.begin(), batch.events.end());
        if (batch.snapshot) picture = std::move(batch.snapshot);
        if (batch.checkpoint) keptStep = batch.checkpoint->step();
    }
    /// Returns the number of steps if every lane has each step from 1 on, once, in order; otherwise
    /// -1.
    int64_t wholeSteps(int lanes) const {
        for (size_t i = 0; i < records.size(); ++i) {
            const auto lane = static_cast<int32_t>(i % static_cast<size_t>(lanes));
            const auto step = static_cast<int64_t>(i / static_cast<size_t>(lanes)) + 1;
            if (records[i].lane != lane || records[i].step != step) return -1;
        }
        return static_cast<int64_t>(records.size()) / lanes;
    }
};

/// A session as a window drives it: it takes rows all the time.
struct DrivenSession : ExperimentController {
    DrivenSession() = default;
    explicit DrivenSession(FakeScript& script) : ExperimentController(fakeFactory(script)) {}

    template <class Condition>
    bool meets(const Condition& condition) {
        const bool met = QTest::qWaitFor(
            [&] {
                seen.take(*this);
                return condition();
            },
            60000);
        seen.take(*this);
        return met;
    }
    bool reaches(SessionState wanted) {
        return meets([&] { return state() == wanted; });
    }
    bool isReady(const RunConfig& config) {
        reset(config);
        return reaches(SessionState::Ready);
    }
    bool playsInto(const std::atomic<bool>& step) {
        play();
        return meets([&] { return step.load(); });
    }

    Collected seen;
};

} // namespace halfscope
