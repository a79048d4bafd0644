// Cards keep their size whatever the figures are: text that grows must not move what is below it.
#include "ui/panels/lane_card.h"

#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/lane_titles.h"
#include "ui/models/translated.h"
#include "ui/panels/memory_bar.h"

#include <QEvent>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QToolButton>

#include <algorithm>
#include <cmath>

namespace halfscope {
namespace {

constexpr double kSmall = 0.85; // of the window's font

// Rows of a card's grid; the scaler's figures have kScaleRow and the three rows after it.
constexpr int kTitleRow = 0, kLossRow = 1, kJudgedRow = 2, kMemoryRow = 3, kBarRow = 4,
              kScaleRow = 5, kStuckRow = 9, kZerosRow = 10, kUnchangedRow = 11, kEventRow = 12,
              kCardRows = 13;

} // namespace

LaneCard::LaneCard(int lane, const LaneFacts& facts, QWidget* parent)
    : QFrame(parent), m_lane(lane), m_scales(facts.scales), m_live(facts.live) {
    setFrameShape(QFrame::NoFrame);
    auto* grid = make<QGridLayout>(this);
    grid->setContentsMargins(8, 6, 8, 6);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(3);
    m_swatch = make<QWidget>(this);
    m_swatch->setAutoFillBackground(true);
    m_swatch->setFixedWidth(4);
    m_title = make<QLabel>(this);
    QFont bold = font();
    bold.setBold(true);
    m_title->setFont(bold);
    m_about = facts.about;
    grid->addWidget(m_swatch, 0, 0, kCardRows, 1);
    grid->addWidget(m_title, kTitleRow, 1, 1, 3);
    m_lossName = facts.loss.isEmpty() ? tr("Loss") : facts.loss;
    m_lossAbout = facts.lossAbout;
    m_loss = addFigure(*grid, kLossRow, m_lossName);
    explain(m_loss, m_lossAbout);
    m_extras.push_back(nameOf(m_loss));
    if (facts.judged != LaneFacts::Judged::Not) addJudged(*grid, facts.judged);
    if (facts.memory.peakBytes > 0) addMemory(*grid, facts.memory, facts.half);
    if (m_scales) {
        addScaler(*grid, kScaleRow);
    } else {
        m_noScale = make<QLabel>(tr("no loss scale"), this);
        grid->addWidget(m_noScale, kScaleRow, 1, 1, 2);
        m_extras.push_back(m_noScale);
    }
    if (facts.half && (facts.live || facts.counted)) addZeros(*grid);
    if (facts.watched) addUnchanged(*grid);
    m_event = make<FigureLabel>(tr("Last event"), this);
    m_event->setMinimumHeight(m_scales ? fontMetrics().lineSpacing() : 0);
    m_event->setVisible(m_scales);
    for (QLabel* label : {m_title, static_cast<QLabel*>(m_event)})
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred); // may be cut
    grid->addWidget(m_event, kEventRow, 1, 1, 3);
    grid->setColumnStretch(2, 1);
    applyColors();
}

void LaneCard::addJudged(QGridLayout& grid, LaneFacts::Judged by) {
    if (by == LaneFacts::Judged::ByError) {
        m_judged = addFigure(grid, kJudgedRow, tr("Validation error"));
        m_judgedTip = tr("The mean absolute error on validation samples, which the lane does not "
                         "train on, at the last validation, in the units of the data");
        m_judged->setMinimumWidth(leastFigure());
        explain(m_judged, m_judgedTip);
        return;
    }
    const bool accuracy = by == LaneFacts::Judged::ByAccuracy;
    m_judged = addFigure(grid, kJudgedRow, accuracy ? tr("Accuracy") : tr("Validation loss"));
    m_judgedTip = accuracy ? tr("The share of validation samples, which the lane does not train "
                                "on, whose class it found at the last validation. A lane whose "
                                "output is not a number (nan) finds no class at all.")
                           : tr("The loss on validation samples, which the lane does not train "
                                "on, at the last validation");
    m_judged->setMinimumWidth(leastFigure());
    explain(m_judged, m_judgedTip);
}

