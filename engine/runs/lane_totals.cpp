// Sums of a lane's rows, and medians of times.
#include "engine/runs/lane_totals.h"

#include "engine/scaler/grad_scaler.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

void LaneTotals::add(const StepRow& row) {
    m_skips.add(row);
    addScale(row);
    addNorm(row);
    m_last = row;
    if (row.measured(metric::Loss)) m_training.add(static_cast<double>(row.loss()));
    m_test.reset(); // the run goes on
    for (const MetricId id :
         {metric::ValidationLoss, metric::Accuracy, metric::TrainingAccuracy,
          metric::ValidationError, metric::Perplexity, metric::UnchangedWeights,
          metric::UnchangedCopies, metric::WeightDistance, metric::GradientError, metric::TestLoss,
          metric::TestAccuracy, metric::TestPerplexity, metric::TestError})
        if (row.measured(id)) addValue(row.step, id, row[id]);
}

void LaneTotals::add(const Event& event) {
    m_skips.add(event);
    if (event.kind == EventKind::Overflow && !m_isHelpless) {
        m_overflow = event.text;
        m_isHelpless = isHelpless(event);
    }
    if (event.kind == EventKind::Underflow) addUnderflow(event);
    if (event.scaleAfter == event.scaleBefore) return;
    m_scaleStep = event.step;
    m_scaleAfter = event.scaleAfter;
    settleScale(event);
}

void LaneTotals::addUnderflow(const Event& event) {
    const bool ofFault = isUnderflowOfFault(event);
    if (m_underflowStep == 0 || (m_isUnderflowOfFault && !ofFault)) {
        m_underflow = event.text;
        m_underflowStep = event.step;
        m_isUnderflowOfFault = ofFault;
        m_underflows.clear();
    }
    if (ofFault == m_isUnderflowOfFault) m_underflows.push_back(event.step);
}

void LaneTotals::addScale(const StepRow& row) {
    if (m_zeros.empty()) return; // the first spell is new anyway
    if (!m_last.has(kGrew | kBackedOff) || m_scaleStep == m_last.step) {
        m_looksAnew = m_looksAnew || row.scale() != scaleAfter();
        return;
    }
    if (m_settled == std::ssize(m_unsettled)) {
        m_unsettled.clear();
        m_settled = 0;
    }
    m_unsettled.push_back({m_last.step, row.scale()}); // the event is still to come
}

void LaneTotals::settleScale(const Event& event) {
    const auto found =
        std::lower_bound(m_unsettled.begin() + m_settled, m_unsettled.end(), event.step,
                         [](const LeftScale& scale, int64_t step) { return scale.step < step; });
    if (found == m_unsettled.end() || found->step != event.step) return;
    const bool isSet = found->next != event.scaleAfter;
    m_settled = found + 1 - m_unsettled.begin();
    if (!isSet) return;
    const auto part = std::ranges::upper_bound(m_zeros, event.step, {}, &ZeroSpell::first);
    (part == m_zeros.end() ? m_looksAnew : part->isNew) = true;
}

void LaneTotals::addNorm(const StepRow& row) {
    if (row.step % m_skips.stepsPerUpdate() != 0) return;
    ++m_updates;
    constexpr uint32_t kUnclean = kSkipped | kSteppedOnOverflow | kLossNotFinite;
    if (!row.measured(metric::GradientNorm) || row.gradientNorm() != 0) return;
    if (row.loss() == 0 || row.has(kUnclean)) return; // as gradientsVanished() has it
    const int64_t apart = kUnderflowsApart * m_skips.stepsPerUpdate();
    const bool isNew = m_zeros.empty() || m_looksAnew || row.step - m_zeros.back().last > apart;
    const bool mayBeNew =
        m_settled < std::ssize(m_unsettled) && m_unsettled.back().step >= m_zeros.back().last;
    if (isNew || mayBeNew) m_zeros.push_back({.isNew = isNew});
    m_looksAnew = false;
    m_zeros.back().add({.first = row.step, .last = row.step, .count = 1, .scale = row.scale()});
}

void LaneTotals::ZeroSpell::add(const ZeroSpell& later) {
    if (count == 0) first = later.first;
    last = later.last;
    count += later.count;
    scale = std::max(scale, later.scale);
}

LaneTotals::ZeroSpell LaneTotals::lost() const {
    ZeroSpell all;
    auto event = m_underflows.begin();
    for (auto part = m_zeros.begin(); part != m_zeros.end();) {
        ZeroSpell spell = *part++;
        while (part != m_zeros.end() && !part->isNew)
            spell.add(*part++);
        event = std::find_if(event, m_underflows.end(),
                             [&spell](int64_t step) { return step >= spell.first; });
        if (event == m_underflows.end()) break;
        if (*event > spell.last) continue;
        all.add(spell);
    }
    return all;
}

