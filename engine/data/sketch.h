// Draws discs, crosses and lines with soft edges into a picture; the plots of predictions are made
// of them.
#pragma once

#include "engine/io/picture.h"

#include <array>
#include <vector>

namespace halfscope {

/// A colour; a picture with one channel uses only the first value.
using Shade = std::array<float, 3>;
inline constexpr Shade grey(float value) { return {value, value, value}; }

/// A place in pixels from the upper left corner.
struct Spot {
    double x = 0, y = 0;
};

class Sketch {
public:
    /// Begins with a square in one shade.
    Sketch(int side, int channels, Shade ground);

    void disc(Spot centre, double radius, Shade);
    /// Draws an X as wide and as high as a disc of that radius; its strokes are `stroke` wide.
    void cross(Spot centre, double radius, double stroke, Shade);
    void line(Spot from, Spot to, double width, Shade);
    /// Draws a line from the first spot to the last. The line breaks off at a spot that is not
    /// finite.
    void path(const std::vector<Spot>&, double width, Shade);
    /// Sets one pixel, which must lie inside, to a shade that covers `share` of it.
    void pixel(int x, int y, Shade, double share = 1);
    /// Fills a disc with nan, where the value to draw is not a number.
    void missing(Spot centre, double radius);

    Picture take() { return std::move(m_picture); }

private:
    template <class Distance>
    void shape(Spot low, Spot high, Shade, Distance outside);
    Picture m_picture;
};

} // namespace halfscope
