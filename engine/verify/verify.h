// Checks on this machine and device that the engine computes what PyTorch computed, and that large
// products match float64: runs the suites and reports how far off the worst case was. Leaves tables
// and dialogs to the programs.
#pragma once

#include "engine/core/message.h"

#include <functional>
#include <string>
#include <vector>

namespace halfscope {

/// The results of one suite, against its golden file or, when it has none, against float64.
struct SuiteResult {
    std::string name; ///< one of verifySuites()
    Phrase what;      ///< what is compared, in a few words
    size_t cases = 0, passed = 0;
    /// Those of the case that came nearest to its bound, or went farthest beyond it. Cases that
    /// must be equal have the bound 0 and deviate by 0 or 1.
    double worst = 0, bound = 0;
    std::vector<std::string> failed;   ///< "CASE: what differs", one line each
    std::vector<std::string> illPosed; ///< "CASE: why roundings alone decide it"; not failures
    std::vector<std::string> notes;    ///< what was left out, and why
};

struct VerifyReport {
    std::string device; ///< "AMD EPYC (2 threads)"
    std::vector<SuiteResult> suites;
    /// Suites whose file is missing: "runs: no training_runs.json in the folder".
    std::vector<Message> leftOut;
    bool stopped = false; ///< by the progress callback; `suites` then holds those that finished
    bool passed() const;  ///< true when nothing failed
    size_t illPosed() const;
};

struct VerifyProgress {
    std::string suite;
    size_t done = 0, cases = 0;
};

struct VerifyOptions {
    /// A folder with any of the five files; empty for the copies inside the program. Suites that
    /// need no file run with any folder.
    std::string folder;
    std::string device = "auto";
    int threads = 0;
    std::vector<std::string> suites; ///< empty for all
    /// Called after each case; returns false to stop.
    std::function<bool(const VerifyProgress&)> progress;
};

/// Returns the suites in the order in which they run: "autocast", "scaler", "optim", "ops", "runs",
/// "products".
std::vector<std::string> verifySuites();

/// Runs the suites. Throws InputError for an unknown suite or device, a folder that cannot be read
/// or holds none of the wanted files, and a malformed file (with file, place and what is wrong);
/// EngineError when the device fails.
VerifyReport verify(const VerifyOptions&);

/// Returns {"device", "suites": [{"name", "cases", "passed", "worst", "bound", "ill_posed",
/// "failed", "notes"}], "left_out", "stopped"}; a deviation that is not finite is null.
std::string verifyJson(const VerifyReport&);

} // namespace halfscope
