// Writes it as plain text with a few places to fill.
#include "engine/step/pytorch_evaluate.h"

#include "engine/data/dataset.h"
#include "engine/data/losses.h"
#include "engine/lang/python.h"
#include "engine/settings/run_task.h"

namespace halfscope {

namespace {

/// Returns what predictions are taken for; nothing where targets are no classes.
std::string takenClass(const RunConfig& config) {
    if (infoOf(config.task.loss.kind).ofLabels) return "prediction.argmax(-1)";
    return factsOf(taskOf(config)).sides ? "(prediction > 0)" : "";
}

} // namespace

const char* const kPythonPredict = R"(

def predict(model, x):
    """In batches as in training: a batch norm without running statistics takes theirs. A last
    sample alone goes into the batch before it."""
    alone = len(x) > 1 and len(x) % BATCH == 1
    firsts = list(range(0, len(x) - alone, BATCH))
    parts = zip(firsts, firsts[1:] + [len(x)])
    return torch.cat([forward(model, x[first:end]) for first, end in parts])
)";

std::string pythonEvaluate(const RunConfig& config, const std::string& predict,
                           const std::string& moved, const std::string& with, bool named) {
    std::string text = lang::filled(R"(

@torch.no_grad()
def evaluate(lane, model, x, target{NAME}):
    """What the network makes of samples that it was not trained on."""
    autocast = lane.get("autocast")
    x, target = {TO}, target.to(DEVICE)
    model.eval()
    {WITH}
        prediction = {PREDICT}(model, x)
        text = f"{WORD} loss {loss_of(prediction, target).item():.6g}"
)",
                                    {{"PREDICT", predict},
                                     {"TO", moved},
                                     {"WITH", with},
                                     {"NAME", named ? ", name=\"validation\"" : ""},
                                     {"WORD", named ? "{name}" : "validation"}});
    if (const std::string taken = takenClass(config); !taken.empty())
        text += "        right = (" + taken +
                " == target).float().mean().item()\n"
                "        text += f\", accuracy {100 * right:.2f} %\"\n";
    return text;
}

} // namespace halfscope
