// Places and paints one picture.
#include "ui/images/image_view.h"

#include "ui/images/picture_image.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"

#include <QHelpEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {
constexpr double kZoomOfNotch = 1.25; // zoom per notch
constexpr int kPictureMargin = 2;
constexpr double kSmallTitle = 0.75; // of the usual letters, for titles and notes
} // namespace

ImageView::ImageView(ViewTransform& transform, QWidget* parent)
    : QWidget(parent), m_transform(transform) {
    setMouseTracking(true);
    connect(&transform, &ViewTransform::changed, this, qOverload<>(&QWidget::update));
}

ImageView::ImageView(const ImageView& shown, QWidget& paper)
    : QWidget(&paper), m_transform(shown.m_transform), m_style(shown.m_style), m_axes(shown.m_axes),
      m_picture(shown.m_picture), m_image(shown.m_image), m_rightPicture(shown.m_rightPicture),
      m_right(shown.m_right), m_mapped(shown.m_mapped), m_highest(shown.m_highest),
      m_notFinite(shown.m_notFinite), m_title(shown.m_title), m_titleColor(shown.m_titleColor),
      m_legend(shown.m_legend) {
    setPalette(paper.palette());
    drawAgain();
}

ImageView::Style ImageView::styleOf(ViewKind kind) {
    switch (kind) {
    case ViewKind::Painted:
    case ViewKind::Samples: return Style::Pixels;
    case ViewKind::Classes: return Style::Cells;
    case ViewKind::Scatter:
    case ViewKind::Curve:
    case ViewKind::Plane: break;
    }
    return Style::Plot;
}

void ImageView::takePicture(const Picture& picture, QImage image) {
    m_picture = picture;
    m_image = std::move(image);
    m_rightPicture = {};
    m_right = {};
    m_mapped = false;
    m_notFinite = notFiniteMask(picture);
    update();
}

QImage ImageView::imageOf(const Picture& picture) const {
    if (m_style == Style::Pixels) return pictureImage(picture);
    const auto image = m_style == Style::Text    ? markedImage
                       : m_style == Style::Cells ? cellImage
                                                 : inkImage;
    return image(picture, palette().color(QPalette::Text), palette().color(QPalette::Base));
}

void ImageView::setPicture(const Picture& picture) { takePicture(picture, imageOf(picture)); }

void ImageView::setMappedPicture(const Picture& picture, double gain) {
    takePicture(picture, mappedImage(picture, gain));
    m_mapped = true;
    m_highest = highestMean(picture);
}

void ImageView::setSwipe(const Picture& left, const Picture& right) {
    takePicture(left, imageOf(left));
    m_rightPicture = right;
    m_right = imageOf(right);
}

/// Draws a drawing again, because it has the colours of the theme.
void ImageView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) drawAgain();
}

void ImageView::drawAgain() {
    if (m_mapped) return;
    m_image = imageOf(m_picture);
    if (!m_rightPicture.values.empty()) m_right = imageOf(m_rightPicture);
}

void ImageView::setTitle(const QString& title, const QString& note, const QString& shown,
                         TitleSize size) {
    const QString written = shown.isEmpty() ? title : shown;
    if (title == m_title && note == m_note && written == m_shown && size == m_titleSize) return;
    m_titleSize = size;
    m_title = title;
    m_note = note;
    m_shown = written;
    setAccessibleName(tr("Picture %1").arg(title));
    setAccessibleDescription(note);
    update();
}

void ImageView::setTitleColor(const QColor& color) {
    m_titleColor = color;
    update();
}

void ImageView::setLegend(double highest) {
    m_legend = highest;
    update();
}

void ImageView::setMarked(std::optional<QPoint> pixel) {
    if (pixel == m_marked) return;
    m_marked = pixel;
    update();
}

QFont ImageView::titleFont(TitleSize size) const {
    QFont bold = size == TitleSize::Usual ? font() : scaledFont(font(), kSmallTitle);
    bold.setBold(true);
    return bold;
}

QFont ImageView::noteFont(TitleSize size) const {
    return size == TitleSize::AllSmall ? scaledFont(font(), kSmallTitle) : font();
}

