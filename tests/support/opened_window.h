// A window on a small real experiment, for the tests of the whole window.
#pragma once

#include "tests/fake_cuda/fake_run.h"
#include "tests/support/shown_window.h"
#include "ui/window/main_window.h"

#include <QAction>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

namespace halfscope {

inline constexpr int kPatience = 60000; // ms; enough for sanitizers and slow machines

inline bool reaches(MainWindow& window, SessionState state) {
    return QTest::qWaitFor([&] { return window.controller().state() == state; }, kPatience);
}

/// Gives the window the keyboard, as a window manager does when a dialog closes: one that saving
/// shows when it is slow has taken it, or takes it away with its next event.
inline bool takesKeys(MainWindow& window) {
    QCoreApplication::processEvents();
    window.activateWindow();
    return test::isActive(&window);
}

/// Trains to a step by single steps.
inline bool stepsTo(MainWindow& window, int64_t step) {
    while (window.run().step() < step) {
        const int64_t before = window.run().step();
        window.stepOnce();
        if (!QTest::qWaitFor([&] { return window.run().step() > before; }, kPatience)) return false;
    }
    return reaches(window, SessionState::Paused) || reaches(window, SessionState::Finished);
}

/// Trains to the end, which is at least at this step.
inline bool trainsTo(MainWindow& window, int64_t step) {
    window.play();
    return QTest::qWaitFor([&] { return window.run().step() >= step && !window.showsSaved(); },
                           kPatience) &&
           reaches(window, SessionState::Finished);
}

/// Returns what a menu does for a key; null when none has it.
inline QAction* actionFor(const MainWindow& window, QKeySequence::StandardKey key) {
    for (QAction* action : window.findChildren<QAction*>())
        if (action->shortcut() == QKeySequence(key)) return action;
    return nullptr;
}

inline QString write(const QTemporaryDir& folder, const QString& name, const std::string& text) {
    QFile file(folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(text.data(), static_cast<qint64>(text.size()));
    return file.fileName();
}

/// Returns the gradient counts of the run that is shown, by lane.
inline std::vector<GradientHistory> gradientsOf(MainWindow& window) {
    std::vector<GradientHistory> all;
    const RunSnapshot& run = window.shown().run()->now();
    for (int lane = 0; lane < run.laneCount(); ++lane)
        all.push_back(run.gradients(lane));
    return all;
}

/// Returns the options of a window whose trainings are replaced by the script.
inline WindowOptions played(FakeScript& script) {
    WindowOptions options;
    options.factory = fakeFactory(script);
    return options;
}

/// Returns the options of a window that keeps its session below a folder.
inline WindowOptions keeping(const QTemporaryDir& folder) {
    WindowOptions options;
    options.sessions = folder.filePath(QStringLiteral("sessions"));
    return options;
}

/// A window on a small real experiment, ready to train.
struct Opened {
    QTemporaryDir folder;
    MainWindow window;
    explicit Opened(const RunConfig& config, WindowOptions options = {})
        : window(std::move(options)) {
        window.openExperiment(write(folder, QStringLiteral("small.json"), configText(config)));
        window.show();
    }
};

} // namespace halfscope
