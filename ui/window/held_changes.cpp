// A change that was undone has the value that the run ended with: it waits for nothing.
#include "ui/window/held_changes.h"

#include "ui/look/theme.h"
#include "ui/models/run_facts.h"

#include <QStringList>

#include <optional>
#include <utility>
#include <variant>

namespace halfscope {

bool HeldChanges::changesScale(int lane, double next) const {
    const RunModel& run = m_models.run;
    return lane >= run.lanes() || next != static_cast<double>(run.lane(lane).scale());
}

double HeldChanges::scale(int lane) const {
    const auto held = m_held.find({lane, kLiveScale});
    return held == m_held.end() ? 0 : std::get<double>(held->second);
}

std::vector<HeldEdits> HeldChanges::byLane() const {
    const ConfigModel& config = m_models.config;
    std::vector<HeldEdits> held;
    for (int lane = 0; lane < m_models.run.lanes(); ++lane) {
        const std::optional<int> edited = config.editedLane(lane);
        const bool atLeast =
            edited ? !growsExactly(config.config(), *edited) : m_held.contains({lane, kGrowthTest});
        held.push_back({scale(lane), atLeast});
    }
    return held;
}

QString HeldChanges::words() const {
    QStringList lines;
    for (int lane = 0; !m_held.empty() && lane < m_models.run.lanes(); ++lane)
        if (const double next = scale(lane); next > 0 && changesScale(lane, next))
            lines << tr("The run has ended, so the loss scale of lane %1 changes to %2 only when "
                        "you press Continue. To train with another one from the start, set First "
                        "scale of the lane and restart.")
                         .arg(laneLetter(lane), scaleText(next));
    return lines.join(u'\n');
}

void HeldChanges::release(const Run* goesOn, const Edit& edit) {
    const auto held = std::exchange(m_held, {});
    const bool shown = m_models.run.run().get() == goesOn;
    for (const auto& [at, value] : held) {
        const auto& [lane, key] = at;
        const bool undone = key == kLiveScale && shown && lane < m_models.run.lanes() &&
                            !changesScale(lane, std::get<double>(value));
        if (!undone) edit(lane, key, value);
    }
}

} // namespace halfscope
