// The instructions of each op. AVX-512F alone, as that is what VectorLoop::available asks for.
#include "engine/cpu/vector_code.h"

#include "engine/core/error.h"

namespace halfscope {

namespace {

using Xbyak::Zmm;

// vector registers: constants and a spare above, values below
const Zmm kZero(31), kOnes(30), kSign(29), kHalfUlp(28), kQuiet(27), kSpare(26);
const Xbyak::Ymm kSpareHalves(26); ///< the lower half of kSpare: 16 values of 16 bits
const Xbyak::Opmask kMask(1);      ///< mask register 0 means no mask
const Xbyak::EvexModifierZero kElseZero;
constexpr uint8_t kNearestEven = 0;

/// Predicates of the comparison; the quiet forms.
namespace compare {
constexpr uint8_t kEqual = 0, kUnordered = 3, kNotEqual = 4, kLess = 17, kLessEqual = 18,
                  kNotLessEqual = 22;
}

} // namespace

bool VectorCode::has(Op op) {
    switch (op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::Maximum:
    case Op::Minimum:
    case Op::Neg:
    case Op::Abs:
    case Op::Relu:
    case Op::Sqrt:
    case Op::Rsqrt:
    case Op::Reciprocal:
    case Op::Less:
    case Op::LessEqual:
    case Op::Equal:
    case Op::NotEqual:
    case Op::LogicalAnd:
    case Op::LogicalOr:
    case Op::LogicalNot:
    case Op::IsFinite:
    case Op::Where:
    case Op::Cast:
    case Op::StopGradient:
    case Op::Sum: return true;
    default: return false;
    }
}

VectorCode::VectorCode() : CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow) {}

void VectorCode::fillConstants() {
    const auto splat = [this](const Zmm& to, uint32_t bits) {
        mov(eax, bits);
        vpbroadcastd(to, eax);
    };
    splat(kOnes, 0x3F800000U);
    splat(kSign, 0x80000000U);
    splat(kHalfUlp, 0x7FFFU); // just below half a unit of bfloat16
    splat(kQuiet, 0x400000U); // makes a NaN quiet
    vpxord(kZero, kZero, kZero);
}

void VectorCode::load(DType type, const Zmm& to, const Xbyak::Address& from) {
    switch (type) {
    case DType::F16: vcvtph2ps(to, from); break;
    case DType::BF16:
        vpmovzxwd(to, from);
        vpslld(to, to, 16);
        break;
    default: vmovups(to, from);
    }
}

void VectorCode::store(DType type, const Xbyak::Address& to, const Zmm& from) {
    switch (type) {
    case DType::F16: vcvtps2ph(to, from, kNearestEven); break;
    case DType::BF16:
        bfloat16Words(kSpare, from);
        vpsrld(kSpare, kSpare, 16);
        vpmovdw(to, kSpare);
        break;
    default: vmovups(to, from);
    }
}

void VectorCode::spread(DType type, const Xbyak::Reg32& spare, const Xbyak::Address& from,
                        const Xbyak::Address& to) {
    const Xbyak::Xmm lowest(kSpare.getIdx());
    if (type == DType::F32) {
        vbroadcastss(kSpare, from);
    } else {
        movzx(spare, word[from.getRegExp()]);
        if (type == DType::BF16) shl(spare, 16);
        vmovd(lowest, spare);
        if (type == DType::F16) vcvtph2ps(kSpare, kSpareHalves);
        vbroadcastss(kSpare, lowest);
    }
    vmovups(to, kSpare);
}

void VectorCode::compute(Op op, const Zmm& out, const std::array<Zmm, 3>& in) {
    switch (op) {
    case Op::Add: vaddps(out, in[0], in[1]); break;
    case Op::Sub: vsubps(out, in[0], in[1]); break;
    case Op::Mul: vmulps(out, in[0], in[1]); break;
    case Op::Div: vdivps(out, in[0], in[1]); break;
    case Op::Maximum:
        vmaxps(out, in[0], in[1]);
        keepNan(out, in[0]);
        break;
    case Op::Minimum:
        vminps(out, in[0], in[1]);
        keepNan(out, in[0]);
        break;
    case Op::Neg: vpxord(out, in[0], kSign); break;
    case Op::Abs: vpandnd(out, kSign, in[0]); break;
    case Op::Sqrt: vsqrtps(out, in[0]); break;
    case Op::Rsqrt:
        vsqrtps(out, in[0]);
        vdivps(out, kOnes, out);
        break;
    case Op::Reciprocal: vdivps(out, kOnes, in[0]); break;
    case Op::Cast:
    case Op::StopGradient: vmovaps(out, in[0]); break;
    default: computeByMask(op, out, in);
    }
}

void VectorCode::computeByMask(Op op, const Zmm& out, const std::array<Zmm, 3>& in) {
    switch (op) {
    case Op::Relu: // +0 for all that is at most 0; NaN stays
        vcmpps(kMask, in[0], kZero, compare::kNotLessEqual);
        vmovaps(out | kMask | kElseZero, in[0]);
        break;
    case Op::Less: truth(out, in[0], in[1], compare::kLess); break;
    case Op::LessEqual: truth(out, in[0], in[1], compare::kLessEqual); break;
    case Op::Equal: truth(out, in[0], in[1], compare::kEqual); break;
    case Op::NotEqual: truth(out, in[0], in[1], compare::kNotEqual); break;
    case Op::LogicalNot: truth(out, in[0], kZero, compare::kEqual); break;
    case Op::LogicalAnd:
        vmulps(out, in[0], in[1]);
        truth(out, out, kZero, compare::kNotEqual);
        break;
    case Op::LogicalOr:
        vaddps(out, in[0], in[1]);
        truth(out, out, kZero, compare::kNotEqual);
        break;
    case Op::IsFinite: // x - x is 0 for finite x and NaN for all others
        vsubps(out, in[0], in[0]);
        truth(out, out, kZero, compare::kEqual);
        break;
    case Op::Where:
        vcmpps(kMask, in[0], kZero, compare::kNotEqual);
        vblendmps(out | kMask, in[2], in[1]);
        break;
    default: failInvariant("vector loop: an op has no code");
    }
}

void VectorCode::truth(const Zmm& out, const Zmm& a, const Zmm& b, uint8_t predicate) {
    vcmpps(kMask, a, b, predicate);
    vmovaps(out | kMask | kElseZero, kOnes);
}

void VectorCode::keepNan(const Zmm& out, const Zmm& first) {
    vcmpps(kMask, first, first, compare::kUnordered);
    vmovaps(out | kMask, first);
}

void VectorCode::round(DType type, const Zmm& r) {
    if (type == DType::F16) {
        vcvtps2ph(kSpareHalves, r, kNearestEven);
        vcvtph2ps(r, kSpareHalves);
        return;
    }
    bfloat16Words(kSpare, r);
    vpsrld(kSpare, kSpare, 16);
    vpslld(r, kSpare, 16);
}

void VectorCode::bfloat16Words(const Zmm& to, const Zmm& from) {
    vpslld(to, from, 15);
    vpsrld(to, to, 31); // the lowest bit that stays
    vpaddd(to, to, from);
    vpaddd(to, to, kHalfUlp);
    vcmpps(kMask, from, from, compare::kUnordered);
    vpord(to | kMask, from, kQuiet);
}

} // namespace halfscope
