// The header above one plot: its title, and for each lane a sample of its line, its label and its
// value. It is legend and crosshair read-out in one, and lies outside of the data so that it covers
// nothing.
#pragma once

#include <qcustomplot.h>

#include <QStringList>
#include <QVector>

namespace halfscope {

struct ReadoutEntry {
    QPen pen;
    QColor textColor;
    QString label;      ///< "A fp32"; only its letter when space is short, see also briefLabel()
    QString value;      ///< "65536 = 2^16"
    QString shortValue; ///< "2^16", for when even letters leave too little space
};

class ReadoutItem : public QCPAbstractItem {
    Q_OBJECT
public:
    ReadoutItem(QCustomPlot&, QCPAxisRect&);

    void setTitle(const QString& title, const QString& shortTitle, const QColor&);
    void setEntries(QVector<ReadoutEntry>);
    const QVector<ReadoutEntry>& entries() const { return m_entries; }
    /// Keeps so many pixels free at the right end, because something else covers them.
    void keepFree(int width) { m_covered = width; }
    /// Prepares for a picture: nothing covers the header there, and its title is never shortened.
    void setPrinted(bool printed) { m_printed = printed; }
    static int heightFor(const QFont&);
    /// Returns what a header of `width` pixels says: the title, then a text for each lane. "…" at
    /// the end stands for lanes that are left out, because half a number would be another number.
    QStringList textsIn(int width) const;
    /// Whether the header, at its present width, leaves no lane out.
    bool fits() const;

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter*) override;

private:
    /// The forms that the header can take, from the richest to the barest.
    enum class Form { Full, Brief, Letters, ShortTitle, Shortest, NoSamples };
    int sampleWidth(Form) const;
    static int spacing(Form);
    static QString labelled(const ReadoutEntry&, Form);
    int entryWidth(const ReadoutEntry&, Form, const QFontMetrics&) const;
    static bool isShort(Form form) { return form == Form::Shortest || form == Form::NoSamples; }
    const QString& titleIn(Form) const;
    Form formFor(int width) const;
    qsizetype fitting(int width, Form) const;
    int titleWidth(Form) const;

    int room() const;

    QCPAxisRect& m_rect;
    QString m_title, m_shortTitle;
    QColor m_titleColor;
    int m_covered = 0;
    bool m_printed = false;
    QVector<ReadoutEntry> m_entries;
};

} // namespace halfscope
