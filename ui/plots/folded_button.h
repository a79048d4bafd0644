// A small button that tells how many plots there is no room for, and opens a menu to choose the one
// that gets room.
#pragma once

#include <QStringList>
#include <QToolButton>

class QMenu;

namespace halfscope {

class FoldedButton : public QToolButton {
    Q_OBJECT
public:
    explicit FoldedButton(QWidget* parent = nullptr);

    /// Sets the titles of the folded plots; none hides the button. `brief` leaves out words where
    /// there is little room.
    void setPlots(const QStringList& titles, bool brief);

signals:
    void plotChosen(const QString& title);

private:
    QMenu* m_menu = nullptr; ///< child
    QStringList m_titles;
};

} // namespace halfscope
