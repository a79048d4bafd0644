// One line across the window that says what went wrong, with a button to dismiss it. Not a dialog,
// because errors can come many times.
#pragma once

#include <QFrame>

#include <functional>

class QLabel;
class QToolButton;

namespace halfscope {

class Banner : public QFrame {
    Q_OBJECT
public:
    explicit Banner(QWidget* parent = nullptr);
    /// Stays until it is dismissed, or another text takes its place.
    void showText(const QString&);
    /// What is wrong as long as `now` says so: it is asked at each lookAgain(), gives the sentence
    /// as it is then, and an empty one once the cause is gone. Should the cause come back, so does
    /// the sentence, unless it was dismissed.
    void showProblem(const QString&, std::function<QString()> now);
    /// Something changed that a problem may come from.
    void lookAgain();
    void dismiss();
    QString text() const;

protected:
    void changeEvent(QEvent*) override;
    void paintEvent(QPaintEvent*) override;

private:
    void applyColors();
    void tell(const QString&);
    std::function<QString()> m_problem; ///< null: the text stays
    QLabel* m_text = nullptr;           ///< child
    QToolButton* m_close = nullptr;     ///< child
};

} // namespace halfscope
