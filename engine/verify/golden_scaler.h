// A recorded history of torch.amp.GradScaler, replayed three ways: by the pure rules, by the class
// with PyTorch's calls, and by the update op on a device. All must agree with it exactly.
#pragma once

#include "engine/verify/suites.h"

namespace halfscope::recorded {

/// Replays by next() of grad_scaler.h, from update to update.
CaseResult replayRules(const Golden& trace);
/// Replays by GradScaler of scaler_api.h; also compares which optimizers stepped, and every error.
CaseResult replayCalls(const Golden& trace);
/// Replays by Op::ScalerUpdate in a graph.
CaseResult replayOnDevice(const Golden& trace, Executor&);

} // namespace halfscope::recorded
