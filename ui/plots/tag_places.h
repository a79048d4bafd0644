// Finds a place for the name of each of several curves: right above or below its own curve, clear
// of other curves and names where there is such a place.
#pragma once

#include <QRect>
#include <QRectF>
#include <QSizeF>

#include <vector>

class QCPGraph;

namespace halfscope {

class TagPlaces {
public:
    /// The room is the area of the curves, in pixels.
    explicit TagPlaces(const QRect& room);

    /// Adds a curve as it is drawn now; the first one has the number 0.
    void add(const QCPGraph&);
    /// Returns the place of a curve's name, if possible a clear one where other curves are some way
    /// off, as far to the right as there is one. Later names stay clear of it, too. The curve must
    /// have a point in the room.
    QRectF placeBy(size_t curve, const QSizeF& name);
    /// Whether any of a curve can be seen.
    bool isSeen(size_t curve) const;

private:
    /// What a curve covers of a column of pixels; nothing when `top` is below `bottom`.
    struct Stretch {
        double top, bottom;
        void cover(double y);
    };
    using Shape = std::vector<Stretch>; ///< by column
    int columnAt(double x) const;
    void coverLine(Shape&, QPointF from, QPointF to) const;
    /// Returns what a curve covers within the width of a rect.
    Stretch within(const Shape&, const QRectF&) const;
    /// Returns how far off the nearest other curve is, by column, in pixels.
    std::vector<double> distances(size_t curve) const;
    /// Returns how much lies in a place: columns of curves, and much for each name.
    double crowd(const QRectF& place) const;

    QRectF m_room;
    std::vector<Shape> m_curves;
    std::vector<QRectF> m_taken;
};

} // namespace halfscope
