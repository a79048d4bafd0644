// Facts that follow from settings and columns.
#include "ui/models/run_facts.h"

#include "engine/data/dataset.h"
#include "engine/data/known_facts.h"
#include "engine/data/targets.h"
#include "engine/runs/shown_loss.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "engine/settings/layers.h"
#include "engine/settings/run_length.h"
#include "ui/models/lane_titles.h"
#include "ui/models/loss_words.h"
#include "ui/models/safe_text.h"
#include "ui/models/shown_numbers.h"
#include "ui/models/translated.h"

#include <QCoreApplication>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace halfscope {
namespace {

QString epochText(int64_t epoch, int64_t epochs, int64_t batch, int64_t batches) {
    return QCoreApplication::translate("RunFacts", "epoch %1 of %2, batch %3 of %4")
        .arg(countText(epoch), countText(epochs), countText(batch), countText(batches));
}

/// Whether the lane had a loss scale that was switched off since: without one, the column has ones.
bool hadScale(const RunSnapshot& run, int lane) {
    const Column& scales = run.column(lane, metric::Scale);
    if (scales.empty()) return false;
    const Extremes all = scales.extremes(scales.firstStep(), scales.lastStep());
    return all.finite > 0 && (all.lowest.value != 1 || all.highest.value != 1);
}

/// Whether the run tells accuracies or, before it was judged, will tell them. Of two classes as one
/// number, only the data tell that.
bool measuresAccuracy(const RunSnapshot& run) {
    const RunConfig& config = run.info().config;
    if (targetsAreClasses(config.task) || run.has(metric::Accuracy)) return true;
    if (config.task.loss.kind != LossKind::BceWithLogits || run.has(metric::ValidationLoss))
        return false;
    const std::optional<DataFacts> facts = knownFactsOf(config);
    return facts && facts->sides;
}

/// Whether layers of the lane compute with copies of its weights in fewer bits.
bool hasCopies(const RunConfig& config, int lane) {
    if (lane >= static_cast<int>(config.lanes.size())) return false;
    const LaneConfig& own = config.lanes[static_cast<size_t>(lane)];
    return !storesHalf(own) && (laneIsHalf(config, lane) || !own.layers.empty());
}

/// Whether the run will measure this between steps that it has not reached yet: its plot is there
/// from the start, so that the others need not make room for it later.
bool isAwaited(const RunSnapshot& run, MetricId id) {
    const RunConfig& config = run.info().config;
    if (id == metric::GradientError)
        return config.gradientError > 0 && config.gradientError <= stepsOf(config) &&
               !std::all_of(config.lanes.begin(), config.lanes.end(), computesInFloat32);
    const int64_t batches = config.gradients.accumulate;
    const int64_t first =
        (std::max(config.watchWeights, batches) + batches - 1) / batches * batches;
    if (config.watchWeights == 0 || first > stepsOf(config)) return false;
    if (id == metric::WeightDistance) return run.laneCount() > 1;
    if (id != metric::UnchangedCopies) return id == metric::UnchangedWeights;
    for (int lane = 0; lane < run.laneCount(); ++lane)
        if (hasCopies(config, lane)) return true;
    return false;
}

/// Returns the median time of the newest steps, without what comes between a few, such as a
/// validation.
double newestInterval(const Column& seconds, int64_t from, int64_t to) {
    constexpr int64_t kSteps = 9;
    std::vector<double> intervals{0};
    for (int64_t step = std::max(from, to - kSteps) + 1; step <= to; ++step)
        if (const auto before = seconds.at(step - 1), after = seconds.at(step); before && after)
            intervals.push_back(*after - *before);
    const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
    std::nth_element(intervals.begin(), middle, intervals.end());
    return *middle;
}

/// Returns how long the devices of all lanes worked on the steps after `from`.
double deviceSecondsOf(const RunSnapshot& run, int64_t from, int64_t to) {
    double sum = 0;
    for (int lane = 0; lane < run.laneCount(); ++lane)
        run.column(lane, metric::DeviceSeconds)
            .values(from + 1, to, [&sum](int64_t, double seconds) {
                if (seconds > 0) sum += seconds; // a file may lack some
            });
    return sum;
}

} // namespace

