// Closes a column when the next one begins, and merges columns by steps when there are too many.
#include "engine/runs/gradient_history.h"

#include "engine/core/half_limits.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace halfscope {

namespace {

using Counts = MagnitudeCounts;

/// Returns the bucket of 2^exponent; smaller and larger ones fall into the first and the last.
int bucketOf(int exponent) { return std::clamp(exponent - Counts::kLowest, 0, Counts::kBuckets); }

void merge(GradientColumn& into, const GradientColumn& next) {
    const auto before = static_cast<double>(into.to - into.from);
    const auto after = static_cast<double>(next.to - next.from);
    GradientShares sum;
    sum.add(into.shares, before / (before + after));
    sum.add(next.shares, after / (before + after));
    into.shares = sum;
    into.to = next.to;
    // a column that only the loss scale has moved is not another count
    into.merged = into.merged || next.merged || into.counted != next.counted;
}

} // namespace

GradientShares GradientShares::of(const GradientRange& range) {
    GradientShares shares;
    const auto total = static_cast<double>(range.total());
    if (total <= 0) return shares;
    const auto share = [total](int64_t count) {
        return static_cast<float>(static_cast<double>(count) / total);
    };
    for (size_t i = 0; i < shares.buckets.size(); ++i)
        shares.buckets[i] = share(range.outputs.buckets[i] + range.weights.buckets[i]);
    shares.zeros = share(range.zeros());
    shares.notFinite = share(range.notFinite());
    return shares;
}

void GradientShares::add(const GradientShares& other, double weight) {
    const auto part = static_cast<float>(weight);
    for (size_t i = 0; i < buckets.size(); ++i)
        buckets[i] += part * other.buckets[i];
    zeros += part * other.zeros;
    notFinite += part * other.notFinite;
}

double GradientShares::total() const {
    return std::accumulate(buckets.begin(), buckets.end(),
                           static_cast<double>(zeros) + static_cast<double>(notFinite));
}

double GradientShares::between(int from, int to) const {
    return std::accumulate(buckets.begin() + bucketOf(from), buckets.begin() + bucketOf(to), 0.0);
}

GradientShares GradientShares::scaled(double octaves, bool half) const {
    GradientShares moved;
    moved.zeros = zeros;
    moved.notFinite = notFinite;
    const double whole = std::floor(octaves);
    const auto higher = static_cast<float>(octaves - whole); // the part of a bucket that moves on
    const auto put = [&](int exponent, float share) {
        if (half && exponent >= kHalfInfinite)
            moved.notFinite += share;
        else if (half && exponent < kHalfZero)
            moved.zeros += share;
        else
            moved
                .buckets[static_cast<size_t>(std::min(bucketOf(exponent), Counts::kBuckets - 1))] +=
                share;
    };
    // everything beyond the buckets falls into the last one
    const int by = static_cast<int>(std::clamp<double>(whole, -Counts::kBuckets, Counts::kBuckets));
    for (int i = 0; i < Counts::kBuckets; ++i) {
        const float share = buckets[static_cast<size_t>(i)];
        if (share == 0) continue;
        put(Counts::kLowest + i + by, share * (1 - higher));
        if (higher > 0) put(Counts::kLowest + i + by + 1, share * higher);
    }
    return moved;
}

void GradientHistory::add(const GradientRange& range) {
    if (m_saved) {
        m_type = range.type;
        return;
    }
    if (range.step <= m_lastStep) return; // a count that came too late would be out of order
    while (!m_waiting.empty() && m_waiting.back().step >= range.step)
        m_waiting.pop_back();
    m_waiting.push_back(
        {range.step, static_cast<double>(range.scale), range.type, GradientShares::of(range)});
}

void GradientHistory::stepDone(const StepRow& row) {
    if (row.step <= m_lastStep) return;
    while (!m_waiting.empty() && m_waiting.front().step <= row.step) {
        const Count& count = m_waiting.front();
        m_type = count.type;
        m_scale = count.scale;
        begin(count.step, count.shares, count.step);
        if (count.shares.notFinite == 0) m_source = count;
        m_waiting.pop_front();
    }
    follow(row);
    countSkip(row);
    m_lastStep = row.step; // last: a row for which there was no memory is not done
}

/// Takes what the row of a step without a count of its own tells.
void GradientHistory::follow(const StepRow& row) {
    if (!m_current) return;
    const bool skipped = row.has(kSkipped);
    const bool infinite = m_current->shares.notFinite > 0 && m_current->counted < row.step;
    if (m_current->counted == row.step) m_infSkips = skipped;
    const auto scale = static_cast<double>(row.scale());
    if (scale == m_scale && !(infinite && m_infSkips && !skipped)) return;
    const double octaves = m_source ? std::log2(scale / m_source->scale) : 0;
    if (m_source && std::isfinite(octaves)) {
        begin(row.step, m_source->shares.scaled(octaves, m_source->type == DType::F16),
              m_source->step);
    } else {
        close(row.step);
        m_current.reset();
    }
    m_scale = scale; // last: when there was no memory, the scale must still be new to the next row
}

void GradientHistory::countSkip(const StepRow& row) {
    while (row.step / m_skipGrain >= static_cast<int64_t>(kSkipBins)) {
        for (size_t i = 0; i < m_skips.size(); ++i)
            m_skips[i / 2] = i % 2 == 0 ? m_skips[i] : m_skips[i / 2] + m_skips[i];
        m_skips.resize((m_skips.size() + 1) / 2);
        m_skipGrain *= 2;
    }
    if (!row.has(kSkipped)) return;
    const auto bin = static_cast<size_t>(row.step / m_skipGrain);
    m_skips.resize(std::max(m_skips.size(), bin + 1));
    ++m_skips[bin];
}

