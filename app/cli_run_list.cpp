// Of a run whose summary does not tell its figures, all is read; one is in memory at a time.
#include "app/cli_run_list.h"

#include "app/cli_output.h"
#include "app/cli_ranking.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/open_folder.h"
#include "engine/runs/run_figures.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_score.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace halfscope::cli {

namespace {

struct ListedRun {
    std::vector<std::string> cells;
    RunScore score;
};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Takes the digits at the start of a text, without zeros in front.
std::string_view takeNumber(std::string_view& text) {
    size_t end = 0;
    while (end < text.size() && isDigit(text[end]))
        ++end;
    std::string_view number = text.substr(0, end);
    text.remove_prefix(end);
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
}

/// Orders names as a person does: "run2" before "run10".
bool comesBefore(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        if (isDigit(a.front()) && isDigit(b.front())) {
            const std::string_view x = takeNumber(a), y = takeNumber(b);
            if (x.size() != y.size()) return x.size() < y.size();
            if (x != y) return x < y;
        } else if (a.front() != b.front()) {
            return a.front() < b.front();
        } else {
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    return a.size() < b.size();
}

/// Orders all of them: "run1" and "run01" have the same number.
bool isBefore(const std::string& a, const std::string& b) {
    return comesBefore(a, b) || (!comesBefore(b, a) && a < b);
}

/// Whether a folder has at least one of the files without which there is no saved run: what a run
/// has lost must not hide it.
bool holdsPart(const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::exists(folder / run_file::kExperiment, ignored) ||
           std::filesystem::exists(folder / run_file::kSteps, ignored);
}

/// Returns the names of the folders with runs.
std::vector<std::string> runsIn(const std::string& folder) {
    int error = 0;
    std::vector<std::string> names = namesIn(folder, Entries::Folders, &error);
    if (error != 0)
        throw InputError(Message::data("runs: " + pathText(folder) +
                                       " cannot be read: " + std::strerror(error)));
    const std::filesystem::path path(folder);
    std::erase_if(names, [&path](const std::string& name) { return !holdsPart(path / name); });
    std::sort(names.begin(), names.end(), isBefore);
    if (!names.empty()) return names;
    throw InputError(Message::data(
        holdsPart(path)
            ? "runs: " + pathText(folder) + " is the folder of a run; name the folder around it"
            : "runs: no folder in " + pathText(folder) + " holds a saved run"));
}

/// Returns what `text` says of each lane, with commas between; "-" when it says nothing of any.
template <class Text>
std::string ofLanes(const RunFigures& run, Text text) {
    std::string all;
    bool any = false;
    for (const LaneFigures& lane : run.lanes) {
        const std::string one = text(lane);
        any = any || !one.empty();
        all += (&lane != &run.lanes.front() ? "," : "") + (one.empty() ? std::string("-") : one);
    }
    return any ? all : "-";
}

std::string lossText(const std::optional<double>& loss) {
    return loss ? shortNumber(*loss, 6) : std::string();
}

std::string validationText(const LaneFigures& lane) {
    if (!lane.accuracy) return lossText(lane.validationLoss);
    std::string text = accuracyText(*lane.accuracy, lane.validationLoss);
    std::erase(text, ' '); // the cell is one word for programs that split lines
    return text;
}

ListedRun lineOf(const std::string& name, const RunFigures& run) {
    return {{pathText(name), ofLanes(run, [](const LaneFigures& lane) { return lane.name; }),
             std::to_string(run.steps),
             run.outcome ? nameOf(*run.outcome)
             : run.ended ? "-"
                         : "unfinished",
             ofLanes(run, [](const LaneFigures& lane) { return lossText(lane.loss); }),
             ofLanes(run, [](const LaneFigures& lane) { return lossText(lane.lastLoss); }),
             ofLanes(run, validationText)},
            scoreOf(run.lanes)};
}

} // namespace

void listSavedRuns(const std::string& folder, const std::string& order) {
    if (!order.empty() && order != "validation" && order != "loss" && order != "name")
        throw InputError(Message::data("runs: --order: " + quotedText(order) +
                                       " is not allowed: " + kRunOrders));
    std::vector<ListedRun> runs;
    std::vector<std::string> reasons;
    for (const std::string& name : runsIn(folder)) {
        const std::string path = (std::filesystem::path(folder) / name).string();
        if (const std::optional<RunFigures> figures = figuresIn(path)) {
            runs.push_back(lineOf(name, *figures));
            continue;
        }
        try {
            const auto run = readRun(path);
            runs.push_back(lineOf(name, figuresOf(run->now())));
            for (const MissingPart& part : run->info().missing)
                if (!part.reason.empty()) // what is listed ends there
                    reasons.push_back(pathText(name) + " lacks " + part.text().english());
        } catch (const InputError& error) {
            reasons.push_back(pathText(name) + " cannot be read: " + error.what());
        }
    }
    if (runs.empty()) {
        for (size_t i = 1; i < reasons.size(); ++i)
            printNote(reasons[i] + "\n");
        throw InputError(Message::data("runs: " + reasons.front()));
    }
    if (order != "name") {
        const auto better = order == "loss" ? losesLess : validatesBetter;
        std::stable_sort(
            runs.begin(), runs.end(),
            [better](const ListedRun& a, const ListedRun& b) { return better(a.score, b.score); });
    }
    std::vector<std::vector<std::string>> rows{
        {"name", "lanes", "steps", "outcome", "loss", "last", "validation"}};
    for (ListedRun& each : runs)
        rows.push_back(std::move(each.cells));
    print(tableText(rows));
    for (const std::string& reason : reasons)
        printNote(reason + "\n");
}

} // namespace halfscope::cli
