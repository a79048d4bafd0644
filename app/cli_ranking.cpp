// Lays out the tables, column by column.
#include "app/cli_ranking.h"

#include "app/cli_output.h"

#include "engine/runs/best_value.h"
#include "engine/train/setting_grid.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace halfscope::cli {

namespace {

struct Column {
    const char* heading;
    std::function<std::string(const RankedLane&)> cell;
    std::string about{}; ///< for a heading that does not explain itself
};

/// Explains the share of gradients that are zero.
std::string zeroText(ZeroCounts counts) {
    const std::string most = std::to_string(GridCell::kCounts);
    const std::string when = counts == ZeroCounts::AtTheEnd
                                 ? "with the weights at the end"
                                 : "the median of up to " + most + " counts near the end";
    return "gradients that are zero, rounded to it or exactly, as behind a ReLU (" + when + ")";
}

std::string numberOr(std::optional<double> value) { return value ? shortNumber(*value, 6) : "-"; }

/// Returns the columns of the table, without those that have nothing to tell about any lane.
std::vector<Column> columnsOf(std::span<const RankedLane> lanes, ZeroCounts counts) {
    const auto any = [lanes](auto&& has) { return std::any_of(lanes.begin(), lanes.end(), has); };
    std::vector<Column> columns{{"lane", [](const RankedLane& each) { return each.name; }}};
    const auto hasAccuracy = [](const RankedLane& each) { return each.score.accuracy.has_value(); };
    const auto isJudged = [](const RankedLane& each) {
        return each.score.validationLoss.has_value();
    };
    if (any(hasAccuracy))
        columns.push_back({"accuracy", [](const RankedLane& each) {
                               const LaneScore& score = each.score;
                               return score.accuracy
                                          ? accuracyText(*score.accuracy, score.validationLoss)
                                          : "-";
                           }});
    if (any(isJudged))
        columns.push_back({"val. loss", [](const RankedLane& each) {
                               return numberOr(each.score.validationLoss);
                           }});
    if (any([](const RankedLane& each) { return each.validationError.has_value(); }))
        columns.push_back(
            {"val. MAE", [](const RankedLane& each) { return numberOr(each.validationError); }});
    columns.push_back(
        {"loss", [](const RankedLane& each) { return numberOr(each.score.loss); },
         "the median of the last steps, up to " + std::to_string(LatestLosses::kMost)});
    columns.push_back(
        {"last loss", [](const RankedLane& each) { return numberOr(each.lastLoss); }});
    if (any([](const RankedLane& each) { return each.generatorLoss.has_value(); }))
        columns.push_back({"generator",
                           [](const RankedLane& each) { return numberOr(each.generatorLoss); },
                           "the last loss of the network that learns from the critic"});
    columns.push_back(
        {"skipped", [](const RankedLane& each) { return std::to_string(each.score.skipped); }});
    // 1 is written like the other powers of two where it stands among them
    const bool powers = any([](const RankedLane& each) { return each.scale.starts_with("2^"); });
    columns.push_back({"scale", [powers](const RankedLane& each) {
                           return powers && each.scale == "1" ? std::string("2^0") : each.scale;
                       }});
    if (any([](const RankedLane& each) { return each.zeros.has_value(); }))
        columns.push_back(
            {"zero",
             [](const RankedLane& each) { return each.zeros ? percentText(*each.zeros, 3) : "-"; },
             zeroText(counts)});
    columns.push_back(
        {"ms/step", [](const RankedLane& each) { return shortNumber(each.milliseconds, 3); }});
    if (any([](const RankedLane& each) { return !each.peak.empty(); }))
        columns.push_back({"peak", [](const RankedLane& each) { return each.peak; }});
    if (any([](const RankedLane& each) { return !each.settings.empty(); }))
        columns.push_back({"settings", [](const RankedLane& each) { return each.settings; }});
    return columns;
}

/// Returns the number of a line; one whose loss is not finite is no better than the others like it.
std::string rankOf(const RankedLane& lane, size_t line) {
    return lane.score.isFinite() ? std::to_string(line) : "-";
}

/// Adds a column for each of `columns` to lines: a heading, then the lanes in this order.
std::string laidOut(std::vector<std::string> lines, const std::vector<Column>& columns,
                    std::span<const RankedLane> lanes, std::span<const size_t> order) {
    std::string abouts;
    for (const Column& column : columns) {
        if (!column.about.empty())
            abouts += (abouts.empty() ? "" : "; ") + (column.heading + (": " + column.about));
        std::vector<std::string> cells{column.heading};
        for (const size_t lane : order)
            cells.push_back(column.cell(lanes[lane]));
        size_t width = 0;
        for (const std::string& cell : cells)
            width = std::max(width, cell.size());
        for (size_t i = 0; i < lines.size(); ++i)
            lines[i] += padded(cells[i], width + 2);
    }
    std::string text;
    for (std::string& line : lines)
        text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
    return text + abouts + "\n";
}

} // namespace

std::string accuracyText(double accuracy, std::optional<double> validationLoss) {
    return outputIsNan(accuracy, validationLoss) ? "nan" : percentText(accuracy, 4);
}

std::string laneTable(std::span<const RankedLane> lanes) {
    std::vector<size_t> order(lanes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    return laidOut(std::vector<std::string>(order.size() + 1),
                   columnsOf(lanes, ZeroCounts::AtTheEnd), lanes, order);
}

std::string rankingTable(std::span<const RankedLane> lanes, ZeroCounts counts) {
    std::vector<LaneScore> scores;
    for (const RankedLane& each : lanes)
        scores.push_back(each.score);
    const std::vector<size_t> order = ranked(scores);
    std::vector<std::string> lines(order.size() + 1);
    for (size_t i = 0; i < lines.size(); ++i)
        lines[i] = padded(i == 0 ? "" : rankOf(lanes[order[i - 1]], i), 3);
    return laidOut(std::move(lines), columnsOf(lanes, counts), lanes, order);
}

} // namespace halfscope::cli
