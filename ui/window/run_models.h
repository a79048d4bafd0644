// What the window shows, apart from its widgets: the settings that are edited, and the figures
// and events of the run that is seen.
#pragma once

#include "ui/models/config_model.h"
#include "ui/models/event_model.h"
#include "ui/models/run_model.h"
#include "ui/session/edit_history.h"

namespace halfscope {

struct RunModels {
    ConfigModel config;
    RunModel run;
    EventModel events;
    EditHistory history{config};
};

} // namespace halfscope
