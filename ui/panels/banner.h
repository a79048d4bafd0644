// One line across the window that says what went wrong or, in another colour, what to know about
// what was done, with a button to dismiss it and, where something can be done about it, one that
// does that. Not a dialog, because errors can come many times.
#pragma once

#include <QFrame>

#include <functional>

class QLabel;
class QPushButton;
class QToolButton;

namespace halfscope {

class Banner : public QFrame {
    Q_OBJECT
public:
    explicit Banner(QWidget* parent = nullptr);
    /// Shows a text until it is dismissed or another text replaces it.
    void showText(const QString&);
    /// Does the same with a text about something that went well; with `now`, as long as that
    /// confirms it, see showProblem(). Returns false where notices are held back.
    bool showNotice(const QString&, std::function<QString()> now = nullptr);
    /// Hides the notice that is shown until it is told otherwise: an audience has no use for it.
    /// Meanwhile others are only told elsewhere. What went wrong is shown all the same.
    void holdNoticesBack(bool);
    /// Shows a problem as long as `now` confirms it: each lookAgain() calls `now`, which returns
    /// the present sentence, or an empty one once the cause is gone. When the cause comes back, so
    /// does the sentence, with what was offered, unless it was dismissed.
    void showProblem(const QString&, std::function<QString()> now);
    /// Adds a button to the text that is shown, and goes with it: it dismisses the text and calls
    /// `act`.
    void offer(const QString& button, const QString& toolTip, std::function<void()> act);
    /// Tells that something changed that may have caused or solved a problem.
    void lookAgain();
    void dismiss();
    QString text() const;
    /// Sets the control that gets the keyboard when the banner goes while it has it; while that is
    /// disabled or hidden, the banner's parent gets it. Qt would take the next control, which
    /// answers Space itself.
    void setHeir(QWidget& heir) { m_heir = &heir; }

signals:
    /// A notice has come while notices are held back; it is not shown here, now or later.
    void toldElsewhere(const QString& text);

protected:
    void changeEvent(QEvent*) override;
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;

private:
    void applyColors();
    enum class Offered : uint8_t { Goes, Stays };
    void tell(const QString&, bool wrong = true, Offered = Offered::Goes);
    void leave();
    void fitText();
    std::function<QString()> m_problem; ///< see showProblem(); null: the text stays
    bool m_wrong = true;                ///< the text is about something that went wrong
    bool m_holds = false;               ///< notices are held back
    bool m_held = false;                ///< the text is
    QLabel* m_text = nullptr;           ///< child
    std::function<void()> m_act;        ///< what is offered; null when nothing is
    QPushButton* m_offer = nullptr;     ///< child
    QToolButton* m_close = nullptr;     ///< child
    QWidget* m_heir = nullptr;          ///< outlives what the banner shows
};

} // namespace halfscope
