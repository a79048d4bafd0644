// The sentence above the pictures: what to do, what happens, or how the run ended. It has room for
// two lines; where a sentence needs more, a shorter one takes its place, and the tool tip has all
// of it.
#pragma once

#include <QLabel>
#include <QStringList>

namespace halfscope {

class Headline : public QLabel {
    Q_OBJECT
public:
    explicit Headline(QWidget* parent = nullptr);

    /// The first of the texts that there is room for, which say the same in ever fewer words; none
    /// is cut but the last. `size`: of the window's font; 1 where the text would not fit.
    void say(const QStringList& texts, double size = 1);
    /// The first text.
    QString said() const { return toolTip(); }

protected:
    void resizeEvent(QResizeEvent*) override;

private:
    QStringList m_texts;
    double m_size = 1;
};

} // namespace halfscope
