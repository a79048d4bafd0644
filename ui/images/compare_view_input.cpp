// The pixel that is read in the pictures, by the pointer or the keys.
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/images/picture_image.h"
#include "ui/look/theme.h"

#include <QFocusEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>

#include <algorithm>

namespace halfscope {

namespace {
constexpr double kKeyZoom = 1.25;
} // namespace

void CompareView::hover(QPoint pixel) {
    m_pixel = pixel.x() < 0 ? std::nullopt : std::optional(pixel);
    for (ImageView* view : m_views)
        view->setMarked(m_pixel);
    m_last->setMarked(m_pixel);
    updateReadout();
}

QString CompareView::readout() const { return m_readout; }

QString CompareView::readoutText() const {
    if (m_kind == Kind::Scatter)
        return tr("A dot is a sample: to the right its target, upwards the network's answer. On "
                  "the diagonal it is right.");
    if (!m_pixel) return tr("Point at a picture to read its values.");
    QString text = tr("x %1, y %2:").arg(m_pixel->x()).arg(m_pixel->y());
    for (int i = 0; i < m_pictures.size(); ++i)
        text += QStringLiteral("  %1 %2").arg(laneLetter(i),
                                              pixelText(m_pictures[i], m_pixel->x(), m_pixel->y()));
    if (m_target.width > 0)
        text += QStringLiteral("  ") +
                tr("target %1").arg(pixelText(m_target, m_pixel->x(), m_pixel->y()));
    return text;
}

void CompareView::updateReadout() {
    m_readout = readoutText();
    const QString shown = m_readoutLabel->fontMetrics().elidedText(m_readout, Qt::ElideRight,
                                                                   m_readoutLabel->width());
    m_readoutLabel->setText(shown);
    m_readoutLabel->setAccessibleName(m_readout);
    m_readoutLabel->setToolTip(shown == m_readout ? QString() : m_readout);
    setAccessibleDescription(m_readout);
}

/// Of the picture; the first key only shows the pixel in the middle.
void CompareView::movePixel(QPoint by) {
    const Picture& picture = m_target;
    if (picture.width < 1 || m_kind == Kind::Scatter) return;
    if (!m_pixel) return hover({picture.width / 2, picture.height / 2});
    const QPoint to(std::clamp(m_pixel->x() + by.x(), 0, picture.width - 1),
                    std::clamp(m_pixel->y() + by.y(), 0, picture.height - 1));
    // a zoomed picture goes along, so that the pixel stays in view
    m_transform.panBy({double(to.x() - m_pixel->x()) / picture.width,
                       double(to.y() - m_pixel->y()) / picture.height});
    hover(to);
}

void CompareView::keyPressEvent(QKeyEvent* event) {
    const QPoint at = m_pixel.value_or(QPoint(m_target.width / 2, m_target.height / 2));
    const QPointF about((at.x() + 0.5) / std::max(1, m_target.width),
                        (at.y() + 0.5) / std::max(1, m_target.height));
    switch (event->key()) {
    case Qt::Key_Left: return movePixel({-1, 0});
    case Qt::Key_Right: return movePixel({1, 0});
    case Qt::Key_Up: return movePixel({0, -1});
    case Qt::Key_Down: return movePixel({0, 1});
    case Qt::Key_Plus:
    case Qt::Key_Equal: return m_transform.zoomAbout(about, kKeyZoom);
    case Qt::Key_Minus: return m_transform.zoomAbout(about, 1 / kKeyZoom);
    case Qt::Key_0: return m_transform.fit();
    case Qt::Key_Escape:
        if (m_pixel) return hover({-1, -1});
        break;
    default: break;
    }
    QWidget::keyPressEvent(event);
}

void CompareView::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void CompareView::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

void CompareView::paintEvent(QPaintEvent*) {
    if (!hasFocus()) return;
    QPainter painter(this);
    painter.setPen(palette().color(QPalette::Highlight));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

} // namespace halfscope
