// The layout and modes of the pictures, and the pixel in them that the pointer or the keys read.
#include "ui/images/compare_view.h"

#include "engine/core/error.h"
#include "engine/data/class_counts.h"
#include "engine/data/dataset.h"
#include "engine/data/targets.h"
#include "engine/runs/lost_pictures.h"
#include "ui/images/image_view.h"
#include "ui/images/pane_grid.h"
#include "ui/images/pane_sheet.h"
#include "ui/images/pane_titles.h"
#include "ui/images/picture_image.h"
#include "ui/images/picture_loader.h"
#include "ui/images/sample_words.h"
#include "ui/look/owned.h"
#include "ui/look/theme.h"
#include "ui/models/lane_titles.h"
#include "ui/models/run_facts.h"
#include "ui/models/translated.h"

#include <QEvent>
#include <QFocusEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QShortcut>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace halfscope {

namespace {
constexpr double kKeyZoom = 1.25;
const QString kBetweenLanes = QStringLiteral("; ");
} // namespace

CompareView::CompareView(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Pictures of the lanes"));
    setFocusPolicy(Qt::StrongFocus);
    auto* box = make<QVBoxLayout>(this);
    box->setContentsMargins(4, 2, 4, 2);
    box->setSpacing(2);
    m_bar = make<CompareBar>(this);
    box->addWidget(m_bar);
    connect(m_bar, &CompareBar::contentChanged, this, [this] {
        hover({-1, -1}); // the pixel was one of other pictures
        showPictures();
        emit panesChanged();
    });
    connect(m_bar, &CompareBar::lastChanged, this, &CompareView::updateLast);
    m_canvas = make<QWidget>(this);
    m_canvas->installEventFilter(this);
    m_canvas->setMinimumSize(60, 60);
    box->addWidget(m_canvas, 1);
    m_readoutLabel = make<QLabel>(this);
    m_readoutLabel->setObjectName(QStringLiteral("readout"));
    m_readoutLabel->setTextInteractionFlags(Qt::TextSelectableByMouse);
    // a long line is cut rather than widening the window
    m_readoutLabel->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    box->addWidget(m_readoutLabel);
    m_last = newView();
    m_loader = make<PictureLoader>(this);
    connect(m_loader, &PictureLoader::loaded, this, &CompareView::showLoaded);
    connect(m_loader, &PictureLoader::failed, this, [this](const Message& reason) {
        const QString text =
            tr("The pictures of this run cannot be read: %1").arg(translated(reason));
        const bool isNew = std::exchange(m_failure, text) != text;
        updateTitles();
        if (isNew) emit failed(m_failure);
    });
    updateLast();
    const auto onKey = [this](Qt::Key key, auto action) {
        connect(make<QShortcut>(QKeySequence(key), this), &QShortcut::activated, this, action);
    };
    // where mistakes are shown there is no last picture: the change would be seen only later
    const auto onLast = [this, onKey](Qt::Key key, auto action) {
        onKey(key, [this, action] {
            if (!showsMistakes()) action();
        });
    };
    onLast(Qt::Key_1, [this] { showLast(Shows::Target); });
    onLast(Qt::Key_2, [this] { showLast(Shows::Difference); });
    onLast(Qt::Key_3, [this] { showLast(Shows::Swipe); });
    onLast(Qt::Key_4, [this] { setAlone(!m_alone); });
    onKey(Qt::Key_5, [this] { m_bar->chooseNext(); });
}

ImageView* CompareView::newView() {
    auto* view = make<ImageView>(m_transform, m_canvas);
    connect(view, &ImageView::pixelHovered, this, &CompareView::hover);
    view->setCellTips([this](QPoint cell) -> std::optional<QString> {
        const QStringList words = wordsAt(cell);
        if (words.isEmpty()) return std::nullopt;
        if (m_bar->isHidden()) return QString(); // an audience reads the same below the tables
        return words.join(u'\n');
    });
    view->show();
    return view;
}

ImageView& CompareView::view(int pane) const {
    return pane < static_cast<int>(m_views.size()) ? *m_views[static_cast<size_t>(pane)] : *m_last;
}

