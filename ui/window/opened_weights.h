// The weights in a file that was opened, as settings and in words: taken as a whole, or those of
// its tensors that fit.
#pragma once

#include "engine/train/state_dict.h"

#include <QCoreApplication>
#include <QString>

namespace halfscope {

class ConfigModel;
struct OpenedFile;

enum class WeightsTaken : uint8_t {
    Whole,    ///< as load_state_dict() takes them
    WhatFits, ///< as load_state_dict(strict=False) does
};

class OpenedWeights {
    Q_DECLARE_TR_FUNCTIONS(OpenedWeights)
public:
    /// Sets the weights that all lanes start from like any other setting, in one step that can be
    /// undone. Throws InputError, and sets nothing, when they are to be taken as a whole but do not
    /// fit, or when no setting can have this path.
    static void set(ConfigModel&, const OpenedFile&, WeightsTaken);
    /// Says what the lanes start from.
    static QString told(const OpenedFile&);
    /// Says why a file cannot be taken as a whole, and what could be taken.
    static QString offer(const StateDictFit&);
};

} // namespace halfscope
