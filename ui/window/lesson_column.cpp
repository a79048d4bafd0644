// Builds the panel when it is first asked for.
#include "ui/window/lesson_column.h"

#include "ui/look/owned.h"
#include "ui/panels/lesson_panel.h"
#include "ui/panels/setup_panel.h"

#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <QStyle>

#include <algorithm>
#include <utility>

namespace halfscope {

LessonColumn::LessonColumn(const WindowParts& parts, QMainWindow& window)
    : QObject(&window), m_parts(parts), m_window(window) {}

void LessonColumn::add(QMenu& help, const QString& text, const char* page) {
    QAction* action = help.addAction(text);
    action->setCheckable(true);
    const QString name = QLatin1String(page);
    connect(action, &QAction::triggered, this, [this, name](bool on) { show(name, on); });
    m_lessons[name] = action;
}

bool LessonColumn::isShown() const { return m_panel && m_panel->isVisible(); }

void LessonColumn::savePlaces(QVariantMap& settings) const {
    if (m_panel) m_panel->savePlaces(settings);
}

void LessonColumn::mark() {
    const bool shown = m_panel->toggleViewAction()->isChecked();
    for (const auto& [page, action] : m_lessons)
        action->setChecked(shown && m_panel->page() == page);
}

void LessonColumn::build() {
    m_panel = make<LessonPanel>(&m_window);
    m_panel->restorePlaces(m_places);
    m_window.addDockWidget(Qt::LeftDockWidgetArea, m_panel);
    connect(m_panel, &LessonPanel::presetChosen, this, &LessonColumn::presetChosen);
    connect(m_panel, &LessonPanel::pageAsked, this, &LessonColumn::pageAsked);
    connect(m_panel->toggleViewAction(), &QAction::toggled, this, &LessonColumn::mark);
    // once the window has laid itself out beside it
    connect(m_panel, &QDockWidget::visibilityChanged, this, &LessonColumn::shownOrHidden,
            Qt::QueuedConnection);
    connect(m_panel, &LessonPanel::turned, this, &LessonColumn::mark);
}

/// Shows a lesson in a column of its own: its reader presses Play and looks at what happens.
void LessonColumn::show(const QString& page, bool on) {
    if (!on && m_panel) return m_panel->hide();
    if (!m_panel) build();
    m_panel->open(page);
    mark();
    m_width = 0;
    // in a narrow window it takes what pictures and cards can spare; the settings may fold away
    const QStyle& style = *m_window.style();
    const int settings = m_parts.setup->isVisible() ? m_parts.setup->minimumWidth() : 0;
    const int room = m_window.width() - m_parts.page->minimumSizeHint().width() + settings -
                     style.pixelMetric(QStyle::PM_DockWidgetSeparatorExtent) -
                     style.pixelMetric(QStyle::PM_ScrollBarExtent);
    if (room < m_panel->width())
        m_window.resizeDocks({m_panel}, {std::max(1, room)}, Qt::Horizontal);
}

void LessonColumn::makeRoom(int pixels) {
    if (!isShown() || m_panel->isFloating()) return;
    int width = std::exchange(m_width, 0);
    if (pixels > 0) {
        m_width = m_panel->width();
        width = std::max(1, m_width - pixels);
    }
    if (width > 0) m_window.resizeDocks({m_panel}, {width}, Qt::Horizontal);
}

} // namespace halfscope
