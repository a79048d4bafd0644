// What the window shows, apart from its widgets: the settings that are edited, and the session's
// runs, and figures and events of the one that is seen.
#pragma once

#include "ui/models/config_model.h"
#include "ui/models/event_model.h"
#include "ui/models/run_list_model.h"
#include "ui/models/run_model.h"
#include "ui/session/edit_history.h"

namespace halfscope {

struct RunModels {
    ConfigModel config;
    RunModel run;
    EventModel events;
    RunStore store; ///< all runs of the session
    RunListModel list{store};
    EditHistory history{config};
};

} // namespace halfscope
