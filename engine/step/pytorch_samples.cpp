// Writes them as plain text with a few places to fill.
#include "engine/step/pytorch_samples.h"

#include "engine/data/targets.h"
#include "engine/data/test_split.h"
#include "engine/lang/python.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/step/pytorch_loss.h"
#include "engine/step/step_parts.h"

#include <span>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

constexpr const char* kWholeSet = R"(

def batches(x, target):
    """Every step sees all samples."""
    while True:
        yield x, target
)";

std::string drawnBatches(const DataConfig& data, bool varies) {
    const bool keep = data.lastBatch == LastBatch::Keep, shuffles = data.shuffle;
    return lang::filled(
        R"(

def batches(x, target):
    """{ORDER}; {LAST}."""
{GENERATOR}    while True:
        order = {INDICES}
        for first in range(0, {END}, BATCH):
            batch = order[first : first + BATCH]
            yield {X}, target[batch]
)",
        {{"X", varies ? "varied(x[batch])" : "x[batch]"},
         {"ORDER", shuffles ? "Each epoch in a new order" : "Each epoch in the order of the data"},
         {"LAST", keep ? "its last batch may be smaller" : "an incomplete last batch is left out"},
         {"GENERATOR", shuffles ? "    generator = torch.Generator().manual_seed(SEED)\n" : ""},
         {"INDICES",
          shuffles ? "torch.randperm(len(x), generator=generator)" : "torch.arange(len(x))"},
         {"END", keep ? "len(x)" : "len(x) - BATCH + 1"}});
}

constexpr const char* kLoaded = R"(

def loaded(number, path=None):
    """The tensors of a file: argument `number` or else `path`; None without either."""
    path = sys.argv[number] if len(sys.argv) > number else path
    if not path:
        return None
    from safetensors.torch import load_file

    return load_file(path)
)";

constexpr const char* kFed = R"(

def fed(number):
    """Halfscope's samples, from the file that an argument names; None without it."""
    feed = loaded(number)
    if feed is None:
        return None
    found = {name: f"{list(each.shape[1:])} of {each.dtype}" for name, each in feed.items()}
    if not found.keys() >= {{BASIC}}:
        sys.exit(f"{sys.argv[number]} is not a file of --samples-out")
    needed = {  # the shape of one sample or number, and its type
{FORMS}    }
    for name, form in needed.items():
        if found.get(name) != form:
            sys.exit(
                f"{sys.argv[number]} has the samples of another experiment: {name} is "
                f"{found.get(name, 'missing')} and would have to be {form}"
            )
    return feed
)";

/// Returns the shape of one sample of a batch.
Shape ofOne(const Shape& batch) { return Shape(std::span(batch.begin() + 1, batch.end())); }

std::string formOf(const Shape& sample, const char* type) {
    return sample.text() + " of torch." + type;
}
std::string formOf(const Shape& sample, bool whole) {
    return formOf(sample, whole ? "int64" : "float32");
}

/// Returns a line for each tensor that the program reads.
std::string formLines(const RunConfig& config, const BatchShape& batch) {
    namespace name = step_samples;
    const std::string x = formOf(ofOne(batch.x()), batch.indices > 0);
    const std::string target = formOf(ofOne(batch.target()), batch.labels);
    const std::string number = formOf({}, true);
    std::vector<std::pair<std::string, std::string>> forms{{name::kX, x},
                                                           {name::kTarget, target},
                                                           {name::kRows, number},
                                                           {name::kBatch, number},
                                                           {name::kEpoch, number}};
    if (judgesLanes(config)) {
        for (const char* part : {name::kValidation, name::kTest}) {
            forms.emplace_back(std::string(part) + name::kX, x);
            forms.emplace_back(std::string(part) + name::kTarget, target);
        }
        if (standardisesTarget(taskOf(config)))
            forms.emplace_back(name::kDeviation, formOf(ofOne(ofOne(batch.target())), "float64"));
    }
    if (config.model.adversary == Adversary::WganGp)
        forms.emplace_back(name::kShare, formOf({epochPlanOf(config).batch, 1}, false));
    if (balancesClasses(config.task.loss))
        forms.emplace_back(name::kClassWeights, formOf({}, false));
    std::string lines;
    for (const auto& [tensor, form] : forms)
        lines += "        " + lang::pythonText(tensor) + ": " + lang::pythonText(form) + ",\n";
    return lines;
}

} // namespace

bool judgesLanes(const RunConfig& config) {
    return canValidate(config.task) && partsOf(config).optimizers.size() == 1;
}

bool keepsTestShare(const RunConfig& config) { return judgesLanes(config) && tests(config.task); }

std::string pythonBatches(const RunConfig& config, bool varies) {
    const bool whole = infoOf(config.task.kind).wholeSet;
    return (whole ? std::string(kWholeSet) : drawnBatches(config.data, varies)) +
           lang::filled(R"(

def batches_of(feed):
    """The batches that Halfscope's steps took."""
    rows = feed["{ROWS}"].tolist()
    x, target = feed["{X}"].split(rows), feed["{TARGET}"].split(rows)
    for batch in feed["{BATCH}"].tolist():
        yield x[batch], target[batch]
)",
                        {{"ROWS", step_samples::kRows},
                         {"X", step_samples::kX},
                         {"TARGET", step_samples::kTarget},
                         {"BATCH", step_samples::kBatch}});
}

std::string pythonFiles(const RunConfig& config, const BatchShape& batch) {
    std::string basic;
    for (const char* name : {step_samples::kX, step_samples::kTarget, step_samples::kRows,
                             step_samples::kBatch, step_samples::kEpoch})
        basic += (basic.empty() ? "" : ", ") + lang::pythonText(name);
    return kLoaded + lang::filled(kFed, {{"BASIC", basic}, {"FORMS", formLines(config, batch)}});
}

std::string pythonParts(const RunConfig& config, const PythonData& samples) {
    if (!judgesLanes(config)) return "    data, *_ = (None,) if feed else samples()\n";
    const bool tested = keepsTestShare(config) || samples.tests;
    const auto pair = [](const std::string& part) {
        return lang::filled(
            "feed[\"{X}\"], feed[\"{TARGET}\"]",
            {{"X", part + step_samples::kX}, {"TARGET", part + step_samples::kTarget}});
    };
    std::string text = "    if feed:  # no sample is drawn or looked for\n"
                       "        data, validation = None, (" +
                       pair(step_samples::kValidation) + ")\n";
    if (tested) text += "        test = " + pair(step_samples::kTest) + "\n";
    if (standardisesTarget(taskOf(config)))
        text += lang::filled("        SCALE[\"deviation\"] = feed[\"{DEVIATION}\"]\n",
                             {{"DEVIATION", step_samples::kDeviation}});
    text += std::string("    else:\n        data, validation") + (samples.tests ? ", test" : "") +
            " = samples()\n";
    if (keepsTestShare(config)) text += "        validation, test = with_test(*validation)\n";
    return text;
}

} // namespace halfscope
