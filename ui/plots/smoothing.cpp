// The moving average, one multiplication a point.
#include "ui/plots/smoothing.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

Smoother::Smoother(double weight) : m_weight(weight > 0 ? std::min(weight, kMost) : 0) {}

double Smoother::add(double value) {
    m_sum = m_weight * m_sum + (1 - m_weight) * value;
    m_shares = m_weight * m_shares + (1 - m_weight); // 1 - w^n, without a power
    return m_sum / m_shares;
}

void SmoothedColumn::setWeight(double weight) {
    m_smoother = Smoother(weight);
    m_series.clear();
    m_step = 0;
}

void SmoothedColumn::update(const Column& raw) {
    if (weight() <= 0) return;
    raw.values(m_step + 1, raw.lastStep(), [this](int64_t step, double value) {
        if (std::isfinite(value)) m_series.append(step, m_smoother.add(value));
    });
    m_step = raw.lastStep();
}

} // namespace halfscope
