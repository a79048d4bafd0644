// Loads, stores, atomics, ldmatrix and asynchronous copies, and what can be wrong with them: bytes
// that are not the launch's, a size that does not divide the address, values that nobody wrote.
#include "tests/emulator/ptx_machine.h"

#include <algorithm>
#include <cstdio>

namespace halfscope::test::ptx {
namespace {

int threadOf(const Warp& warp, int lane) { return warp.index * kLanes + lane; }

uint64_t addressOf(Block& block, const Warp& warp, const Instruction& i, const Operand& operand,
                   int lane) {
    if ((warp.wild[operand.index] >> lane & 1u) != 0)
        block.fault("an address that nobody wrote", threadOf(warp, lane));
    return warp.address(operand, lane) + static_cast<uint64_t>(i.offset);
}

bool isWild(const Bytes& bytes, int count) {
    return bytes.written != nullptr &&
           !std::all_of(bytes.written, bytes.written + count, [](uint8_t w) { return w != 0; });
}
void setWritten(const Bytes& bytes, int count, bool isWritten) {
    if (bytes.written != nullptr) std::fill_n(bytes.written, count, isWritten ? 1 : 0);
}

void load(Block& block, Warp& warp, const Instruction& i, uint32_t mask) {
    eachLane(mask, [&](int lane) {
        const uint64_t address = addressOf(block, warp, i, i.operands.back(), lane);
        const Bytes from =
            block.access(i.space, address, i.bytes * i.count, false, threadOf(warp, lane));
        if (!i.isCoherent && from.mayChange)
            block.fault("a load of bytes that must not change", threadOf(warp, lane));
        for (int k = 0; k < i.count; ++k) {
            const Operand& to = i.operands[static_cast<size_t>(k)];
            uint64_t bits = 0;
            std::memcpy(&bits, from.at + k * i.bytes, static_cast<size_t>(i.bytes));
            const int unused = 64 - 8 * i.bytes;
            if (i.isSigned)
                bits = static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
            warp.set<uint64_t>(to, lane, bits);
            const Bytes one{from.at,
                            from.written == nullptr ? nullptr : from.written + k * i.bytes};
            warp.mark(to, 1u << lane, isWild(one, i.bytes) ? kAllLanes : 0);
        }
    });
}

/// Reads nothing, but a line that is not the launch's is asked for by mistake.
void askAhead(Block& block, Warp& warp, const Instruction& i, uint32_t mask) {
    eachLane(mask, [&](int lane) {
        constexpr bool kAsAtomic = true; // whatever others write there is no race
        (void)block.access(Space::Global, addressOf(block, warp, i, i.operands[0], lane), 1, false,
                           threadOf(warp, lane), kAsAtomic);
    });
}

void loadParameter(Block& block, Warp& warp, const Instruction& i, uint32_t mask) {
    eachLane(mask, [&](int lane) {
        const uint64_t at = warp.address(i.operands[1], lane) + static_cast<uint64_t>(i.offset);
        warp.set<uint64_t>(i.operands[0], lane, block.parameter(at));
    });
    warp.mark(i.operands[0], mask, 0);
}

void store(Block& block, Warp& warp, const Instruction& i, uint32_t mask) {
    eachLane(mask, [&](int lane) {
        const uint64_t address = addressOf(block, warp, i, i.operands[0], lane);
        const Bytes to =
            block.access(i.space, address, i.bytes * i.count, true, threadOf(warp, lane));
        for (int k = 0; k < i.count; ++k) {
            const Operand& from = i.operands[static_cast<size_t>(k + 1)];
            const uint64_t bits =
                from.wide ? warp.get<uint64_t>(from, lane) : warp.get<uint32_t>(from, lane);
            std::memcpy(to.at + k * i.bytes, &bits, static_cast<size_t>(i.bytes));
            const bool wild = (warp.wild[from.index] >> lane & 1u) != 0;
            if (wild && to.written == nullptr)
                block.fault("stores a value that nobody wrote", threadOf(warp, lane));
            if (to.written != nullptr) std::fill_n(to.written + k * i.bytes, i.bytes, wild ? 0 : 1);
        }
    });
}

template <class T, class F>
void atomic(Block& block, Warp& warp, const Instruction& i, uint32_t mask) {
    const bool isReduction = i.operands.size() == 2;
    const size_t first = isReduction ? 0 : 1;
    eachLane(mask, [&](int lane) {
        const uint64_t address = addressOf(block, warp, i, i.operands[first], lane);
        const int thread = threadOf(warp, lane);
        Races* races = block.races();
        const Bytes at = block.access(i.space, address, sizeof(T), true, thread, true);
        if (races != nullptr) races->atomic(thread, at.at);
        T old;
        std::memcpy(&old, at.at, sizeof old);
        const T now = F{}(old, warp.get<T>(i.operands[first + 1], lane));
        std::memcpy(at.at, &now, sizeof now);
        if (!isReduction) {
            warp.set<T>(i.operands[0], lane, old);
            warp.mark(i.operands[0], 1u << lane, isWild(at, sizeof(T)) ? kAllLanes : 0);
        }
        setWritten(at, sizeof(T), true);
    });
}

void fence(Block& block, Warp& warp, const Instruction&, uint32_t mask) {
    if (block.races() != nullptr)
        eachLane(mask, [&](int lane) { block.races()->fence(threadOf(warp, lane)); });
}

void nothing(Block&, Warp&, const Instruction&, uint32_t) {}

/// Matrix i: its eight rows of 16 bytes are named by lanes 8 i to 8 i + 7. Lane l gets elements
/// 2 (l % 4) and its neighbour of row l / 4, or of that column with Transposed.
template <bool Transposed>
void loadMatrices(Block& block, Warp& warp, const Instruction& i, uint32_t) {
    struct Row {
        uint16_t elements[8];
        uint8_t written[16];
    };
    for (int matrix = 0; matrix < i.count; ++matrix) {
        Row rows[8];
        for (int row = 0; row < 8; ++row) {
            const int lane = 8 * matrix + row;
            const uint64_t address = addressOf(block, warp, i, i.operands.back(), lane);
            const Bytes from = block.access(i.space, address, 16, false, threadOf(warp, lane));
            std::memcpy(rows[row].elements, from.at, 16);
            std::memcpy(rows[row].written, from.written, 16);
        }
        const Operand& to = i.operands[static_cast<size_t>(matrix)];
        for (int lane = 0; lane < kLanes; ++lane) {
            uint32_t word = 0;
            bool whole = true;
            for (int j = 0; j < 2; ++j) {
                const int outer = lane / 4, inner = 2 * (lane % 4) + j;
                const int row = Transposed ? inner : outer, column = Transposed ? outer : inner;
                word |= uint32_t{rows[row].elements[column]} << (16 * j);
                whole = whole && rows[row].written[2 * column] != 0 &&
                        rows[row].written[2 * column + 1] != 0;
            }
            warp.set<uint32_t>(to, lane, word);
            warp.mark(to, 1u << lane, whole ? 0 : kAllLanes);
        }
    }
}

// ---- asynchronous copies -----------------------------------------------------------------------

/// [to], [from], bytes and perhaps how many of them the source has. Until its thread has waited the
/// target holds nothing.
void beginCopy(Block& block, Warp& warp, const Instruction& i, uint32_t mask) {
    eachLane(mask, [&](int lane) {
        const int thread = threadOf(warp, lane);
        Copy copy;
        copy.to = addressOf(block, warp, i, i.operands[0], lane);
        copy.bytes = warp.get<int>(i.operands[2], lane);
        if (copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16)
            block.fault("cp.async of another number of bytes", thread);
        if (i.bytes > 0 && copy.bytes != i.bytes)
            block.fault("cp.async.cg of other than 16 bytes", thread);
        int taken = copy.bytes;
        if (i.operands.size() > 3) {
            if ((warp.wild[i.operands[3].index] >> lane & 1u) != 0)
                block.fault("a source size that nobody wrote", thread);
            taken = warp.get<int>(i.operands[3], lane);
            if (taken < 0 || taken > copy.bytes)
                block.fault("cp.async from more bytes than it copies", thread);
        }
        if (taken > 0) {
            const uint64_t address = addressOf(block, warp, i, i.operands[1], lane);
            if (address % static_cast<uint64_t>(copy.bytes) != 0)
                block.fault("cp.async from a misaligned address", thread);
            // bytes one by one: their number need not be a power of two
            for (int k = 0; k < taken; ++k) {
                const Bytes from = block.access(Space::Global, address + static_cast<uint64_t>(k),
                                                1, false, thread);
                if (isWild(from, 1)) block.fault("cp.async of what nobody wrote", thread);
                copy.data[static_cast<size_t>(k)] = *from.at;
            }
        }
        setWritten(block.access(Space::Shared, copy.to, copy.bytes, true, thread), copy.bytes,
                   false);
        warp.copies[static_cast<size_t>(lane)].open.push_back(copy);
    });
}

void commitCopies(Block&, Warp& warp, const Instruction&, uint32_t mask) {
    eachLane(mask, [&](int lane) {
        Copies& copies = warp.copies[static_cast<size_t>(lane)];
        copies.groups.push_back(std::move(copies.open));
        copies.open.clear();
    });
}

void land(Block& block, const std::vector<Copy>& group, int thread) {
    for (const Copy& copy : group) {
        const Bytes to = block.access(Space::Shared, copy.to, copy.bytes, true, thread);
        std::memcpy(to.at, copy.data.data(), static_cast<size_t>(copy.bytes));
        setWritten(to, copy.bytes, true);
    }
}

void waitCopies(Block& block, Warp& warp, const Instruction& i, uint32_t mask) {
    eachLane(mask, [&](int lane) {
        Copies& copies = warp.copies[static_cast<size_t>(lane)];
        const bool all = i.operands.empty();
        const size_t stay = all ? 0 : warp.get<uint32_t>(i.operands[0], lane);
        for (; copies.groups.size() > stay; copies.groups.pop_front())
            land(block, copies.groups.front(), threadOf(warp, lane));
        if (!all) return;
        land(block, copies.open, threadOf(warp, lane));
        copies.open.clear();
    });
}

// ---- names -------------------------------------------------------------------------------------

std::vector<std::string_view> wordsOf(std::string_view name) {
    std::vector<std::string_view> words;
    for (size_t begin = 0; begin <= name.size();) {
        const size_t end = std::min(name.find('.', begin), name.size());
        words.push_back(name.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

/// What words beside the type say; false for one that is not known.
bool takeWord(std::string_view word, Meaning& meaning) {
    static constexpr std::string_view kOrders[] = {
        "volatile", "weak", "relaxed", "acquire", "release", "acq_rel", "cta", "gpu",
        "sys",      "ca",   "cg",      "cs",      "cv",      "wb",      "wt",  "lu"};
    if (word == "nc") {
        meaning.isCoherent = false;
    } else if (word == "global" || word == "const") {
        meaning.space = Space::Global;
    } else if (word == "shared" || word == "shared::cta") {
        meaning.space = Space::Shared;
    } else if (word == "local") {
        meaning.space = Space::Local;
    } else if (word == "param") {
        meaning.space = Space::Param;
    } else if (word == "v2" || word == "v4") {
        meaning.count = word[1] - '0';
    } else {
        return std::find(std::begin(kOrders), std::end(kOrders), word) != std::end(kOrders) ||
               word.starts_with("L1::") || word.starts_with("L2::");
    }
    return true;
}

template <class T>
Handler atomicOf(std::string_view operation) {
    const auto of = []<class F>(F) { return &atomic<T, F>; };
    if (operation == "add") return of([](T a, T b) { return T(a + b); });
    if (operation == "exch") return of([](T, T b) { return b; });
    if (operation == "max") return of([](T a, T b) { return std::max(a, b); });
    if (operation == "min") return of([](T a, T b) { return std::min(a, b); });
    if (operation == "or") return of([](T a, T b) { return T(a | b); });
    if (operation == "and") return of([](T a, T b) { return T(a & b); });
    return nullptr;
}

} // namespace

bool memoryMeaning(std::string_view name, Meaning& meaning) {
    if (name.starts_with("cp.async.ca.shared"))
        meaning = {&beginCopy};
    else if (name.starts_with("cp.async.cg.shared")) // past the first cache: whole units alone
        meaning = {&beginCopy, Flow::Next, Space::Generic, 16};
    else if (name == "cp.async.commit_group")
        meaning = {&commitCopies};
    else if (name == "cp.async.wait_group" || name == "cp.async.wait_all")
        meaning = {&waitCopies};
    else if (name == "fence.acq_rel.gpu" || name == "fence.sc.gpu" || name == "membar.gl" ||
             name == "fence.sc.sys" || name == "membar.sys")
        meaning = {&fence};
    else if (name == "prefetch.global.L2")
        meaning = {&askAhead};
    else if (name == "fence.acq_rel.cta" || name == "membar.cta")
        meaning = {&nothing};
    if (meaning.run != nullptr) return true;

    std::vector<std::string_view> words = wordsOf(name);
    const std::string_view verb = words.front(), type = words.back();
    if (verb == "ldmatrix") {
        if (!name.starts_with("ldmatrix.sync.aligned.m8n8.x") || type != "b16") return false;
        meaning.flow = Flow::Warp;
        meaning.space = Space::Shared;
        meaning.count = name[28] - '0';
        meaning.run = name.find(".trans") == std::string_view::npos ? &loadMatrices<false>
                                                                    : &loadMatrices<true>;
        return true;
    }
    if (verb != "ld" && verb != "st" && verb != "atom" && verb != "red") return false;
    if (type.size() < 2 || type.find_first_not_of("0123456789", 1) != std::string_view::npos)
        return false;
    meaning.bytes = std::stoi(std::string(type.substr(1))) / 8;
    meaning.isSigned = type[0] == 's';
    const bool isAtomic = verb == "atom" || verb == "red";
    const size_t end = words.size() - (isAtomic ? 2 : 1);
    for (size_t i = 1; i < end; ++i)
        if (!takeWord(words[i], meaning)) return false;
    if (verb == "ld") meaning.run = meaning.space == Space::Param ? &loadParameter : &load;
    if (verb == "st") meaning.run = &store;
    if (isAtomic && (type == "u32" || type == "b32")) meaning.run = atomicOf<uint32_t>(words[end]);
    if (isAtomic && type == "s32") meaning.run = atomicOf<int32_t>(words[end]);
    return meaning.run != nullptr;
}

Bytes Block::access(Space space, uint64_t address, int bytes, bool isWrite, int thread,
                    bool isAtomic) {
    if (address % static_cast<uint64_t>(bytes) != 0)
        fault("misaligned: " + std::to_string(bytes) + " bytes at " + std::to_string(address),
              thread);
    if (space == Space::Generic) {
        space = address >= kSharedWindow  ? Space::Shared
                : address >= kLocalWindow ? Space::Local
                                          : Space::Global;
        if (space == Space::Shared) address -= kSharedWindow;
        if (space == Space::Local) address -= kLocalWindow;
    }
    const auto size = static_cast<uint64_t>(bytes);
    if (space == Space::Shared || space == Space::Local) {
        const bool isShared = space == Space::Shared;
        const uint64_t start = isShared ? kSharedStart : kLocalStart;
        const uint64_t limit = isShared ? m_sharedBytes : m_kernel.localBytes;
        if (address < start || address - start + size > limit)
            fault((isShared ? "outside shared memory: " : "outside local memory: ") +
                      std::to_string(static_cast<int64_t>(address - start)) + " of " +
                      std::to_string(limit),
                  thread);
        const uint64_t at = address - start;
        if (!isShared) {
            const uint64_t own = static_cast<uint64_t>(thread) * m_kernel.localBytes + at;
            return {m_local.data() + own, m_localWritten.data() + own};
        }
        if (m_races != nullptr && !isAtomic) m_races->access(thread, m_shared + at, size, isWrite);
        if (isWrite && m_kernel.hasGroups) noteWrite(at, size, thread);
        return {m_shared + at, m_sharedWritten.data() + at};
    }
    char* at = reinterpret_cast<char*>(address);
    for (const Area& area : m_areas) {
        const auto begin = reinterpret_cast<uint64_t>(area.begin);
        if (address < begin || address - begin + size > area.bytes) continue;
        if (isWrite && !area.isWritable) fault("writes to " + area.name, thread);
        if (m_races != nullptr && !isAtomic && area.isWritable)
            m_races->access(thread, at, size, isWrite);
        return {at, area.written == nullptr ? nullptr : area.written->data() + (address - begin),
                area.isWritable};
    }
    fault(std::string(isWrite ? "writes " : "reads ") + std::to_string(bytes) +
              " bytes outside every area: arena " + std::to_string(at - m_areas.front().begin) +
              " of " + std::to_string(m_areas.front().bytes),
          thread);
}

} // namespace halfscope::test::ptx
