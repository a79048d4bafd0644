// The zoom and the place that linked picture views share.
#pragma once

#include <QObject>
#include <QPointF>

namespace halfscope {

/// Places are fractions of the picture: (0, 0) is its upper left corner, (1, 1) its lower right.
class ViewTransform : public QObject {
    Q_OBJECT
public:
    static constexpr double kMaxZoom = 256;

    explicit ViewTransform(QObject* parent = nullptr) : QObject(parent) {}

    /// Returns the zoom; 1 fits the picture into its view.
    double zoom() const { return m_zoom; }
    /// Returns the place of the picture that is in the middle of the view.
    QPointF centre() const { return m_centre; }
    /// Multiplies the zoom; the place `about` stays where it is on screen.
    void zoomAbout(QPointF about, double factor);
    void panBy(QPointF delta);
    void fit();

signals:
    void changed();

private:
    void set(double zoom, QPointF centre);

    double m_zoom = 1;
    QPointF m_centre{0.5, 0.5};
};

} // namespace halfscope
