// Names that are wider than a column are turned, to be read from below.
#include "ui/images/cell_axes.h"

#include "ui/images/picture_words.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"

#include <QFontMetricsF>
#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QSet>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace halfscope {
namespace {

constexpr double kAxisGap = 4; // between a name and the table
// Names that need more of the pane are cut, but not to fewer letters, unless they take half of it.
constexpr double kMostOfPane = 0.3, kHalf = 0.5, kLeastLetters = 8;
constexpr double kMostForAudience = 0.4;               // who cannot point at a name that is cut
constexpr double kAxisSizes[] = {0.85, 0.7, 0.6, 0.5}; // of a widget's letters

QFont smaller(const QFont& font) { return scaledFont(font, kAxisSizes[0]); }

/// Whether letters are larger than usual, as those for an audience are.
bool areLarge(const QFont& widgetFont) {
    return QFontMetricsF(widgetFont).height() >
           1.1 * QFontMetricsF(QGuiApplication::font()).height();
}

/// Returns the fonts for a table in a widget, the largest first. None is smaller than it is in
/// usual letters.
std::vector<QFont> fontsFor(const QFont& widgetFont) {
    const double least = QFontMetricsF(smaller(QGuiApplication::font())).height();
    std::vector<QFont> fonts{smaller(widgetFont)};
    for (const double size : kAxisSizes)
        if (QFont font = scaledFont(widgetFont, size);
            size < kAxisSizes[0] && QFontMetricsF(font).height() >= least)
            fonts.push_back(std::move(font));
    return fonts;
}

/// Returns the room that names take of a side of the pane: at most a part of it, but what the table
/// leaves anyway.
double mostOf(double side, double part, double spare, const QFontMetricsF& metrics) {
    const double brief = kLeastLetters * metrics.averageCharWidth();
    return std::max({part * side, std::min(kHalf * side, brief), spare});
}

/// Cuts names at their ends, and in the middle where that would make two of them equal.
QStringList cut(const QStringList& names, const QFontMetricsF& metrics, double width) {
    for (const Qt::TextElideMode mode : {Qt::ElideRight, Qt::ElideMiddle}) {
        QStringList shown;
        for (const QString& name : names)
            shown << metrics.elidedText(name, mode, width);
        const QSet<QString> different(shown.begin(), shown.end());
        if (mode == Qt::ElideMiddle || different.size() == shown.size()) return shown;
    }
    return names;
}

double largestShare(const Picture& shares) {
    double most = 0;
    for (const float light : shares.values)
        most = std::max(most, 1 - double{light});
    return most;
}

} // namespace

double CellAxes::widest(const QFont& font) const {
    const QFontMetricsF metrics(font);
    double width = 0;
    for (const QString& name : m_names)
        width = std::max(width, metrics.horizontalAdvance(name));
    return width + 1;
}

QMarginsF CellAxes::room(const QSizeF& pane, const QFont& widgetFont) const {
    return m_names.isEmpty() ? QMarginsF() : fitted(pane, widgetFont).room;
}

/// Takes the largest font in which all names are whole, else the smallest one that has room.
CellAxes::Fitted CellAxes::fitted(const QSizeF& pane, const QFont& widgetFont) const {
    const double most = areLarge(widgetFont) ? kMostForAudience : kMostOfPane;
    const std::vector<QFont> fonts = fontsFor(widgetFont);
    Fitted best{fonts.front(), {}};
    for (const QFont& font : fonts) {
        const QMarginsF room = roomIn(font, pane, most);
        if (room.isNull()) continue;
        best = {font, room};
        if (fonts.size() == 1 || areWhole(font, room)) break;
    }
    return best;
}

bool CellAxes::areWhole(const QFont& font, const QMarginsF& room) const {
    const double name = widest(font);
    const bool level = room.bottom() <= QFontMetricsF(font).height();
    return name + kAxisGap <= room.left() && (level || name + kAxisGap <= room.bottom());
}

QMarginsF CellAxes::roomIn(const QFont& font, const QSizeF& pane, double most) const {
    const QFontMetricsF metrics(font);
    const double line = metrics.height(), name = widest(font);
    const auto rows = static_cast<double>(m_names.size());
    const auto beside = [&](double bottom) {
        const double spare = pane.width() - kAxisGap - (pane.height() - bottom);
        return std::min(name, mostOf(pane.width(), most, spare, metrics)) + kAxisGap;
    };
    const auto cell = [&](double bottom) {
        return std::min((pane.width() - beside(bottom)) / rows, (pane.height() - bottom) / rows);
    };
    const double spare = pane.height() - kAxisGap - (pane.width() - beside(line));
    const double turned = std::min(name, mostOf(pane.height(), most, spare, metrics)) + kAxisGap;
    const double bottom = name <= cell(line) ? line : turned;
    if (cell(bottom) < 0.9 * line) return {};
    return {beside(bottom), 0, 0, bottom};
}

