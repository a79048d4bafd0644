// Undo and redo of settings and of loss scales that were set. Watches the ConfigModel: every change
// of the edited experiment can be undone, and changes of one setting in quick succession count as
// one. Training is not undone, and neither is the pace at which it is watched.
#pragma once

#include "ui/models/config_model.h"

#include <QElapsedTimer>
#include <QUndoStack>

#include <functional>
#include <utility>
#include <vector>

namespace halfscope {

/// An edit as it can be undone.
struct EditStep {
    ConfigModel::Edits before, after;
    QString text; ///< names it
};

/// What was edited, for another window: the settings as they are, and the steps that can be undone,
/// the oldest first.
struct KeptEdits {
    ConfigModel::Edits now;
    std::vector<EditStep> steps;
};

class EditHistory : public QObject {
    Q_OBJECT
public:
    explicit EditHistory(ConfigModel&, QObject* parent = nullptr);

    /// Returns the stack, from which menus make their actions.
    QUndoStack& stack() { return m_stack; }

    /// Runs `action` without recording the changes that it makes: they are the program's, not the
    /// user's.
    template <class Action>
    void without(Action action) {
        m_silent = true;
        action();
        m_silent = false;
    }

    /// Runs `action` and records all the changes that it makes as one edit; `text` names it.
    template <class Action>
    void asOne(const QString& text, Action action) {
        ConfigModel::Edits before = m_model.edits();
        without(action);
        if (!m_model.isStill(before.config)) push(std::move(before), m_model.edits(), text, {});
    }

    using SetScale = std::function<void(double)>;
    /// Sets the loss scale of a lane of the run, so that it can be undone until another run is
    /// built. Does nothing where the lane has this scale.
    void setScale(int lane, float before, float after, const SetScale&);

    /// Whether a loss scale was set, and not undone, since the run was built.
    bool hasScales() const;

    /// Returns the edits of this window so far, without loss scales: they belong to its run.
    KeptEdits kept() const;
    /// Edits the settings as in an earlier window: each of its edits can be undone. The model has
    /// the run of that window, or the experiment that it opened.
    void takeOver(const KeptEdits&);

    /// The time, in ms, within which another change of the same setting counts as one edit with it.
    static constexpr qint64 kTogetherMs = 1000;

private:
    void record();
    /// Takes the loss scales that were set off the stack: they are none of the next run's.
    void forgetScales();
    /// `setting` is as in the command's constructor.
    void push(ConfigModel::Edits before, ConfigModel::Edits after, const QString& text,
              const QString& setting);

    ConfigModel& m_model;
    QUndoStack m_stack;
    ConfigModel::Edits m_known; ///< the model's state when it was last looked at
    QElapsedTimer m_sinceEdit;
    bool m_silent = false;
    bool m_restacking = false; ///< commands are undone for their place alone
};

} // namespace halfscope
