// A list beside a browser. The list shows the contents, or the places where the words in the search
// line occur.
#include "ui/dialogs/help_dialog.h"

#include "ui/look/owned.h"

#include <QDesktopServices>
#include <QDialogButtonBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMessageBox>
#include <QPushButton>
#include <QScreen>
#include <QScrollBar>
#include <QShortcut>
#include <QSplitter>
#include <QTextBrowser>
#include <QTimer>
#include <QToolButton>
#include <QTreeWidget>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

namespace halfscope {
namespace {

constexpr int kPageRole = Qt::UserRole, kHitRole = Qt::UserRole + 1;
constexpr int kNone = -1;
const QString kPlaceKey = QStringLiteral("layout/help");
constexpr qsizetype kMostHits = 300; // more hits mean that the words are too common

QTreeWidgetItem* addItem(QTreeWidgetItem* parent, const QString& text, int page, int hit) {
    auto* item = make<QTreeWidgetItem>(parent, QStringList(text));
    item->setData(0, kPageRole, page);
    item->setData(0, kHitRole, hit);
    return item;
}

/// Adds an excerpt with two lines for it: a tree gives any text a single one.
void addExcerpt(QTreeWidgetItem* group, const ManualHit& excerpt, int hit) {
    constexpr int kLines = 2, kRoom = 6; // pixels between excerpts
    QTreeWidgetItem* item = addItem(group, excerpt.excerpt, excerpt.page, hit);
    item->setToolTip(0, excerpt.excerpt);
    const QTreeWidget& list = *group->treeWidget();
    const int line = list.fontMetrics().lineSpacing();
    const int room = list.viewport()->width() - list.indentation() - line;
    if (list.fontMetrics().horizontalAdvance(excerpt.excerpt) > room)
        item->setSizeHint(0, QSize(0, kLines * line + kRoom));
}

/// Adds a heading to the list: it opens no page, but folds.
QTreeWidgetItem* addGroup(QTreeWidget& list, const QString& text) {
    auto* group = addItem(list.invisibleRootItem(), text, kNone, kNone);
    QFont bold = list.font();
    bold.setBold(true);
    group->setFont(0, bold);
    group->setExpanded(true);
    return group;
}

constexpr QSize kLargest(1000, 760);   // the most that the dialog takes at first
constexpr double kMostOfScreen = 0.45; // of its width: the window beside it stays visible
constexpr int kTwoColumns = 700;       // a narrower dialog has its list above the text

} // namespace

QRect helpPlace(const QRect& window, const QRect& screen, const QRect& plots) {
    constexpr QSize kFrame(8, 36), kLeast(320, 240);
    constexpr int kReadable = 372; // a width for about 50 letters
    const QSize share(static_cast<int>(kMostOfScreen * screen.width()), screen.height());
    QSize size = kLargest.boundedTo(share - kFrame).expandedTo(kLeast);
    const int around = size.width() + kFrame.width();
    const int lowest = screen.bottom() + 1 - size.height() - kFrame.height();
    const int y = std::clamp(window.top(), screen.top(), std::max(screen.top(), lowest));
    if (window.right() + around <= screen.right()) return {QPoint(window.right() + 1, y), size};
    if (window.left() - around >= screen.left()) return {QPoint(window.left() - around, y), size};
    // over the window's right side, where there are lists
    if (!plots.isEmpty())
        size.setWidth(std::clamp(screen.right() - plots.right() - kFrame.width(),
                                 std::min(kReadable, size.width()), size.width()));
    return {QPoint(screen.right() + 1 - size.width() - kFrame.width(), y), size};
}

HelpDialog::HelpDialog(QWidget* parent, const QWidget* plots)
    : QDialog(parent), m_manual(QLocale().name().section(u'_', 0, 0)) {
    setWindowTitle(tr("Halfscope help"));
    buildWays();
    buildSearch();
    buildText();
    arrange();
    takePlace(plots);
    showContents();
    turnTo(0);
}

void HelpDialog::buildWays() {
    const auto way = [this](const QString& name, const QString& tip, const QKeySequence& keys,
                            Qt::ArrowType arrow, QList<View>& from, QList<View>& to) {
        auto* button = make<QToolButton>(this);
        button->setArrowType(arrow);
        button->setAutoRaise(true);
        button->setAccessibleName(name);
        button->setToolTip(tip.arg(keys.toString(QKeySequence::NativeText)));
        const auto turn = [this, &from, &to] { go(from, to); };
        connect(button, &QToolButton::clicked, this, turn);
        connect(make<QShortcut>(keys, this), &QShortcut::activated, this, turn);
        return button;
    };
    m_goBack = way(tr("Back"), tr("Back to the previous page (%1)"),
                   QKeySequence(Qt::ALT | Qt::Key_Left), Qt::LeftArrow, m_back, m_forward);
    m_goForward = way(tr("Forward"), tr("Forward again (%1)"),
                      QKeySequence(Qt::ALT | Qt::Key_Right), Qt::RightArrow, m_forward, m_back);
}

void HelpDialog::buildSearch() {
    m_search = make<QLineEdit>(this);
    m_search->setPlaceholderText(tr("Search all pages (Ctrl+F)"));
    m_search->setAccessibleName(tr("Search all pages"));
    m_search->setClearButtonEnabled(true);
    m_soon = make<QTimer>(this); // a search takes longer than a key press
    m_soon->setSingleShot(true);
    m_soon->setInterval(200);
    connect(m_soon, &QTimer::timeout, this, &HelpDialog::search);
    connect(m_search, &QLineEdit::textChanged, m_soon, qOverload<>(&QTimer::start));
    connect(m_search, &QLineEdit::returnPressed, this, &HelpDialog::openFirstHit);
    auto* find = make<QShortcut>(QKeySequence(QKeySequence::Find), this);
    connect(find, &QShortcut::activated, this, [this] {
        m_search->setFocus(Qt::ShortcutFocusReason);
        m_search->selectAll();
    });
    m_found = make<QLabel>(this);
    m_found->setWordWrap(true);
    m_found->hide();
    m_list = make<QTreeWidget>(this);
    m_list->setHeaderHidden(true);
    m_list->setRootIsDecorated(false);
    m_list->setAccessibleName(tr("Contents"));
    m_list->setTextElideMode(Qt::ElideRight);
    m_list->setWordWrap(true); // of excerpts, which are given two lines
    connect(m_list, &QTreeWidget::currentItemChanged, this, &HelpDialog::openItem);
    connect(m_list, &QTreeWidget::itemClicked, this, &HelpDialog::openItem);
}

void HelpDialog::buildText() {
    m_text = make<QTextBrowser>(this);
    m_text->setAccessibleName(windowTitle());
    m_text->setOpenLinks(false);
    connect(m_text, &QTextBrowser::anchorClicked, this, &HelpDialog::follow);
}

void HelpDialog::arrange() {
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Close, this);
    // Enter in the search line starts the search
    for (QAbstractButton* each : buttons->buttons())
        if (auto* push = qobject_cast<QPushButton*>(each)) push->setAutoDefault(false);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* left = make<QWidget>(this);
    auto* ways = make<QHBoxLayout>();
    ways->addWidget(m_goBack);
    ways->addWidget(m_goForward);
    ways->addWidget(m_search, 1);
    auto* leftColumn = make<QVBoxLayout>(left);
    leftColumn->setContentsMargins({});
    leftColumn->addLayout(ways);
    leftColumn->addWidget(m_found);
    leftColumn->addWidget(m_list, 1);
    m_halves = make<QSplitter>(this);
    m_halves->addWidget(left);
    m_halves->addWidget(m_text);
    m_halves->setStretchFactor(1, 1);
    m_halves->setChildrenCollapsible(false);
    connect(m_halves, &QSplitter::splitterMoved, this, [this] { m_byHand = true; });
    auto* column = make<QVBoxLayout>(this);
    column->addWidget(m_halves, 1);
    column->addWidget(buttons);
}

