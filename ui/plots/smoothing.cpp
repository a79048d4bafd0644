// The moving average, one multiplication a point, and its extremes in buckets.
#include "ui/plots/smoothing.h"

#include "ui/plots/means.h"
#include "ui/plots/sampling.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace halfscope {

Smoother::Smoother(double weight) : m_weight(weight > 0 ? std::min(weight, kMost) : 0) {}

double Smoother::add(double value) {
    m_sum = m_weight * m_sum + (1 - m_weight) * value;
    m_shares = m_weight * m_shares + (1 - m_weight); // 1 - w^n, without a power
    return m_sum / m_shares;
}

/// The trend as something that sample() can ask.
struct Trend::Source {
    const Column& raw;
    Trend& trend;

    bool empty() const { return raw.empty(); }
    int64_t firstStep() const { return raw.firstStep(); }
    int64_t lastStep() const { return raw.lastStep(); }
    std::optional<Point> upTo(int64_t step) const { return trend.upTo(raw, step); }
    template <class Visitor>
    void values(int64_t from, int64_t to, Visitor&& visitor) const {
        trend.values(raw, from, to, visitor);
    }
    void extremes(int64_t from, int64_t to, size_t buckets, std::vector<Extremes>& out) const {
        trend.extremes(raw, from, to, buckets, out);
    }
    size_t read(int64_t from, int64_t to, std::span<Point> out) const {
        const size_t count = raw.read(from, to, out);
        for (Point& point : out.first(count))
            if (const auto at = upTo(point.step)) point = *at;
        return count;
    }
};

namespace {

/// Returns how many steps lie between two values, on average and rounded up.
int64_t distanceIn(const Column& raw) {
    const int64_t size = std::max(raw.size(), int64_t{1});
    return std::max((raw.lastStep() - raw.firstStep() + size - 1) / size, int64_t{1});
}

} // namespace

Trend::Trend(double weight) : m_weight(Smoother(weight).weight()) {}

int64_t Trend::reach(const Column& raw) const {
    constexpr double kBits = 24; // a float's: curves are drawn and read with fewer
    const auto values = static_cast<int64_t>(std::ceil(kBits / -std::log2(m_weight)));
    return values * distanceIn(raw);
}

std::optional<Point> Trend::upTo(const Column& raw, int64_t step) const {
    const auto newest = m_weight > 0 ? raw.upTo(step) : std::nullopt;
    std::optional<Point> found;
    if (!newest) return found;
    values(raw, newest->step - reach(raw), newest->step, [&found](int64_t at, double trend) {
        found = Point{at, trend};
    });
    return found;
}

void Trend::sample(const Column& raw, double from, double to, int pixels, QVector<double>& xs,
                   QVector<double>& ys) {
    xs.clear();
    ys.clear();
    if (m_weight <= 0) return;
    Source source{raw, *this};
    halfscope::sample(source, from, to, pixels, xs, ys);
}

/// As Column::extremes(), but with the whole of the buckets at both ends.
void Trend::extremes(const Column& raw, int64_t from, int64_t to, size_t buckets,
                     std::vector<Extremes>& out) {
    constexpr uint64_t kWide = 512; // values of a bucket: five times as many as a trend lags behind
    const auto range = static_cast<uint64_t>(to - from);
    if (range / buckets >= kWide * static_cast<uint64_t>(distanceIn(raw)))
        return means(raw, from, to, static_cast<int>(buckets), out);
    const auto width = static_cast<int64_t>(std::bit_ceil(range / buckets + 1));
    if (std::exchange(m_width, width) != width) m_buckets.clear();
    auto known = m_buckets.begin();
    Pass pass(*this, raw);
    for (int64_t begin = from / width * width; begin <= to; begin += width) {
        const int64_t end = std::min(begin + width, raw.lastStep() + 1);
        while (known != m_buckets.end() && known->from < begin)
            ++known;
        if (known != m_buckets.end() && known->from == begin && known->to == end) {
            out.push_back(*known);
            continue;
        }
        Extremes each;
        each.from = begin;
        each.to = end;
        pass.run(begin, end - 1, [&each](int64_t step, double trend) { each.add({step, trend}); });
        out.push_back(each);
    }
    m_buckets = out;
}

/// The mean of a trend over many values is that of the values. The line ends at the trend itself.
void Trend::means(const Column& raw, int64_t from, int64_t to, int pixels,
                  std::vector<Extremes>& out) const {
    for (const Mean& mean : meansOf(raw, from, to, pixels)) {
        Extremes each;
        each.add({static_cast<int64_t>(mean.step), mean.value});
        out.push_back(each);
    }
    const auto newest = upTo(raw, to);
    if (newest && !out.empty()) out.back().last = *newest;
}

} // namespace halfscope
