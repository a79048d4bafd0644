// Catches around each event: nothing of Qt is half done there.
#include "ui/window/guarded_application.h"

#include <QThread>

namespace halfscope {

bool GuardedApplication::notify(QObject* receiver, QEvent* event) {
    try {
        return QApplication::notify(receiver, event);
    } catch (const std::exception&) {
        if (QThread::currentThread() == thread()) m_failure = std::current_exception();
        return false;
    }
}

} // namespace halfscope
