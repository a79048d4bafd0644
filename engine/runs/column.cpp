// Chunks of a column: their codings, and the pyramid over them.
#include "engine/runs/column.h"

#include "engine/core/error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace halfscope {

namespace {

constexpr size_t kFan = 16; // values under a node, and nodes under the next
constexpr size_t kWide = kFan * kFan;
constexpr size_t kSmallest = 64; // values that a chunk has room for at first
constexpr size_t kFirstRuns = 4;
constexpr size_t kRunBytesAValue = 2;       // runs that take more give way to another coding
constexpr double kWhole = 9007199254740992; // 2^53: up to it a double holds every whole number
constexpr double kFloatWhole = 16777216;    // 2^24, the same of float32

/// A stretch of values: value, value + rise, value + 2 * rise ...
struct Run {
    double value;
    uint32_t first; ///< index in the chunk
    uint32_t rise;  ///< 0 or 1
};
static_assert(sizeof(Run) == 16);

/// Of 16 or 256 values; the places are indices in the chunk.
struct Node {
    uint16_t lowest, highest, finite;
};

enum class Coding : uint8_t { Runs, Bytes, Floats, Doubles };

bool sameBits(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

Coding narrowest(double value) {
    if (value >= 0 && value <= 255 && value == std::floor(value) && !std::signbit(value))
        return Coding::Bytes;
    const bool fits = std::isnan(value) || std::isinf(value) ||
                      (std::abs(value) <= std::numeric_limits<float>::max() &&
                       static_cast<double>(static_cast<float>(value)) == value);
    return fits ? Coding::Floats : Coding::Doubles;
}

size_t widthOf(Coding coding) {
    switch (coding) {
    case Coding::Runs: return sizeof(Run);
    case Coding::Bytes: return 1;
    case Coding::Floats: return sizeof(float);
    case Coding::Doubles: return sizeof(double);
    }
    return 0;
}

/// A step that lies before all others, so that sums of it do not overflow.
int64_t clampedEnd(int64_t to) { return std::min(to, std::numeric_limits<int64_t>::max() - 1); }

void addFinite(Extremes& into, Point lowest, Point highest, Point last, int64_t count) {
    if (into.finite == 0 || lowest.value < into.lowest.value) into.lowest = lowest;
    if (into.finite == 0 || highest.value > into.highest.value) into.highest = highest;
    into.last = last;
    into.finite += count;
}

} // namespace

/// Up to kChunkValues values. Readers see what was there when their view was made: the first
/// `count` values and `runs` runs, which never change; the writer writes behind them.
class ColumnChunk {
public:
    /// What a chunk must become before a value fits.
    enum class Lack : uint8_t { Nothing, Room, Coding, Steps };

    /// stepRoom 0: the steps follow each other at equal distances.
    ColumnChunk(Coding coding, size_t room, size_t stepRoom)
        : m_coding(coding), m_room(room), m_stepRoom(stepRoom) {
        m_values = std::make_unique_for_overwrite<std::byte[]>(m_room * widthOf(coding));
        if (coding != Coding::Runs) {
            m_nodes = std::make_unique_for_overwrite<Node[]>(m_room / kFan);
            if (m_room >= kWide) m_wide = std::make_unique_for_overwrite<Node[]>(m_room / kWide);
        }
        if (stepRoom > 0) m_steps = std::make_unique_for_overwrite<int64_t[]>(stepRoom);
    }

    Coding coding() const { return m_coding; }
    size_t room() const { return m_room; }

    /// Writes value number `count`, or says why it cannot.
    Lack put(size_t count, size_t& runs, int64_t step, double value) {
        if (m_steps ? count == m_stepRoom : count >= 2 && step != stepAt(count)) return Lack::Steps;
        if (m_coding == Coding::Runs) {
            if (!continues(count, runs, value)) {
                if (runs == m_room) return Lack::Room;
                addRun(count, runs, value);
            }
        } else {
            if (narrowest(value) > m_coding) return Lack::Coding;
            if (count == m_room) return Lack::Room;
            store(count, value);
            if ((count + 1) % kFan == 0) addNodes(count + 1);
        }
        if (count == 0) m_first = step;
        if (count == 1) m_stride = step - m_first;
        if (m_steps) m_steps[count] = step;
        return Lack::Nothing;
    }

