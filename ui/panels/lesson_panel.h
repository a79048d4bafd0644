// A lesson beside the experiments that it opens: a page of the manual as a column of the window.
// HelpDialog shows all pages; it would cover what this one talks about.
#pragma once

#include "ui/dialogs/manual.h"

#include <QDockWidget>
#include <QVariantMap>

#include <memory>

class QTextBrowser;

namespace halfscope {

class LessonPanel : public QDockWidget {
    Q_OBJECT
public:
    /// Esc closes the panel, also when it comes to the parent.
    explicit LessonPanel(QWidget* parent);
    ~LessonPanel() override;

    /// Opens the panel with a lesson, such as kHelpLesson, where its reader left it, and gives it
    /// the keyboard.
    void open(const QString& page);
    /// Where the reader has left each lesson, by the settings in which windows keep it; one that
    /// was read to its end begins anew.
    void restorePlaces(const QVariantMap&);
    void savePlaces(QVariantMap&) const;
    /// Returns the name of the page that the panel holds.
    QString page() const;

signals:
    /// Emitted when another lesson has come into the panel.
    void turned();
    void presetChosen(const QString& name);
    /// A link leads to another page of the manual, such as "words" or "window#marks".
    void pageAsked(const QString& address);

protected:
    void changeEvent(QEvent*) override;
    bool eventFilter(QObject* watched, QEvent*) override;
    void keyPressEvent(QKeyEvent*) override;

private:
    void turnTo(int page);
    /// Returns the place in the text of what stands at the top.
    int top() const;
    /// Returns the place to begin at next time: that one, or where it is about to scroll to; the
    /// beginning where the end is in sight.
    int place() const;
    /// Scrolls to a place in the text as soon as the text has its width.
    void scrollLaterTo(int place);
    void scrollTo(int place);
    void render();
    void follow(const QUrl&);

    Manual m_manual;
    int m_page;
    QVariantMap m_places; ///< by the settings in which they are kept: those of the lessons left
    int m_wanted = -1;    ///< the place to scroll to; less than 0: none
    std::unique_ptr<ManualDocument> m_document; ///< what m_text shows
    QTextBrowser* m_text = nullptr;             ///< child
};

} // namespace halfscope
