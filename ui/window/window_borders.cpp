// Gives the parts what they ask for, within shares of the height.
#include "ui/window/window_borders.h"

#include "ui/images/compare_view.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/scaler_panel.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"

#include <QAbstractItemModel>
#include <QBoxLayout>
#include <QEvent>
#include <QSplitter>
#include <QTableView>

#include <algorithm>
#include <utility>

namespace halfscope {
namespace {
// The most that the pictures take of the middle column, when there is a full set of plots.
constexpr double kMostPictures = 0.42;
// Below it the plots get lower only once the pictures are as small as they can be.
constexpr int kUsefulPlots = 220;
// In front of an audience: the most that they take of the width beside the plots, and how much
// larger they must be there than above the plots.
constexpr double kMostBeside = 0.5, kWorthTheWidth = 1.2;
// Letters for which the plots beside them have room: fewer would cut the lanes off their headings.
constexpr int kLeastLetters = 40;
// The most that the counters above the events take of the right column.
constexpr double kMostCounters = 0.62, kMostBesideOne = 0.42, kMostBesideBoth = 0.3;
// What is left to them in a low window, where they are scrolled, when a list of runs would show
// fewer than so many.
constexpr double kLeastCounters = 0.24;
constexpr int kFewRuns = 3;
constexpr int kLowColumn = 38; // lines: a lower right column is short of room for the gradients
constexpr int kRounding = 2;   // pixels, which a layout may round away
// The list of runs and the events share what is left: a run takes more lines than an event.
constexpr int kRunsStretch = 3, kEventsStretch = 2;
} // namespace

WindowBorders::WindowBorders(const WindowParts& parts, QObject* parent)
    : QObject(parent), m_parts(parts) {
    connect(parts.centre, &QSplitter::splitterMoved, this, [this] { m_centreByHand = true; });
    connect(parts.right, &QSplitter::splitterMoved, this, [this] { m_rightByHand = true; });
    connect(parts.pictures, &CompareView::panesChanged, this, &WindowBorders::divideCentre);
    parts.centre->installEventFilter(this);
    parts.right->installEventFilter(this);
    parts.runs->installEventFilter(this);
    const QAbstractItemModel* runs = parts.runs->table()->model();
    for (const auto change : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(runs, change, this, &WindowBorders::divideRight, Qt::QueuedConnection);
}

void WindowBorders::divideCentre() {
    if (m_centreByHand) return;
    QSplitter& centre = *m_parts.centre;
    const CompareView& view = *m_parts.pictures;
    const QSize all = centre.size();
    int room = all.height() - centre.handleWidth();
    int pictures = view.usefulHeight(all.width(), static_cast<int>(kMostPictures * room));
    const int roomBeside = all.width() - centre.handleWidth();
    const int width = view.usefulWidth(static_cast<int>(kMostBeside * roomBeside), all.height());
    const int letter = m_parts.plots->fontMetrics().averageCharWidth();
    const bool beside =
        m_presents && roomBeside - width >= kLeastLetters * letter &&
        view.sideIn({width, all.height()}) > kWorthTheWidth * view.sideIn({all.width(), pictures});
    if (beside) {
        room = roomBeside;
        pictures = width;
    } else if (room - pictures < kUsefulPlots) {
        pictures = std::max(view.minimumSizeHint().height(), room - kUsefulPlots);
    }
    centre.setOrientation(beside ? Qt::Horizontal : Qt::Vertical);
    if (centre.sizes().front() != pictures) centre.setSizes({pictures, room - pictures});
}

void WindowBorders::present(bool on) {
    if (on == m_presents) return;
    m_presents = on;
    // where the user put the border says nothing about the other view
    std::swap(m_centreByHand, m_otherByHand);
    fitGradients();
    if (on) m_centreByHand = false;
    if (!on) m_parts.centre->setOrientation(Qt::Vertical);
}

void WindowBorders::fitGradients() {
    GradientView& view = *m_parts.gradients;
    const int lines = m_parts.right->height() / std::max(1, view.fontMetrics().lineSpacing());
    const bool low = !m_presents && lines < kLowColumn;
    const int most = low ? view.minimumSizeHint().height() : QWIDGETSIZE_MAX;
    if (view.maximumHeight() != most) view.setMaximumHeight(most);
}

void WindowBorders::divideRight() {
    fitGradients();
    QSplitter& right = *m_parts.right;
    const int room = right.height() - right.handleWidth();
    const int beside = !m_parts.gradients->isHidden() + !m_parts.runs->isHidden();
    const double most = beside == 0   ? kMostCounters
                        : beside == 1 ? kMostBesideOne
                                      : kMostBesideBoth;
    int share = static_cast<int>(most * room);
    if (const int lower = fewRunsHeight(); lower > 0)
        share = std::min(share, std::max(room - lower, static_cast<int>(kLeastCounters * room)));
    share = std::max(share, room - usefulBelow()); // else an empty list would push figures out
    m_parts.scaler->fitInto(m_rightByHand ? right.sizes().front() : share);
    const int counters = std::min(m_parts.scaler->contentHeight(), share);
    divideLower(m_rightByHand ? right.sizes().back() : room - counters);
    if (m_rightByHand || room <= 0 || right.sizes().front() == counters) return;
    right.setSizes({counters, room - counters});
}

/// Returns the height in which all that is shown below the counters can be used: more would be
/// wasted on it while the counters leave something out.
int WindowBorders::usefulBelow() const {
    const GradientView& view = *m_parts.gradients;
    const int spacing = m_parts.runs->parentWidget()->layout()->spacing();
    int height = m_parts.events->usefulHeight() + kRounding;
    if (!view.isHidden())
        height += std::min(view.sizeHint().height(), view.maximumHeight()) + spacing;
    if (!m_parts.runs->isHidden()) height += m_parts.runs->usefulHeight() + spacing;
    return height;
}

/// Returns the height below the counters in which some runs can be seen above the events; 0 when
/// they need none, or when the gradients have taken their place.
int WindowBorders::fewRunsHeight() const {
    if (m_parts.runs->isHidden() || !m_parts.gradients->isHidden()) return 0;
    const QLayout& column = *m_parts.runs->parentWidget()->layout();
    return m_parts.runs->heightForRows(kFewRuns) + kRounding + column.spacing() +
           m_parts.events->minimumSizeHint().height();
}

/// Shares a height among runs and events so that some runs can be seen if there is room. Not by a
/// minimum: the window could not become lower then.
void WindowBorders::divideLower(int height) {
    auto& column = static_cast<QBoxLayout&>(*m_parts.runs->parentWidget()->layout());
    int runs = kRunsStretch, events = kEventsStretch;
    if (fewRunsHeight() > 0) {
        const int both = height - column.spacing();
        const int wanted = std::min(m_parts.runs->heightForRows(kFewRuns) + kRounding,
                                    both - m_parts.events->minimumSizeHint().height());
        if (wanted * (kRunsStretch + kEventsStretch) > both * kRunsStretch) {
            runs = wanted;
            events = both - wanted;
        }
    }
    if (column.stretch(column.indexOf(m_parts.runs)) != runs)
        column.setStretchFactor(m_parts.runs, runs);
    if (column.stretch(column.indexOf(m_parts.events)) != events)
        column.setStretchFactor(m_parts.events, events);
}

bool WindowBorders::eventFilter(QObject* watched, QEvent* event) {
    // once the splitter has laid out its own parts
    if (event->type() == QEvent::Resize)
        QMetaObject::invokeMethod(this,
                                  watched == m_parts.centre ? &WindowBorders::divideCentre
                                                            : &WindowBorders::divideRight,
                                  Qt::QueuedConnection);
    return QObject::eventFilter(watched, event);
}

void WindowBorders::restore(const QVariantMap& settings) {
    m_centreByHand = settings.value(QStringLiteral("layout/byHand")).toBool();
    if (m_centreByHand)
        m_parts.centre->restoreState(settings.value(QStringLiteral("layout/centre")).toByteArray());
    m_rightByHand = settings.value(QStringLiteral("layout/rightByHand")).toBool();
    if (m_rightByHand)
        m_parts.right->restoreState(settings.value(QStringLiteral("layout/right")).toByteArray());
}

void WindowBorders::save(QVariantMap& settings) const {
    settings.insert(QStringLiteral("layout/byHand"), m_centreByHand);
    settings.insert(QStringLiteral("layout/centre"), m_parts.centre->saveState());
    settings.insert(QStringLiteral("layout/rightByHand"), m_rightByHand);
    settings.insert(QStringLiteral("layout/right"), m_parts.right->saveState());
}

} // namespace halfscope
