// Merges sixteen spans into one, and reads its parts when they are asked for. What the store cannot
// read at once is nan for that time only: nothing of it is kept, and the next reader tries again.
#include "engine/runs/column_node.h"

#include "engine/core/error.h"
#include "engine/runs/column_chunk.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

namespace halfscope {

namespace {

/// One lock for all nodes: it is held for moments, and few nodes are read at a time.
std::mutex g_lock;

} // namespace

/// Begins the bytes of a node. No other span of a column has the same.
struct ColumnNode::Head {
    int64_t level, first, last, stride;
    bool operator==(const Head&) const = default;
};

ColumnNode::ColumnNode(int level, int64_t stride, Known known,
                       std::shared_ptr<const ChunkStore> partsStore)
    : ColumnSpan(level, known.content->part.front().first, known.content->part.back().last, stride),
      m_partsStore(std::move(partsStore)), m_known(std::move(known)) {}

ColumnNode::ColumnNode(int level, const Part& at, std::shared_ptr<const ChunkStore> store)
    : ColumnSpan(level, at.first, at.last, at.stride), m_partsStore(store) {
    setStored(std::move(store), at.key);
}

std::shared_ptr<const ColumnNode> ColumnNode::of(std::span<const ColumnSpanPtr> spans) {
    const ColumnSpan& first = *spans[0];
    if (spans.size() != kFan || first.level() == kHighest) return nullptr;
    int64_t stride = first.stride(), next = first.firstStep();
    for (const ColumnSpanPtr& each : spans) {
        const bool fits = each->isReleased() && each->level() == first.level() &&
                          each->store() == first.store() && each->knowsExtremes();
        if (!fits) return nullptr;
        if (each->stride() != stride || each->firstStep() != next) stride = 0;
        next = each->lastStep() + stride;
    }
    std::array<Part, kFan> parts{};
    Groups groups;
    auto group = groups.begin();
    const size_t wide = first.size() * kFan / kGroups;
    for (size_t i = 0; i < kFan; ++i) {
        const ColumnSpan& each = *spans[i];
        const auto* chunk = dynamic_cast<const ColumnChunk*>(&each);
        parts[i] = {each.key(), chunk ? static_cast<int64_t>(chunk->runs()) : 0, each.firstStep(),
                    each.lastStep(), each.stride()};
        for (size_t at = 0; at < each.size(); at += wide) {
            Extremes all;
            each.gather(at, at + wide, all);
            *group++ = {each.knownStep(at), all.finite, all.lowest, all.highest, all.last, all.sum};
        }
    }
    return std::shared_ptr<const ColumnNode>(
        new ColumnNode(first.level() + 1, stride, knownOf(parts, groups), first.store()));
}

ColumnNode::Known ColumnNode::knownOf(std::span<const Part, kFan> parts, const Groups& groups) {
    auto content = std::make_shared<Content>();
    constexpr size_t kEach = kGroups / kFan;
    for (size_t i = 0; i < kFan; ++i) {
        content->part[i] = parts[i];
        Extremes all;
        for (size_t at = i * kEach; at < (i + 1) * kEach; ++at)
            groups[at].addTo(all, 0); // counts those that are finite alone
        content->whole[i] = {
            groups[i * kEach].first, all.finite, all.lowest, all.highest, all.last, all.sum};
    }
    return {std::move(content), std::make_shared<const Groups>(groups)};
}

ColumnNode::Head ColumnNode::head() const { return {level(), firstStep(), lastStep(), stride()}; }

ColumnNode::Known ColumnNode::known() const {
    const std::lock_guard lock(g_lock);
    return m_known;
}

/// Reads what memory lacks of it.
ColumnNode::Known ColumnNode::load() const {
    static_assert(std::is_trivially_copyable_v<Head> && std::is_trivially_copyable_v<Part> &&
                  std::is_trivially_copyable_v<Groups>);
    const std::vector<std::byte> bytes = store()->read(key());
    Head head{};
    std::array<Part, kFan> parts{};
    Groups groups;
    if (bytes.size() != sizeof head + sizeof parts + sizeof groups) return known();
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head != this->head()) return known();
    std::memcpy(&parts, bytes.data() + sizeof head, sizeof parts);
    std::memcpy(&groups, bytes.data() + sizeof head + sizeof parts, sizeof groups);
    Known read = knownOf(parts, groups);
    readAgain();
    const std::lock_guard lock(g_lock);
    if (!m_known.content) m_known.content = std::move(read.content);
    if (!m_known.groups) m_known.groups = std::move(read.groups);
    return m_known;
}

std::shared_ptr<const ColumnNode::Content> ColumnNode::content() const {
    Known there = known();
    return there.content ? there.content : load().content;
}

std::shared_ptr<const ColumnNode::Groups> ColumnNode::groups() const {
    Known there = known();
    if (!there.groups) return load().groups;
    readAgain(); // a curve that is shown asks again soon
    return there.groups;
}

std::vector<std::byte> ColumnNode::packed() const {
    const Known known = this->known();
    require(known.content && known.groups, "a node is stored by the one who made it");
    const Head head = this->head();
    std::vector<std::byte> bytes;
    const auto add = [&bytes](std::span<const std::byte> more) {
        bytes.insert(bytes.end(), more.begin(), more.end());
    };
    add(std::as_bytes(std::span(&head, 1)));
    add(std::as_bytes(std::span(known.content->part)));
    add(std::as_bytes(std::span(*known.groups)));
    return bytes;
}

