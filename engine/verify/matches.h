// Writes the manual's page on what matches PyTorch and what goes beyond it, from the tables that
// the tests and the program use.
#pragma once

#include "engine/verify/verify.h"

#include <string>

namespace halfscope {

/// Returns Markdown. The report must hold all suites, all of them passed; throws std::logic_error
/// otherwise.
std::string matchesReference(const VerifyReport&);

} // namespace halfscope
