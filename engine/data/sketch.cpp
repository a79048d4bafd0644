// Draws shapes by their distance: it covers a pixel by as much as the pixel's centre lies inside.
#include "engine/data/sketch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halfscope {

namespace {

double distanceToLine(Spot at, Spot from, Spot to) {
    const double dx = to.x - from.x, dy = to.y - from.y;
    const double length = dx * dx + dy * dy;
    const double along =
        length > 0 ? std::clamp(((at.x - from.x) * dx + (at.y - from.y) * dy) / length, 0.0, 1.0)
                   : 0.0;
    return std::hypot(at.x - from.x - along * dx, at.y - from.y - along * dy);
}

bool isFinite(Spot at) { return std::isfinite(at.x) && std::isfinite(at.y); }

/// Returns the pixel that a coordinate lies in, kept near the picture so that it fits an int.
int pixelOf(double coordinate, int side) {
    return static_cast<int>(std::floor(std::clamp(coordinate, -1.0, side + 1.0)));
}

} // namespace

Sketch::Sketch(int side, int channels, Shade ground) : m_picture{side, side, channels, {}} {
    m_picture.values.reserve(static_cast<size_t>(side) * static_cast<size_t>(side) *
                             static_cast<size_t>(channels));
    for (int i = 0; i < side * side; ++i)
        m_picture.values.insert(m_picture.values.end(), ground.begin(), ground.begin() + channels);
}

void Sketch::pixel(int x, int y, Shade shade, double share) {
    const auto channels = static_cast<size_t>(m_picture.channels);
    float* values =
        m_picture.values.data() + static_cast<size_t>(y * m_picture.width + x) * channels;
    for (size_t i = 0; i < channels; ++i)
        values[i] += static_cast<float>(share) * (shade[i] - values[i]);
}

/// `outside` returns how far a place is from the shape; it is negative inside.
template <class Distance>
void Sketch::shape(Spot low, Spot high, Shade shade, Distance outside) {
    const int side = m_picture.width;
    const int top = std::max(pixelOf(low.y - 1, side), 0);
    const int bottom = std::min(pixelOf(high.y + 1, side), side - 1);
    const int left = std::max(pixelOf(low.x - 1, side), 0);
    const int right = std::min(pixelOf(high.x + 1, side), side - 1);
    for (int y = top; y <= bottom; ++y)
        for (int x = left; x <= right; ++x) {
            const double share = std::clamp(0.5 - outside(Spot{x + 0.5, y + 0.5}), 0.0, 1.0);
            if (share > 0) pixel(x, y, shade, share);
        }
}

void Sketch::disc(Spot centre, double radius, Shade shade) {
    shape({centre.x - radius, centre.y - radius}, {centre.x + radius, centre.y + radius}, shade,
          [=](Spot at) { return std::hypot(at.x - centre.x, at.y - centre.y) - radius; });
}

void Sketch::cross(Spot centre, double radius, double stroke, Shade shade) {
    const double arm = radius - stroke / 2;
    const Spot low{centre.x - arm, centre.y - arm}, high{centre.x + arm, centre.y + arm};
    const Spot left{low.x, high.y}, right{high.x, low.y};
    shape({centre.x - radius, centre.y - radius}, {centre.x + radius, centre.y + radius}, shade,
          [=](Spot at) {
              return std::min(distanceToLine(at, low, high), distanceToLine(at, left, right)) -
                     stroke / 2;
          });
}

void Sketch::line(Spot from, Spot to, double width, Shade shade) { path({from, to}, width, shade); }

void Sketch::path(const std::vector<Spot>& spots, double width, Shade shade) {
    for (size_t i = 1; i < spots.size(); ++i) {
        const Spot from = spots[i - 1], to = spots[i];
        if (!isFinite(from) || !isFinite(to)) continue;
        const double edge = width / 2;
        shape({std::min(from.x, to.x) - edge, std::min(from.y, to.y) - edge},
              {std::max(from.x, to.x) + edge, std::max(from.y, to.y) + edge}, shade,
              [=](Spot at) { return distanceToLine(at, from, to) - edge; });
    }
}

void Sketch::missing(Spot centre, double radius) {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    disc(centre, radius, grey(kNan));
}

} // namespace halfscope