void CompareView::setRun(std::shared_ptr<const Run> run) {
    if (run != m_run) QToolTip::hideText(); // it may tell of a picture of the run before
    m_run = std::move(run);
    m_info = nullptr;
    m_asked = nullptr;
    m_painted = nullptr;
    m_lost.reset();
    m_failure.clear();
    if (!m_run) {
        m_loader->ask(nullptr);
        return clear();
    }
    const RunSnapshot& now = m_run->now();
    m_info = now.sharedInfo();
    const TaskConfig& task = now.info().config.task;
    const std::shared_ptr<const Picture> target = now.target();
    m_samples = samplesShow(task, *target);
    m_bar->nameSamples(m_samples == SamplesShow::Writing ? tr("Text") : tr("Samples"));
    setLanes(laneTitlesOf(now), laneAbouts(now.info().config), viewKindOf(task, *target));
    setTarget(*target);
    refresh();
}

void CompareView::refresh() {
    if (!m_run) return;
    const RunSnapshot& now = m_run->now();
    if (now.sharedInfo() != m_info) {
        m_info = now.sharedInfo();
        renameLanes(laneTitlesOf(now));
    }
    if (now.sharedPictures() == m_asked) return;
    m_asked = now.sharedPictures();
    m_loader->ask(m_asked);
    if (m_loader->reads() && m_step < 0) updateTitles();
}

void CompareView::showLoaded(const std::shared_ptr<const LanePictures>& painted) {
    m_painted = painted;
    const Message lost = lostPicturesText(m_run->now(), *painted);
    m_failure = lost.empty()
                    ? QString()
                    : tr("Not all pictures of this run can be shown: %1").arg(translated(lost));
    if (m_asked->target()) setTarget(*m_asked->target()->picture());
    setGalleries(painted->galleries, painted->mistakes);
    setValidated(painted->validated);
    setMade(painted->made);
    setPictures(painted->step, QVector<Picture>(painted->outputs.begin(), painted->outputs.end()));
    const bool isNew = std::exchange(m_lost, painted->lost) != painted->lost;
    if (isNew && !m_failure.isEmpty()) emit failed(m_failure);
}

/// Returns why there are no pictures.
QString CompareView::lackText() const {
    if (m_loader->reads()) return tr("Reading the pictures…");
    return m_failure.isEmpty() ? tr("No pictures yet") : tr("The pictures cannot be read");
}

void CompareView::setLanes(const QStringList& names, const QStringList& about, ViewKind kind) {
    m_names = names;
    m_about = about;
    m_kind = kind;
    m_pixel.reset();
    m_pictures.clear();
    m_galleries.clear();
    m_mistakes.clear();
    m_step = -1;
    m_validated = 0;
    m_made = PicturesMade::InStep;
    rebuildViews();
}

void CompareView::rebuildViews() {
    const auto wanted = static_cast<size_t>(std::max(m_names.size(), m_pictures.size()));
    const bool changes = m_views.size() != wanted;
    while (m_views.size() > wanted) {
        delete m_views.back();
        m_views.pop_back();
    }
    while (m_views.size() < wanted)
        m_views.push_back(newView());
    m_last->raise();
    m_bar->setLanes(static_cast<int>(wanted));
    showPictures();
    placeViews();
    if (changes) emit panesChanged();
}

void CompareView::setPictures(qint64 step, const QVector<Picture>& pictures) {
    const bool rebuild = pictures.size() > static_cast<qsizetype>(m_views.size());
    m_pictures = pictures;
    m_notFinite = !std::all_of(pictures.begin(), pictures.end(), holdsOnlyFinite);
    m_step = step;
    if (rebuild) return rebuildViews();
    showPictures();
}

Picture CompareView::pictureOf(int lane) const {
    if (!showsSamples()) return m_pictures.value(lane);
    const auto at = static_cast<size_t>(lane);
    if (showsMistakes()) return at < m_mistakes.size() ? m_mistakes[at] : Picture();
    return at + 1 < m_galleries.size() ? m_galleries[at] : Picture();
}

const Picture& CompareView::shownTarget() const {
    return showsSamples() ? m_galleries.back() : m_target;
}

bool CompareView::isLost(int pane) const {
    const bool lane = pane < static_cast<int>(m_views.size());
    if (!m_painted || (!lane && mode().shows != Shows::Target)) return false;
    if (!lane && !showsSamples())
        return m_target.width < 1 && m_run->now().targetPicture().isDamaged();
    const LostPictures& all = m_painted->lost;
    const auto& lost = !showsSamples()           ? all.outputs
                       : lane && showsMistakes() ? all.mistakes
                                                 : all.galleries;
    const size_t place = lane ? static_cast<size_t>(pane) : m_galleries.size() - 1;
    return std::ranges::find(lost, place) != lost.end();
}

