// One element's state, and its update by each rule. r() surrounds each operation that rounds.
#include "engine/verify/float64_optimizer.h"

#include "engine/core/error.h"

#include <algorithm>
#include <cmath>

namespace halfscope::recorded {
namespace {

/// NAdam's momentum of a step, with PyTorch's momentum_decay of 0.004.
double nesterovMomentum(const OptimizerConfig& config, double step) {
    return config.beta1 * (1 - 0.5 * std::pow(0.96, 0.004 * step));
}

/// Settings and step number, the same for all elements.
struct Rule {
    const OptimizerConfig& config;
    const Rounding& r;
    double step = 0;     ///< counts from 1
    float muProduct = 1; ///< NAdam's momenta so far, with this step's; float32 in PyTorch, too

    /// Interpolates as torch.lerp does, from the nearer end.
    double lerp(double from, double to, double share) const {
        const double way = r(to - from);
        if (share < 0.5) return r(from + r(r(share) * way));
        return r(to - r(r(1 - share) * way));
    }
    double meanSquare(double v, double g, double beta) const {
        return r(r(r(beta) * v) + r(r(1 - beta) * r(g * g)));
    }
    double decayed(double g, double p) const {
        if (config.weightDecay == 0) return g;
        return r(g + r(r(config.weightDecay) * p));
    }
};

struct Element {
    double p = 0;
    double first = 0, second = 0, largest = 0; ///< moments
    double buffer = 0; ///< for momentum, or Adadelta's mean of squared steps

    void sgd(const Rule& rule, double g) {
        const OptimizerConfig& c = rule.config;
        const Rounding& r = rule.r;
        g = rule.decayed(g, p);
        double way = g;
        if (c.momentum != 0) {
            const bool isFirst = rule.step == 1;
            buffer = isFirst ? g : r(r(r(c.momentum) * buffer) + r(r(1 - c.dampening) * g));
            way = c.nesterov ? r(g + r(r(c.momentum) * buffer)) : buffer;
        }
        p = r(p - r(r(c.lr) * way));
    }

    void adam(const Rule& rule, double g) {
        const OptimizerConfig& c = rule.config;
        const Rounding& r = rule.r;
        if (c.kind == OptimizerKind::AdamW)
            p = r(p - r(p * r(c.lr * c.weightDecay)));
        else
            g = rule.decayed(g, p);
        first = rule.lerp(first, g, 1 - c.beta1);
        second = rule.meanSquare(second, g, c.beta2);
        largest = c.amsgrad && second < largest ? largest : second;
        const double correction1 = r(1 - std::pow(c.beta1, rule.step));
        const double correction2 = r(std::sqrt(1 - std::pow(c.beta2, rule.step)));
        const double root = r(r(r(std::sqrt(largest)) / correction2) + c.eps);
        p = r(p - r(r(r(c.lr) / correction1) * r(first / root)));
    }

    void rmsProp(const Rule& rule, double g) {
        const OptimizerConfig& c = rule.config;
        const Rounding& r = rule.r;
        g = rule.decayed(g, p);
        second = rule.meanSquare(second, g, c.alpha);
        double spread = second;
        if (c.centered) {
            first = rule.lerp(first, g, 1 - c.alpha);
            spread = r(spread - r(first * first));
        }
        double way = r(g / r(r(std::sqrt(spread)) + c.eps));
        if (c.momentum != 0) way = buffer = r(r(r(c.momentum) * buffer) + way);
        p = r(p - r(r(c.lr) * way));
    }

    void nAdam(const Rule& rule, double g) {
        const OptimizerConfig& c = rule.config;
        const Rounding& r = rule.r;
        g = rule.decayed(g, p);
        first = rule.lerp(first, g, 1 - c.beta1);
        second = rule.meanSquare(second, g, c.beta2);
        const double correction = r(std::sqrt(1 - std::pow(c.beta2, rule.step)));
        const double divisor = r(r(r(std::sqrt(second)) / correction) + c.eps);
        const double next = nesterovMomentum(c, rule.step + 1);
        const double ofGradient =
            r(c.lr * (1 - nesterovMomentum(c, rule.step)) / (1 - double{rule.muProduct}));
        const double ofMean = r(c.lr * next / (1 - double{rule.muProduct} * next));
        p = r(p - r(ofGradient * r(g / divisor)));
        p = r(p - r(ofMean * r(first / divisor)));
    }

    void adamax(const Rule& rule, double g) {
        const OptimizerConfig& c = rule.config;
        const Rounding& r = rule.r;
        g = rule.decayed(g, p);
        first = rule.lerp(first, g, 1 - c.beta1);
        largest = std::max(r(r(c.beta2) * largest), r(std::fabs(g) + c.eps));
        const double correction = r(1 - std::pow(c.beta1, rule.step));
        p = r(p - r(r(r(c.lr) / correction) * r(first / largest)));
    }

    void adagrad(const Rule& rule, double g) {
        const OptimizerConfig& c = rule.config;
        const Rounding& r = rule.r;
        g = rule.decayed(g, p);
        second = r(second + r(g * g));
        p = r(p - r(r(r(c.lr) * g) / r(r(std::sqrt(second)) + c.eps)));
    }

    void adadelta(const Rule& rule, double g) {
        const OptimizerConfig& c = rule.config;
        const Rounding& r = rule.r;
        g = rule.decayed(g, p);
        second = rule.meanSquare(second, g, c.alpha);
        const double past = r(std::sqrt(r(buffer + c.eps)));
        const double delta = r(r(past / r(std::sqrt(r(second + c.eps)))) * g);
        buffer = rule.meanSquare(buffer, delta, c.alpha);
        p = r(p - r(r(c.lr) * delta));
    }

    void update(const Rule& rule, double g) {
        switch (rule.config.kind) {
        case OptimizerKind::Sgd: return sgd(rule, g);
        case OptimizerKind::Adam:
        case OptimizerKind::AdamW: return adam(rule, g);
        case OptimizerKind::RmsProp: return rmsProp(rule, g);
        case OptimizerKind::NAdam: return nAdam(rule, g);
        case OptimizerKind::Adamax: return adamax(rule, g);
        case OptimizerKind::Adagrad: return adagrad(rule, g);
        case OptimizerKind::Adadelta: return adadelta(rule, g);
        }
        failInvariant("this optimizer has no reference in double");
    }
};

} // namespace

Trace optimizerTrace(const OptimizerConfig& config, const std::vector<double>& start,
                     std::span<const std::vector<double>> gradients, const Rounding& rounding) {
    std::vector<Element> elements(start.size());
    for (size_t i = 0; i < start.size(); ++i)
        elements[i].p = rounding(start[i]);
    Trace trace;
    Rule rule{config, rounding};
    for (const std::vector<double>& gradient : gradients) {
        ++rule.step;
        rule.muProduct *= static_cast<float>(nesterovMomentum(config, rule.step));
        std::vector<double>& values = trace.emplace_back();
        for (size_t i = 0; i < elements.size(); ++i) {
            elements[i].update(rule, rounding(gradient[i]));
            values.push_back(elements[i].p);
        }
    }
    return trace;
}

} // namespace halfscope::recorded
