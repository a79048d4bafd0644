// Shows the same facts as the marks under the plots, as a table that screen readers can read, too.
#include "ui/panels/event_panel.h"

#include "ui/dialogs/help.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/panels/wrapped_text.h"

#include <QEvent>
#include <QFontMetrics>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QPersistentModelIndex>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpacerItem>
#include <QStyle>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace halfscope {
namespace {
constexpr int kFewRows = 3;       // of the table; they come before a long sentence, which scrolls
constexpr int kSentenceLines = 4; // of the sentence; only one row comes before them

/// Tells of rows that the arrow keys choose, too. At its top it shows the newest rows; once it was
/// scrolled, or while a chosen row is being read, new rows move none of those that are seen. Home
/// and End lead to the first and the last row.
class EventTable : public QTableView {
public:
    using QTableView::QTableView;

protected:
    QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override {
        if (action == MoveHome || action == MoveEnd) modifiers |= Qt::ControlModifier;
        return QTableView::moveCursor(action, modifiers);
    }
    /// Pressing a button chooses a row. The rows may then move below the pointer, because another
    /// sentence needs another height: the row that comes there was not chosen.
    void mouseMoveEvent(QMouseEvent* event) override {
        if (event->buttons() == Qt::NoButton) QTableView::mouseMoveEvent(event);
    }
    void mouseReleaseEvent(QMouseEvent* event) override {
        QTableView::mouseReleaseEvent(event);
        scrollTo(currentIndex()); // resizeEvent() left that to the release
    }
    void keyPressEvent(QKeyEvent* event) override {
        if (event->key() == Qt::Key_Escape) return event->ignore(); // it is no row's first letter
        const QPersistentModelIndex before = currentIndex();
        QTableView::keyPressEvent(event);
        if (currentIndex().isValid() && before != currentIndex()) emit activated(currentIndex());
    }
    void rowsInserted(const QModelIndex& parent, int first, int last) override {
        const QModelIndex chosen = currentIndex(); // it is counted with the new rows already
        const int above = first < chosen.row() ? last - first + 1 : 0;
        const QModelIndex before = chosen.siblingAtRow(chosen.row() - above);
        const bool inSight = before.isValid() && viewport()->rect().intersects(visualRect(before));
        const int top = verticalScrollBar()->value(); // the first row that is seen
        QTableView::rowsInserted(parent, first, last);
        const bool moves = first <= top && (top > 0 || inSight);
        if (!moves) return;
        executeDelayedItemsLayout(); // else the bar cannot go as far yet
        verticalScrollBar()->setValue(top + last - first + 1);
    }
    void rowsAboutToBeRemoved(const QModelIndex& parent, int first, int last) override {
        const int chosen = currentIndex().row(), top = verticalScrollBar()->value();
        if (chosen >= first && chosen <= last) { // Qt would choose another event
            setCurrentIndex({});
            clearSelection();
        }
        QTableView::rowsAboutToBeRemoved(parent, first, last);
        if (last < top) verticalScrollBar()->setValue(top - (last - first + 1));
    }
    void resizeEvent(QResizeEvent* event) override {
        QTableView::resizeEvent(event);
        // nothing scrolls below a pressed button
        if (QGuiApplication::mouseButtons() == Qt::NoButton) scrollTo(currentIndex());
    }
};
/// A click on it is no shortcut: it switches the action without triggering it, so that the keyboard
/// stays where it is.
class HeadingButton : public QToolButton {
public:
    using QToolButton::QToolButton;

protected:
    void nextCheckState() override { defaultAction()->toggle(); }
};

/// Returns the sentence of an event that is not the newest one, and says so.
QString earlierText(const Event& event) {
    const QString sentence = EventModel::sentenceOf(event);
    if (event.kind == EventKind::Underflow)
        return EventPanel::tr("Last underflow: %1").arg(sentence);
    if (event.kind == EventKind::Overflow && !isOfData(event.tensor))
        return EventPanel::tr("Last overflow: %1").arg(sentence);
    return EventPanel::tr("Earlier: %1").arg(sentence);
}

} // namespace

