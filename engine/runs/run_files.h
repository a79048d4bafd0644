// Lines of steps.csv, timing.csv and events.csv from records. RunWriter writes whole folders.
#pragma once

#include "engine/io/atomic_file.h"
#include "engine/runs/step_record.h"

#include <span>
#include <string>

namespace halfscope {

/// One record as a line with a newline, under the header of the same name.
///   steps.csv   step,lane,loss,scale,growth_tracker,learning_rate,gradient_norm,skipped,grew,
///               backed_off,loss_not_finite,skipped_so_far
///   events.csv  step,lane,kind,scale_before,scale_after,tensor,text
///   timing.csv  step,lane,device_seconds,wall_seconds
/// Lanes go by name, flags are 0 or 1, numbers read back as the same value ("nan", "inf", "-inf").
extern const char* const kStepHeader;
extern const char* const kEventHeader;
extern const char* const kTimingHeader;
std::string stepLine(const StepRecord&, std::span<const std::string> lanes);
std::string eventLine(const Event&, std::span<const std::string> lanes);
std::string timingLine(const StepRecord&, std::span<const std::string> lanes);

} // namespace halfscope
