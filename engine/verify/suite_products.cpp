// Checks the three products of linear layers, as in a training, on a device against double: large
// enough for the code paths that only large products take. Numbers are drawn here; no file is
// needed.
#include "engine/core/philox.h"
#include "engine/ops/functional.h"
#include "engine/passes/autodiff.h"
#include "engine/verify/judge_product.h"
#include "engine/verify/run_graph.h"

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

namespace halfscope::recorded {
namespace {

struct Precision {
    const char* name;
    DType type;
    MathMode math; ///< for f32 products
};
constexpr Precision kPrecisions[] = {{"fp32", DType::F32, MathMode::F32},
                                     {"tf32", DType::F32, MathMode::TF32},
                                     {"fp16", DType::F16, MathMode::F32},
                                     {"bf16", DType::BF16, MathMode::F32}};

struct Layer {
    int64_t rows, in, out;
};
/// The gradient of its weight sums over so many rows that the worst case of rounding hides a whole
/// term; only whole numbers reveal a missing term.
constexpr Layer kManyRows{16384, 256, 256};
constexpr Layer kOdd{1031, 333, 77};    ///< all extents are odd, K too: none is a multiple of a
                                        ///< tile
constexpr Layer kFewRows{7, 1025, 259}; ///< too few for tiles and panels
constexpr Layer kLayers[] = {kManyRows, {64, 784, 256}, {256, 4096, 128}, kOdd, kFewRows};

enum class Values : uint8_t {
    Whole,         ///< -1, 0 and 1: every sum is exact in every type
    Normal,        ///< normally distributed
    WideExponents, ///< normal numbers times powers of two
    Subnormal,     ///< most of x and of the bias are subnormal, and so are some results
    Large,         ///< all are positive, with sums on both sides of the type's limit
    NotFinite,     ///< an infinity in x, one in dy and a NaN in the weight
};
struct ValuesInfo {
    Values values;
    const char* name;
    Elements compared;
};
constexpr ValuesInfo kWhole{Values::Whole, "whole numbers", Elements::All};
constexpr ValuesInfo kNormal{Values::Normal, "normal numbers", Elements::Sample};
constexpr ValuesInfo kExtremes[] = {
    {Values::WideExponents, "wide exponents", Elements::Sample},
    {Values::Subnormal, "subnormals", Elements::Sample},
    {Values::Large, "large numbers", Elements::Sample},
    {Values::NotFinite, "infinities and a NaN", Elements::SampleAndPlaces}};

enum class Operand : uint8_t { X, Weight, Bias, Dy };
constexpr Operand kOperands[] = {Operand::X, Operand::Weight, Operand::Bias, Operand::Dy};
constexpr const char* kInputs[] = {"x", "weight", "bias", "dy"};

/// Random numbers by operand and index. The normal ones repeat after a prime number of them: no two
/// rows are alike, and few must be drawn.
class Numbers {
public:
    Numbers() {
        for (const Operand operand : kOperands) {
            std::vector<float>& drawn = m_normal[static_cast<size_t>(operand)];
            drawn.resize(kPeriod);
            random(operand).fillNormal(drawn);
        }
    }
    double normal(Operand operand, size_t i) const {
        return static_cast<double>(m_normal[static_cast<size_t>(operand)][i % kPeriod]);
    }
    /// Returns a whole number from -most to most.
    static int exponent(Operand operand, size_t i, int most) {
        return static_cast<int>(random(operand).below(i, 2 * static_cast<uint64_t>(most) + 1)) -
               most;
    }

private:
    static constexpr size_t kPeriod = 65521;
    static Philox random(Operand operand) { return {20261123, static_cast<uint64_t>(operand)}; }
    std::array<std::vector<float>, std::size(kOperands)> m_normal;
};

Shape shapeOf(const Layer& layer, Operand operand) {
    switch (operand) {
    case Operand::X: return {layer.rows, layer.in};
    case Operand::Weight: return {layer.out, layer.in};
    case Operand::Bias: return {layer.out};
    default: return {layer.rows, layer.out};
    }
}

/// Returns the factor for |normal numbers| with which the three products' sums come to about `sum`
/// each.
double factorOf(const Layer& layer, Operand operand, double sum) {
    const auto rows = static_cast<double>(layer.rows), in = static_cast<double>(layer.in),
               out = static_cast<double>(layer.out);
    const double term = sum * std::numbers::pi / 2; // the mean of |a b| is 2 / pi
    switch (operand) {
    case Operand::X: return std::sqrt(term * out / (in * rows));
    case Operand::Weight: return std::sqrt(term * rows / (in * out));
    case Operand::Bias: return sum / 64;
    default: return std::sqrt(term * in / (out * rows));
    }
}

/// Returns one number of an operand, before it is rounded to storage.
double numberOf(const Numbers& numbers, const Precision& precision, const Layer& layer,
                Values values, Operand operand, size_t i) {
    const double normal = numbers.normal(operand, i);
    switch (values) {
    // One in five is not zero: a sum of 16384 products stays below 256, which bfloat16 holds
    // exactly.
    case Values::Whole: return std::fabs(normal) < 1.3 ? 0 : std::copysign(1.0, normal);
    case Values::WideExponents:
        return std::ldexp(normal,
                          Numbers::exponent(operand, i, precision.type == DType::F16 ? 6 : 40));
    case Values::Subnormal: // the bias too, which would otherwise hide the product
        return operand == Operand::X || operand == Operand::Bias
                   ? normal * formatOf(precision.type).minNormal / 8
                   : normal * 4;
    case Values::Large:
        return std::fabs(normal) * factorOf(layer, operand, formatOf(precision.type).maxFinite);
    default: return normal;
    }
}

std::vector<double> valuesOf(const Numbers& numbers, const Precision& precision, const Layer& layer,
                             Values values, Operand operand) {
    const Shape shape = shapeOf(layer, operand);
    std::vector<double> all(static_cast<size_t>(shape.elements()));
    for (size_t i = 0; i < all.size(); ++i)
        all[i] = roundTo(precision.type, numberOf(numbers, precision, layer, values, operand, i));
    if (values == Values::NotFinite && operand != Operand::Bias) {
        constexpr double kLimitless[] = {std::numeric_limits<double>::infinity(),
                                         std::numeric_limits<double>::quiet_NaN(), 0,
                                         -std::numeric_limits<double>::infinity()};
        all[all.size() / 2] = kLimitless[static_cast<size_t>(operand)];
    }
    return all;
}

/// Rounds to 11 significant bits with the exponents of f32, to nearest even, as TF32 does.
/// Independent of the engine's own rounding, which is under test.
double roundedToTf32(double x) {
    if (!std::isfinite(x)) return x;
    int exponent = 0;
    std::frexp(x, &exponent);
    const int last = std::max(exponent - 11, -136);
    return std::ldexp(std::nearbyint(std::ldexp(x, -last)), last);
}

/// The layer with its gradients, and numbers for its inputs.
class LayerGraph {
public:
    LayerGraph(const Numbers& numbers, const Precision& precision, const Layer& layer,
               Values values) {
        Builder b(m_graph);
        b.setMathMode(precision.math);
        for (const Operand operand : kOperands) {
            const auto at = static_cast<size_t>(operand);
            const Shape shape = shapeOf(layer, operand);
            m_in[at] = b.input(kInputs[at], shape, precision.type);
            m_leaves[m_in[at]] = {shape, valuesOf(numbers, precision, layer, values, operand)};
        }
        const auto& [x, weight, bias, dy] = m_in;
        const NodeId y = fn::linear(b, x, weight, bias);
        const auto d = gradients(b, y, std::array{x, weight}, dy);
        m_graph.addOutput("y", y);
        m_graph.addOutput("dx", d[0].value());
        m_graph.addOutput("dW", d[1].value());
    }

