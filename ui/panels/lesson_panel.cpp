// Renders the page anew when the theme changes: links and lines have its colours.
#include "ui/panels/lesson_panel.h"

#include "ui/dialogs/help.h"
#include "ui/look/owned.h"

#include <QEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QScrollBar>
#include <QTextBrowser>

namespace halfscope {

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
    turnTo(m_page);
    if (parent) parent->installEventFilter(this);
}

// The text loses the focus, and looks at its document, after m_document has been destroyed.
LessonPanel::~LessonPanel() { m_text->setDocument(nullptr); }

QString LessonPanel::page() const { return m_manual.pages()[m_page].name; }

void LessonPanel::turnTo(int page) {
    m_page = page;
    setWindowTitle(m_manual.pages()[m_page].title);
    m_text->setAccessibleName(windowTitle());
    render();
    emit turned();
}

void LessonPanel::open(const QString& page) {
    const int wanted = m_manual.indexOf(page);
    const bool other = wanted >= 0 && wanted != m_page;
    if (other) turnTo(wanted);
    show();
    raise();
    m_text->setFocus(Qt::OtherFocusReason);
    // the first time that it is shown, the browser scrolls to its cursor, past the margin
    if (other) m_text->verticalScrollBar()->setValue(0);
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

/// Esc has come up to the window from a part that has no other use for it.
bool LessonPanel::eventFilter(QObject* watched, QEvent* event) {
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