/// Shows the value of the last validation, and of a test, if there was one; before the first one,
/// when it comes.
void LaneCard::showJudged(const LaneStatus& status, int64_t nextValidation) {
    if (!m_judged) return;
    QStringList lines{m_judgedTip};
    m_judgedForms = status.judgedForms();
    if (m_judgedForms.isEmpty()) {
        m_judgedForms = {QStringLiteral("–")};
        if (m_live && nextValidation > 0) {
            m_judgedForms.prepend(tr("after step %1").arg(countText(nextValidation)));
            lines << tr("The first validation comes after step %1. Validate by steps brings "
                        "earlier ones.")
                         .arg(countText(nextValidation));
        }
    } else if (status.outputIsNan()) {
        m_judgedForms << QStringLiteral("nan");
    }
    fitLossAndJudged();
    // a mean absolute error is shown in place of the loss, of which the best is kept
    if (!status.validationError) lines << status.bestText();
    if (status.test)
        lines << tr("Test: the same on samples that neither the training nor a validation saw, at "
                    "the end of the run");
    lines.removeAll(QString());
    explain(m_judged, lines.join(u'\n'));
}

void LaneCard::addZeros(QGridLayout& grid) {
    m_zeros = addFigure(grid, kZerosRow, tr("Zero gradients"));
    showZeros({});
}

/// Shows a dash rather than a share that tells nothing: before a count, and where values overflow.
void LaneCard::showZeros(const LaneStatus& status) {
    if (!m_zeros) return;
    const QLocale locale;
    QString text = QStringLiteral("–"), when = tr("They have not been counted yet.");
    if (const auto& zeros = status.zeros) {
        const QString after = locale.toString(static_cast<qlonglong>(zeros->after));
        const QString scale = scaleText(static_cast<double>(zeros->scale));
        const bool near = !status.scaleMoved(); // else its share would be read as the present one
        when = zeros->finite
                   ? tr("Counted after step %1, at loss scale %2.").arg(after, scale)
                   : tr("After step %1, at loss scale %2, some are inf or nan, so the share of "
                        "zeros tells nothing.")
                         .arg(after, scale);
        if (!near) when += u' ' + tr("The loss scale has changed since.");
        const bool tells = zeros->finite && near;
        if (tells) text = percentText(zeros->share);
        if (tells && zeros->reference >= 0)
            text = tr("%1 (%2: %3)")
                       .arg(text, laneLetter(zeros->reference), percentText(zeros->expected));
    }
    m_zeros->showFigure(text);
    explain(
        m_zeros,
        tr("How many of the gradients' values, of layer outputs and of weights, are zero as "
           "this lane stores them. Some are zero in every precision, behind ReLU for example. "
           "What the lane has beyond a lane in FP32, in parentheses, was too small for its 16 "
           "bits, or for the 8 bits of FP8 (underflow), and is lost; a larger loss scale "
           "preserves it. Once the weights of the two have diverged, their shares differ by a "
           "few percent for other reasons, too.") +
            QStringLiteral("\n\n") + when + u' ' +
            tr("Counting takes about a hundredth of the training time; on a GPU it happens while "
               "the gradients are shown (G)."));
}

void LaneCard::addUnchanged(QGridLayout& grid) {
    m_unchangedNames = {tr("Unchanged weights"), tr("Unchanged")};
    m_unchanged = addFigure(grid, kUnchangedRow, m_unchangedNames.front());
    // without the rows of a scaler, there is room for it in a compact card
    if (m_scales) m_extras.insert(m_extras.end(), {m_unchanged, nameOf(m_unchanged)});
    // fitWords() shortens both before the card becomes wider than the panel
    m_unchanged->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("<0.1 %")));
    nameOf(m_unchanged)->setMinimumWidth(fontMetrics().horizontalAdvance(m_unchangedNames.back()));
    m_unchangedTip =
        tr("How many weights the last watched step left exactly as they were. If weights are "
           "stored in 16 bits, small updates round away and are lost. AMP stores them in "
           "float32, which keeps small updates; in parentheses, how many of the copies in 16 or 8 "
           "bits, with which its layers compute, did not change. Weights without a gradient do not "
           "change in any precision. The setting Watch weights says how often they are looked at.");
    explain(m_unchanged, m_unchangedTip);
}

