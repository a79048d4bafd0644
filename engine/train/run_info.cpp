// Copies what a run keeps out of an experiment.
#include "engine/train/run_info.h"

#include "engine/data/targets.h"
#include "engine/settings/layers.h"

#include <utility>

namespace halfscope {

RunInfo runInfo(Experiment& experiment, std::string program) {
    RunInfo info;
    info.config = experiment.config();
    info.recorded = experiment.recorded();
    info.device = experiment.device();
    info.cudaReason = experiment.cudaReason();
    for (int lane = 0; lane < experiment.lanes(); ++lane)
        info.memory.push_back(experiment.lane(lane).memory());
    info.program = std::move(program);
    info.compiler = compilerVersion();
    return info;
}

std::string compilerVersion() { return __VERSION__; }

std::vector<MetricId> extraMetrics(const Experiment& experiment) {
    std::vector<MetricId> extra;
    if (experiment.epochs().hasBatches()) extra = {metric::Epoch, metric::Batch};
    if (isAdversarial(experiment.config().model)) extra.push_back(metric::GeneratorLoss);
    if (experiment.validates()) extra.push_back(metric::ValidationLoss);
    if (experiment.measuresAccuracy() && experiment.validates()) extra.push_back(metric::Accuracy);
    if (experiment.measuresAccuracy()) extra.push_back(metric::TrainingAccuracy);
    if (experiment.validates() && measuresPerplexity(experiment.config().task))
        extra.push_back(metric::Perplexity);
    if (experiment.scalesTargets() && experiment.validates())
        extra.push_back(metric::ValidationError);
    if (experiment.tests()) {
        extra.push_back(metric::TestLoss);
        if (experiment.measuresAccuracy()) extra.push_back(metric::TestAccuracy);
        if (measuresPerplexity(experiment.config().task)) extra.push_back(metric::TestPerplexity);
        if (experiment.scalesTargets()) extra.push_back(metric::TestError);
    }
    if (experiment.config().watchWeights > 0) {
        extra.insert(extra.end(), {metric::UnchangedWeights, metric::UnchangedCopies});
        if (experiment.lanes() > 1 || !experiment.recorded().forks.empty())
            extra.push_back(metric::WeightDistance);
    }
    const std::vector<LaneConfig>& lanes = experiment.config().lanes;
    if (experiment.config().gradientError > 0 &&
        (!experiment.recorded().forks.empty() ||
         !std::all_of(lanes.begin(), lanes.end(), computesInFloat32)))
        extra.push_back(metric::GradientError);
    return extra;
}

} // namespace halfscope
