// Strips have the colours and the range of the map of gradients over time.
#include "ui/dialogs/layer_gradients_view.h"

#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/models/layer_gradients_model.h"
#include "ui/plots/gradient_map_item.h"

#include <QApplication>
#include <QEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStyle>

#include <algorithm>
#include <utility>
#include <vector>

namespace halfscope {
namespace {

using Counts = MagnitudeCounts;
using Model = LayerGradientsModel;
using Map = GradientMapItem;

constexpr int kMargin = 4; // pixels beside a strip
// Widths in characters: at kWideStrip a strip is good to read, at kReadableStrip names need not be
// cut for it.
constexpr int kWideStrip = 48, kReadableStrip = 16, kLeastStrip = 6;
constexpr int kLeastLayer = 18, kLeastLane = 9;
constexpr int kZoneAlpha = 40;
constexpr double kAxisFont = 0.85;

/// Returns the left edge of 2^exponent in a strip; the ends are those of the map's axis.
double placeOf(double exponent, const QRectF& strip) {
    return strip.left() +
           strip.width() * (exponent - Map::kBottom) / double{Map::kTop - Map::kBottom};
}

QRectF stripIn(const QRect& cell) { return QRectF(cell).adjusted(kMargin, 2, -kMargin, -2); }

void paintCounts(QPainter& painter, const Counts& counts, const QColor& full, const QRectF& strip) {
    const auto total = static_cast<double>(std::max<int64_t>(1, counts.total()));
    const auto fill = [&](double from, double to, int64_t count) {
        const double shade = Map::shadeOf(static_cast<double>(count) / total);
        if (shade == 0) return;
        QColor color = full;
        color.setAlphaF(static_cast<float>(shade));
        const double left = placeOf(from, strip);
        painter.fillRect(QRectF(left, strip.top(), placeOf(to, strip) - left, strip.height()),
                         color);
    };
    fill(Map::kBottom, Map::kZerosTop, counts.zeros);
    fill(Map::kInfBottom, Map::kTop, counts.notFinite);
    fill(Map::kLowest, Map::kLowest + 1, counts.below(Map::kLowest + 1));
    for (int exponent = Map::kLowest + 1; exponent < Map::kHighest; ++exponent)
        fill(exponent, exponent + 1,
             counts.buckets[static_cast<size_t>(exponent - Counts::kLowest)]);
    const int64_t most = counts.below(Counts::kLowest + Counts::kBuckets);
    fill(Map::kHighest, Map::kHighest + 1, most - counts.below(Map::kHighest));
}

/// Draws what fp16 cannot hold: filled where the layer's gradients are stored in it, else only the
/// borders.
void paintLimits(QPainter& painter, const Colors& colors, bool half, const QRectF& strip) {
    const auto fill = [&](double from, double to, QColor color) {
        color.setAlpha(kZoneAlpha);
        const double left = placeOf(from, strip);
        painter.fillRect(QRectF(left, strip.top(), placeOf(to, strip) - left, strip.height()),
                         color);
    };
    if (half) {
        fill(Map::kLowest, kHalfZero, colors.error);
        fill(kHalfZero, kHalfNormal, colors.muted);
        fill(kHalfInfinite, Map::kHighest + 1, colors.error);
    }
    painter.setPen(QPen(colors.muted, 0, Qt::DotLine));
    for (const int limit : {kHalfZero, kHalfNormal, kHalfInfinite}) {
        const double x = placeOf(limit, strip);
        painter.drawLine(QPointF(x, strip.top()), QPointF(x, strip.bottom()));
    }
}

/// Splits "TransformerEncoderLayer 2.self_attn". The second part is empty where the name has no
/// space.
std::pair<QString, QString> partsOf(const QString& name) {
    const qsizetype at = name.indexOf(u' ');
    return at < 0 ? std::pair(name, QString()) : std::pair(name.left(at), name.mid(at + 1));
}

/// Returns the width for which a cell asks, in pixels: the text is not cut in it.
int cellWidth(const QString& text, const QFontMetrics& metrics, const QWidget* view) {
    const QStyle& style = view ? *view->style() : *QApplication::style();
    const int margin = style.pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, view) + 1;
    return metrics.horizontalAdvance(text) + 2 * margin;
}

/// Draws a line between two layers, and the strips.
class LayersDelegate : public QStyledItemDelegate {
public:
    LayersDelegate(const Model& model, QObject* parent)
        : QStyledItemDelegate(parent), m_model(model) {}

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Colors colors = colorsFor(option.palette);
        QStyledItemDelegate::paint(painter, option, index);
        if (index.column() == Model::Sizes) paintStrip(*painter, colors, option, index.row());
        const int row = index.row();
        if (row == 0 || !m_model.beginsLayer(row)) return;
        painter->save();
        painter->setPen(QPen(colors.grid, 0));
        painter->drawLine(option.rect.topLeft(), option.rect.topRight());
        painter->restore();
    }

protected:
    /// The name of a layer stands once: in its first row or, where it is too long for that, in its
    /// first two rows.
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        if (index.column() != Model::Layer) return;
        option->textElideMode =
            Qt::ElideMiddle; // "CausalTrans…out_proj": both ends tell layers apart
        const int row = index.row();
        const bool begins = m_model.beginsLayer(row);
        const bool breaks =
            option->rect.isValid() &&
            cellWidth(option->text, option->fontMetrics, option->widget) > option->rect.width();
        if (begins && breaks && row + 1 < m_model.rowCount() && !m_model.beginsLayer(row + 1))
            option->text = partsOf(option->text).first;
        else if (!begins && breaks && m_model.beginsLayer(row - 1))
            option->text = partsOf(option->text).second;
        else if (!begins)
            option->text.clear();
    }
    /// Asks for the room of the whole name, whatever its cell is like now.
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        QStyleOptionViewItem free = option;
        free.rect = {};
        return QStyledItemDelegate::sizeHint(free, index);
    }