bool laneScales(const RunConfig& config, int lane) {
    const Field* scale = findField("scaler.init_scale");
    return lane < static_cast<int>(config.lanes.size()) && scale && scale->applies(config, lane);
}

bool scalesAt(const RunSnapshot& run, int lane, int64_t step) {
    const auto infoOf = [&run](int of) -> const LaneInfo& {
        return run.lanes()[static_cast<size_t>(of)];
    };
    while (infoOf(lane).parent >= 0 && step <= infoOf(lane).forkStep)
        lane = infoOf(lane).parent;
    return laneScales(run.info().config, lane);
}

bool haveNewScale(const GradientRange& counted, const RunSnapshot& run, int lane) {
    if (lane >= run.laneCount() || !laneScales(run.info().config, lane)) return false;
    const LaneTotals& totals = run.totals(lane);
    const int64_t newest = totals.last().step;
    // a fork of a lane without a loss scale gets its first one, which replaces none
    return newest > 0 && scalesAt(run, lane, newest) && counted.step == newest + 1 &&
           counted.scale != totals.scaleAfter();
}

bool someLaneScales(const RunSnapshot& run) {
    const RunConfig& config = run.info().config;
    for (int lane = 0; lane < run.laneCount(); ++lane) {
        const bool described = lane < static_cast<int>(config.lanes.size());
        if (!described || laneScales(config, lane) || hadScale(run, lane)) return true;
    }
    return false;
}

bool laneIsHalf(const RunConfig& config, int lane) {
    if (lane >= static_cast<int>(config.lanes.size())) return false;
    const PrecisionPreset& row = presetOf(config.lanes[static_cast<size_t>(lane)].precision);
    return row.model || row.policy != nullptr || row.precision == Precision::User;
}

const LaneConfig* laneConfigOf(const RunConfig& config, int lane) {
    const auto at = static_cast<size_t>(lane);
    return at < config.lanes.size() ? &config.lanes[at] : nullptr;
}

int64_t growthIntervalOf(const RunConfig& config, int lane) {
    const Field* field = findField("scaler.growth_interval");
    if (lane >= static_cast<int>(config.lanes.size()) || !field || !field->applies(config, lane))
        return 0;
    return config.lanes[static_cast<size_t>(lane)].scaler.rules.growthInterval;
}

bool growsExactly(const RunConfig& config, int lane) {
    if (lane >= static_cast<int>(config.lanes.size())) return true;
    return config.lanes[static_cast<size_t>(lane)].scaler.rules.growthTest == GrowthTest::Exact;
}

int parentOfLane(const RunConfig& recorded, int lane) {
    const auto fork = static_cast<size_t>(lane) - recorded.lanes.size();
    return fork < recorded.forks.size() ? recorded.forks[fork].parent : -1;
}

bool forkedSince(const RunSnapshot& run, std::optional<int64_t> step) {
    return step && std::ranges::any_of(run.lanes(), [&](const LaneInfo& lane) {
               return lane.parent >= 0 && *step <= lane.forkStep;
           });
}

QStringList laneTitlesOf(const RunSnapshot& run) {
    RunConfig config = run.info().config;
    config.edits = run.info().recorded.edits;
    const QStringList titles = laneTitles(config, parentsOf(run.lanes()));
    if (titles.size() == static_cast<qsizetype>(run.lanes().size())) return titles;
    QStringList own; // the settings describe more lanes than the run has, or other ones
    for (const LaneInfo& lane : run.lanes())
        own << safeText(lane.title);
    return own;
}

