// Implements the sweep command: the choice of the lane, the loop over the cells with its stop by a
// signal, and the map as a table.
#include "app/cli_sweep.h"

#include "app/cli_output.h"
#include "app/cli_overwriting.h"
#include "app/cli_ranking.h"
#include "app/cli_seeds.h"
#include "app/cli_signals.h"
#include "app/cli_targets.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/atomic_file.h"
#include "engine/settings/lane_titles.h"
#include "engine/settings/run_length.h"
#include "engine/train/setting_grid.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <optional>
#include <stop_token>
#include <utility>

namespace halfscope::cli {

namespace {

constexpr size_t kRanked = 10; // cells: those that are worth another look

std::string namesText(const RunConfig& config, std::span<const size_t> lanes) {
    const std::vector<std::string> names = laneNames(config);
    std::string text;
    for (const size_t lane : lanes)
        text += (text.empty() ? "" : ", ") + names[lane];
    return text;
}

/// Returns the lane with this name or number.
size_t namedLane(const RunConfig& config, const std::string& wanted) {
    const std::vector<std::string> names = laneNames(config);
    if (const auto found = std::find(names.begin(), names.end(), wanted); found != names.end())
        return static_cast<size_t>(found - names.begin());
    size_t number = 0;
    const char* const end = wanted.data() + wanted.size();
    if (const auto read = std::from_chars(wanted.data(), end, number);
        read.ec == std::errc{} && read.ptr == end && number < names.size())
        return number;
    throw InputError(Message::data("--lane: " + quotedText(wanted) +
                                   " is not a lane of this experiment" +
                                   nearestHint(wanted, names).english()));
}

/// Whether the values make the same trainings of all these lanes, which precisions usually do.
bool areAlike(const RunConfig& config, std::span<const size_t> lanes,
              std::span<const Sweep> sweeps) {
    std::vector<size_t> origins(config.lanes.size());
    std::iota(origins.begin(), origins.end(), size_t{0});
    const auto makesAlike = [&](size_t lane) {
        return std::any_of(sweeps.begin(), sweeps.end(), [&](const Sweep& sweep) {
            return sweep.field->scope == FieldScope::Lane &&
                   makesTheSame(sweep, config, origins, lanes.front(), lane);
        });
    };
    return std::all_of(lanes.begin() + 1, lanes.end(), makesAlike);
}

/// Returns the lane to train: the given one, or the only one in which the settings mean something.
size_t laneOf(const RunConfig& config, const std::string& wanted, std::span<const Sweep> sweeps) {
    if (!wanted.empty()) return namedLane(config, wanted);
    const std::vector<size_t> lanes = lanesForSweeps(config, sweeps);
    if (lanes.size() == 1) return lanes.front();
    if (!lanes.empty() && areAlike(config, lanes, sweeps)) return lanes.front();
    if (lanes.empty() && config.lanes.size() == 1) return 0; // the map says what means nothing
    if (lanes.empty())
        throw InputError(Message::data(
            "--sweep: these settings mean nothing in any lane of this experiment (--lanes names "
            "others)"));
    throw InputError(
        Message::data("--lane is missing: these settings mean something in the lanes " +
                      namesText(config, lanes)));
}

SettingGrid gridOf(const SweepOptions& options, std::string* note) {
    const RunConfig config = options.experiment.config(note);
    refuseRecorded(config);
    std::vector<Sweep> sweeps = options.experiment.parsed(options.sweeps, SweptBy::Trainings);
    if (sweeps.empty() || sweeps.size() > SettingGrid::kMostSettings)
        throw InputError(Message::data("--sweep: " + std::to_string(sweeps.size()) +
                                       " settings are given: a map has one or two"));
    const size_t lane = laneOf(config, options.lane, sweeps);
    return {config, lane, std::move(sweeps)};
}

/// Refuses a table that could not be written: before the training, not after it.
void checkHome(const std::string& file) {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    const std::string reason = newFileObstacle(folder.empty() ? "." : folder);
    if (!reason.empty())
        throw InputError(
            Message::data("--csv: " + quotedText(file) + " is not allowed: " + reason));
}

/// One line on a terminal that is redrawn, and elsewhere a line about every 5 % or 2 s.
class GridProgress {
public:
    GridProgress(size_t cells, int64_t steps)
        : m_cells(static_cast<int64_t>(cells)), m_steps(steps), m_terminal(noteIsTerminal()) {}

