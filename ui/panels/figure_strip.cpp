// Words and forms of the figures.
#include "ui/panels/figure_strip.h"

#include "engine/runs/run.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"

#include <QEvent>
#include <QFontInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMouseEvent>
#include <QTextDocument>
#include <QToolButton>
#include <QToolTip>

#include <algorithm>

namespace halfscope {
namespace {

QString markOf(int lane) { return QStringLiteral("class='lane%1'").arg(lane); }

QString marked(const QString& text, int lane) {
    return QStringLiteral("<span %1>%2</span>").arg(markOf(lane), text.toHtmlEscaped());
}

/// Gives what is marked the colours that lanes have in the present theme.
QString inColors(QString form, int lanes) {
    const Colors colors = colorsFor(QGuiApplication::palette());
    for (int lane = 0; lane < lanes; ++lane)
        form.replace(markOf(lane),
                     QStringLiteral("style='color:%1'").arg(colors.laneText(lane).name()));
    return form;
}

/// Returns the width of a text with mark-up.
double widthOf(const QString& form, const QFont& font) {
    QTextDocument document;
    document.setDocumentMargin(0);
    document.setDefaultFont(font);
    document.setHtml(form);
    return document.idealWidth();
}

// Sizes of the letters, the usual one first. At kLeast the figures are as large as the other
// letters of a presentation; kLeastAtAll is for many lanes in a small window.
constexpr double kSizes[] = {1, 0.88, 0.77, 0.6};
constexpr double kLeast = 0.77, kLeastAtAll = 0.6;

} // namespace

FigureStrip::FigureStrip(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("figureStrip"));
    auto* row = make<QHBoxLayout>(this);
    row->setContentsMargins(4, 0, 4, 0);
    m_text = make<QLabel>(this);
    m_text->setObjectName(QStringLiteral("largeFigures"));
    m_text->setTextFormat(Qt::RichText);
    // gets shorter in a small window, rather than keeping it large
    m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_text->installEventFilter(this);
    m_newest = newButton(QStringLiteral("presentNewestStep"), tr("Newest step (F)"));
    m_newest->setAccessibleName(tr("To the newest step"));
    m_newest->setToolTip(tr("Show the figures of the newest step again (F)"));
    m_newest->hide();
    connect(m_newest, &QToolButton::clicked, this, &FigureStrip::newestAsked);
    m_leave = newButton(QStringLiteral("leavePresentation"), tr("Leave (Esc)"));
    m_leave->setAccessibleName(tr("Leave the presentation view"));
    m_leave->setToolTip(tr("Leave the presentation view (Esc or F5)"));
    connect(m_leave, &QToolButton::clicked, this, &FigureStrip::leaveAsked);
    m_state = make<QLabel>(this);
    m_state->setObjectName(QStringLiteral("trainingState"));
    row->addWidget(m_text, 1);
    row->addWidget(m_state);
    row->addSpacing(8);
    row->addWidget(m_newest);
    row->addWidget(m_leave);
    showFigures(nullptr, {}, std::nullopt);
    hide();
}

QToolButton* FigureStrip::newButton(const QString& name, const QString& text) {
    auto* button = make<QToolButton>(this);
    button->setObjectName(name);
    button->setText(text);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus); // a click leaves Space to Play
    return button;
}

void FigureStrip::offerNewest(bool offers) {
    if (offers == !m_newest->isHidden()) return;
    m_newest->setVisible(offers);
    if (isVisible()) fit(); // it leaves the figures less room
}

