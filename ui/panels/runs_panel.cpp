// The table, the details of the chosen run, and the buttons.
#include "ui/panels/runs_panel.h"

#include "ui/dialogs/ask.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/run_facts.h"
#include "ui/panels/order_button.h"
#include "ui/panels/wrapped_text.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHash>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QShortcut>
#include <QShowEvent>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace halfscope {
namespace {

constexpr int kAroundARow = 4; // above and below its lines, in pixels

/// Draws a sample of the run's line before its name; its number says the same without colour. Below
/// its name is written in grey what sets the run apart, and what its lanes of one precision; below
/// that its losses or validations:
/// the panel is narrow, and columns would leave each of them too little.
class RunDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& plain,
               const QModelIndex& index) const override {
        QStyleOptionViewItem option = plain;
        initStyleOption(&option, index);
        QRect room = roomIn(option);
        option.text.clear();
        option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &option, painter,
                                            option.widget);
        const Lines lines = linesOf(option, index, room.width());
        const bool chosen = option.state & QStyle::State_Selected;
        const bool active = option.state & QStyle::State_Active;
        const QColor text =
            option.palette.color(active ? QPalette::Active : QPalette::Inactive,
                                 chosen ? QPalette::HighlightedText : QPalette::Text);
        const int step = QFontMetrics(option.font).lineSpacing();
        room.setTop(option.rect.top() + kAroundARow);
        painter->save();
        painter->setFont(option.font);
        const auto write = [&](const QStringList& all, const QColor& color) {
            painter->setPen(color);
            for (const QString& each : all) {
                painter->drawText(room, Qt::AlignLeft | Qt::AlignTop | Qt::TextSingleLine, each);
                room.translate(0, step);
            }
        };
        write(lines.name, text);
        for (const QStringList& each : {lines.settings, lines.lanes})
            write(each, chosen ? text : colorsFor(option.palette).muted);
        write(lines.losses, text);
        painter->restore();
    }

    /// The table asks for the sizes of all rows whenever one has changed, but only those are
    /// measured whose texts have changed since they were.
    QSize sizeHint(const QStyleOptionViewItem& plain, const QModelIndex& index) const override {
        const quint64 look = index.data(RunListModel::LookRole).toULongLong();
        if (look == 0) return measured(plain, index);
        if (plain.font != m_font || plain.rect.width() != m_width ||
            plain.widget->style() != m_style ||
            m_sizes.size() > 2 * index.model()->rowCount() + kMostForgotten) {
            m_sizes.clear();
            m_font = plain.font;
            m_width = plain.rect.width();
            m_style = plain.widget->style();
        }
        const bool current = index.data(RunListModel::CurrentRole).toBool(); // is bold
        const auto key = std::pair(look, current);
        if (const auto found = m_sizes.constFind(key); found != m_sizes.constEnd()) return *found;
        return *m_sizes.insert(key, measured(plain, index));
    }

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const bool current = index.data(RunListModel::CurrentRole).toBool();
        option->font.setBold(current);
        option->features &= ~QStyleOptionViewItem::WrapText; // see linesOf()
        addSample(*option, index, !current);
    }

