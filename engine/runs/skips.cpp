// The counts, the limits of what is normal, and the sentences.
#include "engine/runs/skips.h"

#include "engine/scaler/grad_scaler.h"

namespace halfscope {

namespace {

/// Clean steps in a row after which the scale has found its place. A few come by chance while it is
/// one halving too high and some batches fit.
constexpr int kSettled = 20;
/// A usual scaler skips once in a growth interval, which is long. One step in ten, after the start,
/// is far from that; of fewer than kFew no share can be told.
constexpr int64_t kOften = 10, kFew = 4;
/// From the largest first scale that a known scaler has, 2^32, down to 1 by halves.
constexpr int64_t kLongStart = 32;
/// Scalers forgive one or two overflows before the scale falls; not so many in a row.
constexpr int64_t kForgiven = 10;

/// Adds a cause; one that explains all needs no number.
void addCause(std::string& causes, int64_t count, int64_t all, const char* words) {
    if (count == 0) return;
    if (!causes.empty()) causes += ", ";
    causes += count == all ? words : std::to_string(count) + ' ' + words;
}

} // namespace

void SkipTally::add(const StepRow& row) {
    ++m_steps;
    const bool crossed = m_fell && m_scale >= 1;
    m_belowOne = row.scale() < 1 && (m_belowOne || crossed);
    m_fell = row.has(kBackedOff);
    m_scale = row.scale();
    if (!row.has(kLossNotFinite))
        m_lossLostAt = 0;
    else if (m_lossLostAt == 0)
        m_lossLostAt = row.step;
    if (row.has(kSkipped)) {
        ++(!m_settled ? m_start : m_trial ? m_trials : m_others);
        m_trial = false;
    }
    m_unanswered = row.has(kSkipped) && !row.has(kBackedOff) ? m_unanswered + 1 : 0;
    m_settled = m_settled || row.has(kGrew) || row.growthTracker() >= kSettled;
    m_trial = m_trial || row.has(kGrew);
}

bool SkipTally::held(bool dynamic) const { return !dynamic || m_unanswered > kForgiven; }

bool SkipTally::often(int64_t count) const {
    return count >= kFew && count * kOften > m_steps - m_start;
}

SkipVerdict SkipTally::verdict(bool dynamic) const {
    if (skipped() == 0) return SkipVerdict::None;
    const bool bad = m_lossLostAt > 0 || m_belowOne || held(dynamic) || often(m_others) ||
                     often(m_trials) || m_start > kLongStart;
    return bad ? SkipVerdict::TooMany : SkipVerdict::Normal;
}

std::string SkipTally::countText() const {
    const bool all = skipped() == m_steps;
    const std::string of = all ? "" : " of " + std::to_string(m_steps);
    return (all && m_steps > 1 ? "all " : "") + std::to_string(skipped()) + of +
           (m_steps == 1 ? " step" : " steps") + (skipped() == 1 ? " was" : " were") + " skipped";
}

std::string SkipTally::sentence(bool dynamic) const {
    if (skipped() == 0) return {};
    const std::string count = countText();
    if (m_lossLostAt > 0)
        return count + ". That is not normal: the loss is not finite from step " +
               std::to_string(m_lossLostAt) +
               " on. No loss scale can fix that; a lower learning rate, clipping or a wider type "
               "may help.";
    if (m_belowOne)
        return count + ". That is not normal: the loss scale fell below 1, so the gradients "
                       "overflow even unscaled. A lower learning rate, clipping or bf16 may help.";
    if (held(dynamic))
        return count + ". That is not normal: the loss scale is held at " + scaleText(m_scale) +
               ", where the gradients overflow. Use a smaller scale, or a dynamic one.";
    if (m_start > kLongStart)
        return count + ". That is not normal: " + std::to_string(m_start) +
               " of them were at the start, while the loss scale was coming down. A smaller first "
               "scale or backoff factor makes this shorter.";
    if (often(m_trials))
        return count + ". That is not normal: " + std::to_string(m_trials) +
               " of them followed a growth that tried too large a scale. With a longer growth "
               "interval this happens less often.";
    if (often(m_others))
        return count + ". That is not normal: " + std::to_string(m_others) +
               " of them did not follow a growth of the loss scale. The gradients vary widely, or "
               "the backoff factor is close to 1. Clipping or a lower learning rate may help.";
    if (skipped() == m_steps) return count + ". That is normal: the loss scale is coming down.";
    const int64_t all = skipped();
    std::string causes;
    addCause(causes, m_start, all, "at the start, until the loss scale was low enough");
    addCause(causes, m_trials, all, "after a growth that tried too large a scale");
    addCause(causes, m_others, all, "after the gradients had become larger");
    return count + ". That is normal: " + causes + ".";
}

} // namespace halfscope
