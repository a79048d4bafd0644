// Two linear layers and a mean squared error by hand, in double: the reference for steps of the
// recipes.
#pragma once

#include "engine/core/philox.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace halfscope::test {

inline constexpr int64_t kWidth = 8;
inline constexpr size_t kSquare = kWidth * kWidth;

using Tensor = std::vector<double>;
/// A network by hand: the weights and biases of two layers.
using Network2 = std::array<Tensor, 4>;

struct Batch {
    std::vector<float> x, target;
};

inline Batch batchOf(size_t index) {
    Batch batch{std::vector<float>(kSquare), std::vector<float>(kSquare)};
    Philox(11, 2 * index).fillNormal(batch.x);
    Philox(11, 2 * index + 1).fillNormal(batch.target);
    return batch;
}

/// Returns y (rows, out) = x (rows, in) times weight (out, in) transposed, plus bias.
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    Tensor y(kSquare);
    for (size_t r = 0; r < kWidth; ++r)
        for (size_t o = 0; o < kWidth; ++o) {
            double sum = bias[o];
            for (size_t i = 0; i < kWidth; ++i)
                sum += x[r * kWidth + i] * weight[o * kWidth + i];
            y[r * kWidth + o] = sum;
        }
    return y;
}

inline Tensor forward(const Network2& net, const Tensor& x) {
    return linear(linear(x, net[0], net[1]), net[2], net[3]);
}

/// Adds a layer's gradients to the two tensors, and returns the gradient of its input.
inline Tensor linearBackward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                             Tensor& dWeight, Tensor& dBias) {
    Tensor dx(kSquare, 0);
    for (size_t r = 0; r < kWidth; ++r)
        for (size_t o = 0; o < kWidth; ++o) {
            const double d = dy[r * kWidth + o];
            dBias[o] += d;
            for (size_t i = 0; i < kWidth; ++i) {
                dWeight[o * kWidth + i] += d * x[r * kWidth + i];
                dx[r * kWidth + i] += d * weight[o * kWidth + i];
            }
        }
    return dx;
}

inline Network2 zeros() {
    return {Tensor(kSquare), Tensor(kWidth), Tensor(kSquare), Tensor(kWidth)};
}

/// Returns the network's gradient, given that of its output.
inline Network2 backward(const Network2& net, const Tensor& x, const Tensor& dy) {
    Network2 d = zeros();
    const Tensor hidden = linear(x, net[0], net[1]);
    const Tensor dHidden = linearBackward(dy, hidden, net[2], d[2], d[3]);
    linearBackward(dHidden, x, net[0], d[0], d[1]);
    return d;
}

inline Tensor doubles(const std::vector<float>& values) { return {values.begin(), values.end()}; }

/// Returns the gradient of the mean squared error with respect to the prediction.
inline Tensor lossSlope(const Tensor& y, const Tensor& target) {
    Tensor slope(y.size());
    for (size_t i = 0; i < y.size(); ++i)
        slope[i] = 2 * (y[i] - target[i]) / static_cast<double>(y.size());
    return slope;
}

inline Network2 gradientOf(const Network2& net, const Batch& batch) {
    const Tensor x = doubles(batch.x);
    return backward(net, x, lossSlope(forward(net, x), doubles(batch.target)));
}

inline double normOf(const Network2& net) {
    double sum = 0;
    for (const Tensor& tensor : net)
        for (const double x : tensor)
            sum += x * x;
    return std::sqrt(sum);
}

inline void addScaled(Network2& to, const Network2& from, double factor) {
    for (size_t t = 0; t < to.size(); ++t)
        for (size_t i = 0; i < to[t].size(); ++i)
            to[t][i] += factor * from[t][i];
}

/// Returns the gradient of the gradient's norm, by central differences.
inline Network2 penaltySlope(Network2 net, const Batch& batch) {
    constexpr double kStep = 1e-5;
    Network2 slope = zeros();
    for (size_t t = 0; t < net.size(); ++t)
        for (size_t i = 0; i < net[t].size(); ++i) {
            const double at = net[t][i];
            net[t][i] = at + kStep;
            const double above = normOf(gradientOf(net, batch));
            net[t][i] = at - kStep;
            const double below = normOf(gradientOf(net, batch));
            net[t][i] = at;
            slope[t][i] = (above - below) / (2 * kStep);
        }
    return slope;
}

} // namespace halfscope::test
