// cvt, mov and cvta: values that change their form.
#include "tests/emulator/ptx_lanes.h"

#include "engine/core/dtype.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halfscope::test::ptx {
namespace {

using u8 = uint8_t;
using s8 = int8_t;
using u16 = uint16_t;
using s16 = int16_t;
using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;

/// PTX's rules for what does not fit: the nearest end, and for NaN 0 or, in 64 bits, the top bit.
template <class To, class From>
To clamped(From whole) {
    if (std::isnan(whole)) {
        const bool isWide = sizeof(From) == 8 || sizeof(To) == 8;
        return isWide ? To(u64{1} << (8 * sizeof(To) - 1)) : To(0);
    }
    // the ends as powers of two, which are exact
    const From end = std::ldexp(From(1), 8 * int(sizeof(To)) - (std::is_signed_v<To> ? 1 : 0));
    if (whole >= end) return std::numeric_limits<To>::max();
    if (whole < (std::is_signed_v<To> ? -end : From(0))) return std::numeric_limits<To>::min();
    return To(whole);
}

template <class From, class Whole>
void addRounded(Table& t, const std::string& rounding, const std::string& from, Whole) {
    add<From, From>(t, "cvt." + rounding + "." + from + "." + from,
                    [](From x) { return Whole{}(x); });
    const std::string end = "." + from, begin = "cvt." + rounding + ".";
    add<s32, From>(t, begin + "s32" + end, [](From x) { return clamped<s32>(Whole{}(x)); });
    add<u32, From>(t, begin + "u32" + end, [](From x) { return clamped<u32>(Whole{}(x)); });
    add<s64, From>(t, begin + "s64" + end, [](From x) { return clamped<s64>(Whole{}(x)); });
    add<u64, From>(t, begin + "u64" + end, [](From x) { return clamped<u64>(Whole{}(x)); });
}

template <class From>
void addToIntegers(Table& t, const std::string& from) {
    addRounded<From>(t, "rni", from, [](From x) { return std::nearbyint(x); });
    addRounded<From>(t, "rzi", from, [](From x) { return std::trunc(x); });
    addRounded<From>(t, "rmi", from, [](From x) { return std::floor(x); });
    addRounded<From>(t, "rpi", from, [](From x) { return std::ceil(x); });
}

template <class To, class From>
void addInteger(Table& t, const std::string& to, const std::string& from) {
    add<To, From>(t, "cvt." + to + "." + from, [](From x) { return static_cast<To>(x); });
}
template <class From>
void addFromInteger(Table& t, const std::string& from) {
    addInteger<u8, From>(t, "u8", from);
    addInteger<s8, From>(t, "s8", from);
    addInteger<u16, From>(t, "u16", from);
    addInteger<s16, From>(t, "s16", from);
    addInteger<u32, From>(t, "u32", from);
    addInteger<s32, From>(t, "s32", from);
    addInteger<u64, From>(t, "u64", from);
    addInteger<s64, From>(t, "s64", from);
    add<float, From>(t, "cvt.rn.f32." + from, [](From x) { return static_cast<float>(x); });
    add<double, From>(t, "cvt.rn.f64." + from, [](From x) { return static_cast<double>(x); });
}

u32 pair(u16 high, u16 low) { return u32{high} << 16 | low; }

void addFloats(Table& t) {
    add<double, float>(t, "cvt.f64.f32", [](float x) { return double(x); });
    add<float, double>(t, "cvt.rn.f32.f64", [](double x) { return float(x); });
    add<float, u16>(t, "cvt.f32.f16", [](u16 x) { return floatFromHalf(x); });
    add<float, u16>(t, "cvt.f32.bf16", [](u16 x) { return floatFromBfloat16(x); });
    add<u16, float>(t, "cvt.rn.f16.f32", [](float x) { return halfFromFloat(x); });
    add<u16, float>(t, "cvt.rn.bf16.f32", [](float x) { return bfloat16FromFloat(x); });
    add<u16, double>(t, "cvt.rn.f16.f64", [](double x) { return halfFromDouble(x); });
    // the first source is the upper half
    add<u32, float, float>(t, "cvt.rn.f16x2.f32", [](float a, float b) {
        return pair(halfFromFloat(a), halfFromFloat(b));
    });
    add<u32, float, float>(t, "cvt.rn.bf16x2.f32", [](float a, float b) {
        return pair(bfloat16FromFloat(a), bfloat16FromFloat(b));
    });
    add<float, float>(t, "cvt.sat.f32.f32", [](float x) { // NaN is 0
        return x >= 1 ? 1.0f : x > 0 ? x : 0.0f;
    });
}

/// mov of one register, or of the parts of one to or from braces.
template <int Bytes>
void move(Block& block, Warp& warp, const Instruction& instruction, uint32_t mask) {
    const auto& o = instruction.operands;
    const auto results = static_cast<size_t>(instruction.packed);
    const size_t parts = std::max(results, o.size() - results);
    const int partBits = 8 * Bytes / static_cast<int>(parts);
    if (o.size() != parts + 1 && parts != 1) block.fault("parts that do not fit");
    const u64 partMask = partBits == 64 ? ~u64{0} : (u64{1} << partBits) - 1;
    const auto valueOf = [&](const Operand& from, int lane) {
        return from.wide ? warp.get<u64>(from, lane) : u64{warp.get<u32>(from, lane)};
    };
    u32 isWild = 0;
    for (size_t i = results; i < o.size(); ++i)
        isWild |= warp.wild[o[i].index];
    eachLane(mask, [&](int lane) {
        u64 bits = 0;
        for (size_t i = results; i < o.size(); ++i)
            bits |= (valueOf(o[i], lane) & (o.size() - results > 1 ? partMask : ~u64{0}))
                    << (static_cast<int>(i - results) * partBits % 64);
        for (size_t i = 0; i < results; ++i)
            warp.set<u64>(o[i], lane,
                          results == 1 ? bits
                                       : bits >> (static_cast<int>(i) * partBits) & partMask);
    });
    for (size_t i = 0; i < results; ++i)
        warp.mark(o[i], mask, isWild);
}

} // namespace

