// Each cell is an experiment of its own: lanes of one experiment would stop together when one of
// them reaches its floor, and an error of one would end them all. They share what takes time to
// read, the data.
#include "engine/train/setting_grid.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/runs/column.h"
#include "engine/runs/lane_totals.h"
#include "engine/runs/run_tables.h"
#include "engine/settings/lane_titles.h"
#include "engine/settings/precision.h"
#include "engine/settings/run_task.h"
#include "engine/train/experiment.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <utility>

namespace halfscope {

namespace {

/// Returns the experiment with nothing but one lane, on that lane's device.
RunConfig alone(const RunConfig& config, size_t lane) {
    RunConfig only = config;
    only.lanes = {config.lanes.at(lane)};
    only.device = deviceOfLane(config.device, static_cast<int>(lane));
    forgetLanes(only);
    return only;
}

/// Sets one value for each setting. Precisions and presets of the scaler come first: they set other
/// settings, too.
void setValues(RunConfig& config, std::span<const Sweep> sweeps,
               std::span<const FieldValue* const> values, size_t from) {
    const auto rank = [](const Field& field) {
        return field.key == "precision" ? 0 : field.key == "scaler.preset" ? 1 : 2;
    };
    for (const int now : {0, 1, 2})
        for (size_t i = 0; i < sweeps.size(); ++i)
            if (rank(*sweeps[i].field) == now) sweeps[i].set(config, 0, *values[i], from);
}

/// Sets the values of the run that all of these cells have in common. Throws InputError when they
/// have several values of one.
void setRunValues(RunConfig& config, const SettingGrid& grid, std::span<const size_t> cells) {
    for (size_t sweep = 0; sweep < grid.sweeps().size(); ++sweep) {
        const Field& field = *grid.sweeps()[sweep].field;
        if (field.scope == FieldScope::Lane) continue;
        const FieldValue& value = grid.value(cells.front(), sweep);
        for (const size_t cell : cells)
            if (grid.value(cell, sweep) != value)
                throw InputError(phrase("Training", "%1 is the same in all lanes of a run: choose "
                                                    "cells with one value of it"),
                                 field.key);
        field.set(config, -1, value);
    }
}

/// Returns a setting that means nothing in the only lane, whatever the others are set to; null when
/// all of them mean something.
const Field* meaningless(const RunConfig& only, std::span<const Sweep> sweeps) {
    std::vector<const Field*> left;
    for (const Sweep& sweep : sweeps)
        left.push_back(sweep.field);
    const auto look = [&left](const RunConfig& config) {
        std::erase_if(left, [&config](const Field* field) {
            return !field->applies || field->applies(config, 0);
        });
    };
    look(only);
    for (const Sweep& sweep : sweeps)
        for (const FieldValue& value : sweep.values) {
            if (left.empty()) return nullptr;
            RunConfig with = only;
            sweep.field->set(with, 0, value);
            look(with);
        }
    return left.empty() ? nullptr : left.front();
}

/// Looks at the gradients at several of the last steps, because those of one batch may be far off.
/// Where there is no memory for that, the cell goes without.
class LastGradients {
public:
    /// Called after each step.
    void look(Experiment& experiment) {
        const int64_t steps = experiment.config().steps, left = steps - experiment.step();
        const int64_t counts =
            std::clamp(steps / GridCell::kStepsOfACount, int64_t{1}, GridCell::kCounts);
        const bool near = left < counts * GridCell::kBetweenCounts;
        if (near && left % GridCell::kBetweenCounts == 0) count(experiment);
    }
    void addTo(GridCell& cell, Experiment& experiment) {
        if (m_step < experiment.step()) count(experiment); // it ended before its time
        if (!m_zeros.empty()) cell.zeroGradients = medianWithNan(m_zeros);
        if (!m_errors.empty()) cell.gradientError = medianWithNan(m_errors);
    }

private:
    void count(Experiment& experiment) {
        m_step = experiment.step();
        try {
            const std::vector<GradientRange> ranges = experiment.gradientRanges(true);
            if (ranges.empty()) return; // it was stopped here
            const GradientRange& own = ranges.front();
            if (own.error) m_errors.push_back(*own.error);
            if (own.total() > 0 && own.notFinite() == 0)
                m_zeros.push_back(static_cast<double>(own.zeros()) /
                                  static_cast<double>(own.total()));
        } catch (const EngineError&) {
        } catch (const std::bad_alloc&) {
        }
    }
    int64_t m_step = -1; ///< after which they were counted last
    std::vector<double> m_zeros, m_errors;
};

/// Trains one cell. Returns nothing when it was stopped from outside.
std::optional<GridCell> trainCell(const RunConfig& config, const std::shared_ptr<Task>& data,
                                  const std::function<void(int64_t)>& stepped,
                                  const std::stop_token& stop) {
    Experiment experiment(config, stop, data);
    const std::stop_callback onStop(stop, [&experiment] { experiment.requestStop(); });
    LaneTotals totals(experiment.config().gradients.accumulate);
    LatestLosses losses;
    RecentTimes times;
    LastGradients gradients;
    while (!experiment.finished() && experiment.stopReason().empty()) {
        std::vector<StepRecord> records;
        std::vector<Event> events;
        if (stop.stop_requested()) return std::nullopt;
        if (!experiment.advance(records, events)) continue;
        const StepRow row = rowOf(records.front());
        totals.add(row);
        for (const Event& event : events)
            if (event.lane >= 0) totals.add(event);
        losses.add(static_cast<double>(row.loss()));
        times.add(row.deviceSeconds());
        gradients.look(experiment);
        stepped(experiment.step());
    }
    const StepRow& last = totals.last();
    GridCell cell;
    cell.outcome = experiment.finished() ? CellOutcome::Finished : CellOutcome::Stopped;
    cell.score = {totals.accuracy(), totals.validationLoss(), losses.median(), last.skippedSoFar()};
    cell.lastLoss = static_cast<double>(last.loss());
    if (scalesLoss(experiment.config().lanes.front())) cell.scale = totals.scaleAfter();
    cell.steps = totals.steps();
    cell.milliseconds = 1000 * times.median();
    if (cell.outcome == CellOutcome::Stopped) cell.reason = experiment.stopReason();
    if (const int64_t waited = experiment.outOfPatience(); waited > 0)
        cell.reason = patienceWords(waited);
    const ClassCounts counts = experiment.judged(0).counts;
    if (const auto most = counts.mostFrequent(); most && cell.score.accuracy)
        cell.classes = {counts.samples(), counts.correct(), *most};
    gradients.addTo(cell, experiment);
    return cell;
}

GridCell failedCell(const Message& reason) {
    GridCell cell;
    cell.outcome = CellOutcome::Failed;
    cell.reason = reason;
    return cell;
}

/// Reads the data once for all cells. Seeds decide how they are ordered; only where they also
/// decide what the samples are, the data are made anew for another seed.
class CellData {
public:
    explicit CellData(const SettingGrid& grid) : m_config(grid.base()) {}
    const std::shared_ptr<Task>& of(const RunConfig& cell) {
        if (m_task && m_config.seed == cell.seed) return m_task;
        m_config.seed = cell.seed;
        std::shared_ptr<const Dataset> same;
        if (m_task && !m_task->dataset().usesSeed()) same = m_task->sharedDataset();
        m_task.reset(); // both may be too much for the memory
        m_task = same ? makeTask(m_config, std::move(same)) : makeTask(m_config);
        return m_task;
    }

private:
    RunConfig m_config;
    std::shared_ptr<Task> m_task;
};

/// The cells whose training ended in one way: their numbers and scores, in the same order.
struct CellScores {
    CellScores(const GridCells& cells, CellOutcome outcome) {
        for (size_t i = 0; i < cells.size(); ++i)
            if (cells[i] && cells[i]->outcome == outcome) {
                numbers.push_back(i);
                scores.push_back(cells[i]->score);
            }
    }
    std::vector<size_t> numbers;
    std::vector<LaneScore> scores;
};

} // namespace

std::vector<size_t> lanesForSweeps(const RunConfig& config, std::span<const Sweep> sweeps) {
    std::vector<size_t> lanes;
    for (size_t lane = 0; lane < config.lanes.size(); ++lane)
        if (!meaningless(alone(config, lane), sweeps)) lanes.push_back(lane);
    return lanes;
}

SettingGrid::SettingGrid(const RunConfig& config, size_t lane, std::vector<Sweep> sweeps,
                         std::optional<int64_t> steps)
    : m_base(alone(config, lane)), m_lane(lane), m_sweeps(std::move(sweeps)) {
    if (m_sweeps.empty() || m_sweeps.size() > kMostSettings)
        throw InputError(phrase("Training", "A map has one or two settings, not %1"),
                         m_sweeps.size());
    if (m_sweeps.size() > 1 && m_sweeps[0].field == m_sweeps[1].field)
        throw InputError(phrase("Training", "%1 is given twice: a map has two different settings"),
                         m_sweeps[0].field->key);
    if (cells() > kMostCells)
        throw InputError(phrase("Training", "These values make a map of %1 cells, and a map has at "
                                            "most %2: give fewer values"),
                         cells(), kMostCells);
    for (const Sweep& sweep : m_sweeps)
        m_texts.push_back(axisTexts(sweep.values));
    if (const Field* idle = meaningless(m_base, m_sweeps))
        throw InputError(phrase("Training", "%1 means nothing in lane %2"), idle->key,
                         laneNames(config).at(lane));
    if (!steps) return;
    setField(m_base, -1, "run.steps", *steps);
    std::erase_if(m_base.edits, [](const LiveEdit& edit) {
        return edit.key == "run.steps" || edit.key == "run.epochs";
    });
}

const FieldValue& SettingGrid::value(size_t cell, size_t sweep) const {
    return m_sweeps.at(sweep).values.at(indexOf(cell, sweep));
}

RunConfig SettingGrid::config(size_t cell) const {
    RunConfig config = m_base;
    std::vector<const FieldValue*> values;
    for (size_t i = 0; i < m_sweeps.size(); ++i)
        values.push_back(&value(cell, i));
    setValues(config, m_sweeps, values, m_lane);
    return config;
}

Message idleInCells(const SettingGrid& grid) {
    std::vector<Message> parts;
    for (const Sweep& sweep : grid.sweeps()) {
        size_t cells = 0;
        for (size_t cell = 0; cell < grid.cells(); ++cell)
            if (sweep.field->applies && !sweep.field->applies(grid.config(cell), 0)) ++cells;
        if (cells > 0)
            parts.emplace_back(phrase("Training", "Without effect in %1 of %2 cells: %3"), cells,
                               grid.cells(), sweep.field->key);
    }
    return listed(parts);
}

const char* nameOf(CellOutcome outcome) {
    switch (outcome) {
    case CellOutcome::Finished: return "finished";
    case CellOutcome::Stopped: return "stopped";
    case CellOutcome::Failed: return "failed";
    }
    return "";
}

bool trainGrid(const SettingGrid& grid, const GridListener& listener, const std::stop_token& stop) {
    const Cancellable reads(stop);
    try {
        CellData data(grid);
        (void)data.of(grid.config(0)); // what goes wrong here goes wrong in all cells
        for (size_t cell = 0; cell < grid.cells(); ++cell) {
            std::optional<GridCell> trained;
            try {
                const RunConfig config = grid.config(cell);
                trained = trainCell(
                    config, data.of(config),
                    [&](int64_t step) {
                        if (listener.stepped) listener.stepped(cell, step);
                    },
                    stop);
            } catch (const EngineError& error) {
                if (stop.stop_requested()) return false;
                if (cell == 0) throw; // the others would fail likewise
                trained = failedCell(error.message());
            } catch (const ReportedError& error) {
                if (stop.stop_requested()) return false; // that may be all that it says
                trained = failedCell(error.message());
            } catch (const std::bad_alloc&) {
                trained = failedCell(phrase("Training", "The memory of this machine is used up"));
            }
            if (!trained) return false;
            if (listener.finished) listener.finished(cell, *trained);
        }
    } catch (const Cancelled&) {
        return false;
    }
    return true;
}

std::vector<size_t> rankedCells(const GridCells& cells) {
    std::vector<size_t> order;
    for (const CellOutcome outcome : {CellOutcome::Finished, CellOutcome::Stopped}) {
        const CellScores ended(cells, outcome);
        for (const size_t rank : ranked(ended.scores))
            order.push_back(ended.numbers[rank]);
    }
    return order;
}

std::optional<size_t> bestCell(const GridCells& cells) {
    const std::vector<size_t> order = rankedCells(cells);
    if (order.empty()) return std::nullopt;
    const GridCell& first = *cells[order.front()];
    const bool best = first.outcome == CellOutcome::Finished && first.score.isFinite();
    return best ? std::optional(order.front()) : std::nullopt;
}

Win winOf(const GridCells& cells) {
    const CellScores finished(cells, CellOutcome::Finished);
    Win win = winOf(finished.scores);
    for (size_t& each : win.contenders)
        each = finished.numbers[each];
    return win;
}

Message zerosOfBest(const SettingGrid& grid, const GridCells& cells) {
    constexpr int64_t kMany = 10;                   // percentage points
    const auto percent = [](const GridCell& cell) { // of nearly all, 99
        const double share = *cell.zeroGradients;
        return static_cast<int64_t>(share < 1 ? std::min(99.0, std::round(100 * share)) : 100);
    };
    const std::optional<size_t> best = bestCell(cells);
    const bool sameNetwork =
        std::all_of(grid.sweeps().begin(), grid.sweeps().end(),
                    [](const Sweep& each) { return each.field->scope == FieldScope::Lane; });
    if (!best || !cells[*best]->zeroGradients || !sameNetwork) return {};
    const int64_t own = percent(*cells[*best]);
    int64_t fewest = own;
    for (const auto& cell : cells)
        if (cell && cell->zeroGradients && cell->score.isFinite())
            fewest = std::min(fewest, percent(*cell));
    if (own - fewest < kMany) return {};
    return {phrase("Training", "In the best cell, %1 % of the gradients are zero, in others as few "
                               "as %2 %: that it does best may be chance"),
            own, fewest};
}

Message chanceOfBest(const GridCells& cells) {
    constexpr double kDeviations = 2; // of the number that guesses get right: more is rarely chance
    const std::optional<size_t> best = bestCell(cells);
    if (!best || !cells[*best]->classes) return {};
    const JudgedClasses& own = *cells[*best]->classes;
    const auto most = static_cast<double>(own.mostFrequent);
    const double variance = most * (1 - most / static_cast<double>(own.all));
    if (static_cast<double>(own.right) - most > kDeviations * std::sqrt(variance)) return {};
    return {phrase("Training", "In the best cell, %1 of %2 predicted classes are right, and always "
                               "naming the most frequent class gets %3 right: its accuracy may be "
                               "chance"),
            own.right, own.all, own.mostFrequent};
}

std::string cellText(const SettingGrid& grid, size_t cell) {
    std::string text;
    for (size_t i = 0; i < grid.sweeps().size(); ++i)
        text += (i > 0 ? ", " : "") + shortKey(*grid.sweeps()[i].field) + ' ' + grid.text(cell, i);
    return text;
}

std::string gridCsv(const SettingGrid& grid, const GridCells& cells) {
    std::string text;
    for (const Sweep& sweep : grid.sweeps())
        text += csvField(sweep.field->key) + ',';
    text += "loss,last_loss,validation_loss,accuracy,skipped_steps,final_scale,zero_gradients,"
            "gradient_error,steps,outcome,reason\n";
    const auto text32 = [](double number) { // losses are float32: digits as in other tables
        const auto single = static_cast<float>(number);
        return static_cast<double>(single) == number ? numberText(single) : numberText(number);
    };
    const auto known = [](const std::optional<double>& number) {
        return number ? numberText(*number) : std::string();
    };
    for (size_t i = 0; i < cells.size(); ++i) {
        if (!cells[i]) continue;
        const GridCell& cell = *cells[i];
        for (size_t sweep = 0; sweep < grid.sweeps().size(); ++sweep)
            text += csvField(valueText(grid.value(i, sweep))) + ',';
        if (cell.outcome == CellOutcome::Failed)
            text += ",,,,,,,,";
        else
            text += text32(cell.score.loss) + ',' + text32(cell.lastLoss) + ',' +
                    known(cell.score.validationLoss) + ',' + known(cell.score.accuracy) + ',' +
                    numberText(cell.score.skipped) + ',' +
                    (cell.scale ? numberText(*cell.scale) : std::string()) + ',' +
                    known(cell.zeroGradients) + ',' + known(cell.gradientError) + ',' +
                    numberText(cell.steps);
        text +=
            std::string(",") + nameOf(cell.outcome) + ',' + csvField(cell.reason.english()) + '\n';
    }
    return text;
}

std::vector<size_t> applyCells(RunConfig& config, const SettingGrid& grid,
                               std::span<const size_t> cells) {
    if (cells.empty()) throw InputError(phrase("Training", "No cells are chosen"));
    const auto isOfMap = [&](size_t lane) {
        if (sameSettings(config, lane, grid.base(), 0)) return true;
        for (size_t cell = 0; cell < grid.cells(); ++cell)
            if (sameSettings(config, lane, grid.config(cell), 0)) return true;
        return false;
    };
    std::vector<LaneConfig> lanes;
    std::vector<size_t> from;
    bool placed = false;
    const auto place = [&](size_t lane) {
        placed = true;
        for (const size_t cell : cells) {
            lanes.push_back(grid.config(cell).lanes.front());
            from.push_back(lane);
        }
    };
    for (size_t lane = 0; lane < config.lanes.size(); ++lane) {
        if (!isOfMap(lane)) {
            lanes.push_back(config.lanes[lane]);
            from.push_back(lane);
        } else if (!placed) {
            place(lane);
        }
    }
    if (!placed) place(config.lanes.size() - 1);
    if (lanes.size() > kMaxLanes)
        throw InputError(phrase("Training", "These cells make %1 lanes, and a run has at most %2: "
                                            "choose fewer cells, or remove lanes first"),
                         lanes.size(), kMaxLanes);
    setRunValues(config, grid, cells);
    config.lanes = std::move(lanes);
    forgetLanes(config);
    return from;
}

} // namespace halfscope
