// The header above one plot: its title, and per lane a sample of its line, its label and its value.
// Legend and crosshair read-out in one, outside of the data so that nothing is covered.
#pragma once

#include <qcustomplot.h>

#include <QVector>

namespace halfscope {

struct ReadoutEntry {
    QPen pen;
    QColor textColor;
    QString label;      ///< "A fp32"; only its letter where space is short
    QString value;      ///< "65536 = 2^16"
    QString shortValue; ///< "2^16", for where even letters need too much space
};

class ReadoutItem : public QCPAbstractItem {
    Q_OBJECT
public:
    ReadoutItem(QCustomPlot&, QCPAxisRect&);

    void setTitle(const QString& title, const QColor& color);
    void setEntries(QVector<ReadoutEntry>);
    const QVector<ReadoutEntry>& entries() const { return m_entries; }
    static int heightFor(const QFont&);

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter*) override;

private:
    QCPAxisRect& m_rect;
    QString m_title;
    QColor m_titleColor;
    QVector<ReadoutEntry> m_entries;
};

} // namespace halfscope
