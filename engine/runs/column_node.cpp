// Makes one span of sixteen, and reads its parts when they are asked for.
#include "engine/runs/column_node.h"

#include "engine/runs/column_chunk.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>

namespace halfscope {

namespace {

/// No store has anything under this key.
constexpr int64_t kLost = -1;

/// One lock for all nodes: it is held for moments, and few nodes are read at a time.
std::mutex g_lock;

} // namespace

/// Begins the bytes of a node. No other span of a column has the same.
struct ColumnNode::Head {
    int64_t level, first, stride;
    bool operator==(const Head&) const = default;
};

ColumnNode::ColumnNode(int level, int64_t first, int64_t stride, const Parts& parts,
                       std::shared_ptr<const ChunkStore> from)
    : ColumnSpan(level, first, first + static_cast<int64_t>(valuesOf(level) - 1) * stride, stride),
      m_parts(parts), m_from(std::move(from)) {}

std::shared_ptr<const ColumnNode> ColumnNode::of(std::span<const ColumnSpanPtr> spans) {
    const ColumnSpan& first = *spans[0];
    if (spans.size() != kFan || first.level() == kHighest || !first.isReleased()) return nullptr;
    Parts parts{};
    auto group = parts.group.begin();
    const size_t quarter = first.size() * kFan / kGroups;
    int64_t next = first.firstStep();
    for (size_t i = 0; i < kFan; ++i) {
        const ColumnSpan& each = *spans[i];
        const bool fits = each.isReleased() && each.level() == first.level() &&
                          each.stride() == first.stride() && each.firstStep() == next &&
                          each.store() == first.store();
        if (!fits) return nullptr;
        next = each.lastStep() + each.stride();
        const auto* chunk = dynamic_cast<const ColumnChunk*>(&each);
        parts.part[i] = {each.key(), chunk ? static_cast<int64_t>(chunk->runs()) : 0};
        for (size_t at = 0; at < each.size(); at += quarter) {
            Extremes all;
            each.gather(at, at + quarter, all);
            *group++ = {all.finite, all.lowest, all.highest, all.last};
        }
    }
    return std::shared_ptr<const ColumnNode>(
        new ColumnNode(first.level() + 1, first.firstStep(), first.stride(), parts, first.store()));
}

/// Returns the node that the store has under this key; where it has another or none, a node whose
/// values are lost.
std::shared_ptr<const ColumnNode> ColumnNode::stored(int level, int64_t first, int64_t stride,
                                                     const std::shared_ptr<const ChunkStore>& store,
                                                     int64_t key) {
    static_assert(std::is_trivially_copyable_v<Head> && std::is_trivially_copyable_v<Parts>);
    const std::vector<std::byte> bytes = store->read(key);
    Parts parts{};
    Head head{};
    if (bytes.size() == sizeof head + sizeof parts) std::memcpy(&head, bytes.data(), sizeof head);
    if (head == Head{level, first, stride})
        std::memcpy(&parts, bytes.data() + sizeof head, sizeof parts);
    else
        for (Part& each : parts.part)
            each.key = kLost;
    auto node =
        std::shared_ptr<const ColumnNode>(new ColumnNode(level, first, stride, parts, store));
    node->setStored(store, key);
    return node;
}

std::vector<std::byte> ColumnNode::packed() const {
    const Head head{level(), firstStep(), stride()};
    std::vector<std::byte> bytes(sizeof head + sizeof m_parts);
    std::memcpy(bytes.data(), &head, sizeof head);
    std::memcpy(bytes.data() + sizeof head, &m_parts, sizeof m_parts);
    return bytes;
}

ColumnSpanPtr ColumnNode::part(size_t i) const {
    {
        const std::lock_guard lock(g_lock);
        if (m_loaded && (*m_loaded)[i]) return (*m_loaded)[i];
    }
    const int64_t first = stepAt(i * width());
    ColumnSpanPtr part;
    if (level() == 1)
        part = std::make_shared<const ColumnChunk>(first, stride(),
                                                   static_cast<size_t>(m_parts.part[i].runs),
                                                   m_from, m_parts.part[i].key);
    else
        part = stored(level() - 1, first, stride(), m_from, m_parts.part[i].key);
    readAgain();
    auto room = std::make_unique<Loaded>();
    const std::lock_guard lock(g_lock);
    if (!m_loaded) m_loaded = std::move(room);
    ColumnSpanPtr& there = (*m_loaded)[i];
    if (!there) there = std::move(part);
    return there;
}

void ColumnNode::read(size_t from, std::span<Point> out) const {
    while (!out.empty()) {
        const size_t i = from / width(), first = from % width();
        const size_t count = std::min(out.size(), width() - first);
        part(i)->read(first, out.first(count));
        out = out.subspan(count);
        from += count;
    }
}

void ColumnNode::gather(size_t from, size_t to, Extremes& into) const {
    const size_t wide = groupWidth();
    while (from < to) {
        const size_t end = std::min(to, (from / wide + 1) * wide), i = from / width();
        const Group& known = m_parts.group[from / wide];
        if (end - from < wide || m_parts.part[i].key == kLost) {
            part(i)->gather(from - i * width(), end - i * width(), into);
        } else {
            into.notFinite += static_cast<int64_t>(wide) - known.finite;
            if (known.finite > 0) into.add(known.lowest, known.highest, known.last, known.finite);
        }
        from = end;
    }
}

size_t ColumnNode::firstNotFinite(size_t from, size_t to) const {
    const size_t wide = groupWidth();
    while (from < to) {
        const size_t end = std::min(to, (from / wide + 1) * wide), i = from / width();
        if (m_parts.group[from / wide].finite < static_cast<int64_t>(wide)) {
            const size_t begin = i * width();
            const size_t found = begin + part(i)->firstNotFinite(from - begin, end - begin);
            if (found < end) return found;
        }
        from = end;
    }
    return to;
}

void ColumnNode::chunkKeys(std::vector<int64_t>& out) const {
    for (size_t i = 0; i < kFan; ++i)
        if (level() == 1)
            out.push_back(m_parts.part[i].key);
        else
            part(i)->chunkKeys(out);
}

size_t ColumnNode::bytes() const {
    Loaded loaded;
    {
        const std::lock_guard lock(g_lock);
        if (!m_loaded) return sizeof(*this);
        loaded = *m_loaded; // each part takes the lock, too
    }
    size_t sum = sizeof(*this) + sizeof loaded;
    for (const ColumnSpanPtr& each : loaded)
        if (each) sum += each->bytes();
    return sum;
}

bool ColumnNode::free() const {
    std::unique_ptr<Loaded> old;
    const std::lock_guard lock(g_lock);
    old.swap(m_loaded);
    return old != nullptr;
}

} // namespace halfscope
