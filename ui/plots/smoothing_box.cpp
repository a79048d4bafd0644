// The label and the slider.
#include "ui/plots/smoothing_box.h"

#include "ui/look/owned.h"
#include "ui/plots/smoothing.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QSlider>

#include <cmath>

namespace halfscope {

namespace {
constexpr int kSliderSteps = 100;
constexpr int kSliderWidth = 80, kShortWidth = 40, kBehindWords = 6; // pixels

int sliderWidth(SmoothingBox::Form form) {
    return form == SmoothingBox::Form::ShortSlider ? kShortWidth : kSliderWidth;
}
} // namespace

SmoothingBox::SmoothingBox(QWidget* parent) : QWidget(parent) {
    m_label = make<QLabel>(this);
    m_slider = make<QSlider>(Qt::Horizontal, this);
    m_slider->setRange(0, static_cast<int>(std::lround(kSliderSteps * Smoother::kMost)));
    m_slider->setPageStep(10);
    m_slider->setFocusPolicy(Qt::TabFocus); // a click leaves Space to Play
    m_slider->setFixedWidth(kSliderWidth);
    m_slider->setAccessibleName(tr("Smoothing of the loss"));
    m_label->setToolTip(
        tr("Draws the trend of the loss. At 0.9, each point is one tenth of the newest value plus "
           "nine tenths of the trend before it. The curve itself stays visible, but faint. This "
           "changes the drawing, not the training."));
    m_label->setBuddy(m_slider);
    auto* row = make<QHBoxLayout>(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(kBehindWords);
    row->addWidget(m_label);
    row->addWidget(m_slider);
    showWeight();
    connect(m_slider, &QSlider::valueChanged, this,
            [this](int value) { setWeight(value / double{kSliderSteps}); });
}

void SmoothingBox::setWeight(double weight) {
    weight = Smoother(weight).weight();
    if (weight == m_weight) return;
    m_weight = weight;
    m_slider->setValue(static_cast<int>(std::lround(weight * kSliderSteps)));
    showWeight();
    Q_EMIT weightChanged(weight);
}

void SmoothingBox::setForm(Form form) {
    m_form = form;
    m_label->setVisible(form == Form::Words);
    m_slider->setFixedWidth(sliderWidth(form));
    showWeight();
}

int SmoothingBox::widthIn(Form form) const {
    const int words = m_label->sizeHint().width() + kBehindWords;
    return sliderWidth(form) + (form == Form::Words ? words : 0);
}

void SmoothingBox::showWeight() {
    m_label->setText(m_weight > 0 ? tr("Smoothed %1").arg(QLocale().toString(m_weight, 'f', 2))
                                  : tr("Smooth"));
    const QString about = m_label->toolTip();
    m_slider->setToolTip(m_form == Form::Words ? about : m_label->text() + u'\n' + about);
    adjustSize();
}

} // namespace halfscope