int ImageView::titleWidth(const QString& title, const QString& note, TitleSize size) const {
    constexpr int kBetween = 8;
    const QFontMetrics notes(noteFont(size));
    const int noted = note.isEmpty() ? 0 : kBetween + notes.horizontalAdvance(note);
    return QFontMetrics(titleFont(size)).horizontalAdvance(title) + noted;
}

bool ImageView::fits(const QString& title, const QString& note, TitleSize size) const {
    return titleWidth(title, note, size) <= width() - 2 * kPictureMargin;
}

/// Leaves the note out when all of it does not fit: a cut note would mislead.
QString ImageView::shownTitle() const {
    const int taken = fits(m_shown, m_note, m_titleSize) ? titleWidth({}, m_note, m_titleSize) : 0;
    const int room = width() - 2 * kPictureMargin - taken;
    const QFontMetrics metrics(titleFont(m_titleSize));
    // a title that was found to fit is whole: eliding counts parts of pixels
    return metrics.horizontalAdvance(m_shown) <= room
               ? m_shown
               : metrics.elidedText(m_shown, Qt::ElideRight, room);
}

int ImageView::titleHeight() const { return fontMetrics().height() + 4; }

int ImageView::legendHeight() const { return std::max(20, titleHeight()); }

void ImageView::setAxes(const QStringList& names) {
    if (names == m_axes.names()) return;
    m_axes.setNames(names);
    update();
}

/// Returns the room that the names of rows and columns take of pane().
QMarginsF ImageView::axesRoom() const {
    return hasAxes() ? m_axes.room(pane().size(), font()) : QMarginsF();
}

QRectF ImageView::viewport() const { return pane().marginsRemoved(axesRoom()); }

/// Returns what lies between the title and the legend.
QRectF ImageView::pane() const {
    return {double(kPictureMargin), double(titleHeight()),
            std::max(0.0, width() - 2.0 * kPictureMargin),
            std::max(0.0, double(height() - titleHeight() - footHeight()))};
}

int ImageView::footHeight() const { return m_legend > 0 ? legendHeight() : kPictureMargin; }

double ImageView::side() const {
    const QSizeF picture = pictureRect().size() / m_transform.zoom();
    return std::max(picture.width(), picture.height());
}

double ImageView::sideForShares() const {
    return hasShares() ? halfscope::sideForShares(m_picture, font()) : 0;
}

QSize ImageView::sizeFor(double side) const {
    QSizeF picture(std::max(1, m_picture.width), std::max(1, m_picture.height));
    picture.scale(side, side, Qt::KeepAspectRatio);
    const QSizeF inner = hasAxes() ? m_axes.paneFor(picture, font()) : picture;
    return {static_cast<int>(std::ceil(inner.width())) + 2 * kPictureMargin,
            static_cast<int>(std::ceil(inner.height())) + titleHeight() + footHeight()};
}

QRectF ImageView::pictureRect() const {
    const QRectF view = viewport();
    if (m_picture.width < 1 || m_picture.height < 1 || view.isEmpty()) return {};
    const double fit = std::min(view.width() / m_picture.width, view.height() / m_picture.height);
    const double scale = fit * m_transform.zoom();
    const QSizeF size(m_picture.width * scale, m_picture.height * scale);
    const QPointF centre(m_transform.centre().x() * size.width(),
                         m_transform.centre().y() * size.height());
    QPointF corner = view.center() - centre;
    // A side that fits keeps its place below the title: only a longer one can be moved.
    if (size.width() <= view.width()) corner.setX(view.center().x() - size.width() / 2);
    if (size.height() <= view.height()) corner.setY(view.top());
    // whole device pixels, or the picture's edge would be blurred
    const double ratio = devicePixelRatioF();
    corner = {std::round(corner.x() * ratio) / ratio, std::round(corner.y() * ratio) / ratio};
    return {corner, size};
}

QPointF ImageView::fractionAt(const QPointF& position) const {
    const QRectF target = pictureRect();
    if (target.isEmpty()) return {0.5, 0.5};
    return {(position.x() - target.left()) / target.width(),
            (position.y() - target.top()) / target.height()};
}

