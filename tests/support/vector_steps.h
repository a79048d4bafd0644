// Parts of tests of machine code for loops: steps and places, values where ops and roundings
// differ, and comparison bit for bit.
#pragma once

#include "engine/cpu/vector_loop.h"

#include <QtTest>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace halfscope::test {

/// Returns values where ops differ: zeros, limits and steps of each type, NaN, ties of the
/// roundings.
inline std::vector<float> specialValues() {
    std::vector<float> values{0,
                              1,
                              1.5f,
                              3,
                              65504,
                              65519.9f,
                              65520,
                              6e-8f,
                              2.9e-8f,
                              6.1e-5f,
                              1e-40f,
                              3e38f,
                              1e-20f,
                              2.0009766f,
                              1.0039f,
                              1.00390625f,
                              1.01171875f,
                              0.1f,
                              std::numeric_limits<float>::infinity(),
                              7.25f,
                              1e10f,
                              std::numeric_limits<float>::quiet_NaN(),
                              std::bit_cast<float>(0x7FFFFFFFU), // rounding its bits would overflow
                              std::bit_cast<float>(0x7F800001U), // cut to 16 bits: infinity

                              std::numeric_limits<float>::denorm_min(),
                              std::numeric_limits<float>::max()};
    const size_t positive = values.size();
    for (size_t i = 0; i < positive; ++i)
        values.push_back(-values[i]);
    return values;
}

inline bool sameFloat(float a, float b) {
    return (std::isnan(a) && std::isnan(b)) ||
           std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

/// Returns "element 3 is 1.5, expected 2", or nothing.
inline QByteArray difference(std::span<const float> got, std::span<const float> expected) {
    for (size_t i = 0; i < expected.size(); ++i)
        if (!sameFloat(got[i], expected[i]))
            return QString("element %1 is %2, expected %3")
                .arg(i)
                .arg(static_cast<double>(got[i]), 0, 'g', 9)
                .arg(static_cast<double>(expected[i]), 0, 'g', 9)
                .toUtf8();
    return {};
}

inline VectorPlace scratchAt(size_t element, VectorPlace::Walk walk = VectorPlace::Walk::Elements) {
    return {true, element * sizeof(float), DType::F32, walk};
}
inline VectorPlace arenaAt(size_t offset, DType dtype) {
    return {false, offset, dtype, VectorPlace::Walk::Elements};
}

inline VectorStep step(Op op, std::vector<VectorPlace> in, VectorPlace out,
                       DType rounded = DType::F32) {
    VectorStep result;
    result.op = op;
    result.inputs = static_cast<int>(in.size());
    std::copy(in.begin(), in.end(), result.in);
    result.out = out;
    result.rounded = rounded;
    return result;
}

/// Adds the sets that tests go through, each as a global row: for initTestCase_data and init.
inline void addSetRows() {
    QTest::addColumn<int>("set");
    for (const VectorSet set : {VectorSet::Avx2, VectorSet::Avx512})
        QTest::newRow(nameOf(set)) << static_cast<int>(set);
}
inline VectorSet rowsSet() {
    QFETCH_GLOBAL(int, set);
    return static_cast<VectorSet>(set);
}

/// Returns why there is no code of the set to test; null when there is.
inline const char* missingCode(VectorSet set) {
    if (VectorLoop::available(set)) return nullptr;
    return hasVectorSet(set) ? "this build has no Xbyak: loops are interpreted"
                             : "this processor has not got the instructions";
}

} // namespace halfscope::test
