// Asks before the window closes, when closing would lose much training.
#pragma once

#include <QCoreApplication>

class QWidget;

namespace halfscope {

class ShownRun;
class WindowFiles;

class CloseGuard {
    Q_DECLARE_TR_FUNCTIONS(CloseGuard)
public:
    /// Asks only about an unsaved run that has trained for at least `askAfterSeconds`.
    CloseGuard(ShownRun&, WindowFiles&, QWidget& window, double askAfterSeconds);

    /// Asks when a run would be lost; returns false when the window must stay open.
    bool mayClose();

private:
    ShownRun& m_shown;
    WindowFiles& m_files;
    QWidget& m_window;
    double m_askAfterSeconds;
};

} // namespace halfscope
