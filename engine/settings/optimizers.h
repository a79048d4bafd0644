// The table of optimizers: what each is called and which settings it has. A new one is a kind and a
// row here, and a function in engine/step/optimizer.cpp. The rows of the settings are in
// optimizer_fields.cpp.
#pragma once

#include "engine/core/message.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace halfscope {

enum class OptimizerKind : uint8_t { Adam, AdamW, Sgd, RmsProp };

/// Which settings an optimizer has beside its learning rate and weight decay.
struct OptimizerSettings {
    bool betas = false;    ///< beta1, beta2, amsgrad
    bool epsilon = false;  ///< eps
    bool momentum = false; ///< momentum
    bool nesterov = false; ///< nesterov, dampening
    bool alpha = false;    ///< alpha, centered
};

struct OptimizerInfo {
    OptimizerKind kind;
    const char* name; ///< in files
    Phrase about;     ///< for tool tips and the manual, after the name
    OptimizerSettings has;
    const char* torchName; ///< of torch.optim
    double torchDecay = 0; ///< its weight_decay where none is given
};

inline constexpr std::array kOptimizers{
    OptimizerInfo{OptimizerKind::Adam,
                  "adam",
                  phrase("Settings", "Adam, with weight decay added to the gradient"),
                  {.betas = true, .epsilon = true},
                  "Adam"},
    OptimizerInfo{OptimizerKind::AdamW,
                  "adamw",
                  phrase("Settings", "Adam, with weight decay applied to the weights directly"),
                  {.betas = true, .epsilon = true},
                  "AdamW",
                  0.01},
    OptimizerInfo{OptimizerKind::Sgd,
                  "sgd",
                  phrase("Settings", "gradient descent with momentum"),
                  {.momentum = true, .nesterov = true},
                  "SGD"},
    OptimizerInfo{OptimizerKind::RmsProp,
                  "rmsprop",
                  phrase("Settings", "gradients divided by a running average of their size"),
                  {.epsilon = true, .momentum = true, .alpha = true},
                  "RMSprop"},
};

constexpr const OptimizerInfo& infoOf(OptimizerKind kind) {
    return kOptimizers[static_cast<size_t>(kind)];
}
constexpr const char* nameOf(OptimizerKind kind) { return infoOf(kind).name; }
constexpr bool optimizersStandByKind() {
    for (size_t i = 0; i < kOptimizers.size(); ++i)
        if (kOptimizers[i].kind != OptimizerKind(i)) return false;
    return true;
}
static_assert(optimizersStandByKind());

/// The settings of an optimizer; those that its kind does not have are ignored.
struct OptimizerConfig {
    OptimizerKind kind = OptimizerKind::Adam;
    double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 0, momentum = 0.9;
    double dampening = 0, alpha = 0.99; ///< SGD; RMSprop's decay of squared gradients
    bool nesterov = false, amsgrad = false, centered = false;
};
/// What the optimizer of a second network has of its own; the rest it shares with the first.
struct SecondOptimizerConfig {
    OptimizerKind kind = OptimizerKind::Sgd;
    double lr = 1e-3;
};

} // namespace halfscope
