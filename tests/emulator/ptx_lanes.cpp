// Arithmetic, logic and comparisons of one lane's values, by the PTX ISA. What it leaves open
// (approximations) is taken as badly as its stated bound allows where that is easy.
#include "tests/emulator/ptx_lanes.h"

#include "engine/core/dtype.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>

namespace halfscope::test::ptx {
namespace {

using u16 = uint16_t;
using s16 = int16_t;
using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;

__extension__ using Int128 = __int128; // GCC's and Clang's own
__extension__ using UInt128 = unsigned __int128;

/// Integers wrap: counted as unsigned.
template <class T>
using Bits = std::make_unsigned_t<T>;

template <class T>
void addIntegers(Table& t, const std::string& type) {
    using B = Bits<T>;
    static constexpr int kBits = 8 * sizeof(T);
    add<T, T, T>(t, "add." + type, [](T a, T b) { return T(B(B(a) + B(b))); });
    add<T, T, T>(t, "sub." + type, [](T a, T b) { return T(B(B(a) - B(b))); });
    add<T, T>(t, "neg." + type, [](T a) { return T(B(0) - B(a)); });
    add<T, T>(t, "abs." + type, [](T a) { return a < T(0) ? T(B(0) - B(a)) : a; });
    add<T, T, T>(t, "mul.lo." + type, [](T a, T b) { return T(B(u64(B(a)) * u64(B(b)))); });
    add<T, T, T, T>(t, "mad.lo." + type,
                    [](T a, T b, T c) { return T(B(u64(B(a)) * u64(B(b)) + u64(B(c)))); });
    using Wide = std::conditional_t<std::is_signed_v<T>, Int128, UInt128>;
    add<T, T, T>(t, "mul.hi." + type, [](T a, T b) { return T((Wide(a) * Wide(b)) >> kBits); });
    add<T, T, T>(t, "min." + type, [](T a, T b) { return std::min(a, b); });
    add<T, T, T>(t, "max." + type, [](T a, T b) { return std::max(a, b); });
    // division by zero gives a value that the machine chooses; the least number over -1 wraps
    add<T, T, T>(t, "div." + type, [](T a, T b) {
        if (std::is_signed_v<T> && b == T(-1)) return T(B(0) - B(a));
        return b == 0 ? T(~B(0)) : T(a / b);
    });
    add<T, T, T>(t, "rem." + type, [](T a, T b) {
        if (std::is_signed_v<T> && b == T(-1)) return T(0);
        return b == 0 ? a : T(a % b);
    });
    add<T, T, u32>(t, "shr." + type, [](T a, u32 by) {
        const u32 most = kBits - 1;
        if (by > most) return a < T(0) ? T(-1) : T(0);
        return T(a >> by);
    });
}

template <class T>
void addBits(Table& t, const std::string& type) {
    static constexpr u32 kBits = 8 * sizeof(T);
    add<T, T, T>(t, "and." + type, [](T a, T b) { return T(a & b); });
    add<T, T, T>(t, "or." + type, [](T a, T b) { return T(a | b); });
    add<T, T, T>(t, "xor." + type, [](T a, T b) { return T(a ^ b); });
    add<T, T>(t, "not." + type, [](T a) { return T(~a); });
    add<T, T, u32>(t, "shl." + type, [](T a, u32 by) { return by >= kBits ? T(0) : T(a << by); });
    t["shr." + type] = t["shr.u" + std::to_string(kBits)];
    if constexpr (kBits >= 32) {
        add<u32, T>(t, "popc." + type, [](T a) { return u32(std::popcount(a)); });
        add<u32, T>(t, "clz." + type, [](T a) { return u32(std::countl_zero(a)); });
        add<T, T, T, u32, u32>(t, "bfi." + type, [](T f, T into, u32 position, u32 length) {
            const u32 from = position & 255u, count = std::min(length & 255u, kBits);
            if (from >= kBits || count == 0) return into;
            const T mask = T((count >= kBits ? ~T(0) : (T(1) << count) - 1) << from);
            return T((into & ~mask) | (T(f << from) & mask));
        });
        const auto taken = []<bool Signed>(T a, u32 position, u32 length) {
            const u32 from = position & 255u, count = std::min(length & 255u, kBits);
            if (count == 0) return T(0);
            // above the field, or the top bit, there are copies of its last bit
            const bool fill = Signed && (a >> std::min(from + count - 1, kBits - 1) & 1) != 0;
            const T mask = count >= kBits ? ~T(0) : T((T(1) << count) - 1);
            const u32 left = from >= kBits ? 0 : std::min(count, kBits - from);
            const T field = left == 0 ? T(0) : T((a >> from) & mask);
            if (!fill) return field;
            return left == kBits ? field : T(field | T(~T(0) << left));
        };
        using Taken = decltype(taken);
        add<T, T, u32, u32>(t, "bfe.u" + std::to_string(kBits), [](T a, u32 position, u32 length) {
            return Taken{}.template operator()<false>(a, position, length);
        });
        add<T, T, u32, u32>(t, "bfe.s" + std::to_string(kBits), [](T a, u32 position, u32 length) {
            return Taken{}.template operator()<true>(a, position, length);
        });
    }
}

void addMixedIntegers(Table& t) {
    add<s32, s16, s16>(t, "mul.wide.s16", [](s16 a, s16 b) { return s32(a) * s32(b); });
    add<u32, u16, u16>(t, "mul.wide.u16", [](u16 a, u16 b) { return u32(a) * u32(b); });
    add<s64, s32, s32>(t, "mul.wide.s32", [](s32 a, s32 b) { return s64(a) * s64(b); });
    add<u64, u32, u32>(t, "mul.wide.u32", [](u32 a, u32 b) { return u64(a) * u64(b); });
    add<s64, s32, s32, s64>(t, "mad.wide.s32",
                            [](s32 a, s32 b, s64 c) { return s64(u64(s64(a) * s64(b)) + u64(c)); });
    add<u64, u32, u32, u64>(t, "mad.wide.u32",
                            [](u32 a, u32 b, u64 c) { return u64(a) * u64(b) + c; });
    add<u32, u32, u32, u32>(t, "shf.l.wrap.b32", [](u32 low, u32 high, u32 by) {
        return u32(((u64(high) << 32 | low) << (by & 31u)) >> 32);
    });
    add<u32, u32, u32, u32>(t, "shf.r.wrap.b32", [](u32 low, u32 high, u32 by) {
        return u32((u64(high) << 32 | low) >> (by & 31u));
    });
    add<u32, u32, u32, u32, u32>(t, "lop3.b32", [](u32 a, u32 b, u32 c, u32 table) {
        u32 result = 0;
        for (int i = 0; i < 32; ++i) {
            const u32 row = (a >> i & 1u) << 2 | (b >> i & 1u) << 1 | (c >> i & 1u);
            result |= (table >> row & 1u) << i;
        }
        return result;
    });
    add<u32, u32, u32, u32>(t, "prmt.b32", [](u32 a, u32 b, u32 selectors) {
        const u64 both = u64(b) << 32 | a;
        u32 result = 0;
        for (int i = 0; i < 4; ++i) {
            const u32 selector = selectors >> (4 * i) & 15u;
            u32 byte = u32(both >> (8 * (selector & 7u))) & 255u;
            if ((selector & 8u) != 0) byte = (byte & 128u) != 0 ? 255u : 0u;
            result |= byte << (8 * i);
        }
        return result;
    });
    // two halves of a times two bytes of b, or four bytes of both, and c
    add<u32, u32, u32, u32>(t, "dp2a.lo.u32.u32", [](u32 a, u32 b, u32 c) {
        return c + (a & 0xFFFFu) * (b & 255u) + (a >> 16) * (b >> 8 & 255u);
    });
    add<u32, u32, u32, u32>(t, "dp2a.hi.u32.u32", [](u32 a, u32 b, u32 c) {
        return c + (a & 0xFFFFu) * (b >> 16 & 255u) + (a >> 16) * (b >> 24);
    });
    add<u32, u32, u32, u32>(t, "dp4a.u32.u32", [](u32 a, u32 b, u32 c) {
        for (int i = 0; i < 32; i += 8)
            c += (a >> i & 255u) * (b >> i & 255u);
        return c;
    });
    add<bool, bool, bool>(t, "and.pred", [](bool a, bool b) { return a && b; });
    add<bool, bool, bool>(t, "or.pred", [](bool a, bool b) { return a || b; });
    add<bool, bool, bool>(t, "xor.pred", [](bool a, bool b) { return a != b; });
    add<bool, bool>(t, "not.pred", [](bool a) { return !a; });
    add<bool, bool>(t, "mov.pred", [](bool a) { return a; });
}

/// One of IEEE's directed roundings around an operation of the host.
template <int Mode, class F>
auto inMode(F&& operation) {
    const int before = std::fegetround();
    std::fesetround(Mode);
    const volatile auto result = operation(); // before the mode is what it was
    std::fesetround(before);
    return result;
}

/// Subnormals to zero, as .ftz has it.
float flushed(float x) {
    return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
}
double flushed(double x) {
    return std::fabs(x) < std::numeric_limits<double>::min() ? std::copysign(0.0, x) : x;
}

template <class T>
void addFloats(Table& t, const std::string& type) {
    // Without ".rn" ptxas may make one fma of a product and a sum: not known.
    add<T, T, T>(t, "add.rn." + type, [](T a, T b) { return a + b; });
    add<T, T, T>(t, "sub.rn." + type, [](T a, T b) { return a - b; });
    add<T, T, T>(t, "mul.rn." + type, [](T a, T b) { return a * b; });
    add<T, T, T, T>(t, "fma.rn." + type, [](T a, T b, T c) { return std::fma(a, b, c); });
    add<T, T, T>(t, "div.rn." + type, [](T a, T b) { return a / b; });
    add<T, T>(t, "rcp.rn." + type, [](T a) { return T(1) / a; });
    add<T, T>(t, "sqrt.rn." + type, [](T a) { return std::sqrt(a); });
    add<T, T>(t, "neg." + type, [](T a) { return -a; });
    add<T, T>(t, "abs." + type, [](T a) { return std::fabs(a); });
    add<T, T, T>(t, "copysign." + type, [](T sign, T size) { return std::copysign(size, sign); });
    // The other one where one is NaN; -0 is less than +0.
    add<T, T, T>(t, "min." + type, [](T a, T b) {
        if (a == b) return std::signbit(a) ? a : b;
        return std::fmin(a, b);
    });
    add<T, T, T>(t, "max." + type, [](T a, T b) {
        if (a == b) return std::signbit(a) ? b : a;
        return std::fmax(a, b);
    });
    add<bool, T>(t, "testp.finite." + type, [](T a) { return bool(std::isfinite(a)); });
    add<bool, T>(t, "testp.infinite." + type, [](T a) { return bool(std::isinf(a)); });
    add<bool, T>(t, "testp.notanumber." + type, [](T a) { return bool(std::isnan(a)); });
}

void addApproximations(Table& t) {
    add<float, float, float, float>(t, "fma.rm.f32", [](float a, float b, float c) {
        const volatile float x = a, y = b, z = c; // read between the changes of the mode
        return inMode<FE_DOWNWARD>([&] { return std::fma(float(x), float(y), float(z)); });
    });
    add<float, float, float>(t, "add.rz.f32", [](float a, float b) {
        const volatile float x = a, y = b;
        return inMode<FE_TOWARDZERO>([&] { return x + y; });
    });
    const auto both = [&]<class F>(const std::string& name, F) {
        add<float, float>(t, name + ".approx.f32", [](float x) { return float(F{}(double(x))); });
        add<float, float>(t, name + ".approx.ftz.f32",
                          [](float x) { return flushed(float(F{}(double(flushed(x))))); });
    };
    both("ex2", [](double x) { return std::exp2(x); });
    both("lg2", [](double x) { return std::log2(x); });
    both("sin", [](double x) { return std::sin(x); });
    both("cos", [](double x) { return std::cos(x); });
    both("rcp", [](double x) { return 1 / x; });
    both("sqrt", [](double x) { return std::sqrt(x); });
    both("rsqrt", [](double x) { return 1 / std::sqrt(x); });
    // Its bound is 2^-11: a tenth of it is enough to show who counts on more. At infinity it is 1.
    both("tanh", [](double x) {
        return std::isinf(x) ? std::copysign(1, x) : std::tanh(x) * (1 + 0x1p-14);
    });
    // over a finite b beyond 2^126 a quotient is 0, that of an infinity NaN
    const auto rough = [](float a, float b) {
        if (!(std::fabs(b) > 0x1p126f) || !std::isfinite(b)) return a / b;
        if (std::isinf(a)) return std::numeric_limits<float>::quiet_NaN();
        return std::isnan(a) ? a : std::copysign(0.0f, a) * std::copysign(1.0f, b);
    };
    add<float, float, float>(t, "div.approx.f32", rough);
    add<float, float, float>(t, "div.approx.ftz.f32", [](float a, float b) {
        return flushed(decltype(rough){}(flushed(a), flushed(b)));
    });
    add<float, float, float>(t, "div.full.f32", [](float a, float b) { return a / b; });
    add<float, float, float>(t, "div.full.ftz.f32",
                             [](float a, float b) { return flushed(flushed(a) / flushed(b)); });
    // the upper word alone: 20 bits of fraction
    const auto gross = [](double x) {
        return std::bit_cast<double>(std::bit_cast<u64>(x) & 0xFFFFFFFF00000000u);
    };
    add<double, double>(t, "rcp.approx.ftz.f64", [](double x) {
        return decltype(gross){}(flushed(1 / decltype(gross){}(flushed(x))));
    });
    add<double, double>(t, "rsqrt.approx.ftz.f64", [](double x) {
        return decltype(gross){}(flushed(1 / std::sqrt(decltype(gross){}(flushed(x)))));
    });
}

/// a + b, of which no rounding to fewer bits can make another number than of the exact sum: where
/// it is not exact it is cut off and its last bit set.
double sumToOdd(double a, double b) {
    const double sum = a + b, other = sum - a;
    const double rest = (a - (sum - other)) + (b - other);
    if (!std::isfinite(sum) || rest == 0) return sum;
    const bool isAbove = (rest < 0) == (sum > 0); // rounded away from zero
    return std::bit_cast<double>((std::bit_cast<u64>(sum) - (isAbove ? 1 : 0)) | 1);
}

/// Both halves of a word.
template <class F>
u32 halves(u32 a, u32 b, F&& f) {
    return u32{f(u16(a), u16(b))} | u32{f(u16(a >> 16), u16(b >> 16))} << 16;
}

void addHalves(Table& t) {
    // a second rounding, from 24 bits to 11, does no harm: 24 is at least twice 11 and 2
    add<u32, u32, u32>(t, "add.rn.f16x2", [](u32 a, u32 b) {
        return halves(
            a, b, [](u16 x, u16 y) { return halfFromFloat(floatFromHalf(x) + floatFromHalf(y)); });
    });
    add<u32, u32, u32>(t, "mul.rn.f16x2", [](u32 a, u32 b) {
        return halves(
            a, b, [](u16 x, u16 y) { return halfFromFloat(floatFromHalf(x) * floatFromHalf(y)); });
    });
    add<u32, u32, u32, u32>(t, "fma.rn.bf16x2", [](u32 a, u32 b, u32 c) {
        const auto one = [](u16 x, u16 y, u16 z) {
            const double product = double(floatFromBfloat16(x)) * double(floatFromBfloat16(y));
            return bfloat16FromDouble(sumToOdd(product, double(floatFromBfloat16(z))));
        };
        return u32{one(u16(a), u16(b), u16(c))} | u32{one(u16(a >> 16), u16(b >> 16), u16(c >> 16))}
                                                      << 16;
    });
}

template <class T, class F>
void addComparison(Table& t, const std::string& name, const std::string& type, F) {
    add<bool, T, T>(t, "setp." + name + "." + type, F{});
    add<bool, T, T, bool>(t, "setp." + name + ".and." + type,
                          [](T a, T b, bool c) { return F{}(a, b) && c; });
    add<bool, T, T, bool>(t, "setp." + name + ".or." + type,
                          [](T a, T b, bool c) { return F{}(a, b) || c; });
    add<bool, T, T, bool>(t, "setp." + name + ".xor." + type,
                          [](T a, T b, bool c) { return F{}(a, b) != c; });
}

template <class T>
void addComparisons(Table& t, const std::string& type) {
    addComparison<T>(t, "eq", type, [](T a, T b) { return a == b; });
    addComparison<T>(t, "lt", type, [](T a, T b) { return a < b; });
    addComparison<T>(t, "le", type, [](T a, T b) { return a <= b; });
    addComparison<T>(t, "gt", type, [](T a, T b) { return a > b; });
    addComparison<T>(t, "ge", type, [](T a, T b) { return a >= b; });
    if constexpr (std::is_floating_point_v<T>) {
        addComparison<T>(t, "ne", type, [](T a, T b) { return a < b || a > b; });
        addComparison<T>(t, "num", type, [](T a, T b) { return !std::isunordered(a, b); });
        addComparison<T>(t, "nan", type, [](T a, T b) { return bool(std::isunordered(a, b)); });
        addComparison<T>(t, "equ", type, [](T a, T b) { return !(a < b || a > b); });
        addComparison<T>(t, "neu", type, [](T a, T b) { return !(a == b); });
        addComparison<T>(t, "ltu", type, [](T a, T b) { return !(a >= b); });
        addComparison<T>(t, "leu", type, [](T a, T b) { return !(a > b); });
        addComparison<T>(t, "gtu", type, [](T a, T b) { return !(a <= b); });
        addComparison<T>(t, "geu", type, [](T a, T b) { return !(a < b); });
    } else {
        addComparison<T>(t, "ne", type, [](T a, T b) { return a != b; });
        addComparison<T>(t, "lo", type, [](T a, T b) { return a < b; });
        addComparison<T>(t, "ls", type, [](T a, T b) { return a <= b; });
        addComparison<T>(t, "hi", type, [](T a, T b) { return a > b; });
        addComparison<T>(t, "hs", type, [](T a, T b) { return a >= b; });
    }
}

/// The choice is wild where the predicate or the chosen one is.
template <class T>
void select(Block&, Warp& warp, const Instruction& instruction, uint32_t mask) {
    const auto& o = instruction.operands;
    uint32_t first = 0;
    eachLane(mask, [&](int lane) {
        const bool chosen = warp.get<bool>(o[3], lane);
        first |= chosen ? 1u << lane : 0u;
        warp.set<T>(o[0], lane, warp.get<T>(o[chosen ? 1 : 2], lane));
    });
    warp.mark(o[0], mask,
              warp.wild[o[3].index] | (first & warp.wild[o[1].index]) |
                  (~first & warp.wild[o[2].index]));
}

} // namespace

void addLanes(Table& t) {
    addIntegers<s16>(t, "s16");
    addIntegers<u16>(t, "u16");
    addIntegers<s32>(t, "s32");
    addIntegers<u32>(t, "u32");
    addIntegers<s64>(t, "s64");
    addIntegers<u64>(t, "u64");
    addBits<u16>(t, "b16");
    addBits<u32>(t, "b32");
    addBits<u64>(t, "b64");
    addMixedIntegers(t);
    addFloats<float>(t, "f32");
    addFloats<double>(t, "f64");
    addApproximations(t);
    addHalves(t);
    addComparisons<s16>(t, "s16");
    addComparisons<u16>(t, "u16");
    addComparisons<u16>(t, "b16");
    addComparisons<s32>(t, "s32");
    addComparisons<u32>(t, "u32");
    addComparisons<u32>(t, "b32");
    addComparisons<s64>(t, "s64");
    addComparisons<u64>(t, "u64");
    addComparisons<u64>(t, "b64");
    addComparisons<float>(t, "f32");
    addComparisons<double>(t, "f64");
    for (const char* type : {"b16", "u16", "s16"})
        t[std::string("selp.") + type] = {&select<u16>};
    for (const char* type : {"b32", "u32", "s32", "f32"})
        t[std::string("selp.") + type] = {&select<u32>};
    for (const char* type : {"b64", "u64", "s64", "f64"})
        t[std::string("selp.") + type] = {&select<u64>};
}

} // namespace halfscope::test::ptx
