// Paints the cells, and the bar in the same colours.
#include "ui/dialogs/grid_view.h"

#include "ui/images/picture_image.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"

#include <QApplication>
#include <QCursor>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>

namespace halfscope {

namespace {

QColor colorOf(double goodness) { return QColor(viridis(goodness)); }

/// Returns black or white, of which one reaches 4.5:1 on any colour.
QColor textOn(const QColor& background) {
    const QColor black(Qt::black), white(Qt::white);
    return contrast(black, background) > contrast(white, background) ? black : white;
}

class CellPainter : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Colors colors = colorsFor(option.palette);
        const QVariant goodness = index.data(GridModel::GoodnessRole);
        const bool colored = goodness.isValid();
        const QColor ground = colored ? colorOf(goodness.toDouble()) : colors.background;
        QColor ink = colored ? textOn(ground) : colors.text;
        if (index.data(GridModel::FailedRole).toBool()) ink = colors.error;
        painter->save();
        painter->fillRect(option.rect, ground);
        painter->setPen(ink);
        QFont font = option.font;
        font.setBold(index.data(GridModel::BestRole).toBool());
        painter->setFont(font);
        painter->drawText(option.rect, Qt::AlignCenter, index.data().toString());
        if (option.state & QStyle::State_Selected) {
            constexpr int kWidth = 3; // pixels; a colour of its own would hide that of the cell
            painter->setPen(QPen(ink, kWidth, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
            const int in = kWidth / 2 + 1;
            painter->drawRect(option.rect.adjusted(in, in, -in - 1, -in - 1));
        } else if (option.state & QStyle::State_HasFocus) {
            painter->setPen(QPen(ink, 1, Qt::DotLine));
            painter->drawRect(option.rect.adjusted(2, 2, -3, -3));
        }
        painter->restore();
    }

    /// Reasons of failures name files of the user, which must not pass for markup.
    bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                   const QModelIndex& index) override {
        if (event->type() != QEvent::ToolTip || !index.isValid())
            return QStyledItemDelegate::helpEvent(event, view, option, index);
        QToolTip::showText(event->globalPos(), wrappedTip(index.data(Qt::ToolTipRole).toString()),
                           view);
        return true;
    }
};

/// The colours from the worst at the left to the best at the right.
class ColorBar : public QWidget {
public:
    using QWidget::QWidget;

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        for (int x = 0; x < width(); ++x)
            painter.fillRect(x, 0, 1, height(), colorOf(x / std::max(1.0, width() - 1.0)));
    }
};

} // namespace

GridView::GridView(GridModel& model, QWidget* parent) : QTableView(parent), m_model(model) {
    setModel(&model);
    setItemDelegate(make<CellPainter>(this));
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setTabKeyNavigation(false);
    // the cells fill the view; they can be scrolled where they would be too small to be read
    for (QHeaderView* each : {horizontalHeader(), verticalHeader()}) {
        each->setSectionResizeMode(QHeaderView::Stretch);
        each->setHighlightSections(false);
    }
    fitLetters();
    connect(&model, &QAbstractItemModel::dataChanged, this, &GridView::renewTip);
}

void GridView::fitLetters() {
    constexpr int kNumber = 13; // characters: a number, the star and a mark
    constexpr int kLeastRows = 3;
    const int row = fontMetrics().lineSpacing() * 7 / 4;
    horizontalHeader()->setMinimumSectionSize(kNumber * fontMetrics().averageCharWidth());
    verticalHeader()->setMinimumSectionSize(row);
    setMinimumHeight(horizontalHeader()->sizeHint().height() + kLeastRows * row);
}

void GridView::changeEvent(QEvent* event) {
    QTableView::changeEvent(event);
    if (event->type() == QEvent::FontChange) fitLetters();
}

