// The experiments that come with the program.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/data/public_data.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/painters.h"
#include "engine/settings/recipes.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

constexpr Phrase kPrecisions = phrase("Presets", "Precisions");
constexpr Phrase kScaling = phrase("Presets", "Loss scaling");

/// In steps: watching takes little beside a step of the checkerboard.
constexpr int64_t kOftenWatched = 5;
/// Likewise; each time takes two more passes.
constexpr int64_t kOftenMeasured = 10;

/// The smallest network that paints every square in 300 steps; takes a few seconds on two cores.
Preset checkerboard() {
    return preset("checkerboard", kExamples, phrase("Presets", "Checkerboard"),
                  phrase("Presets", "A network paints a checkerboard from pixel coordinates; with "
                                    "AMP it should learn as well as in FP32."),
                  "fp32,amp-fp16");
}

/// The program takes the pixels as one image. As rows, they go through products of matrices, which
/// have faster ways on a GPU than convolutions.
Preset checkerboardSeed() {
    Preset made =
        preset("checkerboard-seed", kExamples, phrase("Presets", "Checkerboard, large"),
               phrase("Presets", "512 x 512 pixels, as a PyTorch program of 1 x 1 nn.Conv2d, 256 "
                                 "channels wide, and nn.BatchNorm2d paints them. nn.Linear over "
                                 "pixels computes the same in FP32; in AMP it adds its bias before "
                                 "it rounds. A GPU is recommended."),
               "fp32,amp-fp16");
    made.config.task.side = 512;
    made.config.model.width = 256;
    made.config.model.depth = 2;
    made.config.steps = 500;
    return made;
}

Preset bfloat16() {
    Preset made = preset(
        "checkerboard-bf16", kPrecisions, phrase("Presets", "fp16 or bf16"),
        phrase("Presets", "The checkerboard in both half formats: bf16 has the range of FP32 and "
                          "needs no loss scale, fp16 has 8 times its precision."),
        "fp32,amp-fp16,amp-bf16");
    made.formerTitle = "float16 or bfloat16";
    return made;
}

Preset pureFp16() {
    Preset made =
        preset("pure-fp16", kPrecisions, phrase("Presets", "Why mixed"),
               phrase("Presets",
                      "Everything in fp16, next to AMP: Adam's epsilon rounds to zero, and step 2 "
                      "divides by it. With an epsilon of 1e-4 the lane learns, but many updates "
                      "are too small for its weights, and Adam's squares round to zero, which "
                      "makes others too large."),
               "fp32,amp-fp16,fp16");
    made.config.watchWeights = kOftenWatched;
    return made;
}

/// At a tenth of the checkerboard's usual rate, most updates of Adam are less than half of the
/// distance between two bfloat16 numbers.
Preset masterWeights() {
    Preset made = preset(
        "master-weights", kPrecisions, phrase("Presets", "Why FP32 weights"),
        phrase("Presets",
               "Weights in bf16 lose small updates: most of them round away, and the lane learns "
               "slowly. AMP computes in bf16, too, but keeps its weights in FP32, and learns "
               "like FP32."),
        "fp32,amp-bf16,bf16");
    made.formerTitle = "Why float32 weights";
    made.config.optimizer.lr = 1e-4;
    made.config.watchWeights = kOftenWatched;
    return made;
}

/// E4M3 can hardly tell the coordinates of pixels apart: it has only 8 numbers from 0.5 to 1.
Preset fp8() {
    Preset made = preset(
        "fp8", kPrecisions, phrase("Presets", "8 bits (FP8)"),
        phrase(
            "Presets",
            "Eight bits hold few digits: the pixels' coordinates are rounded to a coarse "
            "grid, and the picture breaks up into blocks. With the first layer in bf16, the others "
            "learn in 8 bits nearly as well as in FP32."),
        "fp32,fp8,fp8");
    made.config.lanes[2].layers = "layer 0=bfloat16";
    made.config.gradientError = kOftenMeasured;
    return made;
}

Preset apexLevels() {
    return preset(
        "apex-levels", kPrecisions, phrase("Presets", "Apex O0 to O3"),
        phrase("Presets",
               "The four levels of NVIDIA Apex: FP32, casts around functions, an fp16 network "
               "with master weights, and everything in fp16 without scaling."),
        "apex-o0,apex-o1,apex-o2,apex-o3");
}

