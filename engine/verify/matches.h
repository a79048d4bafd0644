// The manual's page on what matches PyTorch and what goes beyond, made from the tables that tests
// and program work with.
#pragma once

#include "engine/verify/verify.h"

#include <string>

namespace halfscope {

/// Markdown. The report must hold all suites, all of them green: std::logic_error otherwise.
std::string matchesReference(const VerifyReport&);

} // namespace halfscope
