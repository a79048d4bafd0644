// Learning-rate schedules: constant and one cycle.
// Source of the one-cycle rule: the documentation of torch.optim.lr_scheduler.OneCycleLR.
#include "engine/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace halfscope {

namespace {

double cosineAnneal(double from, double to, double fraction) {
    return to + (from - to) / 2 * (std::cos(std::numbers::pi * fraction) + 1);
}

double oneCycle(const ScheduleConfig& schedule, int64_t tick) {
    const double initial = schedule.maxLr / schedule.divFactor;
    const double last = initial / schedule.finalDivFactor;
    const double total = static_cast<double>(schedule.totalSteps);
    // Both ends are iteration numbers that count from 0, and the peak may fall between two
    // iterations.
    const double peak = schedule.pctStart * total - 1;
    const double end = total - 1;
    const double at = std::min(static_cast<double>(tick), end);
    if (at <= peak) return cosineAnneal(initial, schedule.maxLr, peak > 0 ? at / peak : 1);
    return cosineAnneal(schedule.maxLr, last, (at - peak) / (end - peak));
}

} // namespace

double learningRate(const ScheduleConfig& schedule, double baseLr, int64_t tick) {
    return schedule.kind == ScheduleKind::Constant ? baseLr : oneCycle(schedule, tick);
}

int64_t scheduleLength(const ScheduleConfig& schedule) {
    return schedule.kind == ScheduleKind::Constant ? 1 : schedule.totalSteps;
}

std::vector<float> learningRateTable(const ScheduleConfig& schedule, double baseLr) {
    std::vector<float> table(static_cast<size_t>(scheduleLength(schedule)));
    for (size_t i = 0; i < table.size(); ++i)
        table[i] = static_cast<float>(learningRate(schedule, baseLr, static_cast<int64_t>(i)));
    return table;
}

} // namespace halfscope
