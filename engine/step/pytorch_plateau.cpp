// Writes them. PyTorch's scheduler counts as ours does, so nothing but the calls is needed.
#include "engine/step/pytorch_plateau.h"

#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/lang/python.h"
#include "engine/step/pytorch_samples.h"

namespace halfscope {

std::string pythonMeanLoss(const std::string& predict, const std::string& moved,
                           const std::string& with) {
    return lang::filled(R"(

@torch.no_grad()
def mean_loss(lane, model, x, target):
    """The loss on samples that the network is not trained on."""
    autocast = lane.get("autocast")
    x, target = {TO}, target.to(DEVICE)
    model.eval()
    {WITH}
        loss = loss_of({PREDICT}(model, x), target).item()
    model.train()
    return loss
)",
                        {{"PREDICT", predict}, {"TO", moved}, {"WITH", with}});
}

std::string pythonEpoch(const RunConfig& config) {
    if (config.validation.epochs == 0) return {};
    const bool keep = config.data.lastBatch == LastBatch::Keep;
    return lang::filled("    epoch = int(feed[\"{EPOCH}\"]) if feed else {STEPS}\n",
                        {{"EPOCH", step_samples::kEpoch},
                         {"STEPS", infoOf(config.task.kind).wholeSet ? "1"
                                   : keep                            ? "-(-len(data[0]) // BATCH)"
                                                                     : "len(data[0]) // BATCH"}});
}

std::string pythonFollow(const RunConfig& config) {
    const ValidationConfig& when = config.validation;
    std::string due;
    if (when.epochs > 0) due = "step % (" + numberText(when.epochs) + " * epoch) == 0";
    if (when.steps > 0)
        due +=
            std::string(due.empty() ? "" : " or ") + "step % " + numberText(when.steps) + " == 0";
    return lang::filled(R"(        if validation and step > 0 and ({DUE}):
            scheduler.step(mean_loss(lane, model, *validation))
)",
                        {{"DUE", due}});
}

} // namespace halfscope