std::optional<QPoint> ImageView::pixelAt(const QPointF& position) const {
    if (!viewport().contains(position) || !pictureRect().contains(position)) return std::nullopt;
    const QPointF place = fractionAt(position);
    return QPoint(
        std::clamp(static_cast<int>(place.x() * m_picture.width), 0, m_picture.width - 1),
        std::clamp(static_cast<int>(place.y() * m_picture.height), 0, m_picture.height - 1));
}

QString ImageView::nameAt(const QPointF& position) const {
    if (axesRoom().isNull()) return {};
    return m_axes.nameAt(position, viewport(), pictureRect());
}

/// Names of classes may be cut, and a cell has no room for all that it stands for.
bool ImageView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QString tip = nameAt(help->pos());
    std::optional<QString> told;
    if (const auto cell = pixelAt(help->pos()); cell && m_cellTips) told = m_cellTips(*cell);
    if (!told && tip.isEmpty()) return QWidget::event(event);
    if (told) tip = *told;
    QToolTip::showText(help->globalPos(), wrappedTip(tip), this);
    return true;
}

void ImageView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintTitle(painter);
    paintPicture(painter);
    if (const QMarginsF around = axesRoom(); !around.isNull()) {
        painter.setPen(palette().color(QPalette::WindowText));
        m_axes.paint(painter, viewport(), pictureRect(), around, font());
    }
    if (m_legend > 0) paintLegend(painter);
}

QRect ImageView::titleLine() const {
    const QRect line(kPictureMargin, 0, width() - 2 * kPictureMargin, titleHeight());
    // over the picture, and beyond its sides as far as the words need
    const QRect above = pictureRect().toAlignedRect() & line.adjusted(0, 0, 0, height());
    const int wanted = std::max(above.width(), titleWidth(m_shown, m_note, m_titleSize));
    const int spare = line.width() - wanted;
    if (spare <= 0 || above.isEmpty()) return line;
    const int left = std::clamp(above.center().x() - wanted / 2, line.left(), line.left() + spare);
    return {left, 0, wanted, titleHeight()};
}

void ImageView::paintTitle(QPainter& painter) const {
    painter.setFont(titleFont(m_titleSize));
    const QRect line = titleLine();
    painter.setPen(m_titleColor.isValid() ? m_titleColor : palette().color(QPalette::WindowText));
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, shownTitle());
    painter.setFont(noteFont(m_titleSize));
    painter.setPen(colorsFor(palette()).muted);
    if (fits(m_shown, m_note, m_titleSize))
        painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, m_note);
}

void ImageView::paintPicture(QPainter& painter) const {
    const QRectF view = viewport(), target = pictureRect();
    if (target.isEmpty()) {
        painter.setPen(palette().color(QPalette::Mid));
        painter.drawRect(view.adjusted(0, 0, -1, -1));
        return;
    }
    painter.save();
    painter.setClipRect(view);
    painter.setRenderHint(QPainter::SmoothPixmapTransform,
                          m_style == Style::Plot || m_style == Style::Text); // else nearest
    painter.drawImage(target, m_image);
    if (!m_notFinite.isNull()) paintNotFinite(painter, target);
    if (!m_right.isNull()) paintSwipe(painter, target);
    if (hasShares()) paintShares(painter, m_picture, m_image, view, target, font());
    if (m_marked && m_marked->x() < m_picture.width && m_marked->y() < m_picture.height) {
        const double w = target.width() / m_picture.width, h = target.height() / m_picture.height;
        const QRectF cell(target.left() + m_marked->x() * w, target.top() + m_marked->y() * h, w,
                          h);
        // black and white: one of them shows on any picture
        painter.setPen(QPen(Qt::black, 0));
        painter.drawRect(cell.adjusted(-1, -1, 1, 1));
        painter.setPen(QPen(Qt::white, 0));
        painter.drawRect(cell.adjusted(-2, -2, 2, 2));
    }
    painter.restore();
}

