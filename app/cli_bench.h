// The bench command: measures milliseconds and memory of training steps on a device, lane by lane.
#pragma once

#include "engine/settings/run_config.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace halfscope::cli {

struct BenchOptions {
    std::string device = "auto";
    std::string only;  ///< rows whose name contains this text; empty: those that suit the device
    std::string lanes; ///< empty: fp32, amp-fp16, amp-bf16, and tf32 on a GPU
    int rounds = 15;   ///< the number of rounds, of which the median is taken
    int threads = 0;
    std::string data;    ///< a folder or "sample": measures what reading it costs, instead of the
                         ///< rows
    int workers = 0;     ///< for `data`
    std::string pytorch; ///< a Python with PyTorch, whose steps are timed, too; empty: none
    bool json = false;

    void addTo(CLI::App& command);
    /// Returns the lanes, or `usual` ones. Throws InputError.
    std::vector<LaneConfig> lanesOr(const char* usual) const;
};

/// Returns the median: the mean of the two middle values when their number is even. `values` must
/// not be empty.
double median(std::vector<double> values);

/// Returns 0, or 130 when it was interrupted; the rows that were finished are printed. Throws
/// InputError for an unknown row, lane or device, and EngineError.
int benchCommand(const BenchOptions&);

} // namespace halfscope::cli