void GradientHistory::interrupt() {
    close(m_lastStep + 1);
    m_current.reset();
    m_source.reset();
    m_waiting.clear();
}

void GradientHistory::begin(int64_t step, const GradientShares& shares, int64_t counted) {
    close(step);
    m_current = GradientColumn{step, step, counted, false, shares};
}

/// Ends the current column before the step `at`.
void GradientHistory::close(int64_t at) {
    if (!m_current || m_current->from >= at) return;
    m_current->to = at;
    keep(*m_current);
}

void GradientHistory::keep(const GradientColumn& column) {
    GradientColumn* last = m_columns.empty() ? nullptr : &m_columns.back();
    if (last && last->from / m_grain == column.from / m_grain)
        merge(*last, column);
    else
        m_columns.push_back(column);
    keepBounds();
}

void GradientHistory::keepBounds() {
    while (m_columns.size() > (m_saved ? kMostSaved : kMostColumns))
        coarsen();
}

/// Doubles the least width of columns and merges those that fall into one such width. A stretch
/// without counts that is shorter than a column then no longer shows.
void GradientHistory::coarsen() {
    m_grain *= 2;
    size_t kept = 0;
    for (size_t i = 1; i < m_columns.size(); ++i) {
        GradientColumn& last = m_columns[kept];
        if (last.from / m_grain == m_columns[i].from / m_grain)
            merge(last, m_columns[i]);
        else
            m_columns[++kept] = m_columns[i];
    }
    m_columns.resize(kept + 1);
}

GradientHistory GradientHistory::ofSavedRun() {
    GradientHistory history;
    history.m_saved = true;
    return history;
}

void GradientHistory::addSaved(const GradientColumn& column) { keep(column); }

GradientHistory GradientHistory::upTo(int64_t step) const {
    GradientHistory history = *this;
    history.m_waiting.clear();
    if (step >= m_lastStep) return history;
    history.m_lastStep = step;
    // when the present column began later, no later step can tell what the earlier one held
    if (m_current && m_current->from > step) {
        history.m_current.reset();
        history.m_source.reset();
    }
    std::erase_if(history.m_columns,
                  [step](const GradientColumn& each) { return each.from > step; });
    if (!history.m_columns.empty())
        history.m_columns.back().to = std::min(history.m_columns.back().to, step + 1);
    const auto bins = static_cast<size_t>(step / m_skipGrain) + 1;
    if (history.m_skips.size() > bins) history.m_skips.resize(bins);
    return history;
}

void GradientHistory::goOn() {
    m_saved = false;
    keepBounds();
}

GradientHistory GradientHistory::asSaved() const {
    GradientHistory history = ofSavedRun();
    history.m_columns = columns();
    history.m_type = m_type;
    return history;
}

GradientColumn GradientHistory::current() const {
    GradientColumn column = *m_current;
    column.to = m_lastStep + 1;
    return column;
}

std::vector<GradientColumn> GradientHistory::columns() const {
    std::vector<GradientColumn> all = m_columns;
    if (m_current && m_current->from <= m_lastStep) all.push_back(current());
    return all;
}

std::optional<GradientColumn> GradientHistory::at(std::optional<int64_t> step) const {
    if (m_saved && !step && !m_columns.empty()) return m_columns.back();
    const int64_t wanted = step.value_or(m_lastStep);
    if (m_current && wanted >= m_current->from)
        return wanted <= m_lastStep ? std::optional(current()) : std::nullopt;
    const auto after =
        std::upper_bound(m_columns.begin(), m_columns.end(), wanted,
                         [](int64_t s, const GradientColumn& column) { return s < column.from; });
    if (after == m_columns.begin() || (after - 1)->to <= wanted) return std::nullopt;
    return *(after - 1);
}

std::optional<GradientShares> GradientHistory::mean(double from, double to) const {
    constexpr double kHalfStep = 0.5; // a step's number marks its middle
    GradientShares sum;
    double steps = 0;
    const auto take = [&](const GradientColumn& column) {
        const double start = std::max(from, static_cast<double>(column.from) - kHalfStep);
        const double end = std::min(to, static_cast<double>(column.to) - kHalfStep);
        if (end <= start) return;
        sum.add(column.shares, end - start);
        steps += end - start;
    };
    auto column = std::lower_bound(m_columns.begin(), m_columns.end(), from,
                                   [](const GradientColumn& c, double step) {
                                       return static_cast<double>(c.to) - kHalfStep <= step;
                                   });
    for (; column != m_columns.end() && static_cast<double>(column->from) - kHalfStep < to;
         ++column)
        take(*column);
    if (m_current) take(current());
    if (steps <= 0) return std::nullopt;
    GradientShares mean;
    mean.add(sum, 1 / steps);
    return mean;
}

bool GradientHistory::skipped(double from, double to) const {
    if (to < 0 || m_skips.empty()) return false;
    // the bins of the steps whose middle is less than half a step away
    const auto binOf = [this](double step) {
        return std::max(0.0, step) / static_cast<double>(m_skipGrain);
    };
    const auto first = static_cast<size_t>(binOf(std::floor(from + 0.5)));
    const auto last = static_cast<size_t>(binOf(std::ceil(to + 0.5) - 1));
    for (size_t bin = first; bin <= last && bin < m_skips.size(); ++bin)
        if (m_skips[bin] > 0) return true;
    return false;
}

} // namespace halfscope
