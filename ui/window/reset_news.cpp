// A reset trains all lanes with the settings on the left, which name neither a lane's origin nor a
// loss scale that was set while it trained.
#include "ui/window/reset_news.h"

#include "ui/look/theme.h"

#include <QLocale>

namespace halfscope {

ResetNews::ResetNews(const RunModels& models, const Run& replaced) {
    if (!models.config.running()) return; // another experiment was loaded since
    addForks(models.config, replaced);
    if (models.history.hasScales())
        m_sentences << tr("The loss scale that was set while it trained is gone; the settings stay "
                          "as they are.");
}

void ResetNews::addForks(const ConfigModel& config, const Run& replaced) {
    QStringList forks;
    QString parent;
    const auto lanes = replaced.now().lanes();
    for (int lane = 0; lane < static_cast<int>(lanes.size()); ++lane) {
        const int from = lanes[static_cast<size_t>(lane)].parent;
        const std::optional<int> edited = config.editedLane(lane);
        if (from < 0 || !edited) continue; // one that was removed starts no more
        forks << laneLetter(*edited);
        parent = laneLetter(config.editedLane(from).value_or(from));
    }
    if (forks.size() == 1)
        m_sentences << tr("%1 starts from step 0 now; it no longer continues %2.")
                           .arg(forks.front(), parent);
    else if (!forks.isEmpty())
        m_sentences << tr("%1 start from step 0 now; they no longer continue other lanes.")
                           .arg(forks.join(QStringLiteral(", ")));
}

void ResetNews::stopsAgainAt(int64_t step) {
    m_sentences << tr("Stop after is %1 again, as before Continue.")
                       .arg(QLocale().toString(static_cast<qlonglong>(step)));
}

} // namespace halfscope
