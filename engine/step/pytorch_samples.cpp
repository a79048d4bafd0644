// Writes them as plain text with a few places to fill.
#include "engine/step/pytorch_samples.h"

#include "engine/data/dataset.h"
#include "engine/lang/python.h"

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

} // namespace

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

const char* const kPythonLoaded = R"(

def loaded(number, path=None):
    """The tensors of a file: argument `number` or else `path`; None without either."""
    path = sys.argv[number] if len(sys.argv) > number else path
    if not path:
        return None
    from safetensors.torch import load_file

    return load_file(path)
)";

} // namespace halfscope
