// Compares value by value, in double.
#include "engine/io/picture_error.h"

#include <cmath>

namespace halfscope {

double PictureError::psnr() const { return -10 * std::log10(meanSquare); }

bool sameShape(const Picture& a, const Picture& b) {
    return a.width == b.width && a.height == b.height && a.channels == b.channels && a.width > 0;
}

PictureError errorBetween(const Picture& a, const Picture& b) {
    PictureError error;
    error.comparable = sameShape(a, b);
    if (!error.comparable) return error;
    double absolute = 0, square = 0;
    for (size_t i = 0; i < a.values.size(); ++i) {
        const double d = static_cast<double>(a.values[i]) - static_cast<double>(b.values[i]);
        if (!std::isfinite(d)) {
            ++error.notFinite;
            continue;
        }
        absolute += std::abs(d);
        square += d * d;
    }
    const auto counted =
        static_cast<double>(a.values.size()) - static_cast<double>(error.notFinite);
    if (counted > 0) {
        error.meanAbsolute = absolute / counted;
        error.meanSquare = square / counted;
    }
    return error;
}

} // namespace halfscope
