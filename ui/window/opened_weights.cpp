// Sets two settings at once, and counts tensors.
#include "ui/window/opened_weights.h"

#include "engine/core/error.h"
#include "ui/models/config_model.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"
#include "ui/window/opened_file.h"

#include <QFileInfo>
#include <QLocale>

namespace halfscope {
namespace {

QString count(size_t tensors) { return QLocale().toString(qulonglong{tensors}); }

void setWeights(RunConfig& config, const OpenedFile& opened) {
    setField(config, -1, "model.weights", QFileInfo(opened.path).absoluteFilePath().toStdString());
}

QString presetTitle(const OpenedFile& opened) {
    return translated(presetNamed(opened.preset).titleHere());
}

} // namespace

void OpenedWeights::set(ConfigModel& config, const OpenedFile& opened, WeightsTaken taken) {
    const bool partial = taken == WeightsTaken::WhatFits;
    if (!partial && !opened.fit.problem.empty()) throw InputError(opened.fit.problem);
    ConfigModel::Edits edits = config.edits();
    if (!opened.model.empty()) setField(edits.config, -1, "model.layers", opened.model);
    setWeights(edits.config, opened);
    edits.config.model.partialWeights = partial;
    config.restore(edits);
}

RunConfig OpenedWeights::onPreset(const OpenedFile& opened) {
    RunConfig config = presetNamed(opened.preset).config;
    setWeights(config, opened);
    return config;
}

QString OpenedWeights::told(const OpenedFile& opened) {
    const QString path = safeText(opened.path.toStdString());
    const StateDictFit& fit = opened.fit;
    if (fit.problem.empty() || fit.missing.empty())
        return tr("All lanes start from the weights in %1").arg(path);
    return tr("All lanes start from the weights in %1: %2 of %3 tensors; the others "
              "keep their initial values")
        .arg(path, count(fit.taken), count(fit.wanted));
}

QString OpenedWeights::offer(const StateDictFit& fit) {
    const QString differences = translated(fit.differences);
    if (fit.missing.empty())
        return tr("This file holds more than the weights of the network. All %1 tensors of the "
                  "network are there; the others would be ignored. Differences from the network: "
                  "%2.")
            .arg(count(fit.wanted), differences);
    return tr("These weights fit only a part of the network: %1 of %2 tensors. The others would "
              "keep their initial values. Differences from the network: %3.")
        .arg(count(fit.taken), count(fit.wanted), differences);
}

QString OpenedWeights::toldOfPreset(const OpenedFile& opened) {
    return tr("The weights in %1 do not fit the network that was open, but that of the preset %2. "
              "The preset was opened, and all its lanes start from them.")
        .arg(safeText(opened.path.toStdString()), presetTitle(opened));
}

QString OpenedWeights::offerOfPreset(const OpenedFile& opened) {
    return tr("These are weights of another network, that of the preset %1. %2.")
        .arg(presetTitle(opened), translated(opened.misfit));
}

} // namespace halfscope
