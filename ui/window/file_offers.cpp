// Chooses what to offer by what was read of the file.
#include "ui/window/file_offers.h"

#include "engine/settings/fields.h"
#include "ui/models/config_model.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"
#include "ui/panels/setup_panel.h"

#include <QClipboard>
#include <QGuiApplication>

#include <utility>

namespace halfscope {
namespace {

QString layersLabel() { return labelInWindow(*findField("model.layers")); }

} // namespace

FileOffers::FileOffers(RunModels& models, const WindowParts& parts)
    : m_models(models), m_parts(parts) {}

void FileOffers::offer(const OpenedFile& refused) {
    if (!refused.command.empty()) return offerCommand(refused);
    if (!refused.model.empty() && refused.weights) return offerNetwork(refused);
    if (refused.isNetwork() && refused.changed) return offerProgram(refused);
    if (!refused.refusal.empty()) return offerEditor(refused);
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

void FileOffers::offerProgram(const OpenedFile& program) {
    OpenedFile taken = program;
    taken.refusal = {};
    offerChanged(*program.changed,
                 taking(program.path, [this, taken] { emit networkAccepted(taken); }));
}

void FileOffers::offerNetworkOn(const OpenedFile& data) {
    if (data.doubt.empty()) return;
    OpenedFile own = data;
    own.doubt = {};   // it is about the network as it was
    if (data.changed) // whatever the settings have become: opening the data again would lose them
        return offerChanged(*data.changed, [this, own] { emit networkAccepted(own); });
    m_parts.banner->offer(tr("Copy the network"), tr("Copies its text, for the editor of Layers"),
                          [layers = QString::fromStdString(data.model)] {
                              QGuiApplication::clipboard()->setText(layers);
                          });
}

void FileOffers::offerChanged(const ChangedEnd& changed, std::function<void()> take) {
    m_parts.banner->offer(tr("Change its last layer"),
                          tr("Takes this network with %1 as its last layer")
                              .arg(QString::fromStdString(changed.last)),
                          std::move(take));
}

void FileOffers::offerEditor(const OpenedFile& refused) {
    m_parts.banner->offer(tr("Edit the layers"), tr("Opens the editor of %1").arg(layersLabel()),
                          [this, network = refused.model] { m_parts.setup->editLayers(network); });
}

std::function<void()> FileOffers::taking(const QString& path, std::function<void()> take) {
    return [this, path, take = std::move(take), config = m_models.config.config()] {
        if (m_models.config.isStill(config)) // else others may fit now
            take();
        else
            emit outdated(path);
    };
}

std::function<void()> FileOffers::taking(const OpenedFile& weights, WeightsTaken taken) {
    return taking(weights.path, [this, weights, taken] { emit weightsAccepted(weights, taken); });
}

} // namespace halfscope
