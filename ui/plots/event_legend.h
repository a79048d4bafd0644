// The line that says what the marks of the events mean, beside the name of the step axis.
#pragma once

#include <qcustomplot.h>

#include <QString>

#include <vector>

namespace halfscope {

class EventLegend : public QCPAbstractItem {
    Q_OBJECT
public:
    struct Entry {
        QCPScatterStyle mark;
        QString name, brief; ///< the brief one is for where there is little room
    };
    /// The line stands below the rect, which must outlive it.
    EventLegend(QCustomPlot&, QCPAxisRect&);

    void setEntries(std::vector<Entry> entries) { m_entries = std::move(entries); }
    /// Keeps so many pixels free at the right end of the line, counted from the edge of the plots,
    /// because something else covers them.
    void keepFree(int width) { m_free = width; }
    void setColor(const QColor& color) { m_color = color; }

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter*) override;

private:
    enum class Form { Full, Brief };
    struct Place {
        int x;
        const Entry* entry;
    };
    /// Returns where the entries stand; those for which there is no room are left out.
    std::vector<Place> placesIn(Form) const;

    QCPAxisRect& m_rect;
    QColor m_color;
    int m_free = 0;
    std::vector<Entry> m_entries;
};

} // namespace halfscope
