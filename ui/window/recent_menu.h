// The menu of the experiments and runs that were opened or saved last.
#pragma once

#include <QMenu>
#include <QStringList>

namespace halfscope {

class RecentFiles;

class RecentMenu : public QMenu {
    Q_OBJECT
public:
    /// The menu is filled each time it opens.
    RecentMenu(RecentFiles&, const QString& title, QWidget* parent);

signals:
    void chosen(const QString& path);

private:
    void fill();
    void addPath(int place, const QString& path, bool there);

    RecentFiles& m_files;
};

} // namespace halfscope
