// Keeps what takeBetter() takes.
#include "app/cli_best.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/input_file.h"
#include "engine/runs/run_folder.h"
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
        if (!same) write(lane, readFile(file, kMostBytes));
        m_best[lane] = *best;
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
    const LaneTotals::Best best = found->second;
    write(lane, readFile(pathIn(m_folder, parent), kMostBytes));
    m_best[lane] = best;
}

void BestFiles::add(const std::string& lane, const StepRow& row,
                    const std::function<std::string()>& weights) {
    if (!row.measured(metric::ValidationLoss)) return;
    Validation validation{row[metric::ValidationLoss]};
    if (row.measured(metric::Accuracy)) validation.accuracy = row[metric::Accuracy];
    const auto found = m_best.find(lane);
    std::optional<BestValue> best;
    if (found != m_best.end()) best = found->second;
    if (!takeBetter(best, validation, row.step)) return;
    write(lane, weights());
    m_best[lane] = *best;
}

void BestFiles::write(const std::string& lane, const std::string& content) {
    const std::string_view whole = content;
    const Message problem = m_writer.place(run_file::best(lane), {&whole, 1}, {});
    if (!problem.empty()) throw RunError(problem);
}

} // namespace halfscope::cli