Preset policies() {
    return preset(
        "policies", kPrecisions, phrase("Presets", "Four ways to mix"),
        phrase("Presets",
               "TF32 products, PyTorch's lists for CUDA and for the CPU, and Keras's layer policy, "
               "next to FP32. PyTorch's two lists give this network the same bits; with layer "
               "norm they differ."),
        "fp32,tf32,amp-fp16,torch-cpu-fp16,keras-mixed-float16");
}

/// The program that this one grew out of: nn.Sequential(Linear(10, 20), ReLU(), Linear(20, 1)) on
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
    Preset made =
        preset("mnist-mlp", kExamples, phrase("Presets", "Digits"),
               phrase("Presets", "784-256-10 learns handwritten digits with cross entropy in "
                                 "two epochs of Adam at 0.001, 64 a batch; 2,000 of them come with "
                                 "the program, and with "
                                 "a folder it takes all 60,000 of MNIST."),
               "fp32,amp-fp16");
    made.config.task.kind = TaskKind::Mnist;
    made.config.task.loss.kind = LossKind::CrossEntropy;
    made.config.model = {.width = 256, .depth = 0, .norm = Norm::None};
    made.config.epochs = 2;
    return made;
}

/// Adam and torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.01, epochs=10,
/// steps_per_epoch=len(loader), cycle_momentum=False) around the network of regression().
Preset oneCycle() {
    Preset made = regression();
    made.name = "one-cycle";
    made.title = phrase("Presets", "One cycle, 10 epochs");
    made.config.title = made.title.text();
    made.about =
        phrase("Presets", "PyTorch's OneCycleLR with Adam, as long as the run: ten epochs of 157 "
                          "steps, up to 0.01 and down to nearly nothing, without cycle_momentum.");
    made.config.schedule.kind = ScheduleKind::OneCycle;
    made.config.schedule.maxLr = 1e-2;
    return made;
}

/// One Linear layer on the terms of a curve, so that its weights are the coefficients.
Preset fitted(const char* name, Phrase title, Phrase about, TaskKind kind, const char* layer) {
    Preset made = preset(name, kExamples, title, about, "fp32,amp-fp16");
    made.config.task.kind = kind;
    made.config.model.layers = layer;
    return made;
}

/// There are as many samples as the steps take, so that every step sees new ones.
Preset curveFit() {
    Preset made =
        fitted("curve-fit", phrase("Presets", "Fit a curve"),
               phrase("Presets", "nn.Linear(3, 1, bias=False) learns y = 5x² + 3 from x², x and 1 "
                                 "in 1,000 steps of Adam at 0.1, each on 100 new points."),
               TaskKind::Curve, "nn.Linear(3, 1, bias=False)");
    made.config.task.samples = 100000;
    made.config.task.batch = 100;
    made.config.optimizer.lr = 0.1;
    made.config.steps = 1000;
    made.config.pace = 4 * kWatchedPace;
    return made;
}

/// Every step sees all points.
Preset lineFit() {
    Preset made =
        fitted("line-fit", phrase("Presets", "Fit a line"),
               phrase("Presets",
                      "Linear regression, the usual first program in PyTorch: nn.Linear(1, 1) "
                      "learns y = 5x + 3 from 100 noisy points in 10,000 steps of SGD at 0.01."),
               TaskKind::Line, "nn.Linear(1, 1)");
    made.config.task.samples = 100;
    made.config.task.batch = 100;
    made.config.optimizer.kind = OptimizerKind::Sgd;
    made.config.optimizer.momentum = 0;
    made.config.optimizer.lr = 0.01;
    made.config.steps = 10000;
    made.config.pace = 40 * kWatchedPace;
    return made;
}

Preset twoClasses(const char* name, Phrase title, Phrase about, TaskKind kind,
                  const ModelConfig& model) {
    Preset made = preset(name, kExamples, title, about, "fp32,amp-fp16");
    made.config.task.kind = kind;
    made.config.task.loss.kind = LossKind::CrossEntropy;
    made.config.model = model;
    made.config.optimizer.lr = 1e-2;
    return made;
}

