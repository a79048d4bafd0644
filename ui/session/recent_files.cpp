// Reads the list before each change, because another window may have added to it.
#include "ui/session/recent_files.h"

#include "ui/session/user_settings.h"

#include <QDir>
#include <QFileInfo>

#include <utility>

namespace halfscope {
namespace {
QString key() { return QStringLiteral("files/recent"); }
} // namespace

RecentFiles::RecentFiles(bool remembers, QString own)
    : m_remembers(remembers), m_own(std::move(own)) {}

void RecentFiles::add(const QString& path) {
    const QString whole = QDir::cleanPath(QFileInfo(path).absoluteFilePath());
    if (!m_own.isEmpty() && whole.startsWith(QDir::cleanPath(m_own) + u'/')) return;
    QStringList now = paths();
    now.removeAll(whole);
    now.prepend(whole);
    keep(now.mid(0, kMost));
}

QStringList RecentFiles::paths() const {
    if (!m_remembers) return m_paths;
    return userSettings().value(key()).toStringList().mid(0, kMost);
}

void RecentFiles::keep(const QStringList& paths) {
    if (!m_remembers)
        m_paths = paths;
    else if (!missedUserSettings()) // else the list on the disk, which nobody has read, would go
        keepUserSettings({{key(), paths}});
}

} // namespace halfscope
