// A status bar whose messages may be longer than it is wide: their ends are then left out between
// two words, and the tool tip has all of them. Qt cuts a message in the middle of a letter.
#pragma once

#include <QStatusBar>

namespace halfscope {

class MessageBar : public QStatusBar {
    Q_OBJECT
public:
    explicit MessageBar(QWidget* parent = nullptr);

    /// Returns the message as shortened to the present room.
    QString shown() const;

protected:
    bool event(QEvent*) override;
    void showEvent(QShowEvent*) override;
    void paintEvent(QPaintEvent*) override;

private:
    QRect room() const; ///< left of the widgets that stay beside a message
};

} // namespace halfscope
