// Facts that follow from settings and columns.
#include "ui/models/run_facts.h"

#include "engine/settings/fields.h"
#include "ui/models/lane_titles.h"

#include <algorithm>

namespace halfscope {

bool laneScales(const RunConfig& config, int lane) {
    const Field* scale = findField("scaler.init_scale");
    return lane < static_cast<int>(config.lanes.size()) && scale && scale->applies(config, lane);
}

int64_t growthIntervalOf(const RunConfig& config, int lane) {
    const Field* field = findField("scaler.growth_interval");
    if (lane >= static_cast<int>(config.lanes.size()) || !field || !field->applies(config, lane))
        return 0;
    return config.lanes[static_cast<size_t>(lane)].scaler.rules.growthInterval;
}

QStringList laneTitlesOf(const RunSnapshot& run) {
    const QStringList titles = laneTitles(run.info().config);
    if (titles.size() == static_cast<qsizetype>(run.lanes().size())) return titles;
    QStringList own; // the settings are not of these lanes alone
    for (const LaneInfo& lane : run.lanes())
        own << QString::fromStdString(lane.title);
    return own;
}

QStringList laneAbouts(const RunConfig& config) {
    QStringList about;
    for (const LaneConfig& lane : config.lanes)
        about << QString::fromUtf8(presetOf(lane.precision).about);
    return about;
}

std::vector<MetricId> plottedMetrics(const RunSnapshot& run) {
    const RunConfig& config = run.info().config;
    std::vector<MetricId> plotted{metric::Loss, metric::Scale};
    const auto add = [&plotted](MetricId id) { plotted.push_back(id); };
    if (config.schedule.kind != ScheduleKind::Constant) add(metric::LearningRate);
    if (config.gradients.clip != ClipKind::None || config.gradients.penalty != 0)
        add(metric::GradientNorm);
    const auto all = static_cast<MetricId>(run.metrics().size());
    const auto isKnown = [](MetricId id) { return id < metric::kKnown; };
    for (MetricId id = 0; id < all; ++id) {
        const bool done = isKnown(id) && id <= metric::SkippedSoFar;
        const bool late = id == metric::DeviceSeconds; // with what every run has, below
        if (run.metrics()[static_cast<size_t>(id)].axis != PlotAxis::None && !done && !late &&
            run.has(id))
            add(id);
    }
    add(metric::DeviceSeconds);
    add(metric::SkippedSoFar);
    return plotted;
}

int laneLike(const RunSnapshot& run, int lane, const RunSnapshot& other) {
    if (run.laneCount() == other.laneCount()) return lane;
    const std::string& name = run.lanes()[static_cast<size_t>(lane)].name;
    for (int i = 0; i < other.laneCount(); ++i)
        if (other.lanes()[static_cast<size_t>(i)].name == name) return i;
    return -1;
}

double trailingLoss(const RunSnapshot& run, int lane) {
    return run.trailingMedian(lane, metric::Loss, kTrailingSteps);
}

double trainedSeconds(const RunSnapshot& run) {
    double seconds = 0;
    for (int lane = 0; lane < run.laneCount(); ++lane)
        seconds = std::max(seconds, run.totals(lane).last().wallSeconds());
    return seconds;
}

} // namespace halfscope