QString untoldDataOf(const RunStore::Entry& entry) {
    const RunConfig& config = entry.run->info().config;
    if (!entry.named || config.task.kind == TaskKind::Recorded) return {};
    QString data = namesFiles(config.task) ? experimentTitle(titleOfData(config.task)) : QString();
    if (data.isEmpty()) data = translated(infoOf(config.task.kind).title);
    return safeText(entry.name).contains(data, Qt::CaseInsensitive) ? QString() : data;
}

QStringList laneAbouts(const RunConfig& config) {
    QStringList about;
    for (const LaneConfig& lane : config.lanes)
        about << translated(presetOf(lane.precision).about);
    return about;
}

std::vector<LaneFacts> laneFactsOf(const RunSnapshot& run, bool live) {
    using Judged = LaneFacts::Judged;
    const RunConfig& config = run.info().config;
    const std::vector<MemoryUse>& memory = run.info().memory;
    const QStringList about = laneAbouts(config);
    // what is counted beside a saved run is of networks that were built for it
    const bool counted = run.info().folder.empty() && !run.newestGradients().empty();
    const Judged judged = !canValidate(config.task)         ? Judged::Not
                          : measuresAccuracy(run)           ? Judged::ByAccuracy
                          : standardisesTarget(config.task) ? Judged::ByError
                                                            : Judged::ByLoss;
    std::vector<LaneFacts> facts;
    for (int lane = 0; lane < run.laneCount(); ++lane) {
        const auto at = static_cast<size_t>(lane);
        facts.push_back({laneScales(config, lane), at < memory.size() ? memory[at] : MemoryUse{},
                         about.value(lane), live, judged, laneIsHalf(config, lane),
                         config.watchWeights > 0, counted});
        if (!isAdversarial(config.model)) continue;
        facts.back().loss = lossName(config);
        facts.back().lossAbout = translated(shownLoss(config).about);
    }
    return facts;
}

std::vector<MetricId> plottedMetrics(const RunSnapshot& run) {
    const RunConfig& config = run.info().config;
    const bool scales = someLaneScales(run);
    std::vector<MetricId> plotted{metric::Loss};
    if (scales) plotted.push_back(metric::Scale);
    const auto add = [&plotted](MetricId id) { plotted.push_back(id); };
    if (config.schedule.kind != ScheduleKind::Constant) add(metric::LearningRate);
    if (config.gradients.clip != ClipKind::None || config.gradients.penalty != 0)
        add(metric::GradientNorm);
    const auto all = static_cast<MetricId>(run.metrics().size());
    const auto isKnown = [](MetricId id) { return id < metric::kKnown; };
    for (MetricId id = 0; id < all; ++id) {
        const bool done = isKnown(id) && id <= metric::SkippedSoFar;
        const bool beside = id == metric::GeneratorLoss; // in the plot of the critic's loss
        // Added below: the metrics that every run has, and the one that another plot shows on
        // another axis, which folds first when room is short.
        const bool late = id == metric::DeviceSeconds || id == metric::Perplexity;
        if (run.metrics()[static_cast<size_t>(id)].axis != PlotAxis::None && !done && !beside &&
            !late && (run.has(id) || isAwaited(run, id)))
            add(id);
    }
    add(metric::DeviceSeconds);
    if (scales) add(metric::SkippedSoFar); // no other lane skips steps
    if (run.has(metric::Perplexity)) add(metric::Perplexity);
    return plotted;
}

int laneLike(const RunSnapshot& run, int lane, const RunSnapshot& other) {
    if (run.laneCount() == other.laneCount()) return lane;
    const std::string& name = run.lanes()[static_cast<size_t>(lane)].name;
    for (int i = 0; i < other.laneCount(); ++i)
        if (other.lanes()[static_cast<size_t>(i)].name == name) return i;
    return -1;
}

