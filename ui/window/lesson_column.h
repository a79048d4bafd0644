// The column of the window that holds a lesson, the entries of the Help menu that open it, and its
// width in a narrow window.
#pragma once

#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>
#include <QVariantMap>

#include <map>

class QAction;
class QMainWindow;
class QMenu;

namespace halfscope {

class LessonPanel;

class LessonColumn : public QObject {
    Q_OBJECT
public:
    LessonColumn(const WindowParts&, QMainWindow&);

    /// Adds an entry that opens or closes a page, such as kHelpLesson.
    void add(QMenu& help, const QString& text, const char* page);
    bool isShown() const;
    /// See LessonPanel::restorePlaces().
    void restorePlaces(const QVariantMap& settings) { m_places = settings; }
    void savePlaces(QVariantMap&) const;
    /// Narrows the column by so many pixels, as far as it can be read; 0 or less gives it back the
    /// width that it had.
    void makeRoom(int pixels);

signals:
    /// The column came or went; the window has laid itself out beside it.
    void shownOrHidden();
    void presetChosen(const QString& name);
    /// See LessonPanel.
    void pageAsked(const QString& address);

private:
    void show(const QString& page, bool on);
    void build();
    void mark();

    WindowParts m_parts;
    QMainWindow& m_window;
    std::map<QString, QAction*> m_lessons; ///< by page; the one in the panel is checked
    LessonPanel* m_panel = nullptr;        ///< child of the window; null until it is asked for
    QVariantMap m_places;                  ///< for the panel, once there is one
    int m_width = 0;                       ///< before it made room; 0: it made none
};

} // namespace halfscope