/// Names the copies or leaves them to the tip: a bare number in parentheses is that of another lane
/// in the row above.
void LaneCard::showUnchanged(const LaneStatus& status) {
    if (!m_unchanged || !status.unchangedWeights) return;
    const QString share = percentText(*status.unchangedWeights);
    m_unchangedForms = QStringList{share};
    if (status.unchangedCopies) {
        const QString copies = percentText(*status.unchangedCopies);
        m_unchangedForms = {tr("%1 (copies: %2)").arg(share, copies),
                            tr("%1, copies %2").arg(share, copies), share};
    }
    explain(m_unchanged, m_unchangedTip + QStringLiteral("\n\n") + m_unchangedForms.front());
    // it only grows: the name must not change again and again
    const int wanted = m_unchanged->fontMetrics().horizontalAdvance(m_unchangedForms.front());
    m_unchangedRoom = std::max(m_unchangedRoom, wanted);
    fitUnchanged();
}

void LaneCard::addMemory(QGridLayout& grid, const MemoryUse& memory, bool half) {
    FigureLabel* figure = addFigure(grid, kMemoryRow, tr("Memory"));
    figure->showFigure(memoryText(memory.peakBytes));
    m_memoryText = tr("Memory: %1").arg(memoryText(memory.peakBytes));
    m_extras.insert(m_extras.end(), {figure, nameOf(figure)});
    // a reader expects half of it
    const QString why =
        half ? u'\n' + tr("In half precision a small network can need more than in FP32: the casts "
                          "add copies in 16 bits to weights that stay in FP32.")
             : QString();
    explain(figure, tr("Peak memory of a step of this lane: weights, activations kept for the "
                       "backward pass, gradients, and the optimizer's moments.") +
                        why);
    if (memoryParts(memory).empty()) return;
    auto* bar = make<MemoryBar>(memory, laneLetter(m_lane), this);
    explain(figure, bar->toolTip() + why);
    grid.addWidget(bar, kBarRow, 1, 1, 3);
    m_extras.push_back(bar);
}

void LaneCard::addScaler(QGridLayout& grid, int row) {
    addScale(grid, row);
    m_skipped = addFigure(grid, row + 1, tr("Skipped steps"));
    showSkipVerdict({}); // the tip says what is counted until there is a count
    m_clean = addFigure(grid, row + 2, tr("Clean steps"));
    explain(m_clean,
            tr("Clean steps in a row. When they reach the growth interval, the loss scale grows."));
    m_progress = make<QProgressBar>(this);
    m_progress->setTextVisible(false);
    m_progress->setFixedHeight(5);
    m_progress->setAccessibleName(tr("Progress towards the next growth of the loss scale"));
    grid.addWidget(m_progress, row + 3, 1, 1, 3);
    addStuck(grid);
}

