// Remembers how long a training was to be before Continue made it longer: a reset makes it as long
// as it was.
#pragma once

#include "ui/window/run_models.h"

#include <cstdint>
#include <optional>

namespace halfscope {

class RaisedStop {
public:
    /// Sets the step at which the run ends; it is no edit of the user's.
    void raise(RunModels&, int64_t steps);
    /// Takes that back in the settings and in `config`, which is their copy, unless the length was
    /// edited since. No run may be there that such an edit would reach.
    void takeBack(RunModels&, RunConfig& config);

private:
    struct Length {
        int64_t steps = 0, epochs = 0;
    };
    bool isRaised(const RunConfig& config) const {
        return m_before && config.steps == m_steps && config.epochs == 0;
    }

    std::optional<Length> m_before; ///< the first Continue; nothing when there was none
    int64_t m_steps = 0;            ///< to which it was raised last
};

} // namespace halfscope
