// The experiments and runs that were opened or saved last, in the user's settings: all windows of
// the user share the list. Qt Core only; no disk is asked whether they are still there.
#pragma once

#include <QStringList>

namespace halfscope {

class RecentFiles {
public:
    static constexpr int kMost = 10;

    /// `remembers`: the list is read from and written to the user's settings; otherwise it is
    /// empty at first and ends with this object. Files in the folder `own` are the program's and
    /// are not listed; empty: there is no such folder.
    explicit RecentFiles(bool remembers, QString own = {});

    /// Puts a file or a folder first.
    void add(const QString& path);
    void clear() { keep({}); }
    /// Returns absolute paths, the newest first.
    QStringList paths() const;

private:
    void keep(const QStringList&);

    bool m_remembers;
    QString m_own;
    QStringList m_paths; ///< of this object; empty when the settings have them
};

} // namespace halfscope
