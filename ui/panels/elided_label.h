// A label of one line that may be narrower than its text: the middle of the text is then left out,
// and the tool tip has all of it. A text from a file must not make the window wider.
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
    /// Returns the text as shortened to the present width.
    QString shown() const;
};

} // namespace halfscope