/// An open tip would go on to tell of a star that has moved since.
void GridView::renewTip() {
    const QPoint at = QCursor::pos();
    if (!QToolTip::isVisible() || QApplication::widgetAt(at) != viewport()) return;
    const QModelIndex told = indexAt(viewport()->mapFromGlobal(at));
    if (told.isValid())
        QToolTip::showText(at, wrappedTip(told.data(Qt::ToolTipRole).toString()), viewport());
}

QSize GridView::sizeHint() const { return {QTableView::sizeHint().width(), minimumHeight()}; }

std::vector<size_t> GridView::selected() const {
    std::vector<size_t> cells;
    for (const QModelIndex& index : selectionModel()->selectedIndexes())
        cells.push_back(m_model.cellAt(index));
    std::sort(cells.begin(), cells.end());
    return cells;
}

void GridView::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) return emit copyAsked();
    QTableView::keyPressEvent(event);
}

void GridView::selectionChanged(const QItemSelection& now, const QItemSelection& before) {
    QTableView::selectionChanged(now, before);
    emit chosen();
}

void GridView::currentChanged(const QModelIndex& now, const QModelIndex& before) {
    QTableView::currentChanged(now, before);
    emit chosen();
}

GridLegend::GridLegend(const GridModel& model, QWidget* parent) : QWidget(parent), m_model(model) {
    auto* column = make<QVBoxLayout>(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* row = make<QHBoxLayout>();
    column->addLayout(row);
    m_low = make<QLabel>(this);
    m_bar = make<ColorBar>(this);
    m_high = make<QLabel>(this);
    m_marks = make<QLabel>(this);
    m_marks->setObjectName(QStringLiteral("gridMarks"));
    m_marks->setWordWrap(true); // equal cells need many words
    row->addWidget(m_low);
    row->addWidget(m_bar, 1);
    row->addWidget(m_high);
    column->addWidget(m_marks);
    m_doubt = make<QLabel>(this);
    m_doubt->setObjectName(QStringLiteral("gridDoubt"));
    m_doubt->setWordWrap(true);
    column->addWidget(m_doubt);
    fitLetters();
    refresh();
}

void GridLegend::fitLetters() {
    constexpr int kWidth = 12; // characters
    m_bar->setMinimumWidth(kWidth * fontMetrics().averageCharWidth());
    m_bar->setFixedHeight(fontMetrics().height());
}

void GridLegend::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange && m_bar) fitLetters();
}

void GridLegend::refresh() {
    const GridModel::Range range = m_model.range();
    const bool scales = m_model.shown() == GridModel::Measure::Scale;
    const bool any = !range.best.isEmpty();
    m_low->setText((scales ? tr("lowest %1") : tr("worst %1")).arg(range.worst).trimmed());
    m_high->setText((scales ? tr("highest %1") : tr("best %1")).arg(range.best).trimmed());
    QStringList marks, spoken; // a screen reader may leave out the signs
    if (const QString reason = m_model.starReason(); !reason.isEmpty()) {
        marks << tr("★ %1").arg(reason);
        spoken << tr("Star: %1").arg(reason);
    }
    for (const auto& cell : m_model.cells())
        if (cell && cell->outcome == CellOutcome::Stopped) {
            marks << tr("* stopped early");
            spoken << tr("Asterisk: stopped early");
            break;
        }
    m_marks->setText(marks.join(QStringLiteral("   ")));
    m_marks->setAccessibleName(spoken.join(QStringLiteral(". ")));
    m_marks->setVisible(!marks.isEmpty());
    m_marks->setToolTip(marks.isEmpty() ? QString() : m_model.starRule());
    m_marks->setAccessibleDescription(m_marks->toolTip());
    m_doubt->setText(m_model.doubt());
    m_doubt->setVisible(!m_doubt->text().isEmpty());
    m_bar->setAccessibleName(tr("Colours"));
    m_bar->setAccessibleDescription(
        any ? tr("Dark: %1. Bright: %2").arg(m_low->text(), m_high->text()) : QString());
    for (QWidget* each : {static_cast<QWidget*>(m_low), m_bar, static_cast<QWidget*>(m_high)})
        each->setVisible(any);
}

} // namespace halfscope
