// The plots of two lanes, shown with their layout done. Base of the tests of what is drawn in them
// and of what the user does with them.
#pragma once

#include "tests/support/plot_parts.h"
#include "tests/support/shown_window.h"

#include <QApplication>
#include <QtTest>

#include <cmath>
#include <memory>

namespace halfscope {

class ShownPlots {
protected:
    void makeStack() {
        m_stack = std::make_unique<FedPlots>();
        m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")});
    }

    void show(int width = 700, int height = 420) {
        m_stack->resize(width, height);
        m_stack->show();
        QVERIFY(test::isExposed(m_stack.get()));
        QTRY_COMPARE(m_stack->size(), QSize(width, height));
        QCoreApplication::processEvents();
        draw();
    }

    void draw() {
        m_stack->refresh();
        plotOf(*m_stack).replot(QCustomPlot::rpImmediateRefresh);
    }

    /// Returns the place of a step in the QCustomPlot, in the middle of a graph's plot.
    QPoint at(double step, const QString& graph) const {
        const QCPGraph* g = graphNamed(*m_stack, graph);
        return {static_cast<int>(std::lround(g->keyAxis()->coordToPixel(step))),
                g->keyAxis()->axisRect()->center().y()};
    }

    /// Moves the pointer out of the plots.
    void leave() {
        QEvent event(QEvent::Leave);
        QApplication::sendEvent(&plotOf(*m_stack), &event);
    }

    std::unique_ptr<FedPlots> m_stack;
};

} // namespace halfscope
