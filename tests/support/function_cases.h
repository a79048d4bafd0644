// The functions that autocast is tested on.
#pragma once

#include "engine/ops/op_suite.h"

#include <vector>

namespace halfscope::test {

/// The functions of the tables and those that only layers use.
inline const std::vector<AutocastCase>& functionCases() {
    static const std::vector<AutocastCase> cases = [] {
        std::vector<AutocastCase> all(autocastCases().begin(), autocastCases().end());
        all.insert(all.end(), otherCases().begin(), otherCases().end());
        return all;
    }();
    return cases;
}

} // namespace halfscope::test
