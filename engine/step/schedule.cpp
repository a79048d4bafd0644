// Learning-rate schedules. Sources: the documentation of the classes of torch.optim.lr_scheduler
// that schedule.h names.
#include "engine/step/schedule.h"

#include "engine/core/error.h"
#include "engine/settings/run_length.h"
#include "engine/step/step_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace halfscope {

namespace {

/// A stretch of a cycle. It ends at an iteration, counted from 0, which may fall between two
/// iterations.
struct CyclePhase {
    double end = 0;
    double fromLr = 0, toLr = 0;
    double fromMomentum = 0, toMomentum = 0;
};
struct CyclePhases {
    std::array<CyclePhase, 3> list;
    size_t count = 2;
};

CyclePhases phasesOf(const ScheduleConfig& s) {
    const double initial = s.maxLr / s.divFactor;
    const double last = initial / s.finalDivFactor;
    const double total = static_cast<double>(s.totalSteps);
    const double peak = s.pctStart * total - 1;
    const double low = s.baseMomentum, high = s.maxMomentum;
    const CyclePhase rise{peak, initial, s.maxLr, high, low};
    if (!s.threePhase) return {{rise, {total - 1, s.maxLr, last, low, high}, {}}, 2};
    const CyclePhase fall{2 * s.pctStart * total - 2, s.maxLr, initial, low, high};
    return {{rise, fall, {total - 1, initial, last, high, high}}, 3};
}

double annealed(Anneal anneal, double from, double to, double fraction) {
    if (anneal == Anneal::Linear) return from + (to - from) * fraction;
    return to + (from - to) / 2 * (std::cos(std::numbers::pi * fraction) + 1);
}

enum class Cycled : uint8_t { LearningRate, Momentum };

double oneCycle(const ScheduleConfig& s, Cycled what, int64_t tick) {
    const CyclePhases phases = phasesOf(s);
    const double at = static_cast<double>(std::min(tick, s.totalSteps - 1));
    double start = 0;
    for (size_t i = 0; i < phases.count; ++i) {
        const CyclePhase& phase = phases.list[i];
        const bool lr = what == Cycled::LearningRate;
        const double from = lr ? phase.fromLr : phase.fromMomentum;
        const double to = lr ? phase.toLr : phase.toMomentum;
        if (at <= phase.end || i + 1 == phases.count) {
            const double length = phase.end - start;
            return annealed(s.anneal, from, to, length > 0 ? (at - start) / length : 1);
        }
        start = phase.end;
    }
    failInvariant("a cycle has a last phase");
}

/// Rises to the rate itself, which comes first after the warm-up.
double warmup(double steps, double baseLr, double at) {
    const double first = 1 / steps;
    return baseLr * (first + (1 - first) * at / steps);
}

double cosine(const ScheduleConfig& s, double baseLr, int64_t tick) {
    const double total = static_cast<double>(s.totalSteps);
    const auto at = static_cast<double>(tick % (2 * s.totalSteps)); // exact however long the run is
    return s.minLr + (baseLr - s.minLr) * (1 + std::cos(std::numbers::pi * at / total)) / 2;
}

double linear(const ScheduleConfig& s, double baseLr, double at) {
    if (s.totalSteps == 0) return baseLr * s.startFactor; // as LinearLR does
    const double total = static_cast<double>(s.totalSteps);
    return baseLr * (s.startFactor + (s.endFactor - s.startFactor) * at / total);
}

/// Returns the power of gamma by which the rate has fallen.
int64_t passed(const std::vector<int64_t>& milestones, int64_t tick) {
    return std::upper_bound(milestones.begin(), milestones.end(), tick) - milestones.begin();
}

/// Falls in a straight line, or as a power of it, to 0.
double polynomial(const ScheduleConfig& s, double baseLr, double at) {
    return baseLr * std::pow(1 - at / static_cast<double>(s.totalSteps), s.power);
}

double warmRestarts(const ScheduleConfig& s, double baseLr, int64_t tick) {
    int64_t period = s.period;
    if (s.periodFactor == 1) tick %= period;
    for (; tick >= period; period *= s.periodFactor)
        tick -= period;
    const double share = static_cast<double>(tick) / static_cast<double>(period);
    return s.minLr + (baseLr - s.minLr) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

/// Returns the rate of a schedule that has no warm-up, or none left.
double ownCourse(const ScheduleConfig& s, double baseLr, int64_t tick) {
    const int64_t last = std::min(tick, s.totalSteps);
    const auto at = static_cast<double>(last);
    switch (s.kind) {
    case ScheduleKind::Constant:
    case ScheduleKind::Plateau: return baseLr; // it falls by events, see plateau.h
    case ScheduleKind::OneCycle: return oneCycle(s, Cycled::LearningRate, tick);
    case ScheduleKind::Step:
        return baseLr * std::pow(s.gamma, static_cast<double>(last / s.stepSize));
    case ScheduleKind::Exponential: return baseLr * std::pow(s.gamma, at);
    case ScheduleKind::Cosine: return cosine(s, baseLr, tick);
    case ScheduleKind::Linear: return linear(s, baseLr, at);
    case ScheduleKind::MultiStep:
        return baseLr * std::pow(s.gamma, static_cast<double>(passed(s.milestones, last)));
    case ScheduleKind::Polynomial: return polynomial(s, baseLr, at);
    case ScheduleKind::WarmRestarts: return warmRestarts(s, baseLr, last);
    }
    failInvariant("unknown schedule");
}

} // namespace

int64_t warmupOf(const ScheduleConfig& s) { return warmsUp(s) ? s.warmupSteps : 0; }

double learningRate(const ScheduleConfig& s, double baseLr, int64_t tick) {
    const int64_t steps = warmupOf(s);
    if (tick < steps) return warmup(static_cast<double>(steps), baseLr, static_cast<double>(tick));
    ScheduleConfig rest = s;
    rest.totalSteps -= steps;
    return ownCourse(rest, baseLr, tick - steps);
}

double cycledMomentum(const ScheduleConfig& s, int64_t tick) {
    return oneCycle(s, Cycled::Momentum, tick);
}

int64_t scheduleLength(const ScheduleConfig& s) {
    switch (s.kind) {
    case ScheduleKind::Constant:
    case ScheduleKind::Plateau: return 1;
    case ScheduleKind::OneCycle: return s.totalSteps;
    case ScheduleKind::Step:
    case ScheduleKind::Exponential:
    case ScheduleKind::Cosine:
    case ScheduleKind::Linear:
    case ScheduleKind::MultiStep:
    case ScheduleKind::Polynomial:
    case ScheduleKind::WarmRestarts:
        return s.totalSteps + 1; // with the rate after all steps, which is
                                 // the last one
    }
    failInvariant("unknown schedule");
}

std::vector<float> learningRateTable(const ScheduleConfig& schedule, double baseLr) {
    std::vector<float> table(static_cast<size_t>(scheduleLength(schedule)));
    for (size_t i = 0; i < table.size(); ++i)
        table[i] = static_cast<float>(learningRate(schedule, baseLr, static_cast<int64_t>(i)));
    return table;
}

std::map<std::string, std::vector<float>> scheduleTables(const RunConfig& config) {
    const ScheduleConfig schedule = scheduleOf(config);
    std::map<std::string, std::vector<float>> tables;
    for (const OptimizerPart& optimizer : partsOf(config).optimizers)
        tables[optimizer.table] = learningRateTable(schedule, optimizer.config.lr);
    if (cyclesMomentum(schedule)) {
        auto& table = tables["schedule.momentum_complement"];
        for (int64_t i = 0; i < scheduleLength(schedule); ++i)
            table.push_back(static_cast<float>(1 - cycledMomentum(schedule, i)));
    }
    return tables;
}

} // namespace halfscope
