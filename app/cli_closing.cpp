// Writes the tables that end a run.
#include "app/cli_closing.h"

#include "app/cli_output.h"
#include "app/cli_ranking.h"

#include "engine/core/text.h"
#include "engine/runs/zero_gradients.h"
#include "engine/settings/lane_titles.h"
#include "engine/train/run_info.h"

#include <algorithm>
#include <optional>

namespace halfscope::cli {
namespace {

size_t nameWidth(const Experiment& experiment) {
    size_t width = 4; // "lane"
    for (int i = 0; i < experiment.lanes(); ++i)
        width = std::max(width, experiment.laneName(i).size());
    return width;
}

/// Returns a sentence about gradients that were lost in part; empty where few were.
std::string lostText(const Experiment& experiment, std::span<const GradientRange> ranges,
                     int lane) {
    const std::optional<LostGradients> lost = lostGradientsOf(ranges, lane);
    if (!lost) return {};
    const bool scales = scalesLoss(experiment.config().lanes[static_cast<size_t>(lane)]);
    std::string text = percentText(lost->share, 3) + " of its gradients are zero";
    if (lost->beside >= 0)
        text += " (" + experiment.laneName(lost->beside) + ": " + percentText(lost->kept, 3) + ")";
    return text + (scales ? ": its loss scale is too small." : ": it does not scale its loss.");
}

} // namespace

std::vector<LaneSums> noSums(const Experiment& experiment, size_t lanes) {
    const LaneTotals none(experiment.config().gradients.accumulate);
    return std::vector<LaneSums>(lanes, {none, {}, {}});
}

std::string closingTable(Experiment& experiment, std::span<const LaneSums> lanes) {
    const size_t width = nameWidth(experiment);
    constexpr size_t kLoss = 12, kAccuracy = 10;
    const bool judged = lanes.front().totals.validationLoss().has_value();
    const bool classes = lanes.front().totals.accuracy().has_value();
    const bool errs = lanes.front().totals.validationError().has_value();
    std::string text = padded("lane", width) + "  final loss  ";
    if (judged) text += padded("val. loss", kLoss);
    if (classes) text += padded("accuracy", kAccuracy);
    if (errs) text += padded("val. MAE", kLoss);
    text += "skipped  scale     ms/step  peak\n";
    const std::vector<LaneInfo> infos = lanesOf(experiment.recorded());
    const std::vector<LaneTitle> titles = laneTitleParts(experiment.config(), parentsOf(infos));
    for (int i = 0; i < experiment.lanes(); ++i) {
        const LaneTotals& lane = lanes[static_cast<size_t>(i)].totals;
        const StepRow& last = lane.last();
        const LaneConfig& config = experiment.config().lanes[static_cast<size_t>(i)];
        text += padded(experiment.laneName(i), width) + "  " +
                padded(shortNumber(static_cast<double>(last.loss()), 6), kLoss);
        const auto loss = lane.validationLoss(), accuracy = lane.accuracy();
        if (judged) text += padded(loss ? shortNumber(*loss, 6) : "", kLoss);
        if (classes) text += padded(accuracy ? percentText(*accuracy, 4) : "", kAccuracy);
        const auto error = lane.validationError();
        if (errs) text += padded(error ? shortNumber(*error, 6) : "", kLoss);
        text += padded(std::to_string(last.skippedSoFar()), 9) +
                padded(scalesLoss(config) ? scaleText(lane.scaleAfter()) : "-", 10) +
                padded(shortNumber(lanes[static_cast<size_t>(i)].milliseconds(), 3), 9);
        const std::string peak = sizeText(experiment.lane(i).memory().peakBytes);
        const LaneTitle& title = titles[static_cast<size_t>(i)];
        std::string apart = differencesText(title);
        if (title.parent >= 0)
            apart += (apart.empty() ? "from " : ", from ") + experiment.laneName(title.parent);
        text += apart.empty() ? peak + "\n" : padded(peak, 10) + apart + "\n";
    }
    return text;
}

std::string testLine(const Experiment& experiment, std::span<const LaneSums> lanes) {
    std::string text;
    for (size_t i = 0; i < lanes.size(); ++i) {
        const auto& test = lanes[i].totals.test();
        if (!test) continue;
        const char* const what = test->accuracy ? "accuracy " : test->error ? "MAE " : "loss ";
        text += (text.empty() ? std::string("Test: ") + what : std::string(", ")) +
                (test->accuracy ? percentText(*test->accuracy, 4)
                                : shortNumber(test->error.value_or(test->loss), 6)) +
                " (" + experiment.laneName(static_cast<int>(i)) + ")";
    }
    return text.empty() ? text : text + "\n";
}

std::string bestLine(const Experiment& experiment, std::span<const LaneSums> lanes) {
    std::string text, what;
    bool wasBetter = false;
    for (size_t i = 0; i < lanes.size(); ++i) {
        const LaneTotals& totals = lanes[i].totals;
        const bool classes = totals.bestAccuracy().has_value();
        const auto& best = totals.best();
        if (!best) continue;
        what = classes ? "accuracy " : "loss ";
        wasBetter |= best->value != (classes ? totals.accuracy() : totals.validationLoss());
        text += (text.empty() ? "" : ", ") +
                (classes ? percentText(best->value, 4) : shortNumber(best->value, 6)) +
                " after step " + std::to_string(best->step) + " (" +
                experiment.laneName(static_cast<int>(i)) + ")";
    }
    return wasBetter ? "Best validation: " + what + text + "\n" : std::string();
}

std::string laneNotes(const Experiment& experiment, std::span<const LaneSums> lanes,
                      std::span<const GradientRange> ranges) {
    std::string text;
    for (size_t i = 0; i < lanes.size(); ++i) {
        const LaneConfig& lane = experiment.config().lanes[i];
        const LaneTotals& totals = lanes[i].totals;
        const bool dynamic = lane.scaler.rules.mode == ScalerMode::Dynamic;
        const std::string name = experiment.laneName(static_cast<int>(i));
        // where inf or nan in the data brought the loss scale down, its size is not the reason
        const bool ofData = dynamic && totals.dataExplainUnderflow();
        std::string lost = totals.underflowText().english();
        if (lost.empty()) lost = lostText(experiment, ranges, static_cast<int>(i));
        if (!lost.empty() && !ofData) text += name + ": " + lost + "\n";
        const std::string sentence = totals.skips().sentence(dynamic).english();
        if (sentence.empty()) continue;
        text += name + ": " + sentence + "\n";
        if (const Message& telling = totals.tellingOverflow(); !telling.empty())
            text += padded("", name.size()) + "  " + telling.english() + "\n";
    }
    return text;
}

std::string rankingOf(const Experiment& experiment, std::span<const Sweep> sweeps,
                      std::span<const LaneSums> lanes, std::span<const GradientRange> ranges) {
    std::vector<RankedLane> table;
    for (size_t i = 0; i < lanes.size(); ++i) {
        const LaneTotals& lane = lanes[i].totals;
        const StepRow& last = lane.last();
        RankedLane each{
            experiment.laneName(static_cast<int>(i)),
            sweptText(experiment.config(), i, sweeps),
            {lane.accuracy(), lane.validationLoss(), lanes[i].losses.median(), last.skippedSoFar()},
            static_cast<double>(last.loss()),
            scalesLoss(experiment.config().lanes[i]) ? scaleText(lane.scaleAfter()) : "-"};
        if (i < ranges.size() && ranges[i].total() > 0)
            each.zeros =
                static_cast<double>(ranges[i].zeros()) / static_cast<double>(ranges[i].total());
        each.milliseconds = lanes[i].milliseconds();
        table.push_back(std::move(each));
    }
    return rankingTable(table);
}

} // namespace halfscope::cli