/// Adds the warning that is shown when the interval was set below the clean steps.
void LaneCard::addStuck(QGridLayout& grid) {
    m_stuck =
        make<QLabel>(tr("PyTorch compares with ==: no growth before the next overflow"), this);
    m_stuck->setObjectName(QStringLiteral("stuck"));
    m_stuck->setFont(scaledFont(font(), kSmall));
    m_stuck->setWordWrap(true);
    m_stuck->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_atLeast = make<QToolButton>(this);
    m_atLeast->setObjectName(QStringLiteral("atLeast"));
    m_atLeast->setText(tr("Use >="));
    m_atLeast->setToolTip(tr("From the next step on, the loss scale also grows when there are more "
                             "clean steps than the growth interval (Growth test: at-least)"));
    m_atLeast->setAccessibleName(
        tr("Let the loss scale of lane %1 grow at more clean steps too").arg(laneLetter(m_lane)));
    m_atLeast->setAccessibleDescription(m_atLeast->toolTip());
    m_atLeast->setFocusPolicy(Qt::TabFocus); // a click leaves Space to Play
    m_atLeast->setFont(scaledFont(font(), kSmall));
    connect(m_atLeast, &QToolButton::clicked, this, &LaneCard::atLeastRequested);
    grid.addWidget(m_stuck, kStuckRow, 1, 1, 2);
    grid.addWidget(m_atLeast, kStuckRow, 3, Qt::AlignTop);
    m_stuck->hide();
    m_atLeast->hide();
}

FigureLabel* LaneCard::addFigure(QGridLayout& grid, int row, const QString& name, int columns) {
    auto* label = make<QLabel>(name, this);
    auto* value = make<FigureLabel>(name, this);
    label->setBuddy(value);
    value->showFigure(QStringLiteral("–"));
    value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    grid.addWidget(label, row, 1);
    grid.addWidget(value, row, 2, 1, columns);
    return value;
}

QLabel* LaneCard::nameOf(const FigureLabel* figure) const {
    for (QLabel* name : findChildren<QLabel*>())
        if (name->buddy() == figure) return name;
    return nullptr;
}

/// Sets the tip of a figure and of its name: the user may point at either.
void LaneCard::explain(FigureLabel* figure, const QString& tip) {
    figure->setToolTip(tip);
    nameOf(figure)->setToolTip(tip);
}

void LaneCard::addScale(QGridLayout& grid, int row) {
    m_scale = addFigure(grid, row, tr("Next loss scale"), 1); // beside the button
    // fitWords() shortens it before the card becomes wider than the panel
    m_scale->setMinimumWidth(leastFigure());
    explain(m_scale,
            tr("The loss of the next step is multiplied by this before the backward pass, so that "
               "small gradients do not round to zero in fp16; before the weights are updated, the "
               "gradients are divided by it again. The plot shows the scale that each step used."));
    m_setScale = make<QToolButton>(this);
    m_setScale->setObjectName(QStringLiteral("setScale"));
    m_setScale->setText(tr("Set…"));
    m_setScale->setAccessibleName(tr("Set the loss scale of lane %1").arg(laneLetter(m_lane)));
    m_setScale->setFocusPolicy(Qt::TabFocus); // a click leaves Space to Play
    tellSetScale();
    m_setScale->setFont(scaledFont(font(), kSmall));
    // no taller than a line of figures
    m_setScale->setFixedHeight(fontMetrics().lineSpacing() + 2);
    grid.addWidget(m_setScale, row, 3);
    connect(m_setScale, &QToolButton::clicked, this,
            [this] { emit scaleEditRequested(m_lastScale); });
}

/// A saved run keeps its scale: its button only tells what to do first.
void LaneCard::tellSetScale() {
    m_setScale->setVisible(m_live || !m_obstacle.isEmpty());
    m_setScale->setEnabled(m_live && m_lastScale > 0 && m_obstacle.isEmpty());
    m_setScale->setAccessibleDescription(m_obstacle);
    m_setScale->setToolTip(
        m_obstacle.isEmpty()
            ? tr("Tries another loss scale from the next step on. The view of the gradients (G) "
                 "shows at once what it does to them; after the end of the run, once you press "
                 "Continue. The growth tracker is kept, as with GradScaler.update(new_scale).")
            : m_obstacle);
}

void LaneCard::setScaleObstacle(const QString& reason) {
    m_obstacle = reason;
    if (m_setScale) tellSetScale();
}

bool LaneCard::takesScale() const { return m_setScale && m_setScale->isEnabled(); }

