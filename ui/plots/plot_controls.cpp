// Makes and places the controls; the stack knows what they do.
#include "ui/plots/plot_controls.h"

#include "ui/look/owned.h"
#include "ui/plots/folded_button.h"
#include "ui/plots/gradient_map.h"
#include "ui/plots/lane_button.h"
#include "ui/plots/plot_panel.h"
#include "ui/plots/smoothing_box.h"

#include <qcustomplot.h>

#include <QToolButton>

#include <utility>

namespace halfscope {

namespace {
constexpr int kBetween = 10; // pixels between controls, and before them
} // namespace

PlotControls::PlotControls(QWidget& stack) : QObject(&stack), m_stack(stack) {
    m_live = make<QToolButton>(&stack);
    m_live->setObjectName(QStringLiteral("toNewestStep"));
    m_live->setText(tr("To the newest step"));
    m_live->setToolTip(tr("Show the whole run and follow the newest step (F)"));
    m_live->setAccessibleName(m_live->text());
    m_live->setFocusPolicy(Qt::TabFocus);
    m_live->hide();
    connect(m_live, &QToolButton::clicked, this, &PlotControls::liveAsked);
    m_smoothing = make<SmoothingBox>(&stack);
    connect(m_smoothing, &SmoothingBox::weightChanged, this, [this](double weight) {
        if (m_lossRect) arrange(); // its words are others now
        Q_EMIT weightChanged(weight);
    });
    m_lane = make<LaneButton>(&stack);
    m_lane->hide();
    connect(m_lane, &LaneButton::laneChosen, this, &PlotControls::laneChosen);
    m_folded = make<FoldedButton>(&stack);
    connect(m_folded, &FoldedButton::plotChosen, this, &PlotControls::plotWanted);
}

double PlotControls::smoothing() const { return m_smoothing->weight(); }

void PlotControls::setSmoothing(double weight) { m_smoothing->setWeight(weight); }

void PlotControls::setWayBack(bool needed) {
    if (std::exchange(m_back, needed) != needed) m_placed = true;
    m_live->setVisible(m_back && !m_bare);
    if (m_lossRect) arrange(); // else the plots are being made anew, and place() follows
}

void PlotControls::setLanes(const QStringList& labels, int chosen) {
    m_choosesLane = !labels.isEmpty();
    m_lane->setVisible(m_choosesLane);
    if (!labels.isEmpty()) m_lane->setLanes(labels, chosen);
}

void PlotControls::setBare(bool bare) {
    m_bare = bare;
    setWayBack(m_back);
}

void PlotControls::place(PlotPanel& loss, int header, int border) {
    m_loss = &loss;
    m_lossRect = &loss.rect();
    m_header = header;
    m_border = border;
    m_placed = true;
    arrange();
}

bool PlotControls::hasSlider() const {
    constexpr int kLeast = 480; // pixels: a narrower header needs its width for figures
    return m_stack.width() >= kLeast && !m_bare;
}

int PlotControls::covered() const {
    int width = 0;
    if (hasSlider()) width += m_smoothing->width() + kBetween;
    if (!m_live->isHidden()) width += m_live->sizeHint().width() + kBetween;
    return width;
}

void PlotControls::arrange() {
    constexpr int kWide = 640; // pixels: then all words of the button fit, too
    int right = m_stack.width() - m_border - m_lossRect->margins().right();
    const auto put = [&](QWidget& control, int width) {
        control.setGeometry(right - width, m_border, width, m_header);
        right -= width + kBetween;
    };
    m_smoothing->setVisible(hasSlider());
    if (hasSlider()) put(*m_smoothing, m_smoothing->width());
    m_live->setText(m_stack.width() >= kWide ? m_live->accessibleName() : tr("Newest step"));
    if (!m_live->isHidden()) put(*m_live, m_live->sizeHint().width());
    m_loss->keepFree(covered());
}

bool PlotControls::giveRoom() {
    if (!m_lossRect || !hasSlider()) return false;
    using Form = SmoothingBox::Form;
    const Form before = m_smoothing->form();
    const int others = covered() - m_smoothing->width();
    const Form first = std::exchange(m_placed, false) ? Form::Words : before;
    // where nothing helps, it may as well say what it is, but does not come and go with figures
    Form best = first;
    for (const Form form : {Form::Words, Form::Slider, Form::ShortSlider}) {
        if (form < first || !m_loss->hasSamples(others + m_smoothing->widthIn(form))) continue;
        best = form;
        break;
    }
    if (best == before) return false;
    m_smoothing->setForm(best);
    arrange();
    return true;
}

int PlotControls::placeFolded(std::span<StackedPlot* const> plots, int border) {
    constexpr int kBeside = 8, kAround = 4; // pixels
    constexpr int kLeast = 480;             // pixels: in a narrower stack, words would cover others
    QStringList folded;
    for (const StackedPlot* plot : plots)
        if (plot->folded() && !m_bare) folded << plot->title();
    m_folded->setPlots(folded, m_stack.width() < kLeast);
    if (folded.isEmpty()) return 0;
    const QSize size(m_folded->sizeHint().width(), m_stack.fontMetrics().height() + kAround);
    m_folded->setGeometry(m_stack.width() - border - size.width(),
                          m_stack.height() - border - size.height(), size.width(), size.height());
    return size.width() + kBeside;
}

void PlotControls::placeLane(GradientMap& map, int header, int border) {
    constexpr int kBeside = 4; // pixels
    const QRect rect = map.rect().rect();
    m_lane->setVisible(m_choosesLane && map.rect().margins().top() > 0); // it stands in the header
    const int width = m_lane->sizeHint().width();
    m_lane->setGeometry(border + rect.right() + 1 - width, border + rect.top() - header, width,
                        header);
    map.keepFree(m_lane->isHidden() ? 0 : width + kBeside);
}

} // namespace halfscope
