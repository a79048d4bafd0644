// The instructions of each op that all sets share.
#include "engine/cpu/vector_code.h"

#include "engine/core/error.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace halfscope {

namespace {

constexpr uint8_t kNearestEven = 0;

/// The predicates of comparisons, in their quiet forms.
namespace compare {
constexpr uint8_t kEqual = 0, kNotEqual = 4, kLess = 17, kLessEqual = 18, kNotLessEqual = 22;
}

} // namespace

std::unique_ptr<VectorCode> VectorCode::make(VectorSet set) {
    require(set != VectorSet::Portable, "vector code: this set has none");
    return set >= VectorSet::Avx512 ? makeAvx512Code() : makeAvx2Code();
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

void VectorCode::store(DType type, const Xbyak::Address& to, const Register& from, Known known) {
    switch (type) {
    case DType::F16: vcvtps2ph(to, from, kNearestEven); break;
    case DType::BF16:
        if (known.type == DType::BF16 && known.quiet) {
            storeWords(to, from);
        } else {
            bfloat16Words(spare(), from, known.quiet);
            storeWords(to, spare());
        }
        break;
    default: vmovups(to, from);
    }
}

void VectorCode::spread(const Xbyak::Address& from, const Xbyak::Address& to) {
    vbroadcastss(spare(), from);
    vmovups(to, spare());
}

/// A row of the table: what writes an op's instructions.
struct VectorCode::OpCode {
    using Out = const Register&;
    using In = const Inputs&;
    Op op;
    void (*write)(VectorCode&, Out, In) = nullptr; ///< null for a sum, which the caller writes
    std::span<const size_t> passes = {}; ///< inputs whose values it passes on, except for the sign
};

const VectorCode::OpCode* VectorCode::codeOf(Op op) {
    using Out = OpCode::Out;
    using In = OpCode::In;
    using C = VectorCode;
    static constexpr size_t kFirst[] = {0}, kBoth[] = {0, 1}, kChoice[] = {1, 2};
    static constexpr OpCode kRows[] = {
        {Op::Neg, [](C& c, Out out, In in) { c.vxorps(out, in.first, c.constant(Constant::Sign)); },
         kFirst},
        {Op::Sqrt, [](C& c, Out out, In in) { c.vsqrtps(out, in.first); }},
        {Op::Rsqrt,
         [](C& c, Out out, In in) {
             c.vsqrtps(out, in.first);
             c.vdivps(out, c.inRegister(Constant::Ones), out);
         }},
        {Op::Reciprocal,
         [](C& c, Out out, In in) { c.vdivps(out, c.inRegister(Constant::Ones), in.first); }},
        {Op::Relu, // +0 for everything up to 0; NaN stays
         [](C& c, Out out, In in) {
             c.valueOrZero(out, in.first, c.constant(Constant::Zero), compare::kNotLessEqual,
                           in.first);
         },
         kFirst},
        {Op::Abs,
         [](C& c, Out out, In in) { c.vandnps(out, c.inRegister(Constant::Sign), in.first); },
         kFirst},
        {Op::IsFinite, // x - x is 0 for finite x and NaN for all others
         [](C& c, Out out, In in) {
             c.vsubps(out, in.first, in.first);
             c.truth(out, out, c.constant(Constant::Zero), compare::kEqual);
         }},
        {Op::LogicalNot,
         [](C& c, Out out, In in) {
             c.truth(out, in.first, c.constant(Constant::Zero), compare::kEqual);
         }},
        {Op::Cast, [](C& c, Out out, In in) { c.vmovaps(out, in.first); }, kFirst},
        {Op::StopGradient, [](C& c, Out out, In in) { c.vmovaps(out, in.first); }, kFirst},
        {Op::Add, [](C& c, Out out, In in) { c.vaddps(out, in.first, *in.second); }},
        {Op::Sub, [](C& c, Out out, In in) { c.vsubps(out, in.first, *in.second); }},
        {Op::Mul, [](C& c, Out out, In in) { c.multiply(out, in.first, *in.second); }},
        {Op::Div, [](C& c, Out out, In in) { c.divide(out, in.first, *in.second); }},
        {Op::Maximum,
         [](C& c, Out out, In in) {
             c.vmaxps(out, in.first, *in.second);
             c.keepNan(out, in.first);
         },
         kBoth},
        {Op::Minimum,
         [](C& c, Out out, In in) {
             c.vminps(out, in.first, *in.second);
             c.keepNan(out, in.first);
         },
         kBoth},
        {Op::Less,
         [](C& c, Out out, In in) { c.truth(out, in.first, *in.second, compare::kLess); }},
        {Op::LessEqual,
         [](C& c, Out out, In in) { c.truth(out, in.first, *in.second, compare::kLessEqual); }},
        {Op::Equal,
         [](C& c, Out out, In in) { c.truth(out, in.first, *in.second, compare::kEqual); }},
        {Op::NotEqual,
         [](C& c, Out out, In in) { c.truth(out, in.first, *in.second, compare::kNotEqual); }},
        {Op::LogicalAnd,
         [](C& c, Out out, In in) {
             c.vmulps(out, in.first, *in.second);
             c.truth(out, out, c.constant(Constant::Zero), compare::kNotEqual);
         }},
        {Op::LogicalOr,
         [](C& c, Out out, In in) {
             c.vaddps(out, in.first, *in.second);
             c.truth(out, out, c.constant(Constant::Zero), compare::kNotEqual);
         }},
        {Op::Where,
         [](C& c, Out out, In in) {
             c.choose(out, in.first, c.constant(Constant::Zero), compare::kNotEqual, *in.second,
                      in.third);
         },
         kChoice},
        {Op::Sum},
    };
    const auto* const end = std::end(kRows);
    const auto* const row =
        std::find_if(std::begin(kRows), end, [op](const OpCode& r) { return r.op == op; });
    return row == end ? nullptr : row;
}

bool VectorCode::has(Op op) { return codeOf(op) != nullptr; }

void VectorCode::compute(Op op, const Register& out, const Inputs& in) {
    const OpCode* const code = codeOf(op);
    require(code != nullptr && code->write != nullptr, "vector loop: an op has no code");
    code->write(*this, out, in);
}

void VectorCode::truth(const Register& out, const Register& a, const Xbyak::Operand& b,
                       uint8_t predicate) {
    valueOrZero(out, a, b, predicate, constant(Constant::Ones));
}

void VectorCode::keepNan(const Register& out, const Register& first) {
    choose(out, first, first, kUnordered, first, out);
}

void VectorCode::widenHalf(const Register& to, const Register& from, int half) {
    if (half == 0) return vcvtps2pd(to, halfOf(from));
    if (m_lanes == 16)
        vextractf64x4(halfOf(to), Xbyak::Zmm(from.getIdx()), 1);
    else
        vextractf128(halfOf(to), Xbyak::Ymm(from.getIdx()), 1);
    vcvtps2pd(to, halfOf(to));
}

void VectorCode::narrowHalf(const Register& r) { vcvtpd2ps(halfOf(r), r); }

/// A double holds the product of two floats exactly. A quotient of floats is never so close to the
/// middle between two floats, subnormal or not, that rounding it to a double first could matter.
template <class Compute>
void VectorCode::asDoubles(const Register& out, const Register& a, const Register& b,
                           Compute compute) {
    const Register upper = vectorRegister(m_values - 2), other = vectorRegister(m_values - 1);
    widenHalf(out, a, 0);
    widenHalf(other, b, 0);
    compute(out, other);
    narrowHalf(out);
    widenHalf(upper, a, 1);
    widenHalf(other, b, 1);
    compute(upper, other);
    narrowHalf(upper);
    if (m_lanes == 16)
        vinsertf64x4(Xbyak::Zmm(out.getIdx()), Xbyak::Zmm(out.getIdx()), halfOf(upper), 1);
    else
        vinsertf128(Xbyak::Ymm(out.getIdx()), Xbyak::Ymm(out.getIdx()), halfOf(upper), 1);
}

void VectorCode::multiply(const Register& out, const Register& a, const Xbyak::Operand& b) {
    if (!m_careful) return vmulps(out, a, b);
    asDoubles(out, a, vectorRegister(b.getIdx()),
              [&](const Register& x, const Register& y) { vmulpd(x, x, y); });
}

void VectorCode::divide(const Register& out, const Register& a, const Xbyak::Operand& b) {
    if (!m_careful) return vdivps(out, a, b);
    asDoubles(out, a, vectorRegister(b.getIdx()),
              [&](const Register& x, const Register& y) { vdivpd(x, x, y); });
}

void VectorCode::divideByProducts(const Register&, const Register&, const Xbyak::Address&,
                                  const Xbyak::Address&) {
    failInvariant("vector loop: this set has no quotients by products");
}

void VectorCode::storeReciprocal(const Xbyak::Address& to, const Xbyak::Address& b) {
    vdivps(value(0), inRegister(Constant::Ones), b);
    vmovups(to, value(0));
}

void VectorCode::placeNumbers() {
    constexpr uint32_t kTiny = (127U - 100U) << 23; // 2^-100
    L(m_numbers);
    dd(~0U);
    dd(2 * kTiny - 2);
}

void VectorCode::jumpIfTiny(std::span<const std::pair<DType, Xbyak::Address>> places,
                            const Xbyak::Label& there) {
    const Register least = value(0), bits = value(1), minusOne = value(2), limit = value(3);
    vpbroadcastd(minusOne, ptr[rip + m_numbers]);
    vpbroadcastd(limit, ptr[rip + m_numbers + 4]);
    for (size_t i = 0; i < places.size(); ++i) {
        const Register& to = i == 0 ? least : bits;
        load(places[i].first, to, places[i].second);
        vpaddd(to, to, to);       // without the sign
        vpaddd(to, to, minusOne); // so that zeros are the greatest of all
        if (i > 0) vpminud(least, least, to);
    }
    jumpIfAnyAtMost(least, limit, there);
}

void VectorCode::round(DType type, const Register& r, Known known) {
    if (known.type == type && known.quiet) return;
    if (type == DType::F16) {
        const Register halves = halfOf(spare());
        vcvtps2ph(halves, r, kNearestEven);
        vcvtph2ps(r, halves);
        return;
    }
    bfloat16Words(spare(), r, known.quiet);
    clearLower(r, spare());
}

VectorCode::Known VectorCode::knownOf(Op op, const std::array<Known, 3>& in) {
    const OpCode* const code = codeOf(op);
    require(code != nullptr, "vector loop: an op has no code");
    if (code->passes.empty()) return {DType::F32, true}; // a computed NaN is quiet
    Known all = in[code->passes.front()];
    for (const size_t i : code->passes) {
        if (in[i].type != all.type) all.type = DType::F32;
        all.quiet = all.quiet && in[i].quiet;
    }
    return all;
}

} // namespace halfscope
