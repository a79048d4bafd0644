// A tensor seen around one axis, for moves along that axis.
#pragma once

#include "engine/core/shape.h"

namespace halfscope {

/// A row-major tensor as (outer, extent, inner): the axis, and how many elements lie before and
/// after it.
struct AxisView {
    int64_t outer = 1, extent = 1, inner = 1;
};

/// Returns the view around `axis`, which is in [0, rank).
inline AxisView around(const Shape& shape, int axis) {
    AxisView view;
    for (int i = 0; i < shape.rank(); ++i)
        (i < axis ? view.outer : i == axis ? view.extent : view.inner) *= shape[i];
    return view;
}

} // namespace halfscope
