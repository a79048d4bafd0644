// Writes paths as users do, and greys those that are gone.
#include "ui/window/recent_menu.h"

#include "engine/core/error.h"
#include "ui/models/safe_text.h"
#include "ui/session/file_job.h"
#include "ui/session/recent_files.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>
#include <chrono>
#include <memory>

namespace halfscope {
namespace {

/// Returns those of the paths at which nothing is. When a disk does not answer at once, it is not
/// waited for: what is there is then not known, and nothing is said to be gone.
QStringList goneOf(const QStringList& paths) {
    constexpr std::chrono::milliseconds kAtOnce{50};
    const auto gone = std::make_shared<QStringList>();
    try {
        const FileJob job(
            [paths, gone] {
                for (const QString& path : paths)
                    if (!QFileInfo::exists(path)) *gone << path;
            },
            FileJob::Leaving::Abandons);
        return job.isDone(kAtOnce) ? *gone : QStringList();
    } catch (const RunError&) {
        return {}; // the system has no thread to give
    }
}

/// Returns a path on one line, with ~ for the user's own folder.
QString shortPath(const QString& path) {
    const QString home = QDir::homePath() + u'/';
    const bool own = path.startsWith(home);
    return safeText((own ? QStringLiteral("~/") + path.mid(home.size()) : path).toStdString());
}

} // namespace

RecentMenu::RecentMenu(RecentFiles& files, const QString& title, QWidget* parent)
    : QMenu(title, parent), m_files(files) {
    setToolTipsVisible(true);
    connect(this, &QMenu::aboutToShow, this, &RecentMenu::fill);
}

void RecentMenu::fill() {
    clear();
    const QStringList paths = m_files.paths();
    const QStringList gone = goneOf(paths);
    for (int place = 0; place < paths.size(); ++place)
        addPath(place, paths[place], !gone.contains(paths[place]));
    if (paths.isEmpty()) addAction(tr("Nothing was opened or saved yet"))->setEnabled(false);
    addSeparator();
    QAction* clears = addAction(tr("&Clear list"), this, [this] { m_files.clear(); });
    clears->setEnabled(!paths.isEmpty());
}

/// Gives the entry its place as its key; the tenth has 0.
void RecentMenu::addPath(int place, const QString& path, bool there) {
    constexpr int kMostWidth = 60; // letters of a usual width
    const int room = kMostWidth * fontMetrics().averageCharWidth();
    QString text = fontMetrics().elidedText(shortPath(path), Qt::ElideMiddle, room);
    text.replace(u'&', QLatin1String("&&"));
    if (!there) text = tr("%1 (not found)").arg(text);
    const QString number =
        place < 9 ? QStringLiteral("&%1 ").arg(place + 1) : QStringLiteral("1&0 ");
    QAction* action = addAction(number + text, this, [this, path] { emit chosen(path); });
    action->setToolTip(safeText(path.toStdString()));
    action->setEnabled(there);
}

} // namespace halfscope
