// The one table of settings: key, label, unit, help, range, default (by the config's own defaults),
// when an edit acts, and where its value lies. Parsing, checks and messages are in fields.cpp.
#include "engine/train/fields.h"

#include <algorithm>
#include <type_traits>

namespace halfscope {

namespace {

constexpr double kFloatMax = 3.4e38; // what a float32 holds, rounded down to a readable number
constexpr double kSeedMax = 9223372036854775807.0;

/// The words of a field.
struct Words {
    const char* key;
    const char* label;
    const char* unit;
    const char* help;
};

enum class Bound : uint8_t { Closed, AboveMinimum, BelowMaximum, Open };
struct Range {
    double minimum = 0, maximum = 0;
    Bound bound = Bound::Closed;
    bool logarithmic = false;
};

template <class T>
FieldValue toValue(const T& x) {
    if constexpr (std::is_enum_v<T>) {
        return std::string(nameOf(x));
    } else if constexpr (std::is_same_v<T, uint64_t>) {
        return static_cast<int64_t>(x);
    } else {
        return x;
    }
}

template <class Enum>
std::vector<std::string> namesUpTo(Enum last) {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(last); ++i)
        names.emplace_back(nameOf(Enum(i)));
    return names;
}

template <class T>
void fromValue(T& to, const FieldValue& value) {
    if constexpr (std::is_enum_v<T>) {
        const auto& name = std::get<std::string>(value);
        int i = 0;
        while (name != nameOf(T(i)) && *nameOf(T(i)) != '\0')
            ++i;
        to = T(i);
    } else if constexpr (std::is_same_v<T, std::string>) {
        to = std::get<std::string>(value);
    } else if (const auto* whole = std::get_if<int64_t>(&value)) {
        to = static_cast<T>(*whole);
    } else {
        to = static_cast<T>(std::get<double>(value));
    }
}

/// `at`: from a RunConfig, const or not, and a lane to the member.
template <class Access>
Field bound(FieldScope scope, const Words& words, Access at) {
    Field field;
    field.key = words.key;
    field.label = words.label;
    field.unit = words.unit;
    field.help = words.help;
    field.scope = scope;
    field.applies = [](const RunConfig&, int) { return true; };
    field.get = [at](const RunConfig& config, int lane) { return toValue(at(config, lane)); };
    field.set = [at](RunConfig& config, int lane, const FieldValue& value) {
        fromValue(at(config, lane), value);
    };
    using Member = std::remove_cvref_t<decltype(at(std::declval<RunConfig&>(), 0))>;
    if constexpr (std::is_integral_v<Member>) field.kind = FieldKind::Integer;
    if constexpr (std::is_enum_v<Member>) field.kind = FieldKind::Choice;
    if constexpr (std::is_same_v<Member, std::string>) field.kind = FieldKind::Text;
    return field;
}

/// A field of the run; `at` takes the RunConfig.
template <class Access>
Field ofRun(const Words& words, Access at) {
    return bound(
        FieldScope::Run, words, [at](auto& config, int) -> auto& { return at(config); });
}

/// A field of a lane; `at` takes the LaneConfig. A negative lane reads the first.
template <class Access>
Field ofLane(const Words& words, Access at) {
    return bound(
        FieldScope::Lane, words, [at](auto& config, int lane) -> auto& {
            return at(config.lanes.at(static_cast<size_t>(std::max(lane, 0))));
        });
}

Field in(Field field, const Range& range) {
    field.minimum = range.minimum;
    field.maximum = range.maximum;
    field.exclusiveMinimum = range.bound == Bound::AboveMinimum || range.bound == Bound::Open;
    field.exclusiveMaximum = range.bound == Bound::BelowMaximum || range.bound == Bound::Open;
    field.logarithmic = range.logarithmic;
    return field;
}

Field oneOf(Field field, std::vector<std::string> choices) {
    field.choices = std::move(choices);
    return field;
}

Field live(Field field) {
    field.effect = FieldEffect::Live;
    return field;
}

/// `test` takes the RunConfig.
template <class Test>
Field when(Test test, Field field) {
    field.applies = [test](const RunConfig& config, int) { return test(config); };
    return field;
}

/// `test` takes a LaneConfig; a negative lane asks whether it holds for any.
template <class Test>
Field whenLane(Test test, Field field) {
    field.applies = [test](const RunConfig& config, int lane) {
        if (lane < 0) return std::any_of(config.lanes.begin(), config.lanes.end(), test);
        return test(config.lanes.at(static_cast<size_t>(lane)));
    };
    return field;
}

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
                                 "shuffles them; an incomplete last batch is left out."},
                                [](auto& c) -> auto& { return c.task.batch; }),
                            {1, 1e6, Bound::Closed, true})));
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
    };
}

