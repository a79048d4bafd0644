// A label of one line that gives way: what it has no room for is left out of its middle, and its
// tool tip has all of it. A text from a file must not make the window wider.
#pragma once

#include <QLabel>

namespace halfscope {

class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool event(QEvent*) override;
    void paintEvent(QPaintEvent*) override;

private:
    /// The text in the room that there is.
    QString shown() const;
};

} // namespace halfscope
