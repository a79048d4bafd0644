// What an experiment is: task, network, optimizer, schedule, stop rule, seed, device, and its lanes
// (precision and loss scaler). Plain values; engine/train/fields.h reads, checks and writes them.
#pragma once

#include "engine/train/grad_scaler.h"

#include <cstdint>
#include <string>
#include <vector>

namespace halfscope {

enum class TaskKind : uint8_t { Checkerboard, Image, Regression };
enum class Norm : uint8_t { None, BatchNorm, LayerNorm };
enum class Activation : uint8_t { Relu, Tanh, Sigmoid, Gelu, Silu, Softplus, Sin };
enum class OptimizerKind : uint8_t { Adam, AdamW, Sgd };
enum class ScheduleKind : uint8_t { Constant, OneCycle };
enum class Precision : uint8_t { Fp32, AmpFp16, AmpBf16, Fp16 };

struct TaskConfig {
    TaskKind kind = TaskKind::Checkerboard;
    int64_t side = 64;                        ///< pixels of a picture's side
    double frequency = 8;                     ///< checkerboard: half periods over the side
    std::string image;                        ///< image task: path of a PNG or JPEG
    int64_t samples = 1024;                   ///< regression: samples in the data set
    int64_t batch = 64;                       ///< regression: samples in a step
    double targetMean = 10, targetSpread = 5; ///< regression: targets are spread * N(0,1) + mean
};
struct ModelConfig {
    int64_t width = 128;
    int64_t depth = 3; ///< hidden layers of width x width after the first
    Norm norm = Norm::BatchNorm;
    Activation activation = Activation::Relu;
};
struct OptimizerConfig {
    OptimizerKind kind = OptimizerKind::Adam;
    double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 0, momentum = 0.9;
};
struct ScheduleConfig {
    ScheduleKind kind = ScheduleKind::Constant;
    double maxLr = 1e-2;
    int64_t totalSteps = 300;
    double pctStart = 0.3, divFactor = 25, finalDivFactor = 1e4;
};
struct ScalerConfig {
    double initScale = 65536;
    ScalerRules rules;
};
struct LaneConfig {
    Precision precision = Precision::Fp32;
    ScalerConfig scaler;
};
struct RunConfig {
    std::string title; ///< shown by the preset box; may be empty
    TaskConfig task;
    ModelConfig model;
    OptimizerConfig optimizer;
    ScheduleConfig schedule;
    uint64_t seed = 0;
    int64_t steps = 300; ///< stop condition
    std::string device = "auto";
    int64_t threads = 0; ///< CPU threads; 0: all
    std::vector<LaneConfig> lanes{LaneConfig{Precision::Fp32, {}},
                                  LaneConfig{Precision::AmpFp16, {}}};
};

const char* nameOf(TaskKind);
const char* nameOf(Norm);
const char* nameOf(Activation);
const char* nameOf(OptimizerKind);
const char* nameOf(ScheduleKind);
const char* nameOf(Precision); ///< "fp32", "amp-fp16", "amp-bf16", "fp16"
const char* nameOf(ScalerMode);

/// A lane as a precision starts it: amp-fp16 scales dynamically from 65536, the others do not scale
/// (bf16 has the range of f32; pure fp16 shows what happens without).
LaneConfig defaultLane(Precision);
/// What an empty experiment file means: the defaults above, with the lanes fp32 and amp-fp16.
RunConfig defaultConfig();

/// "fp32", "amp-fp16", and with a number where two are alike: "amp-fp16-2".
std::vector<std::string> laneNames(const RunConfig&);

} // namespace halfscope
