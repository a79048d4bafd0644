// Codings of a chunk, the pyramid over its values, and a chunk as bytes.
#include "engine/runs/chunk_values.h"

#include "engine/core/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace halfscope {

namespace {

constexpr size_t kSmallest = 64; // room for values that a chunk has at first
constexpr size_t kFirstRuns = 4;
constexpr size_t kRunBytesAValue = 2;       // runs that take more are replaced by another coding
constexpr double kWhole = 9007199254740992; // 2^53: up to it a double holds every whole number
constexpr double kFloatWhole = 16777216;    // 2^24: the same for float32

bool sameBits(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

} // namespace

ChunkValues::Coding ChunkValues::narrowest(double value) {
    if (value >= 0 && value <= 255 && value == std::floor(value) && !std::signbit(value))
        return Coding::Bytes;
    const bool fits = std::isnan(value) || std::isinf(value) ||
                      (std::abs(value) <= std::numeric_limits<float>::max() &&
                       static_cast<double>(static_cast<float>(value)) == value);
    return fits ? Coding::Floats : Coding::Doubles;
}

size_t ChunkValues::widthOf(Coding coding) {
    switch (coding) {
    case Coding::Runs: return sizeof(Stretch);
    case Coding::Bytes: return 1;
    case Coding::Floats: return sizeof(float);
    case Coding::Doubles: return sizeof(double);
    }
    return 0;
}

std::shared_ptr<ChunkValues> ChunkValues::first() {
    return std::make_shared<ChunkValues>(Coding::Runs, kFirstRuns, 0);
}

ChunkValues::ChunkValues(Coding coding, size_t room, size_t stepRoom)
    : m_coding(coding), m_room(room), m_stepRoom(stepRoom) {
    m_values = std::make_unique_for_overwrite<std::byte[]>(m_room * widthOf(coding));
    if (coding != Coding::Runs) {
        m_nodes = std::make_unique_for_overwrite<Node[]>(m_room / kFan);
        if (m_room >= kWide) {
            m_wide = std::make_unique_for_overwrite<Node[]>(m_room / kWide);
            m_sums = std::make_unique_for_overwrite<double[]>(m_room / kWide);
        }
    }
    if (stepRoom > 0) m_steps = std::make_unique_for_overwrite<int64_t[]>(stepRoom);
}

ChunkValues::Lack ChunkValues::lackFor(size_t count, size_t runs, int64_t step,
                                       double value) const {
    if (m_steps ? count == m_stepRoom : count >= 2 && step != stepAt(count)) return Lack::Steps;
    if (m_coding == Coding::Runs)
        return runs == m_room && !continues(count, runs, value) ? Lack::Room : Lack::Nothing;
    if (narrowest(value) > m_coding) return Lack::Coding;
    return count == m_room ? Lack::Room : Lack::Nothing;
}

ChunkValues::Lack ChunkValues::put(size_t count, size_t& runs, int64_t step, double value) {
    if (const Lack lack = lackFor(count, runs, step, value); lack != Lack::Nothing) return lack;
    if (m_coding == Coding::Runs) {
        if (!continues(count, runs, value)) addRun(count, runs, value);
    } else {
        store(count, value);
        if ((count + 1) % kFan == 0) addNodes(count + 1);
    }
    if (count == 0) m_first = step;
    if (count == 1) m_stride = step - m_first;
    if (m_steps) m_steps[count] = step;
    return Lack::Nothing;
}

size_t ChunkValues::indexAt(size_t count, int64_t step) const {
    if (count == 0 || step <= m_first) return 0;
    if (m_steps)
        return static_cast<size_t>(std::lower_bound(m_steps.get(), m_steps.get() + count, step) -
                                   m_steps.get());
    if (count == 1) return 1;
    const uint64_t away = static_cast<uint64_t>(step) - static_cast<uint64_t>(m_first);
    const auto stride = static_cast<uint64_t>(m_stride);
    return static_cast<size_t>(std::min<uint64_t>(count, (away + stride - 1) / stride));
}

void ChunkValues::read(size_t runs, size_t from, std::span<Point> out) const {
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

void ChunkValues::gather(size_t runs, size_t from, size_t to, Extremes& into) const {
    if (m_coding == Coding::Runs) return gatherRuns(runs, from, to, into);
    while (from < to) {
        if (from % kWide == 0 && from + kWide <= to) {
            gatherNode(m_wide[from / kWide], from, kWide, m_sums[from / kWide], into);
            from += kWide;
        } else if (from % kFan == 0 && from + kFan <= to) {
            gatherNode(m_nodes[from / kFan], from, kFan, sumOf(from, kFan), into);
            from += kFan;
        } else {
            gatherValue(from++, into);
        }
    }
}

size_t ChunkValues::firstNotFinite(size_t runs, size_t from, size_t to) const {
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

std::shared_ptr<ChunkValues> ChunkValues::with(Lack lack, size_t count, size_t& runs,
                                               double next) const {
    Coding coding = m_coding;
    size_t room = m_room;
    if (lack == Lack::Room && coding == Coding::Runs &&
        runs * sizeof(Stretch) > count * kRunBytesAValue) {
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

std::shared_ptr<ChunkValues> ChunkValues::trimmed(size_t count, size_t& runs) const {
    if (m_coding != Coding::Runs || runs == m_room) return nullptr;
    return copied(m_coding, runs, m_stepRoom, count, runs);
}

size_t ChunkValues::bytes() const {
    const size_t nodes = m_nodes ? m_room / kFan + m_room / kWide : 0;
    const size_t sums = m_sums ? m_room / kWide : 0;
    return sizeof(*this) + m_room * widthOf(m_coding) + nodes * sizeof(Node) +
           sums * sizeof(double) + m_stepRoom * sizeof(int64_t);
}

double ChunkValues::load(size_t i) const {
    switch (m_coding) {
    case Coding::Bytes: return static_cast<double>(as<uint8_t>()[i]);
    case Coding::Floats: return static_cast<double>(as<float>()[i]);
    default: return as<double>()[i];
    }
}

void ChunkValues::store(size_t i, double value) {
    switch (m_coding) {
    case Coding::Bytes: as<uint8_t>()[i] = static_cast<uint8_t>(value); break;
    case Coding::Floats: as<float>()[i] = static_cast<float>(value); break;
    default: as<double>()[i] = value;
    }
}

double ChunkValues::runValue(size_t run, size_t i) const {
    const Stretch& at = runList()[run];
    return at.rise == 0 ? at.value : at.value + static_cast<double>(i - at.first);
}

size_t ChunkValues::runEnd(size_t count, size_t runs, size_t run) const {
    return run + 1 < runs ? runList()[run + 1].first : count;
}

/// Returns the narrowest coding that all values of a run fit into.
ChunkValues::Coding ChunkValues::codingOf(size_t run, size_t last) const {
    const double end = runValue(run, last);
    // beyond 2^24, float32 lacks some of the whole numbers between two that it holds
    if (runList()[run].rise > 0 && std::abs(end) > kFloatWhole) return Coding::Doubles;
    return std::max(narrowest(runList()[run].value), narrowest(end));
}

/// Returns the run that holds value i.
size_t ChunkValues::runAt(size_t runs, size_t i) const {
    const Stretch* const end = runList() + runs;
    const Stretch* const after = std::upper_bound(
        runList(), end, i, [](size_t index, const Stretch& run) { return index < run.first; });
    return static_cast<size_t>(after - runList()) - 1;
}

bool ChunkValues::continues(size_t count, size_t runs, double value) const {
    return runs > 0 && sameBits(runValue(runs - 1, count), value);
}

void ChunkValues::addRun(size_t count, size_t& runs, double value) {
    Stretch run{value, static_cast<uint32_t>(count), 0};
    // a second value that is one more than the first starts a rising run
    const bool alone = runs > 0 && runList()[runs - 1].first + 1 == count;
    const double before = alone ? runList()[runs - 1].value : 0;
    if (alone && value == before + 1 && std::abs(value) < kWhole / 2 && value == std::floor(value))
        run.rise = 1;
    as<Stretch>()[runs++] = run;
}

/// Adds the nodes that end at `count` values.
void ChunkValues::addNodes(size_t count) {
    Extremes all;
    const auto node = [&](size_t width) {
        Node each{0, 0, static_cast<uint16_t>(all.finite)};
        if (all.finite > 0) { // steps are indices here
            each.lowest = static_cast<uint16_t>(all.lowest.step);
            each.highest = static_cast<uint16_t>(all.highest.step);
        }
        (width == kFan ? m_nodes : m_wide)[count / width - 1] = each;
    };
    for (size_t i = count - kFan; i < count; ++i) {
        const Point point{static_cast<int64_t>(i), load(i)};
        if (std::isfinite(point.value)) all.add(point);
    }
    node(kFan);
    if (count % kWide != 0) return;
    all = {};
    for (size_t i = (count - kWide) / kFan; i < count / kFan; ++i) {
        const Node& each = m_nodes[i];
        if (each.finite == 0) continue;
        all.add({each.lowest, load(each.lowest)}, {each.highest, load(each.highest)}, {},
                each.finite, sumOf(i * kFan, kFan));
    }
    node(kWide);
    m_sums[count / kWide - 1] = all.sum;
}

/// Returns the sum of the finite values.
double ChunkValues::sumOf(size_t from, size_t width) const {
    double sum = 0;
    for (size_t i = from; i < from + width; ++i)
        if (const double value = load(i); std::isfinite(value)) sum += value;
    return sum;
}

void ChunkValues::gatherValue(size_t i, Extremes& into) const {
    const Point point{stepAt(i), load(i)};
    if (std::isfinite(point.value))
        into.add(point);
    else
        ++into.notFinite;
}

void ChunkValues::gatherNode(const Node& node, size_t from, size_t width, double sum,
                             Extremes& into) const {
    into.notFinite += static_cast<int64_t>(width) - node.finite;
    if (node.finite == 0) return;
    size_t last = from + width - 1;
    while (!std::isfinite(load(last)))
        --last;
    into.add({stepAt(node.lowest), load(node.lowest)}, {stepAt(node.highest), load(node.highest)},
             {stepAt(last), load(last)}, node.finite, sum);
}

void ChunkValues::gatherRuns(size_t runs, size_t from, size_t to, Extremes& into) const {
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
        const bool rises = runList()[run].rise > 0;
        const double middle = rises ? lowest.value + (last.value - lowest.value) / 2 : lowest.value;
        into.add(lowest, rises ? last : lowest, last, count, middle * static_cast<double>(count));
    }
}

std::shared_ptr<ChunkValues> ChunkValues::copied(Coding coding, size_t room, size_t stepRoom,
                                                 size_t count, size_t& runs) const {
    auto copy = std::make_shared<ChunkValues>(coding, room, stepRoom);
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

namespace {

/// What comes before the values and steps of a packed chunk.
struct PackedHead {
    uint32_t coding = 0, count = 0, runs = 0, steps = 0; ///< steps: as many as values, or 0
    int64_t first = 0, stride = 1;
};
static_assert(sizeof(PackedHead) == 32);

} // namespace

std::vector<std::byte> ChunkValues::packed(size_t count, size_t runs) const {
    const bool coded = m_coding == Coding::Runs;
    const PackedHead head{static_cast<uint32_t>(m_coding),
                          static_cast<uint32_t>(count),
                          static_cast<uint32_t>(coded ? runs : 0),
                          static_cast<uint32_t>(m_steps ? count : 0),
                          m_first,
                          count > 1 ? m_stride : 1}; // the second value sets it, on another thread
    const size_t values = (coded ? runs : count) * widthOf(m_coding);
    const size_t steps = head.steps * sizeof(int64_t);
    std::vector<std::byte> bytes(sizeof head + values + steps);
    std::memcpy(bytes.data(), &head, sizeof head);
    std::memcpy(bytes.data() + sizeof head, m_values.get(), values);
    if (steps > 0) std::memcpy(bytes.data() + sizeof head + values, m_steps.get(), steps);
    return bytes;
}

std::shared_ptr<ChunkValues> ChunkValues::unpacked(std::span<const std::byte> bytes, size_t& count,
                                                   size_t& runs) {
    PackedHead head;
    if (bytes.size() < sizeof head) return nullptr;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.coding > static_cast<uint32_t>(Coding::Doubles) || head.count == 0 ||
        head.count > kMost || head.runs > head.count)
        return nullptr;
    const auto coding = static_cast<Coding>(head.coding);
    const bool coded = coding == Coding::Runs;
    if (coded != (head.runs > 0) || (head.steps != 0 && head.steps != head.count)) return nullptr;
    const size_t values = (coded ? head.runs : head.count) * widthOf(coding);
    if (bytes.size() != sizeof head + values + head.steps * sizeof(int64_t)) return nullptr;
    const size_t room = coded ? head.runs : std::bit_ceil(std::max<size_t>(kSmallest, head.count));
    auto chunk = std::make_shared<ChunkValues>(coding, room, head.steps);
    chunk->m_first = head.first;
    chunk->m_stride = head.stride;
    std::memcpy(chunk->m_values.get(), bytes.data() + sizeof head, values);
    if (head.steps > 0)
        std::memcpy(chunk->m_steps.get(), bytes.data() + sizeof head + values,
                    head.steps * sizeof(int64_t));
    if (!chunk->isSound(head.count, head.runs)) return nullptr;
    for (size_t i = kFan; !coded && i <= head.count; i += kFan)
        chunk->addNodes(i);
    count = head.count;
    runs = head.runs;
    return chunk;
}

/// Whether steps rise without overflow and runs follow each other.
bool ChunkValues::isSound(size_t count, size_t runs) const {
    for (size_t i = 1; m_steps && i < count; ++i)
        if (m_steps[i] <= m_steps[i - 1]) return false;
    if (m_steps && m_steps[0] != m_first) return false;
    constexpr int64_t kFar = int64_t{1} << 48;
    if (!m_steps && (m_stride < 1 || m_stride > kFar || m_first < -kFar || m_first > kFar))
        return false;
    if (m_coding != Coding::Runs) return true;
    for (size_t run = 0; run < runs; ++run) {
        const Stretch& each = runList()[run];
        if (run == 0 ? each.first != 0 : each.first <= runList()[run - 1].first) return false;
        if (each.first >= count || each.rise > 1) return false;
    }
    return true;
}

} // namespace halfscope
