// The sentence above the pictures: what to do, what happens, or how the run ended. It has room for
// two lines; a longer sentence is cut, and the tool tip has all of it.
#pragma once

#include <QLabel>

namespace halfscope {

class Headline : public QLabel {
    Q_OBJECT
public:
    explicit Headline(QWidget* parent = nullptr);

    /// `size`: of the window's font; 1 where the text would not fit.
    void say(const QString& text, double size = 1);
    /// The whole text.
    QString said() const { return toolTip(); }

protected:
    void resizeEvent(QResizeEvent*) override;

private:
    double m_size = 1;
};

} // namespace halfscope
