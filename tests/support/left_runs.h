// The sessions that windows leave behind, and the question that the next window asks about them.
#pragma once

#include "engine/runs/session_lock.h"
#include "tests/support/opened_window.h"

#include <QMessageBox>

#include <string>
#include <vector>

namespace halfscope {

inline std::vector<std::string> namesIn(const QTemporaryDir& sessions) {
    return sessionsIn(keeping(sessions).sessions.toStdString());
}

/// Returns the question; null when the window does not ask in that time.
inline QMessageBox* offer(MainWindow& window, int wait = kPatience) {
    QMessageBox* box = nullptr;
    (void)QTest::qWaitFor(
        [&] {
            box = window.findChild<QMessageBox*>(QStringLiteral("leftRuns"));
            return box && box->isVisible();
        },
        wait);
    return box;
}

} // namespace halfscope
