// The header above one plot: its title, and per lane a sample of its line, its label and its value.
// Legend and crosshair read-out in one, outside of the data so that nothing is covered.
#pragma once

#include <qcustomplot.h>

#include <QStringList>
#include <QVector>

namespace halfscope {

struct ReadoutEntry {
    QPen pen;
    QColor textColor;
    QString label;      ///< "A fp32"; only its letter where space is short, see briefLabel() too
    QString value;      ///< "65536 = 2^16"
    QString shortValue; ///< "2^16", for where even letters need too much space
};

class ReadoutItem : public QCPAbstractItem {
    Q_OBJECT
public:
    ReadoutItem(QCustomPlot&, QCPAxisRect&);

    void setTitle(const QString& title, const QString& shortTitle, const QColor&);
    void setEntries(QVector<ReadoutEntry>);
    const QVector<ReadoutEntry>& entries() const { return m_entries; }
    /// Pixels at the right end that something else covers.
    void keepFree(int width) { m_covered = width; }
    static int heightFor(const QFont&);
    /// What a header of so many pixels says: the title, then a text for each lane; "…" at the end
    /// where lanes are left out, because half a number would be another number.
    QStringList textsIn(int width) const;
    /// Whether the header, as wide as it is, leaves no lane out.
    bool fits() const;

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter*) override;

private:
    /// What there is room for, from the richest to the barest.
    enum class Form { Full, Brief, Letters, ShortTitle, Shortest, NoSamples };
    static int sampleWidth(Form);
    static int spacing(Form);
    static QString labelled(const ReadoutEntry&, Form);
    static int entryWidth(const ReadoutEntry&, Form, const QFontMetrics&);
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
    QVector<ReadoutEntry> m_entries;
};

} // namespace halfscope
