// Implements the verify command's progress, table and list of failures.
#include "app/cli_verify.h"

#include "app/cli_output.h"

#include "engine/verify/matches.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace halfscope::cli {

namespace {

using namespace std::chrono_literals;

constexpr size_t kBarWidth = 20;
constexpr size_t kMostFailures = 10; // of a suite; --json has all

/// One line on a terminal, drawn again ten times a second; nothing in a pipe, where the table comes
/// after seconds.
class Line {
public:
    void show(const VerifyProgress& progress) {
        const auto now = std::chrono::steady_clock::now();
        const bool last = progress.done == progress.cases;
        if (!m_terminal || (!last && m_drawn && now - m_shown < 100ms)) return;
        const size_t full = progress.done * kBarWidth / progress.cases;
        const std::string text = "[" + std::string(full, '#') + std::string(kBarWidth - full, '.') +
                                 "] " + progress.suite + " " + std::to_string(progress.done) + "/" +
                                 std::to_string(progress.cases);
        printNote("\r" + text.substr(0, noteWidth() - 1) + "\033[K");
        m_drawn = true;
        m_shown = now;
    }
    void clear() {
        if (m_drawn) printNote("\r\033[K");
    }

private:
    bool m_terminal = noteIsTerminal();
    bool m_drawn = false;
    std::chrono::steady_clock::time_point m_shown;
};

using Row = std::array<std::string, 6>;

Row rowOf(const SuiteResult& suite) {
    const bool exact = suite.bound == 0;
    return {suite.name,
            std::to_string(suite.cases),
            std::to_string(suite.passed),
            exact && suite.worst == 0 ? "equal" : shortNumber(suite.worst, 3),
            exact ? "equal" : shortNumber(suite.bound, 3),
            suite.what};
}

std::string tableOf(const std::vector<SuiteResult>& suites) {
    std::vector<Row> rows{{"suite", "cases", "passed", "worst", "bound", "what"}};
    for (const SuiteResult& suite : suites)
        rows.push_back(rowOf(suite));
    std::string text;
    for (const Row& row : rows) {
        for (size_t column = 0; column + 1 < row.size(); ++column) {
            size_t width = 0;
            for (const Row& other : rows)
                width = std::max(width, other[column].size());
            text += padded(row[column], width + 2);
        }
        text += row.back() + "\n";
    }
    return text;
}

std::string failuresOf(const SuiteResult& suite) {
    std::string text;
    const size_t shown = std::min(suite.failed.size(), kMostFailures);
    for (size_t i = 0; i < shown; ++i)
        text += suite.name + " failed: " + suite.failed[i] + "\n";
    if (shown < suite.failed.size()) {
        text += suite.name + ": " + std::to_string(suite.failed.size() - shown) +
                " more failed (--json lists all)\n";
    }
    return text;
}

std::string textOf(const VerifyReport& report) {
    std::string text = "Against PyTorch, on " + report.device + "\n" + tableOf(report.suites);
    for (const SuiteResult& suite : report.suites) {
        for (const std::string& note : suite.notes)
            text += suite.name + " " + note + "\n";
    }
    for (const std::string& suite : report.leftOut)
        text += "Left out: " + suite + "\n";
    for (const SuiteResult& suite : report.suites)
        text += failuresOf(suite);
    return text;
}

} // namespace

void VerifyCommandOptions::addTo(CLI::App& command) {
    command
        .add_option("--golden", golden,
                    "A folder with any of autocast_dtypes.json, gradscaler_traces.json, "
                    "optim_sched_clip.json, op_values.json and training_runs.json; without it "
                    "those that come with the program")
        ->type_name("DIR")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    command.add_option("--device", device, "auto, cpu, cuda or cuda:INDEX")
        ->type_name("DEVICE")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    command
        .add_option("--only", only,
                    "Suites: autocast, scaler, optim, ops, runs; with commas, or given again")
        ->type_name("SUITE")
        ->delimiter(',')
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    CLI::Option* asJson = command.add_flag("--json", json, "Print JSON, with every failed case");
    command
        .add_flag("--markdown", markdown,
                  "Print what matches PyTorch and what goes beyond, as Markdown")
        ->excludes(asJson);
}

int verifyCommand(const VerifyCommandOptions& options) {
    Line line;
    VerifyOptions how;
    how.folder = options.golden;
    how.device = options.device;
    how.suites = options.only;
    how.progress = [&line](const VerifyProgress& progress) {
        line.show(progress);
        return true;
    };
    struct Clear {
        Line& line;
        ~Clear() { line.clear(); } // before an error's line too
    };
    VerifyReport report;
    {
        const Clear clear{line};
        report = verify(how);
    }
    if (options.markdown && report.passed())
        print(matchesReference(report));
    else
        print(options.json ? verifyJson(report) : textOf(report));
    return report.passed() ? 0 : 1;
}

} // namespace halfscope::cli
