// The elementwise ops: shape rule, gradient and double reference of each, joined to rows at the
// end. Gradient conventions are PyTorch's. The f32 loops are in engine/cpu/elementwise_loops.cpp.

#include "engine/core/erfinv.h"
#include "engine/core/error.h"
#include "engine/ops/builder.h"
#include "engine/ops/families.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace halfscope {

namespace {

// ---- shape rules -------------------------------------------------------------------------------

NodeType inferFloat(std::span<const NodeType> in, const Attrs&) {
    require(isFloat(in[0].dtype), "wants a floating-point operand");
    return in[0];
}

NodeType inferNumber(std::span<const NodeType> in, const Attrs&) {
    require(in[0].dtype != DType::Bool, "wants numbers, not bool: cast first");
    return in[0];
}

NodeType inferClamp(std::span<const NodeType> in, const Attrs& attrs) {
    const auto& range = attrsOf<RangeAttrs>(attrs);
    require(range.low <= range.high, "the lower bound must not be above the upper one");
    return inferNumber(in, attrs);
}

NodeType inferIsFinite(std::span<const NodeType> in, const Attrs& attrs) {
    return {inferFloat(in, attrs).shape, DType::Bool};
}

NodeType inferLogical(std::span<const NodeType> in, const Attrs&) {
    for (const NodeType& t : in) {
        require(t.dtype == DType::Bool, "wants bool operands");
        require(t.shape == in[0].shape, "operands must have one shape: expand first");
    }
    return in[0];
}

NodeType inferSame(std::span<const NodeType> in, const Attrs&) { return in[0]; }

NodeType inferCast(std::span<const NodeType> in, const Attrs& attrs) {
    return {in[0].shape, attrsOf<CastAttrs>(attrs).to};
}

void requireAlike(const NodeType& a, const NodeType& b) {
    require(a.shape == b.shape, "operands must have one shape: expand first");
    require(a.dtype == b.dtype, "operands must have one dtype: cast first");
}

NodeType inferPair(std::span<const NodeType> in, const Attrs& attrs) {
    requireAlike(in[0], in[1]);
    return inferNumber(in, attrs);
}

NodeType inferFloatPair(std::span<const NodeType> in, const Attrs& attrs) {
    requireAlike(in[0], in[1]);
    return inferFloat(in, attrs);
}

NodeType inferComparison(std::span<const NodeType> in, const Attrs&) {
    requireAlike(in[0], in[1]);
    return {in[0].shape, DType::Bool};
}

NodeType inferWhere(std::span<const NodeType> in, const Attrs&) {
    require(in[0].dtype == DType::Bool, "the condition must be bool");
    requireAlike(in[1], in[2]);
    require(in[0].shape == in[1].shape, "condition and branches must have one shape");
    return in[1];
}

// ---- references --------------------------------------------------------------------------------

template <double (*F)(double)>
void refUnary(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    for (size_t i = 0; i < out.values.size(); ++i)
        out.values[i] = F(in[0].values[i]);
}

template <double (*F)(double, double)>
void refBinary(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    for (size_t i = 0; i < out.values.size(); ++i)
        out.values[i] = F(in[0].values[i], in[1].values[i]);
}

void refClamp(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const auto& range = attrsOf<RangeAttrs>(attrs);
    for (size_t i = 0; i < out.values.size(); ++i) {
        const double x = in[0].values[i];
        const double raised = x < range.low ? range.low : x; // lets NaN through
        out.values[i] = raised > range.high ? range.high : raised;
    }
}

void refCast(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const DType to = attrsOf<CastAttrs>(attrs).to;
    for (size_t i = 0; i < out.values.size(); ++i) {
        const double x = in[0].values[i];
        // Rounding to a float type is left to the evaluator; dropping a fraction is part of the op.
        out.values[i] = isFloat(to) ? x : roundTo(to, x);
    }
}

void refWhere(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    for (size_t i = 0; i < out.values.size(); ++i)
        out.values[i] = in[0].values[i] != 0 ? in[1].values[i] : in[2].values[i];
}

double negOf(double x) { return -x; }
double expOf(double x) { return std::exp(x); }
double expm1Of(double x) { return std::expm1(x); }
double logOf(double x) { return std::log(x); }
double log1pOf(double x) { return std::log1p(x); }
double sqrtOf(double x) { return std::sqrt(x); }
double rsqrtOf(double x) { return 1.0 / std::sqrt(x); }
double reciprocalOf(double x) { return 1.0 / x; }
double tanhOf(double x) { return std::tanh(x); }
double sigmoidOf(double x) {
    const double e = std::exp(-std::fabs(x)); // at most 1: keeps small results at full precision
    return (x < 0 ? e : 1.0) / (1.0 + e);
}
double reluOf(double x) { return x <= 0 ? 0.0 : x; }
double geluOf(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double siluOf(double x) { return x * sigmoidOf(x); }
double softplusOf(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }
double sinOf(double x) { return std::sin(x); }
double cosOf(double x) { return std::cos(x); }
double absOf(double x) { return std::fabs(x); }
double signOf(double x) { return static_cast<double>((x > 0) - (x < 0)); }
double erfOf(double x) { return std::erf(x); }
double tanOf(double x) { return std::tan(x); }
double asinOf(double x) { return std::asin(x); }
double acosOf(double x) { return std::acos(x); }
double sinhOf(double x) { return std::sinh(x); }
double coshOf(double x) { return std::cosh(x); }
double log10Of(double x) { return std::log10(x); }
double log2Of(double x) { return std::log2(x); }
double floorOf(double x) { return std::floor(x); }
double ceilOf(double x) { return std::ceil(x); }
double roundOf(double x) { return std::nearbyint(x); } // halfway cases go to even
double truncOf(double x) { return std::trunc(x); }
double isFiniteOf(double x) { return std::isfinite(x) ? 1.0 : 0.0; }
double sameOf(double x) { return x; }
double notOf(double x) { return x == 0 ? 1.0 : 0.0; }
double addOf(double a, double b) { return a + b; }
double subOf(double a, double b) { return a - b; }
double mulOf(double a, double b) { return a * b; }
double divOf(double a, double b) { return a / b; }
double powOf(double a, double b) { return std::pow(a, b); }
double atan2Of(double a, double b) { return std::atan2(a, b); }
double maximumOf(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double minimumOf(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double lessOf(double a, double b) { return a < b ? 1.0 : 0.0; }
double lessEqualOf(double a, double b) { return a <= b ? 1.0 : 0.0; }
double equalOf(double a, double b) { return a == b ? 1.0 : 0.0; }
double notEqualOf(double a, double b) { return a != b ? 1.0 : 0.0; }
double andOf(double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }
double orOf(double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }

// ---- gradients: dX is the gradient with respect to the first operand ---------------------------

template <NodeId (*DX)(const VjpArgs&)>
void vjpUnary(const VjpArgs& v) {
    v.dIn[0] = DX(v);
}

template <NodeId (*DA)(const VjpArgs&), NodeId (*DB)(const VjpArgs&)>
void vjpBinary(const VjpArgs& v) {
    if (v.needed[0]) v.dIn[0] = DA(v);
    if (v.needed[1]) v.dIn[1] = DB(v);
}

NodeId like(const VjpArgs& v, double value) { return v.b.constantLike(value, v.dy); }
NodeId compare(const VjpArgs& v, Op op, NodeId a, NodeId b) { return v.b.emit(op, {a, b}); }

NodeId dNeg(const VjpArgs& v) { return v.b.neg(v.dy); }
NodeId dExp(const VjpArgs& v) { return v.b.mul(v.dy, v.y); }
/// Uses e^x from x: y + 1 would lose all digits when y is close to -1, the far end of elu.
NodeId dExpm1(const VjpArgs& v) { return v.b.mul(v.dy, v.b.unary(Op::Exp, v.in[0])); }
NodeId dLog(const VjpArgs& v) { return v.b.div(v.dy, v.in[0]); }
NodeId dLog1p(const VjpArgs& v) { return v.b.div(v.dy, v.b.shift(v.in[0], 1)); }
NodeId dSqrt(const VjpArgs& v) { return v.b.div(v.dy, v.b.scale(v.y, 2)); }
NodeId dRsqrt(const VjpArgs& v) {
    const NodeId cube = v.b.mul(v.y, v.b.mul(v.y, v.y));
    return v.b.mul(v.b.scale(v.dy, -0.5), cube);
}
NodeId dReciprocal(const VjpArgs& v) { return v.b.mul(v.b.neg(v.dy), v.b.mul(v.y, v.y)); }
NodeId dTanh(const VjpArgs& v) { return v.b.mul(v.dy, v.b.sub(like(v, 1), v.b.mul(v.y, v.y))); }
NodeId dSigmoid(const VjpArgs& v) { return v.b.mul(v.b.mul(v.dy, v.b.sub(like(v, 1), v.y)), v.y); }
/// Passes the gradient at NaN too, where the value is NaN already.
NodeId dRelu(const VjpArgs& v) {
    return v.b.where(compare(v, Op::LessEqual, v.y, like(v, 0)), like(v, 0), v.dy);
}
/// The slope is the normal distribution function plus x times its density.
NodeId dGelu(const VjpArgs& v) {
    Builder& b = v.b;
    const NodeId x = v.in[0];
    const NodeId erf = b.unary(Op::Erf, b.scale(x, 1 / std::numbers::sqrt2));
    const NodeId below = b.scale(b.shift(erf, 1), 0.5);
    const NodeId bell = b.unary(Op::Exp, b.scale(b.mul(x, x), -0.5));
    const NodeId density = b.scale(bell, std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    return b.mul(v.dy, b.add(below, b.mul(x, density)));
}
NodeId dSilu(const VjpArgs& v) {
    Builder& b = v.b;
    const NodeId s = b.unary(Op::Sigmoid, v.in[0]);
    const NodeId rest = b.mul(v.in[0], b.sub(like(v, 1), s));
    return b.mul(v.dy, b.mul(s, b.shift(rest, 1)));
}
NodeId dSoftplus(const VjpArgs& v) { return v.b.mul(v.dy, v.b.unary(Op::Sigmoid, v.in[0])); }
NodeId dSin(const VjpArgs& v) { return v.b.mul(v.dy, v.b.unary(Op::Cos, v.in[0])); }
NodeId dCos(const VjpArgs& v) { return v.b.mul(v.b.neg(v.dy), v.b.unary(Op::Sin, v.in[0])); }
NodeId dAbs(const VjpArgs& v) { return v.b.mul(v.dy, v.b.unary(Op::Sign, v.in[0])); }
NodeId dErf(const VjpArgs& v) {
    const NodeId bell = v.b.unary(Op::Exp, v.b.neg(v.b.mul(v.in[0], v.in[0])));
    return v.b.mul(v.dy, v.b.scale(bell, 2 * std::numbers::inv_sqrtpi));
}
NodeId dErfinv(const VjpArgs& v) {
    const NodeId bell = v.b.unary(Op::Exp, v.b.mul(v.y, v.y));
    return v.b.mul(v.dy, v.b.scale(bell, 1 / (2 * std::numbers::inv_sqrtpi)));
}
NodeId dTan(const VjpArgs& v) { return v.b.mul(v.dy, v.b.shift(v.b.mul(v.y, v.y), 1)); }
/// dy / sqrt(1 - x^2).
NodeId dAsin(const VjpArgs& v) {
    const NodeId rest = v.b.sub(like(v, 1), v.b.mul(v.in[0], v.in[0]));
    return v.b.mul(v.dy, v.b.unary(Op::Rsqrt, rest));
}
NodeId dAcos(const VjpArgs& v) { return v.b.neg(dAsin(v)); }
NodeId dSinh(const VjpArgs& v) { return v.b.mul(v.dy, v.b.unary(Op::Cosh, v.in[0])); }
NodeId dCosh(const VjpArgs& v) { return v.b.mul(v.dy, v.b.unary(Op::Sinh, v.in[0])); }
NodeId dLog10(const VjpArgs& v) { return v.b.div(v.dy, v.b.scale(v.in[0], std::numbers::ln10)); }
NodeId dLog2(const VjpArgs& v) { return v.b.div(v.dy, v.b.scale(v.in[0], std::numbers::ln2)); }
/// x equals its clamped self between the bounds and at them, and never when it is NaN. This
/// compares with the bounds as the dtype holds them.
NodeId dClamp(const VjpArgs& v) {
    return v.b.where(compare(v, Op::Equal, v.in[0], v.y), v.dy, like(v, 0));
}
NodeId dCast(const VjpArgs& v) { return v.b.cast(v.dy, v.b.dtypeOf(v.in[0])); }

NodeId passDy(const VjpArgs& v) { return v.dy; }
NodeId negDy(const VjpArgs& v) { return v.b.neg(v.dy); }
NodeId dMulA(const VjpArgs& v) { return v.b.mul(v.dy, v.in[1]); }
NodeId dMulB(const VjpArgs& v) { return v.b.mul(v.dy, v.in[0]); }
NodeId dDivA(const VjpArgs& v) { return v.b.div(v.dy, v.in[1]); }
NodeId dDivB(const VjpArgs& v) { return v.b.mul(v.b.neg(v.dy), v.b.div(v.y, v.in[1])); }

/// e x^(e-1), and 0 for e = 0 whatever x is.
NodeId dPowBase(const VjpArgs& v) {
    Builder& b = v.b;
    const NodeId flat = compare(v, Op::Equal, v.in[1], like(v, 0));
    // 1 in place of the exponent 0: the branch that is not taken stays finite, so its gradient is
    // 0, not NaN.
    const NodeId exponent = b.where(flat, like(v, 1), v.in[1]);
    const NodeId power = b.emit(Op::Pow, {v.in[0], b.sub(exponent, like(v, 1))});
    return b.where(flat, like(v, 0), b.mul(v.dy, b.mul(exponent, power)));
}
/// x^e log x, and 0 at x = 0 for e >= 0.
NodeId dPowExponent(const VjpArgs& v) {
    Builder& b = v.b;
    const NodeId atZero = compare(v, Op::Equal, v.in[0], like(v, 0));
    const NodeId notBelow = compare(v, Op::LessEqual, like(v, 0), v.in[1]);
    const NodeId flat = compare(v, Op::LogicalAnd, atZero, notBelow);
    const NodeId base = b.where(flat, like(v, 1), v.in[0]); // log 1 = 0
    return b.mul(v.dy, b.mul(v.y, b.unary(Op::Log, base)));
}

/// atan2(a, b): b / (a^2 + b^2) and -a / (a^2 + b^2), and 0 at the origin.
NodeId overSquares(const VjpArgs& v, NodeId x) {
    Builder& b = v.b;
    const NodeId squares = b.add(b.mul(v.in[0], v.in[0]), b.mul(v.in[1], v.in[1]));
    const NodeId origin = compare(v, Op::Equal, squares, like(v, 0));
    // 1 in place of the 0 in the denominator: the branch that is not taken stays finite in every
    // order.
    const NodeId inverse = b.unary(Op::Reciprocal, b.where(origin, like(v, 1), squares));
    return b.mul(b.mul(v.dy, x), b.where(origin, like(v, 0), inverse));
}
NodeId dAtan2A(const VjpArgs& v) { return overSquares(v, v.in[1]); }
NodeId dAtan2B(const VjpArgs& v) { return v.b.neg(overSquares(v, v.in[0])); }

/// Sends the gradient to the operand that won; a tie splits it in half.
NodeId winnerShare(const VjpArgs& v, NodeId smaller, NodeId larger) {
    Builder& b = v.b;
    const NodeId tie = compare(v, Op::Equal, v.in[0], v.in[1]);
    const NodeId won = b.where(tie, b.scale(v.dy, 0.5), v.dy);
    return b.where(compare(v, Op::Less, smaller, larger), like(v, 0), won);
}
NodeId dMaximumA(const VjpArgs& v) { return winnerShare(v, v.in[0], v.in[1]); }
NodeId dMaximumB(const VjpArgs& v) { return winnerShare(v, v.in[1], v.in[0]); }
NodeId dMinimumA(const VjpArgs& v) { return winnerShare(v, v.in[1], v.in[0]); }
NodeId dMinimumB(const VjpArgs& v) { return winnerShare(v, v.in[0], v.in[1]); }

void vjpWhere(const VjpArgs& v) {
    if (v.needed[1]) v.dIn[1] = v.b.where(v.in[0], v.dy, like(v, 0));
    if (v.needed[2]) v.dIn[2] = v.b.where(v.in[0], like(v, 0), v.dy);
}

// ---- folds -------------------------------------------------------------------------------------
// x + 0 is not folded: it turns -0 into 0.

bool isConstant(const Builder& b, NodeId id, double value) {
    const auto held = b.constantValue(id);
    return held && std::bit_cast<uint64_t>(*held) == std::bit_cast<uint64_t>(value);
}

std::optional<NodeId> foldNeg(const FoldArgs& a) {
    const Node& x = a.b[a.in[0]];
    if (x.op == Op::Neg) return x.in[0];
    return std::nullopt;
}

/// Returns the first operand when the second changes nothing.
std::optional<NodeId> withoutSecond(const FoldArgs& a, double neutral) {
    if (isConstant(a.b, a.in[1], neutral)) return a.in[0];
    return std::nullopt;
}
std::optional<NodeId> withoutEither(const FoldArgs& a, double neutral) {
    if (const auto folded = withoutSecond(a, neutral)) return folded;
    if (isConstant(a.b, a.in[0], neutral)) return a.in[1];
    return std::nullopt;
}
std::optional<NodeId> foldAdd(const FoldArgs& a) { return withoutEither(a, -0.0); }
std::optional<NodeId> foldSub(const FoldArgs& a) { return withoutSecond(a, 0.0); }
std::optional<NodeId> foldMul(const FoldArgs& a) { return withoutEither(a, 1.0); }
std::optional<NodeId> foldByOne(const FoldArgs& a) { return withoutSecond(a, 1.0); } // x / 1, x^1

std::optional<NodeId> foldWhere(const FoldArgs& a) {
    if (a.in[1] == a.in[2]) return a.in[1];
    const auto condition = a.b.constantValue(a.in[0]);
    if (!condition) return std::nullopt;
    return *condition != 0 ? a.in[1] : a.in[2];
}

std::optional<NodeId> foldCast(const FoldArgs& a) {
    const NodeId x = a.in[0];
    if (a.b.dtypeOf(x) == a.type.dtype) return x;
    if (a.b[x].op != Op::Cast) return std::nullopt;
    const NodeId original = a.b[x].in[0];
    if (!holdsAll(a.b.dtypeOf(x), a.b.dtypeOf(original))) return std::nullopt;
    return a.b.cast(original, a.type.dtype);
}

// ---- rows --------------------------------------------------------------------------------------

constexpr OpFlags kSmooth = OpFlag::Elementwise;
constexpr OpFlags kFunction = OpFlag::Elementwise | OpFlag::Transcendental;
/// PyTorch composes their gradients of several operations (derivatives.yaml), or computes them in
/// 16 bits on CUDA (BinaryMiscBackwardOpsKernels.cu: tanh, sigmoid).
constexpr OpFlags kComposed = kFunction | OpFlag::StoredGradient;
constexpr OpFlags kLinear = OpFlag::Elementwise | OpFlag::StoredGradient | OpFlag::Cheap;
constexpr OpFlags kPick = kLinear | OpFlag::KeepsPrecision;
constexpr OpFlags kStep =
    OpFlag::Elementwise | OpFlag::NoGradient | OpFlag::KeepsPrecision | OpFlag::Cheap;

template <NodeId (*DX)(const VjpArgs&), double (*F)(double)>
constexpr OpInfo unaryRow(Op op, std::string_view name, OpFlags flags, InferFn infer,
                          FoldFn fold = nullptr) {
    return {op, name, 1, flags, infer, vjpUnary<DX>, refUnary<F>, fold};
}
template <NodeId (*DA)(const VjpArgs&), NodeId (*DB)(const VjpArgs&), double (*F)(double, double)>
constexpr OpInfo binaryRow(Op op, std::string_view name, OpFlags flags, InferFn infer,
                           FoldFn fold = nullptr) {
    return {op, name, 2, flags, infer, vjpBinary<DA, DB>, refBinary<F>, fold};
}
/// The row of an op whose slope is zero wherever it has one: no gradient.
template <double (*F)(double)>
constexpr OpInfo stepRow(Op op, std::string_view name, InferFn infer) {
    return {op, name, 1, kStep, infer, nullptr, refUnary<F>};
}
template <double (*F)(double, double)>
constexpr OpInfo maskRow(Op op, std::string_view name, InferFn infer) {
    return {op, name, 2, kStep, infer, nullptr, refBinary<F>};
}

constexpr OpInfo kRows[] = {
    unaryRow<dNeg, negOf>(Op::Neg, "neg", kPick, inferNumber, foldNeg),
    unaryRow<dExp, expOf>(Op::Exp, "exp", kFunction, inferFloat),
    unaryRow<dExpm1, expm1Of>(Op::Expm1, "expm1", kFunction, inferFloat),
    unaryRow<dLog, logOf>(Op::Log, "log", kFunction, inferFloat),
    unaryRow<dLog1p, log1pOf>(Op::Log1p, "log1p", kComposed, inferFloat),
    unaryRow<dSqrt, sqrtOf>(Op::Sqrt, "sqrt", kSmooth, inferFloat),
    unaryRow<dRsqrt, rsqrtOf>(Op::Rsqrt, "rsqrt", kSmooth, inferFloat),
    unaryRow<dReciprocal, reciprocalOf>(Op::Reciprocal, "reciprocal",
                                        kSmooth | OpFlag::StoredGradient, inferFloat),
    unaryRow<dTanh, tanhOf>(Op::Tanh, "tanh", kComposed, inferFloat),
    unaryRow<dSigmoid, sigmoidOf>(Op::Sigmoid, "sigmoid", kComposed, inferFloat),
    unaryRow<dRelu, reluOf>(Op::Relu, "relu", kPick, inferNumber),
    unaryRow<dGelu, geluOf>(Op::Gelu, "gelu", kFunction, inferFloat),
    unaryRow<dSilu, siluOf>(Op::Silu, "silu", kFunction, inferFloat),
    unaryRow<dSoftplus, softplusOf>(Op::Softplus, "softplus", kFunction, inferFloat),
    unaryRow<dSin, sinOf>(Op::Sin, "sin", kComposed, inferFloat),
    unaryRow<dCos, cosOf>(Op::Cos, "cos", kComposed, inferFloat),
    unaryRow<dAbs, absOf>(Op::Abs, "abs", kPick, inferNumber),
    stepRow<signOf>(Op::Sign, "sign", inferNumber),
    unaryRow<dErf, erfOf>(Op::Erf, "erf", kComposed, inferFloat),
    unaryRow<dErfinv, erfinvOf>(Op::Erfinv, "erfinv", kComposed, inferFloat),
    unaryRow<dTan, tanOf>(Op::Tan, "tan", kComposed, inferFloat),
    unaryRow<dAsin, asinOf>(Op::Asin, "asin", kComposed, inferFloat),
    unaryRow<dAcos, acosOf>(Op::Acos, "acos", kComposed, inferFloat),
    unaryRow<dSinh, sinhOf>(Op::Sinh, "sinh", kComposed, inferFloat),
    unaryRow<dCosh, coshOf>(Op::Cosh, "cosh", kComposed, inferFloat),
    unaryRow<dLog10, log10Of>(Op::Log10, "log10", kComposed, inferFloat),
    unaryRow<dLog2, log2Of>(Op::Log2, "log2", kComposed, inferFloat),
    stepRow<floorOf>(Op::Floor, "floor", inferFloat),
    stepRow<ceilOf>(Op::Ceil, "ceil", inferFloat),
    stepRow<roundOf>(Op::Round, "round", inferFloat),
    stepRow<truncOf>(Op::Trunc, "trunc", inferFloat),
    {Op::Clamp, "clamp", 1, kLinear, inferClamp, vjpUnary<dClamp>, refClamp},
    stepRow<isFiniteOf>(Op::IsFinite, "isfinite", inferIsFinite),
    stepRow<notOf>(Op::LogicalNot, "logical_not", inferLogical),
    // For a shift that the result does not depend on, such as the maximum in softmax.
    stepRow<sameOf>(Op::StopGradient, "detach", inferSame),
    {Op::Cast, "cast", 1, kLinear, inferCast, vjpUnary<dCast>, refCast, foldCast},

    binaryRow<passDy, passDy, addOf>(Op::Add, "add", kLinear, inferPair, foldAdd),
    binaryRow<passDy, negDy, subOf>(Op::Sub, "sub", kLinear, inferPair, foldSub),
    // One multiplication each way, rounded once by its own storage: no detour through f32 here
    // either.
    binaryRow<dMulA, dMulB, mulOf>(Op::Mul, "mul", kLinear, inferPair, foldMul),
    binaryRow<dDivA, dDivB, divOf>(Op::Div, "div", kSmooth | OpFlag::StoredGradient, inferFloatPair,
                                   foldByOne),
    binaryRow<dPowBase, dPowExponent, powOf>(Op::Pow, "pow", kFunction, inferFloatPair, foldByOne),
    binaryRow<dAtan2A, dAtan2B, atan2Of>(Op::Atan2, "atan2", kFunction, inferFloatPair),
    binaryRow<dMaximumA, dMaximumB, maximumOf>(Op::Maximum, "maximum", kPick, inferPair),
    binaryRow<dMinimumA, dMinimumB, minimumOf>(Op::Minimum, "minimum", kPick, inferPair),
    maskRow<lessOf>(Op::Less, "less", inferComparison),
    maskRow<lessEqualOf>(Op::LessEqual, "less_equal", inferComparison),
    maskRow<equalOf>(Op::Equal, "equal", inferComparison),
    maskRow<notEqualOf>(Op::NotEqual, "not_equal", inferComparison),
    maskRow<andOf>(Op::LogicalAnd, "logical_and", inferLogical),
    maskRow<orOf>(Op::LogicalOr, "logical_or", inferLogical),
    {Op::Where, "where", 3, kPick, inferWhere, vjpWhere, refWhere, foldWhere},
};

} // namespace

std::span<const OpInfo> elementwiseOps() { return kRows; }

} // namespace halfscope
