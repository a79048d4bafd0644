// The instructions of each op that all sets share.
#include "engine/cpu/vector_code.h"

#include "engine/core/error.h"

namespace halfscope {

namespace {

constexpr uint8_t kNearestEven = 0;

/// Predicates of the comparison; the quiet forms.
namespace compare {
constexpr uint8_t kEqual = 0, kNotEqual = 4, kLess = 17, kLessEqual = 18, kNotLessEqual = 22;
}

} // namespace

std::unique_ptr<VectorCode> VectorCode::make(VectorSet set) {
    require(set != VectorSet::Portable, "vector code: this set has none");
    return set == VectorSet::Avx512 ? makeAvx512Code() : makeAvx2Code();
}

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

VectorCode::VectorCode(int lanes, int values)
    : CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow), m_lanes(lanes),
      m_values(values) {}

void VectorCode::load(DType type, const Register& to, const Xbyak::Address& from) {
    switch (type) {
    case DType::F16: vcvtph2ps(to, from); break;
    case DType::BF16:
        vpmovzxwd(to, from);
        vpslld(to, to, 16);
        break;
    default: vmovups(to, from);
    }
}

void VectorCode::store(DType type, const Xbyak::Address& to, const Register& from) {
    switch (type) {
    case DType::F16: vcvtps2ph(to, from, kNearestEven); break;
    case DType::BF16:
        bfloat16Words(from);
        storeWords(to, spare());
        break;
    default: vmovups(to, from);
    }
}

void VectorCode::spread(DType type, const Xbyak::Reg32& number, const Xbyak::Address& from,
                        const Xbyak::Address& to) {
    const Xbyak::Xmm lowest(m_values); // the lowest lanes of the spare register
    if (type == DType::F32) {
        vbroadcastss(spare(), from);
    } else {
        movzx(number, word[from.getRegExp()]);
        if (type == DType::BF16) shl(number, 16);
        vmovd(lowest, number);
        if (type == DType::F16) vcvtph2ps(lowest, lowest);
        vbroadcastss(spare(), lowest);
    }
    vmovups(to, spare());
}

void VectorCode::compute(Op op, const Register& out, const std::array<Register, 3>& in) {
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
    case Op::Neg: vxorps(out, in[0], constant(Constant::Sign)); break;
    case Op::Abs: vandnps(out, inRegister(Constant::Sign), in[0]); break;
    case Op::Sqrt: vsqrtps(out, in[0]); break;
    case Op::Rsqrt:
        vsqrtps(out, in[0]);
        vdivps(out, inRegister(Constant::Ones), out);
        break;
    case Op::Reciprocal: vdivps(out, inRegister(Constant::Ones), in[0]); break;
    case Op::Cast:
    case Op::StopGradient: vmovaps(out, in[0]); break;
    default: computeByMask(op, out, in);
    }
}

void VectorCode::computeByMask(Op op, const Register& out, const std::array<Register, 3>& in) {
    const Xbyak::Operand& zero = constant(Constant::Zero);
    switch (op) {
    case Op::Relu: // +0 for all that is at most 0; NaN stays
        valueOrZero(out, in[0], zero, compare::kNotLessEqual, in[0]);
        break;
    case Op::Less: truth(out, in[0], in[1], compare::kLess); break;
    case Op::LessEqual: truth(out, in[0], in[1], compare::kLessEqual); break;
    case Op::Equal: truth(out, in[0], in[1], compare::kEqual); break;
    case Op::NotEqual: truth(out, in[0], in[1], compare::kNotEqual); break;
    case Op::LogicalNot: truth(out, in[0], zero, compare::kEqual); break;
    case Op::LogicalAnd:
        vmulps(out, in[0], in[1]);
        truth(out, out, zero, compare::kNotEqual);
        break;
    case Op::LogicalOr:
        vaddps(out, in[0], in[1]);
        truth(out, out, zero, compare::kNotEqual);
        break;
    case Op::IsFinite: // x - x is 0 for finite x and NaN for all others
        vsubps(out, in[0], in[0]);
        truth(out, out, zero, compare::kEqual);
        break;
    case Op::Where: choose(out, in[0], zero, compare::kNotEqual, in[1], in[2]); break;
    default: failInvariant("vector loop: an op has no code");
    }
}

void VectorCode::truth(const Register& out, const Register& a, const Xbyak::Operand& b,
                       uint8_t predicate) {
    valueOrZero(out, a, b, predicate, constant(Constant::Ones));
}

void VectorCode::keepNan(const Register& out, const Register& first) {
    choose(out, first, first, kUnordered, first, out);
}

void VectorCode::round(DType type, const Register& r) {
    if (type == DType::F16) {
        const Register halves =
            m_lanes == 16 ? Register(Xbyak::Ymm(m_values)) : Xbyak::Xmm(m_values);
        vcvtps2ph(halves, r, kNearestEven);
        vcvtph2ps(r, halves);
        return;
    }
    bfloat16Words(r);
    vpslld(r, spare(), 16);
}

void VectorCode::bfloat16Words(const Register& from) {
    const Register words = spare();
    vpslld(words, from, 15);
    vpsrld(words, words, 31); // the lowest bit that stays
    vpaddd(words, words, from);
    vpaddd(words, words, constant(Constant::HalfUlp));
    keepNanWords(words, from);
    vpsrld(words, words, 16);
}

} // namespace halfscope
