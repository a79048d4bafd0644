// The names, by what the critic measures.
#include "engine/runs/shown_loss.h"

namespace halfscope {

Metric shownLoss(const RunConfig& config) {
    Metric loss = knownMetrics()[metric::Loss];
    switch (config.model.adversary) {
    case Adversary::None: break;
    case Adversary::Gan:
        loss.title = loss.shortTitle = phrase("Metrics", "Critic's loss");
        loss.about = phrase("Metrics", "The critic's loss on the batch of each step, before "
                                       "scaling. It need not fall: the other network learns to "
                                       "raise it.");
        break;
    case Adversary::WganGp:
        loss.title = loss.shortTitle = phrase("Metrics", "Critic's distance");
        loss.axis = PlotAxis::Linear; // it may be below zero, and so may the generator's loss
        loss.about = phrase("Metrics", "Minus the critic's loss on the batch of each step, before "
                                       "scaling: the distance between predictions and targets "
                                       "that the critic measures. It need not fall: the critic "
                                       "learns to raise it, and the other network to lower it.");
        break;
    }
    return loss;
}

Message shownLossInWords(const RunConfig& config) {
    switch (config.model.adversary) {
    case Adversary::None: break;
    case Adversary::Gan: return phrase("Metrics", "the critic's loss");
    case Adversary::WganGp: return phrase("Metrics", "the critic's distance");
    }
    return phrase("Metrics", "the loss");
}

} // namespace halfscope