    int64_t stepAt(size_t i) const {
        if (i == 0) return m_first;
        return m_steps ? m_steps[i] : m_first + static_cast<int64_t>(i) * m_stride;
    }
    /// The first of `count` values at or after a step.
    size_t indexAt(size_t count, int64_t step) const {
        if (count == 0 || step <= m_first) return 0;
        if (m_steps)
            return static_cast<size_t>(
                std::lower_bound(m_steps.get(), m_steps.get() + count, step) - m_steps.get());
        if (count == 1) return 1;
        const uint64_t away = static_cast<uint64_t>(step) - static_cast<uint64_t>(m_first);
        const auto stride = static_cast<uint64_t>(m_stride);
        return static_cast<size_t>(std::min<uint64_t>(count, (away + stride - 1) / stride));
    }
    double valueAt(size_t runs, size_t i) const {
        return m_coding == Coding::Runs ? runValue(runAt(runs, i), i) : load(i);
    }
    void read(size_t runs, size_t from, std::span<Point> out) const {
        if (m_coding != Coding::Runs) {
            for (size_t i = 0; i < out.size(); ++i)
                out[i] = {stepAt(from + i), load(from + i)};
            return;
        }
        size_t run = runAt(runs, from);
        for (size_t i = from; i < from + out.size(); ++i) {
            if (run + 1 < runs && runList()[run + 1].first == i) ++run;
            out[i - from] = {stepAt(i), runValue(run, i)};
        }
    }
    /// Adds the values from <= i < to.
    void gather(size_t runs, size_t from, size_t to, Extremes& into) const {
        if (m_coding == Coding::Runs) return gatherRuns(runs, from, to, into);
        while (from < to) {
            if (from % kWide == 0 && from + kWide <= to) {
                gatherNode(m_wide[from / kWide], from, kWide, into);
                from += kWide;
            } else if (from % kFan == 0 && from + kFan <= to) {
                gatherNode(m_nodes[from / kFan], from, kFan, into);
                from += kFan;
            } else {
                gatherValue(from++, into);
            }
        }
    }
    /// The first value from <= i < to that is not finite; `to` when there is none.
    size_t firstNotFinite(size_t runs, size_t from, size_t to) const {
        if (m_coding == Coding::Runs) {
            for (size_t run = runAt(runs, from); run < runs; ++run) {
                const size_t first = std::max<size_t>(from, runList()[run].first);
                if (first >= to) break;
                if (!std::isfinite(runList()[run].value)) return first;
            }
            return to;
        }
        while (from < to) {
            if (from % kWide == 0 && from + kWide <= to && m_wide[from / kWide].finite == kWide)
                from += kWide;
            else if (from % kFan == 0 && from + kFan <= to && m_nodes[from / kFan].finite == kFan)
                from += kFan;
            else if (std::isfinite(load(from)))
                ++from;
            else
                return from;
        }
        return to;
    }

    /// The same values with what was lacking.
    std::shared_ptr<ColumnChunk> with(Lack lack, size_t count, size_t& runs, double next) const {
        Coding coding = m_coding;
        size_t room = m_room;
        if (lack == Lack::Room && coding == Coding::Runs &&
            runs * sizeof(Run) > count * kRunBytesAValue) {
            coding = narrowest(next);
            room = std::bit_ceil(std::max(kSmallest, count + 1));
            for (size_t run = 0; run < runs; ++run)
                coding = std::max(coding, codingOf(run, runEnd(count, runs, run) - 1));
        } else if (lack == Lack::Room) {
            room *= 2;
        } else if (lack == Lack::Coding) {
            coding = narrowest(next);
        }
        const size_t steps =
            lack == Lack::Steps ? std::bit_ceil(std::max(kSmallest, count + 1)) : m_stepRoom;
        return copied(coding, room, steps, count, runs);
    }
    /// Without room for more; nothing where there is none.
    std::shared_ptr<ColumnChunk> trimmed(size_t count, size_t& runs) const {
        if (m_coding != Coding::Runs || runs == m_room) return nullptr;
        return copied(m_coding, runs, m_stepRoom, count, runs);
    }

    size_t bytes() const {
        const size_t nodes = m_nodes ? m_room / kFan + m_room / kWide : 0;
        return sizeof(*this) + m_room * widthOf(m_coding) + nodes * sizeof(Node) +
               m_stepRoom * sizeof(int64_t);
    }

private:
    template <class T>
    T* as() {
        return reinterpret_cast<T*>(m_values.get());
    }
    template <class T>
    const T* as() const {
        return reinterpret_cast<const T*>(m_values.get());
    }
    const Run* runList() const { return as<Run>(); }

