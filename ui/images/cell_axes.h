// The names of a table's rows and columns beside and below the picture of it, and the numbers in
// it.
#pragma once

#include "engine/io/picture.h"

#include <QFont>
#include <QMarginsF>
#include <QRectF>
#include <QSizeF>
#include <QStringList>

class QImage;
class QPainter;

namespace halfscope {

class CellAxes {
public:
    /// Sets the names, which rows and columns share; none: nothing is drawn.
    void setNames(const QStringList& names) { m_names = names; }
    const QStringList& names() const { return m_names; }
    /// Returns the room that the names take of a pane of this size in a widget's font: at the left
    /// and at the bottom. None where a row is too low for its name. Letters that are larger than
    /// usual become smaller where that shows names, or all of them.
    QMarginsF room(const QSizeF& pane, const QFont&) const;
    /// Returns the size of a pane that has room for a table of this size and for the names.
    QSizeF paneFor(const QSizeF& table, const QFont&) const;
    /// Draws the names of the rows and columns of `table` that lie in `view`, into the room()
    /// `around` it.
    void paint(QPainter&, const QRectF& view, const QRectF& table, const QMarginsF& around,
               const QFont&) const;
    /// Returns the whole name of the row or column that is written at a place; empty where none is.
    QString nameAt(const QPointF&, const QRectF& view, const QRectF& table) const;

private:
    double widest(const QFont&) const;
    QMarginsF roomIn(const QFont&, const QSizeF& pane, double most) const;
    bool areWhole(const QFont&, const QMarginsF& room) const;
    struct Fitted {
        QFont font;
        QMarginsF room;
    };
    Fitted fitted(const QSizeF& pane, const QFont& widgetFont) const;

    QStringList m_names;
};

/// Writes the share that each cell of a table of classes stands for into it, where all cells have
/// room for that; nothing into those of 0 %. `cells` has their colours.
void paintShares(QPainter&, const Picture& shares, const QImage& cells, const QRectF& view,
                 const QRectF& table, const QFont&);
/// Returns the longer side of a table with that room.
double sideForShares(const Picture&, const QFont&);

} // namespace halfscope