std::optional<int64_t> epochLengthOf(const RunSnapshot& run) {
    const std::optional<double> epoch = run.column(0, metric::Epoch).at(run.step());
    const std::optional<double> batch = run.column(0, metric::Batch).at(run.step());
    if (!epoch || !batch || *epoch < 2) return std::nullopt;
    return (run.step() - static_cast<int64_t>(*batch)) / (static_cast<int64_t>(*epoch) - 1);
}

QString epochText(const RunSnapshot& run) {
    const EpochPlan plan = epochPlanOf(run.info().config);
    if (!plan.hasBatches()) return {};
    const int64_t step = run.step(), planned = plan.epochOf(stepsOf(run.info().config));
    const int64_t batches = plan.stepsPerEpoch();
    if (step == 0)
        return planned == 1 ? QCoreApplication::translate("RunFacts", "1 epoch of %1 batches")
                                  .arg(countText(batches))
                            : QCoreApplication::translate("RunFacts", "%1 epochs of %2 batches")
                                  .arg(countText(planned), countText(batches));
    const std::optional<double> epoch = run.column(0, metric::Epoch).at(step);
    const std::optional<double> batch = run.column(0, metric::Batch).at(step);
    if (!epoch || !batch) return {};
    const auto now = static_cast<int64_t>(*epoch);
    return epochText(now, std::max(now, planned), static_cast<int64_t>(*batch), batches);
}

QString longestEpochText(const RunSnapshot& run) {
    const EpochPlan plan = epochPlanOf(run.info().config);
    if (!plan.hasBatches()) return {};
    const int64_t epochs = plan.epochOf(stepsOf(run.info().config));
    return epochText(epochs, epochs, plan.stepsPerEpoch(), plan.stepsPerEpoch());
}

int64_t rowsOf(const RunSnapshot& run) {
    int64_t rows = 0;
    for (int lane = 0; lane < run.laneCount(); ++lane)
        rows += run.totals(lane).steps();
    return rows;
}

double paceOf(const RunSnapshot& run) {
    constexpr int64_t kLately = 100; // steps
    // The share of the wait that the clock of the steps must show. It leaves out by how much a step
    // begins late. Measured on two busy cores with the presets line-fit and moons at 60, 200 and
    // 600 steps/s, over 100 steps each: a window shows 64 to 94 % of the wait, and the command
    // line, which waits for nothing, up to 6 %, which is what steps take beside the device's work.
    constexpr double kEnough = 0.25;
    const double pace = run.info().config.pace;
    const int64_t to = run.step(), from = std::max(run.firstStep(), to - kLately);
    if (pace <= 0 || run.laneCount() == 0 || from >= to) return pace;
    const Column& seconds = run.column(0, metric::WallSeconds);
    const std::optional<double> before = seconds.at(from), after = seconds.at(to);
    if (!before || !after) return pace;
    const auto steps = static_cast<double>(to - from);
    const double worked = deviceSecondsOf(run, from, to) / steps;
    const auto waits = [&](double each) { return each - worked >= kEnough * (1 / pace - worked); };
    if (waits((*after - *before) / steps)) return pace;
    // some of these steps may have been trained before the pace was lowered
    return waits(newestInterval(seconds, from, to)) ? pace : 0;
}

double lateSecondsPerStep(const RunSnapshot& run, int64_t begin) {
    constexpr int64_t kMost = 255; // steps
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    // the first step after the beginning may have taken much longer than the others
    const int64_t to = run.step(), from = std::max(begin + 1, to - kMost);
    if (run.laneCount() == 0 || from >= to) return kUnknown;
    const Column& seconds = run.column(0, metric::WallSeconds);
    const std::optional<double> before = seconds.at(from), after = seconds.at(to);
    return before && after ? (*after - *before) / static_cast<double>(to - from) : kUnknown;
}

double trainedSeconds(const RunSnapshot& run) {
    double seconds = 0;
    for (int lane = 0; lane < run.laneCount(); ++lane)
        seconds = std::max(seconds, run.totals(lane).last().wallSeconds());
    return seconds;
}

} // namespace halfscope
