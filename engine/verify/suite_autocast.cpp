// Checks the output dtype of every function under every policy and combination of input dtypes,
// exactly.
#include "engine/core/error.h"
#include "engine/ops/op_suite.h"
#include "engine/verify/suites.h"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

namespace halfscope::recorded {
namespace {

constexpr std::array<std::string_view, 4> kCombinations = {"all_float32", "all_low", "first_low",
                                                           "last_low"};

/// The dtype's name, or why the function refuses.
struct Given {
    std::string text;
    bool refused = false;
};
Given dtypeOf(const AutocastCase& function, const CastPolicy& policy,
              const std::string& combination) {
    try {
        return {std::string(nameOf(autocastResult(function, policy, combination))), false};
    } catch (const InputError& error) {
        return {std::string("refused (") + error.what() + ")", true};
    } catch (const std::logic_error& error) { // a fault of the engine, reported like any other
                                              // deviation
        return {std::string("a broken rule (") + error.what() + ")", false};
    }
}

CaseResult compareDtype(const AutocastCase& function, const CastPolicy& policy,
                        const std::string& combination, const std::string& wanted) {
    CaseResult result;
    const Given given = dtypeOf(function, policy, combination);
    const bool equal = wanted.starts_with("error") ? given.refused : given.text == wanted;
    result.addEqual(equal, [&] { return given.text + " instead of " + wanted; });
    return result;
}

void addTable(const std::string& table, const Golden& rows, SuiteCases& suite,
              std::set<std::string>& unknown) {
    const std::optional<CastPolicy> policy = autocastTablePolicy(table);
    if (!policy) {
        suite.notes.push_back("skipped: the table " + table + ", whose policy is unknown here");
        return;
    }
    for (const auto& [op, row] : rows.members()) {
        const AutocastCase* function = autocastCase(op);
        if (function == nullptr) {
            unknown.insert(op);
            continue;
        }
        for (const auto& [combination, value] : row.members()) {
            if (std::find(kCombinations.begin(), kCombinations.end(), combination) ==
                kCombinations.end()) {
                value.fail(phrase(
                    "Verification",
                    "no such combination; known are all_float32, all_low, first_low and last_low"));
            }
            suite.cases.push_back(
                {table + " " + op + " " + combination,
                 [function, policy, combination = combination, wanted = value.text()] {
                     return compareDtype(*function, *policy, combination, wanted);
                 }});
        }
    }
}

} // namespace

SuiteCases autocastSuite(const Golden& golden) {
    SuiteCases suite;
    std::set<std::string> unknown;
    for (const auto& [table, rows] : golden.members()) {
        if (table == "torch" || table == "device") continue; // these say what recorded the tables
        addTable(table, rows, suite, unknown);
    }
    if (!unknown.empty()) {
        std::string names;
        for (const std::string& name : unknown)
            names += (names.empty() ? "" : ", ") + name;
        suite.notes.push_back("skipped: functions that the engine does not have: " + names);
    }
    return suite;
}

} // namespace halfscope::recorded
