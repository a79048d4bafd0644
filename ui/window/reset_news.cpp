// A reset trains all lanes with the settings on the left, which name neither a lane's origin nor a
// loss scale that was set while it trained.
#include "ui/window/reset_news.h"

#include "engine/settings/fields.h"
#include "ui/look/theme.h"
#include "ui/models/run_model.h"

#include <QLocale>

#include <algorithm>
#include <optional>

namespace halfscope {

ResetNews::ResetNews(const RunModels& models, const Run& replaced,
                     std::span<const LiveEdit> begunWith) {
    if (!models.config.running()) return; // another experiment was loaded since
    addForks(models.config, replaced);
    // of the edits since then, the history knows which were undone
    const auto setsScale = [](const LiveEdit& edit) { return edit.key == kLiveScale; };
    if (models.history.hasScales() || std::any_of(begunWith.begin(), begunWith.end(), setsScale))
        m_sentences << tr("Loss scales that were set by hand are gone; the settings stay as they "
                          "are.");
}

void ResetNews::addForks(const ConfigModel& config, const Run& replaced) {
    QStringList forks;
    std::optional<int> parent;
    const auto lanes = replaced.now().lanes();
    for (int lane = 0; lane < static_cast<int>(lanes.size()); ++lane) {
        const int from = lanes[static_cast<size_t>(lane)].parent;
        const std::optional<int> edited = config.editedLane(lane);
        if (from < 0 || !edited) continue; // one that was removed starts no more
        forks << laneLetter(*edited);
        parent = config.editedLane(from);
    }
    if (forks.size() == 1 && !parent) // its parent was removed: its letter is another lane's
        m_sentences << tr("%1 starts from step 0 now.").arg(forks.front());
    else if (forks.size() == 1)
        m_sentences << tr("%1 starts from step 0 now; it no longer continues %2.")
                           .arg(forks.front(), laneLetter(*parent));
    else if (!forks.isEmpty())
        m_sentences << tr("%1 start from step 0 now; they no longer continue other lanes.")
                           .arg(listedTags(forks));
}

void ResetNews::stopsAgainAt(const ConfigModel& config) {
    if (!config.stepsUnknown().isEmpty()) {
        const QString epochs = QLocale().toString(static_cast<qlonglong>(config.config().epochs));
        m_sentences
            << (config.config().epochs == 1
                    ? tr("The run ends after 1 epoch again, as before you pressed Continue.")
                    : tr("The run ends after %1 epochs again, as before you pressed Continue.")
                          .arg(epochs));
        return;
    }
    const int64_t step = config.steps();
    const QString count = QLocale().toString(static_cast<qlonglong>(step));
    m_sentences
        << (step == 1
                ? tr("“Stop after” is 1 step again, as before you pressed Continue.")
                : tr("“Stop after” is %1 steps again, as before you pressed Continue.").arg(count));
}

} // namespace halfscope