    void show(size_t cell, int64_t step) {
        using namespace std::chrono_literals;
        const int64_t done = static_cast<int64_t>(cell) * m_steps + step;
        const auto now = std::chrono::steady_clock::now();
        const auto since = now - m_shown;
        const bool last = done == m_cells * m_steps;
        const bool time = m_terminal ? since >= 100ms
                                     : since >= 2s || (done - m_shownAt) * 20 >= m_cells * m_steps;
        if (!time && !last) return;
        m_shown = now;
        m_shownAt = done;
        const double share = static_cast<double>(done) / static_cast<double>(m_cells * m_steps);
        std::string text = m_terminal ? barText(share, 10) + " " : std::string();
        text += "cell " + std::to_string(cell + 1) + " of " + std::to_string(m_cells) + "  step " +
                std::to_string(step) + "/" + std::to_string(m_steps);
        const double seconds = std::chrono::duration<double>(now - m_start).count();
        if (!last) text += "  ETA " + timeText(seconds / share - seconds);
        m_terminal ? redrawNote(text) : printNote(text + "\n");
        m_drawn = m_terminal;
    }
    void end() {
        if (std::exchange(m_drawn, false)) printNote("\n");
    }

private:
    int64_t m_cells, m_steps;
    bool m_terminal, m_drawn = false;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point m_shown = m_start;
    int64_t m_shownAt = 0;
};

/// What cells show beside the loss, and its name.
struct Mark {
    Criterion by = Criterion::Loss;
    const char* name = "";
};

Mark markOf(const GridCells& cells) {
    std::vector<LaneScore> scores;
    for (const auto& cell : cells)
        if (cell) scores.push_back(cell->score);
    switch (const Criterion by = criterionOf(scores)) {
    case Criterion::Accuracy: return {by, ", accuracy"};
    case Criterion::ValidationLoss: return {by, ", val. loss"};
    case Criterion::Loss:
    case Criterion::Skipped: break;
    }
    return {};
}

/// Returns what sets the best cell apart: "lowest loss of 2 cells with equal accuracy".
std::string winText(const Win& win) {
    static constexpr std::array kBest{"highest accuracy", "lowest validation loss", "lowest loss",
                                      "fewest skipped steps"}; // by Criterion
    static constexpr std::array kNames{"accuracy", "validation loss", "loss"};
    const std::string contenders = std::to_string(win.contenders.size());
    if (!win.by) return "first of " + contenders + " equal cells";
    std::string equal;
    for (const Criterion each : win.equal)
        equal += (equal.empty() ? "" : " and ") + std::string(kNames[static_cast<size_t>(each)]);
    const std::string best = kBest[static_cast<size_t>(*win.by)];
    return equal.empty() ? best : best + " of " + contenders + " cells with equal " + equal;
}

/// "0.01234, 97.5 % (3)": the median loss, what marks the best cell, and the number of skipped
/// steps.
std::string tableCell(const std::optional<GridCell>& cell, const Mark& mark) {
    if (!cell) return "-";
    if (cell->outcome == CellOutcome::Failed) return "failed";
    const LaneScore& score = cell->score;
    std::string text = shortNumber(score.loss);
    if (mark.by == Criterion::Accuracy)
        text += score.accuracy ? ", " + accuracyText(*score.accuracy, score.validationLoss) : ", -";
    if (mark.by == Criterion::ValidationLoss)
        text += ", " + (score.validationLoss ? shortNumber(*score.validationLoss) : "-");
    text += " (" + std::to_string(score.skipped) + ")";
    if (cell->outcome == CellOutcome::Stopped) text += '*';
    return text;
}

/// Says which cell is marked, or why none is.
std::string markText(const GridCells& cells, std::optional<size_t> best) {
    const auto finite = [](const std::optional<GridCell>& cell) {
        return cell && cell->outcome != CellOutcome::Failed && cell->score.isFinite();
    };
    if (best) return "> marks the " + winText(winOf(cells));
    return std::any_of(cells.begin(), cells.end(), finite) ? "no finished cell has a finite loss"
                                                           : "no cell has a finite loss";
}

std::string mapTable(const SettingGrid& grid, const GridCells& cells, std::optional<size_t> best) {
    const Sweep* across = grid.sweeps().size() > 1 ? &grid.sweeps()[1] : nullptr;
    const Mark mark = markOf(cells);
    std::vector<std::vector<std::string>> lines(grid.rows() + 1);
    lines[0].push_back(shortKey(*grid.sweeps()[0].field));
    for (size_t column = 0; column < grid.columns(); ++column)
        lines[0].push_back(across ? grid.texts(1)[column]
                                  : "loss" + std::string(mark.name) + " (skipped)");
    for (size_t row = 0; row < grid.rows(); ++row) {
        lines[row + 1].push_back(grid.texts(0)[row]);
        for (size_t column = 0; column < grid.columns(); ++column) {
            const size_t cell = row * grid.columns() + column;
            lines[row + 1].push_back((cell == best ? "> " : "") + tableCell(cells[cell], mark));
        }
    }
    std::string text = "Median of the last " + std::to_string(LatestLosses::kMost) + " losses" +
                       mark.name + ", in parentheses the skipped steps; " + markText(cells, best) +
                       (across ? "; columns: " + shortKey(*across->field) : std::string()) + "\n";
    std::vector<size_t> widths(grid.columns() + 1, 0);
    for (const auto& line : lines)
        for (size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], charactersIn(line[i]));
    for (const auto& line : lines) {
        text += padded(line[0], widths[0]);
        for (size_t i = 1; i < line.size(); ++i)
            text += "  " + paddedLeft(line[i], widths[i]);
        text += "\n";
    }
    return text;
}

/// Returns the best cells as the table that ends a run with --sweep.
std::string bestTable(const SettingGrid& grid, const GridCells& cells) {
    std::vector<RankedLane> table;
    if (!bestCell(cells)) return {};
    for (const size_t cell : rankedCells(cells)) {
        const GridCell& each = *cells[cell];
        if (each.outcome != CellOutcome::Finished || table.size() == kRanked) break;
        table.push_back({laneNames(grid.config(cell)).front(), cellText(grid, cell), each.score,
                         each.lastLoss, each.scale ? scaleText(*each.scale) : "-"});
        table.back().zeros = each.zeroGradients;
        table.back().milliseconds = each.milliseconds;
    }
    return table.empty() ? std::string()
                         : "\n" + rankingTable(table, ZeroCounts::MedianOfLastSteps);
}

/// Says why cells stopped, ended early or failed.
std::string reasonsText(const SettingGrid& grid, const GridCells& cells) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i)
        if (cells[i] && !cells[i]->reason.empty())
            text += (cells[i]->outcome == CellOutcome::Failed    ? "failed: "
                     : cells[i]->outcome == CellOutcome::Stopped ? "* "
                                                                 : "") +
                    cellText(grid, i) + ": " + cells[i]->reason.english() + "\n";
    return text;
}

