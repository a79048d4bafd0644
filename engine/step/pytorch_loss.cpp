// Puts the call of torch.nn.functional together, and the weights of classes for it.
#include "engine/step/pytorch_loss.h"

#include "engine/data/class_weights.h"
#include "engine/data/losses.h"
#include "engine/lang/python.h"
#include "engine/step/pytorch_calls.h"
#include "engine/step/pytorch_samples.h"

namespace halfscope {

namespace {

std::string balancedFunction(int64_t classes) {
    return lang::filled(R"(

CLASS_WEIGHTS = torch.ones({CLASSES})  # until train() knows the samples


def balanced(target):
    """Samples / (classes * samples of the class); 1 for a class without samples."""
    counts = torch.bincount(target.flatten(), minlength={CLASSES}).double()
    return torch.where(counts > 0, counts.sum() / ({CLASSES} * counts), 1.0).float()
)",
                        {{"CLASSES", std::to_string(classes)}});
}

/// Returns the line of loss_of() that sets `weight`.
std::string weightLine(const LossSpec& loss) {
    if (balancesClasses(loss)) return "    weight = CLASS_WEIGHTS.to(prediction.device)\n";
    std::string numbers;
    for (const double number : classWeightsOf(loss.classWeights).numbers)
        numbers += (numbers.empty() ? "" : ", ") + lang::pythonReal(number);
    return "    weight = torch.tensor([" + numbers + "], device=prediction.device)\n";
}

/// Returns losses_of(real, made), which takes the critic's scores.
std::string lossesOfScores(Adversary adversary) {
    const std::string head = R"(

def losses_of(real, made):
    """The network's and the critic's, of the critic's scores."""
)";
    if (adversary == Adversary::WganGp)
        return head + "    return -made.mean(), made.mean() - real.mean()\n";
    return head +
           R"(    bce, yes, no = F.binary_cross_entropy_with_logits, torch.ones_like(real), torch.zeros_like(real)
    return bce(made, yes), bce(real, yes) + bce(made, no)
)";
}

} // namespace

bool balancesClasses(const LossSpec& loss) {
    return weighsClasses(loss) && classWeightsOf(loss.classWeights).balanced;
}

std::string pythonLoss(const RunConfig& config, const BatchShape& batch, bool casts) {
    if (isAdversarial(config.model)) return lossesOfScores(config.model.adversary);
    const LossSpec& loss = config.task.loss;
    const LossInfo& info = infoOf(loss.kind);
    const bool positions = batch.positions > 0, weighs = weighsClasses(loss);
    const std::string prediction =
        std::string("prediction") + (casts ? ".float()" : "") + (positions ? ".flatten(0, 1)" : "");
    PythonArguments arguments(prediction + (positions ? ", target.flatten()" : ", target"));
    if (info.hasDelta) arguments.add(info.torchDelta, loss.delta, 1);
    if (weighs) arguments.add("weight", std::string("weight"));
    if (info.hasSmoothing) arguments.add("label_smoothing", loss.labelSmoothing, 0);
    return (balancesClasses(loss) ? balancedFunction(batch.outputs) : std::string()) +
           "\n\ndef loss_of(prediction, target):\n" + (weighs ? weightLine(loss) : std::string()) +
           "    return F." + info.torchName + "(" + arguments.text() + ")\n";
}

std::string pythonBalancing(const RunConfig& config) {
    if (!balancesClasses(config.task.loss)) return {};
    return lang::filled("    global CLASS_WEIGHTS\n"
                        "    CLASS_WEIGHTS = feed[\"{WEIGHTS}\"] if feed else balanced(data[1])\n",
                        {{"WEIGHTS", step_samples::kClassWeights}});
}

} // namespace halfscope
