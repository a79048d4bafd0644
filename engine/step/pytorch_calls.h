// Writes the settings' precisions, optimizers and schedules as PyTorch's calls in Python.
#pragma once

#include "engine/settings/run_config.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// The arguments of a call.
class PythonArguments {
public:
    explicit PythonArguments(std::string first = {}) : m_text(std::move(first)) {}
    void add(const char* name, const std::string& value);
    /// Adds an argument only when it differs from PyTorch's default.
    void add(const char* name, double value, double standard);
    void add(const char* name, bool value, bool standard);
    const std::string& text() const { return m_text; }

private:
    std::string m_text;
};

/// How a lane's precision is set up in PyTorch.
struct TorchLane {
    std::string autocast; ///< the dtype; empty when autocast is off
    std::string cast;     ///< the dtype of the whole network; empty for float32
    bool tf32 = false;
    bool fp8 = false; ///< layers multiply numbers of FP8 (pytorch_fp8.h)
};

/// Returns nothing when PyTorch has no such precision.
std::optional<TorchLane> torchLane(Precision);

/// Returns a lane's settings that PyTorch does not have and that are not at their defaults, with
/// their values: "scaler.floor 1".
std::vector<std::string> settingsPyTorchLacks(const RunConfig&, size_t lane);

/// Returns a call such as "torch.optim.Adam(model.parameters(), lr=0.001)". Arguments at PyTorch's
/// defaults are left out.
std::string optimizerCall(const OptimizerConfig&, const std::string& parameters);
/// Returns a call such as "torch.optim.lr_scheduler.StepLR(optimizer, ...)"; empty for a constant
/// rate. A schedule that spans the run gets the Python name `updates` as its length.
std::string scheduleCall(const ScheduleConfig&);

/// Returns a call such as "nn.utils.clip_grad_norm_(PARAMETERS, 1.0)"; empty when nothing is
/// clipped.
std::string clipCall(const GradientConfig&, const std::string& parameters);

/// Returns the lines of main() that give weights of the file the network's names; empty without
/// any.
std::string renameLines(const std::map<std::string, std::string>& names);

/// Returns the call that takes a state dict, "model.load_state_dict(weights)": strict, unless parts
/// of the file of model.weights are taken.
std::string loadCall(const ModelConfig&, const std::string& network, const std::string& weights);

/// Indents each line by four more spaces. The last line ends with a line break too.
std::string indented(std::string_view lines);

} // namespace halfscope
