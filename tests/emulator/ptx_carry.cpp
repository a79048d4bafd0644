// Sums and products of several words: instructions that leave or take a carry.
#include "tests/emulator/ptx_machine.h"

namespace halfscope::test::ptx {
namespace {

__extension__ using UInt128 = unsigned __int128; // GCC's and Clang's own

enum class Sum : uint8_t { Add, Sub, Low, High };

/// d = a + b, a - b, or the low or high word of a b, + c; with the carry before it and into it.
template <class T, Sum S, bool In, bool Out>
void runSum(Block& block, Warp& warp, const Instruction& instruction, uint32_t mask) {
    constexpr int kBits = 8 * sizeof(T);
    const auto& o = instruction.operands;
    constexpr bool isProduct = S == Sum::Low || S == Sum::High;
    if (o.size() != (isProduct ? 4u : 3u)) block.fault("another number of operands");
    if (In && (warp.wildCarry & mask) != 0) block.fault("a carry that nobody left");
    uint32_t isWild = 0;
    for (size_t i = 1; i < o.size(); ++i)
        isWild |= warp.wild[o[i].index];
    eachLane(mask, [&](int lane) {
        const UInt128 a = warp.get<T>(o[1], lane), b = warp.get<T>(o[2], lane);
        const UInt128 carry = In ? warp.carry >> lane & 1u : 0u;
        UInt128 sum = S == Sum::Add ? a + b + carry : a - b - carry;
        if constexpr (isProduct) {
            const UInt128 product = a * b;
            sum = (S == Sum::Low ? T(product) : T(product >> kBits)) +
                  UInt128(warp.get<T>(o[3], lane)) + carry;
        }
        warp.set<T>(o[0], lane, T(sum));
        if (!Out) return;
        const auto out = static_cast<uint32_t>(sum >> kBits) & 1u;
        warp.carry = (warp.carry & ~(1u << lane)) | out << lane;
    });
    warp.mark(o[0], mask, isWild);
    if (Out) warp.wildCarry = (warp.wildCarry & ~mask) | (isWild & mask);
}

template <class T, Sum S>
void addForms(Table& t, const std::string& verb, const std::string& half, const std::string& type) {
    t[verb + half + ".cc." + type] = {&runSum<T, S, false, true>};
    t[verb + "c" + half + ".cc." + type] = {&runSum<T, S, true, true>};
    t[verb + "c" + half + "." + type] = {&runSum<T, S, true, false>};
}

template <class T>
void addType(Table& t, const std::string& type) {
    addForms<T, Sum::Add>(t, "add", "", type);
    addForms<T, Sum::Sub>(t, "sub", "", type);
    addForms<T, Sum::Low>(t, "mad", ".lo", type);
    if (type[0] == 'u') addForms<T, Sum::High>(t, "mad", ".hi", type);
}

} // namespace

void addCarries(Table& t) {
    addType<uint32_t>(t, "u32");
    addType<uint32_t>(t, "s32");
    addType<uint64_t>(t, "u64");
    addType<uint64_t>(t, "s64");
}

} // namespace halfscope::test::ptx
