// The crosshair's items lie in a layer of their own.
#include "ui/plots/crosshair.h"

#include "ui/look/owned.h"
#include "ui/look/theme.h"

#include <qcustomplot.h>

#include <QLocale>

#include <algorithm>

namespace halfscope {

Crosshair::Crosshair(QCustomPlot& plot, QCPAxisRect& tagRect) : m_plot(plot) {
    plot.addLayer(QStringLiteral("crosshair"), nullptr, QCustomPlot::limAbove);
    m_layer = plot.layer(QStringLiteral("crosshair"));
    m_layer->setMode(QCPLayer::lmBuffered);
    m_tag = make<QCPItemText>(&plot);
    m_tag->setClipToAxisRect(false);
    m_tag->position->setAxisRect(&tagRect);
    m_tag->position->setAxes(tagRect.axis(QCPAxis::atBottom), tagRect.axis(QCPAxis::atLeft));
    m_tag->position->setTypeX(QCPItemPosition::ptPlotCoords);
    m_tag->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    m_tag->setPositionAlignment(Qt::AlignTop | Qt::AlignHCenter);
    m_tag->setPadding(QMargins(5, 1, 5, 1));
    m_tag->setLayer(m_layer);
    m_tag->setVisible(false);
}

void Crosshair::addTo(QCPAxisRect& rect) {
    auto* line = make<QCPItemStraightLine>(&m_plot);
    line->setClipAxisRect(&rect);
    for (QCPItemPosition* position : line->positions()) {
        position->setAxisRect(&rect);
        position->setTypeX(QCPItemPosition::ptPlotCoords);
        position->setTypeY(QCPItemPosition::ptAxisRectRatio);
        position->setAxes(rect.axis(QCPAxis::atBottom), rect.axis(QCPAxis::atLeft));
    }
    line->setLayer(m_layer);
    m_lines.push_back({&rect, line});
    place();
}

void Crosshair::removeFrom(const QCPAxisRect& rect) {
    std::erase_if(m_lines, [&](const Line& line) {
        if (line.rect == &rect) m_plot.removeItem(line.item);
        return line.rect == &rect;
    });
}

void Crosshair::setColors(const Colors& colors) {
    const QPen pen(colors.text, 0);
    for (const Line& line : m_lines)
        line.item->setPen(pen);
    m_tag->setFont(m_plot.font());
    m_tag->setColor(colors.background);
    m_tag->setBrush(QBrush(colors.text));
    m_tag->setPen(pen);
}

bool Crosshair::moveTo(std::optional<qint64> step) {
    if (step == m_step) return false;
    m_step = step;
    place();
    return true;
}

void Crosshair::place() {
    const auto at = static_cast<double>(m_step.value_or(0));
    for (const Line& line : m_lines) {
        line.item->setVisible(m_step.has_value());
        line.item->point1->setCoords(at, 0);
        line.item->point2->setCoords(at, 1);
    }
    m_tag->setVisible(m_step.has_value());
    m_tag->setText(QLocale().toString(m_step.value_or(0)));
    m_tag->position->setCoords(at, 1.03);
}

} // namespace halfscope
