// Asks before the window closes, if that would lose much.
#pragma once

#include <QCoreApplication>

class QWidget;

namespace halfscope {

class ShownRun;
class WindowFiles;

class CloseGuard {
    Q_DECLARE_TR_FUNCTIONS(CloseGuard)
public:
    /// `askAfterSeconds`: runs that trained as long and are not saved are missed.
    CloseGuard(ShownRun&, WindowFiles&, QWidget& window, double askAfterSeconds);

    /// Asks where a run would be lost; false: stay.
    bool mayClose();

private:
    ShownRun& m_shown;
    WindowFiles& m_files;
    QWidget& m_window;
    double m_askAfterSeconds;
};

} // namespace halfscope
