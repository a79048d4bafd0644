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

} // namespace

void OpenedWeights::set(ConfigModel& config, const OpenedFile& opened, WeightsTaken taken) {
    const bool partial = taken == WeightsTaken::WhatFits;
    if (!partial && !opened.fit.problem.empty()) throw InputError(opened.fit.problem);
    const std::string path = QFileInfo(opened.path).absoluteFilePath().toStdString();
    ConfigModel::Edits edits = config.edits();
    setField(edits.config, -1, "model.weights", path);
    edits.config.model.partialWeights = partial;
    config.restore(edits);
}

QString OpenedWeights::told(const OpenedFile& opened) {
    const QString path = safeText(opened.path.toStdString());
    const StateDictFit& fit = opened.fit;
    if (fit.missing.empty()) return tr("All lanes start from the weights in %1").arg(path);
    return tr("All lanes start from the weights in %1: %2 of %3 tensors; the others "
              "keep their initial values")
        .arg(path, count(fit.taken), count(fit.wanted));
}

QString OpenedWeights::offer(const StateDictFit& fit) {
    const QString problem = translated(fit.problem);
    if (fit.missing.empty())
        return tr("%1. All %2 tensors of the network are there; the others would be ignored.")
            .arg(problem, count(fit.wanted));
    return tr("%1. %2 of %3 tensors fit; the others would keep their initial values.")
        .arg(problem, count(fit.taken), count(fit.wanted));
}

} // namespace halfscope
