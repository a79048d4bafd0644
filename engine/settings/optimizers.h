// The table of optimizers: the name of each and the settings it has. To add one, add a kind and a
// row here, and a function in engine/step/optimizer.cpp. The rows of the settings are in
// optimizer_fields.cpp.
#pragma once

#include "engine/core/message.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace halfscope {

enum class OptimizerKind : uint8_t { Adam, AdamW, Sgd, RmsProp, NAdam, Adamax, Adagrad, Adadelta };

/// Which settings an optimizer has besides its learning rate and weight decay.
struct OptimizerSettings {
    bool betas = false;    ///< has beta1, beta2
    bool amsgrad = false;  ///< has amsgrad
    bool epsilon = false;  ///< has eps
    bool momentum = false; ///< has momentum
    bool nesterov = false; ///< has nesterov, dampening
    bool alpha = false;    ///< has alpha
    bool centered = false; ///< has centered
};

/// How torch.optim calls an optimizer, and its defaults that differ from most optimizers'.
struct TorchOptimizer {
    const char* name;
    double decay = 0;            ///< its default weight_decay
    double epsilon = 1e-8;       ///< its default eps
    const char* alpha = nullptr; ///< its name for alpha, where it has one
    double alphaDefault = 0;
    double rate = 1e-3; ///< its default lr
};

struct OptimizerInfo {
    OptimizerKind kind;
    const char* name; ///< in files
    Phrase about;     ///< what follows the name in tool tips and the manual
    OptimizerSettings has;
    TorchOptimizer torch;
};

inline constexpr std::array kOptimizers{
    OptimizerInfo{OptimizerKind::Adam,
                  "adam",
                  phrase("Settings", "Adam, with weight decay added to the gradient"),
                  {.betas = true, .amsgrad = true, .epsilon = true},
                  {"Adam"}},
    OptimizerInfo{OptimizerKind::AdamW,
                  "adamw",
                  phrase("Settings", "Adam, with weight decay applied to the weights directly"),
                  {.betas = true, .amsgrad = true, .epsilon = true},
                  {"AdamW", 0.01}},
    OptimizerInfo{OptimizerKind::Sgd,
                  "sgd",
                  phrase("Settings", "gradient descent with momentum"),
                  {.momentum = true, .nesterov = true},
                  {"SGD"}},
    OptimizerInfo{OptimizerKind::RmsProp,
                  "rmsprop",
                  phrase("Settings", "gradients divided by a running average of their size"),
                  {.epsilon = true, .momentum = true, .alpha = true, .centered = true},
                  {"RMSprop", 0, 1e-8, "alpha", 0.99, 0.01}},
    OptimizerInfo{OptimizerKind::NAdam,
                  "nadam",
                  phrase("Settings", "Adam that looks ahead along its momentum, as Nesterov does"),
                  {.betas = true, .epsilon = true},
                  {.name = "NAdam", .rate = 2e-3}},
    OptimizerInfo{OptimizerKind::Adamax,
                  "adamax",
                  phrase("Settings",
                         "Adam that divides by the largest gradient of late; it squares "
                         "none"),
                  {.betas = true, .epsilon = true},
                  {.name = "Adamax", .rate = 2e-3}},
    OptimizerInfo{OptimizerKind::Adagrad,
                  "adagrad",
                  phrase("Settings",
                         "gradients divided by the root of the sum of all their squares; "
                         "PyTorch's epsilon is 1e-10, its learning rate 0.01"),
                  {.epsilon = true},
                  {.name = "Adagrad", .epsilon = 1e-10, .rate = 0.01}},
    OptimizerInfo{OptimizerKind::Adadelta,
                  "adadelta",
                  phrase("Settings", "gradients times the ratio of past steps to past gradients; "
                                     "PyTorch's epsilon is 1e-6, its alpha (rho) 0.9, its learning "
                                     "rate 1"),
                  {.epsilon = true, .alpha = true},
                  {"Adadelta", 0, 1e-6, "rho", 0.9, 1}},
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
    double dampening = 0,
           alpha = 0.99; ///< SGD's dampening; the decay of a mean of squared gradients
    bool nesterov = false, amsgrad = false, centered = false;
};
/// The settings of a second network's optimizer that are its own; it shares the rest with the
/// first.
struct SecondOptimizerConfig {
    OptimizerKind kind = OptimizerKind::Sgd;
    double lr = 1e-3;
};

} // namespace halfscope
