// The application object: an exception from an event handler ends neither the event loop nor the
// program.
#pragma once

#include <QApplication>

#include <exception>
#include <utility>

namespace halfscope {

class GuardedApplication : public QApplication {
    Q_OBJECT
public:
    using QApplication::QApplication;

    bool notify(QObject*, QEvent*) override;
    /// Takes what a handler on the window's thread threw last; null when nothing was thrown since
    /// the last call.
    std::exception_ptr takeFailure() { return std::exchange(m_failure, nullptr); }

private:
    std::exception_ptr m_failure;
};

} // namespace halfscope
