// What the lanes of a warp do together (shuffles, votes, mma), branches and barriers, and the
// order in which lanes that parted go on: those that are furthest behind first, so that they meet
// again; an instruction for several lanes waits for all of them.
#include "tests/emulator/ptx_machine.h"

#include "engine/core/dtype.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>

namespace halfscope::test::ptx {
namespace {

void nothing(Block&, Warp&, const Instruction&, uint32_t) {}

void trap(Block& block, Warp&, const Instruction&, uint32_t) { block.fault("a trap"); }

void syncWarp(Block& block, Warp& warp, const Instruction&, uint32_t mask) {
    if (block.races() != nullptr && mask == kAllLanes) block.races()->exchange(warp.index);
}

enum class Way : uint8_t { Up, Down, Bfly, Idx };

/// d|p, a, b, c, members: as the ISA's pseudocode has it.
template <Way W>
void shuffle(Block& block, Warp& warp, const Instruction& i, uint32_t mask) {
    const auto& o = i.operands;
    const size_t a = o.size() - 4;
    std::array<uint32_t, kLanes> values{}, valid{};
    std::array<int, kLanes> from{};
    eachLane(mask, [&](int lane) {
        const auto l = static_cast<uint32_t>(lane);
        const uint32_t b = warp.get<uint32_t>(o[a + 1], lane) & 31u;
        const uint32_t c = warp.get<uint32_t>(o[a + 2], lane);
        const uint32_t segments = c >> 8 & 31u;
        const uint32_t most = (l & segments) | (c & 31u & ~segments), least = l & segments;
        int source = 0;
        bool inside = false;
        if (W == Way::Up) {
            source = lane - static_cast<int>(b);
            inside = source >= static_cast<int>(most);
        } else {
            source = static_cast<int>(W == Way::Down   ? l + b
                                      : W == Way::Bfly ? l ^ b
                                                       : least | (b & ~segments));
            inside = source <= static_cast<int>(most);
        }
        if (!inside) source = lane;
        const auto members = warp.get<uint32_t>(o.back(), lane);
        if ((mask & members & (1u << source)) == 0)
            block.fault("a shuffle from a lane that does not take part", 32 * warp.index + lane);
        from[l] = source;
        valid[l] = inside ? 1 : 0;
        values[l] = warp.get<uint32_t>(o[a], source);
    });
    const uint32_t wild = warp.wild[o[a].index];
    eachLane(mask, [&](int lane) {
        const auto l = static_cast<size_t>(lane);
        warp.set<uint32_t>(o[0], lane, values[l]);
        warp.mark(o[0], 1u << lane, (wild >> from[l] & 1u) != 0 ? kAllLanes : 0);
        if (a == 2) warp.set<uint32_t>(o[1], lane, valid[l]);
    });
    if (a == 2) warp.mark(o[1], mask, 0);
}

template <class Result>
void vote(Block& block, Warp& warp, const Instruction& i, uint32_t mask) {
    uint32_t yes = 0;
    eachLane(mask,
             [&](int lane) { yes |= (warp.get<bool>(i.operands[1], lane) ? 1u : 0u) << lane; });
    if ((warp.wild[i.operands[1].index] & mask) != 0) block.fault("a vote that nobody wrote");
    eachLane(mask, [&](int lane) {
        const auto members = warp.get<uint32_t>(i.operands.back(), lane);
        warp.set<uint32_t>(i.operands[0], lane, Result{}(yes & members, members));
    });
    warp.mark(i.operands[0], mask, 0);
}

// ---- mma: fragments by the figures of the PTX ISA, 9.7.14.5 ------------------------------------

/// A 16 x K or K x 8 operand, or the 16 x 8 sums, as a matrix.
struct Matrix {
    float values[16][16];
    bool wild[16][16];
};

enum class Kind : uint8_t { F16, BF16, TF32 };

template <Kind K>
float elementOf(uint32_t word, int i) {
    if (K == Kind::TF32)
        return std::bit_cast<float>(word & 0xFFFFE000u); // the rest is not looked at
    const auto half = static_cast<uint16_t>(word >> (16 * i));
    return K == Kind::F16 ? floatFromHalf(half) : floatFromBfloat16(half);
}

/// Place of element i of a lane's fragment of a (16 x Depth).
template <Kind K, int Depth>
std::pair<int, int> placeInA(int lane, int i) {
    const int group = lane >> 2, member = lane % 4;
    if (K == Kind::TF32) // m16n8k8: a0, a2 in the upper rows; a2, a3 in the right columns
        return {i % 2 == 0 ? group : group + 8, i < 2 ? member : member + 4};
    if (Depth == 8) return {i < 2 ? group : group + 8, member * 2 + (i & 1)};
    return {i < 2 || (i >= 4 && i < 6) ? group : group + 8,
            member * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
/// ... and of b (Depth x 8).
template <Kind K, int Depth>
std::pair<int, int> placeInB(int lane, int i) {
    const int group = lane >> 2, member = lane % 4;
    if (K == Kind::TF32) return {i == 0 ? member : member + 4, group};
    return {member * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
}
std::pair<int, int> placeInC(int lane, int i) {
    return {i < 2 ? lane >> 2 : (lane >> 2) + 8, (lane % 4) * 2 + (i & 1)};
}

/// d, a, b, c in this order. Sums run in ascending order of the inner index, rounded at each term:
/// the ISA leaves both open.
template <Kind K, int Depth>
void multiply(Block&, Warp& warp, const Instruction& i, uint32_t) {
    constexpr int kPerWord = K == Kind::TF32 ? 1 : 2;
    constexpr int kWordsA = 16 * Depth / kLanes / kPerWord, kWordsB = kWordsA / 2;
    static_assert(kWordsB > 0);
    const auto& o = i.operands;
    Matrix a, b;
    for (int lane = 0; lane < kLanes; ++lane) {
        const auto fill = [&](Matrix& into, int first, int words, auto place) {
            for (int e = 0; e < words * kPerWord; ++e) {
                const Operand& from = o[static_cast<size_t>(first + e / kPerWord)];
                const auto [row, column] = place(lane, e);
                into.values[row][column] =
                    elementOf<K>(warp.get<uint32_t>(from, lane), e % kPerWord);
                into.wild[row][column] = (warp.wild[from.index] >> lane & 1u) != 0;
            }
        };
        fill(a, 4, kWordsA, placeInA<K, Depth>);
        fill(b, 4 + kWordsA, kWordsB, placeInB<K, Depth>);
    }
    for (int lane = 0; lane < kLanes; ++lane)
        for (int e = 0; e < 4; ++e) {
            const Operand& c = o[static_cast<size_t>(4 + kWordsA + kWordsB + e)];
            const Operand& d = o[static_cast<size_t>(e)];
            const auto [row, column] = placeInC(lane, e);
            bool isWild = (warp.wild[c.index] >> lane & 1u) != 0;
            float sum = warp.get<float>(c, lane);
            for (int k = 0; k < Depth; ++k) {
                // exact in double, whose 53 bits make the second rounding harmless
                sum = static_cast<float>(double(a.values[row][k]) * double(b.values[k][column]) +
                                         double(sum));
                isWild = isWild || a.wild[row][k] || b.wild[k][column];
            }
            warp.set<float>(d, lane, sum);
            warp.mark(d, 1u << lane, isWild ? kAllLanes : 0);
        }
}

} // namespace

void addWarps(Table& t) {
    t["bra"] = t["bra.uni"] = {&nothing, Flow::Branch};
    t["ret"] = t["exit"] = {&nothing, Flow::Exit};
    t["trap"] = {&trap};
    t["bar.sync"] = t["barrier.sync"] = {&nothing, Flow::Barrier};
    t["bar.warp.sync"] = {&syncWarp, Flow::Members};
    t["shfl.sync.up.b32"] = {&shuffle<Way::Up>, Flow::Members};
    t["shfl.sync.down.b32"] = {&shuffle<Way::Down>, Flow::Members};
    t["shfl.sync.bfly.b32"] = {&shuffle<Way::Bfly>, Flow::Members};
    t["shfl.sync.idx.b32"] = {&shuffle<Way::Idx>, Flow::Members};
    const auto voted = []<class F>(F) { return Meaning{&vote<F>, Flow::Members}; };
    t["vote.sync.ballot.b32"] = voted([](uint32_t yes, uint32_t) { return yes; });
    t["vote.sync.any.pred"] = voted([](uint32_t yes, uint32_t) { return yes != 0 ? 1u : 0u; });
    t["vote.sync.all.pred"] =
        voted([](uint32_t yes, uint32_t all) { return yes == all ? 1u : 0u; });
    const std::string mma = "mma.sync.aligned.m16n8k";
    t[mma + "16.row.col.f32.f16.f16.f32"] = {&multiply<Kind::F16, 16>, Flow::Warp};
    t[mma + "8.row.col.f32.f16.f16.f32"] = {&multiply<Kind::F16, 8>, Flow::Warp};
    t[mma + "16.row.col.f32.bf16.bf16.f32"] = {&multiply<Kind::BF16, 16>, Flow::Warp};
    t[mma + "8.row.col.f32.tf32.tf32.f32"] = {&multiply<Kind::TF32, 8>, Flow::Warp};
}

Meaning meaningOf(const std::string& name) {
    static const Table table = [] {
        Table made;
        addLanes(made);
        addConversions(made);
        addCarries(made);
        addWarps(made);
        addGroups(made);
        return made;
    }();
    if (const auto found = table.find(name); found != table.end() && found->second.run != nullptr)
        return found->second;
    Meaning meaning;
    if (memoryMeaning(name, meaning)) return meaning;
    throw std::runtime_error("the instruction " + name + " is not known");
}

// ---- who goes on -------------------------------------------------------------------------------

/// The lanes whose guard lets them.
uint32_t Block::allowed(Warp& warp, const Instruction& instruction, uint32_t mask) {
    if (!instruction.guarded) return mask;
    if ((warp.wild[instruction.guard.index] & mask) != 0)
        fault("a predicate that nobody wrote", kLanes * warp.index);
    uint32_t lanes = 0;
    eachLane(mask, [&](int lane) {
        if (warp.get<bool>(instruction.guard, lane) != instruction.negated) lanes |= 1u << lane;
    });
    return lanes;
}

/// Whether all the lanes have come that must execute it together.
bool Block::canGo(const Warp& warp, const Instruction& instruction, uint32_t mask) {
    switch (instruction.flow) {
    case Flow::Next:
    case Flow::Branch:
    case Flow::Exit: return true;
    case Flow::Barrier:
    case Flow::Warp:
    case Flow::Group: return mask == warp.all;
    case Flow::Members: break;
    }
    const auto membersOf = [&](int lane) {
        return warp.get<uint32_t>(instruction.operands.back(), lane);
    };
    const uint32_t first = membersOf(std::countr_zero(mask));
    bool all = true, same = true;
    eachLane(mask, [&](int lane) {
        const uint32_t members = membersOf(lane);
        if ((members >> lane & 1u) == 0) {
            m_current = &instruction;
            fault("a lane is not among its members", kLanes * warp.index + lane);
        }
        all = all && (members & ~mask) == 0;
        same = same && members == first;
    });
    if (same) return all;
    eachLane(mask, [&](int lane) {
        eachLane(membersOf(lane) & mask, [&](int other) {
            if (membersOf(other) == membersOf(lane)) return;
            m_current = &instruction;
            fault("lanes that wait for each other name other members", kLanes * warp.index + other);
        });
    });
    return all;
}

/// Runs lanes that are at the same place, until they part, must wait, or come to `until`.
void Block::runGroup(Warp& warp, int pc, uint32_t mask, int until) {
    const auto leave = [&](uint32_t lanes, int to) {
        eachLane(lanes, [&](int lane) { warp.pc[static_cast<size_t>(lane)] = to; });
    };
    bool first = true;
    while (mask != 0 && pc < until) {
        if (pc >= static_cast<int>(m_kernel.code.size())) fault("runs past its end");
        const Instruction& instruction = m_kernel.code[static_cast<size_t>(pc)];
        m_current = &instruction;
        if (!first && instruction.flow >= Flow::Barrier && !canGo(warp, instruction, mask)) break;
        first = false;
        if (m_kernel.hasGroups && instruction.flow != Flow::Group)
            warp.group.use(*this, instruction);
        const uint32_t lanes = allowed(warp, instruction, mask);
        switch (instruction.flow) {
        case Flow::Branch:
            if (lanes != 0 && lanes != mask) {
                leave(lanes, instruction.target);
                leave(mask & ~lanes, pc + 1);
                return;
            }
            pc = lanes != 0 ? instruction.target : pc + 1;
            continue;
        case Flow::Exit:
            warp.live &= ~lanes;
            mask &= ~lanes;
            break;
        case Flow::Barrier:
            if (lanes != mask) fault("a barrier for some lanes of a warp");
            // another number, or a number of threads, would be for some warps
            if (instruction.operands.size() != 1 ||
                warp.get<uint32_t>(instruction.operands[0], 0) != 0)
                fault("a barrier that is not of the whole block");
            warp.waiting = mask;
            leave(mask, pc + 1);
            return;
        case Flow::Warp:
        case Flow::Group:
        case Flow::Members:
            if (lanes != mask && (lanes != 0 || instruction.flow == Flow::Members))
                fault("an instruction of all lanes for some of them");
            [[fallthrough]];
        case Flow::Next:
            if (lanes != 0) instruction.run(*this, warp, instruction, lanes);
        }
        ++pc;
    }
    leave(mask, pc);
}

/// Until all its lanes wait at the barrier or have ended.
void Block::runWarp(Warp& warp) {
    while ((warp.live & ~warp.waiting) != 0) {
        uint32_t left = warp.live & ~warp.waiting;
        bool went = false;
        for (uint32_t rest = left; rest != 0 && !went;) {
            int pc = INT_MAX, next = INT_MAX;
            eachLane(rest,
                     [&](int lane) { pc = std::min(pc, warp.pc[static_cast<size_t>(lane)]); });
            uint32_t group = 0;
            eachLane(rest, [&](int lane) {
                if (warp.pc[static_cast<size_t>(lane)] == pc) group |= 1u << lane;
            });
            // where others are, whether they wait or not
            eachLane(left & ~group, [&](int lane) {
                const int other = warp.pc[static_cast<size_t>(lane)];
                if (other > pc) next = std::min(next, other);
            });
            went = canGo(warp, m_kernel.code.at(static_cast<size_t>(pc)), group);
            if (went) runGroup(warp, pc, group, next);
            rest &= ~group;
        }
        if (went) continue;
        std::string where;
        eachLane(left, [&](int lane) {
            const auto pc = static_cast<size_t>(warp.pc[static_cast<size_t>(lane)]);
            m_current = &m_kernel.code.at(pc);
            where += " lane " + std::to_string(lane) + " at line " +
                     std::to_string(m_current->line) + ";";
        });
        fault("lanes of warp " + std::to_string(warp.index) + " never meet:" + where +
              " ended: " + std::to_string(kLanes - std::popcount(warp.live)));
    }
}

} // namespace halfscope::test::ptx
