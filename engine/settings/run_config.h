// What an experiment is: task, network, optimizer, schedule, stop rule, seed, device, and its lanes
// (precision and loss scaler). Plain values; engine/settings/fields.h reads, checks and writes
// them.
#pragma once

#include "engine/data/epochs.h"
#include "engine/data/task_spec.h"
#include "engine/scaler/grad_scaler.h"
#include "engine/settings/optimizers.h"
#include "engine/settings/precision.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace halfscope {

inline constexpr size_t kMaxLanes = 6;

enum class Norm : uint8_t { None, BatchNorm, LayerNorm };
enum class Activation : uint8_t { Relu, Tanh, Sigmoid, Gelu, Silu, Softplus, Sin };
enum class ScheduleKind : uint8_t {
    Constant,
    OneCycle,
    Step,
    Exponential,
    Cosine,
    Linear,
    MultiStep,
    Polynomial,
    WarmRestarts,
    Plateau ///< falls when the validation loss stops improving, see plateau.h
};
enum class Anneal : uint8_t { Cosine, Linear };
/// How a second network, the critic, tells what the first network makes from the targets.
enum class Adversary : uint8_t { None, Gan, WganGp };
enum class ClipKind : uint8_t { None, Norm2, NormInf, Value };

struct DataConfig {
    LastBatch lastBatch = LastBatch::Keep;
    int64_t workers = 0; ///< threads that read batches ahead; with 0 the training thread reads
    bool shuffle = true; ///< each epoch has an order of its own; else samples come as stored
};
/// When the lanes are judged on samples that they do not train on; they always are at the end.
struct ValidationConfig {
    int64_t epochs = 1; ///< after every so many epochs; 0: not by epochs
    int64_t steps = 0;  ///< after every so many steps; 0: not by steps
};
struct ModelConfig {
    int64_t width = 128;
    int64_t depth = 3; ///< hidden layers of width x width after the first
    Norm norm = Norm::BatchNorm;
    Activation activation = Activation::Relu;
    std::string layers{}; ///< PyTorch's text; when empty, the template of the four settings above
    int64_t networks = 1; ///< with 2: two networks, two losses over both outputs, two optimizers
    Adversary adversary = Adversary::None; ///< unless None, a critic replaces task.loss
    std::string critic{};                  ///< PyTorch's text for the critic
    int64_t criticSteps = 1; ///< the critic's steps for each step of the first network
    std::string weights{}; ///< path of a state dict that the lanes start from; when empty, weights
                           ///< are drawn
    bool partialWeights = false; ///< the state dict may lack weights, which are drawn, and have
                                 ///< others, which are ignored
};
/// What happens to gradients between the backward pass and the optimizer, and the penalty on them.
struct GradientConfig {
    ClipKind clip = ClipKind::None;
    double clipLimit = 1;      ///< the norm or value to clip to
    int64_t accumulate = 1;    ///< micro-batches per update
    double penalty = 0;        ///< weight of the L2 norm of the loss gradient; 0: no penalty
    double penaltyEps = 0;     ///< under that norm's square root, whose slope at zero is infinite
    double criticPenalty = 10; ///< wgan-gp: weight of the critic's slopes' distance from 1
};
struct ScheduleConfig {
    ScheduleKind kind = ScheduleKind::Constant;
    double maxLr = 1e-2;
    int64_t totalSteps = 0; ///< updates; 0: as many as the run has, see scheduleOf()
    double pctStart = 0.3, divFactor = 25, finalDivFactor = 1e4;
    Anneal anneal = Anneal::Cosine;
    bool threePhase = false;
    bool cycleMomentum = false; ///< the optimizer's momentum or beta1 moves opposite to the rate
    double baseMomentum = 0.85, maxMomentum = 0.95;
    int64_t stepSize = 30;                     ///< Step: iterations between two decays
    std::vector<int64_t> milestones{100, 200}; ///< MultiStep: iterations that begin with a decay
    double gamma = 0.9;                        ///< Step, MultiStep, Exponential, Plateau
    double minLr = 0;                          ///< Cosine, WarmRestarts, Plateau
    double power = 1;                          ///< Polynomial
    int64_t period = 100;                      ///< WarmRestarts: iterations of the first fall
    int64_t periodFactor = 1; ///< likewise: a fall's iterations over those of the one before
    double startFactor = 0.1, endFactor = 1; ///< Linear
    int64_t patience = 10;   ///< Plateau: validations without an improvement that pass
    double threshold = 1e-4; ///< likewise: the share by which a loss must be lower to count
    int64_t cooldown = 0;    ///< likewise: validations after a fall that do not count
    int64_t warmupSteps = 0; ///< updates before the course of the kind, see warmsUp()
};
inline bool isAdversarial(const ModelConfig& model) { return model.adversary != Adversary::None; }
/// Returns the number of networks, each of which has an optimizer of its own.
inline int64_t networksOf(const ModelConfig& model) {
    return isAdversarial(model) ? 2 : model.networks;
}
/// Whether the optimizer's momentum (SGD, RMSprop) or beta1 (Adam) follows the schedule.
inline bool cyclesMomentum(const ScheduleConfig& s) {
    return s.kind == ScheduleKind::OneCycle && s.cycleMomentum;
}
/// Whether the rate follows a course over the steps that is known in advance.
inline bool hasCourse(const ScheduleConfig& s) {
    return s.kind != ScheduleKind::Constant && s.kind != ScheduleKind::Plateau;
}
/// Whether the rate may rise in a straight line before it takes the course of its kind.
inline bool warmsUp(const ScheduleConfig& s) {
    return hasCourse(s) && s.kind != ScheduleKind::OneCycle;
}
struct LaneConfig {
    Precision precision = Precision::Fp32;
    ScalerConfig scaler;
    std::string policyFile{}; ///< path of the policy of precision "user"
    std::string layers{};     ///< forced layers: "layer 1=float32, output layer=float32"
    Override masterWeights = Override::Default;
    Override keepBatchnormF32 = Override::Default;
    WeightRounding rounding = WeightRounding::Nearest; ///< acts where storesHalf()
    Fp8Scaling fp8Scaling = Fp8Scaling::Dynamic;       ///< acts with Precision::Fp8
};
/// The value of a setting, as files and panels hold it.
using FieldValue = std::variant<bool, int64_t, double, std::string>;

