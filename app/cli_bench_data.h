// halfscope-cli bench --data: measures what reading samples costs a step.
#pragma once

#include "app/cli_bench.h"
#include "app/cli_signals.h"

namespace halfscope::cli {

/// Prints rows "loader alone", "step alone" and "both" of the preset mnist-mlp. Returns the exit
/// code.
int benchData(const BenchOptions&, const SignalWatch&);

} // namespace halfscope::cli
