// F6 and Shift+F6 give the keyboard to the next or the previous part of the window: Tab goes
// through every control of a part before it reaches the next one. Esc closes the banner, and where
// something has come that is to be played, Play gets the keyboard.
#pragma once

#include "ui/window/window_parts.h"

#include <QList>
#include <QObject>

class QMainWindow;
class QWidget;

namespace halfscope {

class PaneKeys : public QObject {
    Q_OBJECT
public:
    PaneKeys(const WindowParts&, QMainWindow&);
    /// Takes the keyboard from the control that has it, which may answer Space itself: Space plays
    /// what was opened. A file that was long in coming leaves a control that takes text as it is:
    /// what is typed next must not go elsewhere, and in a number Space plays anyway.
    void leadToPlay();

protected:
    bool eventFilter(QObject*, QEvent*) override;

private:
    void go(int by);
    QList<QWidget*> panes() const; ///< from left to right, a lesson first; the banner where it is

    WindowParts m_parts;
    QMainWindow& m_window;
};

} // namespace halfscope