void CompareView::showPictures() {
    m_bar->offer(!m_galleries.empty(), !m_mistakes.empty());
    const ImageView::Style style = !showsSamples()       ? ImageView::styleOf(m_kind)
                                   : areTexts(m_samples) ? ImageView::Style::Text
                                                         : ImageView::Style::Plot;
    for (size_t i = 0; i < m_views.size(); ++i) {
        m_views[i]->setStyle(style);
        m_views[i]->setAxes(m_classes);
        m_views[i]->setPicture(pictureOf(static_cast<int>(i)));
    }
    m_last->setStyle(style);
    m_last->setAxes(m_classes);
    updateLast();
    if (std::exchange(m_hidesLast, showsMistakes()) == showsMistakes()) return;
    m_bar->setHasLast(!m_hidesLast);
    placeViews();
    emit panesChanged();
}

void CompareView::setTarget(const Picture& target) {
    m_target = target;
    m_classes.clear();
    if (m_kind == ViewKind::Classes)
        for (const std::string& name :
             classesOfCaption(target.caption, static_cast<size_t>(std::max(0, target.width))))
            m_classes << QString::fromStdString(name);
    showPictures();
}

void CompareView::clear() {
    m_pictures.clear();
    m_notFinite = false;
    m_galleries.clear();
    m_mistakes.clear();
    m_validated = 0;
    m_target = {};
    m_step = -1;
    showPictures();
}

void CompareView::updateLast() {
    const auto [shows, other] = mode();
    const Picture a = pictureOf(0), b = pictureOf(other);
    m_last->setLegend(shows == Shows::Difference ? 1 / gain() : 0);
    switch (shows) {
    case Shows::Target: m_last->setPicture(shownTarget()); break;
    case Shows::Difference: m_last->setMappedPicture(absoluteDifference(a, b), gain()); break;
    case Shows::Swipe: m_last->setSwipe(a, b); break;
    }
    updateTitles();
    updateReadout();
}

/// Returns what the last pane is called, the longest form first.
QStringList CompareView::lastTitles() const {
    const auto [shows, other] = mode();
    switch (shows) {
    case Shows::Target: break;
    case Shows::Difference: return {tr("|A − %1| × %2").arg(laneLetter(other)).arg(gain())};
    case Shows::Swipe: return {tr("A | %1").arg(laneLetter(other))};
    }
    if (!showsFirstBatch()) return {tr("Target")};
    return {tr("Target (first batch)"), tr("First batch")};
}

void CompareView::updateTitles() {
    const Colors colors = colorsFor(palette());
    const int lanes = static_cast<int>(m_views.size());
    QStringList titles;
    for (int i = 0; i < lanes; ++i) {
        titles << laneLabel(i, m_names.value(i));
        view(i).setTitleColor(colors.laneText(i));
    }
    std::vector<PictureError> errors;
    for (int i = 0; i <= lanes; ++i)
        errors.push_back(errorOf(i));
    std::vector<QStringList> notes;
    for (const ErrorText form : {ErrorText::Full, ErrorText::Short, ErrorText::Shortest}) {
        QStringList each;
        for (int i = 0; i <= lanes; ++i)
            each << noteOf(i, errors[static_cast<size_t>(i)], form);
        notes.push_back(each);
    }
    const auto fits = [this](int pane, const QString& title, const QString& note, TitleSize size) {
        return !isShown(pane) || view(pane).fits(title, note, size);
    };
    PaneTitles shown = titlesTogether(titles, lastTitles(), notes, fits);
    // "81 wrong" above 64 pictures would be taken for their number
    if (showsMistakes() && shown.notes != notes.front()) {
        const auto allSmall = [fits](int pane, const QString& title, const QString& note,
                                     TitleSize) {
            return fits(pane, title, note, TitleSize::AllSmall);
        };
        PaneTitles small = titlesTogether(titles, lastTitles(), notes, allSmall);
        small.size = TitleSize::AllSmall;
        if (small.notes == notes.front()) shown = std::move(small);
    }
    titles << lastTitles().front();
    for (int i = 0; i <= lanes; ++i)
        view(i).setTitle(titles[i], shown.notes.value(i), shown.titles[i], shown.size);
    updateToolTips(errors);
    m_last->setTitleColor(palette().color(QPalette::WindowText));
    m_bar->setStep(m_step < 0 ? lackText() : stepWords(shownStep(), made()),
                   m_step < 0 ? m_failure : stepExplained(shownStep(), made()));
}