QSizeF CellAxes::paneFor(const QSizeF& table, const QFont& widgetFont) const {
    if (m_names.isEmpty()) return table;
    const QFont font = smaller(widgetFont);
    const double name = std::min(widest(font), table.width()); // longer ones are cut
    const bool level = name * static_cast<double>(m_names.size()) <= table.width();
    return {table.width() + name + kAxisGap,
            table.height() + (level ? QFontMetricsF(font).height() : name + kAxisGap)};
}

void CellAxes::paint(QPainter& painter, const QRectF& view, const QRectF& table,
                     const QMarginsF& around, const QFont& widgetFont) const {
    const QFont font = fitted(view.marginsAdded(around).size(), widgetFont).font;
    const QFontMetricsF metrics(font);
    painter.setFont(font);
    const auto count = static_cast<double>(m_names.size());
    const double high = table.height() / count, wide = table.width() / count;
    const double line = metrics.height(), beside = around.left() - kAxisGap;
    const bool level = widest(font) <= wide;
    const double below = level ? wide : around.bottom() - kAxisGap;
    const double right = std::max(view.left(), table.left()) - kAxisGap;
    const double top = std::min(view.bottom(), table.bottom());
    const QStringList rows = cut(m_names, metrics, beside), columns = cut(m_names, metrics, below);
    for (qsizetype i = 0; i < m_names.size(); ++i) {
        const double y = table.top() + (static_cast<double>(i) + 0.5) * high;
        const double x = table.left() + (static_cast<double>(i) + 0.5) * wide;
        if (y > view.top() && y < view.bottom())
            painter.drawText(QRectF(right - beside, y - line / 2, beside, line),
                             Qt::AlignRight | Qt::AlignVCenter, rows[i]);
        if (x < view.left() || x > view.right()) continue;
        painter.save();
        painter.translate(x, top);
        if (!level) painter.rotate(-90);
        if (level)
            painter.drawText(QRectF(-wide / 2, 0, wide, line), Qt::AlignCenter, columns[i]);
        else
            painter.drawText(QRectF(-below - kAxisGap, -line / 2, below, line),
                             Qt::AlignRight | Qt::AlignVCenter, columns[i]);
        painter.restore();
    }
}

QString CellAxes::nameAt(const QPointF& at, const QRectF& view, const QRectF& table) const {
    const QRectF seen = table & view;
    const auto count = static_cast<double>(m_names.size());
    if (at.x() < seen.left() && at.y() >= seen.top() && at.y() < seen.bottom())
        return m_names.value(static_cast<int>((at.y() - table.top()) / table.height() * count));
    if (at.y() > seen.bottom() && at.x() >= seen.left() && at.x() < seen.right())
        return m_names.value(static_cast<int>((at.x() - table.left()) / table.width() * count));
    return {};
}

void paintShares(QPainter& painter, const Picture& picture, const QImage& cells, const QRectF& view,
                 const QRectF& table, const QFont& widgetFont) {
    constexpr double kLeastShare = 0.005; // less is 0 %
    const QSizeF cell(table.width() / picture.width, table.height() / picture.height);
    const auto fits = [&](const QFont& font, const QString& text) {
        const QFontMetricsF metrics(font);
        return metrics.horizontalAdvance(text) <= cell.width() && metrics.height() <= cell.height();
    };
    const std::vector<QFont> fonts = fontsFor(widgetFont);
    // letters for an audience are as large as the figures allow; in usual ones, figures must not
    // come and go with a share of 100 %
    const double most = areLarge(widgetFont) ? largestShare(picture) : 1;
    const auto font = std::find_if(fonts.begin(), fonts.end(), [&](const QFont& each) {
        return fits(each, bareShareText(most));
    });
    if (font == fonts.end()) return;
    const bool whole = fits(*font, shareText(most)); // else without the sign
    painter.setFont(*font);
    for (int y = 0; y < picture.height; ++y)
        for (int x = 0; x < picture.width; ++x) {
            const double share =
                1 - double{picture.values[static_cast<size_t>(y * picture.width + x)]};
            const QRectF room(
                QPointF(table.left() + x * cell.width(), table.top() + y * cell.height()), cell);
            if (!(share >= kLeastShare) || !view.intersects(room)) continue;
            const QColor ground(cells.pixel(x, y));
            const bool dark = contrast(Qt::white, ground) > contrast(Qt::black, ground);
            painter.setPen(dark ? Qt::white : Qt::black);
            painter.drawText(room, Qt::AlignCenter,
                             whole ? shareText(share) : bareShareText(share));
        }
}

double sideForShares(const Picture& picture, const QFont& widgetFont) {
    constexpr double kAround = 2; // pixels
    const QFontMetricsF metrics(smaller(widgetFont));
    const double cell = std::max(metrics.horizontalAdvance(shareText(1)), metrics.height());
    return std::max(picture.width, picture.height) * (std::ceil(cell) + kAround);
}

} // namespace halfscope
