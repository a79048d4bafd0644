// Which experiment a file or a program is written of: the run that is shown, or the settings.
#pragma once

#include "engine/runs/run.h"
#include "ui/models/config_model.h"

namespace halfscope {

struct SettingsToSave {
    RunConfig config;
    bool sameAsRun = false;    ///< the settings are those of the run, or there is no run
    bool asTrained = false;    ///< the config is the recorded run, with its forks and live edits
    bool changedInRun = false; ///< the run has forks or live edits that act on its lanes
};

/// Returns the run as it was trained, unless it had neither forks nor edits or the settings are
/// others by now. `shown` is null where there is no run.
SettingsToSave settingsToSave(const ConfigModel&, const Run* shown);

} // namespace halfscope
