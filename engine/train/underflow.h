// Notices when all gradients of a lane begin to round to zero, and says so in an event. Costs a
// comparison a step; only the first such step is run again, to be sure.
#pragma once

#include "engine/graph/graph.h"
#include "engine/runs/fault_scale.h"
#include "engine/runs/step_record.h"
#include "engine/train/fitting_scale.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace halfscope {

/// Whether all gradients of a clean step are zero although its loss is neither zero nor infinite.
/// That may be underflow; dead units and a loss at its minimum have such gradients, too.
bool gradientsVanished(const StepRecord&);
/// Whether small numbers of a step round to zero where float32 and bfloat16 still hold them.
bool losesSmallNumbers(const Graph&);

class UnderflowWatch {
public:
    /// What a lane does to its loss.
    struct Scaling {
        float after = 1; ///< the scale after the update
        bool on = true;
    };
    /// Looks at a finished update whose gradientsVanished(), and adds an event when underflow
    /// begins. `keeps` repeats the update and returns the scale that would have kept its
    /// gradients, see RepeatedUpdate::scaleWithGradients(); `batches` is how many batches it added
    /// up. Returns false when that was stopped midway: the same update can be looked at again.
    bool look(const StepRecord&, Scaling, int64_t batches,
              const std::function<std::optional<float>()>& keeps, std::vector<Event>&);
    /// The last step whose gradients were all zero; 0 when there is none, or when another loss
    /// scale than the one in force has been set since: LaneTotals sees that in the rows.
    int64_t lastStep() const { return m_lastStep; }
    /// Adds a skipped step to FaultScale: its scale, the one that it left, and what would have
    /// fitted.
    void addSkip(float scale, float scaleAfter, FittingScale::Known fitting) {
        if (fitting == FittingScale::Known::None) m_fault.add(scale);
        if (fitting == FittingScale::Known::Largest) m_fault.addTooLarge(scale, scaleAfter);
    }
    /// See FaultScale.
    float faultScale() const { return m_fault.scale(); }
    void restore(int64_t lastStep, float faultScale) {
        forget();
        m_lastStep = lastStep;
        m_fault.add(faultScale);
    }
    /// The scale has been set by hand: no fault has brought it there, even where it was the same.
    void setScale(double before, double now) {
        m_fault.forget();
        if (now != before) m_lastStep = 0;
    }
    /// Begins anew, since scaling was switched on or off.
    void forget() { *this = {}; }

private:
    int64_t m_lastStep = 0;
    FaultScale m_fault;
};

} // namespace halfscope
