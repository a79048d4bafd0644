// Whether steps that overflow at any loss scale have brought a lane's scale down to where gradients
// round to zero: then the size of the scale is not the fault. One rule for the lane that trains and
// for what is told of its rows.
#pragma once

#include <algorithm>
#include <cmath>

namespace halfscope {

/// Keeps the largest loss scale of a fault, which is a step that overflows at any loss scale, but
/// no more than other overflows have left since: what those took away was too large by itself. So
/// one fault at 65,536 before eleven other overflows explains nothing, and one at 16 does not hide
/// those that come once the scale has grown to 2^24. Adding the same steps again changes nothing.
class FaultScale {
public:
    /// Adds the loss scale of a step that was skipped although no loss scale would have prevented
    /// that.
    void add(float scale) {
        if (std::isfinite(scale)) m_scale = std::max(m_scale, scale);
    }
    /// Adds a step that was skipped although a smaller scale would have fitted, and the scale that
    /// it left. Where 1 divided by the scale is inf, it was too small instead.
    void addTooLarge(float scale, float scaleAfter) {
        if (std::isfinite(1 / scale)) m_scale = std::min(m_scale, scaleAfter);
    }
    /// Begins anew: the scale has been set by hand, or scaling was switched on or off.
    void forget() { m_scale = 0; }
    float scale() const { return m_scale; } ///< 0 when no fault counts
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