private:
    void paintStrip(QPainter& painter, const Colors& colors, const QStyleOptionViewItem& option,
                    int row) const {
        const LayerGradients& layer = m_model.gradients(row);
        const QRectF strip = stripIn(option.rect);
        painter.save();
        painter.fillRect(strip, colors.background);
        paintLimits(painter, colors, layer.type == DType::F16, strip);
        const QColor full = Map::fullShade(colors, m_model.lane(row));
        QRectF half = strip;
        half.setHeight(strip.height() / 2);
        for (const auto counts : {&LayerGradients::outputs, &LayerGradients::weights}) {
            paintCounts(painter, layer.*counts, full, half);
            if (m_model.lacks(row, counts))
                painter.fillRect(half, QBrush(colors.muted, Qt::BDiagPattern));
            half.moveTop(half.bottom());
        }
        painter.restore();
    }

    const Model& m_model;
};

/// Has the axis of the strips over their column.
class SizesHeader : public QHeaderView {
public:
    explicit SizesHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {}

protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override {
        painter->save();
        QHeaderView::paintSection(painter, rect, section);
        painter->restore();
        if (section != Model::Sizes) return;
        painter->save();
        painter->setFont(scaledFont(font(), kAxisFont));
        painter->setPen(palette().color(QPalette::ButtonText));
        const QFontMetrics metrics(painter->font());
        const QRectF strip = stripIn(rect);
        std::vector<QRectF> taken;
        double end = strip.right();
        const auto put = [&](const QString& text, double at) {
            const int width = metrics.horizontalAdvance(text);
            const double most = std::max(strip.left(), end - width);
            const double left = std::clamp(placeOf(at, strip) - width / 2.0, strip.left(), most);
            const QRectF place(left, rect.top(), width + metrics.horizontalAdvance(u' '),
                               rect.height());
            if (std::any_of(taken.begin(), taken.end(),
                            [&](const QRectF& each) { return each.intersects(place); }))
                return;
            painter->drawText(place, Qt::AlignVCenter, text);
            taken.push_back(place);
        };
        // a narrow strip has room for the first of them; 2^16 stands left of its line there
        put(LayerGradientsView::tr("inf"), (Map::kInfBottom + Map::kTop) / 2.0);
        end = taken.front().left() - metrics.horizontalAdvance(u' ');
        put(QStringLiteral("0"), (Map::kBottom + Map::kZerosTop) / 2.0);
        for (const int exponent : {kHalfInfinite, kHalfNormal, kHalfZero, 0})
            put(QStringLiteral("2^%1").arg(exponent), exponent);
        painter->restore();
    }
};

} // namespace

