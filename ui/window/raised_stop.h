// Remembers how long a training was to be, and how patient, before Continue made it longer: a reset
// makes both what they were.
#pragma once

#include "ui/session/experiment_controller.h"
#include "ui/window/run_models.h"

#include <cstdint>
#include <optional>

namespace halfscope {

class RaisedStop {
public:
    /// Lets the controller's run, if it has ended, go on: sets the step at which it ends and, where
    /// run.patience has ended it, lets it wait for as many more validations as it was to wait for.
    /// These are no edits of the user's.
    void raise(RunModels&, const ExperimentController&, int64_t steps);
    /// Takes that back in the settings and in `config`, which is their copy, unless the length was
    /// edited since; returns whether the length is what it was. No run may be there that such an
    /// edit would reach.
    bool takeBack(RunModels&, RunConfig& config);

private:
    struct Length {
        int64_t steps = 0, epochs = 0;
    };
    bool isRaised(const RunConfig& config) const {
        return m_before && config.steps == m_steps && config.epochs == 0;
    }

    std::optional<Length> m_before;          ///< the first Continue; nothing when there was none
    int64_t m_steps = 0;                     ///< to which it was raised last
    std::optional<int64_t> m_patienceBefore; ///< likewise run.patience
    int64_t m_patience = 0;
};

} // namespace halfscope
