// A small button that names a lane and opens a menu to choose another one.
#pragma once

#include <QStringList>
#include <QToolButton>

class QMenu;

namespace halfscope {

class LaneButton : public QToolButton {
    Q_OBJECT
public:
    explicit LaneButton(QWidget* parent = nullptr);

    /// Sets the labels of all lanes, and the chosen lane.
    void setLanes(const QStringList& labels, int chosen);

signals:
    void laneChosen(int lane);

private:
    QMenu* m_menu = nullptr; ///< child
};

} // namespace halfscope
