// How each op is computed on 16 floats by AVX-512, written through Xbyak. Which values are in which
// registers is vector_loop's. Included only where the build has Xbyak.
#pragma once

#include "engine/graph/op.h"

#include <array>

#include <xbyak/xbyak.h>
#include <xbyak/xbyak_util.h>

namespace halfscope {

/// Code in pages of its own: written first, then executed (readyRE), never both at a time.
class VectorCode : public Xbyak::CodeGenerator {
public:
    /// Vector registers 0 to kValues - 1 are the caller's; constants and a spare lie above.
    static constexpr int kValues = 26;

    VectorCode();
    /// Whether compute, or the caller's sum, does the op.
    static bool has(Op);

    /// What the functions below read; overwrites rax.
    void fillConstants();
    /// 16 values from and to memory, by storage: f32, fp16 or bfloat16; rounds to nearest even.
    void load(DType, const Xbyak::Zmm& to, const Xbyak::Address& from);
    void store(DType, const Xbyak::Address& to, const Xbyak::Zmm& from);
    /// Writes 16 times the one value at `from`; overwrites `spare`.
    void spread(DType, const Xbyak::Reg32& spare, const Xbyak::Address& from,
                const Xbyak::Address& to);
    /// out = op(in); `out` is none of `in`.
    void compute(Op, const Xbyak::Zmm& out, const std::array<Xbyak::Zmm, 3>& in);
    /// To the nearest value of the type, ties to even.
    void round(DType, const Xbyak::Zmm&);

private:
    /// Ops whose result is chosen by a comparison.
    void computeByMask(Op, const Xbyak::Zmm& out, const std::array<Xbyak::Zmm, 3>& in);
    /// 1 where the comparison holds, else 0.
    void truth(const Xbyak::Zmm& out, const Xbyak::Zmm& a, const Xbyak::Zmm& b, uint8_t predicate);
    /// The machine's maximum takes the second operand where either is NaN; the op wants the NaN.
    void keepNan(const Xbyak::Zmm& out, const Xbyak::Zmm& first);
    /// bfloat16 in the upper half of each lane of `to`: nearest even, NaN made quiet.
    void bfloat16Words(const Xbyak::Zmm& to, const Xbyak::Zmm& from);
};

} // namespace halfscope
