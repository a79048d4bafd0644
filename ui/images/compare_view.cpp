// Layout, modes and read-out of the pictures.
#include "ui/images/compare_view.h"

#include "ui/images/image_view.h"
#include "ui/images/picture_image.h"
#include "ui/owned.h"
#include "ui/theme.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QShortcut>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace halfscope {

namespace {
constexpr int kGains[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
constexpr int kDefaultGain = 8;
constexpr int kSpacing = 6;
} // namespace

CompareView::CompareView(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Pictures of the lanes"));
    auto* box = make<QVBoxLayout>(this);
    box->setContentsMargins(4, 2, 4, 2);
    box->setSpacing(2);
    buildBar();
    m_canvas = make<QWidget>(this);
    m_canvas->installEventFilter(this);
    m_canvas->setMinimumSize(60, 60);
    box->addWidget(m_canvas, 1);
    m_readoutLabel = make<QLabel>(this);
    m_readoutLabel->setTextInteractionFlags(Qt::TextSelectableByMouse);
    // a long line is cut rather than widening the window
    m_readoutLabel->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_readoutLabel->setAccessibleName(tr("Values under the pointer"));
    box->addWidget(m_readoutLabel);
    m_last = newView();
    fillModes();
    updateTitles();
    updateReadout();
    for (const auto& [key, difference] :
         {std::pair(Qt::Key_1, false), std::pair(Qt::Key_2, true)}) {
        auto* shortcut = make<QShortcut>(QKeySequence(key), this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this,
                [this, wanted = difference] { wanted ? showDifference() : showTarget(); });
    }
}

void CompareView::buildBar() {
    auto* bar = make<QHBoxLayout>();
    bar->setSpacing(6);
    m_stepLabel = make<QLabel>(this);
    bar->addWidget(m_stepLabel);
    bar->addStretch(1);
    auto* label = make<QLabel>(tr("Last pane:"), this);
    m_mode = make<QComboBox>(this);
    m_mode->setAccessibleName(tr("Last pane"));
    m_mode->setToolTip(tr("What the last pane shows (keys 1 and 2)"));
    label->setBuddy(m_mode);
    bar->addWidget(label);
    bar->addWidget(m_mode);
    m_gain = make<QComboBox>(this);
    m_gain->setAccessibleName(tr("Gain of the difference"));
    m_gain->setToolTip(tr("How much the difference is amplified"));
    for (const int gain : kGains)
        m_gain->addItem(tr("× %1").arg(gain), gain);
    m_gain->setCurrentIndex(m_gain->findData(kDefaultGain));
    bar->addWidget(m_gain);
    static_cast<QVBoxLayout*>(layout())->addLayout(bar);
    connect(m_mode, &QComboBox::currentIndexChanged, this, &CompareView::updateLast);
    connect(m_gain, &QComboBox::currentIndexChanged, this, &CompareView::updateLast);
}

ImageView* CompareView::newView() {
    auto* view = make<ImageView>(m_transform, m_canvas);
    connect(view, &ImageView::pixelHovered, this, &CompareView::hover);
    view->show();
    return view;
}

ImageView& CompareView::view(int pane) {
    return pane < static_cast<int>(m_views.size()) ? *m_views[static_cast<size_t>(pane)] : *m_last;
}

void CompareView::setLanes(const QStringList& names) {
    m_names = names;
    m_pictures.clear();
    m_step = -1;
    rebuildViews();
}

void CompareView::rebuildViews() {
    const auto wanted = static_cast<size_t>(std::max(m_names.size(), m_pictures.size()));
    while (m_views.size() > wanted) {
        delete m_views.back();
        m_views.pop_back();
    }
    while (m_views.size() < wanted)
        m_views.push_back(newView());
    for (ImageView* view : m_views)
        view->setPicture({});
    m_last->raise();
    fillModes();
    updateLast();
    placeViews();
}

void CompareView::fillModes() {
    const int chosen = std::max(0, m_mode->currentIndex());
    const QSignalBlocker blocker(m_mode);
    m_mode->clear();
    m_mode->addItem(tr("Target"));
    for (int i = 1; i < static_cast<int>(m_views.size()); ++i)
        m_mode->addItem(tr("Difference |A − %1|").arg(laneLetter(i)));
    m_mode->setCurrentIndex(std::min(chosen, m_mode->count() - 1));
}

void CompareView::setPictures(qint64 step, const QVector<Picture>& pictures) {
    const bool rebuild = pictures.size() > static_cast<qsizetype>(m_views.size());
    m_pictures = pictures;
    m_step = step;
    if (rebuild) rebuildViews();
    for (qsizetype i = 0; i < pictures.size(); ++i)
        m_views[static_cast<size_t>(i)]->setPicture(pictures[i]);
    updateLast();
}

void CompareView::setTarget(const Picture& target) {
    m_target = target;
    updateLast();
}

void CompareView::clear() {
    m_pictures.clear();
    m_target = {};
    m_step = -1;
    for (ImageView* view : m_views)
        view->setPicture({});
    updateLast();
}

void CompareView::showTarget() { m_mode->setCurrentIndex(0); }

void CompareView::showDifference(int otherLane) {
    if (otherLane >= 1 && otherLane < m_mode->count()) m_mode->setCurrentIndex(otherLane);
}

bool CompareView::showsDifference() const { return m_mode->currentIndex() > 0; }

void CompareView::setGain(double gain) {
    const int index = m_gain->findData(static_cast<int>(gain));
    if (index >= 0) m_gain->setCurrentIndex(index);
}

double CompareView::gain() const { return m_gain->currentData().toDouble(); }

void CompareView::updateLast() {
    const int other = m_mode->currentIndex();
    m_gain->setVisible(showsDifference());
    m_last->setLegend(showsDifference() ? 1 / gain() : 0);
    if (!showsDifference())
        m_last->setPicture(m_target);
    else if (other < m_pictures.size())
        m_last->setMappedPicture(absoluteDifference(m_pictures[0], m_pictures[other]), gain());
    else
        m_last->setPicture({});
    updateTitles();
    updateReadout();
}

void CompareView::updateTitles() {
    const Colors colors = colorsFor(palette());
    const auto pictureOf = [this](int i) { return m_pictures.value(i); };
    const int lanes = static_cast<int>(m_views.size()), other = m_mode->currentIndex();
    QStringList titles;
    for (int i = 0; i < lanes; ++i) {
        titles << laneLabel(i, m_names.value(i));
        view(i).setTitleColor(colors.laneText(i));
    }
    titles << (showsDifference() ? tr("|A − %1| × %2").arg(laneLetter(other)).arg(gain())
                                 : tr("Target"));
    // all panes in the long form or all in the short one
    for (const ErrorText form : {ErrorText::Full, ErrorText::Short}) {
        bool fit = true;
        for (int i = 0; i <= lanes; ++i) {
            QString note;
            if (i < lanes)
                note = errorText(pictureOf(i), m_target, form);
            else if (showsDifference())
                note = errorText(pictureOf(0), pictureOf(other), form);
            view(i).setTitle(titles[i], note);
            fit = fit && view(i).fits(titles[i], note);
        }
        if (fit) break;
    }
    m_last->setTitleColor(palette().color(QPalette::WindowText));
    m_stepLabel->setText(m_step < 0 ? tr("No pictures yet")
                                    : tr("After step %1").arg(QLocale().toString(m_step)));
}

void CompareView::hover(QPoint pixel) {
    m_pixel = pixel.x() < 0 ? std::nullopt : std::optional(pixel);
    for (ImageView* view : m_views)
        view->setMarked(m_pixel);
    m_last->setMarked(m_pixel);
    updateReadout();
}

QString CompareView::readout() const { return m_readoutLabel->text(); }

void CompareView::updateReadout() {
    if (!m_pixel) {
        m_readoutLabel->setText(tr("Point at a picture to read its values."));
        return;
    }
    QString text = tr("x %1, y %2:").arg(m_pixel->x()).arg(m_pixel->y());
    for (int i = 0; i < m_pictures.size(); ++i)
        text += QStringLiteral("  %1 %2").arg(laneLetter(i),
                                              pixelText(m_pictures[i], m_pixel->x(), m_pixel->y()));
    if (m_target.width > 0)
        text += QStringLiteral("  ") +
                tr("target %1").arg(pixelText(m_target, m_pixel->x(), m_pixel->y()));
    m_readoutLabel->setText(text);
}

int CompareView::headerHeight() const { return fontMetrics().height() + 6; }

/// The number of columns that makes the pictures largest; of nearly equal ones the most columns,
/// which leave more height for the plots and the same eye level for all lanes.
CompareView::Grid CompareView::gridFor(int width, int height) const {
    constexpr double kWorthARow = 1.1;
    Grid best{panes(), 1, 0};
    for (int columns = panes(); columns >= 1; --columns) {
        const int rows = (panes() + columns - 1) / columns;
        const int side = std::min((width - (columns - 1) * kSpacing) / columns,
                                  (height - (rows - 1) * kSpacing) / rows - headerHeight());
        if (side > kWorthARow * best.side) best = {columns, rows, side};
    }
    return best;
}

int CompareView::usefulHeight(int width, int most) const {
    const QMargins margins = layout()->contentsMargins();
    const int around = layout()->minimumSize().height() - m_canvas->minimumHeight();
    const Grid grid = gridFor(width - margins.left() - margins.right(), most - around);
    const int canvas = grid.rows * (grid.side + headerHeight()) + (grid.rows - 1) * kSpacing;
    return std::clamp(around + canvas, std::min(most, minimumSizeHint().height()), most);
}

void CompareView::placeViews() {
    const int count = panes(), width = m_canvas->width(), height = m_canvas->height();
    const Grid grid = gridFor(width, height);
    const int columns = grid.columns, rows = grid.rows;
    for (int i = 0; i < count; ++i) {
        // edges by proportion, so that rounding leaves no gap at the end
        const int column = i % columns, row = i / columns;
        const int left = column * (width + kSpacing) / columns;
        const int right = (column + 1) * (width + kSpacing) / columns - kSpacing;
        const int top = row * (height + kSpacing) / rows;
        const int bottom = (row + 1) * (height + kSpacing) / rows - kSpacing;
        view(i).setGeometry(left, top, std::max(1, right - left), std::max(1, bottom - top));
    }
    updateTitles(); // more or less room for them now
}

bool CompareView::eventFilter(QObject* object, QEvent* event) {
    if (object == m_canvas && event->type() == QEvent::Resize) placeViews();
    return QWidget::eventFilter(object, event);
}

void CompareView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) updateTitles();
}

} // namespace halfscope
