// Tries places from the right end of a curve to its left one.
#include "ui/plots/tag_places.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace halfscope {
namespace {

constexpr int kColumn = 4;         // pixels: finer than any name is wide
constexpr double kApart = 2;       // pixels between a curve and its name
constexpr double kNameCosts = 1e3; // more than curves in all columns do

} // namespace

TagPlaces::TagPlaces(const QRect& room) : m_room(room) {}

void TagPlaces::Stretch::cover(double y) {
    top = std::min(top, y);
    bottom = std::max(bottom, y);
}

int TagPlaces::columnAt(double x) const {
    const double last = std::max(0.0, std::ceil(m_room.width() / kColumn) - 1);
    return static_cast<int>(std::clamp(std::floor((x - m_room.left()) / kColumn), 0.0, last));
}

void TagPlaces::coverLine(Shape& shape, QPointF from, QPointF to) const {
    if (to.x() < m_room.left() || from.x() > m_room.right()) return;
    const auto heightAt = [&](double x) {
        const double share = to.x() > from.x() ? (x - from.x()) / (to.x() - from.x()) : 1;
        return from.y() + std::clamp(share, 0.0, 1.0) * (to.y() - from.y());
    };
    for (int column = columnAt(from.x()); column <= columnAt(to.x()); ++column) {
        const double left = m_room.left() + column * kColumn;
        Stretch& stretch = shape[static_cast<size_t>(column)];
        stretch.cover(heightAt(std::max(left, from.x())));
        stretch.cover(heightAt(std::min(left + kColumn, to.x())));
    }
}

void TagPlaces::add(const QCPGraph& graph) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    Shape shape(static_cast<size_t>(columnAt(m_room.right()) + 1), Stretch{kNone, -kNone});
    const bool stepped = graph.lineStyle() == QCPGraph::lsStepLeft;
    QPointF before;
    bool first = true;
    for (const QCPGraphData& each : *graph.data()) {
        const QPointF point(graph.keyAxis()->coordToPixel(each.key),
                            graph.valueAxis()->coordToPixel(each.value));
        if (!std::isfinite(point.x()) || !std::isfinite(point.y())) continue;
        const QPointF corner = stepped && !first ? QPointF(point.x(), before.y()) : point;
        coverLine(shape, std::exchange(first, false) ? point : before, corner);
        coverLine(shape, corner, point);
        before = point;
    }
    m_curves.push_back(std::move(shape));
}

bool TagPlaces::isSeen(size_t curve) const {
    return std::any_of(m_curves[curve].begin(), m_curves[curve].end(),
                       [](const Stretch& each) { return each.top <= each.bottom; });
}

TagPlaces::Stretch TagPlaces::within(const Shape& shape, const QRectF& rect) const {
    Stretch all = shape[static_cast<size_t>(columnAt(rect.left()))];
    for (int column = columnAt(rect.left()); column <= columnAt(rect.right()); ++column) {
        const Stretch& each = shape[static_cast<size_t>(column)];
        all = {std::min(all.top, each.top), std::max(all.bottom, each.bottom)};
    }
    return all;
}

double TagPlaces::crowd(const QRectF& place) const {
    double all = 0;
    for (const QRectF& name : m_taken)
        all += name.intersects(place) ? kNameCosts : 0;
    for (const Shape& shape : m_curves)
        for (int column = columnAt(place.left()); column <= columnAt(place.right()); ++column) {
            const Stretch& each = shape[static_cast<size_t>(column)];
            all += each.top <= place.bottom() && each.bottom >= place.top() ? 1 : 0;
        }
    return all;
}

std::vector<double> TagPlaces::distances(size_t curve) const {
    const Shape& own = m_curves[curve];
    std::vector<double> all;
    for (const Stretch& each : own) // 0 where it is not there itself
        all.push_back(each.top > each.bottom ? 0 : std::numeric_limits<double>::infinity());
    for (size_t other = 0; other < m_curves.size(); ++other) {
        if (other == curve) continue;
        for (size_t column = 0; column < own.size(); ++column) {
            const Stretch &a = own[column], &b = m_curves[other][column];
            if (a.top > a.bottom || b.top > b.bottom) continue;
            const double between = std::max({0.0, b.top - a.bottom, a.top - b.bottom});
            all[column] = std::min(all[column], between);
        }
    }
    return all;
}

QRectF TagPlaces::placeBy(size_t curve, const QSizeF& name) {
    constexpr int kFar = 2; // halves of a name's height: nobody takes one curve for the other
    const Shape& own = m_curves[curve];
    const auto seen = [](const Stretch& each) { return each.top <= each.bottom; };
    const auto last = std::find_if(own.rbegin(), own.rend(), seen);
    const double end = m_room.left() + static_cast<double>(own.rend() - last) * kColumn;
    const std::vector<double> distance = distances(curve);
    QRectF best;
    double least = std::numeric_limits<double>::infinity();
    int farthest = -1; // of the best place, as far as it counts
    const double leftmost = m_room.left() + name.width();
    // of a short curve, the name begins at the edge
    const double rightmost = std::max(std::min(end, m_room.right()), leftmost);
    for (double right = rightmost; right >= leftmost && (least > 0 || farthest < kFar);
         right -= kColumn) {
        QRectF place(QPointF(), name);
        place.moveRight(right);
        const double nearest = *std::min_element(distance.begin() + columnAt(place.left()),
                                                 distance.begin() + columnAt(place.right()) + 1);
        const int far = static_cast<int>(std::min<double>(kFar, 2 * nearest / name.height()));
        if (least <= 0 && far <= farthest) continue;
        const Stretch line = within(own, place);
        for (const double top : {line.top - kApart - name.height(), line.bottom + kApart}) {
            const double low = std::max(m_room.top(), m_room.bottom() - name.height());
            place.moveTop(std::clamp(top, m_room.top(), low));
            const double cost = crowd(place);
            if (cost > least || (cost == least && far <= farthest)) continue;
            least = cost;
            farthest = far;
            best = place;
        }
    }
    m_taken.push_back(best);
    return best;
}

} // namespace halfscope
