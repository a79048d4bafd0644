// Waits until a window is on the screen or has the keyboard. Qt's own functions give up after five
// seconds, which a machine that does ten other things can take.
#pragma once

#include <QTest>
#include <QWidget>

namespace halfscope::test {

/// Milliseconds. Only a test that fails waits to the end.
constexpr int kShowsWithin = 120'000;

inline bool isExposed(QWidget* window) {
    return QTest::qWaitForWindowExposed(window, kShowsWithin);
}

/// Where windows cannot be active, it waits until the window is shown, as Qt's function does.
inline bool isActive(QWidget* window) { return QTest::qWaitForWindowActive(window, kShowsWithin); }

} // namespace halfscope::test