std::vector<Field> optimizerFields() {
    const auto adam = [](const RunConfig& c) { return c.optimizer.kind != OptimizerKind::Sgd; };
    const auto sgd = [](const RunConfig& c) { return c.optimizer.kind == OptimizerKind::Sgd; };
    const auto constant = [](const RunConfig& c) {
        return c.schedule.kind == ScheduleKind::Constant;
    };
    return {
        oneOf(ofRun(
                  {"optimizer.kind", "Optimizer", "",
                   "adam adds weight decay to the gradient, adamw applies it to the weights "
                   "directly, sgd is gradient descent with momentum."},
                  [](auto& c) -> auto& { return c.optimizer.kind; }),
              namesUpTo(OptimizerKind::Sgd)),
        live(when(constant, in(ofRun(
                                   {"optimizer.lr", "Learning rate", "",
                                    "The size of a step. The one-cycle schedule replaces it by "
                                    "its own values."},
                                   [](auto& c) -> auto& { return c.optimizer.lr; }),
                               {0, 1000, Bound::Closed, true}))),
        when(adam, in(ofRun(
                          {"optimizer.beta1", "Beta 1", "",
                           "Decay of Adam's running mean of gradients: it remembers about "
                           "1 / (1 - beta1) steps."},
                          [](auto& c) -> auto& { return c.optimizer.beta1; }),
                      {0, 1, Bound::BelowMaximum})),
        when(adam, in(ofRun(
                          {"optimizer.beta2", "Beta 2", "",
                           "Decay of Adam's running mean of squared gradients: it remembers "
                           "about 1 / (1 - beta2) steps."},
                          [](auto& c) -> auto& { return c.optimizer.beta2; }),
                      {0, 1, Bound::BelowMaximum})),
        when(adam, in(ofRun(
                          {"optimizer.eps", "Epsilon", "",
                           "Keeps Adam from dividing by zero. The usual 1e-8 is zero in "
                           "float16, so pure fp16 training can divide by zero."},
                          [](auto& c) -> auto& { return c.optimizer.eps; }),
                      {0, 1, Bound::Closed, true})),
        in(ofRun(
               {"optimizer.weight_decay", "Weight decay", "",
                "Pulls weights towards zero at each step. A skipped step decays nothing."},
               [](auto& c) -> auto& { return c.optimizer.weightDecay; }),
           {0, 1000, Bound::Closed, true}),
        when(sgd, in(ofRun(
                         {"optimizer.momentum", "Momentum", "",
                          "The share of the last update that SGD keeps in the next one; 0 is "
                          "plain gradient descent."},
                         [](auto& c) -> auto& { return c.optimizer.momentum; }),
                     {0, 1, Bound::BelowMaximum})),
    };
}

std::vector<Field> scheduleFields() {
    const auto cycle = [](const RunConfig& c) { return c.schedule.kind == ScheduleKind::OneCycle; };
    return {
        oneOf(ofRun(
                  {"schedule.kind", "Schedule", "",
                   "constant keeps the learning rate; one-cycle warms up to a peak and then "
                   "anneals far below the start. It advances on skipped steps too."},
                  [](auto& c) -> auto& { return c.schedule.kind; }),
              namesUpTo(ScheduleKind::OneCycle)),
        when(cycle, in(ofRun(
                           {"schedule.max_lr", "Peak learning rate", "",
                            "The highest learning rate, reached at the end of the warm-up."},
                           [](auto& c) -> auto& { return c.schedule.maxLr; }),
                       {0, 1000, Bound::AboveMinimum, true})),
        // The table of rates lies on the device as float32: 40 MB at the maximum. Below two steps
        // there is no end that differs from the start.
        when(cycle, in(ofRun(
                           {"schedule.total_steps", "Cycle length", "steps",
                            "Steps of the whole cycle; after them the last learning rate stays."},
                           [](auto& c) -> auto& { return c.schedule.totalSteps; }),
                       {2, 1e7, Bound::Closed, true})),
        when(cycle, in(ofRun(
                           {"schedule.pct_start", "Warm-up share", "",
                            "The share of the cycle in which the learning rate rises."},
                           [](auto& c) -> auto& { return c.schedule.pctStart; }),
                       {0, 1})),
        when(cycle, in(ofRun(
                           {"schedule.div_factor", "Start divisor", "",
                            "The cycle starts at the peak divided by this."},
                           [](auto& c) -> auto& { return c.schedule.divFactor; }),
                       {1, 1e6, Bound::Closed, true})),
        when(cycle, in(ofRun(
                           {"schedule.final_div_factor", "End divisor", "",
                            "The cycle ends at its starting rate divided by this."},
                           [](auto& c) -> auto& { return c.schedule.finalDivFactor; }),
                       {1, 1e12, Bound::Closed, true})),
    };
}