void ImageView::paintSwipe(QPainter& painter, const QRectF& target) const {
    const double share =
        m_marked && m_picture.width > 0 ? (m_marked->x() + 0.5) / m_picture.width : 0.5;
    const double x = std::round(target.left() + share * target.width());
    painter.save();
    painter.setClipRect(QRectF(QPointF(x, target.top()), target.bottomRight()), Qt::IntersectClip);
    painter.drawImage(target, m_right);
    painter.restore();
    // black and white: one of them shows on any picture
    painter.fillRect(QRectF(x - 1, target.top(), 1, target.height()), Qt::black);
    painter.fillRect(QRectF(x, target.top(), 1, target.height()), Qt::white);
}

/// Paints a hatch in a second colour, so that inf and nan also differ from a picture's own magenta.
void ImageView::paintNotFinite(QPainter& painter, const QRectF& target) const {
    const QRectF seen = target.intersected(viewport());
    if (seen.isEmpty()) return;
    const double ratio = devicePixelRatioF();
    QImage hatch(QSize(static_cast<int>(std::ceil(seen.width() * ratio)),
                       static_cast<int>(std::ceil(seen.height() * ratio))),
                 QImage::Format_ARGB32_Premultiplied);
    hatch.setDevicePixelRatio(ratio);
    hatch.fill(Qt::transparent);
    {
        QPainter cut(&hatch);
        cut.drawImage(target.translated(-seen.topLeft()), m_notFinite);
        cut.setCompositionMode(QPainter::CompositionMode_SourceIn);
        cut.fillRect(QRectF(QPointF(0, 0), seen.size()), QBrush(Qt::black, Qt::BDiagPattern));
    }
    painter.drawImage(seen.topLeft(), hatch);
}

QString ImageView::legendEnd() const {
    const QString end = QLocale().toString(m_legend, 'g', 3);
    return m_mapped && m_highest > m_legend ? tr("≥ %1").arg(end) : end;
}

void ImageView::paintLegend(QPainter& painter) const {
    const QString high = legendEnd();
    const int text = fontMetrics().horizontalAdvance(high) + 6;
    const int zero = fontMetrics().horizontalAdvance(u'0') + 6;
    // right below the picture and the names of its columns
    const double bottom = pictureRect().bottom() + axesRoom().bottom();
    const int top = std::min(height() - legendHeight(), static_cast<int>(std::ceil(bottom)));
    const QRect line(kPictureMargin, top, width() - 2 * kPictureMargin, legendHeight());
    const QRect bar(line.left() + zero, line.top() + 6, std::max(0, line.width() - zero - text),
                    legendHeight() - 11);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("0"));
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, high);
    for (int x = 0; x < bar.width(); ++x)
        painter.fillRect(bar.left() + x, bar.top(), 1, bar.height(),
                         QColor(viridis(double(x) / std::max(1, bar.width() - 1))));
}

void ImageView::wheelEvent(QWheelEvent* event) {
    if (event->angleDelta().y() != 0)
        m_transform.zoomAbout(fractionAt(event->position()),
                              std::pow(kZoomOfNotch, event->angleDelta().y() / 120.0));
    event->accept();
}

void ImageView::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) m_dragged = event->position();
}

void ImageView::mouseMoveEvent(QMouseEvent* event) {
    const QRectF target = pictureRect();
    if (m_dragged && !target.isEmpty()) {
        const QPointF moved = event->position() - *m_dragged;
        m_dragged = event->position();
        m_transform.panBy({-moved.x() / target.width(), -moved.y() / target.height()});
    }
    Q_EMIT pixelHovered(pixelAt(event->position()).value_or(QPoint(-1, -1)));
}

void ImageView::mouseReleaseEvent(QMouseEvent*) { m_dragged.reset(); }

void ImageView::mouseDoubleClickEvent(QMouseEvent*) { m_transform.fit(); }

void ImageView::leaveEvent(QEvent*) { Q_EMIT pixelHovered({-1, -1}); }

QSize ImageView::sizeHint() const { return {220, 240}; }

QSize ImageView::minimumSizeHint() const { return {60, 60}; }

} // namespace halfscope
