// The note below the settings: which changes wait and for what, or why nothing can begin with them,
// with the buttons that let them take effect. Reads the ConfigModel; its panel refreshes it.
#pragma once

#include "ui/models/config_model.h"

#include <QFrame>

class QLabel;
class QMenu;
class QPushButton;

namespace halfscope {

class RestartNote : public QFrame {
    Q_OBJECT
public:
    explicit RestartNote(ConfigModel&, QWidget* parent = nullptr);

    /// Reads what waits; hides where nothing does.
    void refresh();
    void applyColors();
    /// Returns the last lane that can continue from another one; -1 where there is none.
    int newestLane() const;
    /// Returns the menu of the lanes that it may continue, which is filled as it opens.
    QMenu* parents() const { return m_parents; }
    /// Says what it means that a lane continues another one.
    static QString forkTip();

signals:
    void restartRequested();

private:
    QString text(ConfigModel::Waiting) const;
    QString waitingText() const;
    QString heldText() const;
    QString obstacle(bool forks) const;

    ConfigModel& m_model;
    QLabel* m_text = nullptr;         ///< child
    QPushButton* m_restart = nullptr; ///< child
    QPushButton* m_fork = nullptr;    ///< child: lets newestLane() continue
    QMenu* m_parents = nullptr;       ///< child of m_fork
};

} // namespace halfscope
