// A recorded history of torch.amp.GradScaler, replayed three ways: by the pure rules, by the class
// with PyTorch's calls, and by the update op on a device. All must agree with it to the bit.
#pragma once

#include "engine/verify/suites.h"

namespace halfscope::recorded {

CaseResult replayRules(const Golden& trace);
CaseResult replayCalls(const Golden& trace);
CaseResult replayOnDevice(const Golden& trace, Executor&);

} // namespace halfscope::recorded
