// Shades are the full colour over the background, so that zones show through where values are few.
#include "ui/plots/gradient_map_item.h"

#include "ui/look/text_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace halfscope {

namespace {

using Counts = MagnitudeCounts;
using Item = GradientMapItem;

constexpr int kBinRows = Item::kTop - Item::kBottom;
constexpr double kLeastShade = 0.1;           // even the smallest share is visible
constexpr double kContrast = 9;               // of the full shade against the background
constexpr int kGreyZone = 40, kRedZone = 30;  // alpha, of 255
constexpr int kLegendBar = 5, kLegendGap = 2; // pixels
constexpr double kAxisFont = 0.75;

/// Returns the shares by row, from below: zeros, a gap, the powers of two, a gap, inf and nan.
std::array<double, kBinRows> rowsOf(const GradientShares& shares) {
    std::array<double, kBinRows> rows{};
    const auto at = [&rows](int exponent) -> double& {
        return rows[static_cast<size_t>(exponent - Item::kBottom)];
    };
    for (int i = 0; i < Counts::kBuckets; ++i)
        at(std::clamp(Counts::kLowest + i, Item::kLowest, Item::kHighest)) +=
            static_cast<double>(shares.buckets[static_cast<size_t>(i)]);
    for (int row = Item::kBottom; row < Item::kZerosTop; ++row)
        at(row) = static_cast<double>(shares.zeros);
    for (int row = Item::kInfBottom; row < Item::kTop; ++row)
        at(row) = static_cast<double>(shares.notFinite);
    return rows;
}

} // namespace

GradientMapItem::GradientMapItem(QCustomPlot& plot, QCPAxisRect& rect)
    : QCPAbstractItem(&plot), m_rect(rect) {
    setClipToAxisRect(false); // the legend is outside of the rect
    setSelectable(false);
}

double GradientMapItem::shadeOf(double share) {
    if (!(share > 0)) return 0;
    return kLeastShade + (1 - kLeastShade) * std::sqrt(std::min(1.0, share / kFull));
}

QColor GradientMapItem::shaded(double shade) const {
    QColor color = m_full;
    color.setAlphaF(static_cast<float>(shade));
    return color;
}

QColor GradientMapItem::fullShade(const Colors& colors, int lane) {
    return readable(colors.lane(lane), colors.background, kContrast);
}

void GradientMapItem::setColors(const Colors& colors, int lane) {
    m_colors = colors;
    m_full = fullShade(colors, lane);
}

void GradientMapItem::setHistory(const GradientHistory& history, double from, double to,
                                 int pixels) {
    m_half = history.type() == DType::F16;
    m_image = QImage(std::max(1, pixels), kBinRows, QImage::Format_ARGB32_Premultiplied);
    m_image.fill(Qt::transparent);
    const double step = (to - from) / m_image.width();
    const auto put = [this](int x, int row, const QColor& color) {
        auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(kBinRows - 1 - row));
        line[x] = qPremultiply(color.rgba());
    };
    for (int x = 0; x < m_image.width(); ++x) {
        const double left = from + x * step;
        if (const auto shares = history.mean(left, left + step)) {
            const auto rows = rowsOf(*shares);
            for (int row = 0; row < kBinRows; ++row)
                if (const double shade = shadeOf(rows[static_cast<size_t>(row)]); shade > 0)
                    put(x, row, shaded(shade));
        }
        if (!history.skipped(left, left + step)) continue;
        for (int row = kInfBottom; row < kTop; ++row)
            put(x, row - kBottom, m_colors.error);
    }
}

double GradientMapItem::placeOf(double exponent) const {
    return m_rect.axis(QCPAxis::atLeft)->coordToPixel(exponent);
}

/// Draws the zones as the histogram does: filled when the gradients are stored in fp16.
void GradientMapItem::drawZones(QCPPainter& painter) const {
    if (!m_half) return;
    const auto fill = [&](double from, double to, QColor color, int alpha) {
        color.setAlpha(alpha);
        const QRectF rect(m_rect.rect());
        painter.fillRect(
            QRectF(QPointF(rect.left(), placeOf(to)), QPointF(rect.right() + 1, placeOf(from))),
            color);
    };
    fill(kBottom, kHalfZero, m_colors.error, kRedZone);
    fill(kHalfZero, kHalfNormal, m_colors.muted, kGreyZone);
    fill(kHalfInfinite, kTop, m_colors.error, kRedZone);
}

void GradientMapItem::drawLimits(QCPPainter& painter) const {
    painter.setPen(QPen(m_colors.muted, 0, Qt::DotLine));
    for (const int limit : {kHalfZero, kHalfNormal, kHalfInfinite})
        painter.drawLine(QLineF(m_rect.left(), placeOf(limit), m_rect.right(), placeOf(limit)));
}

/// Draws a bar in the right margin, where there is room for its labels.
void GradientMapItem::drawLegend(QCPPainter& painter) const {
    const QFont font = scaledFont(mParentPlot->font(), kAxisFont);
    const QFontMetrics metrics(font);
    const QRect plot = m_rect.rect();
    const QRect bar(plot.right() + 1 + kLegendGap, plot.top(), kLegendBar, plot.height());
    const QRect text(bar.right() + 1 + kLegendGap, bar.top(), m_rect.margins().right(),
                     bar.height());
    if (bar.height() < 3 * metrics.height()) return;
    for (int y = 0; y < bar.height(); ++y)
        painter.fillRect(QRect(bar.left(), bar.bottom() - y, bar.width(), 1),
                         shaded(shadeOf(kFull * y / bar.height())));
    painter.setPen(QPen(m_colors.muted, 0));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bar.adjusted(0, 0, -1, -1));
    painter.setFont(font);
    painter.setPen(m_colors.text);
    painter.drawText(text, Qt::AlignLeft | Qt::AlignTop, tr("20%"));
    painter.drawText(text, Qt::AlignLeft | Qt::AlignBottom, tr("0%"));
}

/// Draws between the limits of fp16, where lines would cross no letter.
void GradientMapItem::drawNote(QCPPainter& painter) const {
    const QRectF room(QPointF(m_rect.left(), placeOf(kHalfInfinite)),
                      QPointF(m_rect.right(), placeOf(kHalfNormal)));
    constexpr double kAside = 8; // pixels at either end
    const QRectF inner = room.adjusted(kAside, 0, -kAside, 0);
    constexpr int kHow = Qt::AlignCenter | Qt::TextWordWrap;
    painter.setFont(mParentPlot->font());
    painter.setPen(m_colors.text);
    for (const QString& form : m_note)
        if (inner.contains(painter.boundingRect(inner, kHow, form)))
            return painter.drawText(inner, kHow, form);
}

void GradientMapItem::draw(QCPPainter* painter) {
    painter->save();
    drawLegend(*painter);
    painter->setClipRect(m_rect.rect());
    drawZones(*painter);
    if (!m_image.isNull()) painter->drawImage(m_rect.rect(), m_image);
    drawLimits(*painter);
    drawNote(*painter);
    painter->restore();
}

} // namespace halfscope