void FigureStrip::showFigures(const Run* run, const QStringList& titles, std::optional<qint64> step,
                              const QString& speeds) {
    m_forms.clear();
    m_lanes = static_cast<int>(titles.size());
    const qint64 at = step.value_or(run ? run->now().lastStep() : 0);
    const QLocale locale;
    const QString title = QStringLiteral("<b>%1</b>").arg(tr("Step %1").arg(locale.toString(at)));
    QStringList full, brief, counted, bare;
    for (int lane = 0; lane < titles.size() && run; ++lane) {
        if (!laneScales(run->info().config, lane)) continue;
        const LaneInfo& info = run->now().lanes()[static_cast<size_t>(lane)];
        if (step && info.parent >= 0 && at <= info.forkStep) continue; // it was not there yet
        const auto scale = run->column(lane, metric::Scale).upTo(at);
        const auto skipped = run->column(lane, metric::SkippedSoFar).upTo(at);
        if (!scale || !skipped || !scalesAt(run->now(), lane, scale->step)) continue;
        const int steps = static_cast<int>(skipped->value);
        const QString skips = steps > 0 ? u' ' + tr("(%n skipped)", nullptr, steps) : QString();
        const QString value = scaleText(scale->value);
        const QString power = value.section(QStringLiteral(" = "), -1);
        full << marked(laneLabel(lane, titles[lane]) + u' ' + value + skips, lane);
        brief << marked(laneLetter(lane) + u' ' + value + skips, lane);
        counted << marked(
            laneLetter(lane) + u' ' + tr("%1 (%2)").arg(power, locale.toString(steps)), lane);
        bare << marked(laneLetter(lane) + u' ' + power, lane);
    }
    const QString gap = QStringLiteral("&nbsp;&nbsp; ");
    if (!full.isEmpty()) {
        const QString named = title + gap + tr("loss scale:") + u' ';
        const QString compared = speeds.isEmpty() ? QString() : gap + speeds;
        const QString withSkips = title + gap + tr("loss scale (skipped):") + u' ';
        for (const QString& text :
             {named + full.join(gap) + compared, named + brief.join(gap) + compared,
              named + full.join(gap), named + brief.join(gap)})
            m_forms << Form{text, 1};
        m_forms << Form{withSkips + counted.join(gap), kLeast}
                << Form{named + bare.join(gap), kLeast}
                << Form{title + gap + bare.join(gap), kLeastAtAll};
    }
    m_scales = !full.isEmpty();
    m_forms << Form{title, 1};
    if (full.isEmpty() && !speeds.isEmpty()) m_forms.prepend({title + gap + speeds, 1});
    if (isVisible()) fit();
}

void FigureStrip::showState(const QString& text) {
    if (text == m_state->text()) return;
    m_state->setText(text);
    if (isVisible()) fit(); // longer words leave the figures less room
}

void FigureStrip::fit() {
    if (m_forms.isEmpty()) return;
    layout()->activate(); // the room for them depends on the text beside them
    const Form* chosen = &m_forms.back();
    double size = 1;
    for (const Form& form : m_forms) {
        const auto fits = [&](double each) {
            return each >= form.least &&
                   widthOf(form.text, scaledFont(font(), each)) <= m_text->width();
        };
        const auto* const largest = std::find_if(std::begin(kSizes), std::end(kSizes), fits);
        if (largest == std::end(kSizes)) continue;
        chosen = &form;
        size = *largest;
        break;
    }
    // a font without any property is the parent's
    const QFont letters = size < 1 ? scaledFont(font(), size) : QFont();
    if (m_text->font() != letters.resolve(font())) m_text->setFont(letters);
    const QString text = inColors(chosen->text, m_lanes);
    if (m_text->text() != text) m_text->setText(text);
    QTextDocument plain;
    plain.setHtml(m_forms.front().text);
    m_text->setAccessibleName(plain.toPlainText().replace(QChar::Nbsp, u' '));
    explain();
}

void FigureStrip::explain() {
    constexpr double kTip = 0.75; // of the figures' letters
    const QString words =
        !m_scales ? QString()
                  : tr("The loss is multiplied by the loss scale before the backward pass, so that "
                       "small gradients do not round to zero in fp16; before the weights are "
                       "updated, the gradients are divided by it again. Where a gradient becomes "
                       "infinite, the step is skipped: no weight changes.");
    const int letters = QFontInfo(scaledFont(font(), kTip)).pixelSize();
    const QString tip = words.isEmpty() ? QString()
                                        : QStringLiteral("<p style='font-size:%1px'>%2</p>")
                                              .arg(letters)
                                              .arg(words.toHtmlEscaped());
    if (tip == m_text->toolTip()) return;
    m_text->setToolTip(tip);
    m_text->setAccessibleDescription(words);
}

bool FigureStrip::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_text && event->type() == QEvent::MouseButtonPress)
        QToolTip::showText(static_cast<QMouseEvent*>(event)->globalPosition().toPoint(),
                           m_text->toolTip(), m_text);
    return QWidget::eventFilter(watched, event);
}

void FigureStrip::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    fit();
}

void FigureStrip::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit();
}

void FigureStrip::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    const bool colors =
        event->type() == QEvent::PaletteChange || event->type() == QEvent::ApplicationPaletteChange;
    if (colors && m_leave) fit();
    if (event->type() != QEvent::FontChange || !m_leave) return;
    constexpr double kSmall = 0.5; // the audience need not read it
    constexpr double kState = 0.8;
    for (QToolButton* button : {m_newest, m_leave})
        button->setFont(scaledFont(font(), kSmall));
    m_state->setFont(scaledFont(font(), kState));
    m_text->setMinimumHeight(fontMetrics().height()); // smaller letters must not move the rest
    fit();
}

} // namespace halfscope
