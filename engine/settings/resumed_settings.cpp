// Asks the field table alone, so that the command line and the window agree.
#include "engine/settings/resumed_settings.h"

#include <string>

namespace halfscope {

namespace {

bool isPlace(const Field& field) {
    if (field.kind == FieldKind::Path) return field.scope == FieldScope::Run;
    return field.key == "run.device" || field.key == "run.threads" || field.key == "data.workers";
}

} // namespace

bool changesOnResume(const Field& field, const FieldValue& value) {
    const bool skips = field.key == "data.damaged" && value == FieldValue(std::string("skip"));
    return isPlace(field) || skips;
}

bool takeOnResume(RunConfig& recorded, const RunConfig& settings) {
    bool any = false;
    for (const Field& field : fieldTable()) {
        if (field.scope != FieldScope::Run) continue;
        const FieldValue now = field.get(settings, -1);
        if (now == field.get(recorded, -1) || !changesOnResume(field, now)) continue;
        setField(recorded, -1, field.key, now);
        any = true;
    }
    return any;
}

} // namespace halfscope
