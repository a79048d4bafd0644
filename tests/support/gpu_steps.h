// Whole steps on the GPU, and how much two of them may differ.
#pragma once

#include "engine/cuda/codegen/step_source.h"
#include "engine/settings/fields.h"
#include "engine/train/step_cases.h"
#include "tests/support/gpu_device.h"
#include "tests/support/stored_values.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <string>

namespace halfscope::test {

inline constexpr const char* kLanes[] = {"fp32", "tf32", "amp-fp16", "amp-bf16", "fp16"};

inline std::unique_ptr<StepRunner> cudaRunner(const StepCase& c, int lane,
                                              const cuda::SourceOptions& options) {
    LaneConfig config = parseLanes(kLanes[lane]).front();
    config.scaler.initScale = 1024; // so that gradients are finite and can be compared
    return makeRunner(c, config, makeCudaExecutor(0, options));
}

/// Formats as std::printf does.
[[gnu::format(printf, 1, 2)]] inline std::string told(const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

inline void compareFirstSteps(StepRunner& a, StepRunner& b, const std::string& lane) {
    a.run(1);
    b.run(1);
    const MetricsRow x = a.metrics(), y = b.metrics();
    const double u = lane == "fp32" ? std::ldexp(1.0, -24) : std::ldexp(1.0, -8);
    // a loss is a mean of squares of outputs that five layers have rounded
    const double bound = 16 * u * std::abs(y[kLossMetric]);
    QVERIFY2(std::abs(x[kLossMetric] - y[kLossMetric]) <= bound,
             told("%s: loss %.9g instead of %.9g, bound %.3g", lane.c_str(), x[kLossMetric],
                  y[kLossMetric], bound)
                 .c_str());
    // the backward pass adds f32 sums over all rows, which are thousands; in half precision their
    // roundings are the smaller ones, and those of the layers count as in the loss
    const double norm = y[kGradientNormMetric], apart = x[kGradientNormMetric] - norm;
    const double most = (lane == "fp32" ? 4096 : 16) * u * std::abs(norm);
    QVERIFY2(x[kGradientNormMetric] == norm || // infinite when the step overflows
                 std::abs(apart) <= most,
             told("%s: gradient norm %.9g instead of %.9g, bound %.3g", lane.c_str(),
                  x[kGradientNormMetric], norm, most)
                 .c_str());
    QCOMPARE(x[kFoundInfMetric], y[kFoundInfMetric]);
    QCOMPARE(x[kNextScaleMetric], y[kNextScaleMetric]);
}

} // namespace halfscope::test
