// Lays the entries out from the left, and the axis' name at the right end of the first line.
#include "ui/plots/event_legend.h"

#include <algorithm>

namespace halfscope {
namespace {

constexpr double kMark = 1.2; // the width of a mark with the gap behind it, in heights of a letter

int markWidth(const QFontMetrics& metrics) { return static_cast<int>(kMark * metrics.height()); }

} // namespace

EventLegend::EventLegend(QCustomPlot& plot, QCPAxisRect& rect)
    : QCPAbstractItem(&plot), m_rect(rect) {
    setClipToAxisRect(false);
    setSelectable(false);
}

void EventLegend::setAxisName(const QString& name, const QString& brief) {
    m_axisName = name;
    m_briefAxisName = brief;
}

int EventLegend::end() const {
    // the rect itself is laid out only when the plot is drawn
    return mParentPlot->width() - std::max(m_rect.margins().right(), m_free);
}

EventLegend::Text EventLegend::textIn(Form form) const {
    const QFontMetrics metrics(mParentPlot->font());
    const int mark = markWidth(metrics), left = m_rect.margins().left();
    Text text{form, 1, {}, m_briefAxisName};
    const int first = end() - metrics.horizontalAdvance(m_briefAxisName) - mark;
    int x = left, used = left; // used: of the first line
    for (const Entry& entry : m_entries) {
        const QString& name = form == Form::Full ? entry.name : entry.brief;
        const int width = mark + metrics.horizontalAdvance(name);
        const bool named = text.lines == 1; // beside the axis' name
        if (x + width > (named ? first : end()) && (named || x > left)) {
            ++text.lines;
            x = left;
        }
        text.places.push_back({x, text.lines - 1, &entry});
        x += width + mark;
        if (text.lines == 1) used = x;
    }
    if (used + metrics.horizontalAdvance(m_axisName) <= end()) text.axisName = m_axisName;
    return text;
}

EventLegend::Text EventLegend::text() const {
    Text full = textIn(Form::Full);
    return full.lines == 1 ? full : textIn(Form::Brief);
}

void EventLegend::draw(QCPPainter* painter) {
    const Text text = this->text();
    const QFontMetrics metrics(mParentPlot->font());
    const int mark = markWidth(metrics), line = metrics.height();
    const QCPAxis& axis = *m_rect.axis(QCPAxis::atBottom);
    // below the labels of the ticks
    const int top = m_rect.rect().bottom() + axis.tickLengthOut() + axis.tickLabelPadding() + line +
                    axis.labelPadding();
    painter->setFont(mParentPlot->font());
    painter->setPen(m_color);
    const int name = metrics.horizontalAdvance(text.axisName);
    painter->drawText(QRect(end() - name, top, mParentPlot->width(), line),
                      Qt::AlignLeft | Qt::AlignVCenter, text.axisName);
    for (const Place& place : text.places) {
        const int y = top + place.line * line;
        painter->setAntialiasing(true);
        place.entry->mark.applyTo(painter, QPen(m_color));
        place.entry->mark.drawShape(painter, place.x + mark / 2.0, y + line / 2.0);
        painter->setPen(m_color);
        painter->drawText(QRect(place.x + mark, y, mParentPlot->width(), line),
                          Qt::AlignLeft | Qt::AlignVCenter,
                          text.form == Form::Full ? place.entry->name : place.entry->brief);
    }
}

} // namespace halfscope
