// Source: the documentation of torch.optim.lr_scheduler.ReduceLROnPlateau.
#include "engine/step/plateau.h"

#include <algorithm>

namespace halfscope {

bool fallsAfter(const ScheduleConfig& schedule, double loss, Plateau& plateau) {
    if (loss < plateau.best * (1 - schedule.threshold)) {
        plateau.best = loss;
        plateau.without = 0;
    } else {
        ++plateau.without;
    }
    if (plateau.cooldown > 0) {
        --plateau.cooldown;
        plateau.without = 0;
    }
    if (plateau.without <= schedule.patience) return false;
    plateau.cooldown = schedule.cooldown;
    plateau.without = 0;
    return true;
}

double rateAfterFall(const ScheduleConfig& schedule, double rate) {
    constexpr double kLeastChange = 1e-8;
    const double lower = std::max(rate * schedule.gamma, schedule.minLr);
    return rate - lower > kLeastChange ? lower : rate;
}

} // namespace halfscope
