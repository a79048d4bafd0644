// Answers the desktop within about a second, whatever the training does.
#include "ui/window/desktop_session.h"

#include "ui/window/main_window.h"

#include <QEvent>
#include <QGuiApplication>

#include <utility>

namespace halfscope {

DesktopSession::DesktopSession(QGuiApplication& application, MainWindow& window,
                               std::function<void(const Message&)> kept)
    : m_application(application), m_window(window), m_kept(std::move(kept)) {
    // direct, because the desktop takes the return for the answer
    connect(
        &application, &QGuiApplication::commitDataRequest, this,
        [this] { m_kept(m_window.keepAndGoOn()); }, Qt::DirectConnection);
    application.installEventFilter(this);
}

bool DesktopSession::eventFilter(QObject* object, QEvent* event) {
    if (object == &m_application && event->type() == QEvent::Quit && m_window.isVisible())
        m_kept(m_window.endSession());
    return QObject::eventFilter(object, event);
}

} // namespace halfscope
