// Python for data that are drawn, those to validate on behind those to train on.
#pragma once

#include "engine/core/text.h"
#include "engine/data/task_spec.h"

#include <string>

namespace halfscope {

/// Returns how many samples there are in all.
inline std::string drawnPython(const TaskConfig& task) {
    if (task.validationSamples == 0) return "SAMPLES";
    return "SAMPLES + " + numberText(task.validationSamples);
}

/// Returns the last lines of samples(), which divide x and the target.
inline std::string returnDrawnPython(const TaskConfig& task) {
    if (task.validationSamples == 0) return "    return (x, target), None\n";
    return "    validation = x[SAMPLES:], target[SAMPLES:]\n"
           "    return (x[:SAMPLES], target[:SAMPLES]), validation\n";
}

} // namespace halfscope