    double load(size_t i) const {
        switch (m_coding) {
        case Coding::Bytes: return static_cast<double>(as<uint8_t>()[i]);
        case Coding::Floats: return static_cast<double>(as<float>()[i]);
        default: return as<double>()[i];
        }
    }
    void store(size_t i, double value) {
        switch (m_coding) {
        case Coding::Bytes: as<uint8_t>()[i] = static_cast<uint8_t>(value); break;
        case Coding::Floats: as<float>()[i] = static_cast<float>(value); break;
        default: as<double>()[i] = value;
        }
    }

    double runValue(size_t run, size_t i) const {
        const Run& at = runList()[run];
        return at.rise == 0 ? at.value : at.value + static_cast<double>(i - at.first);
    }
    size_t runEnd(size_t count, size_t runs, size_t run) const {
        return run + 1 < runs ? runList()[run + 1].first : count;
    }
    /// That all values of a run fit into.
    Coding codingOf(size_t run, size_t last) const {
        const double end = runValue(run, last);
        // beyond 2^24 a float32 leaves out whole numbers between two that it holds
        if (runList()[run].rise > 0 && std::abs(end) > kFloatWhole) return Coding::Doubles;
        return std::max(narrowest(runList()[run].value), narrowest(end));
    }
    /// The run that holds a value.
    size_t runAt(size_t runs, size_t i) const {
        const Run* const end = runList() + runs;
        const Run* const after = std::upper_bound(
            runList(), end, i, [](size_t index, const Run& run) { return index < run.first; });
        return static_cast<size_t>(after - runList()) - 1;
    }
    bool continues(size_t count, size_t runs, double value) const {
        return runs > 0 && sameBits(runValue(runs - 1, count), value);
    }
    void addRun(size_t count, size_t& runs, double value) {
        Run run{value, static_cast<uint32_t>(count), 0};
        // a second value that is one more than the first begins to count
        const bool alone = runs > 0 && runList()[runs - 1].first + 1 == count;
        const double before = alone ? runList()[runs - 1].value : 0;
        if (alone && value == before + 1 && std::abs(value) < kWhole / 2 &&
            value == std::floor(value))
            run.rise = 1;
        as<Run>()[runs++] = run;
    }

    /// The nodes that end at `count` values.
    void addNodes(size_t count) {
        Extremes all;
        const auto node = [&](size_t width) {
            Node each{0, 0, static_cast<uint16_t>(all.finite)};
            if (all.finite > 0) { // steps are places here
                each.lowest = static_cast<uint16_t>(all.lowest.step);
                each.highest = static_cast<uint16_t>(all.highest.step);
            }
            (width == kFan ? m_nodes : m_wide)[count / width - 1] = each;
        };
        for (size_t i = count - kFan; i < count; ++i) {
            const Point point{static_cast<int64_t>(i), load(i)};
            if (std::isfinite(point.value)) addFinite(all, point, point, point, 1);
        }
        node(kFan);
        if (count % kWide != 0) return;
        all = {};
        for (size_t i = (count - kWide) / kFan; i < count / kFan; ++i) {
            const Node& each = m_nodes[i];
            if (each.finite == 0) continue;
            addFinite(all, {each.lowest, load(each.lowest)}, {each.highest, load(each.highest)}, {},
                      each.finite);
        }
        node(kWide);
    }

    void gatherValue(size_t i, Extremes& into) const {
        const Point point{stepAt(i), load(i)};
        if (std::isfinite(point.value))
            addFinite(into, point, point, point, 1);
        else
            ++into.notFinite;
    }
    void gatherNode(const Node& node, size_t from, size_t width, Extremes& into) const {
        into.notFinite += static_cast<int64_t>(width) - node.finite;
        if (node.finite == 0) return;
        size_t last = from + width - 1;
        while (!std::isfinite(load(last)))
            --last;
        addFinite(into, {stepAt(node.lowest), load(node.lowest)},
                  {stepAt(node.highest), load(node.highest)}, {stepAt(last), load(last)},
                  node.finite);
    }
    void gatherRuns(size_t runs, size_t from, size_t to, Extremes& into) const {
        if (from >= to) return;
        for (size_t run = runAt(runs, from); run < runs; ++run) {
            const size_t first = std::max<size_t>(from, runList()[run].first);
            if (first >= to) return;
            const size_t end = run + 1 < runs ? std::min<size_t>(to, runList()[run + 1].first) : to;
            const auto count = static_cast<int64_t>(end - first);
            if (!std::isfinite(runList()[run].value)) {
                into.notFinite += count;
                continue;
            }
            const Point lowest{stepAt(first), runValue(run, first)};
            const Point last{stepAt(end - 1), runValue(run, end - 1)};
            addFinite(into, lowest, runList()[run].rise > 0 ? last : lowest, last, count);
        }
    }

