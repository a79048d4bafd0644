// Renders the page anew when the theme changes: links and lines have its colours.
#include "ui/panels/lesson_panel.h"

#include "ui/dialogs/help.h"
#include "ui/look/owned.h"

#include <QEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QScrollBar>
#include <QTextBrowser>
#include <QTextCursor>

#include <algorithm>
#include <utility>

namespace halfscope {
namespace {

QString placeKey(const QString& page) { return QStringLiteral("lessons/%1").arg(page); }

} // namespace

LessonPanel::LessonPanel(QWidget* parent)
    : QDockWidget(parent), m_manual(QLocale().name().section(u'_', 0, 0)),
      m_page(m_manual.indexOf(QLatin1String(kHelpLesson))) {
    setObjectName(QStringLiteral("lesson"));
    setAllowedAreas(Qt::LeftDockWidgetArea | Qt::RightDockWidgetArea);
    m_text = make<QTextBrowser>(this);
    m_text->setOpenLinks(false);
    connect(m_text, &QTextBrowser::anchorClicked, this, &LessonPanel::follow);
    constexpr int kLeast = 160; // pixels
    m_text->setMinimumWidth(kLeast);
    setWidget(m_text);
    m_text->installEventFilter(this);
    m_text->viewport()->installEventFilter(this);
    turnTo(m_page);
    if (parent) parent->installEventFilter(this);
}

// The text loses the focus, and looks at its document, after m_document has been destroyed.
LessonPanel::~LessonPanel() { m_text->setDocument(nullptr); }

QString LessonPanel::page() const { return m_manual.pages()[m_page].name; }

void LessonPanel::turnTo(int page) {
    if (m_document) m_places.insert(placeKey(this->page()), place());
    m_page = page;
    setWindowTitle(m_manual.pages()[m_page].title);
    m_text->setAccessibleName(windowTitle());
    render();
    scrollLaterTo(m_places.value(placeKey(this->page())).toInt());
    emit turned();
}

void LessonPanel::restorePlaces(const QVariantMap& settings) {
    for (const ManualPage& each : m_manual.pages())
        if (const QVariant place = settings.value(placeKey(each.name)); place.isValid())
            m_places.insert(placeKey(each.name), place);
    scrollLaterTo(m_places.value(placeKey(page())).toInt());
}

void LessonPanel::savePlaces(QVariantMap& settings) const {
    settings.insert(m_places);
    settings.insert(placeKey(page()), place());
}

int LessonPanel::place() const {
    const QScrollBar& bar = *m_text->verticalScrollBar();
    if (m_wanted >= 0) return m_wanted;
    return bar.maximum() > 0 && bar.value() == bar.maximum() ? 0 : top();
}

int LessonPanel::top() const {
    const bool atBeginning = m_text->verticalScrollBar()->value() == 0;
    return atBeginning ? 0 : m_text->cursorForPosition({0, 0}).position();
}

void LessonPanel::scrollLaterTo(int place) {
    const bool waits = std::exchange(m_wanted, place) >= 0;
    if (waits) return;
    const auto scroll = [this] { scrollTo(std::exchange(m_wanted, -1)); };
    QMetaObject::invokeMethod(this, scroll, Qt::QueuedConnection);
}

void LessonPanel::scrollTo(int place) {
    QTextCursor cursor(m_document.get());
    cursor.setPosition(std::clamp(place, 0, m_document->characterCount() - 1));
    QScrollBar& bar = *m_text->verticalScrollBar();
    bar.setValue(place == 0 ? 0 : bar.value() + m_text->cursorRect(cursor).top());
}

void LessonPanel::open(const QString& page) {
    const int wanted = m_manual.indexOf(page);
    const bool other = wanted >= 0 && wanted != m_page;
    if (other) turnTo(wanted);
    show();
    raise();
    m_text->setFocus(Qt::OtherFocusReason);
    if (m_wanted >= 0) scrollTo(m_wanted); // and again once it has its width
}

void LessonPanel::follow(const QUrl& link) {
    if (link.scheme() == QLatin1String(kPresetScheme)) {
        emit presetChosen(link.path());
        return;
    }
    const ManualPlace place = m_manual.placeOf(link, m_page);
    if (place.page.isEmpty()) return;
    const bool lesson = place.page.startsWith(QLatin1String(kHelpLesson));
    if (lesson && place.page != page()) return turnTo(m_manual.indexOf(place.page));
    emit pageAsked(place.heading.isEmpty() ? place.page : place.page + u'#' + place.heading);
}

void LessonPanel::render() {
    constexpr double kIndent = 18; // pixels: the usual 40 are a sixth of the column
    auto document = m_manual.render(m_page);
    document->setIndentWidth(kIndent);
    m_text->setDocument(document.get());
    m_document = std::move(document);
}

void LessonPanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && m_text) {
        const int scrolled = m_text->verticalScrollBar()->value();
        render();
        m_text->verticalScrollBar()->setValue(scrolled);
    }
    QDockWidget::changeEvent(event);
}

/// Hides at an Esc that has come up to the window from a part which has no other use for it. Keeps
/// the lines at the top where they are when the text gets another width, and when it is first
/// shown: it would scroll to its cursor then.
bool LessonPanel::eventFilter(QObject* watched, QEvent* event) {
    const bool moves = (watched == m_text && event->type() == QEvent::Show) ||
                       (watched == m_text->viewport() && event->type() == QEvent::Resize);
    if (moves && m_wanted < 0) scrollLaterTo(top());
    if (watched == parent() && event->type() == QEvent::KeyPress && isVisible() &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        hide();
        return true;
    }
    return QDockWidget::eventFilter(watched, event);
}

void LessonPanel::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return hide();
    QDockWidget::keyPressEvent(event);
}

} // namespace halfscope
