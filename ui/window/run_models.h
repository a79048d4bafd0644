// The models behind the window: the settings that are being edited, the runs of the session, and
// the figures and events of the run that is shown.
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
