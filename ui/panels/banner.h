// One line across the window for what went wrong, with a button to put it away. Never a dialog:
// errors can come many times.
#pragma once

#include <QFrame>

class QLabel;
class QToolButton;

namespace halfscope {

class Banner : public QFrame {
    Q_OBJECT
public:
    explicit Banner(QWidget* parent = nullptr);
    void showText(const QString&);
    QString text() const;

protected:
    void changeEvent(QEvent*) override;

private:
    void applyColors();
    QLabel* m_text = nullptr;       ///< child
    QToolButton* m_close = nullptr; ///< child
};

} // namespace halfscope