/// scikit-learn: make_moons(n_samples=400, noise=0.15).
Preset moons() {
    Preset made = twoClasses(
        "moons", phrase("Presets", "Two moons"),
        phrase("Presets", "A small network separates scikit-learn's two half moons; a map of the "
                          "plane shows which class it expects where."),
        TaskKind::Moons,
        {.width = 16, .depth = 1, .norm = Norm::None, .activation = Activation::Tanh});
    made.config.task.samples = 400;
    made.config.task.noise = 0.15;
    made.config.task.validation = 0.25;
    made.config.epochs = 100;
    made.config.pace = 2 * kWatchedPace;
    return made;
}

/// TensorFlow Playground's hardest data set: 500 points, half of them for validation.
Preset spirals() {
    Preset made = twoClasses(
        "spirals", phrase("Presets", "Two spirals"),
        phrase("Presets", "The hardest set of TensorFlow Playground: a network with three hidden "
                          "layers winds the border of two classes around their spirals."),
        TaskKind::Spirals, {.width = 32, .depth = 2, .norm = Norm::None});
    made.config.task.samples = 500;
    made.config.task.validation = 0.5;
    made.config.task.batch = 50;
    made.config.epochs = 300;
    made.config.pace = 6 * kWatchedPace;
    return made;
}

/// LeNet-5 (LeCun and others, 1998) with ReLU and maximum pooling, as PyTorch's tutorials write it.
Preset mnistCnn() {
    Preset made = mnistMlp();
    made.name = "mnist-cnn";
    made.title = phrase("Presets", "Digits, convolutions");
    made.config.title = made.title.text();
    made.about = phrase("Presets", "LeNet-5 with ReLU and maximum pooling, as in PyTorch's "
                                   "tutorials, but with Adam: two convolutions learn the same "
                                   "digits, the 2,000 of the sample in twenty epochs.");
    made.config.model = {};
    made.config.model.layers = R"(nn.Sequential(
    nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(400, 120), nn.ReLU(),
    nn.Linear(120, 84), nn.ReLU(),
    nn.Linear(84, 10)))";
    made.config.epochs = 20;
    return made;
}

/// Uses the digits when the folder of Fashion-MNIST is empty, so that the preset always runs.
Preset fashionCnn(const std::string& folder) {
    Preset made = mnistCnn();
    made.name = "fashion-cnn";
    made.config.task.path = folder;
    made.title = phrase("Presets", "Clothes, convolutions");
    if (folder.empty()) {
        made.otherTitle = phrase("Presets", "Clothes (now digits)");
        made.otherAbout =
            phrase("Presets", "Convolutions learn the digits that come with the program; Get data "
                              "in the window, or halfscope-cli get fashion-mnist, brings "
                              "Fashion-MNIST.");
    }
    made.config.title = made.titleHere().text();
    made.about =
        phrase("Presets", "Convolutions with batch norm and dropout learn Fashion-MNIST, where "
                          "halfscope-cli get fashion-mnist has brought it, else the digits that "
                          "come with the program.");
    made.config.model.layers = R"(nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Dropout(0.25),
    nn.Linear(1568, 128), nn.ReLU(),
    nn.Linear(128, 10)))";
    made.config.epochs = 1;
    return made;
}

/// He et al., "Deep Residual Learning for Image Recognition" (2015), section 4.2: the network for
/// small pictures with one block for each of its three sizes, and projections as shortcuts; here it
/// follows a pooling, as in section 4.1. There it has 3 to 18 blocks a size, and SGD at 0.1.
Preset resnetSmall() {
    Preset made = fashionCnn({});
    made.name = "resnet-small";
    made.title = phrase("Presets", "Residual blocks");
    made.config.title = made.title.text();
    made.about = phrase(
        "Presets",
        "A small ResNet (He and others, 2015), with Adam: three residual blocks with batch norm "
        "learn the digits that come with the program; with a folder, MNIST or Fashion-MNIST.");
    made.config.task.path.clear();
    made.otherTitle = made.otherAbout = {};
    made.config.model = {};
    made.config.model.layers = R"(nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    Residual(
        nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)),
    nn.ReLU(),
    Residual(
        nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32),
        shortcut=nn.Sequential(nn.Conv2d(16, 32, 1, stride=2, bias=False), nn.BatchNorm2d(32))),
    nn.ReLU(),
    Residual(
        nn.Conv2d(32, 64, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.Conv2d(64, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64),
        shortcut=nn.Sequential(nn.Conv2d(32, 64, 1, stride=2, bias=False), nn.BatchNorm2d(64))),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    nn.Linear(64, 10)))";
    made.config.epochs = 10;
    return made;
}

