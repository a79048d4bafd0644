// Runs the suites and collects the results of their cases.
#include "engine/verify/verify.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/core/text.h"
#include "engine/devices/device_list.h"
#include "engine/io/open_folder.h"
#include "engine/verify/suites.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <variant>

namespace halfscope {

using namespace recorded;

namespace {

using Recorded = SuiteCases (*)(const Golden&, VerifyDevice&); ///< with its golden file
using Computed = SuiteCases (*)(VerifyDevice&);                ///< without a file

struct Suite {
    const char* name;
    Phrase what;
    std::variant<Recorded, Computed> cases;
};
constexpr Suite kSuites[] = {
    {"autocast", phrase("Verification", "output dtypes"),
     [](const Golden& g, VerifyDevice&) { return autocastSuite(g); }},
    {"scaler", phrase("Verification", "GradScaler histories"), scalerSuite},
    {"optim", phrase("Verification", "optimizers, schedules, clipping"), optimSuite},
    {"ops", phrase("Verification", "values, gradients, second order"), opsSuite},
    {"runs", phrase("Verification", "whole trainings"), runsSuite},
    {"products", phrase("Verification", "large products, against float64"), productsSuite},
};

/// Returns whether a deviation is nearer to its bound, or farther beyond it, than the other one.
bool isWorse(double deviation, double bound, double than, double thanBound) {
    if (bound == 0 && thanBound == 0) return deviation > than;
    if (deviation > bound && bound == 0) return true;
    if (than > thanBound && thanBound == 0) return false;
    const double share = bound > 0 ? deviation / bound : 0;
    const double thanShare = thanBound > 0 ? than / thanBound : 0;
    return share > thanShare || (share == thanShare && bound > thanBound);
}

void checkFolder(const std::string& folder) {
    if (folder.empty()) return;
    int error = 0;
    namesIn(folder, Entries::All, &error, 0);
    if (error != 0)
        throw InputError(phrase("Verification", "%1: cannot read this folder: %2"), folder,
                         reasonOf(error));
}

std::vector<std::string> wantedSuites(const VerifyOptions& options) {
    const std::vector<std::string> known = verifySuites();
    for (const std::string& name : options.suites) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        throw InputError(phrase("Verification", "suite: %1 is not known%2"), quotedText(name),
                         nearestHint(name, known));
    }
    return options.suites.empty() ? known : options.suites;
}

struct OpenSuite {
    const Suite* suite;
    std::optional<Golden> file; ///< only for a recorded suite
};

/// Opens the suites and lists those whose file is missing; throws InputError when none of the
/// wanted files exists.
std::vector<OpenSuite> openSuites(const VerifyOptions& options,
                                  const std::vector<std::string>& wanted,
                                  std::vector<Message>& leftOut) {
    std::vector<OpenSuite> open;
    std::string missing;
    bool anyFile = false;
    for (const Suite& suite : kSuites) {
        if (std::find(wanted.begin(), wanted.end(), suite.name) == wanted.end()) continue;
        if (std::holds_alternative<Computed>(suite.cases)) {
            open.push_back({&suite, std::nullopt});
        } else if (const auto file = openGolden(options.folder, suite.name)) {
            open.push_back({&suite, file});
            anyFile = true;
        } else {
            const char* name = goldenFileOf(suite.name);
            leftOut.push_back(
                {phrase("Verification", "%1: no %2 in the folder"), suite.name, name});
            missing += (missing.empty() ? "" : ", ") + std::string(name);
        }
    }
    if (!missing.empty() && !anyFile)
        throw InputError(phrase("Verification", "%1: this folder contains none of the files %2"),
                         options.folder, missing);
    return open;
}

SuiteCases casesOf(const OpenSuite& open, VerifyDevice& device) {
    const Suite& suite = *open.suite;
    if (!open.file) return std::get<Computed>(suite.cases)(device);
    SuiteCases cases = std::get<Recorded>(suite.cases)(*open.file, device);
    if (cases.cases.empty())
        open.file->fail(phrase("Verification", "there is no case in this file"));
    return cases;
}

CaseResult resultOf(const VerifyCase& c) {
    try {
        return c.run();
    } catch (const std::logic_error& error) { // the engine refuses what the file asks for
        return {INFINITY, 0, std::string("cannot be run: ") + error.what(), {}};
    }
}

/// Makes a line fit to be shown: names of cases and functions come from the file, which may hold
/// anything.
std::string shownLine(const std::string& text) {
    return messageText(text); // long enough for a list of a hundred functions
}

/// Runs the cases. Returns false when the callback asked to stop.
bool runCases(const SuiteCases& suite, const VerifyOptions& options, SuiteResult& result) {
    for (const std::string& note : suite.notes)
        result.notes.push_back(shownLine(note));
    for (const VerifyCase& c : suite.cases) {
        const CaseResult found = resultOf(c);
        ++result.cases;
        if (found.passed()) {
            ++result.passed;
        } else if (found.difference.empty()) {
            result.illPosed.push_back(shownLine(c.name + ": " + found.illPosed));
        } else {
            result.failed.push_back(shownLine(c.name + ": " + found.difference));
        }
        if (result.cases == 1 ||
            isWorse(found.deviation, found.bound, result.worst, result.bound)) {
            result.worst = found.deviation;
            result.bound = found.bound;
        }
        const VerifyProgress progress{result.name, result.cases, suite.cases.size()};
        if (options.progress && !options.progress(progress)) return false;
    }
    return true;
}

} // namespace

