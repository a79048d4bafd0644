// Lays the entries out to the left of the axis' name, then to its right.
#include "ui/plots/event_legend.h"

#include <algorithm>

namespace halfscope {
namespace {

constexpr double kMark = 1.2; // the width of a mark with the gap behind it, in heights of a letter

const QString& nameOf(const EventLegend::Entry& entry, bool full) {
    return full ? entry.name : entry.brief;
}

} // namespace

EventLegend::EventLegend(QCustomPlot& plot, QCPAxisRect& rect)
    : QCPAbstractItem(&plot), m_rect(rect) {
    setClipToAxisRect(false);
    setSelectable(false);
}

std::vector<EventLegend::Place> EventLegend::placesIn(Form form) const {
    const QFontMetrics metrics(mParentPlot->font());
    const int mark = static_cast<int>(kMark * metrics.height());
    const QRect row = m_rect.rect();
    const int axisName = metrics.horizontalAdvance(m_rect.axis(QCPAxis::atBottom)->label());
    const int left = row.center().x() - axisName / 2 - mark;
    const int right = row.center().x() + axisName / 2 + mark;
    const int end = std::min(row.right(), row.right() + m_rect.margins().right() - m_free);
    std::vector<Place> places;
    int x = row.left();
    for (const Entry& entry : m_entries) {
        const int width = mark + metrics.horizontalAdvance(nameOf(entry, form == Form::Full));
        if (x < right && x + width > left) x = right;
        if (x + width > end) break;
        places.push_back({x, &entry});
        x += width + mark;
    }
    return places;
}

void EventLegend::draw(QCPPainter* painter) {
    const bool full = placesIn(Form::Full).size() == m_entries.size();
    const std::vector<Place> places = placesIn(full ? Form::Full : Form::Brief);
    const QFontMetrics metrics(mParentPlot->font());
    const QCPAxis& axis = *m_rect.axis(QCPAxis::atBottom);
    // in line with the axis' name, which stands below the labels of the ticks
    const int top = m_rect.rect().bottom() + axis.tickLengthOut() + axis.tickLabelPadding() +
                    metrics.height() + axis.labelPadding();
    const int mark = static_cast<int>(kMark * metrics.height());
    painter->setFont(mParentPlot->font());
    for (const Place& place : places) {
        painter->setAntialiasing(true);
        place.entry->mark.applyTo(painter, QPen(m_color));
        place.entry->mark.drawShape(painter, place.x + mark / 2.0, top + metrics.height() / 2.0);
        painter->setPen(m_color);
        painter->drawText(QRect(place.x + mark, top, m_rect.rect().width(), metrics.height()),
                          Qt::AlignLeft | Qt::AlignVCenter, nameOf(*place.entry, full));
    }
}

} // namespace halfscope