LayerGradientsView::LayerGradientsView(LayerGradientsModel& model, QWidget* parent)
    : QTableView(parent), m_model(model) {
    setAccessibleName(tr("Gradients of each layer"));
    setHorizontalHeader(make<SizesHeader>(this));
    setModel(&model);
    setItemDelegate(make<LayersDelegate>(model, this));
    setSelectionMode(QAbstractItemView::SingleSelection);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setTabKeyNavigation(false); // Tab leaves the table, arrows move in it
    setShowGrid(false);
    setWordWrap(false);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    verticalHeader()->hide();
    fitRows();
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsClickable(false);
    horizontalHeader()->setSectionResizeMode(
        QHeaderView::Fixed); // the strip must not leave the view
}

void LayerGradientsView::fitRows() {
    verticalHeader()->setDefaultSectionSize(fontMetrics().lineSpacing() * 3 / 2);
}

void LayerGradientsView::changeEvent(QEvent* event) {
    QTableView::changeEvent(event);
    if (event->type() != QEvent::FontChange) return;
    fitRows();
    arrange();
}

void LayerGradientsView::arrange() {
    for (int column = 0; column < Model::Sizes; ++column)
        resizeColumnToContents(column);
    m_layer = columnWidth(Model::Layer);
    m_lane = columnWidth(Model::Lane);
    m_broken = 0;
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const bool one = m_model.beginsLayer(row) &&
                         (row + 1 == m_model.rowCount() || m_model.beginsLayer(row + 1));
        const QString name = m_model.index(row, Model::Layer).data().toString();
        const auto [type, place] = partsOf(name);
        const QFontMetrics metrics = fontMetrics();
        m_broken = std::max(m_broken, one ? cellWidth(name, metrics, this)
                                          : std::max(cellWidth(type, metrics, this),
                                                     cellWidth(place, metrics, this)));
    }
    shareWidth();
    if (!currentIndex().isValid() && m_model.rowCount() > 0)
        setCurrentIndex(m_model.index(0, Model::Lane));
}

void LayerGradientsView::widen() {
    for (const int column : {Model::Error, Model::Zero, Model::Small, Model::Room})
        if (const int wanted = sizeHintForColumn(column); wanted > columnWidth(column))
            setColumnWidth(column, wanted);
    shareWidth();
}

/// Gives the strip what the other columns leave. Where that is too little, the names of layers
/// break, then names are cut, and then the strip is narrow: its right end, where gradients
/// overflow, always stays in view.
void LayerGradientsView::shareWidth() {
    const int letter = fontMetrics().averageCharWidth();
    int left = viewport()->width() - m_layer - m_lane;
    for (int column = Model::Type; column < Model::Sizes; ++column)
        left -= columnWidth(column);
    setColumnWidth(Model::Layer, m_layer);
    setColumnWidth(Model::Lane, m_lane);
    for (const auto& [column, least] :
         {std::pair(Model::Layer, m_broken), std::pair(Model::Lane, kLeastLane * letter),
          std::pair(Model::Layer, kLeastLayer * letter)}) {
        const int spare = std::max(0, columnWidth(column) - least);
        const int cut = std::clamp(kReadableStrip * letter - left, 0, spare);
        setColumnWidth(column, columnWidth(column) - cut);
        left += cut;
    }
    setColumnWidth(Model::Sizes, std::max(left, kLeastStrip * letter));
}

void LayerGradientsView::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    shareWidth();
}

int LayerGradientsView::wantedWidth() const {
    int width = 2 * frameWidth() + verticalScrollBar()->sizeHint().width();
    width += m_layer + m_lane + kWideStrip * fontMetrics().averageCharWidth();
    for (int column = Model::Type; column < Model::Sizes; ++column)
        width += columnWidth(column);
    return width;
}

} // namespace halfscope