EventPanel::EventPanel(EventModel& model, QWidget* parent) : QWidget(parent), m_model(model) {
    m_heading = make<QLabel>(this);
    QFont bold = font();
    bold.setBold(true);
    m_heading->setFont(bold);
    m_table = make<EventTable>(this);
    m_table->setModel(&model);
    m_table->setAccessibleName(tr("Events, newest first"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerItem); // the bar counts rows
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    QHeaderView* header = m_table->horizontalHeader();
    header->setHighlightSections(false);
    header->setStretchLastSection(true);
    header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    header->setMinimumSectionSize(24);
    narrowSteps();
    m_table->setColumnWidth(EventModel::LaneColumn, widthOf(tr("Lane")));
    m_table->setColumnWidth(EventModel::KindColumn, widthOf(tr("Overflow, scale halved")));
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    buildSentence();
    auto* column = make<QVBoxLayout>(this);
    // else the sentence of now would be the least height, and a panel that is a window of its own
    // could not shrink: minimumSizeHint() is the only minimum
    column->setSizeConstraint(QLayout::SetNoConstraint);
    column->setContentsMargins(8, 4, 4, 4);
    column->setSpacing(4);
    m_headingRow = make<QHBoxLayout>();
    m_headingRow->addWidget(m_heading, 1);
    column->addLayout(m_headingRow);
    column->addWidget(m_table, 1);
    column->addWidget(m_scroll);
    column->addSpacing(0);
    m_rest = column->itemAt(column->count() - 1)->spacerItem();
    m_table->installEventFilter(this);
    m_scroll->installEventFilter(this);
    connect(&model, &QAbstractItemModel::rowsInserted, this, &EventPanel::widenSteps);
    connect(&model, &QAbstractItemModel::modelReset, this, &EventPanel::narrowSteps);
    connect(&model, &QAbstractItemModel::rowsInserted, this, &EventPanel::updateHeading);
    connect(&model, &QAbstractItemModel::rowsRemoved, this, &EventPanel::updateHeading);
    connect(&model, &QAbstractItemModel::modelReset, this, &EventPanel::updateHeading);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &EventPanel::showSentence);
    const auto jump = [this](const QModelIndex& index) {
        m_table->scrollTo(index);
        emit stepChosen(index.data(EventModel::StepRole).toLongLong());
        emit eventChosen(static_cast<int>(m_model.indexAt(index.row())));
    };
    // a button chooses a row when it is pressed: the plots go there at the same time
    connect(m_table, &QTableView::pressed, this, jump);
    connect(m_table, &QTableView::activated, this, jump);
    updateHeading();
    applyColors();
}

void EventPanel::buildSentence() {
    m_scroll = make<QScrollArea>(this);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setAccessibleName(tr("Explanation of the event"));
    m_sentence = make<WrappedText>(m_scroll);
    m_sentence->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_sentence->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_scroll->setWidget(m_sentence);
    m_scroll->verticalScrollBar()->setSingleStep(fontMetrics().lineSpacing());
}

bool EventPanel::eventFilter(QObject* watched, QEvent* event) {
    switch (event->type()) {
    case QEvent::FocusIn:
    case QEvent::FocusOut:
    case QEvent::Move:
    case QEvent::Resize: update(); break; // the frame around it
    default: break;
    }
    return QWidget::eventFilter(watched, event);
}

/// Draws a frame around the table or the sentence while it has the keyboard: neither shows that
/// itself, at least as long as no row is chosen.
void EventPanel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(palette().color(QPalette::Highlight));
    constexpr int kOutside = 2; // pixels
    for (const QWidget* each : {static_cast<QWidget*>(m_table), static_cast<QWidget*>(m_scroll)})
        if (each->hasFocus())
            painter.drawRect(
                each->geometry().adjusted(-kOutside, -kOutside, kOutside - 1, kOutside - 1));
}

/// Returns the width of a cell with this text, in pixels.
int EventPanel::widthOf(const QString& text) const {
    return fontMetrics().horizontalAdvance(text) + 12;
}

