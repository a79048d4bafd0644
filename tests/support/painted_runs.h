// Runs with pictures such as a network paints.
#pragma once

#include "engine/runs/run.h"
#include "tests/support/cpu_run.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace halfscope {

inline constexpr int kPaintedSide = 128;
inline constexpr size_t kPaintedBytes = size_t{kPaintedSide} * kPaintedSide * sizeof(float);

/// A picture such as a network paints, with a value that is no number.
inline Picture painted(int which) {
    Picture picture{kPaintedSide, kPaintedSide, 1,
                    std::vector<float>(size_t{kPaintedSide} * kPaintedSide), "a caption"};
    for (int i = 0; i < kPaintedSide * kPaintedSide; ++i)
        picture.values[static_cast<size_t>(i)] =
            std::round(std::sin(static_cast<float>(i / kPaintedSide + which) * 0.1f) * 100) / 100;
    picture.values[3] = std::numeric_limits<float>::quiet_NaN();
    return picture;
}

inline bool isSame(const Picture& a, const Picture& b) {
    return a.width == b.width && a.height == b.height && a.channels == b.channels &&
           a.caption == b.caption && a.values.size() == b.values.size() &&
           std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(float)) == 0;
}

/// Returns the pictures of a step for all lanes.
inline LanePictures picturesOf(const Run& run, int64_t step) {
    LanePictures pictures;
    pictures.step = step;
    pictures.outputs.resize(static_cast<size_t>(run.now().laneCount()), painted(7));
    pictures.galleries.resize(pictures.outputs.size() + 1, painted(8));
    return pictures;
}

inline std::shared_ptr<Run> runWith(const Picture& target) {
    const RunConfig config = defaultConfig();
    auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config), target);
    RunBatch batch;
    for (int lane = 0; lane < run->now().laneCount(); ++lane)
        batch.rows.push_back(StepRow(1, lane).set(metric::Loss, 1.0f));
    batch.pictures = picturesOf(*run, 1);
    run->append(std::move(batch));
    return run;
}

} // namespace halfscope