void HelpDialog::takePlace(const QWidget* plots) {
    const QWidget* window = parentWidget() ? parentWidget()->window() : this;
    const QRect shown =
        plots && plots->isVisible() ? QRect(plots->mapToGlobal(QPoint()), plots->size()) : QRect();
    m_given = helpPlace(window->frameGeometry(), window->screen()->availableGeometry(), shown);
    resize(m_given.size());
    move(m_given.topLeft());
}

void HelpDialog::restorePlace(const QVariantMap& settings) {
    restoreGeometry(settings.value(kPlaceKey).toByteArray());
}

void HelpDialog::savePlace(QVariantMap& settings) const {
    constexpr int kNudge = 48; // pixels by which a desktop may move a new window by itself
    const bool moved = (pos() - m_given.topLeft()).manhattanLength() > kNudge;
    const bool chosen = moved || size() != m_given.size();
    // an empty one takes the place of one that was chosen earlier
    settings.insert(kPlaceKey, chosen ? saveGeometry() : QByteArray());
}

/// Puts the list above the text in a narrow dialog.
void HelpDialog::resizeEvent(QResizeEvent* event) {
    QDialog::resizeEvent(event);
    const Qt::Orientation wanted = width() < kTwoColumns ? Qt::Vertical : Qt::Horizontal;
    if (m_arranged && m_halves->orientation() == wanted) return;
    m_arranged = true;
    m_byHand = false;
    m_halves->setOrientation(wanted);
    shareRoom();
}