    std::map<std::string, std::vector<double>> run(Executor& executor) const {
        return runGraph(executor, m_graph, m_leaves, executor.compileOptions());
    }
    std::vector<double>& values(Operand operand) {
        return m_leaves.at(m_in[static_cast<size_t>(operand)]).values;
    }

private:
    Graph m_graph;
    std::array<NodeId, std::size(kOperands)> m_in{};
    std::map<NodeId, RefTensor> m_leaves;
};

CaseResult compareLayer(const Numbers& numbers, const Precision& precision, const Layer& layer,
                        const ValuesInfo& how, Executor& executor) {
    LayerGraph graph(numbers, precision, layer, how.values);
    const auto got = graph.run(executor);
    if (precision.math == MathMode::TF32)
        for (const Operand operand : {Operand::X, Operand::Weight, Operand::Dy})
            for (double& value : graph.values(operand))
                value = roundedToTf32(value);
    const double *x = graph.values(Operand::X).data(), *w = graph.values(Operand::Weight).data(),
                 *dy = graph.values(Operand::Dy).data();
    const auto [rows, in, out] = layer;
    const MatrixView xRows{x, in, 1}, wRows{w, in, 1}, wColumns{w, 1, in}, dyRows{dy, out, 1},
        dyColumns{dy, 1, out};
    const double* bias = graph.values(Operand::Bias).data();
    CaseResult result;
    const auto judge = [&](const char* output, ProductTruth truth) {
        truth.type = precision.type;
        truth.math = precision.math;
        judgeProduct(result, truth, got.at(output), how.compared);
    };
    judge("y", {"y = x W^T + b", rows, out, in, xRows, wColumns, bias});
    judge("dx", {"dx = dy W", rows, in, out, dyRows, wRows});
    judge("dW", {"dW = dy^T x", out, in, rows, dyColumns, xRows});
    return result;
}

} // namespace

SuiteCases productsSuite(VerifyDevice& device) {
    SuiteCases suite;
    const auto numbers = std::make_shared<const Numbers>();
    const auto add = [&](const Precision& precision, const Layer& layer, const ValuesInfo& how) {
        const std::string name = std::string(precision.name) + ", " + std::to_string(layer.rows) +
                                 " rows, " + std::to_string(layer.in) + " to " +
                                 std::to_string(layer.out) + ", " + how.name;
        suite.cases.push_back({name, [=, &device] {
                                   return compareLayer(*numbers, precision, layer, how,
                                                       *device.executor);
                               }});
    };
    for (const Precision& precision : kPrecisions) {
        for (const Layer& layer : kLayers) {
            add(precision, layer, kWhole);
            if (layer.rows != kManyRows.rows) add(precision, layer, kNormal);
        }
        for (const Layer& layer : {kOdd, kFewRows})
            for (const ValuesInfo& how : kExtremes)
                add(precision, layer, how);
    }
    return suite;
}

} // namespace halfscope::recorded
