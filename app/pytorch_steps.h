// PyTorch's side of a bench: a Python process that builds the same networks from the programs that
// Halfscope writes for PyTorch, and times its steps in turn with ours.
#pragma once

#include "app/cli_signals.h"

#include "engine/train/step_cases.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <sys/types.h>
#include <vector>

namespace halfscope::cli {

extern const char* const kPyTorchStepsSource; ///< app/pytorch_steps.py

class PyTorchSteps {
public:
    /// One lane in one of PyTorch's ways to run a network: eager, channels_last, compiled.
    struct Way {
        std::string lane, way;
        std::vector<double> seconds{}; ///< the time of a step in each round
    };

    /// Starts `python`, which must have PyTorch, with `threads` threads; 0 leaves the number to
    /// PyTorch. Throws InputError when it cannot be started or lacks PyTorch. This and the other
    /// functions do nothing more once a signal came.
    PyTorchSteps(const std::string& python, bool cuda, int threads, const SignalWatch&);
    ~PyTorchSteps();
    PyTorchSteps(const PyTorchSteps&) = delete;
    PyTorchSteps& operator=(const PyTorchSteps&) = delete;

    const std::string& version() const { return m_version; } ///< of PyTorch
    /// Prepares a row's network in each lane that PyTorch has, and takes first steps, which may
    /// compile for minutes. Each row has a process of its own, and another when that ends: ways
    /// that fail, or end the process, are noted with their reason. Throws EngineError when the
    /// process ends before all ways, and InputError when PyTorch has none of the lanes.
    void prepare(const StepCase&, const std::vector<LaneConfig>&);
    /// Times each way once. When the process ends, which is noted, the row has no ways any more.
    void round();
    /// Returns the ways that prepare() made ready, with the rounds since.
    const std::vector<Way>& ways() const { return m_ways; }

private:
    void start();
    void end();
    void launch();
    std::string howItEnded();
    bool takeWays(const nlohmann::json& request);
    nlohmann::json ask(const nlohmann::json& request);
    void send(std::string_view line);
    std::string receive();

    std::string m_python;
    const SignalWatch& m_signals;
    bool m_cuda = false;
    int m_threads = 0;
    int m_socket = -1; ///< connected to the process's standard input and output
    pid_t m_process = -1;
    std::string m_read; ///< what came after the last line
    std::string m_version;
    bool m_isNew = false; ///< the process has prepared no row
    std::string m_row;    ///< the name of the row that was prepared last
    Way m_trying;         ///< the way whose first steps are taken
    std::vector<Way> m_ways;
};

} // namespace halfscope::cli
