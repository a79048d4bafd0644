// The line below the events: what the marks mean, and the name of the step axis at its right end.
// All marks are named, on more lines where one is too short.
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
    /// The lines stand below the rect, which must outlive them.
    EventLegend(QCustomPlot&, QCPAxisRect&);

    void setEntries(std::vector<Entry> entries) { m_entries = std::move(entries); }
    /// Sets the name of the axis, and a brief one for where there is little room.
    void setAxisName(const QString& name, const QString& brief);
    /// Keeps so many pixels free at the right end of the lines, counted from the edge of the plots,
    /// because something else covers them.
    void keepFree(int width) { m_free = width; }
    void setColor(const QColor& color) { m_color = color; }
    /// Returns how many lines there are, with the margins that the rect has now.
    int lines() const { return text().lines; }

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter*) override;

private:
    enum class Form { Full, Brief };
    struct Place {
        int x, line;
        const Entry* entry;
    };
    struct Text {
        Form form;
        int lines = 1;
        std::vector<Place> places;
        QString axisName;
    };
    Text textIn(Form) const;
    /// Returns the text with full names if they fit into one line, otherwise with brief ones.
    Text text() const;
    /// Returns where the lines end, from the left edge of the plots.
    int end() const;

    QCPAxisRect& m_rect;
    QColor m_color;
    int m_free = 0;
    QString m_axisName, m_briefAxisName;
    std::vector<Entry> m_entries;
};

} // namespace halfscope