void report(const SettingGrid& grid, const GridCells& cells) {
    print(mapTable(grid, cells, bestCell(cells)));
    const std::string seeds = seedsTable(grid, cells);
    print(seeds.empty() ? bestTable(grid, cells) : seeds); // the best seed is chance
    for (const Message& doubt : {zerosOfBest(grid, cells), chanceOfBest(cells)})
        if (!doubt.empty()) print(doubt.english() + ".\n");
    print(reasonsText(grid, cells));
}

} // namespace

void SweepOptions::addTo(CLI::App& command) {
    experiment.addTo(command);
    command
        .add_option("--sweep", sweeps,
                    "The values of a setting of the lane, or of network, optimizer, schedule or "
                    "gradients, such as scaler.init_scale=2^10,2^16; with a second setting, every "
                    "combination is trained, up to " +
                        std::to_string(SettingGrid::kMostCells) +
                        "; with run.seed=1,2,3, the mean and the spread over the seeds are told")
        ->type_name("KEY=A,B")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    textOption(command, "--lane", lane,
               "The lane to train: its name, or its number from 0 (default: the only one in which "
               "the settings mean something)",
               "LANE", "the name of a lane, or its number from 0");
    writesFile(textOption(command, "--csv", csv,
                          "Write a csv table with a line for each combination", "FILE",
                          "the path of a file"));
    command.add_flag("--quiet", quiet, "Print errors only");
}

int sweep(const SweepOptions& options) {
    std::string note;
    const SettingGrid grid = gridOf(options, &note);
    if (!options.csv.empty()) {
        CommandFiles(options.experiment, grid.base()).checkFile("--csv", options.csv);
        checkHome(options.csv);
    }
    std::stop_source stop;
    SignalWatch signals; // before the engine starts threads
    signals.setStop([&stop] { stop.request_stop(); });
    const int64_t steps = stepsOf(grid.base());
    if (const Message idle = idleInCells(grid); !idle.empty()) note += idle.english() + "\n";
    if (!options.quiet)
        printNote((grid.base().title.empty() ? "Experiment" : grid.base().title) + ": " +
                  std::to_string(grid.cells()) + " trainings of " + std::to_string(steps) +
                  (steps == 1 ? " step\n" : " steps\n") + note);
    GridCells cells(grid.cells());
    GridProgress progress(grid.cells(), steps);
    GridListener listener;
    if (!options.quiet)
        listener.stepped = [&](size_t cell, int64_t step) { progress.show(cell, step); };
    listener.finished = [&](size_t cell, const GridCell& trained) { cells[cell] = trained; };
    const bool done = trainGrid(grid, listener, stop.get_token());
    progress.end();
    if (!options.csv.empty()) writeFileAtomically(options.csv, gridCsv(grid, cells));
    const auto count = static_cast<size_t>(
        std::count_if(cells.begin(), cells.end(), [](const auto& cell) { return bool(cell); }));
    if (!options.quiet) {
        if (!done)
            print("Interrupted after " + std::to_string(count) + " of " +
                  std::to_string(grid.cells()) + " trainings\n");
        if (count > 0) report(grid, cells);
        if (!options.csv.empty()) print("Table: " + pathText(options.csv) + "\n");
    }
    if (!done) return kInterruptedExit;
    const auto failed = std::find_if(cells.begin(), cells.end(), [](const auto& cell) {
        return cell->outcome == CellOutcome::Failed;
    });
    if (failed != cells.end()) throw RunError((*failed)->reason);
    return 0;
}

} // namespace halfscope::cli
