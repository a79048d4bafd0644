// Leaves the settings alone: they may be meant for these data, too.
#include "ui/window/data_offer.h"

#include "ui/models/safe_text.h"
#include "ui/panels/banner.h"
#include "ui/panels/setup_panel.h"

namespace halfscope {

DataOffer::DataOffer(RunModels& models, const WindowParts& parts)
    : m_models(models), m_parts(parts) {
    connect(parts.setup, &SetupPanel::dataChosen, this, &DataOffer::offer);
}

void DataOffer::offer(const QString& path) {
    const QString text = tr("The other settings stay as they were. Open chooses loss, network and "
                            "the like for %1, as File > Open does.")
                             .arg(safeText(path.toStdString()));
    const auto now = [this, text, chosen = path.toStdString()] {
        const TaskConfig& task = m_models.config.config().task;
        return task.path == chosen || task.x == chosen ? text : QString();
    };
    if (!m_parts.banner->showNotice(text, now)) return;
    m_parts.banner->offer(tr("Open"), tr("Makes a new experiment of these data"),
                          [this, path] { emit accepted(path); });
}

void DataOffer::offerClasses(const PictureClasses& around) {
    const QString path = QString::fromStdString(around.folder);
    const QString text =
        tr("The networks paint this picture. It belongs to one of %n classes in the folder %1.",
           nullptr, static_cast<int>(around.classes))
            .arg(safeText(around.folder));
    if (!m_parts.banner->showNotice(text)) return;
    m_parts.banner->offer(tr("Open the folder"),
                          tr("Opens a new experiment that learns to tell these classes apart"),
                          [this, path] { emit accepted(path); });
}

} // namespace halfscope
