// Runs an action of the user and shows its error, if any, as a sentence in the banner.
#pragma once

#include "engine/core/error.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"

namespace halfscope {

/// Runs `action`; returns false when it threw InputError or RunError. Other exceptions pass.
template <class Action>
bool guarded(Banner& banner, Action action) {
    try {
        action();
        return true;
    } catch (const InputError& error) {
        banner.showText(translated(error));
    } catch (const RunError& error) {
        banner.showText(translated(error));
    }
    return false;
}

} // namespace halfscope
