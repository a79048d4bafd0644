// A learning rate that falls when the validation loss stops improving, by the rules of
// torch.optim.lr_scheduler.ReduceLROnPlateau with mode "min" and threshold_mode "rel".
#pragma once

#include "engine/settings/run_config.h"

#include <cstdint>
#include <limits>

namespace halfscope {

/// What a lane remembers between validations.
struct Plateau {
    double best = std::numeric_limits<double>::infinity(); ///< the lowest loss that counted
    int64_t without = 0;  ///< validations without an improvement, num_bad_epochs in PyTorch
    int64_t cooldown = 0; ///< validations that still do not count
    double rate = 0;      ///< since it fell; 0 as long as the settings have it

    bool operator==(const Plateau&) const = default;
};

/// Takes the loss of a validation; NaN is no improvement. Returns whether the rates fall now.
bool fallsAfter(const ScheduleConfig&, double loss, Plateau&);
/// Returns the rate after a fall: schedule.gamma of it, at least schedule.min_lr. A change of at
/// most 1e-8 is not made, as in PyTorch.
double rateAfterFall(const ScheduleConfig&, double rate);

} // namespace halfscope
