// A window that is shown to an audience, for tests: what it trains, and the figures that it shows.
#pragma once

#include "tests/support/opened_window.h"
#include "tests/support/shown_window.h"
#include "ui/panels/figure_strip.h"

#include <QLabel>
#include <QScreen>
#include <QTest>
#include <QTextDocument>

namespace halfscope {

inline QString figuresOf(const MainWindow& window) {
    QTextDocument text;
    text.setHtml(window.findChild<QLabel*>(QStringLiteral("largeFigures"))->text());
    return text.toPlainText().replace(QChar::Nbsp, u' ');
}

inline RunConfig overflowing(int lanes) {
    RunConfig config = presetNamed("overflow").config;
    while (static_cast<int>(config.lanes.size()) < lanes)
        config.lanes.push_back(config.lanes.back());
    return config;
}

inline void trainTo(MainWindow& window, int64_t step) {
    QVERIFY(reaches(window, SessionState::Ready));
    window.shown().setPace(0);
    window.setStopStep(step);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), step, kPatience);
}

inline void present(MainWindow& window) {
    QVERIFY(test::isActive(&window));
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_VERIFY(window.findChild<FigureStrip*>()->isVisible());
    QTRY_COMPARE(window.size(), window.screen()->size());
}

} // namespace halfscope