QString CompareView::captionOf(int pane) const {
    const bool lane = pane < static_cast<int>(m_views.size());
    // a table of targets has no errors to count, and its samples are of the first batch
    if (!lane && (mode().shows != Shows::Target || m_kind == ViewKind::Classes)) return {};
    const std::string caption = lane ? pictureOf(pane).caption : shownTarget().caption;
    return m_kind == ViewKind::Classes ? shownCaption(caption) : QString::fromStdString(caption);
}

PictureError CompareView::errorOf(int pane) const {
    // a saved picture is cut off at black and white: its error would be too small
    if (m_kind != ViewKind::Painted || isSaved()) return {};
    if (pane < static_cast<int>(m_views.size()))
        return errorBetween(m_pictures.value(pane), m_target);
    const auto [shows, other] = mode();
    if (shows == Shows::Target) return {};
    return errorBetween(m_pictures.value(0), m_pictures.value(other));
}

/// Puts into the tool tips what the titles may have no room for, and what their words mean.
void CompareView::updateToolTips(const std::vector<PictureError>& errors) {
    const int lanes = static_cast<int>(m_views.size());
    for (int i = 0; i <= lanes; ++i) {
        QStringList lines{view(i).title(), isLost(i) ? m_failure : QString()};
        if (const QString about = m_about.value(i); i < lanes && !about.isEmpty()) lines << about;
        lines << (showsMistakes() ? mistakeWords(captionOf(i))
                                  : captionWords(m_kind, captionOf(i)));
        if (i < lanes && m_step >= 0) lines << stepExplained(shownStep(), made());
        if (i == lanes && mode().shows == Shows::Difference) lines << gainWords(gain());
        lines << explanation(WordsFor::MuchRoom);
        if (isSaved() && (i < lanes || mode().shows != Shows::Target))
            lines << savedWords(WordsFor::MuchRoom);
        const QString error = errorText(errors[static_cast<size_t>(i)], ErrorText::Full);
        if (!error.isEmpty())
            lines << (i < lanes
                          ? tr("%1: mean absolute error against the target, and peak "
                               "signal-to-noise ratio (higher is closer)")
                          : tr("%1: mean absolute difference, and peak signal-to-noise ratio"))
                         .arg(error);
        lines << tr("Wheel: zoom. Drag: move. Double click: fit.");
        lines.removeAll(QString());
        const QString tip = lines.join(u'\n');
        if (view(i).toolTip() != tip) view(i).setToolTip(tip);
    }
}

QSize CompareView::around(int width) const {
    const QMargins margins = layout()->contentsMargins();
    const int sides = margins.left() + margins.right();
    int height = layout()->minimumSize().height() - m_canvas->minimumHeight();
    if (m_bar->isHidden()) { // the lines that are there are of another width
        const FittedLines wanted = linesBelow(width - sides);
        const auto heightOfLines = [](const QFont& letters, qsizetype lines) {
            return static_cast<int>(lines) * QFontMetrics(letters).lineSpacing();
        };
        height += heightOfLines(wanted.font, wanted.lines.size()) -
                  heightOfLines(m_readoutLabel->font(), m_readoutLabel->text().count(u'\n') + 1);
    }
    return {sides, height};
}

int CompareView::usefulHeight(int width, int most) const {
    const QSize around = this->around(width);
    const QSize room = QSize(width, most) - around;
    const PaneGrid grid = PaneGrid::within(room, shownPanes(), headerHeight());
    return std::clamp(around.height() + grid.useful(headerHeight()).height(),
                      std::min(most, minimumSizeHint().height()), most);
}

int CompareView::usefulWidth(int most, int height) const {
    // mistakes have two classes written into each sample: they are read where they are largest
    const double worth = showsMistakes() ? 1 : PaneGrid::kWorthAColumn;
    const auto usefulWith = [&](const QSize& around) {
        const QSize room = QSize(most, height) - around;
        const PaneGrid grid = PaneGrid::beside(room, shownPanes(), headerHeight(), worth);
        return std::min(most, around.width() + grid.useful(headerHeight()).width());
    };
    return usefulWith(around(usefulWith(around(most)))); // in less width, the words take more lines
}

