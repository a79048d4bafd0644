// The bench command: milliseconds and memory of training steps on a device, lane by lane.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace halfscope::cli {

struct BenchOptions {
    std::string device = "auto";
    std::string only;  ///< rows whose name holds this text; empty: those that suit the device
    std::string lanes; ///< empty: fp32, amp-fp16, amp-bf16, and tf32 on a GPU
    int rounds = 15;   ///< the median of so many
    int threads = 0;
    std::string data;    ///< a folder or "sample": what its reading costs, in place of the rows
    int workers = 0;     ///< of data
    std::string pytorch; ///< a Python with PyTorch, whose steps are timed too; empty: none
    bool json = false;

    void addTo(CLI::App& command);
};

/// The mean of the two middle values where their number is even. `values` must not be empty.
double median(std::vector<double> values);

/// 0, or 130 when it was interrupted: rows that were finished are printed. InputError for an
/// unknown row, lane or device; EngineError.
int benchCommand(const BenchOptions&);

} // namespace halfscope::cli
