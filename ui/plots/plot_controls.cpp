// Makes and places the controls; the stack knows what they do.
#include "ui/plots/plot_controls.h"

#include "ui/look/owned.h"
#include "ui/plots/folded_button.h"
#include "ui/plots/gradient_map.h"
#include "ui/plots/lane_button.h"
#include "ui/plots/plot_panel.h"

#include <qcustomplot.h>

#include <QToolButton>

#include <algorithm>
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
    for (const Live form : {Live::Words, Live::FewWords, Live::Arrow}) {
        showLive(form);
        m_liveWidths[static_cast<size_t>(form)] =
            form == Live::Arrow ? header : m_live->sizeHint().width();
    }
    arrange();
}

bool PlotControls::hasSlider() const {
    constexpr int kLeast = 480; // pixels: a narrower header needs its width for figures
    return m_stack.width() >= kLeast && !m_bare;
}

SmoothingBox::Form PlotControls::sliderAt(int given) const {
    using Form = SmoothingBox::Form;
    return given == 0 ? Form::Words : given == 1 ? Form::Slider : Form::ShortSlider;
}

PlotControls::Live PlotControls::liveAt(int given) const {
    constexpr int kWide = 640; // pixels: then all words of the button fit, too
    const Live widest = m_stack.width() >= kWide ? Live::Words : Live::FewWords;
    return std::max(widest, given < 3 ? Live::Words : given == 3 ? Live::FewWords : Live::Arrow);
}

int PlotControls::coveredAt(int given) const {
    int width = 0;
    if (hasSlider()) width += m_smoothing->widthIn(sliderAt(given)) + kBetween;
    if (!m_live->isHidden()) width += m_liveWidths[static_cast<size_t>(liveAt(given))] + kBetween;
    return width;
}

/// The arrow has the tool tip and the name of the words.
void PlotControls::showLive(Live form) {
    m_live->setArrowType(form == Live::Arrow ? Qt::RightArrow : Qt::NoArrow);
    m_live->setText(form == Live::Words      ? m_live->accessibleName()
                    : form == Live::FewWords ? tr("Newest step")
                                             : QString());
}

void PlotControls::arrange() {
    int right = m_stack.width() - m_border - m_lossRect->margins().right();
    const auto put = [&](QWidget& control, int width) {
        control.setGeometry(right - width, m_border, width, m_header);
        right -= width + kBetween;
    };
    m_smoothing->setVisible(hasSlider());
    if (hasSlider()) put(*m_smoothing, m_smoothing->widthIn(sliderAt(m_given)));
    const Live live = liveAt(m_given);
    showLive(live);
    if (!m_live->isHidden()) put(*m_live, m_liveWidths[static_cast<size_t>(live)]);
    m_loss->keepFree(coveredAt(m_given));
}

bool PlotControls::giveRoom() {
    if (!m_lossRect || (!hasSlider() && m_live->isHidden())) return false;
    const int before = m_given, first = std::exchange(m_placed, false) ? 0 : before;
    const auto least = [&](auto enough) {
        int given = first;
        while (given <= kMostGiven && !enough(coveredAt(given)))
            ++given;
        return given;
    };
    int best = least([this](int covered) { return m_loss->hasSamples(covered); });
    if (best > kMostGiven) best = least([this](int covered) { return m_loss->holdsAll(covered); });
    // where nothing helps, they may as well say what they are, but do not come and go with figures
    m_given = best > kMostGiven ? first : best;
    if (m_given == before) return false;
    m_smoothing->setForm(sliderAt(m_given));
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
