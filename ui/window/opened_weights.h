// The weights in a file that was opened, as settings and in words: taken as a whole, or those of
// its tensors that fit.
#pragma once

#include "engine/settings/run_config.h"
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
    /// Sets the weights that all lanes start from, and their network where the file has one that
    /// the settings lack, like any other setting, in one step that can be undone. Throws
    /// InputError, and sets nothing, when they are to be taken as a whole but do not fit, or when
    /// no setting can have this path.
    static void set(ConfigModel&, const OpenedFile&, WeightsTaken);
    /// Returns the settings of the preset whose network the weights fit, with these weights. Throws
    /// InputError when no setting can have this path.
    static RunConfig onPreset(const OpenedFile&);
    /// Says what the lanes start from.
    static QString told(const OpenedFile&);
    /// Says what could be taken of a file that cannot be taken as a whole, and why.
    static QString offer(const StateDictFit&);
    /// Says that the preset was opened, or that it could be.
    static QString toldOfPreset(const OpenedFile&);
    static QString offerOfPreset(const OpenedFile&);
};

} // namespace halfscope