/// Makes the column of steps as narrow as its heading: what happened needs the room.
void EventPanel::narrowSteps() {
    m_table->setColumnWidth(
        EventModel::StepColumn,
        widthOf(m_model.headerData(EventModel::StepColumn, Qt::Horizontal).toString()));
}

/// Widens the column of steps for the newest step, which is the widest.
void EventPanel::widenSteps() {
    const QString newest = m_table->model()->index(0, EventModel::StepColumn).data().toString();
    if (const int wanted = widthOf(newest); wanted > m_table->columnWidth(EventModel::StepColumn))
        m_table->setColumnWidth(EventModel::StepColumn, wanted);
}

/// Hides the column of sentences when it would cut them off: the sentence is then shown below the
/// list.
void EventPanel::resizeEvent(QResizeEvent* event) {
    constexpr int kWide = 480;
    const bool narrow = width() < kWide;
    m_table->setColumnHidden(EventModel::TextColumn, narrow);
    // as wide as there is room for: longer texts end in an ellipsis
    QHeaderView* header = m_table->horizontalHeader();
    header->setStretchLastSection(!narrow);
    header->setSectionResizeMode(EventModel::KindColumn,
                                 narrow ? QHeaderView::Stretch : QHeaderView::Interactive);
    QWidget::resizeEvent(event);
    fitTable();
}

/// Gives the sentence what it needs beside a few rows, and shows as many whole rows as there is
/// room for then. A sentence that is longer yet scrolls.
void EventPanel::fitTable() {
    const QMargins margins = layout()->contentsMargins();
    const int textWidth = width() - margins.left() - margins.right();
    const int room = height() - margins.top() - margins.bottom() - 2 * layout()->spacing() -
                     m_headingRow->sizeHint().height();
    const int header = m_table->horizontalHeader()->sizeHint().height();
    const int row = m_table->verticalHeader()->defaultSectionSize();
    const int line = fontMetrics().lineSpacing();
    const int whole = heightOf(m_text, m_sentence->font(), textWidth);
    const int beside = std::max(line, room - header - kFewRows * row);
    // a sentence of a line or two at a time cannot be read: the list gives up rows for it
    const int least = std::min({whole, kSentenceLines * line, room - header - row});
    const int sentence =
        std::max(least, std::clamp(whole, std::min(beside, kSentenceLines * line), beside));
    const int rows = std::max(1, (room - sentence - header) / row);
    m_table->setMinimumHeight(leastTableHeight());
    fitSentence({textWidth, std::max(sentence, room - header - rows * row)});
}

/// Shows whole lines of the sentence, and a scroll bar when there is no room for all of them.
void EventPanel::fitSentence(const QSize& room) {
    const int line = fontMetrics().lineSpacing();
    const bool cut = heightOf(m_text, m_sentence->font(), room.width()) > room.height();
    const int bar = cut ? style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, this) : 0;
    const int width = room.width() - bar;
    m_scroll->setVerticalScrollBarPolicy(cut ? Qt::ScrollBarAlwaysOn : Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(cut ? Qt::TabFocus : Qt::NoFocus); // the arrow keys scroll
    const int height = cut ? std::max(1, room.height() / line) * line : room.height();
    m_scroll->setFixedHeight(height);
    m_rest->changeSize(0, std::max(0, room.height() - height), QSizePolicy::Minimum,
                       QSizePolicy::Fixed);
    layout()->invalidate();
    m_sentence->setText(m_text);
    m_sentence->resize(width, std::max(heightOf(m_text, m_sentence->font(), width), height));
}

void EventPanel::addToHeading(QAction* action) {
    auto* button = make<HeadingButton>(this);
    button->setDefaultAction(action);
    button->setFocusPolicy(Qt::TabFocus); // a click leaves Space to Play
    m_headingRow->addWidget(button);
}

QSize EventPanel::sizeHint() const { return {280, 300}; }

/// Returns room for a row of the table and a line, whatever is shown now: a panel that asked for
/// what it shows could not shrink with the window.
QSize EventPanel::minimumSizeHint() const {
    return {QWidget::minimumSizeHint().width(), heightWith(leastTableHeight(), 1)};
}

