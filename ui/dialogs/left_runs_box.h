// Asks what to do with the runs of a window that ended without being closed, or whose user kept
// them for the next time. It comes up by itself, so keys that were meant for the window must not
// answer it.
#pragma once

#include <QElapsedTimer>
#include <QMessageBox>

namespace halfscope {

class LeftRunsBox : public QMessageBox {
    Q_OBJECT
public:
    /// Why there are runs to be restored.
    enum class Why {
        Crashed,
        Kept,
        ToldToEnd, ///< by a logout or a signal
        Various,   ///< of several sessions
    };

    /// `runs` has a line for each run; the first few are shown. `begun` tells when the session of
    /// all runs was begun, "begun today at 13:43"; empty when there are several sessions. Open,
    /// which Enter chooses, restores them; Discard deletes them; Cancel, which Esc chooses, leaves
    /// them for the next start.
    LeftRunsBox(const QStringList& runs, Why, QWidget* parent, const QString& begun = {});

    /// How long the box ignores keys after it appears: its user has not read it yet.
    static constexpr int kUnreadMs = 800;

protected:
    void showEvent(QShowEvent*) override;
    void keyPressEvent(QKeyEvent*) override;
    bool eventFilter(QObject*, QEvent*) override;

private:
    QElapsedTimer m_shown;
};

} // namespace halfscope
