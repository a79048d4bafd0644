// A run with a fork, events and pictures, as a session stores it.
#pragma once

#include "engine/runs/run.h"
#include "tests/support/cpu_run.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace halfscope {

inline constexpr int64_t kFork = 4999;

inline RunInfo infoOf(const RunConfig& config) {
    RunInfo info = cpuRunInfo(config);
    info.preset = "overflow";
    return info;
}

inline RunConfig forkedConfig() {
    RunConfig config = defaultConfig();
    config.steps = 100000;
    config.forks.push_back({kFork + 1, 1, 0, defaultLane(Precision::AmpBf16)});
    return config;
}

/// Returns values that no coding makes small, and some that are not finite.
inline StepRow rowAt(int64_t step, int lane) {
    const auto noise =
        static_cast<float>(std::sin(static_cast<double>(step * (lane + 3)) * 12.9898));
    const bool skipped = lane == 1 && step % 97 == 0;
    return StepRow(step, lane)
        .set(metric::Loss, step % 1501 == 0 ? std::numeric_limits<float>::quiet_NaN() : noise)
        .set(metric::Scale, 65536.0f)
        .set(metric::GrowthTracker, step % 2000)
        .set(metric::LearningRate, 0.001f)
        .set(metric::GradientNorm, skipped ? std::numeric_limits<float>::infinity() : noise * 7)
        .setFlags(skipped ? kSkipped : 0u)
        .set(metric::SkippedSoFar, lane == 1 ? step / 97 : int64_t{0})
        .set(metric::DeviceSeconds, 1e-3 + 1e-9 * double(step))
        .set(metric::WallSeconds, static_cast<double>(step) / 70);
}

inline void appendRows(Run& run, int64_t from, int64_t to, int lanes) {
    for (; from <= to; from += 1000) {
        RunBatch batch;
        for (int64_t step = from; step < from + 1000 && step <= to; ++step)
            for (int lane = 0; lane < lanes; ++lane)
                batch.rows.push_back(rowAt(step, lane));
        run.append(std::move(batch));
    }
}

inline Event eventAt(int64_t step, int lane) {
    return {EventKind::Overflow,
            step,
            lane,
            65536,
            32768,
            "0.weight",
            Message::data("Something \"happened\".")};
}

inline std::shared_ptr<Run> madeRun(int64_t steps) {
    const RunConfig config = forkedConfig();
    std::vector<LaneInfo> lanes = lanesOf(config);
    const LaneInfo fork = lanes.back();
    lanes.pop_back();
    Picture target{2, 2, 1, {0, 1, 0.5f, 0.25f}};
    auto run = std::make_shared<Run>(infoOf(config), lanes, target);
    appendRows(*run, 1, kFork, 2);
    RunBatch news;
    for (int kind = 0; kind < kEventKinds; ++kind) {
        news.events.push_back(eventAt(97 + kind, 1));
        news.events.back().kind = EventKind(kind);
    }
    news.events.back().otherKind = "plateau";
    news.events.push_back(news.events.back());
    news.events.back().otherKind = "nan-guard";
    run->append(std::move(news));
    RunBatch forked;
    forked.lanes.push_back(fork);
    run->append(std::move(forked));
    appendRows(*run, kFork + 1, steps, 3);
    RunBatch last;
    last.events = {eventAt(steps, 2), eventAt(steps, -1)};
    last.pictures =
        LanePictures{steps, {target, target, Picture{1, 1, 3, {0, 0.5f, 2}, "y = 4.99 x² + 3.00"}}};
    run->append(std::move(last));
    return run;
}

} // namespace halfscope
