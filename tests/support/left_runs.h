// The sessions that windows leave behind, and the question that the next window asks about them.
#pragma once

#include "engine/runs/session_lock.h"
#include "tests/support/opened_window.h"
#include "ui/models/run_list_model.h"
#include "ui/window/zoom.h"

#include <QAbstractButton>
#include <QMessageBox>

#include <cstdint>
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

/// A window that trains to its end and disappears without being closed, as after a crash.
inline int64_t leave(const QTemporaryDir& sessions, int64_t steps) {
    Opened opened(tinyConfig(steps), keeping(sessions));
    opened.window.play();
    if (!reaches(opened.window, SessionState::Finished)) return 0;
    const bool listed =
        QTest::qWaitFor([&] { return opened.window.shown().run()->step() == steps; }, kPatience) &&
        opened.window.runs().rowCount() == 1;
    opened.window.keepSession();
    return listed ? opened.window.shown().run()->step() : 0;
}

/// Whether the window asked and was answered.
inline bool answers(MainWindow& window, QMessageBox::StandardButton button) {
    const QMessageBox* box = offer(window, kPatience);
    if (box) QTest::mouseClick(box->button(button), Qt::LeftButton);
    return box != nullptr;
}

/// Whether the choice of another size offers a restart, which is accepted.
inline bool choosesSize(MainWindow& window) {
    for (QAction* action : window.findChildren<QAction*>())
        if (action->text() == QLatin1String("150 %")) action->trigger();
    auto* box = window.findChild<QMessageBox*>(QStringLiteral("restart"));
    if (!box || window.startsAgain()) return false;
    QTest::mouseClick(box->button(QMessageBox::Yes), Qt::LeftButton);
    return true;
}

} // namespace halfscope
