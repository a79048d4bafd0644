// Products of warpgroups (wgmma) by the PTX ISA, 9.7.15: operands in shared memory as descriptors
// tell, read as late as that may be, when their warp waits. What is undefined is a fault: sums or
// fragments used before the wait or without wgmma.fence between, writes that no proxy fence showed,
// warps of a group that do not all do the same.
#include "tests/emulator/ptx_machine.h"

#include "engine/core/dtype.h"

#include <algorithm>

namespace halfscope::test::ptx {
namespace {

constexpr int kWarpsOfGroup = 4, kDepth = 16;

/// Where the parts of an instruction's operands begin: d, a, b, scale-d, ...
struct Parts {
    size_t a, b, adds, transposed; ///< the last: of a, where it is in shared memory, then of b
    bool aInRegisters;
};
Parts partsOf(Block& block, const Instruction& i) {
    const size_t sums = static_cast<size_t>(i.count) / 2, rest = i.operands.size() - sums;
    if (static_cast<size_t>(i.packed) != sums || (rest != 7 && rest != 9))
        block.fault("another number of operands");
    const size_t b = sums + (rest == 9 ? 4 : 1);
    return {sums, b, b + 1, b + 4, rest == 9};
}

/// A number that all lanes have.
uint64_t uniform(Block& block, const Warp& warp, const Operand& operand, const char* what) {
    const auto get = [&](int lane) {
        return operand.wide ? warp.get<uint64_t>(operand, lane) : warp.get<uint32_t>(operand, lane);
    };
    bool same = warp.wild[operand.index] == 0;
    for (int lane = 1; lane < kLanes; ++lane)
        same = same && get(lane) == get(0);
    if (!same) block.fault(std::string(what) + " that is not the same in all lanes");
    return get(0);
}

/// Calls act(address, outer, k) for each 16 bytes of `outers` rows (columns of b) from `outer0` of
/// a matrix of 16 inner indices: the element there and seven neighbours, along the inner index or,
/// transposed, along the other.
template <class Act>
void eachUnit(Block& block, uint64_t descriptor, bool isTransposed, int outer0, int outers,
              Act&& act) {
    const auto field = [&](int from) {
        return static_cast<uint32_t>(descriptor >> from & 0x3FFF) << 4;
    };
    const uint32_t mode = static_cast<uint32_t>(descriptor >> 62);
    if (mode == 0) block.fault("a matrix without swizzle is not known");
    if ((descriptor >> 49 & 7) != 0) block.fault("a base offset is not known");
    const uint32_t units = 16u >> mode; // of a row of the repeating pattern
    const uint32_t start = field(0), leading = field(16), stride = field(32);
    for (int o = outer0; o < outer0 + outers; o += isTransposed ? 8 : 1)
        for (int k = 0; k < kDepth; k += isTransposed ? 1 : 8) {
            const auto outer = static_cast<uint32_t>(o), inner = static_cast<uint32_t>(k);
            uint32_t at = start;
            if (isTransposed) // ((8, units, m), (8, k)) : ((1, 8, leading), (8 units, stride))
                at += outer / 8 % units * 16 + outer / 8 / units * leading +
                      inner % 8 * units * 16 + inner / 8 * stride;
            else // ((8, m), (8, 2 k)) : ((8 units, stride), (1, 8))
                at += outer % 8 * units * 16 + outer / 8 * stride + inner / 8 * 16;
            at ^= (at >> 7 & (units - 1)) << 4;
            act(uint64_t{at}, o, k);
        }
}

struct Product {
    Parts parts;
    bool aTransposed = false, bTransposed = false;
};
Product productOf(Block& block, const Warp& warp, const GroupProduct& begun) {
    const Instruction& i = *begun.instruction;
    Product product{partsOf(block, i)};
    const auto number = [&](size_t at) { return warp.get<int>(i.operands[at], 0); };
    const Parts& p = product.parts;
    if (number(p.adds + 1) != 1 || number(p.adds + 2) != 1)
        block.fault("a scale that is not known");
    product.aTransposed = !p.aInRegisters && number(p.transposed) != 0;
    product.bTransposed = number(p.transposed + (p.aInRegisters ? 0 : 1)) != 0;
    return product;
}

/// All that a warp's part of a product reads of shared memory.
template <class Act>
void eachUnitOf(Block& block, const Warp& warp, const GroupProduct& begun, const Product& product,
                Act&& act) {
    if (!product.parts.aInRegisters)
        eachUnit(block, begun.a, product.aTransposed, warp.index % kWarpsOfGroup * 16, 16,
                 [&](uint64_t at, int outer, int k) { act(at, outer, k, true); });
    eachUnit(block, begun.b, product.bTransposed, 0, begun.instruction->count,
             [&](uint64_t at, int outer, int k) { act(at, outer, k, false); });
}

/// The registers that it has until its warp waits.
template <class Act>
void eachRegister(const GroupProduct& begun, const Parts& parts, Act&& act) {
    const auto& operands = begun.instruction->operands;
    for (size_t at = 0; at < (parts.aInRegisters ? parts.b : parts.a); ++at)
        act(operands[at].index);
}

void begin(Block& block, Warp& warp, const Instruction& i, uint32_t) {
    GroupState& state = warp.group;
    GroupProduct begun{&i};
    const Parts parts = partsOf(block, i);
    if (!parts.aInRegisters) begun.a = uniform(block, warp, i.operands[parts.a], "a descriptor");
    begun.b = uniform(block, warp, i.operands[parts.b], "a descriptor");
    begun.adds = uniform(block, warp, i.operands[parts.adds], "a predicate") != 0;
    const Product product = productOf(block, warp, begun);
    eachRegister(begun, parts, [&](uint32_t index) {
        if (state.touched[index] >= state.fenced)
            block.fault("no wgmma.fence after the last use of a register");
        if (state.held[index] != 0 && state.held[index] != i.count)
            block.fault("sums of a product of another shape that has not been waited for");
        state.held[index] = i.count;
    });
    const int thread = warp.index * kLanes;
    eachUnitOf(block, warp, begun, product, [&](uint64_t at, int, int, bool) {
        const Bytes from = block.access(Space::Shared, at, 16, false, thread);
        if (!std::all_of(from.written, from.written + 16, [](uint8_t w) { return w != 0; }))
            block.fault("a product of what nobody wrote");
        if (const int writer = block.unshownWriter(at, 16); writer >= 0)
            block.fault("no fence.proxy.async after what thread " + std::to_string(writer) +
                        " wrote");
    });
    state.done.insert(state.done.end(), {static_cast<uint64_t>(i.line), begun.a, begun.b});
    state.open.push_back(begun);
}

template <bool IsBfloat>
float valueOf(uint16_t bits) {
    return IsBfloat ? floatFromBfloat16(bits) : floatFromHalf(bits);
}

/// As mma of the warp interpreter: terms in ascending order, each sum rounded.
template <bool IsBfloat>
void finish(Block& block, Warp& warp, const GroupProduct& begun) {
    const Instruction& i = *begun.instruction;
    const Product product = productOf(block, warp, begun);
    std::array<std::array<float, kDepth>, 16> a{};
    std::vector<std::array<float, kDepth>> b(static_cast<size_t>(i.count));
    const int thread = warp.index * kLanes, firstRow = warp.index % kWarpsOfGroup * 16;
    eachUnitOf(block, warp, begun, product, [&](uint64_t at, int outer, int k, bool isA) {
        const Bytes from = block.access(Space::Shared, at, 16, false, thread);
        std::array<uint16_t, 8> halves;
        std::memcpy(halves.data(), from.at, 16);
        const bool isTransposed = isA ? product.aTransposed : product.bTransposed;
        for (int e = 0; e < 8; ++e) {
            const auto row = static_cast<size_t>(outer + (isTransposed ? e : 0));
            (isA ? a[row - static_cast<size_t>(firstRow)]
                 : b[row])[static_cast<size_t>(k + (isTransposed ? 0 : e))] =
                valueOf<IsBfloat>(halves[static_cast<size_t>(e)]);
        }
    });
    if (product.parts.aInRegisters) // as mma.m16n8k16's
        for (int lane = 0; lane < kLanes; ++lane)
            for (int e = 0; e < 8; ++e) {
                const Operand& from = i.operands[product.parts.a + static_cast<size_t>(e / 2)];
                const int row = lane / 4 + (e / 2 % 2) * 8, k = lane % 4 * 2 + e % 2 + e / 4 * 8;
                if ((warp.wild[from.index] >> lane & 1u) != 0)
                    block.fault("a product of what nobody wrote");
                a[static_cast<size_t>(row)][static_cast<size_t>(k)] = valueOf<IsBfloat>(
                    static_cast<uint16_t>(warp.get<uint32_t>(from, lane) >> (16 * (e % 2))));
            }
    for (int lane = 0; lane < kLanes; ++lane)
        for (size_t at = 0; at < static_cast<size_t>(i.count) / 2; ++at) {
            const Operand& d = i.operands[at];
            const auto row = static_cast<size_t>(lane / 4) + at % 4 / 2 * 8;
            const auto column = at / 4 * 8 + static_cast<size_t>(lane % 4) * 2 + at % 2;
            float sum = begun.adds ? warp.get<float>(d, lane) : 0.0f;
            for (size_t k = 0; k < kDepth; ++k)
                sum = static_cast<float>(double(a[row][k]) * double(b[column][k]) + double(sum));
            warp.set<float>(d, lane, sum);
            if (!begun.adds) warp.mark(d, 1u << lane, 0);
        }
}

void fence(Block&, Warp& warp, const Instruction& i, uint32_t) {
    warp.group.fenced = ++warp.group.now;
    warp.group.done.push_back(static_cast<uint64_t>(i.line));
}

void commit(Block&, Warp& warp, const Instruction& i, uint32_t) {
    warp.group.groups.push_back(std::move(warp.group.open));
    warp.group.open.clear();
    warp.group.done.push_back(static_cast<uint64_t>(i.line));
}

void wait(Block& block, Warp& warp, const Instruction& i, uint32_t) {
    GroupState& state = warp.group;
    for (const size_t stay = warp.get<uint32_t>(i.operands[0], 0); state.groups.size() > stay;
         state.groups.pop_front())
        for (const GroupProduct& begun : state.groups.front())
            begun.instruction->isSigned ? finish<true>(block, warp, begun)
                                        : finish<false>(block, warp, begun);
    std::fill(state.held.begin(), state.held.end(), 0);
    const auto hold = [&](const GroupProduct& begun) {
        eachRegister(begun, partsOf(block, *begun.instruction),
                     [&](uint32_t index) { state.held[index] = begun.instruction->count; });
    };
    for (const auto& group : state.groups)
        std::for_each(group.begin(), group.end(), hold);
    std::for_each(state.open.begin(), state.open.end(), hold);
    state.done.push_back(static_cast<uint64_t>(i.line));
}

void showWrites(Block& block, Warp& warp, const Instruction&, uint32_t mask) {
    eachLane(mask, [&](int lane) { block.showWrites(warp.index * kLanes + lane); });
}

} // namespace

void addGroups(Table& t) {
    const std::string sync = ".sync.aligned";
    t["wgmma.fence" + sync] = {&fence, Flow::Group};
    t["wgmma.commit_group" + sync] = {&commit, Flow::Group};
    t["wgmma.wait_group" + sync] = {&wait, Flow::Group};
    for (int columns = 8; columns <= 256; columns += 8)
        for (const bool isBfloat : {false, true}) { // told by isSigned
            const std::string type = isBfloat ? ".bf16.bf16" : ".f16.f16";
            t["wgmma.mma_async" + sync + ".m64n" + std::to_string(columns) + "k16.f32" + type] = {
                &begin, Flow::Group, Space::Shared, 2, columns, isBfloat};
        }
    t["fence.proxy.async"] = t["fence.proxy.async.shared::cta"] = {&showWrites};
}

void GroupState::use(const Block& block, const Instruction& instruction) {
    ++now;
    const auto use = [&](const Operand& operand) {
        if (held[operand.index] != 0)
            block.fault("uses a register of a product that has not been waited for");
        touched[operand.index] = now;
    };
    std::for_each(instruction.operands.begin(), instruction.operands.end(), use);
    if (instruction.guarded) use(instruction.guard);
}

void Block::showWrites(int thread) {
    auto& own = m_unshown[static_cast<size_t>(thread)];
    for (const auto& [from, bytes] : own)
        for (size_t at = from; at < from + bytes; ++at)
            if (m_writers[at] == thread + 1) m_writers[at] = 0;
    own.clear();
}

void Block::noteWrite(size_t at, size_t bytes, int thread) {
    std::fill_n(m_writers.begin() + static_cast<std::ptrdiff_t>(at), bytes, thread + 1);
    m_unshown[static_cast<size_t>(thread)].emplace_back(at, bytes);
}

int Block::unshownWriter(uint64_t address, size_t bytes) const {
    const size_t from = address - kSharedStart;
    for (size_t at = from; at < from + bytes; ++at)
        if (m_writers[at] != 0) return m_writers[at] - 1;
    return -1;
}

/// Between two barriers all warps of a group do the same, and wait before they end.
void Block::checkGroups(bool isOver) {
    for (size_t w = 0; w < m_warps.size(); ++w) {
        Warp& warp = m_warps[w];
        const size_t first = w / kWarpsOfGroup * kWarpsOfGroup;
        const bool isWhole = first + kWarpsOfGroup <= m_warps.size();
        if (warp.group.done != m_warps[first].group.done || (!warp.group.done.empty() && !isWhole))
            fault("warps of a warpgroup do not all begin the same products",
                  static_cast<int>(w) * kLanes);
        if (isOver && (!warp.group.open.empty() || !warp.group.groups.empty()))
            fault("ends before its products", static_cast<int>(w) * kLanes);
    }
    for (Warp& warp : m_warps)
        warp.group.done.clear();
}

} // namespace halfscope::test::ptx
