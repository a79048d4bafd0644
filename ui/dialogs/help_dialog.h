// The help window: words, questions, marks and keys in one text, with links to its parts and to the
// experiments that show what an answer says. What it says is in ui/help.
#pragma once

#include <QDialog>

class QTextBrowser;
class QUrl;

namespace halfscope {

class HelpDialog : public QDialog {
    Q_OBJECT
public:
    explicit HelpDialog(QWidget* parent = nullptr);
    /// A part of helpText(), such as kHelpQuestions, at the top of the window.
    void showPart(const QString& anchor);

signals:
    /// An experiment of the list by name, for the main window to open.
    void presetChosen(const QString& name);

protected:
    void changeEvent(QEvent*) override;

private:
    void showText();
    void follow(const QUrl&);

    QTextBrowser* m_text = nullptr; ///< child
};

} // namespace halfscope
