// The settings come first, as they do in the window; then the box of the last step, which stands
// above them.
#include "ui/window/start_check.h"

#include "engine/settings/fields.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/stop_box.h"
#include "ui/panels/transport_bar.h"
#include "ui/window/window_borders.h"

namespace halfscope {

bool StartCheck::passes() const {
    m_models.config.settle();
    const QString wrong = problem();
    if (wrong.isEmpty()) return true;
    // once it is corrected, a later one is told at the next start
    m_parts.banner->showProblem(wrong, [this, corrected = false]() mutable {
        const QString now = corrected ? QString() : problem();
        corrected = now.isEmpty();
        return now;
    });
    if (const int row = m_models.config.refusedRow(); row < 0)
        m_parts.transport->stopAt()->setFocus();
    else if (m_parts.setup->isVisible())
        m_parts.setup->goToRow(row);
    return false;
}

void StartCheck::goOnInSettings() const {
    m_parts.banner->lookAgain();
    const int row = m_models.config.refusedRow();
    if (row < 0 || m_parts.banner->isHidden() || m_parts.banner->text() != problem()) return;
    if (m_parts.setup->isVisible()) m_parts.setup->goToRow(row);
}

/// Returns why nothing can begin, and on a second line what is allowed; empty when something can.
QString StartCheck::problem() const {
    const ConfigModel& config = m_models.config;
    const int row = config.refusedRow();
    const QString stop = m_parts.transport->stopAt()->refusal();
    if (row < 0 && stop.isEmpty()) return {};
    const QString name = row < 0 ? translated(findField("run.steps")->label) : config.refusedName();
    const QString allowed =
        row < 0 ? stop : config.index(row).data(ConfigModel::ErrorRole).toString();
    const QString said = tr("Nothing was started, because %1 has a value that is not allowed.");
    const QString way = m_parts.borders->presents() ? tr("%1 F5 leads back to its box.")
                                                    : tr("%1 Esc in its box brings back the last "
                                                         "allowed one.");
    const bool hidden = row >= 0 && !m_parts.setup->isVisible() && !m_parts.borders->presents();
    const QString whole = way.arg(said.arg(name));
    return (hidden ? tr("%1 F9 shows the settings.").arg(whole) : whole) + u'\n' + allowed;
}

} // namespace halfscope
