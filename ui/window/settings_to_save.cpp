// Compares the settings with those that the run began and ended with.
#include "ui/window/settings_to_save.h"

#include "engine/settings/fields.h"
#include "ui/window/run_words.h"

namespace halfscope {

SettingsToSave settingsToSave(const ConfigModel& settings, const Run* shown) {
    const RunConfig recorded = shown ? shown->info().recorded : settings.config();
    SettingsToSave saved;
    saved.changedInRun = RunWords::isChanged(recorded);
    // a continued run too: its learning rates are those of the first length
    saved.sameAsRun = settings.isStill(recorded) || settings.isStill(settingsAtEnd(recorded));
    saved.asTrained = (saved.changedInRun || !recorded.edits.empty()) && saved.sameAsRun;
    saved.config = saved.asTrained ? recorded : settings.config();
    return saved;
}

} // namespace halfscope
