// How a function of one lane's values becomes an instruction of a warp.
#pragma once

#include "tests/emulator/ptx_machine.h"

#include <utility>

namespace halfscope::test::ptx {

/// R = F(A...), lane by lane: the first operand is the result. What is wild makes it wild.
template <class F, class R, class... A>
void runLanes(Block& block, Warp& warp, const Instruction& instruction, uint32_t mask) {
    const auto& o = instruction.operands;
    if (o.size() != 1 + sizeof...(A)) block.fault("another number of operands");
    [&]<size_t... I>(std::index_sequence<I...>) {
        const auto isNatural = []<class T>(const Operand& operand, T*) {
            return operand.wide == (sizeof(T) == 8);
        };
        const bool natural = isNatural(o[0], static_cast<R*>(nullptr)) &&
                             (isNatural(o[I + 1], static_cast<A*>(nullptr)) && ...);
        if (((sizeof(A) == 8 && !o[I + 1].wide) || ...)) block.fault("a narrow operand");
        if (natural && mask == kAllLanes)
            for (int lane = 0; lane < kLanes; ++lane)
                warp.set<R>({o[0].offset, 0, sizeof(R) == 8, false}, lane,
                            F{}(warp.get<A>({o[I + 1].offset, 0, sizeof(A) == 8, false}, lane)...));
        else
            eachLane(mask, [&](int lane) {
                warp.set<R>(o[0], lane, F{}(warp.get<A>(o[I + 1], lane)...));
            });
        uint32_t isWild = 0;
        ((isWild |= warp.wild[o[I + 1].index]), ...);
        warp.mark(o[0], mask, isWild);
    }
    (std::index_sequence_for<A...>{});
}

template <class R, class... A, class F>
void add(Table& table, const std::string& name, F) {
    table[name] = {&runLanes<F, R, A...>, Flow::Next, Space::Generic, 0, 1, false};
}

} // namespace halfscope::test::ptx
