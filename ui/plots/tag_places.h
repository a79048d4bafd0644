// Finds a place for the name of each of several curves: right above or below its own curve, clear
// of other curves and names where there is such a place. A name stays where it was as long as it
// fits there, and curves that nobody can tell apart are named together.
#pragma once

#include <QRect>
#include <QRectF>
#include <QSizeF>

#include <optional>
#include <vector>

class QCPGraph;

namespace halfscope {

class TagPlaces {
public:
    /// The room is the area of the curves, in pixels.
    explicit TagPlaces(const QRect& room);

    /// Adds a curve as it is drawn now; the first one has the number 0.
    void add(const QCPGraph&);
    /// A name's place by its curve.
    struct Place {
        QRectF rect;
        bool above = false; ///< else below the curve
        bool clear = true;  ///< no curve and no other name lies there
    };
    /// Returns the curves that need a name together, because no name of this size has a place by
    /// one of them from which the other one is some way off. Each of the first curves that can be
    /// seen is in a group, and the name has its place by the first curve of its group.
    std::vector<std::vector<size_t>> groups(const std::vector<QSizeF>& names) const;
    /// Returns the place of a group's name: the one that it had, if it still fits there, else if
    /// possible a clear one where other curves are some way off, as far to the right as there is
    /// one. Later names stay clear of it, too. The group's first curve must have a point in the
    /// room.
    Place placeBy(const std::vector<size_t>& group, const QSizeF& name,
                  const std::optional<Place>& before = {});
    /// Whether any of a curve can be seen.
    bool isSeen(size_t curve) const;

private:
    /// What a curve covers of a column of pixels; nothing when `top` is below `bottom`.
    struct Stretch {
        double top, bottom;
        void cover(double y);
        bool isSeen() const { return top <= bottom; }
        /// Returns how far apart both are, in pixels; infinite where one of them is not there.
        double gapTo(const Stretch&) const;
    };
    using Shape = std::vector<Stretch>; ///< by column
    int columnAt(double x) const;
    void coverLine(Shape&, QPointF from, QPointF to) const;
    /// Returns what a curve covers within the width of a rect.
    Stretch within(const Shape&, const QRectF&) const;
    /// Returns how far off the nearest curve outside the group is from the first one in it, by
    /// column, in pixels; 0 where that is not there.
    std::vector<double> distances(const std::vector<size_t>& group) const;
    /// Whether a name has a place by a curve where the other one is some way off.
    bool isApart(size_t curve, size_t other, const QSizeF& name) const;
    /// Returns how far off other curves are from a place, as far as it counts.
    int farness(const std::vector<double>& distances, const QRectF& place) const;
    /// Returns how much lies in a place: columns of curves, and much for each name.
    double crowd(const QRectF& place) const;
    /// A place, and what speaks against it and for it.
    struct Offer {
        Place place;
        double cost = 0;
        int far = 0;
        bool beats(const Offer& other) const {
            return cost < other.cost || (cost == other.cost && far > other.far);
        }
    };
    /// Offers the place above or below a stretch of a curve.
    Offer offer(const Stretch&, QRectF place, bool above, int far) const;

    QRectF m_room;
    std::vector<Shape> m_curves;
    std::vector<QRectF> m_taken;
};

} // namespace halfscope
