// Columns of chunks, and queries about ranges of steps.
#include "engine/runs/column.h"

#include "engine/core/error.h"
#include "engine/runs/column_chunk.h"
#include "engine/runs/column_node.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <utility>

namespace halfscope {

namespace {

/// Keeps the end of a range below the largest number, so that adding to it does not overflow.
int64_t clampedEnd(int64_t to) { return std::min(to, std::numeric_limits<int64_t>::max() - 1); }

/// Makes all nans the same nan.
double asKept(double value) {
    return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

} // namespace

/// A span, or the open chunk and how much of it a view sees.
struct Column::Part {
    const ColumnSpan* full = nullptr;
    const ChunkValues* open = nullptr; ///< set when `full` is null
    size_t count = 0, runs = 0;

    int64_t lastStep() const { return full ? full->lastStep() : open->stepAt(count - 1); }
    size_t indexAt(int64_t step, int64_t slack = 0) const {
        return full ? full->indexAt(step, slack) : open->indexAt(count, step);
    }
    Point at(size_t i) const {
        Point point;
        read(i, {&point, 1});
        return point;
    }
    void read(size_t from, std::span<Point> out) const {
        if (full) return full->read(from, out);
        open->read(runs, from, out);
    }
    void gather(size_t from, size_t to, Extremes& into) const {
        if (full) return full->gather(from, to, into);
        open->gather(runs, from, to, into);
    }
    size_t firstNotFinite(size_t from, size_t to) const {
        return full ? full->firstNotFinite(from, to) : open->firstNotFinite(runs, from, to);
    }
};

int64_t Column::size() const { return static_cast<int64_t>(m_fullValues + m_count); }

Column::Part Column::part(size_t i) const {
    if (i == m_full.size()) return {nullptr, m_open.get(), m_count, m_runs};
    const ColumnSpan& span = *m_full[i];
    return {&span, nullptr, span.size(), 0};
}

int64_t Column::firstStep() const {
    if (empty()) return 0;
    return m_full.empty() ? m_open->stepAt(0) : m_full[0]->firstStep();
}

double Column::lastValue() const {
    if (empty()) return std::numeric_limits<double>::quiet_NaN();
    const Part last = part(parts() - 1);
    return last.at(last.count - 1).value;
}

size_t Column::partAt(int64_t step) const {
    size_t low = 0, high = parts();
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const Part at = part(middle);
        if (at.lastStep() < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

std::optional<double> Column::at(int64_t step) const {
    const std::optional<Point> found = upTo(step);
    if (!found || found->step != step) return std::nullopt;
    return found->value;
}

std::optional<Point> Column::upTo(int64_t step) const {
    const size_t index = partAt(step);
    if (index < parts()) {
        const Part at = part(index);
        const size_t i = at.indexAt(step);
        if (i < at.count) {
            const Point point = at.at(i);
            if (point.step == step) return point;
        }
        if (i > 0) return at.at(i - 1);
    }
    if (index == 0) return std::nullopt;
    const Part before = part(index - 1);
    return before.at(before.count - 1);
}

size_t Column::read(int64_t from, int64_t to, std::span<Point> out) const {
    if (to < from) return 0;
    size_t done = 0;
    to = clampedEnd(to);
    for (size_t index = partAt(from); index < parts() && done < out.size(); ++index) {
        const Part at = part(index);
        const size_t first = at.indexAt(from);
        const size_t end = at.indexAt(to + 1);
        const size_t count = std::min(end - first, out.size() - done);
        if (count == 0) break;
        at.read(first, out.subspan(done, count));
        done += count;
    }
    return done;
}

/// Adds the values at extremes.from <= step < extremes.to. `at` is the first part that may hold
/// any, and is moved to the first part that later steps may need. The slack at both ends is that of
/// ColumnSpan::indexAt().
void Column::gather(size_t& at, Extremes& extremes, int64_t slackFrom, int64_t slackTo) const {
    for (; at < parts(); ++at) {
        const Part each = part(at);
        const size_t first = each.indexAt(extremes.from, slackFrom);
        const size_t end = each.indexAt(extremes.to, slackTo);
        if (first < end) each.gather(first, end, extremes);
        if (end < each.count) return;
    }
}

Extremes Column::extremes(int64_t from, int64_t to) const {
    Extremes all;
    all.from = from;
    all.to = clampedEnd(to) + 1;
    if (to < from) return all;
    size_t at = partAt(from);
    gather(at, all, 0, 0);
    return all;
}

void Column::extremes(int64_t from, int64_t to, size_t buckets, std::vector<Extremes>& out) const {
    out.clear();
    if (empty()) return;
    from = std::max(from, firstStep());
    to = std::min(to, lastStep());
    if (to < from || buckets == 0) return;
    const auto wanted = static_cast<int64_t>(std::min<size_t>(buckets, size_t{1} << 30));
    // bucket k begins at step 1 + k * width; steps below 1 have buckets too, so that a view may
    // begin anywhere
    int shift = 0;
    const auto bucketOf = [&shift](int64_t step) { return (step - 1) >> shift; };
    while (bucketOf(to) - bucketOf(from) + 1 > wanted && shift < 62)
        ++shift;
    const int64_t width = int64_t{1} << shift;
    // a group that crosses the end of a bucket belongs to it, but none crosses an end of the range
    const auto slackOf = [from, to, width](int64_t edge) {
        return edge > from && edge + width / 2 <= to ? width / 2 : 0;
    };
    size_t at = partAt(from);
    for (int64_t bucket = bucketOf(from); bucket <= bucketOf(to); ++bucket) {
        Extremes each;
        each.from = std::max(from, bucket * width + 1);
        each.to = std::min(to + 1, (bucket + 1) * width + 1);
        gather(at, each, slackOf(each.from), slackOf(each.to));
        if (each.finite + each.notFinite > 0) out.push_back(each);
    }
}

std::optional<int64_t> Column::firstNotFinite(int64_t from, int64_t to) const {
    if (to < from) return std::nullopt;
    to = clampedEnd(to);
    for (size_t index = partAt(from); index < parts(); ++index) {
        const Part at = part(index);
        const size_t first = at.indexAt(from);
        const size_t end = at.indexAt(to + 1);
        if (first >= end) return std::nullopt;
        const size_t found = at.firstNotFinite(first, end);
        if (found < end) return at.at(found).step;
        if (end < at.count) return std::nullopt;
    }
    return std::nullopt;
}

size_t Column::bytes() const {
    size_t sum = GrowingList<ColumnSpanPtr>::bytesFor(m_full.size());
    for (const auto& span : m_full)
        sum += span->bytes();
    return m_open ? sum + m_open->bytes() : sum;
}

void ColumnWriter::makeRoom(int64_t step, double value) {
    require(m_column.empty() || step > m_column.m_lastStep, "the steps of a column rise");
    value = asKept(value);
    if (m_column.m_count == Column::kChunkValues) closeChunk(); // there was no memory for it before
    if (!m_open) m_open = ChunkValues::first();
    using Lack = ChunkValues::Lack;
    Lack lack = Lack::Nothing;
    size_t runs = m_column.m_runs;
    while ((lack = m_open->lackFor(m_column.m_count, runs, step, value)) != Lack::Nothing) {
        m_open = m_open->with(lack, m_column.m_count, runs, value);
        // the values are the same in another coding, so both members change together
        m_column.m_open = m_open;
        m_column.m_runs = runs;
    }
}

void ColumnWriter::append(int64_t step, double value) {
    makeRoom(step, value);
    m_open->put(m_column.m_count, m_column.m_runs, step, asKept(value));
    m_column.m_open = m_open;
    m_column.m_lastStep = step;
    if (++m_column.m_count < Column::kChunkValues) return;
    try {
        closeChunk();
    } catch (const std::bad_alloc&) { // it is closed before the next value, then
    }
}

void ColumnWriter::closeChunk() {
    size_t runs = m_column.m_runs;
    std::shared_ptr<const ChunkValues> values = m_open;
    if (auto trimmed = m_open->trimmed(m_column.m_count, runs)) values = std::move(trimmed);
    m_full.append(std::make_shared<const ColumnChunk>(std::move(values), runs));
    m_open = nullptr;
    m_column.m_full = m_full.view();
    m_column.m_fullValues += Column::kChunkValues;
    m_column.m_open = nullptr;
    m_column.m_count = m_column.m_runs = 0;
    // seldom, because it copies the list
    if (++m_closed < std::max(ColumnSpan::kFan, m_full.view().size() / ColumnSpan::kFan)) return;
    mergeSpans();
    m_closed = 0;
}

/// A span begins at a multiple of its length, so that what cannot be merged yet can be merged
/// later.
bool ColumnWriter::mergeSpans() {
    constexpr size_t kCount = ColumnSpan::kFan;
    const auto& view = m_full.view();
    size_t released = 0;
    while (released < view.size() && !view[released]->isReleased())
        ++released;
    if (view.size() - released < kCount) return false; // as in nearly all trainings
    const std::vector<ColumnSpanPtr> spans(view.begin(), view.end());
    GrowingList<ColumnSpanPtr> merged;
    size_t values = 0;
    for (size_t i = 0; i < spans.size();) {
        ColumnSpanPtr node;
        if (values % (kCount * spans[i]->size()) == 0 && spans.size() - i >= kCount)
            node = ColumnNode::of(std::span(spans).subspan(i, kCount));
        merged.append(node ? node : spans[i]);
        values += merged.view().back()->size();
        i += node ? kCount : 1;
    }
    if (merged.view().size() == spans.size()) return false;
    m_full = std::move(merged);
    m_column.m_full = m_full.view();
    return true;
}

void ColumnWriter::share(const Column& other, int64_t upTo) {
    require(m_column.empty(), "only an empty column can begin as another one");
    for (const ColumnSpanPtr& span : other.m_full) {
        if (span->firstStep() > upTo) break;
        shareSpan(span, upTo);
    }
    m_column.m_full = m_full.view();
    const int64_t from =
        m_column.empty() ? std::numeric_limits<int64_t>::min() : m_column.m_lastStep + 1;
    other.values(from, upTo, [this](int64_t step, double value) { append(step, value); });
}

/// Shares a span, or those of its parts that end by this step.
void ColumnWriter::shareSpan(const ColumnSpanPtr& span, int64_t upTo) {
    if (span->lastStep() <= upTo) {
        m_full.append(span);
        m_column.m_fullValues += span->size();
        m_column.m_lastStep = span->lastStep();
        return;
    }
    const auto* node = dynamic_cast<const ColumnNode*>(span.get());
    for (size_t i = 0; node && i < ColumnSpan::kFan; ++i) {
        const ColumnSpanPtr part = node->part(i);
        if (!part || part->firstStep() > upTo) break; // what is not shared is copied
        shareSpan(part, upTo);
    }
}

double trailingMedian(const Column& column, int64_t upTo, size_t count) {
    std::vector<double> latest;
    std::optional<Point> point = column.upTo(upTo);
    while (point && latest.size() < count) {
        latest.push_back(point->value);
        point = column.upTo(point->step - 1);
    }
    return medianWithNan(latest);
}

double medianWithNan(std::span<double> values) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto less = [](double a, double b) {
        return std::isnan(a) ? false : std::isnan(b) || a < b;
    };
    std::sort(values.begin(), values.end(), less);
    const size_t middle = values.size() / 2;
    if (values.size() % 2 == 1) return values[middle];
    const double low = values[middle - 1], high = values[middle];
    return low == high ? low : low + (high - low) / 2;
}

} // namespace halfscope