private:
    static constexpr int kMostForgotten = 1000; // sizes of texts that have changed

    QSize measured(const QStyleOptionViewItem& plain, const QModelIndex& index) const {
        QStyleOptionViewItem option = plain;
        initStyleOption(&option, index);
        const Lines lines = linesOf(option, index, roomIn(option).width());
        const qsizetype count =
            lines.name.size() + lines.settings.size() + lines.lanes.size() + lines.losses.size();
        return {QStyledItemDelegate::sizeHint(plain, index).width(),
                static_cast<int>(count) * QFontMetrics(option.font).lineSpacing() +
                    2 * kAroundARow};
    }

    struct Lines {
        QStringList name, settings, lanes, losses;
    };

    /// Breaks the texts of a run into lines of this width.
    static Lines linesOf(const QStyleOptionViewItem& option, const QModelIndex& index, int width) {
        constexpr int kMostLines = 2;
        const auto broken = [&](const QString& text, int most) {
            if (text.isEmpty()) return QStringList();
            return width > 0 ? fittingLines(text, option.font, width, most) : QStringList(text);
        };
        const auto textIn = [&](RunListModel::Column column) {
            return index.siblingAtColumn(column).data().toString();
        };
        const QString losses = textIn(RunListModel::LossColumn);
        return {broken(index.data().toString(), kMostLines),
                broken(textIn(RunListModel::DiffersColumn), kMostLines),
                broken(index.data(RunListModel::LanesRole).toString(), kMostLines),
                broken(sideBySide(losses), static_cast<int>(losses.count(u'\n')) + 1)};
    }

    /// Puts lines beside each other, to be broken only between two of them.
    static QString sideBySide(QString lines) {
        const QString gap = QString(2, QChar::Nbsp) + u' ';
        return lines.replace(u' ', QChar::Nbsp).replace(u'\n', gap);
    }

    /// Returns the room for text beside the check box and the sample.
    static QRect roomIn(const QStyleOptionViewItem& option) {
        const QStyle& style = *option.widget->style();
        const int beside =
            style.pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, option.widget) + 1;
        return style.subElementRect(QStyle::SE_ItemViewItemText, &option, option.widget)
            .adjusted(beside, 0, -beside, 0);
    }

    /// Adds a sample of the run's line, or only the room for one: the names begin below each other.
    static void addSample(QStyleOptionViewItem& option, const QModelIndex& index, bool drawn) {
        constexpr int kSide = 12;
        QPixmap sample(kSide, kSide);
        sample.fill(Qt::transparent);
        if (drawn) {
            QPainter painter(&sample);
            painter.fillRect(
                0, kSide / 2 - 1, kSide, 3,
                colorsFor(option.palette).run(index.data(RunListModel::ColorRole).toInt()));
        }
        option.icon = QIcon(sample);
        option.icon.addPixmap(sample, QIcon::Selected); // the style would tint it
        option.decorationSize = sample.size();
        option.features |= QStyleOptionViewItem::HasDecoration;
    }

    mutable QHash<std::pair<quint64, bool>, QSize> m_sizes; ///< by look, and whether it is bold
    mutable QFont m_font; ///< with which they were measured, as with the others
    mutable int m_width = 0;
    mutable const QStyle* m_style = nullptr;
};

/// Home and End lead to the first and the last run: there is one column.
class RunTable : public QTableView {
public:
    using QTableView::QTableView;

protected:
    QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override {
        if (action == MoveHome || action == MoveEnd) modifiers |= Qt::ControlModifier;
        return QTableView::moveCursor(action, modifiers);
    }
    void keyPressEvent(QKeyEvent* event) override {
        if (event->key() == Qt::Key_Escape) return event->ignore(); // it is no row's first letter
        QTableView::keyPressEvent(event);
    }
};

} // namespace

RunsPanel::RunsPanel(RunListModel& model, QWidget* parent) : QWidget(parent), m_model(model) {
    setObjectName(QStringLiteral("runs"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum); // what it needs, and no more
    auto* column = make<QVBoxLayout>(this);
    column->setContentsMargins(6, 4, 6, 4);
    column->setSpacing(4);
    m_ordered = make<OrderedRuns>(m_model, this);
    buildHeading(*column);
    buildTable();
    connectTable();
    connectKeys();
    column->addWidget(m_table, 1);
    m_details = make<WrappedText>(this);
    m_details->setTextFormat(Qt::PlainText);
    m_details->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_details);
    auto* row = make<QHBoxLayout>();
    row->setSpacing(4);
    m_bringBack = newButton(QStringLiteral("bringRunBack"), tr("Show"),
                            tr("Shows this run and its settings again (Enter)"));
    m_repeat = newButton(QStringLiteral("repeatRun"), tr("Run again"),
                         tr("Trains with the settings of this run from the start"));
    m_rename =
        newButton(QStringLiteral("renameRun"), tr("Rename"), tr("Gives the run another name (F2)"));
    m_delete = newButton(QStringLiteral("deleteRun"), tr("Delete"),
                         tr("Removes this run from the list (Delete). Files on disk are kept."));
    for (QPushButton* button : {m_bringBack, m_repeat, m_rename, m_delete})
        row->addWidget(button);
    column->addLayout(row);
    connect(m_bringBack, &QPushButton::clicked, this, [this] { emit bringBackAsked(chosen()); });
    connect(m_repeat, &QPushButton::clicked, this, [this] { emit repeatAsked(chosen()); });
    connect(m_rename, &QPushButton::clicked, this,
            [this] { m_table->edit(m_table->currentIndex()); });
    connect(m_delete, &QPushButton::clicked, this, &RunsPanel::askToDelete);
    showDetails();
}

