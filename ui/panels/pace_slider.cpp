// The places of a logarithmic slider; at its right end there is no limit.
#include "ui/panels/pace_slider.h"

#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/panels/figure_label.h"

#include <QLocale>
#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace halfscope {
namespace {

constexpr std::array<double, 18> kPaces{1,  2,  3,   5,   7,   10,  15,  20,   30,
                                        50, 70, 100, 150, 200, 300, 500, 1000, 0};
constexpr int kLastPlace = static_cast<int>(kPaces.size()) - 1;

/// Returns the nearest place, by ratio.
int placeOf(double pace) {
    if (pace <= 0 || pace > kPaces[kLastPlace - 1]) return kLastPlace;
    const auto distance = [pace](double place) { return std::abs(std::log(place / pace)); };
    const auto nearest =
        std::min_element(kPaces.begin(), kPaces.end() - 1,
                         [&](double a, double b) { return distance(a) < distance(b); });
    return static_cast<int>(nearest - kPaces.begin());
}

} // namespace

PaceSlider::PaceSlider(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("pace"));
    auto* column = make<QVBoxLayout>(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_slider = make<QSlider>(Qt::Horizontal, this);
    m_slider->setRange(0, kLastPlace);
    m_slider->setPageStep(3);
    m_slider->setMinimumWidth(28);
    m_slider->setMaximumWidth(84);
    m_slider->setFocusPolicy(Qt::TabFocus); // a click leaves Space to Play
    m_figure = make<FigureLabel>(tr("Pace"), this);
    m_figure->setAlignment(Qt::AlignHCenter);
    m_figure->setFont(scaledFont(font(), 0.85));
    m_figure->setBuddy(m_slider);
    column->addStretch(1);
    column->addWidget(m_slider);
    column->addWidget(m_figure);
    column->addStretch(1);
    m_slider->setToolTip(tr("Pace: the most steps per second, so that you can watch them. At the "
                            "right end there is no limit (− slower, + faster)."));
    connect(m_slider, &QSlider::valueChanged, this, &PaceSlider::choose);
    setPace(0);
}

void PaceSlider::setPace(double stepsPerSecond) {
    m_pace = std::max(0.0, stepsPerSecond);
    const QSignalBlocker quiet(m_slider);
    m_slider->setValue(placeOf(m_pace));
    showPace();
}

void PaceSlider::moveBy(int places) { m_slider->setValue(m_slider->value() + places); }

bool PaceSlider::canMoveBy(int places) const {
    const int place = m_slider->value() + places;
    return m_slider->minimum() <= place && place <= m_slider->maximum();
}

void PaceSlider::choose(int place) {
    m_pace = kPaces[static_cast<size_t>(place)];
    showPace();
    emit paceChosen(m_pace);
}

void PaceSlider::showPace() {
    const QString figure = QLocale().toString(m_pace, 'g', 4);
    m_figure->showFigure(m_pace > 0 ? tr("%1/s").arg(figure) : tr("max"));
    m_slider->setAccessibleName(m_pace > 0 ? tr("Pace: %1 steps a second at most").arg(figure)
                                           : tr("Pace: as fast as possible"));
    emit moved();
}

} // namespace halfscope
