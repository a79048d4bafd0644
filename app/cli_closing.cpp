// Writes the tables that end a run.
#include "app/cli_closing.h"

#include "app/cli_output.h"
#include "app/cli_ranking.h"

#include "engine/core/text.h"
#include "engine/data/held_fault.h"
#include "engine/runs/divergence.h"
#include "engine/runs/overfitting.h"
#include "engine/runs/shown_loss.h"
#include "engine/runs/zero_gradients.h"
#include "engine/settings/lane_titles.h"
#include "engine/settings/run_task.h"
#include "engine/train/run_info.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace halfscope::cli {
namespace {

/// Returns a sentence about gradients that were lost in part; empty where few were.
std::string lostText(const Experiment& experiment, std::span<const GradientRange> ranges,
                     int lane) {
    const std::optional<LostGradients> lost = lostGradientsOf(ranges, lane);
    if (!lost) return {};
    const LaneConfig& own = experiment.config().lanes[static_cast<size_t>(lane)];
    std::string text = percentText(lost->share, 3) + " of its gradients are zero";
    if (lost->beside >= 0)
        text += " (" + experiment.laneName(lost->beside) + ": " + percentText(lost->kept, 3) + ")";
    if (lacksFp8Scaling(own))
        return text + ": its FP8 scaling is none. " + scalingAdvice(own).english();
    if (scalesLoss(own)) return text + ": its loss scale is too small.";
    return text + ": it does not scale its loss. " + scalingAdvice(own).english();
}

/// Explains the loss in a table where it is a critic's; empty where it is not.
std::string lossNote(const RunConfig& config) {
    if (!isAdversarial(config.model)) return {};
    const Metric loss = shownLoss(config);
    return "loss: " + loss.title.english() + ". " + loss.about.english() + "\n";
}

/// Returns a line about the lanes that overfit; empty where none does.
std::string overfittingLine(const Experiment& experiment, std::span<const LaneSums> lanes) {
    std::vector<std::string> names;
    JudgedBy by = JudgedBy::Loss; // the same for all lanes, which have the same data
    for (size_t i = 0; i < lanes.size(); ++i) {
        if (!lanes[i].totals.overfits()) continue;
        names.push_back(experiment.laneName(static_cast<int>(i)));
        by = lanes[i].totals.judgedBy();
    }
    if (names.empty()) return {};
    std::string all = names.front();
    for (size_t i = 1; i < names.size(); ++i)
        all += (i + 1 == names.size() ? " and " : ", ") + names[i];
    return overfittingText(Message::data(all), names.size(), by).english() + "\n";
}

/// Returns what both tables tell of a lane.
RankedLane figuresOf(const Experiment& experiment, std::span<const LaneSums> lanes, size_t index) {
    const LaneSums& sums = lanes[index];
    const LaneTotals& lane = sums.totals;
    const StepRow& last = lane.last();
    RankedLane each;
    each.name = experiment.laneName(static_cast<int>(index));
    each.score = {lane.accuracy(), lane.validationLoss(), sums.losses.median(),
                  last.skippedSoFar()};
    each.lastLoss = static_cast<double>(last.loss());
    if (last.measured(metric::GeneratorLoss)) each.generatorLoss = last[metric::GeneratorLoss];
    each.scale = scalesLoss(experiment.config().lanes[index]) ? scaleText(lane.scaleAfter()) : "-";
    each.milliseconds = sums.milliseconds();
    each.validationError = lane.validationError();
    return each;
}

} // namespace

std::vector<LaneSums> noSums(const Experiment& experiment, size_t lanes) {
    const LaneTotals none(experiment.config().gradients.accumulate);
    return std::vector<LaneSums>(lanes, {none, {}, {}});
}

std::string closingTable(Experiment& experiment, std::span<const LaneSums> lanes) {
    std::vector<RankedLane> table;
    const std::vector<LaneInfo> infos = lanesOf(experiment.recorded());
    const std::vector<LaneTitle> titles = laneTitleParts(experiment.config(), parentsOf(infos));
    for (size_t i = 0; i < static_cast<size_t>(experiment.lanes()); ++i) {
        RankedLane& each = table.emplace_back(figuresOf(experiment, lanes, i));
        each.peak = sizeText(experiment.lane(static_cast<int>(i)).memory().peakBytes);
        const LaneTitle& title = titles[i];
        each.settings = differencesText(title);
        if (title.parent >= 0)
            each.settings +=
                (each.settings.empty() ? "from " : ", from ") + experiment.laneName(title.parent);
    }
    return laneTable(table) + lossNote(experiment.config());
}

