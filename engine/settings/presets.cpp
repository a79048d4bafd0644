// The experiments that come with the program, and lanes by name ("fp32,amp-fp16").
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/settings/field_parts.h"
#include "engine/settings/recipes.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

constexpr Phrase kExamples = phrase("Presets", "Examples");
constexpr Phrase kPrecisions = phrase("Presets", "Precisions");
constexpr Phrase kScaling = phrase("Presets", "Loss scaling");

Preset preset(const char* name, Phrase group, Phrase title, Phrase about, std::string_view lanes) {
    Preset made{name, group, title, about, defaultConfig()};
    made.config.title = title.text();
    made.config.lanes = parseLanes(lanes);
    return made;
}

/// The smallest network that paints every square in 300 steps; a few seconds on two cores.
Preset checkerboard() {
    return preset("checkerboard", kExamples, phrase("Presets", "Checkerboard"),
                  phrase("Presets", "A network paints a checkerboard from pixel coordinates; with "
                                    "AMP it should learn as well as in float32."),
                  "fp32,amp-fp16");
}

Preset checkerboardSeed() {
    Preset made = preset("checkerboard-seed", kExamples, phrase("Presets", "Checkerboard, large"),
                         phrase("Presets", "512 x 512 pixels and 256 units, large enough to "
                                           "benefit from tensor cores; a GPU is recommended."),
                         "fp32,amp-fp16");
    made.config.task.side = 512;
    made.config.model.width = 256;
    made.config.model.depth = 2;
    made.config.steps = 500;
    return made;
}

Preset bfloat16() {
    return preset("checkerboard-bf16", kPrecisions, phrase("Presets", "float16 or bfloat16"),
                  phrase("Presets",
                         "The checkerboard in both half formats: bfloat16 has float32's range and "
                         "needs no loss scale, float16 has 8 times its precision."),
                  "fp32,amp-fp16,amp-bf16");
}

Preset pureFp16() {
    return preset("pure-fp16", kPrecisions, phrase("Presets", "Why mixed"),
                  phrase("Presets",
                         "Everything in float16, next to AMP: without float32 master weights and "
                         "loss scaling, small updates vanish and Adam's epsilon becomes zero."),
                  "fp32,amp-fp16,fp16");
}

Preset apexLevels() {
    return preset(
        "apex-levels", kPrecisions, phrase("Presets", "Apex O0 to O3"),
        phrase("Presets",
               "The four levels of NVIDIA Apex: float32, casts around functions, a float16 network "
               "with master weights, and everything in float16 without scaling."),
        "apex-o0,apex-o1,apex-o2,apex-o3");
}

Preset policies() {
    return preset(
        "policies", kPrecisions, phrase("Presets", "Four ways to mix"),
        phrase("Presets",
               "TF32 products, PyTorch's lists for CUDA and for the CPU, and Keras's layer policy, "
               "next to float32: the same network with casts in different places."),
        "fp32,tf32,amp-fp16,torch-cpu-fp16,keras-mixed-float16");
}

/// The program that this one grew from: nn.Sequential(Linear(10, 20), ReLU(), Linear(20, 1)) on
/// 10,000 random samples, Adam at its usual rate, ten epochs of a loader with batch_size=64.
Preset regression() {
    Preset made = preset("regression", kExamples, phrase("Presets", "Regression"),
                         phrase("Presets", "A small network fits 10,000 random targets around 10 "
                                           "from random inputs: ten epochs in batches of 64."),
                         "fp32,amp-fp16");
    made.config.task.kind = TaskKind::Regression;
    made.config.task.samples = 10000;
    made.config.model = {.width = 20, .depth = 0, .norm = Norm::None};
    made.config.epochs = 10;
    return made;
}

/// PyTorch: nn.Sequential(Flatten(), Linear(784, 256), ReLU(), Linear(256, 10)), Adam at 1e-3,
/// batches of 64, inputs from 0 to 1.
Preset mnistMlp() {
    Preset made = preset("mnist-mlp", kExamples, phrase("Presets", "Digits"),
                         phrase("Presets", "784-256-10 learns handwritten digits in two epochs of "
                                           "Adam; 2,000 come with the program, and with a folder "
                                           "it takes all 60,000 of MNIST."),
                         "fp32,amp-fp16");
    made.config.task.kind = TaskKind::Mnist;
    made.config.task.loss.kind = LossKind::CrossEntropy;
    made.config.model = {.width = 256, .depth = 0, .norm = Norm::None};
    made.config.epochs = 2;
    return made;
}

Preset overflow() {
    Preset made = preset(
        "overflow", kScaling, phrase("Presets", "Overflow"),
        phrase("Presets", "A first scale of 2^24 and growth after 20 clean steps: watch steps "
                          "being skipped and the scale find its limit, again and again."),
        "fp32,amp-fp16");
    made.config.task.kind = TaskKind::Regression;
    made.config.model = {.width = 20, .depth = 1, .norm = Norm::None};
    made.config.steps = 300;
    made.config.pace = kWatchedPace;
    ScalerConfig& scaler = made.config.lanes[1].scaler;
    scaler.initScale = std::ldexp(1.0, 24);
    scaler.rules.growthInterval = 20;
    return made;
}

Preset staticScales() {
    Preset made =
        preset("static-scales", kScaling, phrase("Presets", "Scales held fixed"),
               phrase("Presets",
                      "AMP at fixed loss scales of 1/1024, 1 and 65536: at the smallest, most "
                      "gradients round to zero in float16, as those of deeper networks do at 1."),
               "amp-fp16,amp-fp16,amp-fp16");
    const double scales[] = {1.0 / 1024, 1, 65536};
    for (size_t i = 0; i < made.config.lanes.size(); ++i) {
        made.config.lanes[i].scaler.initScale = scales[i];
        made.config.lanes[i].scaler.rules.mode = ScalerMode::Static;
    }
    return made;
}

Preset picture() {
    Preset made = preset(
        "picture", kExamples, phrase("Presets", "Picture"),
        phrase(
            "Presets",
            "The network paints a colour picture: coloured rings, or a PNG or JPEG of your own."),
        "fp32,amp-fp16");
    made.config.task.kind = TaskKind::Image;
    made.config.steps = 500;
    return made;
}

} // namespace

std::vector<LaneConfig> parseLanes(std::string_view list) {
    const Field& field = *findField("precision");
    std::vector<LaneConfig> lanes;
    for (const std::string_view name : partsOf(list, ',')) {
        Precision precision{};
        field_parts::fromValue(precision, parseValue(field, name));
        lanes.push_back(defaultLane(precision));
    }
    return lanes;
}

std::span<const Preset> presets() {
    static const std::vector<Preset> all = [] {
        std::vector<Preset> list{checkerboard(), checkerboardSeed(), regression(),  mnistMlp(),
                                 picture(),      bfloat16(),         pureFp16(),    policies(),
                                 apexLevels(),   overflow(),         staticScales()};
        for (Preset& recipe : recipePresets())
            list.push_back(std::move(recipe));
        return list;
    }();
    return all;
}

const Preset& presetNamed(std::string_view name) {
    const auto all = presets();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [name](const Preset& each) { return each.name == name; });
    if (found != all.end()) return *found;
    std::vector<std::string> names;
    for (const Preset& each : all)
        names.push_back(each.name);
    throw InputError(phrase("Settings", "%1 is not a preset%2"), quotedText(name),
                     nearestHint(name, names));
}

} // namespace halfscope
