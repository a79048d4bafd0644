// The suites as lists of cases. Most read one golden file each; code shared by a test and the
// command is in golden_ops, golden_optim, golden_runs and golden_scaler.
#pragma once

#include "engine/exec/executor.h"
#include "engine/verify/golden.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace halfscope::recorded {

/// The result of a case: the deviation of the value that came nearest to its bound.
struct CaseResult {
    double deviation = 0, bound = 0;
    std::string difference; ///< the first value beyond its bound; empty when there is none
    std::string illPosed;   ///< why the numbers decide the case neither way; empty when they do
                            ///< decide it
    bool passed() const { return difference.empty() && illPosed.empty(); }

    /// Adds a value. `what` is called only for the first value beyond the bound.
    void add(double deviation, double bound, const std::function<std::string()>& what);
    /// Adds a comparison of values that must be equal.
    void addEqual(bool equal, const std::function<std::string()>& what) {
        add(equal ? 0 : 1, 0, what);
    }
};

struct VerifyCase {
    std::string name;
    std::function<CaseResult()> run;
};
struct SuiteCases {
    std::vector<VerifyCase> cases;
    std::vector<std::string> notes;
};

/// Where the cases run: one executor for small graphs, and new ones for whole trainings.
struct VerifyDevice {
    std::unique_ptr<Executor> executor;
    std::function<std::unique_ptr<Executor>()> make;
};

/// Returns |value - wanted| / magnitude; 0 when both are nan or the same infinity; infinity when
/// they differ and one is not finite or the magnitude is 0.
double deviationOf(double value, double wanted, double magnitude);
std::string numberPair(double value, double wanted); ///< "0.5 instead of 0.25"

SuiteCases autocastSuite(const Golden&);
SuiteCases scalerSuite(const Golden&, VerifyDevice&);
SuiteCases optimSuite(const Golden&, VerifyDevice&);
SuiteCases opsSuite(const Golden&, VerifyDevice&);
SuiteCases runsSuite(const Golden&, VerifyDevice&);
SuiteCases productsSuite(VerifyDevice&);

} // namespace halfscope::recorded