/// Gives the list more of the height while it has the places that a search found: of a few rows it
/// would look as if there were no others.
void HelpDialog::shareRoom() {
    constexpr int kLeft = 260;
    constexpr double kContents = 0.22, kPlaces = 0.45; // of the height, above the text
    if (m_byHand) return;
    const bool above = m_halves->orientation() == Qt::Vertical;
    const int room = above ? height() : width();
    const double share = m_found->isHidden() ? kContents : kPlaces;
    const int list = above ? static_cast<int>(share * room) : kLeft;
    m_halves->setSizes({list, room - list});
}

void HelpDialog::showPart(const QString& address) {
    show(); // first, so that the page has its width and its headings their places
    raise();
    activateWindow();
    if (!address.isEmpty()) open(Manual::placeNamed(address));
}

void HelpDialog::showContents() {
    m_list->clear();
    m_hits.clear();
    m_found->hide();
    shareRoom();
    m_list->setAccessibleName(tr("Contents"));
    QTreeWidgetItem* group = m_list->invisibleRootItem();
    QString name;
    for (int i = 0; i < m_manual.pages().size(); ++i) {
        const ManualPage& page = m_manual.pages()[i];
        if (page.group != name) group = addGroup(*m_list, page.group);
        name = page.group;
        QTreeWidgetItem* item = addItem(group, page.title, i, kNone);
        if (i == m_page) m_list->setCurrentItem(item); // else the focus would open the first page
    }
}

void HelpDialog::search() {
    m_soon->stop();
    const QString words = m_search->text();
    if (words.trimmed().isEmpty()) {
        showContents();
        return;
    }
    m_list->clear();
    const ManualFindings found = m_manual.search(words);
    m_hits = found.hits;
    m_list->setAccessibleName(tr("Places found"));
    m_found->setText(m_hits.isEmpty() ? tr("Nothing found")
                     : found.complete
                         ? tr("Places found: %1").arg(m_hits.size())
                         : tr("No place has all of these words; these have the most."));
    m_found->show();
    shareRoom(); // excerpts get lines for the width that they have
    QTreeWidgetItem* group = nullptr;
    for (int i = 0; i < std::min(m_hits.size(), kMostHits); ++i) {
        const ManualHit& hit = m_hits[i];
        if (i == 0 || hit.page != m_hits[i - 1].page)
            group = addGroup(*m_list, m_manual.pages()[hit.page].title);
        addExcerpt(group, hit, i);
    }
}

