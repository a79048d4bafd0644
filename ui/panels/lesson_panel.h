// A lesson beside the experiments that it opens: a page of the manual as a column of the window.
// HelpDialog shows all pages; it would cover what this one talks about.
#pragma once

#include "ui/dialogs/manual.h"

#include <QDockWidget>

#include <memory>

class QTextBrowser;

namespace halfscope {

class LessonPanel : public QDockWidget {
    Q_OBJECT
public:
    /// Esc closes the panel, also when it comes to the parent.
    explicit LessonPanel(QWidget* parent);
    ~LessonPanel() override;

    /// Opens the panel with a lesson, such as kHelpLesson, and gives it the keyboard.
    void open(const QString& page);
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
    void render();
    void follow(const QUrl&);

    Manual m_manual;
    int m_page;
    std::unique_ptr<ManualDocument> m_document; ///< what m_text shows
    QTextBrowser* m_text = nullptr;             ///< child
};

} // namespace halfscope
