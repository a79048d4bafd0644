// Chooses what to offer by what was read of the file.
#include "ui/window/file_offers.h"

#include "engine/settings/fields.h"
#include "ui/models/config_model.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"
#include "ui/panels/setup_panel.h"

#include <QClipboard>
#include <QGuiApplication>

namespace halfscope {
namespace {

QString layersLabel() { return labelInWindow(*findField("model.layers")); }

} // namespace

FileOffers::FileOffers(RunModels& models, const WindowParts& parts)
    : m_models(models), m_parts(parts) {}

void FileOffers::offer(const OpenedFile& refused) {
    if (!refused.command.empty()) return offerCommand(refused);
    if (!refused.model.empty() && refused.weights) return offerNetwork(refused);
    if (!refused.refusal.empty()) return offerEditor();
    if (!refused.fit.problem.empty()) offerPart(refused);
}

void FileOffers::offerCommand(const OpenedFile& refused) {
    m_parts.banner->offer(tr("Copy the command"), tr("Copies the line that converts the file"),
                          [this, command = QString::fromStdString(refused.command)] {
                              QGuiApplication::clipboard()->setText(command);
                              emit told(tr("The command was copied. Run it in a terminal, then "
                                           "open the new file."));
                          });
}

void FileOffers::offerPart(const OpenedFile& weights) {
    m_parts.banner->showText(OpenedWeights::offer(weights.fit));
    m_parts.banner->offer(tr("Take what fits"),
                          tr("Starts all lanes from the tensors of this file that fit"),
                          taking(weights, WeightsTaken::WhatFits));
}

void FileOffers::offerNetwork(const OpenedFile& weights) {
    OpenedFile taken = weights;
    taken.refusal = {};
    m_parts.banner->offer(
        tr("Take this network"),
        tr("Sets %1 to this network, and starts all lanes from these weights").arg(layersLabel()),
        taking(taken, WeightsTaken::Whole));
}

void FileOffers::offerEditor() {
    m_parts.banner->offer(tr("Edit the layers"), tr("Opens the editor of %1").arg(layersLabel()),
                          [this] { m_parts.setup->editLayers(); });
}

std::function<void()> FileOffers::taking(const OpenedFile& weights, WeightsTaken taken) {
    return [this, weights, taken, config = m_models.config.config()] {
        if (m_models.config.isStill(config)) // else others may fit now
            emit weightsAccepted(weights, taken);
        else
            emit outdated(weights.path);
    };
}

} // namespace halfscope
