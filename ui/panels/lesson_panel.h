// The first lesson beside the experiments that it opens: a page of the manual as a column of the
// window. HelpDialog shows all pages; it would cover what this one talks about.
#pragma once

#include "ui/dialogs/manual.h"

#include <QDockWidget>

#include <memory>

class QTextBrowser;

namespace halfscope {

class LessonPanel : public QDockWidget {
    Q_OBJECT
public:
    explicit LessonPanel(QWidget* parent);
    ~LessonPanel() override;

    /// Opens the panel and gives it the keyboard.
    void open();

signals:
    void presetChosen(const QString& name);
    /// A link leads to another page of the manual, such as "words" or "window#marks".
    void pageAsked(const QString& address);

protected:
    void changeEvent(QEvent*) override;
    void keyPressEvent(QKeyEvent*) override;

private:
    void render();
    void follow(const QUrl&);

    Manual m_manual;
    int m_page;
    std::unique_ptr<ManualDocument> m_document; ///< what m_text shows
    QTextBrowser* m_text = nullptr;             ///< child
};

} // namespace halfscope