/// A lane that began in the middle of a run, with the state that another lane had there. Its place
/// is behind the lanes that exist by then.
struct LaneFork {
    int64_t step = 1;       ///< the first step that it takes by itself
    int parent = 0;         ///< index of the parent's lane
    int64_t afterEdits = 0; ///< the number of the run's edits that came before it
    LaneConfig lane;
};
/// A setting that was changed during the run.
struct LiveEdit {
    int64_t step = 1; ///< the first step with the new value
    int lane = -1;    ///< -1 for all lanes, or for the run
    std::string key;
    FieldValue value;
};
struct RunConfig {
    std::string title; ///< shown by the preset box; may be empty
    TaskConfig task;
    DataConfig data;
    ValidationConfig validation;
    ModelConfig model;
    OptimizerConfig optimizer;
    SecondOptimizerConfig second;
    GradientConfig gradients;
    ScheduleConfig schedule;
    uint64_t seed = 0;
    int64_t steps = 300;         ///< the run ends after so many, unless epochs decide
    int64_t epochs = 0;          ///< the run ends after so many; 0: after `steps`
    int64_t patience = 0;        ///< validations without a new best in any lane after which the run
                                 ///< ends before that; 0: it does not, see Patience
    double pace = 0;             ///< most steps per second in the window; 0: no limit
    std::string device = "auto"; ///< or one per lane, see deviceOfLane()
    int64_t threads = 0;         ///< CPU threads; 0: all
    int64_t watchWeights = 0;    ///< every so many steps, see watchesWeights(); 0: never
    int64_t gradientError = 0;   ///< likewise, see GradientError
    std::vector<LaneConfig> lanes{LaneConfig{Precision::Fp32, {}},
                                  LaneConfig{Precision::AmpFp16, {}}};
    /// What happens on the way, by step: a recorded run repeats it when it is trained again.
    std::vector<LaneFork> forks{};
    std::vector<LiveEdit> edits{};
    /// Nothing is trained: since the training, the data may have become fewer than a batch. This is
    /// not a setting.
    bool onlyJudges = false;
};

const char* nameOf(Norm);
const char* nameOf(Activation);
const char* nameOf(ScheduleKind);
const char* nameOf(Anneal);
const char* nameOf(Adversary);
const char* nameOf(ClipKind); ///< "none", "norm", "norm-inf", "value"
const char* nameOf(ScalerMode);

/// Returns a lane as a precision starts it, with the scaler of its row: amp-fp16 scales dynamically
/// from 65536; amp-bf16 does not, having the range of f32; pure fp16 shows what happens without
/// scaling.
LaneConfig defaultLane(Precision);
/// Returns what an empty experiment file means: the defaults above, with the lanes fp32 and
/// amp-fp16.
RunConfig defaultConfig();

/// Returns a lane's part of "cuda:0,cuda:1": lane 0 takes the first, and after the last one the
/// first is taken again.
std::string deviceOfLane(std::string_view devices, int lane);
/// Returns "fp32" or "amp-fp16", and a number when two lanes have the same precision: "amp-fp16-2".
std::string laneName(Precision, int number);
std::vector<std::string> laneNames(const RunConfig&);

} // namespace halfscope