int CompareView::sideIn(const QSize& size) const {
    return PaneGrid::within(size - around(size.width()), shownPanes(), headerHeight()).side;
}

void CompareView::placeViews() {
    const QSize room = m_canvas->size();
    m_bar->fit(room.width());
    const PaneGrid grid = PaneGrid::within(room, shownPanes(), headerHeight());
    int place = 0;
    for (int i = 0; i < panes(); ++i) {
        view(i).setVisible(isShown(i));
        if (isShown(i)) view(i).setGeometry(grid.place(place++, room));
    }
    updateTitles(); // there is more or less room for them now
    updateReadout();
}

bool CompareView::eventFilter(QObject* object, QEvent* event) {
    if (object == m_canvas && event->type() == QEvent::Resize) placeViews();
    return QWidget::eventFilter(object, event);
}

void CompareView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) placeViews();
}

void CompareView::hover(QPoint pixel) {
    m_pixel = pixel.x() < 0 ? std::nullopt : std::optional(pixel);
    for (ImageView* view : m_views)
        view->setMarked(m_pixel);
    m_last->setMarked(m_pixel);
    updateReadout();
}

QImage CompareView::picture(const Colors& colors) const {
    if (m_step < 0 && m_loader->reads())
        throw RunError(phrase("Files", "The pictures are still being read. Copy or save them when "
                                       "they are shown."));
    std::vector<SheetPane> shown;
    for (int pane = 0; pane < panes(); ++pane)
        if (isShown(pane))
            shown.push_back({&view(pane),
                             &view(pane) == m_last ? colors.text : colors.laneText(pane),
                             notesOf(pane, errorOf(pane))});
    QStringList caption = wordsBelow(explanation(WordsFor::MuchRoom), {});
    caption.prepend(m_bar->step());
    return paneSheet(shown, caption.join(QStringLiteral("   ")), colors);
}

/// Says what pictures mean whose pixels are no values. When room is short it says less: the names
/// of classes and formulas tell more than how to read them.
QString CompareView::explanation(WordsFor room) const {
    if (m_kind == ViewKind::Scatter) // the axes come first: what is said last may be cut
        return (axesWords(QString::fromStdString(m_target.caption), room) + u' ' +
                pictureWords(m_kind, m_validated, room))
            .trimmed();
    if (m_kind != ViewKind::Classes) return pictureWords(m_kind, m_validated, room);
    if (!showsSamples()) return tableWords(m_validated, room);
    const QString names = shownCaption(shownTarget().caption);
    const QString words =
        showsMistakes() ? mistakesWords(m_samples, room) : samplesWords(m_samples, room);
    return (words + u' ' + names).trimmed();
}

QStringList CompareView::wordsAt(QPoint pixel) const {
    if (m_kind != ViewKind::Classes) return {};
    if (!showsSamples()) return cellWords(m_pictures, pixel, m_classes);
    if (showsMistakes()) return mistakeWordsAt(m_mistakes, pixel, m_classes);
    const std::span sheets(m_galleries);
    return sampleWords(sheets.first(sheets.size() - 1), sheets.back(), pixel, m_classes);
}

/// Returns what is told of the pictures as they are, and of a cell of tables.
QStringList CompareView::wordsBelow(const QString& about, std::optional<QPoint> cell) const {
    QStringList words;
    for (int i = 0; i < m_pictures.size() && m_kind == ViewKind::Curve; ++i)
        if (const QString formula = captionOf(i); !formula.isEmpty())
            words << laneLetter(i) + QStringLiteral(": ") + formula;
    if (QStringList told = cell ? wordsAt(*cell) : QStringList(); !told.isEmpty()) {
        const QString first = told.takeFirst();
        words << (first + QStringLiteral("  ") + told.join(kBetweenLanes)).trimmed();
    } else {
        words << about;
    }
    if (m_notFinite && m_kind != ViewKind::Classes) // tables have no such colour
        words << tr("Magenta: not finite.");
    words.removeAll(QString());
    return words;
}

