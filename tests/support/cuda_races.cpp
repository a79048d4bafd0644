// Clocks of blocks, joined by barriers and tickets as PTX's memory model joins them, and the last
// accesses to every byte.
#include "tests/support/cuda_races.h"

#include <algorithm>

namespace halfscope::test {

void Races::startLaunch(int blocks, int threads, const char* arena, const char* scratch) {
    m_arena = arena;
    m_scratch = scratch;
    ++m_launch; // whatever ran before has happened
    m_blocks = blocks;
    m_threads.assign(static_cast<size_t>(threads), {});
    m_exchanges.assign(static_cast<size_t>((threads + kLanes - 1) / kLanes), 0);
    m_tickets.clear();
    m_fault.clear();
}

void Races::startBlock(int block, const char* shared, size_t sharedBytes) {
    m_block = block;
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
    thread.released[static_cast<size_t>(m_block)] = m_epoch;
}

void Races::atomic(int index, const char* at) {
    Thread& thread = m_threads[static_cast<size_t>(index)];
    Clock& ticket = m_tickets[at];
    join(thread.drawn, ticket);
    join(ticket, thread.released);
}

Races::Cell& Races::cellAt(const char* at) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    const uintptr_t number = address / kPageBytes;
    auto& [recent, page] = m_recent[number % m_recent.size()];
    if (page == nullptr || recent != number) {
        std::unique_ptr<Page>& owned = m_pages[number];
        if (!owned) owned = std::make_unique<Page>();
        recent = number;
        page = owned.get();
    }
    if (page->launch != m_launch) {
        page->cells.fill(Cell{});
        page->launch = m_launch;
    }
    return page->cells[address % kPageBytes];
}

bool Races::isOrdered(const Access& before, const Access& now) const {
    if (before.block != now.block) {
        const auto block = static_cast<size_t>(before.block);
        const Clock& own = m_threads[static_cast<size_t>(now.thread)].known;
        return before.epoch < std::max(m_known[block], own.empty() ? 0 : own[block]);
    }
    if (before.thread == now.thread || before.epoch < now.epoch) return true;
    return before.thread / kLanes == now.thread / kLanes && before.exchanges < now.exchanges;
}

void Races::access(int thread, const char* at, size_t bytes, bool isWrite) {
    if (!m_fault.empty()) return;
    const Access now{m_block, thread, m_epoch, m_exchanges[static_cast<size_t>(thread / kLanes)]};
    if (!m_tickets.empty() && m_tickets.contains(at)) return; // set back by who drew the last one
    // Of a wide access every second byte: its elements have two or more.
    for (size_t i = 0; i < bytes; i += 2) {
        Cell& cell = cellAt(at + i);
        // Another block's shared memory lay here before.
        if (isShared(at) && cell.write.block >= 0 && cell.write.block != m_block) cell.write = {};
        if (isShared(at) && cell.lastRead.block >= 0 && cell.lastRead.block != m_block)
            cell.lastRead = cell.otherRead = {};
        const auto check = [&](const Access& before, bool wasWrite) {
            if (before.block >= 0 && !isOrdered(before, now))
                report(before, wasWrite, now, isWrite, at + i);
        };
        check(cell.write, true);
        if (!isWrite) {
            if (cell.lastRead.block != now.block || cell.lastRead.thread != now.thread)
                cell.otherRead = cell.lastRead;
            cell.lastRead = now;
            continue;
        }
        check(cell.lastRead, false);
        check(cell.otherRead, false);
        cell.write = now;
        cell.lastRead = cell.otherRead = {};
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
        return "thread " + std::to_string(access.thread) + " of block " +
               std::to_string(access.block);
    };
    m_fault = "race at " + place(at) + ": " + who(before) + (wasWrite ? " wrote" : " read") + ", " +
              who(now) + (isWrite ? " writes" : " reads") + ", and nothing orders them";
}

} // namespace halfscope::test