bool LaneTotals::faultsExplainUnderflow() const {
    return m_underflowStep > 0 ? m_isUnderflowOfFault : m_skips.faultScale().explains(scaleAfter());
}

Message LaneTotals::underflowText() const {
    const ZeroSpell zeros = lost();
    if (m_underflowStep == 0 || zeros.count == 0) return m_underflow;
    if (m_last.scale() > zeros.scale)
        return zeros.count == 1
                   ? Message(phrase("Events", "Step %1: all gradients rounded to zero at loss "
                                              "scale %2 (underflow). The loss scale has become "
                                              "larger since."),
                             m_underflowStep, scaleText(zeros.scale))
                   : Message(phrase("Events",
                                    "In %1 of %2 updates, first at step %3, all gradients rounded "
                                    "to zero (underflow), up to loss scale %4. The loss scale has "
                                    "become larger since."),
                             zeros.count, m_updates, m_underflowStep, scaleText(zeros.scale));
    if (zeros.count == 1) return m_underflow;
    return {phrase("Events", "%1 This happened in %2 of %3 updates."), m_underflow, zeros.count,
            m_updates};
}

void LaneTotals::add(int64_t step, MetricId id, double value) {
    if (step == m_last.step && id < metric::kKnown) m_last.set(id, value);
    addValue(step, id, value);
}

LaneTotals LaneTotals::ofLane(int32_t lane) const {
    LaneTotals totals = *this;
    totals.m_last.lane = lane;
    return totals;
}

void LaneTotals::continueFrom(const LaneTotals& parent, int64_t forkStep, int32_t lane,
                              bool scalesAnew) {
    if (m_last.step != 0 || parent.m_last.step != forkStep) return;
    *this = parent.ofLane(lane);
    fork(forkStep, scalesAnew);
}

void LaneTotals::addValue(int64_t step, MetricId id, double value) {
    if (id == metric::ValidationLoss) {
        m_validationLoss = value;
        m_validationStep = step;
        if (takeBetter(m_bestLoss, JudgedBy::Loss, {value, step}))
            m_trainingAtLoss = m_training.median();
    }
    if (id == metric::TrainingAccuracy) m_trainingAccuracy = value;
    if (id == metric::ValidationError) m_validationError = value;
    if (id == metric::Perplexity) m_perplexity = value;
    if (id == metric::UnchangedWeights) m_unchangedWeights = value;
    if (id == metric::UnchangedCopies) m_unchangedCopies = value;
    if (id == metric::WeightDistance) m_weightDistance = value;
    if (id == metric::GradientError) m_gradientError = value;
    if (id == metric::TestLoss) m_test = Validation{value}; // the first of a test's values
    if (id == metric::TestAccuracy && m_test) m_test->accuracy = value;
    if (id == metric::TestPerplexity && m_test) m_test->perplexity = value;
    if (id == metric::TestError && m_test) m_test->error = value;
    if (id != metric::Accuracy) return;
    m_accuracy = value;
    const bool diverged = step == m_validationStep && !areFinite({}, m_validationLoss);
    if (!diverged && takeBetter(m_bestAccuracy, JudgedBy::Accuracy, {value, step}))
        m_trainingAtAccuracy = m_training.median();
}

bool LaneTotals::fellFromItsBest() const {
    const std::optional<double>& now = m_bestAccuracy ? m_accuracy : m_validationLoss;
    return best() && now && isClearlyWorse(judgedBy(), *now, best()->value);
}

bool LaneTotals::overfits() const {
    if (!fellFromItsBest() || !m_validationLoss || !std::isfinite(*m_validationLoss)) return false;
    const auto& loss = m_bestLoss; // of few samples a single one is more than chance in accuracies
    if (!loss || !isClearlyWorse(JudgedBy::Loss, *m_validationLoss, loss->value)) return false;
    const double before = m_bestAccuracy ? m_trainingAtAccuracy : m_trainingAtLoss;
    return fellMeanwhile(before, m_training.median());
}

double medianOf(std::vector<float> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return double{*middle};
}

void RecentTimes::add(double seconds) {
    const auto time = static_cast<float>(seconds);
    if (m_seconds.size() < static_cast<size_t>(kMost)) {
        m_seconds.push_back(time);
        return;
    }
    m_seconds[m_next] = time;
    m_next = (m_next + 1) % m_seconds.size();
}

} // namespace halfscope
