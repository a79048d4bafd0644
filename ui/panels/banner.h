// One line across the window that says what went wrong, with a button to dismiss it. Not a dialog,
// because errors can come many times.
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
    void paintEvent(QPaintEvent*) override;

private:
    void applyColors();
    QLabel* m_text = nullptr;       ///< child
    QToolButton* m_close = nullptr; ///< child
};

} // namespace halfscope