void HelpDialog::openItem(QTreeWidgetItem* item) {
    if (!item) return;
    const int page = item->data(0, kPageRole).toInt(), hit = item->data(0, kHitRole).toInt();
    if (hit != kNone)
        openHit(m_hits[hit]);
    else if (page != kNone && page != m_page)
        turnTo(page);
}

void HelpDialog::openFirstHit() {
    if (m_soon->isActive()) search();
    if (m_hits.isEmpty()) return;
    m_list->setCurrentItem(m_list->topLevelItem(0)->child(0));
    m_list->setFocus();
}

void HelpDialog::follow(const QUrl& link) {
    if (link.scheme() == QLatin1String(kPresetScheme))
        emit presetChosen(link.path());
    else if (link.scheme() == QLatin1String("https"))
        askForBrowser(link);
    else
        open(m_manual.placeOf(link, m_page));
}

/// Asks before a link is opened in the browser: nothing leaves this machine unasked.
void HelpDialog::askForBrowser(const QUrl& link) {
    auto* box = make<QMessageBox>(QMessageBox::Question, windowTitle(),
                                  tr("Open this page in the web browser?"),
                                  QMessageBox::Open | QMessageBox::Cancel, this);
    box->setInformativeText(link.toDisplayString());
    box->setTextFormat(Qt::PlainText);
    box->setAttribute(Qt::WA_DeleteOnClose);
    connect(box, &QDialog::finished, this, [link](int answer) {
        if (answer == QMessageBox::Open) QDesktopServices::openUrl(link);
    });
    box->open();
}

void HelpDialog::open(const ManualPlace& place) {
    const int page = m_manual.indexOf(place.page);
    if (page < 0) return;
    turnTo(page);
    if (!place.heading.isEmpty()) m_text->scrollToAnchor(place.heading);
}

void HelpDialog::openHit(const ManualHit& hit) {
    if (hit.page != m_page) turnTo(hit.page);
    QTextCursor cursor(m_text->document());
    cursor.setPosition(hit.position);
    cursor.setPosition(hit.position + hit.length, QTextCursor::KeepAnchor);
    m_text->moveCursor(QTextCursor::End); // so that the place gets room below it
    m_text->setTextCursor(cursor);
}

void HelpDialog::turnTo(int page) {
    if (m_page >= 0) {
        m_back.append(shown());
        m_forward.clear();
    }
    if (page != m_page) render(page);
    m_text->verticalScrollBar()->setValue(0);
    updateWays();
}

/// Renders the page, also anew when the theme changes: links and lines have its colours.
void HelpDialog::render(int page) {
    m_page = page;
    auto document = m_manual.render(page);
    m_text->setDocument(document.get());
    m_document = std::move(document);
    if (!m_hits.isEmpty()) return;
    for (QTreeWidgetItemIterator it(m_list); *it; ++it)
        if ((*it)->data(0, kPageRole).toInt() == page) m_list->setCurrentItem(*it);
}

HelpDialog::View HelpDialog::shown() const {
    return {m_page, m_text->verticalScrollBar()->value()};
}

void HelpDialog::go(QList<View>& from, QList<View>& to) {
    if (from.isEmpty()) return;
    to.append(shown());
    const View view = from.takeLast();
    render(view.page);
    m_text->verticalScrollBar()->setValue(view.scroll);
    updateWays();
}

void HelpDialog::updateWays() {
    m_goBack->setEnabled(!m_back.isEmpty());
    m_goForward->setEnabled(!m_forward.isEmpty());
}

// The text loses the focus, and looks at its document, after m_document has been destroyed.
HelpDialog::~HelpDialog() { m_text->setDocument(nullptr); }

void HelpDialog::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && m_page >= 0) {
        const View view = shown();
        render(view.page);
        m_text->verticalScrollBar()->setValue(view.scroll);
    }
    QDialog::changeEvent(event);
}

} // namespace halfscope
