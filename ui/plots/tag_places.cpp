// Tries places from the right end of a curve to its left one.
#include "ui/plots/tag_places.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace halfscope {
namespace {

constexpr int kColumn = 4;         // pixels: finer than any name is wide
constexpr double kApart = 2;       // pixels between a curve and its name
constexpr double kNameCosts = 1e3; // more than curves in all columns do
constexpr int kHalves = 2;         // distances are counted in halves of a name's height
constexpr int kFarAway = 2;        // of them: nobody takes one curve for the other

} // namespace

TagPlaces::TagPlaces(const QRect& room) : m_room(room) {}

void TagPlaces::Stretch::cover(double y) {
    top = std::min(top, y);
    bottom = std::max(bottom, y);
}

double TagPlaces::Stretch::gapTo(const Stretch& other) const {
    if (!isSeen() || !other.isSeen()) return std::numeric_limits<double>::infinity();
    return std::max({0.0, other.top - bottom, top - other.bottom});
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
                       std::mem_fn(&Stretch::isSeen));
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

std::vector<double> TagPlaces::distances(const std::vector<size_t>& group) const {
    const Shape& own = m_curves[group.front()];
    std::vector<double> all;
    for (const Stretch& each : own)
        all.push_back(each.isSeen() ? std::numeric_limits<double>::infinity() : 0);
    for (size_t other = 0; other < m_curves.size(); ++other) {
        if (std::find(group.begin(), group.end(), other) != group.end()) continue;
        for (size_t column = 0; column < own.size(); ++column)
            all[column] = std::min(all[column], own[column].gapTo(m_curves[other][column]));
    }
    return all;
}

bool TagPlaces::isApart(size_t curve, size_t other, const QSizeF& name) const {
    const Shape& own = m_curves[curve];
    const double least = name.height() / kHalves;
    int seen = 0, row = 0, longest = 0; // columns
    for (size_t column = 0; column < own.size(); ++column) {
        const bool here = own[column].isSeen();
        seen += here ? 1 : 0;
        row = here && own[column].gapTo(m_curves[other][column]) >= least ? row + 1 : 0;
        longest = std::max(longest, row);
    }
    return longest >= std::min(seen, static_cast<int>(name.width() / kColumn) + 1);
}

std::vector<std::vector<size_t>> TagPlaces::groups(const std::vector<QSizeF>& names) const {
    std::vector<std::vector<size_t>> all;
    for (size_t curve = 0; curve < names.size(); ++curve) {
        if (!isSeen(curve)) continue;
        all.push_back({curve});
        for (size_t other = 0; other < names.size(); ++other)
            if (other != curve && isSeen(other) && !isApart(curve, other, names[curve]))
                all.back().push_back(other);
    }
    // of a group within another one, each curve is named already
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::vector<std::vector<size_t>> kept;
    for (const std::vector<size_t>& group : all) {
        const auto holdsIt = [&group](const std::vector<size_t>& large) {
            return std::all_of(group.begin(), group.end(), [&large](size_t curve) {
                return std::find(large.begin(), large.end(), curve) != large.end();
            });
        };
        if (std::none_of(kept.begin(), kept.end(), holdsIt)) kept.push_back(group);
    }
    return kept;
}

int TagPlaces::farness(const std::vector<double>& distances, const QRectF& place) const {
    const double nearest = *std::min_element(distances.begin() + columnAt(place.left()),
                                             distances.begin() + columnAt(place.right()) + 1);
    return static_cast<int>(std::min<double>(kFarAway, kHalves * nearest / place.height()));
}

TagPlaces::Offer TagPlaces::offer(const Stretch& line, QRectF place, bool above, int far) const {
    const double low = std::max(m_room.top(), m_room.bottom() - place.height());
    place.moveTop(std::clamp(above ? line.top - kApart - place.height() : line.bottom + kApart,
                             m_room.top(), low));
    const double cost = crowd(place);
    return {{place, above, cost == 0}, cost, far};
}

TagPlaces::Place TagPlaces::placeBy(const std::vector<size_t>& group, const QSizeF& name,
                                    const std::optional<Place>& before) {
    const Shape& own = m_curves[group.front()];
    const auto last = std::find_if(own.rbegin(), own.rend(), std::mem_fn(&Stretch::isSeen));
    const double end = m_room.left() + static_cast<double>(own.rend() - last) * kColumn;
    const std::vector<double> distance = distances(group);
    const double leftmost = m_room.left() + name.width();
    // of a short curve, the name begins at the edge
    const double rightmost = std::max(std::min(end, m_room.right()), leftmost);
    QRectF place(QPointF(), name);
    std::optional<Offer> best, old;
    const double held = before ? std::clamp(before->rect.right(), leftmost, rightmost) : 0;
    if (before && std::abs(held - before->rect.right()) <= kColumn) { // ends are rounded to columns
        place.moveRight(held);
        if (const Stretch line = within(own, place); line.isSeen())
            old = offer(line, place, before->above, farness(distance, place));
    }
    const bool stays = old && old->cost == 0 && old->far > 0;
    for (double right = rightmost; right >= leftmost && !stays; right -= kColumn) {
        const bool clear = best && best->cost == 0;
        if (clear && best->far >= kFarAway) break;
        place.moveRight(right);
        const int far = farness(distance, place);
        const Stretch line = within(own, place);
        if (best && ((clear && far <= best->far) || !line.isSeen())) continue;
        for (const bool above : {true, false})
            if (const Offer next = offer(line, place, above, far); !best || next.beats(*best))
                best = next;
    }
    const Place found = stays || (old && best && !best->beats(*old)) ? old->place : best->place;
    m_taken.push_back(found.rect);
    return found;
}

} // namespace halfscope
