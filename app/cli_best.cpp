// Keeps what takeBetter() takes.
#include "app/cli_best.h"

#include "app/cli_output.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/io/input_file.h"
#include "engine/runs/run_folder.h"
#include "engine/settings/run_task.h"
#include "engine/train/state_dict.h"

#include <filesystem>
#include <string_view>
#include <system_error>

namespace halfscope::cli {
namespace {

constexpr size_t kMostBytes = size_t{1} << 40; // a run has written them

std::string pathIn(const std::string& folder, const std::string& lane) {
    return (std::filesystem::path(folder) / run_file::best(lane)).string();
}

/// Returns the step of a file of weights; empty for one that cannot be read, too.
std::string knownStep(const std::string& path) {
    try {
        return stepIn(path);
    } catch (const InputError&) {
        return {};
    }
}

} // namespace

bool BestFiles::has(const std::string& folder, const std::string& lane) {
    std::error_code ignored;
    return std::filesystem::exists(pathIn(folder, lane), ignored);
}

Message BestFiles::goOn(const std::string& from, const std::string& lane, const LaneTotals& soFar) {
    const auto& best = soFar.best();
    const std::string file = pathIn(from, lane), own = pathIn(m_folder, lane);
    std::error_code error;
    const bool same = std::filesystem::equivalent(from, m_folder, error);
    if (best && has(from, lane) && knownStep(file) == std::to_string(best->step)) {
        const Message problem = same ? Message() : write(lane, readFile(file, kMostBytes));
        if (!problem.empty()) throw RunError(problem); // nothing is trained by then
        m_best[lane] = {*best, soFar.judgedBy()};
        return {};
    }
    if (same && !std::filesystem::remove(own, error) && error)
        throw RunError(Message::data(pathText(own) + ": cannot remove: " + error.message()));
    if (!best) return {};
    return Message::data(run_file::best(lane) +
                         ": the weights after the best validation so far, "
                         "that of step " +
                         std::to_string(best->step) +
                         ", are not there; it begins with the next one.");
}

void BestFiles::fork(const std::string& parent, const std::string& lane) {
    const auto found = m_best.find(parent);
    if (found == m_best.end()) return;
    const Kept best = found->second;
    if (const auto lost = m_unsaved.find(parent); lost != m_unsaved.end()) {
        m_best[lane] = best;
        m_unsaved[lane] = lost->second;
    } else {
        keep(lane, best, readFile(pathIn(m_folder, parent), kMostBytes));
    }
}

void BestFiles::add(const std::string& lane, const StepRow& row,
                    const std::function<std::string()>& weights) {
    if (!row.measured(metric::ValidationLoss)) return;
    Validation validation{row[metric::ValidationLoss]};
    if (row.measured(metric::Accuracy)) validation.accuracy = row[metric::Accuracy];
    const auto found = m_best.find(lane);
    const JudgedBy by = validation.accuracy ? JudgedBy::Accuracy : JudgedBy::Loss;
    std::optional<BestValue> best;
    if (found != m_best.end() && found->second.by == by) best = found->second.best;
    if (takeBetter(best, validation, row.step)) keep(lane, {*best, by}, weights());
}

std::string BestFiles::unsavedText() const {
    std::string text;
    for (const auto& [lane, why] : m_unsaved) {
        const std::string step = knownStep(pathIn(m_folder, lane));
        text += "Best weights: those of step " + std::to_string(m_best.at(lane).best.step) + " (" +
                lane + ") are missing" +
                (step.empty() ? "" : ", the file has those of step " + step) + ": " +
                why.english() + "\n";
    }
    return text;
}

void BestFiles::keep(const std::string& lane, const Kept& kept, const std::string& content) {
    const bool failed = m_unsaved.contains(lane);
    const Message problem = write(lane, content);
    m_best[lane] = kept; // also of a file that fails: one that is worse must not pass for it
    if (problem.empty())
        m_unsaved.erase(lane);
    else
        m_unsaved[lane] = problem;
    if (failed == !problem.empty()) return;
    m_beforeNote();
    const std::string weights = "the best weights of " + lane + ", those of step ",
                      step = std::to_string(kept.best.step);
    printNote(failed ? "Files can be written again: there are " + weights + step + "\n"
                     : "halfscope-cli: " + problem.english() + "; " + weights + step +
                           ", are not there, and the run goes on\n");
}

Message BestFiles::write(const std::string& lane, const std::string& content) {
    const std::string_view whole = content;
    return m_writer.place(run_file::best(lane), {&whole, 1}, {});
}

void checkKeepsBest(const std::string& out, const Experiment& experiment) {
    if (out.empty())
        throw InputError(Message::data(
            "--keep-best: --out is missing, the folder that the weights are written into"));
    const TaskKind kind = experiment.config().task.kind;
    if (factsOf(taskOf(experiment.config())).validation == 0)
        throw InputError(
            Message::data("--keep-best: there are no samples to validate on; " +
                          (infoOf(kind).validates
                               ? std::string(validationSetting(kind)) + " sets how many there are"
                               : "data.validation holds back a share of some kinds of data")));
}

} // namespace halfscope::cli