/// The text is this program's licence. The network has two layers like those of GPT-2, norms first;
/// it sees a fixed number of characters and so needs no mask.
Preset transformerTiny() {
    Preset made = preset("transformer-tiny", kExamples, phrase("Presets", "Transformer"),
                         phrase("Presets",
                                "Embedding, attention and layer norm learn the next character of a "
                                "text: the GNU General Public License, version 3, or a .txt file "
                                "dropped on the window."),
                         "fp32,amp-fp16");
    made.config.task.kind = TaskKind::Text;
    made.config.task.loss.kind = LossKind::CrossEntropy;
    made.config.model.layers = encoderLayers(factsOf(made.config.task));
    made.config.epochs = 2;
    return made;
}

/// Returns a language model of the same size. It predicts every character of a sample from those
/// before it; the mask of its layers hides the others.
Preset transformerLm() {
    Preset made =
        preset("transformer-lm", kExamples, phrase("Presets", "Language model"),
               phrase("Presets", "Two causal layers learn to predict every character of the same "
                                 "text from those before it, and each lane writes a text of its "
                                 "own: watch where they part."),
               "fp32,amp-fp16");
    made.config.task.kind = TaskKind::Text;
    made.config.task.loss.kind = LossKind::CrossEntropy;
    made.config.task.predicted = Predicted::Every;
    made.config.task.context = 64;
    made.config.task.batch = 16;
    made.config.model.layers = encoderLayers(factsOf(made.config.task));
    made.config.optimizer.lr = 2e-3;
    made.config.epochs = 15; // more epochs do not improve the end of the text, which is held back
    return made;
}

/// PyTorch's tutorial "Classifying Names with a Character-Level RNN" tells the languages of names;
/// here they are words, and an encoder takes the place of the RNN.
Preset languages() {
    Preset made =
        preset("languages", kExamples, phrase("Presets", "Languages"),
               phrase("Presets", "A small transformer tells from the letters of a word which of "
                                 "six languages it belongs to. It gets about two in three new "
                                 "words right; guessing gets one in six."),
               "fp32,amp-fp16");
    TaskConfig& task = made.config.task;
    task.kind = TaskKind::TextClasses;
    task.loss.kind = LossKind::CrossEntropy;
    task.tokens = Tokens::Characters;
    task.context = 12; // letters of the longest words
    made.config.model.layers = encoderLayers(factsOf(task));
    made.config.epochs = 20; // with more, the network learns the words by heart
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
    Preset made = preset(
        "static-scales", kScaling, phrase("Presets", "Scales held fixed"),
        phrase("Presets", "AMP held at loss scales of 1/1024, 1 and 65536: at the smallest, most "
                          "gradients round to zero in fp16, as in deeper networks at 1; at the "
                          "largest, every step is skipped."),
        "amp-fp16,amp-fp16,amp-fp16");
    const double scales[] = {1.0 / 1024, 1, 65536};
    for (size_t i = 0; i < made.config.lanes.size(); ++i) {
        made.config.lanes[i].scaler.initScale = scales[i];
        made.config.lanes[i].scaler.rules.mode = ScalerMode::Static;
    }
    made.config.gradientError = kOftenMeasured;
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

/// Fashion-MNIST is in a folder, or not here when that is empty.
std::vector<Preset> presetsWith(const std::string& fashion) {
    std::vector<Preset> list{checkerboard(),
                             checkerboardSeed(),
                             regression(),
                             oneCycle(),
                             curveFit(),
                             lineFit(),
                             moons(),
                             spirals(),
                             mnistMlp(),
                             mnistCnn(),
                             fashionCnn(fashion),
                             resnetSmall(),
                             transformerTiny(),
                             transformerLm(),
                             languages(),
                             picture(),
                             siren(),
                             fourier(),
                             gan(),
                             wganGp(),
                             bfloat16(),
                             pureFp16(),
                             masterWeights(),
                             fp8(),
                             policies(),
                             apexLevels(),
                             overflow(),
                             staticScales()};
    for (Preset& recipe : recipePresets())
        list.push_back(std::move(recipe));
    return list;
}

} // namespace

std::span<const Preset> presets() {
    const std::string fashion = localFolder(publicDataNamed("fashion-mnist"));
    static const std::vector<Preset> without = presetsWith({});
    if (fashion.empty()) return without;
    static const std::vector<Preset> with = presetsWith(fashion);
    return with;
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