std::vector<Field> runFields() {
    return {
        in(ofRun(
               {"run.seed", "Seed", "",
                "Starting weights, data and the order of batches come from it alone. The same "
                "seed gives the same bits on the same device."},
               [](auto& c) -> auto& { return c.seed; }),
           {0, kSeedMax}),
        live(in(ofRun(
                    {"run.steps", "Stop after", "steps",
                     "The run ends after this step. Skipped steps count: they took their batch "
                     "and their time."},
                    [](auto& c) -> auto& { return c.steps; }),
                {1, 1e9, Bound::Closed, true})),
        ofRun(
            {"run.device", "Device", "",
             "auto takes the first CUDA device and otherwise the CPU. The CPU rounds as a GPU "
             "stores, so its numerics are those of half precision, not its speed."},
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
    Field field =
        oneOf(ofLane(
                  {"precision", "Precision", "",
                   "fp32: all in float32. amp-fp16, amp-bf16: autocast to that type over "
                   "float32 master weights. fp16: everything in float16, without scaling. A new "
                   "precision also takes its usual scaler mode."},
                  [](auto& lane) -> auto& { return lane.precision; }),
              namesUpTo(Precision::Fp16));
    // A scaler mode left over from the old precision would silently scale bf16, or not scale fp16.
    field.set = [](RunConfig& config, int lane, const FieldValue& value) {
        LaneConfig& to = config.lanes.at(static_cast<size_t>(std::max(lane, 0)));
        const Precision before = to.precision;
        fromValue(to.precision, value);
        if (to.precision != before)
            to.scaler.rules.mode = defaultLane(to.precision).scaler.rules.mode;
    };
    return field;
}

std::vector<Field> scalerFields() {
    const auto amp = [](const LaneConfig& lane) {
        return lane.precision == Precision::AmpFp16 || lane.precision == Precision::AmpBf16;
    };
    const auto scales = [amp](const LaneConfig& lane) {
        return amp(lane) && lane.scaler.rules.mode != ScalerMode::Off;
    };
    const auto dynamic = [amp](const LaneConfig& lane) {
        return amp(lane) && lane.scaler.rules.mode == ScalerMode::Dynamic;
    };
    return {
        whenLane(amp,
                 oneOf(ofLane(
                           {"scaler.mode", "Loss scaling", "",
                            "dynamic adapts the scale and skips steps that overflow; "
                            "static keeps it and still skips; off multiplies by nothing and never "
                            "skips."},
                           [](auto& lane) -> auto& { return lane.scaler.rules.mode; }),
                       namesUpTo(ScalerMode::Off))),
        whenLane(scales,
                 in(ofLane(
                        {"scaler.init_scale", "First scale", "",
                         "The loss is multiplied by this before the backward pass, to lift small "
                         "gradients above float16's smallest values (about 6e-8). Powers "
                         "of two round nothing."},
                        [](auto& lane) -> auto& { return lane.scaler.initScale; }),
                    {0, kFloatMax, Bound::AboveMinimum, true})),
        live(whenLane(dynamic,
                      in(ofLane(
                             {"scaler.growth_factor", "Growth factor", "",
                              "The scale is multiplied by this after enough clean steps in a "
                              "row."},
                             [](auto& lane) -> auto& { return lane.scaler.rules.growthFactor; }),
                         {1, 1e6, Bound::AboveMinimum, true}))),
        live(whenLane(dynamic,
                      in(ofLane(
                             {"scaler.backoff_factor", "Backoff factor", "",
                              "The scale is multiplied by this after a step whose "
                              "gradients held inf or nan; that step is skipped."},
                             [](auto& lane) -> auto& { return lane.scaler.rules.backoffFactor; }),
                         {0, 1, Bound::Open}))),
        live(whenLane(dynamic,
                      in(ofLane(
                             {"scaler.growth_interval", "Growth interval", "steps",
                              "Clean steps in a row before the scale grows. Short "
                              "intervals probe the limit more often and skip more."},
                             [](auto& lane) -> auto& { return lane.scaler.rules.growthInterval; }),
                         {1, 1e9, Bound::Closed, true}))),
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
    add("Schedule", scheduleFields());
    add("Run", runFields());
    add("Precision and scaler", {precisionField()});
    add("Precision and scaler", scalerFields());
    return table;
}

} // namespace

std::span<const Field> fieldTable() {
    static const std::vector<Field> table = makeTable();
    return table;
}

} // namespace halfscope
