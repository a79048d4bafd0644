// The end of the desktop's session: everything is on disk before it, and the window asks nothing.
#pragma once

#include "engine/core/message.h"

#include <QObject>

#include <functional>

class QGuiApplication;

namespace halfscope {

class MainWindow;

/// A desktop first asks its programs to save. The user may still stay, or the desktop only wanted
/// all to be saved, so the window goes on after that. What ends it is the event Quit: while a
/// window is open only the desktop sends one, because nothing here calls QCoreApplication::quit().
class DesktopSession : public QObject {
    Q_OBJECT
public:
    /// `kept` gets what MainWindow::keepAndGoOn() and endSession() return.
    DesktopSession(QGuiApplication&, MainWindow&, std::function<void(const Message&)> kept);

protected:
    bool eventFilter(QObject*, QEvent*) override;

private:
    QGuiApplication& m_application;
    MainWindow& m_window;
    std::function<void(const Message&)> m_kept;
};

} // namespace halfscope