std::string testLine(const Experiment& experiment, std::span<const LaneSums> lanes) {
    std::string text;
    for (size_t i = 0; i < lanes.size(); ++i) {
        const auto& test = lanes[i].totals.test();
        if (!test) continue;
        const char* const what = test->accuracy ? "accuracy " : test->error ? "MAE " : "loss ";
        text += (text.empty() ? std::string("Test: ") + what : std::string(", ")) +
                (test->accuracy ? accuracyText(*test->accuracy, test->loss)
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
    return (wasBetter ? "Best validation: " + what + text + "\n" : std::string()) +
           overfittingLine(experiment, lanes);
}

std::string laneNotes(const Experiment& experiment, std::span<const LaneSums> lanes,
                      std::span<const GradientRange> ranges) {
    std::string text;
    std::vector<const SkipTally*> tallies;
    for (const LaneSums& each : lanes)
        tallies.push_back(&each.totals.skips());
    for (size_t i = 0; i < lanes.size(); ++i) {
        const LaneConfig& lane = experiment.config().lanes[i];
        const LaneTotals& totals = lanes[i].totals;
        const bool dynamic = lane.scaler.rules.mode == ScalerMode::Dynamic;
        const std::string name = experiment.laneName(static_cast<int>(i));
        // where overflows at any loss scale brought it down, its size is not the reason
        const bool ofFaults = dynamic && totals.faultsExplainUnderflow();
        std::string lost = totals.underflowText().english();
        if (lost.empty()) lost = lostText(experiment, ranges, static_cast<int>(i));
        if (!lost.empty() && !ofFaults) text += name + ": " + lost + "\n";
        const int other = divergedBeside(experiment.config(), tallies, static_cast<int>(i));
        const Message diverged = other < 0 ? Message() : Message::data(experiment.laneName(other));
        const std::string sentence = totals.skips().sentence(dynamic, &lane, diverged).english();
        if (sentence.empty()) continue;
        text += name + ": " + sentence + "\n";
        if (const Message& telling = totals.tellingOverflow(); !telling.empty())
            text += padded("", name.size()) + "  " + telling.english() + "\n";
    }
    return text;
}

std::string heldFaultLine(const Experiment& experiment, std::span<const LaneSums> lanes) {
    const auto isLost = [](const LaneSums& lane) {
        const auto loss = lane.totals.validationLoss();
        return loss && !std::isfinite(*loss);
    };
    if (std::none_of(lanes.begin(), lanes.end(), isLost)) return {};
    const Message fault = knownHeldFault(taskOf(experiment.config()));
    return fault.empty() ? std::string() : fault.english() + "\n";
}

std::string testFaultLine(const Experiment& experiment, std::span<const LaneSums> lanes) {
    std::string names;
    bool differ = false; // whether another lane's validation loss is not finite either
    for (size_t i = 0; i < lanes.size(); ++i) {
        const std::optional<Validation>& test = lanes[i].totals.test();
        if (!test) continue;
        if (std::isfinite(test->loss)) return {}; // a lane could use the samples
        const auto loss = lanes[i].totals.validationLoss();
        if (loss && std::isfinite(*loss))
            names += (names.empty() ? "" : ", ") + experiment.laneName(static_cast<int>(i));
        else
            differ = true;
    }
    if (names.empty()) return {};
    if (const Message fault = knownTestFault(taskOf(experiment.config())); !fault.empty())
        return (differ ? names + ": " : std::string()) +
               "The validation loss is finite, but the test loss is not. " + fault.english() + "\n";
    return (differ ? names + ": " : std::string()) +
           "The validation loss is finite, but the test loss is not: the samples of the test may "
           "hold inf or nan, or very large values. Correct such values, or leave the samples "
           "out.\n";
}

std::string rankingOf(const Experiment& experiment, std::span<const Sweep> sweeps,
                      std::span<const LaneSums> lanes, std::span<const GradientRange> ranges) {
    std::vector<RankedLane> table;
    for (size_t i = 0; i < lanes.size(); ++i) {
        RankedLane& each = table.emplace_back(figuresOf(experiment, lanes, i));
        each.settings = sweptText(experiment.config(), i, sweeps);
        if (i < ranges.size() && ranges[i].total() > 0)
            each.zeros =
                static_cast<double>(ranges[i].zeros()) / static_cast<double>(ranges[i].total());
    }
    return rankingTable(table, ZeroCounts::AtTheEnd) + lossNote(experiment.config());
}

std::string epochText(const Experiment& experiment) {
    const EpochPlan& epochs = experiment.epochs();
    if (!epochs.hasBatches() || experiment.step() == 0) return {};
    return " (epoch " + std::to_string(epochs.epochOf(experiment.step())) + " of " +
           std::to_string(epochs.epochOf(experiment.config().steps)) + ")";
}

std::string paintedNote(const Experiment& experiment, const LanePictures& pictures) {
    const bool drawn =
        std::ranges::any_of(pictures.outputs, [](const auto& each) { return each.width > 0; });
    const bool ofStep = pictures.validated == 0 && !experiment.view().probe;
    if (!drawn || !ofStep || pictures.made != PicturesMade::AfterStep) return {};
    return "The pictures show what the weights after step " + std::to_string(experiment.step()) +
           " compute; right after a training, they show what those before its last step "
           "compute\n";
}

} // namespace halfscope::cli
