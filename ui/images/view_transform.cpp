// Zoom and pan with their limits.
#include "ui/images/view_transform.h"

#include <algorithm>

namespace halfscope {

void ViewTransform::zoomAbout(QPointF about, double factor) {
    const double zoom = std::clamp(m_zoom * factor, 1.0, kMaxZoom);
    // about - centre shrinks as the zoom grows, so that `about` keeps its place on screen
    set(zoom, about - (about - m_centre) * (m_zoom / zoom));
}

void ViewTransform::panBy(QPointF delta) { set(m_zoom, m_centre + delta); }

void ViewTransform::fit() { set(1, {0.5, 0.5}); }

void ViewTransform::set(double zoom, QPointF centre) {
    // the middle of the view stays on the picture; at zoom 1 everything is visible: nothing to move
    const double slack = zoom <= 1 ? 0 : 0.5;
    centre = {std::clamp(centre.x(), 0.5 - slack, 0.5 + slack),
              std::clamp(centre.y(), 0.5 - slack, 0.5 + slack)};
    if (zoom == m_zoom && centre == m_centre) return;
    m_zoom = zoom;
    m_centre = centre;
    Q_EMIT changed();
}

} // namespace halfscope