QPushButton* RunsPanel::newButton(const QString& name, const QString& text, const QString& tip) {
    auto* button = make<QPushButton>(text, this);
    button->setObjectName(name);
    button->setToolTip(tip);
    constexpr int kAround = 12; // pixels beside the text, both sides together
    button->setMinimumWidth(button->fontMetrics().horizontalAdvance(text) + kAround);
    return button;
}

void RunsPanel::buildHeading(QVBoxLayout& column) {
    constexpr int kAround = 4; // pixels: a higher button would take the room of a run's line
    auto* heading = make<QLabel>(tr("Runs"), this);
    QFont bold = font();
    bold.setBold(true);
    heading->setFont(bold);
    m_order = make<OrderButton>(this);
    m_order->setFixedHeight(heading->sizeHint().height() + kAround);
    connect(m_order, &OrderButton::orderChosen, this, [this](OrderedRuns::Order order) {
        setOrder(order);
        m_table->scrollToTop(); // where the best ones are
    });
    m_headingRow = make<QHBoxLayout>();
    m_headingRow->addWidget(heading, 1);
    m_headingRow->addWidget(m_order);
    column.addLayout(m_headingRow);
}

void RunsPanel::setOrder(OrderedRuns::Order order) {
    m_ordered->setOrder(order);
    m_order->setOrder(order);
    m_model.showValidations(order == OrderedRuns::Order::ByValidation);
    showDetails(); // which explain the numbers
}

void RunsPanel::buildTable() {
    m_table = make<RunTable>(this);
    m_table->setModel(m_ordered);
    setFocusProxy(m_table);
    m_table->setItemDelegate(make<RunDelegate>(m_table));
    m_table->setAccessibleName(tr("Runs of this session"));
    m_table->setToolTip(tr("A run that is ticked (Space) is drawn behind the one that is shown"));
    m_table->setProperty("keepsSpace", true); // Space ticks; see KeyRouter
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::EditKeyPressed);
    m_table->setTabKeyNavigation(false);
    m_table->setShowGrid(false);
    m_table->setWordWrap(true); // the delegate is told how wide a row to measure is
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->hideColumn(RunListModel::DiffersColumn); // shown below the name
    m_table->hideColumn(RunListModel::LossColumn);
    QHeaderView& header = *m_table->horizontalHeader();
    header.hide(); // one column of several lines, which the text below explains
    header.setSectionResizeMode(RunListModel::NameColumn, QHeaderView::Stretch);
}

void RunsPanel::connectTable() {
    const QHeaderView& header = *m_table->horizontalHeader();
    // texts are broken anew
    connect(&header, &QHeaderView::sectionResized, m_table, &QTableView::resizeRowsToContents,
            Qt::QueuedConnection);
    connect(&header, &QHeaderView::sectionResized, this, &RunsPanel::updateGeometry);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &RunsPanel::showDetails);
    // once the rows are as high as their texts
    connect(m_ordered, &QAbstractItemModel::dataChanged, this, &RunsPanel::followShown,
            Qt::QueuedConnection);
    // rows of other heights stand in other places
    connect(m_ordered, &QAbstractItemModel::layoutChanged, m_table,
            &QTableView::resizeRowsToContents, Qt::QueuedConnection);
    // its row grows when it has its first losses
    connect(
        m_table->verticalHeader(), &QHeaderView::sectionResized, this,
        [this](int row) {
            const QModelIndex index = m_ordered->index(row, 0);
            const bool inSight = m_table->viewport()->rect().intersects(m_table->visualRect(index));
            if (inSight && m_ordered->idAt(row) == m_shown) m_table->scrollTo(index);
        },
        Qt::QueuedConnection);
    connect(m_ordered, &QAbstractItemModel::dataChanged, this, &RunsPanel::showDetails);
    connect(m_ordered, &QAbstractItemModel::rowsInserted, this, &RunsPanel::showDetails);
    connect(m_ordered, &QAbstractItemModel::rowsRemoved, this, &RunsPanel::showDetails);
    connect(m_table, &QTableView::doubleClicked, this, [this] { emit bringBackAsked(chosen()); });
}

