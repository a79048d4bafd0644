// Sums up a map over seeds. Trainings that failed or stopped early are left out, and counted.
#include "app/cli_seeds.h"

#include "app/cli_output.h"

#include "engine/runs/best_value.h"
#include "engine/settings/lane_titles.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace halfscope::cli {

namespace {

struct SeedFigure {
    const char* heading;
    std::function<std::optional<double>(const GridCell&)> value;
    bool isShare = false; ///< shown in percent
};

std::vector<SeedFigure> seedFigures(const GridCells& cells) {
    const auto accuracy = [](const GridCell& cell) -> std::optional<double> {
        const LaneScore& score = cell.score;
        if (!score.accuracy) return std::nullopt;
        return toldAccuracy(*score.accuracy, score.validationLoss);
    };
    const std::vector<SeedFigure> all{
        {"accuracy", accuracy, true},
        {"val. loss", [](const GridCell& cell) { return cell.score.validationLoss; }},
        {"loss", [](const GridCell& cell) { return std::optional(cell.score.loss); }},
        {"skipped", [](const GridCell& cell) {
             return std::optional(static_cast<double>(cell.score.skipped));
         }}};
    std::vector<SeedFigure> told;
    for (const SeedFigure& each : all)
        if (std::any_of(cells.begin(), cells.end(),
                        [&](const auto& cell) { return cell && each.value(*cell); }))
            told.push_back(each);
    return told;
}

/// Returns "97.5 % ± 0.21 %"; of a single value, which has no spread, the value.
std::string spreadText(std::span<const double> values, bool isShare) {
    if (values.empty()) return "-";
    const auto count = static_cast<double>(values.size());
    double mean = values[0], squares = 0; // from the first on: equal values have no spread
    for (const double value : values)
        mean += (value - values[0]) / count;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    for (const double value : values)
        if (!std::isfinite(value)) return shortNumber(value); // of some seed
    std::string text = isShare ? percentText(mean, 4) : shortNumber(mean);
    if (values.size() == 1) return text;
    const double deviation = std::sqrt(squares / (count - 1));
    return text + " ± " +
           (isShare ? shortNumber(100 * deviation, 2) + " %" : shortNumber(deviation, 2));
}

} // namespace

std::string seedsTable(const SettingGrid& grid, const GridCells& cells) {
    const auto& sweeps = grid.sweeps();
    const auto isSeed = [](const Sweep& sweep) { return sweep.field->key == "run.seed"; };
    const auto seeds = std::find_if(sweeps.begin(), sweeps.end(), isSeed);
    if (seeds == sweeps.end()) return {};
    const bool inRows = seeds == sweeps.begin();
    const size_t other = inRows ? 1 : 0; // the other setting, if there is one
    const bool alone = sweeps.size() == 1;
    const std::vector<SeedFigure> figures = seedFigures(cells);
    std::vector<std::vector<std::string>> rows(1);
    rows[0].push_back(alone ? "lane" : shortKey(*sweeps[other].field));
    for (const SeedFigure& figure : figures)
        rows[0].push_back(figure.heading);
    rows[0].push_back("seeds");
    for (size_t line = 0; line < (inRows ? grid.columns() : grid.rows()); ++line) {
        std::vector<const GridCell*> finished;
        for (size_t seed = 0; seed < seeds->values.size(); ++seed) {
            const auto& cell =
                cells[inRows ? seed * grid.columns() + line : line * grid.columns() + seed];
            if (cell && cell->outcome == CellOutcome::Finished) finished.push_back(&*cell);
        }
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back(alone ? laneNames(grid.base()).front() : grid.texts(other)[line]);
        for (const SeedFigure& figure : figures) {
            std::vector<double> values;
            for (const GridCell* cell : finished)
                if (const auto value = figure.value(*cell)) values.push_back(*value);
            row.push_back(spreadText(values, figure.isShare));
        }
        row.push_back(std::to_string(finished.size()));
    }
    return "\nOver the seeds whose training finished: mean ± standard deviation\n" +
           tableText(rows);
}

} // namespace halfscope::cli
