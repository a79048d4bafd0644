// The one table of settings: key, label, unit, help, range, default (from the defaults of the
// configuration), when an edit takes effect, and where its value is. Parsing, checks and messages
// are in fields.cpp.
#include "engine/data/class_weights.h"
#include "engine/data/dataset.h"
#include "engine/data/losses.h"
#include "engine/settings/field_parts.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"

#include <algorithm>

namespace halfscope {

using namespace field_parts;

namespace {

constexpr double kSeedMax = 9223372036854775807.0;

Field kindField() {
    const auto offered = dataSets().first(static_cast<size_t>(TaskKind::Recorded)); // the last one
    Field field = explaining(
        offered, oneOf(ofRun(
                           {"data.kind", phrase("Settings", "Task"), kNoUnit,
                            phrase("Settings", "What the network learns, and from which data.")},
                           [](auto& c) -> auto& { return c.task.kind; }),
                       namesUpTo(static_cast<TaskKind>(offered.size() - 1))));
    for (const DataSetInfo& each : offered)
        field.titles.push_back(each.title);
    field.unoffered = nameOf(TaskKind::Recorded);
    // A loss that does not fit the targets would have to be changed next.
    field.set = [set = field.set](RunConfig& config, int lane, const FieldValue& value) {
        set(config, lane, value);
        if (lossObstacle(config, nameOf(config.task.loss.kind)).empty()) return;
        const bool classes = infoOf(config.task.kind).targets != Targets::Numbers;
        config.task.loss.kind = classes ? LossKind::CrossEntropy : LossKind::Mse;
    };
    return field;
}

std::vector<Field> taskFields() {
    std::vector<Field> fields;
    fields.push_back(kindField());
    fields.push_back(ofDataSets(
        in(ofRun(
               {"task.side", phrase("Settings", "Picture side"), phrase("Settings", "pixels"),
                phrase("Settings", "The picture has side x side pixels, and every step sees all of "
                                   "them: time and memory grow with the square of the side.")},
               [](auto& c) -> auto& { return c.task.side; }),
           {2, 4096, Bound::Closed, true})));
    fields.push_back(ofDataSets(
        in(ofRun(
               {"task.frequency", phrase("Settings", "Squares per side"), kNoUnit,
                phrase("Settings", "The number of squares along a side of the checkerboard. More "
                                   "squares are harder to learn from smooth coordinates.")},
               [](auto& c) -> auto& { return c.task.frequency; }),
           {0, 4096, Bound::AboveMinimum, true})));
    fields.push_back(ofDataSets(ofRun(
        {"task.image", phrase("Settings", "Picture"), kNoUnit,
         phrase("Settings", "A PNG or JPEG file, of which the centre square is used. A "
                            "relative path starts at the folder of the experiment file. "
                            "Empty: a built-in pattern of coloured rings.")},
        [](auto& c) -> auto& { return c.task.image; })));
    fields.back().kind = FieldKind::Path;
    return fields;
}

bool validates(const RunConfig& c) { return canValidate(c.task); }

/// When the lanes are judged on samples that they do not train on.
std::vector<Field> validationFields() {
    return {
        when(validates,
             in(ofRun(
                    {"validation.epochs", phrase("Settings", "Validate by epochs"),
                     phrase("Settings", "epochs"),
                     phrase("Settings",
                            "After every so many epochs, and at the end of the run, loss and "
                            "accuracy are measured on the validation samples, with running "
                            "statistics and without dropout. 0: not by epochs.")},
                    [](auto& c) -> auto& { return c.validation.epochs; }),
                {0, 1e9, Bound::Closed, true})),
        when(validates,
             in(ofRun(
                    {"validation.steps", phrase("Settings", "Validate by steps"),
                     phrase("Settings", "steps"),
                     phrase("Settings",
                            "The same as by epochs, after every so many steps. 0: not by steps.")},
                    [](auto& c) -> auto& { return c.validation.steps; }),
                {0, 1e9, Bound::Closed, true}))};
}

std::vector<Field> regressionFields() {
    const auto batches = [](const RunConfig& c) { return !infoOf(c.task.kind).wholeSet; };
    std::vector<Field> fields;
    fields.push_back(ofDataSets(in(
        ofRun(
            {"task.samples", phrase("Settings", "Samples"), kNoUnit,
             phrase("Settings", "Number of samples in the data set. Inputs and targets are drawn "
                                "from the seed, so every lane learns from the same ones.")},
            [](auto& c) -> auto& { return c.task.samples; }),
        {1, 1e7, Bound::Closed, true})));
    fields.push_back(when(
        batches, in(ofRun(
                        {"task.batch", phrase("Settings", "Batch"), phrase("Settings", "samples"),
                         phrase("Settings", "Number of samples in a step, at most as many as the "
                                            "data set has to train on.")},
                        [](auto& c) -> auto& { return c.task.batch; }),
                    {1, 1e6, Bound::Closed, true})));
    fields.push_back(when(
        batches,
        oneOf(ofRun(
                  {"data.last_batch", phrase("Settings", "Last batch"), kNoUnit,
                   phrase("Settings", "What an epoch does with the samples at its end that do not "
                                      "fill a batch: keep takes a step with a smaller batch, as "
                                      "PyTorch's loader does; drop leaves them out.")},
                  [](auto& c) -> auto& { return c.data.lastBatch; }),
              namesUpTo(LastBatch::Drop))));
    fields.push_back(ofDataSets(
        in(ofRun(
               {"task.target_mean", phrase("Settings", "Target mean"), kNoUnit,
                phrase("Settings",
                       "Mean of the targets. Far from zero, the first losses and gradients are "
                       "large, and a scaled float16 gradient overflows sooner (above 65,504).")},
               [](auto& c) -> auto& { return c.task.targetMean; }),
           {-1e6, 1e6})));
    fields.push_back(ofDataSets(
        in(ofRun(
               {"task.target_spread", phrase("Settings", "Target spread"), kNoUnit,
                phrase("Settings", "Standard deviation of the targets. The targets do not depend "
                                   "on the inputs, so fitting them means memorising them.")},
               [](auto& c) -> auto& { return c.task.targetSpread; }),
           {0, 1e6})));
    fields.push_back(ofDataSets(in(
        ofRun(
            {"task.noise", phrase("Settings", "Noise"), kNoUnit,
             phrase(
                 "Settings",
                 "Fit a line, Two moons, Two circles: the standard deviation by "
                 "which samples miss their curve; Two spirals: they miss it by as much at most, in "
                 "each direction.")},
            [](auto& c) -> auto& { return c.task.noise; }),
        {0, 100})));
    return fields;
}

std::vector<Field> adversaryFields() {
    const auto judged = [](const RunConfig& c) { return isAdversarial(c.model); };
    Field critic = when(
        judged,
        ofRun(
            {"model.critic", phrase("Settings", "Critic"), kNoUnit,
             phrase("Settings", "The critic as PyTorch's text: it sees a target or a prediction "
                                "as a row of numbers and gives it one score. Empty: one hidden "
                                "layer of model.width. Its optimizer is "
                                "the second one.")},
            [](auto& c) -> auto& { return c.model.critic; }));
    critic.check = checkCriticText;
    critic.allowed = phrase("Settings", "PyTorch's text of a network, or nothing");
    return {
        oneOf(ofRun(
                  {"model.adversary", phrase("Settings", "Adversary"), kNoUnit,
                   phrase("Settings",
                          "In place of a loss, a second network, the critic, learns to tell the "
                          "predictions from the targets, and the first one learns to deceive it. "
                          "gan: binary cross entropy of the critic's scores (Goodfellow and "
                          "others, 2014). wgan-gp: the difference of their means, with a penalty "
                          "that keeps the critic's slope near 1 (Gulrajani and others, 2017). The "
                          "loss shown is the critic's; with wgan-gp "
                          "it is minus the critic's, the distance between both kinds that it "
                          "measures.")},
                  [](auto& c) -> auto& { return c.model.adversary; }),
              namesUpTo(Adversary::WganGp)),
        std::move(critic),
        when(judged,
             in(ofRun(
                    {"model.critic_steps", phrase("Settings", "Critic steps"),
                     phrase("Settings", "steps"),
                     phrase("Settings",
                            "The critic takes so many steps, each on a batch of its own, for "
                            "each one of the first network (n_critic; Gulrajani and others take "
                            "5). 1: both step together.")},
                    [](auto& c) -> auto& { return c.model.criticSteps; }),
                {1, 1000, Bound::Closed, true})),
    };
}

/// PyTorch's text of a network, which replaces the four fields before it.
Field layersField() {
    Field field = ofRun(
        {"model.layers", phrase("Settings", "Layers"), kNoUnit,
         phrase("Settings", "The network as PyTorch's text: nn.Sequential(nn.Linear(2, 64), "
                            "nn.ReLU(), nn.Linear(64, 1)), or what print(model) shows. It replaces "
                            "width, hidden layers, normalisation and activation, which describe "
                            "the network while this is empty. precision.layers and policy files "
                            "then name its layers by kind and state-dict path, such as Linear 0.")},
        [](auto& c) -> auto& { return c.model.layers; });
    field.check = checkModelText;
    field.allowed = phrase("Settings", "PyTorch's text of a network, or nothing");
    return field;
}

Field classWeightsField() {
    Field field = ofRun(
        {"task.class_weights", phrase("Settings", "Class weights"), kNoUnit,
         phrase("Settings",
                "How much the samples of each class count in the loss: a number for each class, in "
                "the order of the classes, or balanced, which gives a class samples / (classes x "
                "samples of the class), counted over those to train on. The loss is the weighted "
                "mean over the batch, and in validation over all samples. Empty: all samples count "
                "alike.")},
        [](auto& c) -> auto& { return c.task.loss.classWeights; });
    field.check = [](const std::string& text) { classWeightsOf(text); };
    field.allowed =
        phrase("Settings", "a number for each class, separated by commas, balanced, or nothing");
    return field;
}

std::vector<Field> lossFields() {
    const auto plain = [](const RunConfig& c) { return !isAdversarial(c.model); };
    const auto hasDelta = [](const RunConfig& c) { return infoOf(c.task.loss.kind).hasDelta; };
    const auto smooths = [](const RunConfig& c) { return infoOf(c.task.loss.kind).hasSmoothing; };
    const auto weighs = [](const RunConfig& c) { return infoOf(c.task.loss.kind).hasWeights; };
    return {
        when(plain,
             refusing(lossObstacle,
                      describing(losses(),
                                 oneOf(ofRun(
                                           {"task.loss", phrase("Settings", "Loss"), kNoUnit,
                                            phrase("Settings", "The error that training reduces.")},
                                           [](auto& c) -> auto& { return c.task.loss.kind; }),
                                       namesUpTo(static_cast<LossKind>(losses().size() - 1)))))),
        when(hasDelta, in(ofRun(
                              {"task.loss_delta", phrase("Settings", "Delta"), kNoUnit,
                               phrase("Settings", "The error at which huber and smooth-l1 turn "
                                                  "from a parabola into straight lines.")},
                              [](auto& c) -> auto& { return c.task.loss.delta; }),
                          {0, 1e6, Bound::AboveMinimum, true})),
        when(smooths,
             in(ofRun(
                    {"task.label_smoothing", phrase("Settings", "Label smoothing"), kNoUnit,
                     phrase("Settings", "The share of each sample's target that is spread "
                                        "evenly over all classes.")},
                    [](auto& c) -> auto& { return c.task.loss.labelSmoothing; }),
                {0, 1})),
        when(weighs, classWeightsField()),
    };
}

std::vector<Field> dataFields() {
    const auto batches = [](const RunConfig& c) { return !infoOf(c.task.kind).wholeSet; };
    return {when(batches,
                 ofRun(
                     {"data.shuffle", phrase("Settings", "Shuffle"), kNoUnit,
                      phrase("Settings", "Each epoch sees the samples in another order, which "
                                         "depends on the seed alone. Off: as they are stored.")},
                     [](auto& c) -> auto& { return c.data.shuffle; })),
            in(ofRun(
                   {"data.workers", phrase("Settings", "Readers"), phrase("Settings", "threads"),
                    phrase("Settings", "Threads that read batches ahead; 0: the training reads "
                                       "them itself. The batches are the same.")},
                   [](auto& c) -> auto& { return c.data.workers; }),
               {0, 64})};
}

Field partialWeightsField() {
    return when([](const RunConfig& c) { return !c.model.weights.empty(); },
                ofRun(
                    {"model.partial_weights", phrase("Settings", "Take what fits"), kNoUnit,
                     phrase("Settings",
                            "The file of initial weights need not have all tensors of the "
                            "network, and may have others, as with strict=False in PyTorch: "
                            "tensors that it lacks are drawn from the seed, others are ignored. "
                            "One of another shape is still an error.")},
                    [](auto& c) -> auto& { return c.model.partialWeights; }));
}

std::vector<Field> networkFields() {
    const auto plain = [](const RunConfig& c) { return !isAdversarial(c.model); };
    const auto isTemplate = [](const RunConfig& c) { return c.model.layers.empty(); };
    std::vector<Field> fields{
        in(ofRun(
               {"model.width", phrase("Settings", "Width"), phrase("Settings", "units"),
                phrase("Settings",
                       "Number of units in each hidden layer. With multiples of 8, float16 matrix "
                       "products make good use of a GPU's tensor cores.")},
               [](auto& c) -> auto& { return c.model.width; }),
           {1, 4096, Bound::Closed, true}),
        in(ofRun(
               {"model.depth", phrase("Settings", "More hidden layers"), kNoUnit,
                phrase("Settings", "Number of hidden layers after the first one, which every such "
                                   "network has. 0 leaves one hidden layer between input and "
                                   "output.")},
               [](auto& c) -> auto& { return c.model.depth; }),
           {0, 16}),
        oneOf(ofRun(
                  {"model.norm", phrase("Settings", "Normalisation"), kNoUnit,
                   phrase("Settings", "Normalisation after each hidden layer: none, batch (each "
                                      "unit over the batch) or layer (each sample over its units). "
                                      "The statistics are computed in float32.")},
                  [](auto& c) -> auto& { return c.model.norm; }),
              namesUpTo(Norm::LayerNorm)),
        oneOf(ofRun(
                  {"model.activation", phrase("Settings", "Activation"), kNoUnit,
                   phrase("Settings",
                          "The nonlinearity after each hidden layer. With AMP most of them run in "
                          "float16; softplus is one that autocast keeps in float32.")},
                  [](auto& c) -> auto& { return c.model.activation; }),
              namesUpTo(Activation::Sin)),
        when(plain, in(ofRun(
                           {"model.networks", phrase("Settings", "Networks"), kNoUnit,
                            phrase("Settings",
                                   "With 2 there are two networks, each with its own optimizer, "
                                   "and two losses of their outputs a and b: one of 2 a + 3 b, the "
                                   "other of 3 a - 5 b, as in PyTorch's notes.")},
                           [](auto& c) -> auto& { return c.model.networks; }),
                       {1, 2})),
    };
    for (size_t i = 0; i < 4; ++i)
        fields[i] = when(isTemplate, std::move(fields[i]));
    fields.insert(fields.begin() + 4, layersField());
    for (Field& field : adversaryFields())
        fields.push_back(std::move(field));
    fields.push_back(ofRun(
        {"model.weights", phrase("Settings", "Initial weights"), kNoUnit,
         phrase("Settings",
                "A .safetensors file with the state_dict of this network in PyTorch, from which "
                "every lane starts. Empty: weights are drawn from the seed. A relative path "
                "starts at the folder of the experiment file.")},
        [](auto& c) -> auto& { return c.model.weights; }));
    fields.back().kind = FieldKind::Path;
    fields.push_back(partialWeightsField());
    return fields;
}

Field stepsField() {
    static constexpr int64_t kMostSteps = 1'000'000'000;
    Field field =
        live(FieldApply::Length,
             in(ofRun(
                    {"run.steps", phrase("Settings", "Stop after"), phrase("Settings", "steps"),
                     phrase("Settings",
                            "The run ends after this step. Skipped steps count, because they take "
                            "a batch and time. If run.epochs is not 0, it decides instead.")},
                    [](auto& c) -> auto& { return c.steps; }),
                {1, double{kMostSteps}, Bound::Closed, true}));
    // When epochs decide, it shows their number of steps.
    field.get = [](const RunConfig& config, int) -> FieldValue {
        if (config.epochs == 0) return config.steps;
        return std::clamp<int64_t>(stepsOf(config), 1, kMostSteps);
    };
    // Of steps and epochs, the one that is set last decides.
    field.set = [set = field.set](RunConfig& config, int lane, const FieldValue& value) {
        set(config, lane, value);
        config.epochs = 0;
    };
    return field;
}

Field patienceField() {
    return live(
        FieldApply::Patience,
        when(validates,
             in(ofRun(
                    {"run.patience", phrase("Settings", "Early stopping"),
                     phrase("Settings", "validations"),
                     phrase("Settings",
                            "The run ends early once so many validations in a row were no new best "
                            "in any lane: none had a higher accuracy or, without classes, a lower "
                            "loss than ever before. 0: the run does not end early.")},
                    [](auto& c) -> auto& { return c.patience; }),
                {0, 1e9, Bound::Closed, true})));
}

std::vector<Field> runFields() {
    return {
        in(ofRun(
               {"run.seed", phrase("Settings", "Seed"), kNoUnit,
                phrase("Settings",
                       "Initial weights, data and the order of batches depend on the seed alone. "
                       "The same seed gives the same bits on the same device.")},
               [](auto& c) -> auto& { return c.seed; }),
           {0, kSeedMax}),
        stepsField(),
        live(FieldApply::Length,
             in(ofRun(
                    {"run.epochs", phrase("Settings", "Epochs"), phrase("Settings", "epochs"),
                     phrase("Settings", "The run ends after this many passes over the training "
                                        "samples. 0: after the number of steps above. Changing "
                                        "that number sets this one back to 0.")},
                    [](auto& c) -> auto& { return c.epochs; }),
                {0, 1e9, Bound::Closed, true})),
        patienceField(),
        live(FieldApply::Pace,
             in(ofRun(
                    {"run.pace", phrase("Settings", "Pace"), phrase("Settings", "steps/s"),
                     phrase("Settings", "The window trains at most this many steps a second, so "
                                        "that each can be watched. 0: as fast as possible. No "
                                        "result depends on it, and the command line ignores it.")},
                    [](auto& c) -> auto& { return c.pace; }),
                {0, 1e6, Bound::Closed, true})),
        ofRun(
            {"run.device", phrase("Settings", "Device"), kNoUnit,
             phrase("Settings",
                    "What the networks train on. auto takes the first CUDA device, or the CPU if "
                    "there is none. "
                    "The CPU rounds values as a GPU stores them, so it shows the "
                    "numerics of half precision; it gains speed only with bfloat16, on "
                    "processors with AVX-512 BF16 or AMX. cuda:0,cuda:1 gives each lane "
                    "a GPU of its own; they work at the same time.")},
            [](auto& c) -> auto& { return c.device; }),
        in(ofRun(
               {"run.threads", phrase("Settings", "CPU threads"), phrase("Settings", "threads"),
                phrase("Settings", "Number of threads of the CPU device; 0 means one for each "
                                   "hardware thread. Results do not depend on it.")},
               [](auto& c) -> auto& { return c.threads; }),
           {0, 1024}),
        in(ofRun(
               {"run.watch_weights", phrase("Settings", "Watch weights"),
                phrase("Settings", "steps"),
                phrase("Settings",
                       "After every so many steps, the weights are compared with those before the "
                       "step: how many of them it left unchanged, because the update was too small "
                       "for 16 bits, and how far each lane is from the first one. Both have plots. "
                       "No other result depends on it. 0: never.")},
               [](auto& c) -> auto& { return c.watchWeights; }),
           {0, 1e9, Bound::Closed, true}),
        in(ofRun(
               {"run.gradient_error", phrase("Settings", "Gradient error"),
                phrase("Settings", "steps"),
                phrase("Settings",
                       "At every so many steps, each lane's gradient is compared with the one that "
                       "float32 computes from the same weights and batch. The difference has a "
                       "plot; lanes in float32 have none, and a smaller last batch of an epoch is "
                       "left out. Each time costs two more passes forward and backward, and it "
                       "takes memory of its own. No other result depends on it. 0: never.")},
               [](auto& c) -> auto& { return c.gradientError; }),
           {0, 1e9, Bound::Closed, true}),
    };
}

Field precisionField() {
    Field field = explaining(
        precisionPresets(),
        oneOf(ofLane(
                  {"precision", phrase("Settings", "Precision"), kNoUnit,
                   phrase("Settings",
                          "How the network stores and computes: in one dtype, or by the rules of "
                          "PyTorch's autocast, Apex, Keras or a file of your own (user). Changing "
                          "the precision also sets the loss scaling that is usual for it: off for "
                          "bf16, which has the range of float32.")},
                  [](auto& lane) -> auto& { return lane.precision; }),
              namesUpTo(Precision::User)));
    field.set = [](RunConfig& config, int lane, const FieldValue& value) {
        LaneConfig& to = config.lanes.at(static_cast<size_t>(std::max(lane, 0)));
        const Precision before = to.precision;
        fromValue(to.precision, value);
        if (to.precision == before) return;
        // A scaler mode left over from the old precision would silently scale bf16, or not scale
        // fp16; edited rules stay.
        const LaneConfig old = defaultLane(before), now = defaultLane(to.precision);
        if (to.scaler == old.scaler) to.scaler = now.scaler;
        to.scaler.rules.mode = now.scaler.rules.mode;
        to.masterWeights = to.keepBatchnormF32 = Override::Default;
        to.rounding = WeightRounding::Nearest;
        to.fp8Scaling = Fp8Scaling::Dynamic;
    };
    return field;
}

/// The fields for what a precision leaves open.
std::vector<Field> precisionParts() {
    const auto user = [](const LaneConfig& lane) { return lane.precision == Precision::User; };
    const auto cast = [](const LaneConfig& lane) {
        return presetOf(lane.precision).model.has_value();
    };
    Field policy = whenLane(
        user, ofLane(
                  {"precision.policy", phrase("Settings", "Policy file"), kNoUnit,
                   phrase("Settings", "For the precision user: a JSON file with a base policy and "
                                      "rules for single operations and layers. A relative path "
                                      "starts at the folder of the experiment file.")},
                  [](auto& lane) -> auto& { return lane.policyFile; }));
    policy.kind = FieldKind::Path;
    return {
        policy,
        ofLane(
            {"precision.layers", phrase("Settings", "Layers of their own"), kNoUnit,
             phrase("Settings",
                    "Layers that compute in a dtype of their own, regardless of the precision. "
                    "halfscope-cli describe prints the names of the layers.")},
            [](auto& lane) -> auto& { return lane.layers; }),
        whenLane(
            cast,
            oneOf(ofLane(
                      {"precision.master_weights", phrase("Settings", "Master weights"), kNoUnit,
                       phrase("Settings",
                              "Whether the optimizer keeps its weights in float32. on: the "
                              "parameters are float32, and the network uses rounded "
                              "copies. default: on for apex-o2, off for apex-o3, fp16 and bf16.")},
                      [](auto& lane) -> auto& { return lane.masterWeights; }),
                  namesUpTo(Override::Off))),
        whenLane(cast,
                 oneOf(ofLane(
                           {"precision.keep_batchnorm_fp32", phrase("Settings", "Norms in float32"),
                            kNoUnit,
                            phrase("Settings", "What norms keep in float32. on: the scale and "
                                               "shift of norms stay float32. default: "
                                               "on for apex-o2, off for apex-o3, fp16 and bf16.")},
                           [](auto& lane) -> auto& { return lane.keepBatchnormF32; }),
                       namesUpTo(Override::Off))),
        whenLane(
            storesHalf,
            oneOf(ofLane(
                      {"precision.weight_rounding", phrase("Settings", "Rounding of weights"),
                       kNoUnit,
                       phrase("Settings",
                              "How updates are stored in weights of 16 bits. nearest, as in "
                              "PyTorch: an update of less than half of the distance to the next "
                              "number is lost. stochastic: the update is computed in float32 and "
                              "rounded up or down by chance, so that small updates arrive on "
                              "average.")},
                      [](auto& lane) -> auto& { return lane.rounding; }),
                  namesUpTo(WeightRounding::Stochastic))),
        whenLane([](const LaneConfig& lane) { return lane.precision == Precision::Fp8; },
                 oneOf(ofLane(
                           {"precision.fp8_scaling", phrase("Settings", "FP8 scaling"), kNoUnit,
                            phrase("Settings",
                                   "dynamic: each activation, weight and gradient is multiplied by "
                                   "the largest power of two that keeps its greatest magnitude in "
                                   "the range of its format (448 in E4M3, 57,344 in E5M2), and "
                                   "divided by it after the product. none: values are rounded as "
                                   "they are; the small ones become 0.")},
                           [](auto& lane) -> auto& { return lane.fp8Scaling; }),
                       namesUpTo(Fp8Scaling::None))),
    };
}

/// Of a training that was recorded elsewhere, only lanes are known.
void leaveOutOfRecorded(Field& field) {
    if (field.scope != FieldScope::Run || field.key == "data.kind") return;
    field.applies = [applies = field.applies](const RunConfig& config, int lane) {
        return config.task.kind != TaskKind::Recorded && applies(config, lane);
    };
}

std::vector<Field> makeTable() {
    std::vector<Field> table;
    const auto add = [&table](Phrase group, std::vector<Field> fields) {
        for (Field& field : fields) {
            leaveOutOfRecorded(field);
            field.group = group;
            table.push_back(std::move(field));
        }
    };
    add(phrase("Settings", "Task"), taskFields());
    add(phrase("Settings", "Task"), fileFields());
    add(phrase("Settings", "Task"), arrayFields());
    add(phrase("Settings", "Task"), sampleFields());
    add(phrase("Settings", "Task"), pictureFields());
    add(phrase("Settings", "Task"), preparationFields());
    add(phrase("Settings", "Task"), regressionFields());
    add(phrase("Settings", "Task"), lossFields());
    add(phrase("Settings", "Task"), dataFields());
    add(phrase("Settings", "Task"), validationFields());
    add(phrase("Settings", "Network"), networkFields());
    add(phrase("Settings", "Optimizer"), optimizerFields());
    add(phrase("Settings", "Optimizer"), specialOptimizerFields());
    add(phrase("Settings", "Optimizer"), secondOptimizerFields());
    add(phrase("Settings", "Schedule"), scheduleFields());
    add(phrase("Settings", "Schedule"), cycleFields());
    add(phrase("Settings", "Schedule"), specialScheduleFields());
    add(phrase("Settings", "Schedule"), decayFields());
    add(phrase("Settings", "Schedule"), cosineFields());
    add(phrase("Settings", "Schedule"), plateauFields());
    add(phrase("Settings", "Gradients"), gradientFields());
    add(phrase("Settings", "Run"), runFields());
    add(phrase("Settings", "Precision and scaler"), {precisionField()});
    add(phrase("Settings", "Precision and scaler"), precisionParts());
    add(phrase("Settings", "Precision and scaler"), scalerFields());
    return table;
}

} // namespace

std::span<const Field> fieldTable() {
    static const std::vector<Field> table = makeTable();
    return table;
}

} // namespace halfscope