void RunsPanel::connectKeys() {
    const auto key = [this](const QKeySequence& keys, auto action) {
        auto* shortcut = make<QShortcut>(keys, m_table);
        shortcut->setContext(Qt::WidgetShortcut);
        connect(shortcut, &QShortcut::activated, this, action);
    };
    const auto bringBack = [this] {
        if (chosen() != RunId::None) emit bringBackAsked(chosen());
    };
    key(Qt::Key_Return, bringBack);
    key(Qt::Key_Enter, bringBack);
    key(Qt::Key_Delete, [this] { askToDelete(); });
}

RunId RunsPanel::chosen() const { return m_ordered->idAt(m_table->currentIndex().row()); }

void RunsPanel::takeKeyboard() {
    if (!isVisible()) return;
    if (!m_table->currentIndex().isValid()) {
        const QModelIndex shown = placeOfShown();
        m_table->setCurrentIndex(shown.isValid() ? shown : m_ordered->index(0, 0));
    }
    m_table->setFocus(Qt::ShortcutFocusReason);
}

/// Returns what stands below the table while no run is chosen.
QString RunsPanel::explanation() const {
    if (m_model.rowCount() == 0) return tr("Runs appear here as soon as they train.");
    const QString tick = tr("Tick a run to draw its curves behind those of the run that is shown.");
    const QString numbers =
        order() == OrderedRuns::Order::ByValidation
            ? tr("By lane: the accuracy of the last validation, or its loss where there are no "
                 "classes.")
            : tr("In parentheses: the median of the last %1 losses.").arg(kTrailingSteps);
    return tick + u' ' + numbers;
}

void RunsPanel::showDetails() {
    const int row = m_ordered->listRowOf(m_table->currentIndex().row());
    m_details->setText(row >= 0 ? m_model.detailsOf(row) : explanation());
    fitDetails();
    const bool any = chosen() != RunId::None;
    const bool current = any && m_model.index(row, 0).data(RunListModel::CurrentRole).toBool();
    m_bringBack->setEnabled(any && !current);
    m_repeat->setEnabled(any);
    m_rename->setEnabled(any);
    m_delete->setEnabled(any && !current);
}

/// Returns the place of the run that is shown; invalid when there is none.
QModelIndex RunsPanel::placeOfShown() const {
    for (int row = 0; row < m_model.rowCount(); ++row)
        if (const QModelIndex index = m_model.index(row, 0);
            index.data(RunListModel::CurrentRole).toBool())
            return m_ordered->mapFromSource(index);
    return {};
}

/// Whether the user renames a run, or has gone with the keys to another one than this.
bool RunsPanel::isAtAnother(RunId than) const {
    const QWidget* keyboard = window()->focusWidget();
    if (m_table->viewport()->isAncestorOf(keyboard)) return true; // the box for the name
    return keyboard == m_table && chosen() != RunId::None && chosen() != than;
}

/// Chooses the run that is shown when it is another one, so that the details and the buttons are
/// about it, and brings it into sight. One that is not in the list yet leaves no run chosen.
void RunsPanel::followShown() {
    const QModelIndex place = placeOfShown();
    const RunId shown = place.isValid() ? m_ordered->idAt(place.row()) : RunId::None;
    const RunId before = std::exchange(m_shown, shown);
    if (shown == before) return;
    const bool leaves = shown == RunId::None && chosen() != before;
    if (!leaves && !isAtAnother(before)) m_table->setCurrentIndex(place);
    if (place.isValid()) m_table->scrollTo(place);
}