ColumnSpanPtr ColumnNode::part(size_t i) const {
    {
        const std::lock_guard lock(g_lock);
        if (m_loaded && (*m_loaded)[i]) return (*m_loaded)[i];
    }
    const auto content = this->content();
    if (!content) return nullptr;
    const Part& at = content->part[i];
    ColumnSpanPtr part;
    if (level() == 1)
        part = std::make_shared<const ColumnChunk>(
            at.first, at.last, at.stride, static_cast<size_t>(at.runs), m_partsStore, at.key);
    else
        part = std::make_shared<const ColumnNode>(level() - 1, at, m_partsStore);
    readAgain();
    auto room = std::make_unique<LoadedParts>();
    const std::lock_guard lock(g_lock);
    if (!m_loaded) m_loaded = std::move(room);
    ColumnSpanPtr& there = (*m_loaded)[i];
    if (!there) there = std::move(part);
    return there;
}

size_t ColumnNode::indexWithin(int64_t step, int64_t slack) const {
    if (stride() != 0 && slack == 0) return indexOf(step);
    const auto content = this->content();
    if (!content) return indexOf(step);
    if (slack > 0) { // otherwise steps that cannot be read would not go with the groups
        if (const auto found = indexByGroups(content->whole, width(), step, slack)) return *found;
        if (const auto groups = this->groups())
            if (const auto found = indexByGroups(*groups, groupWidth(), step, slack)) return *found;
    }
    const auto at =
        std::lower_bound(content->part.begin(), content->part.end(), step,
                         [](const Part& each, int64_t sought) { return each.last < sought; });
    const auto i = static_cast<size_t>(at - content->part.begin());
    const ColumnSpanPtr part = this->part(i);
    return part ? i * width() + part->indexAt(step, slack) : indexOf(step);
}

void ColumnNode::read(size_t from, std::span<Point> out) const {
    while (!out.empty()) {
        const size_t i = from / width(), first = from % width();
        const size_t count = std::min(out.size(), width() - first);
        if (const ColumnSpanPtr part = this->part(i))
            part->read(first, out.first(count));
        else
            for (size_t at = 0; at < count; ++at)
                out[at] = {stepAt(from + at), std::numeric_limits<double>::quiet_NaN()};
        out = out.subspan(count);
        from += count;
    }
}

void ColumnNode::gather(size_t from, size_t to, Extremes& into) const {
    const auto content = this->content();
    if (!content) into.notFinite += static_cast<int64_t>(to - from);
    while (content && from < to) {
        const size_t i = from / width(), begin = i * width(), end = std::min(to, begin + width());
        if (end - from == width())
            content->whole[i].addTo(into, width());
        else
            gatherWithin(i, from - begin, end - begin, into);
        from = end;
    }
}

/// Adds some of the values of a part.
void ColumnNode::gatherWithin(size_t i, size_t from, size_t to, Extremes& into) const {
    const size_t wide = groupWidth();
    const auto groups = to - from >= wide ? this->groups() : nullptr;
    while (from < to) {
        const size_t end = std::min(to, (from / wide + 1) * wide);
        const ColumnSpanPtr part = end - from < wide ? this->part(i) : nullptr;
        if (groups && !part)
            (*groups)[(i * width() + from) / wide].addTo(into, wide);
        else if (part)
            part->gather(from, end, into);
        else
            into.notFinite += static_cast<int64_t>(end - from);
        from = end;
    }
}

size_t ColumnNode::firstNotFinite(size_t from, size_t to) const {
    const auto content = this->content();
    while (from < to) {
        if (!content) return from;
        const size_t i = from / width(), begin = i * width(), end = std::min(to, begin + width());
        if (content->whole[i].finite < static_cast<int64_t>(width())) {
            const ColumnSpanPtr part = this->part(i);
            if (!part) return from;
            const size_t found = begin + part->firstNotFinite(from - begin, end - begin);
            if (found < end) return found;
        }
        from = end;
    }
    return to;
}

bool ColumnNode::knowsExtremes() const { return known().content != nullptr; }

int64_t ColumnNode::knownStep(size_t index) const {
    return known().content->whole[index / width()].first;
}

void ColumnNode::chunkKeys(std::vector<int64_t>& out) const {
    const auto content = this->content();
    if (!content) throw RunError(phrase("Files", "older values of this run cannot be read now"));
    for (size_t i = 0; i < kFan; ++i)
        if (level() == 1)
            out.push_back(content->part[i].key);
        else
            part(i)->chunkKeys(out);
}

size_t ColumnNode::bytes() const {
    LoadedParts loaded;
    size_t sum = sizeof(*this);
    {
        const std::lock_guard lock(g_lock);
        if (m_known.content) sum += sizeof(Content);
        if (m_known.groups) sum += sizeof(Groups);
        if (!m_loaded) return sum;
        loaded = *m_loaded; // each part takes the lock, too
    }
    sum += sizeof loaded;
    for (const ColumnSpanPtr& each : loaded)
        if (each) sum += each->bytes();
    return sum;
}

bool ColumnNode::freeStored() const {
    std::unique_ptr<LoadedParts> parts;
    std::shared_ptr<const Groups> groups;
    const std::lock_guard lock(g_lock);
    parts.swap(m_loaded);
    if (key() != 0) groups.swap(m_known.groups);
    return parts || groups;
}

} // namespace halfscope