void LaneCard::show(const LaneStatus& status, int64_t smallBatch, const HeldEdits& held,
                    int64_t nextValidation) {
    m_label = laneLabel(m_lane, status.title);
    m_news = status.lastBrief;
    setAccessibleName(m_label);
    showZeros(status);
    showUnchanged(status);
    showTips(status);
    fitWords();
    const bool grows = status.grows();
    if (m_progress) {
        m_progress->setVisible(grows);
        showClean(grows);
        const bool stuck = status.stuck() && !held.atLeast;
        m_stuck->setVisible(stuck);
        m_atLeast->setVisible(stuck && m_live);
    }
    if (m_scales && status.knowsScale) showScale(status, held);
    if (status.last.step == 0 && status.startStep == 0) return;
    takeLoss(status, smallBatch);
    showLoss();
    showJudged(status, nextValidation);
    m_event->setVisible(!m_compact && (m_scales || !m_news.isEmpty()));
    if (m_scales) showCounts(status);
}

/// Takes over the last loss. A checkpoint has none, which is said where there is room for it.
void LaneCard::takeLoss(const LaneStatus& status, int64_t smallBatch) {
    if (status.last.step == 0) {
        m_lossForms = {tr("not in the checkpoint"), QStringLiteral("–")};
        explain(m_loss,
                tr("The checkpoint has the weights and the state of the loss scaler, but no "
                   "losses. The next step has one."));
        return;
    }
    const QString loss = status.lossText();
    m_lossForms = {loss};
    QString tip = m_lossAbout;
    if (smallBatch > 0) {
        m_lossForms = {tr("%1 (%2)").arg(loss, samplesText(smallBatch)),
                       tr("%1 (of %2)").arg(loss, countText(smallBatch)), loss};
        const QString few = tr("The last batch of an epoch is a small one: the loss is that of %1, "
                               "which says little.")
                                .arg(samplesText(smallBatch));
        tip += (tip.isEmpty() ? QString() : QStringLiteral("\n")) + few;
    }
    explain(m_loss, tip);
    m_compactForms = m_lossForms;
    if (std::isnan(status.last.loss())) m_lossForms << QStringLiteral("nan");
}

/// Shows the skipped and the clean steps of a lane that scales its loss.
void LaneCard::showCounts(const LaneStatus& status) {
    const QLocale locale;
    const bool grows = status.grows();
    const double share = status.skippedShare();
    const QString skipped = locale.toString(static_cast<qlonglong>(status.skippedSteps()));
    m_skipped->showFigure(share > 0 ? tr("%1 (%2)").arg(skipped, finePercentText(share)) : skipped);
    showSkipVerdict(status);
    if (!grows) return;
    m_clean->showFigure(tr("%1 of %2")
                            .arg(locale.toString(static_cast<qlonglong>(status.cleanSteps())),
                                 locale.toString(static_cast<qlonglong>(status.growthInterval))));
    // an interval may be larger than a progress bar can count
    const int maximum = static_cast<int>(std::min<int64_t>(status.growthInterval, 1000000000));
    m_progress->setRange(0, maximum);
    m_progress->setValue(static_cast<int>(std::min<int64_t>(status.cleanSteps(), maximum)));
}

void LaneCard::showScale(const LaneStatus& status, const HeldEdits& held) {
    m_lastScale = held.scale > 0 ? held.scale : static_cast<double>(status.scale());
    tellSetScale();
    fitScale();
}

void LaneCard::setCompact(bool on) {
    m_compact = on;
    for (QWidget* each : m_extras)
        each->setVisible(!on);
    m_event->setVisible(!on && (m_scales || !m_news.isEmpty()));
    auto* grid = static_cast<QGridLayout*>(layout());
    for (QLabel* each : {m_title, static_cast<QLabel*>(m_loss)})
        grid->removeWidget(each);
    grid->addWidget(m_title, kTitleRow, 1, 1, 3);
    if (on) // at the end of the title's line, see fitTitle()
        grid->addWidget(m_loss, kTitleRow, 1, 1, 3, Qt::AlignRight);
    else
        grid->addWidget(m_loss, kLossRow, 2, 1, 2);
    m_lossRoom = 0;
    grid->setContentsMargins(8, on ? 2 : 6, 8, on ? 2 : 6);
    showLoss();
    grid->activate();
    fitWords();
}

