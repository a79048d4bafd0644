// Implements the verify command's progress, table and list of failures.
#include "app/cli_verify.h"

#include "app/cli_options.h"
#include "app/cli_output.h"
#include "app/cli_signals.h"

#include "engine/core/text.h"
#include "engine/verify/matches.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace halfscope::cli {

namespace {

using namespace std::chrono_literals;

constexpr size_t kVerifyBar = 20;
constexpr size_t kMostLines = 10; // of each suite and kind; --json has all

/// One line on a terminal, redrawn ten times a second. Prints nothing in a pipe, where the table
/// comes within seconds.
class Line {
public:
    void show(const VerifyProgress& progress) {
        const auto now = std::chrono::steady_clock::now();
        const bool last = progress.done == progress.cases;
        if (!m_terminal || (!last && m_drawn && now - m_shown < 100ms)) return;
        const double share =
            static_cast<double>(progress.done) / static_cast<double>(progress.cases);
        redrawNote(barText(share, kVerifyBar) + " " + progress.suite + " " +
                   std::to_string(progress.done) + "/" + std::to_string(progress.cases));
        m_drawn = true;
        m_shown = now;
    }
    void clear() {
        if (m_drawn) clearNote();
    }

private:
    bool m_terminal = noteIsTerminal();
    bool m_drawn = false;
    std::chrono::steady_clock::time_point m_shown;
};

using Row = std::array<std::string, 7>;

Row rowOf(const SuiteResult& suite) {
    const bool exact = suite.bound == 0;
    return {suite.name,
            std::to_string(suite.cases),
            std::to_string(suite.passed),
            std::to_string(suite.illPosed.size()),
            exact && suite.worst == 0 ? "equal" : shortNumber(suite.worst, 3),
            exact ? "equal" : shortNumber(suite.bound, 3),
            suite.what.text()};
}

std::string tableOf(const std::vector<SuiteResult>& suites) {
    std::vector<Row> rows{{"suite", "cases", "passed", "ill-posed", "worst", "bound", "what"}};
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

std::string linesOf(const SuiteResult& suite, const std::string& state,
                    const std::vector<std::string>& cases) {
    std::string text;
    const size_t shown = std::min(cases.size(), kMostLines);
    for (size_t i = 0; i < shown; ++i)
        text += suite.name + " " + state + ": " + cases[i] + "\n";
    if (shown < cases.size()) {
        text += suite.name + ": " + std::to_string(cases.size() - shown) + " more " + state +
                " (--json lists all)\n";
    }
    return text;
}

std::string textOf(const VerifyReport& report) {
    std::string text = "Verified on " + report.device + "\n" + tableOf(report.suites);
    for (const SuiteResult& suite : report.suites) {
        for (const std::string& note : suite.notes)
            text += suite.name + " " + note + "\n";
    }
    for (const Message& suite : report.leftOut)
        text += "Skipped: " + suite.english() + "\n";
    for (const SuiteResult& suite : report.suites)
        text += linesOf(suite, "ill-posed", suite.illPosed);
    for (const SuiteResult& suite : report.suites)
        text += linesOf(suite, "failed", suite.failed);
    if (report.passed() && report.illPosed() > 0)
        text += "Nothing failed; " + std::to_string(report.illPosed()) +
                (report.illPosed() == 1 ? " case is" : " cases are") +
                " ill-posed: this precision cannot decide them.\n";
    return text;
}

} // namespace

void VerifyCommandOptions::addTo(CLI::App& command) {
    textOption(
        command, "--golden", golden,
        "A folder with any of autocast_dtypes.json, gradscaler_traces.json, "
        "optim_sched_clip.json, op_values.json and training_runs.json; without it those that "
        "come with the program. Suites that need no file run in any case",
        "DIR", "the path of a folder");
    deviceOption(command, device);
    std::string suites;
    for (const std::string& name : verifySuites())
        suites += (suites.empty() ? "" : ", ") + name;
    command.add_option("--only", only, "Suites: " + suites + "; separated by commas, or repeated")
        ->type_name("SUITE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    CLI::Option* asJson = command.add_flag("--json", json, "Print JSON, with every failed case");
    command
        .add_flag("--markdown", markdown,
                  "Print what matches PyTorch and what goes beyond, as Markdown")
        ->excludes(asJson);
}

int verifyCommand(const VerifyCommandOptions& options) {
    SignalWatch signals;    // before the engine starts threads
    signals.setStop([] {}); // interrupted() is checked after each case
    Line line;
    VerifyProgress last;
    VerifyOptions how;
    how.folder = options.golden;
    how.device = options.device;
    for (const std::string& list : options.only)
        for (const std::string_view suite : partsOf(list, ','))
            how.suites.emplace_back(suite); // verify() reports an empty one
    how.progress = [&](const VerifyProgress& progress) {
        line.show(progress);
        last = progress;
        return !signals.interrupted();
    };
    struct Clear {
        Line& line;
        ~Clear() { line.clear(); } // also before an error's line
    };
    VerifyReport report;
    {
        const Clear clear{line};
        report = verify(how);
    }
    if (options.markdown && report.passed() && report.illPosed() == 0 && !report.stopped)
        print(matchesReference(report));
    else
        print(options.json ? verifyJson(report) : textOf(report));
    if (!report.stopped) return report.passed() ? 0 : 1;
    printNote("Interrupted in " + last.suite + " after " + std::to_string(last.done) + " of " +
              std::to_string(last.cases) + (last.cases == 1 ? " case" : " cases") +
              "; the results so far were printed\n");
    return kInterruptedExit;
}

} // namespace halfscope::cli
