// Undo and redo of settings. Watches the ConfigModel: every change of the edited experiment can be
// undone, and changes of one setting in quick succession count as one. What was trained is not
// undone.
#pragma once

#include "ui/models/config_model.h"

#include <QElapsedTimer>
#include <QUndoStack>

namespace halfscope {

class EditHistory : public QObject {
    Q_OBJECT
public:
    explicit EditHistory(ConfigModel&, QObject* parent = nullptr);

    /// For the actions of a menu.
    QUndoStack& stack() { return m_stack; }

    /// Changes that `action` makes are no steps to go back: the program's, not the user's.
    template <class Action>
    void without(Action action) {
        m_silent = true;
        action();
        m_silent = false;
    }

    /// How long after a change of a setting another one still belongs to it.
    static constexpr qint64 kTogetherMs = 1000;

private:
    void record();

    ConfigModel& m_model;
    QUndoStack m_stack;
    ConfigModel::Edits m_known; ///< as the model was when it was last looked at
    QElapsedTimer m_sinceEdit;
    bool m_silent = false;
};

} // namespace halfscope