QString CompareView::readoutText(const QString& about) const {
    QStringList words = wordsBelow(about, m_pixel);
    const bool painted = m_kind == ViewKind::Painted;
    if (m_bar->isHidden()) // and with it the step that the pictures are of
        words.prepend(m_bar->step());
    else if (painted && !m_pixel)
        words.prepend(tr("Point at a picture to read its values."));
    else if (painted)
        words = {pixelWords(m_pictures, m_target, *m_pixel),
                 isSaved() ? savedWords(WordsFor::LittleRoom) : QString()};
    const bool sentences = painted && !m_bar->isHidden(); // "In step 300" is none
    return words.join(sentences ? QStringLiteral(" ") : QStringLiteral("   ")).trimmed();
}

FittedLines CompareView::linesBelow(int width) const {
    const QFontMetrics metrics = fontMetrics(); // the label's letters may be smaller now
    QString whole = readoutText(explanation(WordsFor::MuchRoom));
    if (metrics.horizontalAdvance(whole) > width)
        whole = readoutText(explanation(WordsFor::LittleRoom));
    constexpr int kLines = 3; // an audience cannot point at what is cut
    if (m_bar->isHidden()) return largestLines(whole, font(), width, kLines);
    constexpr int kNamesOfTen = 2; // lines: samples may show the numbers of classes
    if (m_kind == ViewKind::Classes && showsSamples())
        return {{}, fittingLines(whole, font(), width, kNamesOfTen)};
    return {{}, {metrics.elidedText(whole, Qt::ElideRight, width)}};
}

void CompareView::updateReadout() {
    m_readout = readoutText(explanation(WordsFor::MuchRoom));
    // the label gets the width of the canvas, but after it
    const FittedLines fitted = linesBelow(m_canvas->width());
    const QString shown = fitted.lines.join(u'\n');
    m_readoutLabel->setFont(fitted.font); // without a property, it is this widget's
    m_readoutLabel->setText(shown);
    m_readoutLabel->setAccessibleName(m_readout);
    m_readoutLabel->setToolTip(shown == m_readout ? QString() : m_readout);
    setAccessibleDescription(m_readout);
}

/// Moves the pixel, cell or sample that is read; the first key only shows the one in the middle.
void CompareView::movePixel(QPoint by) {
    const Picture& picture = showsMistakes()  ? tallestSheet(m_mistakes)
                             : showsSamples() ? m_galleries.front()
                                              : m_target;
    const bool cells = m_kind == ViewKind::Painted || m_kind == ViewKind::Classes;
    const QSize step = !cells ? QSize() : showsSamples() ? sampleCell(picture) : QSize(1, 1);
    if (picture.width < 1 || step.isEmpty()) return;
    if (!m_pixel) return hover({picture.width / 2, picture.height / 2});
    const QPoint to(std::clamp(m_pixel->x() + by.x() * step.width(), 0, picture.width - 1),
                    std::clamp(m_pixel->y() + by.y() * step.height(), 0, picture.height - 1));
    // a zoomed picture moves along, so that the pixel stays in view
    m_transform.panBy({double(to.x() - m_pixel->x()) / picture.width,
                       double(to.y() - m_pixel->y()) / picture.height});
    hover(to);
}

void CompareView::keyPressEvent(QKeyEvent* event) {
    const QPoint at = m_pixel.value_or(QPoint(m_target.width / 2, m_target.height / 2));
    const QPointF about((at.x() + 0.5) / std::max(1, m_target.width),
                        (at.y() + 0.5) / std::max(1, m_target.height));
    switch (event->key()) {
    case Qt::Key_Left: return movePixel({-1, 0});
    case Qt::Key_Right: return movePixel({1, 0});
    case Qt::Key_Up: return movePixel({0, -1});
    case Qt::Key_Down: return movePixel({0, 1});
    case Qt::Key_Plus:
    case Qt::Key_Equal: return m_transform.zoomAbout(about, kKeyZoom);
    case Qt::Key_Minus: return m_transform.zoomAbout(about, 1 / kKeyZoom);
    case Qt::Key_0: return m_transform.fit();
    case Qt::Key_Escape:
        if (m_pixel) return hover({-1, -1});
        break;
    default: break;
    }
    QWidget::keyPressEvent(event);
}

void CompareView::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void CompareView::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

void CompareView::paintEvent(QPaintEvent*) {
    if (!hasFocus()) return;
    QPainter painter(this);
    painter.setPen(palette().color(QPalette::Highlight));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

} // namespace halfscope
