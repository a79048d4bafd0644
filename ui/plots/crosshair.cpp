// The crosshair's items lie in a layer of their own.
#include "ui/plots/crosshair.h"

#include "ui/look/owned.h"
#include "ui/look/theme.h"

#include <qcustomplot.h>

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace halfscope {

/// The step's number, in place of the labels of the axis that it touches: what it leaves of one
/// would be another number.
class StepTag : public QCPItemText {
public:
    using QCPItemText::QCPItemText;
    void setGround(const QColor& color) { m_ground = color; }
    /// Lies below another tag, which then covers no labels itself: it would cover this one, too.
    /// Where both meet, this one is left out: half of its number would be another one.
    void putBelow(StepTag& other) {
        m_above = &other;
        other.m_below = this;
    }

protected:
    void draw(QCPPainter* painter) override {
        const bool covered = m_above && m_above->visible() && meets(*m_above);
        if (!covered && !(m_below && m_below->visible())) coverLabels(*painter);
        if (m_above && m_above->visible()) m_above->coverLabels(*painter);
        if (!covered) QCPItemText::draw(painter);
    }

private:
    double x() const { return position->pixelPosition().x(); }
    int width() const {
        return QFontMetrics(font()).horizontalAdvance(text()) + padding().left() +
               padding().right();
    }
    bool meets(const StepTag& other) const {
        return std::abs(other.x() - x()) < (width() + other.width()) / 2.0;
    }
    void coverLabels(QCPPainter& painter) const {
        const QCPAxis& axis = *position->keyAxis();
        const QFontMetrics metrics(axis.tickLabelFont());
        const int from = axis.axisRect()->bottom() + axis.tickLengthOut() + 1;
        const int high = axis.tickLabelPadding() + metrics.height();
        const QVector<double> ticks = axis.tickVector();
        const QVector<QString> labels = axis.tickVectorLabels();
        for (qsizetype i = 0; i < std::min(ticks.size(), labels.size()); ++i) {
            const int label = metrics.horizontalAdvance(labels[i]) + 2;
            const double at = axis.coordToPixel(ticks[i]);
            if (std::abs(at - x()) < (width() + label) / 2.0)
                painter.fillRect(QRectF(at - label / 2.0, from, label, high), m_ground);
        }
    }

    QColor m_ground;
    StepTag *m_above = nullptr, *m_below = nullptr; ///< owned by the plot
};

Crosshair::Crosshair(QCustomPlot& plot, QCPAxisRect& tagRect) : m_plot(plot) {
    plot.addLayer(QStringLiteral("crosshair"), nullptr, QCustomPlot::limAbove);
    m_layer = plot.layer(QStringLiteral("crosshair"));
    m_layer->setMode(QCPLayer::lmBuffered);
    m_pinnedTag = newTag(tagRect); // the other one lies over it
    m_tag = newTag(tagRect);
    m_pinnedTag->putBelow(*m_tag);
}

StepTag* Crosshair::newTag(QCPAxisRect& rect) {
    auto* tag = make<StepTag>(&m_plot);
    tag->setClipToAxisRect(false);
    tag->position->setAxisRect(&rect);
    tag->position->setAxes(rect.axis(QCPAxis::atBottom), rect.axis(QCPAxis::atLeft));
    tag->position->setTypeX(QCPItemPosition::ptPlotCoords);
    tag->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    tag->setPositionAlignment(Qt::AlignTop | Qt::AlignHCenter);
    tag->setPadding(QMargins(5, 1, 5, 1));
    tag->setLayer(m_layer);
    tag->setVisible(false);
    return tag;
}

QCPItemStraightLine* Crosshair::newLine(QCPAxisRect& rect) {
    auto* line = make<QCPItemStraightLine>(&m_plot);
    line->setClipAxisRect(&rect);
    for (QCPItemPosition* position : line->positions()) {
        position->setAxisRect(&rect);
        position->setTypeX(QCPItemPosition::ptPlotCoords);
        position->setTypeY(QCPItemPosition::ptAxisRectRatio);
        position->setAxes(rect.axis(QCPAxis::atBottom), rect.axis(QCPAxis::atLeft));
    }
    line->setLayer(m_layer);
    return line;
}

void Crosshair::addTo(QCPAxisRect& rect) {
    m_lines.push_back({.rect = &rect, .pinned = newLine(rect), .item = newLine(rect)});
    place();
}

void Crosshair::removeFrom(const QCPAxisRect& rect) {
    std::erase_if(m_lines, [&](const Line& line) {
        if (line.rect != &rect) return false;
        m_plot.removeItem(line.item);
        m_plot.removeItem(line.pinned);
        return true;
    });
}

void Crosshair::setColors(const Colors& colors) {
    m_pen = QPen(colors.text, 0);
    for (StepTag* tag : {m_pinnedTag, m_tag}) {
        tag->setGround(colors.background);
        tag->setFont(m_plot.font());
        tag->setPen(m_pen);
    }
    m_tag->setColor(colors.background);
    m_tag->setBrush(QBrush(colors.text));
    m_pinnedTag->setColor(colors.text);
    m_pinnedTag->setBrush(QBrush(colors.background));
    place();
}

bool Crosshair::moveTo(std::optional<qint64> step) {
    if (step == m_step) return false;
    m_step = step;
    place();
    return true;
}

void Crosshair::pin(std::optional<qint64> step) {
    m_pinned = step;
    place();
}

void Crosshair::place() {
    const bool away = m_pinned && m_step && m_step != m_pinned; // from the pin
    QPen dashed = m_pen;
    dashed.setDashPattern({4, 3});
    const auto at = static_cast<double>(m_step.value_or(0));
    const auto pinned = static_cast<double>(m_pinned.value_or(0));
    const auto put = [](QCPItemStraightLine& line, double step, bool shown) {
        line.setVisible(shown);
        line.point1->setCoords(step, 0);
        line.point2->setCoords(step, 1);
    };
    for (const Line& line : m_lines) {
        put(*line.pinned, pinned, away);
        put(*line.item, at, m_step.has_value());
        line.pinned->setPen(m_pen);
        line.item->setPen(away ? dashed : m_pen);
    }
    const auto inSight = [this](double step) { // tags are not clipped
        return m_tag->position->keyAxis()->range().contains(step);
    };
    m_pinnedTag->setVisible(away && inSight(pinned));
    m_pinnedTag->setText(QLocale().toString(m_pinned.value_or(0)));
    m_pinnedTag->position->setCoords(pinned, 1.03);
    m_tag->setVisible(m_step && inSight(at));
    m_tag->setText(QLocale().toString(m_step.value_or(0)));
    m_tag->position->setCoords(at, 1.03);
}

} // namespace halfscope