    std::shared_ptr<ColumnChunk> copied(Coding coding, size_t room, size_t stepRoom, size_t count,
                                        size_t& runs) const {
        auto copy = std::make_shared<ColumnChunk>(coding, room, stepRoom);
        size_t newRuns = 0;
        std::array<Point, kWide> block;
        for (size_t from = 0; from < count; from += block.size()) {
            const auto part = std::span(block).first(std::min(block.size(), count - from));
            read(runs, from, part);
            for (size_t i = 0; i < part.size(); ++i)
                require(copy->put(from + i, newRuns, part[i].step, part[i].value) == Lack::Nothing,
                        "a chunk's copy does not hold its values");
        }
        runs = newRuns;
        return copy;
    }

    Coding m_coding;
    size_t m_room; ///< values, or runs
    size_t m_stepRoom;
    int64_t m_first = 0, m_stride = 1;
    std::unique_ptr<std::byte[]> m_values;
    std::unique_ptr<Node[]> m_nodes, m_wide; ///< of 16 and of 256 values
    std::unique_ptr<int64_t[]> m_steps;      ///< where they do not follow at equal distances
};

int64_t Column::size() const {
    return static_cast<int64_t>(m_full.size() * kChunkValues + m_count);
}

Column::Part Column::part(size_t i) const {
    if (i == m_full.size()) return {m_open.get(), m_count, m_runs};
    const ColumnChunk& chunk = *m_full[i];
    // of a full chunk in runs all are used
    return {&chunk, kChunkValues, chunk.room()};
}

int64_t Column::firstStep() const { return empty() ? 0 : part(0).chunk->stepAt(0); }

double Column::lastValue() const {
    if (empty()) return std::numeric_limits<double>::quiet_NaN();
    const Part last = part(parts() - 1);
    return last.chunk->valueAt(last.runs, last.count - 1);
}

size_t Column::partAt(int64_t step) const {
    size_t low = 0, high = parts();
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const Part at = part(middle);
        if (at.chunk->stepAt(at.count - 1) < step)
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
    size_t index = partAt(step);
    const auto pointAt = [](const Part& part, size_t i) {
        return Point{part.chunk->stepAt(i), part.chunk->valueAt(part.runs, i)};
    };
    if (index < parts()) {
        const Part at = part(index);
        size_t i = at.chunk->indexAt(at.count, step);
        if (i < at.count && at.chunk->stepAt(i) == step) return pointAt(at, i);
        if (i > 0) return pointAt(at, i - 1);
    }
    if (index == 0) return std::nullopt;
    const Part before = part(index - 1);
    return pointAt(before, before.count - 1);
}

size_t Column::read(int64_t from, int64_t to, std::span<Point> out) const {
    if (to < from) return 0;
    size_t done = 0;
    to = clampedEnd(to);
    for (size_t index = partAt(from); index < parts() && done < out.size(); ++index) {
        const Part at = part(index);
        const size_t first = at.chunk->indexAt(at.count, from);
        const size_t end = at.chunk->indexAt(at.count, to + 1);
        const size_t count = std::min(end - first, out.size() - done);
        if (count == 0) break;
        at.chunk->read(at.runs, first, out.subspan(done, count));
        done += count;
    }
    return done;
}

/// Into extremes.from <= step < extremes.to; `at` is the first part that may hold any, and becomes
/// that of what follows.
void Column::gather(size_t& at, Extremes& extremes) const {
    for (; at < parts(); ++at) {
        const Part each = part(at);
        const size_t first = each.chunk->indexAt(each.count, extremes.from);
        const size_t end = each.chunk->indexAt(each.count, extremes.to);
        if (first < end) each.chunk->gather(each.runs, first, end, extremes);
        if (end < each.count) return;
    }
}

Extremes Column::extremes(int64_t from, int64_t to) const {
    Extremes all;
    all.from = from;
    all.to = clampedEnd(to) + 1;
    if (to < from) return all;
    size_t at = partAt(from);
    gather(at, all);
    return all;
}

void Column::extremes(int64_t from, int64_t to, size_t buckets, std::vector<Extremes>& out) const {
    out.clear();
    if (empty()) return;
    from = std::max(from, firstStep());
    to = std::min(to, lastStep());
    if (to < from || buckets == 0) return;
    const auto wanted = static_cast<int64_t>(std::min<size_t>(buckets, size_t{1} << 30));
    // a bucket begins at 1 + k * width; steps below 1 too, so that a view may begin anywhere
    int shift = 0;
    const auto bucketOf = [&shift](int64_t step) { return (step - 1) >> shift; };
    while (bucketOf(to) - bucketOf(from) + 1 > wanted && shift < 62)
        ++shift;
    size_t at = partAt(from);
    for (int64_t bucket = bucketOf(from); bucket <= bucketOf(to); ++bucket) {
        Extremes each;
        each.from = std::max(from, bucket * (int64_t{1} << shift) + 1);
        each.to = std::min(to + 1, (bucket + 1) * (int64_t{1} << shift) + 1);
        gather(at, each);
        if (each.finite + each.notFinite > 0) out.push_back(each);
    }
}

std::optional<int64_t> Column::firstNotFinite(int64_t from, int64_t to) const {
    if (to < from) return std::nullopt;
    to = clampedEnd(to);
    for (size_t index = partAt(from); index < parts(); ++index) {
        const Part at = part(index);
        const size_t first = at.chunk->indexAt(at.count, from);
        const size_t end = at.chunk->indexAt(at.count, to + 1);
        if (first >= end) return std::nullopt;
        const size_t found = at.chunk->firstNotFinite(at.runs, first, end);
        if (found < end) return at.chunk->stepAt(found);
        if (end < at.count) return std::nullopt;
    }
    return std::nullopt;
}

size_t Column::bytes() const {
    size_t sum = GrowingList<std::shared_ptr<const ColumnChunk>>::bytesFor(m_full.size());
    for (const auto& chunk : m_full)
        sum += chunk->bytes();
    return m_open ? sum + m_open->bytes() : sum;
}

void ColumnWriter::append(int64_t step, double value) {
    require(m_column.empty() || step > m_column.m_lastStep, "the steps of a column rise");
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
    if (!m_open) m_open = std::make_shared<ColumnChunk>(Coding::Runs, kFirstRuns, 0);
    using Lack = ColumnChunk::Lack;
    Lack lack = Lack::Nothing;
    while ((lack = m_open->put(m_column.m_count, m_column.m_runs, step, value)) != Lack::Nothing)
        m_open = m_open->with(lack, m_column.m_count, m_column.m_runs, value);
    m_column.m_open = m_open;
    m_column.m_lastStep = step;
    if (++m_column.m_count < Column::kChunkValues) return;
    if (auto trimmed = m_open->trimmed(m_column.m_count, m_column.m_runs))
        m_open = std::move(trimmed);
    m_full.append(std::move(m_open));
    m_open = nullptr;
    m_column.m_full = m_full.view();
    m_column.m_open = nullptr;
    m_column.m_count = m_column.m_runs = 0;
}

void ColumnWriter::share(const Column& other, int64_t upTo) {
    require(m_column.empty(), "only an empty column can begin as another one");
    for (const auto& chunk : other.m_full) {
        if (chunk->stepAt(Column::kChunkValues - 1) > upTo) break;
        m_full.append(chunk);
        m_column.m_lastStep = chunk->stepAt(Column::kChunkValues - 1);
    }
    m_column.m_full = m_full.view();
    const int64_t from =
        m_column.empty() ? std::numeric_limits<int64_t>::min() : m_column.m_lastStep + 1;
    other.values(from, upTo, [this](int64_t step, double value) { append(step, value); });
}

double trailingMedian(const Column& column, int64_t upTo, size_t count) {
    std::vector<double> latest;
    std::optional<Point> point = column.upTo(upTo);
    while (point && latest.size() < count) {
        latest.push_back(point->value);
        point = column.upTo(point->step - 1);
    }
    if (latest.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto less = [](double a, double b) {
        return std::isnan(a) ? false : std::isnan(b) || a < b;
    };
    std::sort(latest.begin(), latest.end(), less);
    const size_t middle = latest.size() / 2;
    if (latest.size() % 2 == 1) return latest[middle];
    const double low = latest[middle - 1], high = latest[middle];
    return low == high ? low : low + (high - low) / 2;
}

} // namespace halfscope