namespace recorded {

double deviationOf(double value, double wanted, double magnitude) {
    if (value == wanted || (std::isnan(value) && std::isnan(wanted))) return 0;
    const double deviation = std::fabs(value - wanted) / magnitude;
    return std::isfinite(deviation) ? deviation : INFINITY;
}

std::string numberPair(double value, double wanted) {
    return numberText(value) + " instead of " + numberText(wanted);
}

void CaseResult::add(double found, double allowed, const std::function<std::string()>& what) {
    if (!(found <= allowed) && difference.empty()) difference = what();
    if (isWorse(found, allowed, deviation, bound)) {
        deviation = found;
        bound = allowed;
    }
}

} // namespace recorded

bool VerifyReport::passed() const {
    return std::all_of(suites.begin(), suites.end(),
                       [](const SuiteResult& s) { return s.failed.empty(); });
}

size_t VerifyReport::illPosed() const {
    size_t cases = 0;
    for (const SuiteResult& suite : suites)
        cases += suite.illPosed.size();
    return cases;
}

std::vector<std::string> verifySuites() {
    std::vector<std::string> names;
    for (const Suite& suite : kSuites)
        names.emplace_back(suite.name);
    return names;
}

VerifyReport verify(const VerifyOptions& options) {
    const std::vector<std::string> wanted = wantedSuites(options);
    checkFolder(options.folder);
    VerifyDevice device;
    device.make = [&options] { return makeExecutor(options.device, options.threads); };
    device.executor = device.make();
    VerifyReport report;
    report.device = device.executor->device().name;
    const auto ready = openSuites(options, wanted, report.leftOut);
    for (const OpenSuite& suite : ready) {
        SuiteResult result;
        result.name = suite.suite->name;
        result.what = suite.suite->what;
        report.stopped = !runCases(casesOf(suite, device), options, result);
        report.suites.push_back(std::move(result));
        if (report.stopped) break;
    }
    return report;
}

std::string verifyJson(const VerifyReport& report) {
    nlohmann::ordered_json json;
    json["device"] = report.device;
    json["suites"] = nlohmann::ordered_json::array();
    for (const SuiteResult& suite : report.suites) {
        json["suites"].push_back({{"name", suite.name},
                                  {"cases", suite.cases},
                                  {"passed", suite.passed},
                                  {"worst", suite.worst},
                                  {"bound", suite.bound},
                                  {"ill_posed", suite.illPosed},
                                  {"failed", suite.failed},
                                  {"notes", suite.notes}});
    }
    json["left_out"] = nlohmann::ordered_json::array();
    for (const Message& suite : report.leftOut)
        json["left_out"].push_back(suite.english());
    json["stopped"] = report.stopped;
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace halfscope