void LaneCard::showLoss() {
    m_loss->setMinimumWidth(m_compact ? 0 : leastFigure());
    if (!m_compact) return fitLossAndJudged();
    // it only grows: the title must not change again and again
    const int least = m_loss->fontMetrics().horizontalAdvance(compactLosses().back());
    m_lossRoom = std::max(m_lossRoom, least);
    fitTitle();
}

/// Returns what a compact card says of the loss, with the samples of a small batch and without.
QStringList LaneCard::compactLosses() const {
    QStringList losses;
    for (const QString& form : m_compactForms)
        losses << tr("%1 %2").arg(m_lossName, form);
    return losses;
}

/// Leaves the loss its room in the same line. The samples that it is of are told beside a whole
/// title only.
void LaneCard::fitTitle() {
    const int gap = static_cast<QGridLayout*>(layout())->horizontalSpacing();
    const int room = m_title->width() - (m_compact ? m_lossRoom + gap : 0);
    const QFontMetrics metrics(m_title->font());
    const QString title = widest(labelForms(m_label), metrics, room, Qt::ElideRight);
    if (title != m_title->text()) m_title->setText(title);
    if (!m_compact) return;
    const QStringList losses = compactLosses();
    const int left = m_title->width() - gap - metrics.horizontalAdvance(title);
    const QString shown =
        title == m_label ? widest(losses, m_loss->fontMetrics(), left) : losses.back();
    m_loss->showFigure(losses.contains(shown) ? shown : losses.back());
    m_loss->setAccessibleName(losses.front());
}

/// Leaves the clean steps out where they count towards nothing: the name of the scale says that it
/// is fixed, and the events below the cards need the room.
void LaneCard::showClean(bool grows) {
    nameOf(m_scale)->setText(grows ? tr("Next loss scale") : tr("Fixed scale"));
    for (QWidget* each : {static_cast<QWidget*>(m_clean), static_cast<QWidget*>(nameOf(m_clean))})
        each->setVisible(grows);
}

/// Puts everything that there may be no room for into the tool tip.
void LaneCard::showTips(const LaneStatus& status) {
    QStringList lines{m_label};
    for (const QString& line : {m_about, m_memoryText, status.lastEvent})
        if (!line.isEmpty()) lines << line;
    if (!m_unchangedForms.isEmpty())
        lines << tr("Unchanged weights: %1").arg(m_unchangedForms.front());
    if (m_zeros) lines << tr("Zero gradients: %1").arg(m_zeros->text());
    m_title->setToolTip(lines.join(u'\n'));
    m_event->setToolTip(status.lastEvent);
}

/// Says whether the skips are normal, in the tip of their number, where a user looks for it.
void LaneCard::showSkipVerdict(const LaneStatus& status) {
    // only some steps update the weights where the gradients of several are added up
    const bool adds = status.skips.stepsPerUpdate() > 1;
    QString text = tr("Steps with gradients that were not finite: the weights were not updated.");
    text += adds ? tr(" In parentheses: the share of all updates.")
                 : tr(" In parentheses: the share of all steps.");
    // of those before a checkpoint, only the number is known
    QString sentence = status.startStep > 0 ? QString() : translated(status.skipSentence());
    if (!sentence.isEmpty()) {
        sentence[0] = sentence[0].toUpper();
        text += QStringLiteral("\n\n") + sentence;
    }
    explain(m_skipped, text);
}

