// What the tests of training share: a data set from given numbers, a small network's configuration,
// golden files. The tests compare.
#pragma once

#include "engine/core/philox.h"
#include "engine/runs/step_record.h"
#include "engine/settings/run_config.h"
#include "engine/verify/fixed_dataset.h"
#include "engine/verify/golden.h"

#include <QString>

#include <bit>

namespace halfscope::test {

using recorded::FixedDataset;

/// Returns normal inputs, and targets 5 N + 10, which are so large that scaled fp16 gradients
/// overflow.
inline FixedDataset randomRegression(BatchShape shape, int batches, uint64_t seed) {
    std::vector<FixedDataset::Batch> list(static_cast<size_t>(batches));
    for (size_t i = 0; i < list.size(); ++i) {
        list[i].x.resize(static_cast<size_t>(shape.rows * shape.inputs));
        list[i].target.resize(static_cast<size_t>(shape.rows * shape.outputs));
        Philox(seed, 2 * i).fillNormal(list[i].x);
        Philox(seed, 2 * i + 1).fillNormal(list[i].target);
        for (float& t : list[i].target)
            t = 5 * t + 10;
    }
    return {shape, std::move(list)};
}

/// Returns a suite's golden file, or the cases in it: from the folder that the environment names,
/// or from the sources.
inline recorded::Golden goldenOf(std::string_view suite) {
    const QString folder =
        qEnvironmentVariable("HALFSCOPE_GOLDEN_DIR", HALFSCOPE_SOURCE_DIR "/tests/golden");
    return recorded::casesOf(recorded::openGolden(folder.toStdString(), suite).value());
}

/// Returns how many values differ in their bits; nan equals nan only with the same bits.
inline int differentBits(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return -1;
    int count = 0;
    for (size_t i = 0; i < a.size(); ++i)
        count += std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]);
    return count;
}

/// Returns a regression with two lanes; the second one skips its first steps and its scale grows
/// soon.
inline RunConfig skippingRegression() {
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Regression;
    config.task.samples = 256;
    config.model = {12, 1, Norm::BatchNorm, Activation::Relu};
    config.seed = 5;
    config.steps = 24;
    config.device = "cpu";
    config.threads = 1;
    config.lanes[1].scaler.initScale = 0x1p22;
    config.lanes[1].scaler.rules.growthInterval = 3;
    return config;
}

/// Compares all that was measured of two steps except times, which are the clock's.
inline bool sameButTimes(const StepRecord& a, const StepRecord& b) {
    const StepRow one = rowOf(a), other = rowOf(b);
    for (MetricId id = 0; id < metric::kKnown; ++id) {
        if (id == metric::DeviceSeconds || id == metric::WallSeconds) continue;
        if (one.measured(id) != other.measured(id)) return false;
        if (one.measured(id) &&
            std::bit_cast<uint64_t>(one[id]) != std::bit_cast<uint64_t>(other[id]))
            return false;
    }
    return one.step == other.step && one.lane == other.lane && a.flags == b.flags;
}

} // namespace halfscope::test
