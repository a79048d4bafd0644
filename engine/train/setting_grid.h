// A map of settings: one lane, trained once for every combination of the values of one or two
// settings of its own or of the run. All cells of the map start from the same weights and see the
// same batches, unless the seed is one of the settings. Knows no windows and no threads of its own.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/lane_ranking.h"
#include "engine/settings/sweep.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace halfscope {

/// Returns the numbers of the lanes in which each of the settings means something for at least one
/// combination of the values.
std::vector<size_t> lanesForSweeps(const RunConfig&, std::span<const Sweep>);

/// What is to be trained. The first setting has the rows, the second one the columns; with a single
/// setting there is one column. Cells are numbered row by row.
class SettingGrid {
public:
    static constexpr size_t kMostCells = 400;
    static constexpr size_t kMostSettings = 2;

    /// Takes one lane of the experiment, without its forks and its edits of lanes. `steps` is the
    /// length of each training; without it they are as long as the run. Throws InputError for other
    /// than one or two settings, for a setting that is given twice or means nothing in the lane,
    /// and for more than kMostCells cells.
    SettingGrid(const RunConfig&, size_t lane, std::vector<Sweep>,
                std::optional<int64_t> steps = {});

    size_t rows() const { return m_sweeps.front().values.size(); }
    size_t columns() const { return m_sweeps.size() > 1 ? m_sweeps[1].values.size() : 1; }
    size_t cells() const { return rows() * columns(); }
    std::span<const Sweep> sweeps() const { return m_sweeps; }
    /// The experiment with the mapped lane alone, as it is without the values of the map.
    const RunConfig& base() const { return m_base; }
    /// Returns the experiment that a cell trains: the same as a run with these settings. Not
    /// checked: some combinations may be refused.
    RunConfig config(size_t cell) const;
    /// Returns the value that a setting of the map has in a cell.
    const FieldValue& value(size_t cell, size_t sweep) const;
    /// Returns the values of a setting as people write them, see axisTexts(): by row or column.
    std::span<const std::string> texts(size_t sweep) const { return m_texts.at(sweep); }
    /// Returns that of the value in a cell.
    const std::string& text(size_t cell, size_t sweep) const {
        return m_texts.at(sweep).at(indexOf(cell, sweep));
    }

private:
    size_t indexOf(size_t cell, size_t sweep) const {
        return sweep == 0 ? cell / columns() : cell % columns();
    }
    RunConfig m_base;
    size_t m_lane; ///< its number in the experiment
    std::vector<Sweep> m_sweeps;
    std::vector<std::vector<std::string>> m_texts; ///< by sweep
};

/// Says which settings have no effect in how many cells, beside the other setting of the map: such
/// cells are trained alike. Usually empty.
Message idleInCells(const SettingGrid&);

/// How the training of a cell ended.
enum class CellOutcome : uint8_t {
    Finished,
    Stopped, ///< before its last step, by its own rules: its scale reached the floor
    Failed,  ///< nothing but GridCell::reason is known then
};

/// The classes that a cell predicted in a validation.
struct JudgedClasses {
    int64_t all = 0, right = 0;
    int64_t mostFrequent = 0; ///< as many are right where the most frequent one is always named
};

struct GridCell {
    /// Gradients are counted so often, the last time after the last step, so many steps apart. A
    /// count takes at least as long as a step, so shorter trainings have fewer: one for so many
    /// steps.
    static constexpr int64_t kCounts = 9, kBetweenCounts = 3, kStepsOfACount = 8;

    CellOutcome outcome = CellOutcome::Finished;
    LaneScore score;
    double lastLoss = 0;          ///< of a single step; `score` has the median of the last ones
    std::optional<float> scale{}; ///< after the last step; nothing where the loss is not scaled
    /// The share of the gradients that are zero, and how far they are from float32's, see
    /// GradientError: medians of the counts in which they are finite. Where the training ended
    /// early, there are fewer counts, at least that after its last step. Nothing where they are
    /// never finite, not stored or not compared.
    std::optional<double> zeroGradients{}, gradientError{};
    std::optional<JudgedClasses> classes{}; ///< of the last validation; nothing without classes
    int64_t steps = 0;                      ///< how many were trained
    double milliseconds = 0;                ///< median time of a step on its device
    Message reason{};                       ///< why it failed, stopped or ended early; else empty
};

/// Returns the name of an outcome in tables: "finished", "stopped", "failed".
const char* nameOf(CellOutcome);

/// Is told how the training of a map goes on, on the thread that trains.
struct GridListener {
    std::function<void(size_t cell, int64_t steps)> stepped{}; ///< after each step
    std::function<void(size_t cell, const GridCell&)> finished{};
};

/// Trains all cells, one after the other. The data are read once; where samples depend on the seed,
/// see Dataset::usesSeed(), they are made again whenever it changes from one cell to the next.
/// Returns false when `stop` asked for an end, which comes within a step; the cell in progress is
/// not told then. A cell that fails leaves the others alone. Throws InputError and RunError for
/// data that no cell could use, and EngineError for a device that fails in the first cell.
bool trainGrid(const SettingGrid&, const GridListener&, const std::stop_token& stop = {});

/// The cells of a map by number; nothing for those that are not trained yet.
using GridCells = std::vector<std::optional<GridCell>>;

/// Returns the numbers of the cells that were trained, from the best to the worst, see ranked().
/// Those that stopped early come last, because a shorter training proves less; those that failed
/// are left out.
std::vector<size_t> rankedCells(const GridCells&);
/// Returns the first of them, if it was trained to its end and its losses are finite.
std::optional<size_t> bestCell(const GridCells&);
/// Tells what sets it apart from the other cells that were trained to their end, by their numbers.
/// There must be a best cell.
Win winOf(const GridCells&);

/// Returns a sentence without its full stop where clearly more gradients are zero in the best cell
/// than in others, which sets a lower loss in doubt; else an empty one. Where a setting of the run
/// varies, networks differ, and with them the gradients that are zero by right: it is empty, too.
Message zerosOfBest(const SettingGrid&, const GridCells&);
/// Returns a sentence without its full stop where the accuracy of the best cell is not clearly
/// above that of always naming the most frequent class; else an empty one.
Message chanceOfBest(const GridCells&);

/// Returns "init_scale 2^10, growth_interval 20" for a cell.
std::string cellText(const SettingGrid&, size_t cell);

/// Returns the map as a csv table: a line for each cell that is known.
std::string gridCsv(const SettingGrid&, const GridCells&);

/// Puts lanes with the settings of these cells into an experiment, in place of the lane that was
/// mapped and of earlier cells of the same map; other lanes stay. Without such a lane they become
/// the last ones. Settings of the run take the value that they have in these cells. Removes forks
/// and edits of lanes. Returns for each lane the number of the one that it was made from. Throws
/// InputError for no cells, for cells that differ in a setting of the run, and for more than 6
/// lanes.
std::vector<size_t> applyCells(RunConfig&, const SettingGrid&, std::span<const size_t> cells);

} // namespace halfscope
