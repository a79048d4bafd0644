// Names that are wider than a column are turned, to be read from below.
#include "ui/images/cell_axes.h"

#include "ui/look/text_fit.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>

namespace halfscope {
namespace {

constexpr double kAxisGap = 4;      // between a name and the table
constexpr double kMostOfPane = 0.3; // names that need more of it are cut

QFont smaller(const QFont& font) { return scaledFont(font, 0.85); }

} // namespace

double CellAxes::widest(const QFont& font) const {
    const QFontMetricsF metrics(font);
    double width = 0;
    for (const QString& name : m_names)
        width = std::max(width, metrics.horizontalAdvance(name));
    return width + 1;
}

QMarginsF CellAxes::room(const QSizeF& pane, const QFont& widgetFont) const {
    if (m_names.isEmpty()) return {};
    const QFont font = smaller(widgetFont);
    const double line = QFontMetricsF(font).height(), name = widest(font);
    const double left = std::min(name, kMostOfPane * pane.width()) + kAxisGap;
    const auto rows = static_cast<double>(m_names.size());
    const auto cell = [&](double bottom) {
        return std::min((pane.width() - left) / rows, (pane.height() - bottom) / rows);
    };
    const double turned = std::min(name, kMostOfPane * pane.height()) + kAxisGap;
    const double bottom = name <= cell(line) ? line : turned;
    if (cell(bottom) < 0.9 * line) return {};
    return {left, 0, 0, bottom};
}

void CellAxes::paint(QPainter& painter, const QRectF& view, const QRectF& table,
                     const QMarginsF& around, const QFont& widgetFont) const {
    const QFont font = smaller(widgetFont);
    const QFontMetricsF metrics(font);
    painter.setFont(font);
    const auto count = static_cast<double>(m_names.size());
    const double high = table.height() / count, wide = table.width() / count;
    const double line = metrics.height(), beside = around.left() - kAxisGap;
    const bool level = widest(font) <= wide;
    const double below = level ? wide : around.bottom() - kAxisGap;
    const double right = std::max(view.left(), table.left()) - kAxisGap;
    const double top = std::min(view.bottom(), table.bottom());
    for (qsizetype i = 0; i < m_names.size(); ++i) {
        const double y = table.top() + (static_cast<double>(i) + 0.5) * high;
        const double x = table.left() + (static_cast<double>(i) + 0.5) * wide;
        if (y > view.top() && y < view.bottom())
            painter.drawText(QRectF(right - beside, y - line / 2, beside, line),
                             Qt::AlignRight | Qt::AlignVCenter,
                             metrics.elidedText(m_names[i], Qt::ElideRight, beside));
        if (x < view.left() || x > view.right()) continue;
        const QString name = metrics.elidedText(m_names[i], Qt::ElideRight, below);
        painter.save();
        painter.translate(x, top);
        if (!level) painter.rotate(-90);
        if (level)
            painter.drawText(QRectF(-wide / 2, 0, wide, line), Qt::AlignCenter, name);
        else
            painter.drawText(QRectF(-below - kAxisGap, -line / 2, below, line),
                             Qt::AlignRight | Qt::AlignVCenter, name);
        painter.restore();
    }
}

} // namespace halfscope
