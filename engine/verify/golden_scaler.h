// A recorded history of torch.amp.GradScaler, replayed three ways: by the pure rules, by the class
// with PyTorch's calls, and by the update op on a device. All must agree with it to the bit.
#pragma once

#include "engine/verify/suites.h"

namespace halfscope::recorded {

/// By next() of grad_scaler.h, from update to update.
CaseResult replayRules(const Golden& trace);
/// By GradScaler of scaler_api.h: who stepped, and every error, too.
CaseResult replayCalls(const Golden& trace);
/// By Op::ScalerUpdate in a graph.
CaseResult replayOnDevice(const Golden& trace, Executor&);

} // namespace halfscope::recorded
