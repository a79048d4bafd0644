// The slider that smooths the loss, with its label.
#pragma once

#include <QWidget>

class QLabel;
class QSlider;

namespace halfscope {

class SmoothingBox : public QWidget {
    Q_OBJECT
public:
    explicit SmoothingBox(QWidget* parent = nullptr);

    /// Returns the weight of the past, 0 (none) to Smoother::kMost.
    double weight() const { return m_weight; }
    void setWeight(double weight);

    /// From the widest to the narrowest; the last ones have no words.
    enum class Form { Words, Slider, ShortSlider };
    Form form() const { return m_form; }
    void setForm(Form);
    /// Returns the width that it has in a form.
    int widthIn(Form) const;

signals:
    void weightChanged(double weight);

private:
    void showWeight();

    QLabel* m_label = nullptr; ///< child, as is the slider
    QSlider* m_slider = nullptr;
    double m_weight = 0;
    Form m_form = Form::Words;
};

} // namespace halfscope