int EventPanel::usefulHeight() const {
    const int more = (kFewRows - 1) * m_table->verticalHeader()->defaultSectionSize();
    return heightWith(leastTableHeight() + more, kSentenceLines);
}

/// Returns the height with a table of that height above so many lines of a sentence.
int EventPanel::heightWith(int table, int lines) const {
    const QMargins margins = layout()->contentsMargins();
    return margins.top() + m_headingRow->sizeHint().height() + layout()->spacing() + table +
           layout()->spacing() + lines * fontMetrics().lineSpacing() + margins.bottom();
}

int EventPanel::leastTableHeight() const {
    return m_table->horizontalHeader()->sizeHint().height() +
           m_table->verticalHeader()->defaultSectionSize();
}

void EventPanel::choose(int index) {
    const int row = m_model.rowOf(static_cast<size_t>(index));
    if (row >= 0 && row < m_model.rowCount()) m_table->selectRow(static_cast<int>(row));
}

void EventPanel::letGoBut(std::optional<qint64> step) {
    const QModelIndex current = m_table->currentIndex();
    if (current.isValid() && current.data(EventModel::StepRole).toLongLong() != step) {
        m_table->setCurrentIndex({});
        m_table->clearSelection();
    }
    if (!step) m_table->scrollToTop();
}

void EventPanel::trainingStarts() {
    if (!m_table->currentIndex().isValid()) m_table->scrollToTop();
}

void EventPanel::updateHeading() {
    m_heading->setText(
        m_model.rowCount() == 0
            ? tr("Events")
            : tr("Events (%1)")
                  .arg(QLocale().toString(static_cast<qlonglong>(m_model.rowCount()))));
    showSentence();
}

void EventPanel::showSentence() {
    const QModelIndex current = m_table->currentIndex();
    QStringList lines;
    if (m_model.rowCount() == 0) {
        const bool scales = m_model.lanesScale();
        lines << (scales ? tr("Overflows, changes of the loss scale and your edits appear here.")
                         : tr("Your edits appear here, and a loss that is not finite. No lane of "
                              "this experiment has a loss scale."))
              << tr("Your own data? Drop a table (.csv) or a folder of pictures on the window.")
              << tr("New to loss scales? Help > First lesson.");
        if (scales) lines << tr("To see what another loss scale does: Edit > Set the loss scale.");
    } else if (current.isValid()) {
        const Event& event = m_model.eventAt(current.row());
        lines << EventModel::sentenceOf(event)
              << EventModel::whyText(event, m_model.skipReason(event));
    } else {
        if (const auto& grave = m_model.gravest()) {
            const Event& newest = m_model.eventAt(0);
            const bool older = newest.step != grave->step || newest.lane != grave->lane;
            // its row may cut the sentence, which ends with what would have helped
            lines << (older ? earlierText(*grave) : EventModel::sentenceOf(*grave))
                  << EventModel::whyText(*grave, m_model.skipReason(*grave));
        }
        lines << tr("Click an event to go to its step.");
    }
    lines.removeAll(QString());
    const QString text = lines.join(u'\n');
    if (text == m_text) return;
    m_text = text;
    m_sentence->setAccessibleName(text);
    fitTable();
    m_scroll->verticalScrollBar()->setValue(0);
}

/// Takes the key for help from the window, which would open the manual where it was left.
bool EventPanel::event(QEvent* event) {
    const bool comes = event->type() == QEvent::ShortcutOverride;
    if (!comes && event->type() != QEvent::KeyPress) return QWidget::event(event);
    auto* key = static_cast<QKeyEvent*>(event);
    if (!key->matches(QKeySequence::HelpContents)) return QWidget::event(event);
    key->accept();
    if (!comes) emit pageAsked(QLatin1String(kHelpMarks));
    return true;
}

void EventPanel::changeEvent(QEvent* event) {
    if ((event->type() == QEvent::PaletteChange ||
         event->type() == QEvent::ApplicationPaletteChange) &&
        m_sentence)
        applyColors();
    QWidget::changeEvent(event);
}

void EventPanel::applyColors() {
    setOwnColor(*m_sentence, QPalette::WindowText, colorsFor(QGuiApplication::palette()).muted);
}

} // namespace halfscope
