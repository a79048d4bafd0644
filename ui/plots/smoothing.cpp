// The moving average, one multiplication a point.
#include "ui/plots/smoothing.h"

#include <algorithm>

namespace halfscope {

Smoother::Smoother(double weight) : m_weight(weight > 0 ? std::min(weight, kMost) : 0) {}

double Smoother::add(double value) {
    m_sum = m_weight * m_sum + (1 - m_weight) * value;
    m_shares = m_weight * m_shares + (1 - m_weight); // 1 - w^n, without a power
    return m_sum / m_shares;
}

void SmoothedSeries::setWeight(double weight) {
    m_smoother = Smoother(weight);
    m_series.clear();
}

void SmoothedSeries::update(const Series& raw) {
    if (weight() <= 0) return;
    for (qsizetype i = m_series.size(); i < raw.size(); ++i)
        m_series.append(raw.step(i), m_smoother.add(raw.value(i)));
}

} // namespace halfscope
