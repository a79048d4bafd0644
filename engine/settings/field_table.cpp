// The one table of settings: key, label, unit, help, range, default (by the config's own defaults),
// when an edit acts, and where its value lies. Parsing, checks and messages are in fields.cpp.
#include "engine/settings/field_parts.h"

namespace halfscope {

using namespace field_parts;

namespace {

constexpr double kSeedMax = 9223372036854775807.0;

std::vector<Field> taskFields() {
    const auto kind = [](TaskKind wanted) {
        return [wanted](const RunConfig& c) { return c.task.kind == wanted; };
    };
    const auto paints = [](const RunConfig& c) { return c.task.kind != TaskKind::Regression; };
    std::vector<Field> fields;
    fields.push_back(
        oneOf(ofRun(
                  {"task.kind", "Task", "",
                   "What the network learns: to paint a checkerboard or a picture from pixel "
                   "coordinates, or to fit random targets from random inputs (regression)."},
                  [](auto& c) -> auto& { return c.task.kind; }),
              namesUpTo(TaskKind::Regression)));
    fields.push_back(when(
        paints, in(ofRun(
                       {"task.side", "Picture side", "pixels",
                        "The picture has side x side pixels and every step sees all of them, so "
                        "time and memory grow with its square."},
                       [](auto& c) -> auto& { return c.task.side; }),
                   {2, 4096, Bound::Closed, true})));
    fields.push_back(
        when(kind(TaskKind::Checkerboard),
             in(ofRun(
                    {"task.frequency", "Squares per side", "",
                     "How many squares the checkerboard has along a side. More squares are "
                     "harder to learn from smooth coordinates."},
                    [](auto& c) -> auto& { return c.task.frequency; }),
                {0, 4096, Bound::AboveMinimum, true})));
    fields.push_back(
        when(kind(TaskKind::Image),
             ofRun(
                 {"task.image", "Picture", "",
                  "A PNG or JPEG file; its centre square is used. A relative path starts at the "
                  "experiment file's folder. Empty: a built-in pattern of coloured rings."},
                 [](auto& c) -> auto& { return c.task.image; })));
    fields.back().kind = FieldKind::Path;
    return fields;
}

std::vector<Field> regressionFields() {
    const auto regression = [](const RunConfig& c) { return c.task.kind == TaskKind::Regression; };
    std::vector<Field> fields;
    fields.push_back(
        when(regression, in(ofRun(
                                {"task.samples", "Samples", "",
                                 "Samples in the data set. Inputs and targets are drawn from the "
                                 "seed, so every lane learns from the same ones."},
                                [](auto& c) -> auto& { return c.task.samples; }),
                            {1, 1e7, Bound::Closed, true})));
    fields.push_back(
        when(regression, in(ofRun(
                                {"task.batch", "Batch", "samples",
                                 "Samples in a step, at most as many as there are. Each epoch "
                                 "shuffles them."},
                                [](auto& c) -> auto& { return c.task.batch; }),
                            {1, 1e6, Bound::Closed, true})));
    fields.push_back(
        when(regression, oneOf(ofRun(
                                   {"data.last_batch", "Last batch", "",
                                    "What an epoch does with samples that fill no whole batch: "
                                    "keep takes a smaller step with them, as PyTorch's loader "
                                    "does; drop leaves them out."},
                                   [](auto& c) -> auto& { return c.data.lastBatch; }),
                               namesUpTo(LastBatch::Drop))));
    fields.push_back(
        when(regression,
             in(ofRun(
                    {"task.target_mean", "Target mean", "",
                     "Mean of the targets. Far from zero the first losses and gradients are large, "
                     "and a scaled float16 gradient overflows sooner (above 65504)."},
                    [](auto& c) -> auto& { return c.task.targetMean; }),
                {-1e6, 1e6})));
    fields.push_back(
        when(regression, in(ofRun(
                                {"task.target_spread", "Target spread", "",
                                 "Standard deviation of the targets. They do not depend on the "
                                 "inputs: fitting them is memorising."},
                                [](auto& c) -> auto& { return c.task.targetSpread; }),
                            {0, 1e6})));
    return fields;
}

std::vector<Field> networkFields() {
    return {
        in(ofRun(
               {"model.width", "Width", "units",
                "Units of each hidden layer. Multiples of 8 let float16 matrix products use a "
                "GPU's tensor cores well."},
               [](auto& c) -> auto& { return c.model.width; }),
           {1, 4096, Bound::Closed, true}),
        in(ofRun(
               {"model.depth", "Hidden layers", "",
                "Layers of width x width after the first one. 0 leaves one hidden layer between "
                "input and output."},
               [](auto& c) -> auto& { return c.model.depth; }),
           {0, 16}),
        oneOf(ofRun(
                  {"model.norm", "Normalisation", "",
                   "After each hidden layer: none, batch (each unit over the batch) or layer "
                   "(each sample over its units). Statistics are taken in float32."},
                  [](auto& c) -> auto& { return c.model.norm; }),
              namesUpTo(Norm::LayerNorm)),
        oneOf(ofRun(
                  {"model.activation", "Activation", "",
                   "The nonlinearity after each hidden layer. With AMP most run in float16; "
                   "softplus is one that autocast keeps in float32."},
                  [](auto& c) -> auto& { return c.model.activation; }),
              namesUpTo(Activation::Sin)),
        in(ofRun(
               {"model.networks", "Networks", "",
                "2: two networks with an optimizer each. One loss looks at 2 a + 3 b of their "
                "outputs a and b, the other at 3 a - 5 b, as in PyTorch's notes."},
               [](auto& c) -> auto& { return c.model.networks; }),
           {1, 2}),
    };
}

Field stepsField() {
    Field field =
        live(in(ofRun(
                    {"run.steps", "Stop after", "steps",
                     "The run ends after this step. Skipped steps count: they took their batch "
                     "and their time. run.epochs, where it is not 0, decides instead."},
                    [](auto& c) -> auto& { return c.steps; }),
                {1, 1e9, Bound::Closed, true}));
    // The last one that is set decides.
    field.set = [set = field.set](RunConfig& config, int lane, const FieldValue& value) {
        set(config, lane, value);
        config.epochs = 0;
    };
    return field;
}

std::vector<Field> runFields() {
    return {
        in(ofRun(
               {"run.seed", "Seed", "",
                "Starting weights, data and the order of batches come from it alone. The same "
                "seed gives the same bits on the same device."},
               [](auto& c) -> auto& { return c.seed; }),
           {0, kSeedMax}),
        stepsField(),
        live(in(ofRun(
                    {"run.epochs", "Epochs", "epochs",
                     "The run ends after so many passes over the training samples; 0: after the "
                     "steps above. A new number of steps sets it back to 0."},
                    [](auto& c) -> auto& { return c.epochs; }),
                {0, 1e9, Bound::Closed, true})),
        ofRun(
            {"run.device", "Device", "",
             "auto takes the first CUDA device and otherwise the CPU. The CPU rounds as a GPU "
             "stores, so its numerics are those of half precision, not its speed. cuda:0,cuda:1 "
             "gives each lane a GPU of its own, which work at the same time."},
            [](auto& c) -> auto& { return c.device; }),
        in(ofRun(
               {"run.threads", "CPU threads", "threads",
                "Threads of the CPU device, 0 for one on each hardware thread. Results do not "
                "depend on it."},
               [](auto& c) -> auto& { return c.threads; }),
           {0, 1024}),
    };
}

Field precisionField() {
    Field field = oneOf(
        ofLane(
            {"precision", "Precision", "",
             "How the network stores and computes: in one dtype, or by the rules of PyTorch's "
             "autocast, Apex, Keras or a file of yours (user). A new precision also takes its "
             "usual loss scaling."},
            [](auto& lane) -> auto& { return lane.precision; }),
        namesUpTo(Precision::User));
    field.set = [](RunConfig& config, int lane, const FieldValue& value) {
        LaneConfig& to = config.lanes.at(static_cast<size_t>(std::max(lane, 0)));
        const Precision before = to.precision;
        fromValue(to.precision, value);
        if (to.precision == before) return;
        // A scaler mode left over from the old precision would silently scale bf16, or not scale
        // fp16; rules that were edited stay.
        const LaneConfig old = defaultLane(before), now = defaultLane(to.precision);
        if (to.scaler == old.scaler) to.scaler = now.scaler;
        to.scaler.rules.mode = now.scaler.rules.mode;
        to.masterWeights = to.keepBatchnormF32 = Override::Default;
    };
    return field;
}

/// What a precision leaves to be chosen.
std::vector<Field> precisionParts() {
    const auto user = [](const LaneConfig& lane) { return lane.precision == Precision::User; };
    const auto cast = [](const LaneConfig& lane) {
        return presetOf(lane.precision).model.has_value();
    };
    Field policy = whenLane(
        user, ofLane(
                  {"precision.policy", "Policy file", "",
                   "JSON with a base policy and rules for single ops and layers, for the precision "
                   "user. A relative path starts at the experiment file's folder."},
                  [](auto& lane) -> auto& { return lane.policyFile; }));
    policy.kind = FieldKind::Path;
    return {
        policy,
        ofLane(
            {"precision.layers", "Layers of their own", "",
             "Layers that compute in a dtype of their own, whatever the precision does elsewhere; "
             "describe names the layers."},
            [](auto& lane) -> auto& { return lane.layers; }),
        whenLane(cast, oneOf(ofLane(
                                 {"precision.master_weights", "Master weights", "",
                                  "on: parameters are float32 and the network sees them rounded. "
                                  "default: on with apex-o2, off with apex-o3, fp16 and bf16."},
                                 [](auto& lane) -> auto& { return lane.masterWeights; }),
                             namesUpTo(Override::Off))),
        whenLane(cast, oneOf(ofLane(
                                 {"precision.keep_batchnorm_fp32", "Norms in float32", "",
                                  "on: scale and shift of norms stay float32. default: on with "
                                  "apex-o2, off with apex-o3, fp16 and bf16."},
                                 [](auto& lane) -> auto& { return lane.keepBatchnormF32; }),
                             namesUpTo(Override::Off))),
    };
}

std::vector<Field> makeTable() {
    std::vector<Field> table;
    const auto add = [&table](const char* group, std::vector<Field> fields) {
        for (Field& field : fields) {
            field.group = group;
            table.push_back(std::move(field));
        }
    };
    add("Task", taskFields());
    add("Task", regressionFields());
    add("Network", networkFields());
    add("Optimizer", optimizerFields());
    add("Optimizer", specialOptimizerFields());
    add("Schedule", scheduleFields());
    add("Schedule", specialScheduleFields());
    add("Gradients", gradientFields());
    add("Run", runFields());
    add("Precision and scaler", {precisionField()});
    add("Precision and scaler", precisionParts());
    add("Precision and scaler", scalerFields());
    return table;
}

} // namespace

std::span<const Field> fieldTable() {
    static const std::vector<Field> table = makeTable();
    return table;
}

} // namespace halfscope
