// Runs an optimizer alone on a device: one parameter, gradients from outside, and the emitters of
// the step.
#pragma once

#include "engine/exec/executor.h"
#include "engine/settings/run_config.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace halfscope::recorded {

enum class Skipping : uint8_t { Selects, Never };
enum class Momentum : uint8_t { Own, Scheduled };

/// Has the parameter "p", the inputs "g" and "lr" and, if they are wanted, "skip" and "complement".
class OptimizerRun {
public:
    OptimizerRun(Executor&, const OptimizerConfig&, DType storage, const std::vector<float>& start,
                 Skipping = Skipping::Selects, Momentum = Momentum::Own);
    void setMomentum(double); ///< only for Momentum::Scheduled
    void setState(const char* name, const std::vector<float>& values);
    void step(const std::vector<float>& gradient, bool skip = false);
    std::vector<float> state(const std::string& name);
    std::map<std::string, std::vector<float>> states();

private:
    void uploadFloat(const char* input, float value);
    bool m_selects;
    std::shared_ptr<const Program> m_program;
    Executor& m_executor;
};

} // namespace halfscope::recorded
