// The limits of what counts as a rise.
#include "engine/runs/loss_rise.h"

#include <cmath>

namespace halfscope {

namespace {

constexpr double kFarAbove = 10;    // times the first loss: no batch is so much harder than another
constexpr int64_t kLongRise = 5;    // steps; fewer are a spike
constexpr int64_t kRisesApart = 25; // steps between two that count as one spell
constexpr int64_t kLaterBy = 10;    // steps by which another lane may fail first

} // namespace

bool LossRise::Spell::covers(int64_t step) const {
    return count >= kLongRise && from <= step + kLaterBy && step <= to + kRisesApart;
}

void LossRise::add(const StepRow& row) {
    if (!row.measured(metric::Loss)) return;
    const double loss = double{row.loss()};
    const bool lost = row.has(kLossNotFinite) || !std::isfinite(loss);
    if (m_first == 0 && !lost) m_first = loss;
    const bool high = lost || (m_first > 0 && loss >= kFarAbove * m_first);
    if (!high) return;
    if (m_last.count == 0 || row.step - m_last.to > kRisesApart) {
        if (m_earlier.count == 0 && m_last.count >= kLongRise) m_earlier = m_last;
        m_last = {row.step, row.step, 0};
    }
    m_last.to = row.step;
    ++m_last.count;
}

bool LossRise::covers(int64_t step) const { return m_earlier.covers(step) || m_last.covers(step); }

} // namespace halfscope
