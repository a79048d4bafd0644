// The table of optimizers: the name of each and the settings it has. To add one, add a kind and a
// row here, and a function in engine/step/optimizer.cpp. The rows of the settings are in
// optimizer_fields.cpp.
#pragma once

#include "engine/core/message.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace halfscope {

enum class OptimizerKind : uint8_t { Adam, AdamW, Sgd, RmsProp };

/// Which settings an optimizer has besides its learning rate and weight decay.
struct OptimizerSettings {
    bool betas = false;    ///< has beta1, beta2, amsgrad
    bool epsilon = false;  ///< has eps
    bool momentum = false; ///< has momentum
    bool nesterov = false; ///< has nesterov, dampening
    bool alpha = false;    ///< has alpha, centered
};

struct OptimizerInfo {
    OptimizerKind kind;
    const char* name; ///< in files
    Phrase about;     ///< what follows the name in tool tips and the manual
    OptimizerSettings has;
    const char* torchName; ///< its name in torch.optim
    double torchDecay = 0; ///< its default weight_decay in PyTorch
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
    double dampening = 0, alpha = 0.99; ///< SGD's dampening; RMSprop's decay of squared gradients
    bool nesterov = false, amsgrad = false, centered = false;
};
/// The settings of a second network's optimizer that are its own; it shares the rest with the
/// first.
struct SecondOptimizerConfig {
    OptimizerKind kind = OptimizerKind::Sgd;
    double lr = 1e-3;
};

} // namespace halfscope