void addConversions(Table& t) {
    addToIntegers<float>(t, "f32");
    addToIntegers<double>(t, "f64");
    addFromInteger<u8>(t, "u8");
    addFromInteger<s8>(t, "s8");
    addFromInteger<u16>(t, "u16");
    addFromInteger<s16>(t, "s16");
    addFromInteger<u32>(t, "u32");
    addFromInteger<s32>(t, "s32");
    addFromInteger<u64>(t, "u64");
    addFromInteger<s64>(t, "s64");
    addFloats(t);
    for (const char* type : {"b16", "u16", "s16"})
        t[std::string("mov.") + type] = {&move<2>};
    for (const char* type : {"b32", "u32", "s32", "f32"})
        t[std::string("mov.") + type] = {&move<4>};
    for (const char* type : {"b64", "u64", "s64", "f64"})
        t[std::string("mov.") + type] = {&move<8>};
    // Generic addresses of global memory are its own.
    add<u64, u64>(t, "cvta.to.global.u64", [](u64 x) { return x; });
    add<u64, u64>(t, "cvta.global.u64", [](u64 x) { return x; });
    add<u64, u64>(t, "cvta.to.shared.u64", [](u64 x) { return x - kSharedWindow; });
    add<u64, u64>(t, "cvta.shared.u64", [](u64 x) { return x + kSharedWindow; });
    add<u64, u64>(t, "cvta.to.local.u64", [](u64 x) { return x - kLocalWindow; });
    add<u64, u64>(t, "cvta.local.u64", [](u64 x) { return x + kLocalWindow; });
}

} // namespace halfscope::test::ptx
