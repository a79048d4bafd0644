// A line to type a path in. While nobody types there, a path that is longer than the line is shown
// by its end, where the file's name is; the tool tip has all of it.
#pragma once

#include <QLineEdit>

namespace halfscope {

class PathEdit : public QLineEdit {
    Q_OBJECT
public:
    using QLineEdit::QLineEdit;

    /// Returns what is visible: the text, or its end after an ellipsis.
    QString shown() const;

protected:
    void paintEvent(QPaintEvent*) override;

private:
    QRect room() const; ///< of the letters, in pixels
};

} // namespace halfscope
