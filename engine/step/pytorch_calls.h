// What PyTorch calls the settings' precisions, optimizers and schedules, as Python writes it.
#pragma once

#include "engine/settings/run_config.h"

#include <optional>
#include <string>
#include <string_view>

namespace halfscope {

/// Arguments of a call.
class PythonArguments {
public:
    explicit PythonArguments(std::string first = {}) : m_text(std::move(first)) {}
    void add(const char* name, const std::string& value);
    /// Only what differs from PyTorch's default.
    void add(const char* name, double value, double standard);
    void add(const char* name, bool value, bool standard);
    const std::string& text() const { return m_text; }

private:
    std::string m_text;
};

/// How PyTorch gets a lane's precision.
struct TorchLane {
    std::string autocast; ///< the dtype; empty: off
    std::string cast;     ///< the dtype of the whole network; empty: float32
    bool tf32 = false;
};

/// Nothing where it cannot.
std::optional<TorchLane> torchLane(Precision);

/// "torch.optim.Adam(model.parameters(), lr=0.001)": what has PyTorch's default is left out.
std::string optimizerCall(const OptimizerConfig&, const std::string& parameters);
/// "torch.optim.lr_scheduler.StepLR(optimizer, ...)", where a schedule that spans the run has the
/// length `updates`, a name; empty for a constant rate.
std::string scheduleCall(const ScheduleConfig&);

/// "nn.utils.clip_grad_norm_(PARAMETERS, 1.0)"; empty where nothing is clipped.
std::string clipCall(const GradientConfig&, const std::string& parameters);

/// Each line, of which the last ends too, four spaces further to the right.
std::string indented(std::string_view lines);

} // namespace halfscope
