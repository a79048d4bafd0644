// Whether steps that overflow at any loss scale have brought a lane's scale down to where gradients
// round to zero: then the size of the scale is not the fault. One rule for the lane that trains and
// for what is told of its rows.
#pragma once

#include <cmath>

namespace halfscope {

class FaultScale {
public:
    /// Adds the loss scale of a step that was skipped although no loss scale would have prevented
    /// that. Only the first one counts.
    void add(float scale) {
        if (m_scale == 0 && std::isfinite(scale)) m_scale = scale;
    }
    float scale() const { return m_scale; } ///< 0 when there was no such step
    /// Whether gradients that all round to zero at a later scale may do so only because it has come
    /// down. A normal number of fp16 rounds to zero once it has fallen by 2^11, to half of the
    /// smallest subnormal. Where the scale has fallen less, no gradient was a normal number before,
    /// either.
    bool explains(float smallScale) const {
        constexpr float kNormal = 0x1p11F;
        return m_scale > 0 && smallScale <= m_scale / kNormal;
    }

private:
    float m_scale = 0;
};

} // namespace halfscope