/// Shortens each text to one line: the tool tips have all of it.
void LaneCard::fitWords() {
    fitTitle();
    m_event->showFigure(fontMetrics().elidedText(m_news, Qt::ElideRight, m_event->width()));
    if (m_scales && m_lastScale > 0) fitScale();
    fitLossAndJudged();
    fitUnchanged();
    if (m_stuck) // layouts ask such a label for its height at another width
        m_stuck->setFixedHeight(heightOf(m_stuck->text(), m_stuck->font(), m_stuck->width()));
}

/// Returns the width that figures have at least: longer words would make the card wider than the
/// panel.
int LaneCard::leastFigure() const {
    return fontMetrics().horizontalAdvance(QStringLiteral("8.888e+88"));
}

/// Shows as much of the loss and of the validation as there is room for.
void LaneCard::fitLossAndJudged() {
    const auto fit = [this](FigureLabel* label, const QStringList& forms) {
        if (!label || forms.isEmpty()) return;
        const bool laidOut = isVisible(); // else it has no width yet
        label->showFigure(laidOut ? widest(forms, label->fontMetrics(), label->width())
                                  : forms.front());
    };
    if (!m_compact) fit(m_loss, m_lossForms);
    fit(m_judged, m_judgedForms);
}

/// Shows "1048576 = 2^20", or the power alone when a scroll bar or large letters leave no room.
void LaneCard::fitScale() {
    const QString full = scaleText(m_lastScale);
    const QStringList forms{full, full.section(QStringLiteral(" = "), -1)};
    m_scale->showFigure(widest(forms, m_scale->fontMetrics(), m_scale->width()));
}

/// Shortens the name where it would leave too little room for the figures in its column.
void LaneCard::fitUnchanged() {
    if (!m_unchanged) return;
    QLabel* name = nameOf(m_unchanged);
    const int gap = static_cast<QGridLayout*>(layout())->horizontalSpacing();
    int figures = std::max(m_unchanged->minimumWidth(), m_unchangedRoom);
    if (m_scales)
        figures = std::max(figures, m_scale->minimumWidth() + gap + m_setScale->sizeHint().width());
    const int room = m_unchanged->x() + m_unchanged->width() - name->x() - gap - figures;
    const QString fits = widest(m_unchangedNames, name->fontMetrics(), room);
    const QString shown = m_unchangedNames.contains(fits) ? fits : m_unchangedNames.back();
    if (shown != name->text()) {
        name->setText(shown);
        layout()->activate(); // else the figure still has its earlier width
    }
    if (m_unchangedForms.isEmpty()) return;
    m_unchanged->showFigure(
        widest(m_unchangedForms, m_unchanged->fontMetrics(), m_unchanged->width()));
}

void LaneCard::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    layout()->activate(); // else the labels still have their earlier widths
    fitWords();
}

void LaneCard::changeEvent(QEvent* event) {
    if ((event->type() == QEvent::PaletteChange ||
         event->type() == QEvent::ApplicationPaletteChange) &&
        m_event)
        applyColors();
    QFrame::changeEvent(event);
}

void LaneCard::applyColors() {
    const Colors colors = colorsFor(QGuiApplication::palette());
    setOwnColor(*m_swatch, QPalette::Window, colors.lane(m_lane));
    setOwnColor(*m_title, QPalette::WindowText, colors.laneText(m_lane));
    setOwnColor(*m_event, QPalette::WindowText, colors.muted);
    if (m_noScale) setOwnColor(*m_noScale, QPalette::WindowText, colors.muted);
    if (m_stuck) setOwnColor(*m_stuck, QPalette::WindowText, colors.asText(colors.warning));
    if (!m_progress) return;
    const QString style =
        QStringLiteral("QProgressBar { background: %1; border: 0; border-radius: 2px; } "
                       "QProgressBar::chunk { background: %2; border-radius: 2px; }")
            .arg(colors.grid.name(), colors.laneBar(m_lane).name());
    if (m_progress->styleSheet() != style) m_progress->setStyleSheet(style);
}

} // namespace halfscope
