// The arithmetic of epochs.
#include "engine/data/epochs.h"

#include <algorithm>

namespace halfscope {

const char* nameOf(LastBatch last) {
    switch (last) {
    case LastBatch::Keep: return "keep";
    case LastBatch::Drop: return "drop";
    }
    return "";
}

int64_t EpochPlan::stepsPerEpoch() const {
    const int64_t whole = samples / batch;
    return last == LastBatch::Keep && samples % batch != 0 ? whole + 1 : whole;
}

int64_t EpochPlan::rowsOf(int64_t step) const { return std::min(batch, samples - firstOf(step)); }

} // namespace halfscope
