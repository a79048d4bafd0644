// Clocks of blocks, joined by barriers and tickets as PTX's memory model joins them, and the last
// accesses to every byte.
#include "tests/emulator/cuda_races.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace halfscope::test {

void Races::startLaunch(int blocks, int threads, const char* arena, const char* scratch) {
    m_arena = arena;
    m_scratch = scratch;
    ++m_launch; // whatever ran before has happened
    if (blocks < 0 || static_cast<uint32_t>(blocks) > kNobody / kMaxThreads ||
        static_cast<uint32_t>(threads) > kMaxThreads)
        throw std::runtime_error("emulator: " + std::to_string(blocks) + " blocks of " +
                                 std::to_string(threads) + " threads are too many to tell apart");
    m_blocks = blocks;
    m_threads.assign(static_cast<size_t>(threads), {});
    m_exchanges.assign(static_cast<size_t>((threads + kLanes - 1) / kLanes), 0);
    m_tickets.clear();
    m_fault.clear();
}

void Races::startBlock(int block, const char* shared, size_t sharedBytes) {
    m_block = static_cast<uint32_t>(block);
    m_epoch = 0;
    m_shared = shared;
    m_sharedBytes = sharedBytes;
    m_known.assign(static_cast<size_t>(m_blocks), 0);
    std::fill(m_threads.begin(), m_threads.end(), Thread{});
    std::fill(m_exchanges.begin(), m_exchanges.end(), 0u);
}

void Races::join(Clock& to, const Clock& from) {
    if (to.size() < from.size()) to.resize(from.size(), 0);
    for (size_t i = 0; i < from.size(); ++i)
        to[i] = std::max(to[i], from[i]);
}

void Races::barrier() {
    ++m_epoch;
    std::fill(m_exchanges.begin(), m_exchanges.end(), 0u); // the epoch says more
    for (Thread& thread : m_threads) {
        if (thread.known.empty()) continue;
        join(m_known, thread.known);
        thread.known.clear();
    }
}

void Races::exchange(int warp) { ++m_exchanges[static_cast<size_t>(warp)]; }

/// Gives on what all threads of the block did before its last barrier, and makes what tickets told
/// this thread known to it.
void Races::fence(int index) {
    Thread& thread = m_threads[static_cast<size_t>(index)];
    join(thread.known, thread.drawn);
    thread.drawn.clear();
    thread.released = m_known;
    join(thread.released, thread.known);
    thread.released[m_block] = m_epoch;
}

void Races::atomic(int index, const char* at) {
    Thread& thread = m_threads[static_cast<size_t>(index)];
    Clock& ticket = m_tickets[at];
    join(thread.drawn, ticket);
    join(ticket, thread.released);
}

Races::Page& Races::pageOf(uintptr_t number) {
    auto& [recent, page] = m_recent[number % m_recent.size()];
    if (page == nullptr || recent != number) {
        std::unique_ptr<Page>& owned = m_pages[number];
        if (!owned) owned = std::make_unique<Page>();
        recent = number;
        page = owned.get();
    }
    if (page->launch != m_launch) {
        std::fill(page->cells.begin(), page->cells.end(), Cell{});
        page->launch = m_launch;
    }
    return *page;
}

/// Narrower cells: each knows what the wide one that it lay in knew.
void Races::refine(Page& page, size_t grain) {
    std::vector<Cell> cells(kPageBytes / grain);
    for (size_t i = 0; i < cells.size(); ++i)
        cells[i] = page.cells[i * grain / page.grain];
    page.cells = std::move(cells);
    page.grain = grain;
}

bool Races::isOrdered(const Access& before, const Access& now) const {
    if (before.owner == now.owner) return true;
    if (before.block() != now.block()) {
        const Clock& own = m_threads[now.thread()].known;
        return before.epoch <
               std::max(m_known[before.block()], own.empty() ? 0 : own[before.block()]);
    }
    if (before.epoch < now.epoch) return true;
    return before.thread() / kLanes == now.thread() / kLanes && before.exchanges < now.exchanges;
}

inline void Races::record(Cell& cell, const Access& now, bool isWrite, const char* at) {
    check(cell.write, true, now, isWrite, at);
    if (!isWrite) {
        if (cell.lastRead.owner != now.owner) cell.otherRead = cell.lastRead;
        cell.lastRead = now;
        return;
    }
    check(cell.lastRead, false, now, isWrite, at);
    check(cell.otherRead, false, now, isWrite, at);
    cell.write = now;
    cell.lastRead = cell.otherRead = {};
}

void Races::access(int thread, const char* at, size_t bytes, bool isWrite) {
    if (!m_fault.empty()) return;
    const auto index = static_cast<uint32_t>(thread);
    const uint32_t exchanges = m_exchanges[index / kLanes];
    if (std::max(m_epoch, exchanges) > kMostCounted) {
        m_fault = "more than " + std::to_string(kMostCounted) +
                  " barriers or exchanges of a block, whose order cannot be told apart";
        return;
    }
    const Access now{m_block * kMaxThreads + index, static_cast<uint16_t>(m_epoch),
                     static_cast<uint16_t>(exchanges)};
    if (!m_tickets.empty() && m_tickets.contains(at)) return; // set back by who drew the last one
    auto address = reinterpret_cast<uintptr_t>(at);
    const uintptr_t end = address + bytes;
    const size_t grain = size_t{1} << std::countr_zero(address | bytes | kMaxGrain);
    const bool shared = isShared(at);
    while (address < end) {
        Page& page = pageOf(address / kPageBytes);
        if (grain < page.grain) refine(page, grain);
        const uintptr_t stop = std::min(end, (address / kPageBytes + 1) * kPageBytes);
        for (; address < stop; address += page.grain) {
            Cell& cell = page.cells[address % kPageBytes / page.grain];
            if (shared) { // another block's shared memory lay here before
                if (cell.write.block() != m_block) cell.write = {};
                if (cell.lastRead.block() != m_block) cell.lastRead = cell.otherRead = {};
            }
            record(cell, now, isWrite, at + (address - reinterpret_cast<uintptr_t>(at)));
        }
    }
}

std::string Races::place(const char* at) const {
    if (isShared(at)) return "shared + " + std::to_string(at - m_shared);
    // The area that begins last before it: areas do not tell their ends.
    const bool inScratch = at >= m_scratch && (at < m_arena || m_scratch > m_arena);
    return inScratch ? "scratch + " + std::to_string(at - m_scratch)
                     : "arena + " + std::to_string(at - m_arena);
}

void Races::report(const Access& before, bool wasWrite, const Access& now, bool isWrite,
                   const char* at) {
    if (!m_fault.empty()) return; // the first one says most
    const auto who = [](const Access& access) {
        return "thread " + std::to_string(access.thread()) + " of block " +
               std::to_string(access.block());
    };
    m_fault = "race at " + place(at) + ": " + who(before) + (wasWrite ? " wrote" : " read") + ", " +
              who(now) + (isWrite ? " writes" : " reads") + ", and nothing orders them";
}

} // namespace halfscope::test
