// Draws discs, crosses and lines with soft edges into a picture: what the plots of predictions are
// made of.
#pragma once

#include "engine/io/picture.h"

#include <array>
#include <vector>

namespace halfscope {

/// Of a picture with one channel the first value counts.
using Shade = std::array<float, 3>;
inline constexpr Shade grey(float value) { return {value, value, value}; }

/// In pixels from the upper left corner.
struct Spot {
    double x = 0, y = 0;
};

class Sketch {
public:
    /// A square in one shade.
    Sketch(int side, int channels, Shade ground);

    void disc(Spot centre, double radius, Shade);
    /// An X as wide and as high as a disc of that radius; its strokes are `stroke` wide.
    void cross(Spot centre, double radius, double stroke, Shade);
    void line(Spot from, Spot to, double width, Shade);
    /// From the first place to the last. Breaks off at a place that is not finite.
    void path(const std::vector<Spot>&, double width, Shade);
    /// Sets one pixel, which must lie inside, to a shade of which `share` covers it.
    void pixel(int x, int y, Shade, double share = 1);
    /// Fills with nan, where what there is to draw is not a number.
    void missing(Spot centre, double radius);

    Picture take() { return std::move(m_picture); }

private:
    template <class Distance>
    void shape(Spot low, Spot high, Shade, Distance outside);
    Picture m_picture;
};

} // namespace halfscope
