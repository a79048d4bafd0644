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
    QString label;        ///< "A fp32"; only its letter when space is short, see also briefLabel()
    QString value;        ///< "65536 = 2^16"
    QString shortValue;   ///< "2^16", for when even letters leave too little space
    QString wholeValue{}; ///< with the values of all other runs; empty: the same as `value`
    QString comparedValue{}; ///< the short value with those of other runs; empty: the same
};

class ReadoutItem : public QCPAbstractItem {
    Q_OBJECT
public:
    ReadoutItem(QCustomPlot&, QCPAxisRect&);

    /// In a picture, `plain` takes the place of the short title.
    void setTitle(const QString& title, const QString& plain, const QString& shortTitle,
                  const QColor&);
    void setEntries(QVector<ReadoutEntry>);
    const QVector<ReadoutEntry>& entries() const { return m_entries; }
    /// Keeps so many pixels free at the right end, because something else covers them.
    void keepFree(int width) { m_covered = width; }
    /// Whether it had samples of lines if so many pixels were covered.
    bool hasSamples(int covered) const {
        return formFor(m_rect.rect().width() - covered, Form::Whole) != Form::NoSamples;
    }
    /// Whether it left no lane out, in its barest form, if so many pixels were covered.
    bool holdsAll(int covered) const {
        return fitting(m_rect.rect().width() - covered, Form::NoSamples) == m_entries.size();
    }
    /// Prepares for a picture: nothing covers the header there, and its title, which no tool tip
    /// explains, loses no more than its unit, and only where samples of lines need the room.
    void setPrinted(bool printed) { m_printed = printed; }
    static int heightFor(const QFont&);
    /// Makes all headers of a plot name the lanes in the same form, the richest for which each of
    /// them has room.
    static void nameLanesAlike(QCustomPlot&);
    /// Tells that its one lane gives way: nameLanesAlike() does not ask for what it has room.
    void giveWay() { m_givesWay = true; }
    /// Whether it names its lanes in full, or gives way to headers that do: then a picture needs no
    /// legend.
    bool namesInFull() const;
    /// Whether it is drawn: its plot is neither hidden nor folded away.
    bool isShown() const;
    /// Returns what a header of `width` pixels says, whatever others have room for: the title, then
    /// a text for each lane. "…" at the end stands for lanes that are left out, because half a
    /// number would be another number.
    QStringList textsIn(int width) const { return textsIn(width, formFor(width, Form::Whole)); }
    /// Returns what the header says.
    QStringList texts() const { return textsIn(room(), form()); }
    /// Whether the header, at its present width, leaves no lane out.
    bool fits() const;

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter*) override;

private:
    /// The forms that the header can take, from the richest to the barest. Only Whole has the
    /// values of all other runs; Compared has short values, and is the last with those of others.
    /// Printed, ShortTitle has the whole title and the values of Compared.
    enum class Form {
        Whole,
        Full,
        Brief,
        Letters,
        ShortTitle,
        Compared,
        Shortest,
        Tight,
        NoSamples
    };
    int sampleWidth(Form) const;
    int spacing(Form) const;
    QString labelled(const ReadoutEntry&, Form) const;
    int entryWidth(const ReadoutEntry&, Form, const QFontMetrics&) const;
    bool isShort(Form) const; ///< whether values are
    const QString& valueIn(const ReadoutEntry&, Form) const;
    const QString& titleIn(Form) const;
    /// Returns the richest form, at most as rich as `richest`, that leaves no lane out.
    Form formFor(int width, Form richest) const;
    Form form() const { return formFor(room(), m_richest); }
    QStringList textsIn(int width, Form) const;
    qsizetype fitting(int width, Form) const;
    int titleWidth(Form) const;

    int room() const;

    QCPAxisRect& m_rect;
    QString m_title, m_plainTitle, m_shortTitle;
    QColor m_titleColor;
    int m_covered = 0;
    bool m_printed = false;
    bool m_givesWay = false;
    Form m_richest = Form::Whole; ///< see nameLanesAlike()
    QVector<ReadoutEntry> m_entries;
};

} // namespace halfscope
