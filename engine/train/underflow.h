// Notices when all gradients of a lane begin to round to zero, and says so in an event. Costs a
// comparison a step; only the first such step is run again, to be sure.
#pragma once

#include "engine/graph/graph.h"
#include "engine/runs/step_record.h"

#include <cmath>
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
    /// Remembers the loss scale of the first step that was skipped for inf or nan which no loss
    /// scale prevents: where the scale comes down a long way from there, its size is not the fault.
    void addFault(float scale) {
        if (m_faultScale == 0 && std::isfinite(scale)) m_faultScale = scale;
    }
    float faultScale() const { return m_faultScale; } ///< 0 when there was no such step
    void restore(int64_t lastStep, float faultScale) {
        m_lastStep = lastStep;
        m_faultScale = faultScale;
    }
    /// Begins anew, since another loss scale has been set.
    void forget() { *this = {}; }

private:
    int64_t m_lastStep = 0;
    float m_faultScale = 0;
};

} // namespace halfscope
