// Runs an action of the user. An error becomes a sentence in the banner.
#pragma once

#include "engine/core/error.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"

namespace halfscope {

/// Whether the action came to its end.
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