/// Returns the height of the table with its first rows, but no more than `most` of the rows.
int RunsPanel::tableHeight(int count, int most) const {
    const QAbstractItemView& rows = *m_table;
    int height = 0;
    for (int row = 0; row < std::min(count, m_model.rowCount()) && height < most; ++row)
        height +=
            std::max(rows.sizeHintForRow(row), m_table->verticalHeader()->minimumSectionSize());
    return std::min(height, most) + 2 * m_table->frameWidth();
}

/// Returns the height of what stands above and below the table when there are no details.
int RunsPanel::heightAround() const {
    const QMargins margins = layout()->contentsMargins();
    return margins.top() + m_headingRow->sizeHint().height() + 2 * layout()->spacing() +
           m_delete->sizeHint().height() + margins.bottom();
}

int RunsPanel::leastTableHeight() const { return fewRowsHeight(1); }

int RunsPanel::fewRowsHeight(int count) const {
    constexpr int kMostLines = 3; // a run of many lanes is scrolled
    return tableHeight(count, count * (kMostLines * fontMetrics().lineSpacing() + 2 * kAroundARow));
}

int RunsPanel::heightForRows(int count) const { return heightAround() + fewRowsHeight(count); }

/// Other details of another run do not change it: what is above the list would move.
int RunsPanel::usefulHeight() const {
    constexpr int kLines = 4; // of details
    return heightAround() + tableHeight(m_model.rowCount(), window()->height()) +
           layout()->spacing() + kLines * fontMetrics().lineSpacing();
}

/// Returns room for all rows and the details, but no more than the height of the window: measuring
/// hundreds of rows takes time.
QSize RunsPanel::sizeHint() const {
    constexpr int kWidth = 280;
    const int rows = tableHeight(m_model.rowCount(), window()->height());
    return {kWidth, heightAround() + rows + layout()->spacing() + m_details->height()};
}

/// Returns room for one row, whatever is shown now: a panel that asked for what it shows could not
/// shrink with the window.
QSize RunsPanel::minimumSizeHint() const {
    return {QWidget::minimumSizeHint().width(), heightAround() + leastTableHeight()};
}

/// Shows the details only when they fit as a whole. The rows come first: one of them can always be
/// read.
void RunsPanel::fitDetails() {
    constexpr int kFewRows = 4;
    m_table->setMinimumHeight(leastTableHeight());
    const int room =
        height() - heightAround() - layout()->spacing() - tableHeight(kFewRows, QWIDGETSIZE_MAX);
    const QMargins margins = layout()->contentsMargins();
    const int width = RunsPanel::width() - margins.left() - margins.right();
    const int wanted = heightOf(m_details->text(), m_details->font(), width);
    m_details->setFixedHeight(wanted);
    m_details->setVisible(wanted <= room);
    updateGeometry(); // the rows may need another height
}

/// A hidden table scrolls nowhere, and its rows have their heights only once it is shown.
void RunsPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    const auto scroll = [this] {
        followShown();
        if (const QModelIndex place = placeOfShown(); place.isValid()) m_table->scrollTo(place);
    };
    if (!event->spontaneous()) QMetaObject::invokeMethod(this, scroll, Qt::QueuedConnection);
}

void RunsPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitDetails();
}

void RunsPanel::askToDelete() {
    const RunId id = chosen();
    if (!m_delete->isEnabled() || id == RunId::None) return;
    const QString name = m_model.index(m_model.rowOf(id), 0).data(Qt::EditRole).toString();
    if (askYesNo(this, tr("Delete run"),
                 tr("Remove \"%1\" from the list? What has been saved stays on disk.").arg(name)))
        emit deleteAsked(id);
}

void RunsPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) m_table->viewport()->update();
}

} // namespace halfscope
