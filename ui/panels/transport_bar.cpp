// The controls of the run. Play is the only coloured button; clicks do not take the keyboard focus,
// so that Space keeps its meaning.
#include "ui/panels/transport_bar.h"

#include "ui/look/icons.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/models/run_facts.h"
#include "ui/models/safe_text.h"
#include "ui/panels/pace_slider.h"
#include "ui/panels/preset_box.h"
#include "ui/panels/stop_box.h"
#include "ui/plots/tickers.h"

#include <QActionGroup>
#include <QEvent>
#include <QFontMetrics>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace halfscope {
namespace {
constexpr double kLongSpeed = 88.8e3; // steps/s, as wide as speeds get
const QString kLineBreak = QStringLiteral("<br>");

/// Returns the speeds without their mark-up.
QString plainText(QString form) {
    static const QRegularExpression tags(QStringLiteral("<[^>]*>"));
    return form.replace(kLineBreak, QStringLiteral("\n"))
        .remove(tags)
        .replace(QStringLiteral("&nbsp;"), QStringLiteral(" "));
}

/// Returns a speed with at least three digits, as the plot of the throughput has it.
QString speedText(double speed) {
    return QLocale().toString(speed, 'f', speed < 9.995 ? 2 : speed < 99.95 ? 1 : 0);
}

/// Shortens a name of any length, so that it does not make the bar wider: the tool tip has all of
/// it.
QString onButton(const QString& name, const QFontMetrics& metrics) {
    constexpr int kMost = 32; // characters
    return metrics.elidedText(name, Qt::ElideMiddle, kMost * metrics.averageCharWidth())
        .replace(u'&', QStringLiteral("&&"));
}

/// What Play does while a file is read that it waits for.
QString readingTip(bool playWaits) {
    return playWaits ? TransportBar::tr("Do not start training when the file is read (Space)")
                     : TransportBar::tr("Start training as soon as the file is read (Space)");
}

} // namespace

TransportBar::TransportBar(QWidget* parent) : QWidget(parent) {
    m_row = make<QHBoxLayout>(this);
    m_row->setContentsMargins(8, 6, 8, 6);
    m_row->setSpacing(6);
    buildPresets();
    buildButtons();
    buildTrainingMenu();
    buildFigures();
    buildRight();
    setState(SessionState::Building);
    applyColors();
    fit();
}

QSize TransportBar::minimumSizeHint() const {
    return {m_least, QWidget::minimumSizeHint().height()};
}

/// Changes to a form; the tool tips have the words, too.
void TransportBar::take(Form form) {
    for (QPushButton* button : {m_reset, m_step})
        button->setText(form == Form::Full ? button->accessibleName() : QString());
    const bool bare = form == Form::Bare;
    const bool tight = bare || form == Form::Tight;
    const bool brief = tight || form == Form::Brief;
    m_stopLabel->setText(brief ? tr("Stop") : tr("Stop after"));
    for (QWidget* each : {static_cast<QWidget*>(m_pace), static_cast<QWidget*>(m_stopLabel),
                          static_cast<QWidget*>(m_stopAt)})
        each->setVisible(!bare);
    m_device->setVisible(!brief);
    for (QToolButton* each : {m_theme, m_help})
        each->setVisible(!tight);
    m_speeds->setMinimumWidth(tight ? 0 : m_leastSpeeds);
    m_epoch->setVisible(!tight && !m_epoch->text().isEmpty());
    const auto widthOf = [metrics = fontMetrics()](const char* sample) {
        return metrics.horizontalAdvance(QLatin1String(sample)) + 40;
    };
    m_presets->setMinimumWidth(tight ? widthOf("Checkerboa") : 0); // 0: as the box asks for
    m_stopAt->setFixedWidth(widthOf(tight ? "1000000" : "10000000"));
    m_row->activate();
}

int TransportBar::leastWidth(Form form) {
    take(form);
    return m_row->minimumSize().width();
}

void TransportBar::fit() {
    if (const int least = leastWidth(Form::Bare); least != std::exchange(m_least, least))
        updateGeometry();
    for (const Form form : {Form::Full, Form::Icons, Form::Brief, Form::Tight})
        if (leastWidth(form) <= width()) return;
    take(Form::Bare);
}

void TransportBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (event->size().width() != event->oldSize().width()) fit();
}

void TransportBar::buildPresets() {
    m_presets = make<PresetBox>(this);
    m_presets->setObjectName(QStringLiteral("presets"));
    connect(m_presets, &PresetBox::chosen, this, &TransportBar::presetChosen);
    m_row->addWidget(m_presets);
}

QPushButton* TransportBar::newButton(const QString& name, const QString& text, const QString& tip) {
    auto* button = make<QPushButton>(text, this);
    button->setObjectName(name);
    button->setToolTip(tip);
    button->setAccessibleName(text);
    button->setAccessibleDescription(tip);
    button->setFocusPolicy(Qt::TabFocus);
    m_row->addWidget(button);
    return button;
}

void TransportBar::buildButtons() {
    m_reset = newButton(QStringLiteral("reset"), tr("Reset"),
                        tr("Start over from step 0 with the settings on the left (R)"));
    m_play = newButton(QStringLiteral("play"), tr("Play"), tr("Train (Space)"));
    m_step =
        newButton(QStringLiteral("step"), tr("Step"), tr("Advance every lane by one step (.)"));
    QFont big = scaledFont(m_play->font(), 1.15);
    big.setBold(true);
    m_play->setFont(big);
    m_play->setMinimumSize(QFontMetrics(big).horizontalAdvance(tr("Continue")) + 56, 36);
    m_play->setDefault(true);
    m_play->setProperty("leavesSpace", true); // see KeyRouter
    connect(m_reset, &QPushButton::clicked, this, &TransportBar::resetRequested);
    connect(m_play, &QPushButton::clicked, this, &TransportBar::playRequested);
    connect(m_step, &QPushButton::clicked, this, &TransportBar::stepRequested);

    m_pace = make<PaceSlider>(this);
    m_row->addSpacing(4);
    m_row->addWidget(m_pace);
    m_stopLabel = make<QLabel>(tr("Stop after"), this);
    m_stopAt = make<StopBox>(this);
    m_stopAt->setObjectName(QStringLiteral("stopAt"));
    m_stopLabel->setBuddy(m_stopAt);
    connect(m_stopAt, &StopBox::chosen, this, &TransportBar::stopStepChosen);
    connect(m_stopAt, &StopBox::editingFinished, this, [this] {
        // after Enter, all keys are the window's again, also digits and signs
        if (!m_stopAt->refuses() && m_stopAt->hasFocus() && parentWidget())
            parentWidget()->setFocus();
    });
    m_row->addSpacing(4);
    m_row->addWidget(m_stopLabel);
    m_row->addWidget(m_stopAt);
}

/// The keys stand behind the words only: the window routes them, also those of a hidden bar.
void TransportBar::buildTrainingMenu() {
    m_trainingMenu = make<QMenu>(tr("&Training"), this);
    m_playEntry = m_trainingMenu->addAction(tr("&Play\tSpace"), m_play, &QPushButton::click);
    m_stepEntry = m_trainingMenu->addAction(tr("&Step\t."), m_step, &QPushButton::click);
    m_resetEntry = m_trainingMenu->addAction(tr("&Reset\tR"), m_reset, &QPushButton::click);
    m_trainingMenu->addSeparator();
    const auto addPace = [this](const QString& text, int places) {
        QAction* entry =
            m_trainingMenu->addAction(text, m_pace, [this, places] { m_pace->moveBy(places); });
        const auto enable = [this, entry, places] { entry->setEnabled(m_pace->canMoveBy(places)); };
        connect(m_pace, &PaceSlider::moved, entry, enable);
        enable();
    };
    addPace(tr("S&lower\t−"), -1);
    addPace(tr("&Faster\t+"), 1);
}

void TransportBar::buildFigures() {
    m_counter = make<QLabel>(this);
    m_counter->setObjectName(QStringLiteral("counter"));
    m_counter->setMinimumWidth(
        QFontMetrics(font()).horizontalAdvance(tr("step %1").arg(QStringLiteral("100,000"))) + 8);
    m_epoch = make<QLabel>(this);
    m_epoch->setObjectName(QStringLiteral("epoch"));
    m_epoch->setFont(scaledFont(font(), 0.85));
    m_epoch->hide();
    auto* progress = make<QVBoxLayout>();
    progress->setSpacing(0);
    progress->addStretch();
    progress->addWidget(m_counter);
    progress->addWidget(m_epoch);
    progress->addStretch();
    m_speeds = make<QLabel>(this);
    m_speeds->setObjectName(QStringLiteral("speeds"));
    m_speeds->setTextFormat(Qt::RichText);
    m_row->addSpacing(6);
    m_row->addLayout(progress);
    // gets shorter in a small window, rather than keeping it large
    m_speeds->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_speeds->installEventFilter(this);
    m_speedMenu = make<QMenu>(tr("&Compare the throughput of"), this);
    m_speedMenu->setObjectName(QStringLiteral("speedMenu"));
    m_speedMenu->setEnabled(false);
    connect(m_speedMenu, &QMenu::aboutToShow, this, &TransportBar::fillSpeedMenu);
    m_row->addWidget(m_speeds, 1);
}

void TransportBar::buildRight() {
    const auto button = [this](const QString& name, const QString& tip) {
        auto* made = make<QToolButton>(this);
        made->setObjectName(name);
        made->setAutoRaise(true);
        made->setIconSize({20, 20});
        made->setToolTip(tip);
        made->setAccessibleName(tip);
        made->setFocusPolicy(Qt::TabFocus);
        m_row->addWidget(made);
        return made;
    };
    m_device = button(QStringLiteral("device"), tr("Device"));
    m_device->setToolButtonStyle(Qt::ToolButtonTextOnly);
    m_theme = button(QStringLiteral("theme"), tr("Light or dark"));
    m_help = button(QStringLiteral("help"), tr("Help and shortcuts (F1)"));
    m_themeMenu = make<QMenu>(tr("&Theme"), this);
    m_themes = make<QActionGroup>(this);
    const std::pair<Theme, QString> choices[] = {{Theme::Auto, tr("Same as the &desktop")},
                                                 {Theme::Light, tr("&Light")},
                                                 {Theme::Dark, tr("D&ark")}};
    for (const auto& [theme, text] : choices) {
        QAction* action = m_themes->addAction(text);
        action->setCheckable(true);
        action->setData(static_cast<int>(theme));
        m_themeMenu->addAction(action);
        connect(action, &QAction::triggered, this,
                [this, chosen = theme] { emit themeChosen(chosen); });
    }
    // by hand rather than with setMenu(), because there is no room for an arrow
    connect(m_theme, &QToolButton::clicked, m_theme,
            [this] { m_themeMenu->popup(m_theme->mapToGlobal(QPoint(0, m_theme->height()))); });
    connect(m_device, &QToolButton::clicked, m_device, [this] {
        // the reason must be reachable by keyboard and touch, too
        QToolTip::showText(m_device->mapToGlobal(QPoint(0, m_device->height())),
                           wrappedTip(m_device->toolTip()), m_device);
    });
    connect(m_help, &QToolButton::clicked, this, &TransportBar::helpRequested);
}

void TransportBar::showExperiment(const QString& preset, const QString& title) {
    m_presets->showExperiment(preset, title);
    m_stopAt->giveUp(); // another experiment has its own last step
}

QMenu* TransportBar::presetMenu() const { return m_presets->menu(); }

void TransportBar::setState(SessionState state, bool playWaits, qint64 nextStop, Start start,
                            bool reads) {
    const bool running = state == SessionState::Running;
    const bool building = state == SessionState::Building;
    const bool failed = state == SessionState::Failed;
    const bool kept = failed && start == Start::Kept;
    const bool goesOn = state == SessionState::Finished || kept;
    m_stops = running || playWaits;
    const QString text = m_stops ? tr("Pause") : goesOn ? tr("Continue") : tr("Play");
    m_play->setText(text);
    m_playEntry->setText(m_stops  ? tr("&Pause\tSpace")
                         : goesOn ? tr("&Continue\tSpace")
                                  : tr("&Play\tSpace"));
    m_play->setAccessibleName(text);
    const bool never = start == Start::Never;
    const QString tip = never   ? tr("This training was recorded in PyTorch: it cannot go on here")
                        : reads ? readingTip(playWaits)
                        : playWaits
                            ? tr("Do not start training when the networks are built (Space)")
                        : running  ? tr("Pause: after this step or, where steps are slow, "
                                         "in the middle of it (Space)")
                        : building ? tr("Start training as soon as the networks are built (Space)")
                        : start == Start::Failed
                            ? tr("Try once more to start with the settings on the left (Space)")
                        : kept ? tr("Go on from the last step that was kept (Space)")
                        : failed || start == Start::Over
                            ? tr("Start over at step 1 with the settings on the left (Space)")
                        : state == SessionState::Finished
                            ? tr("Train on to step %1 (Space)").arg(QLocale().toString(nextStop))
                            : tr("Train (Space)");
    m_play->setToolTip(tip);
    m_play->setAccessibleDescription(tip);
    const auto enable = [this](QPushButton* button, QAction* entry, bool on) {
        // else Qt gives the focus to the next box, which would swallow Space
        if (!on && button->hasFocus() && parentWidget()) parentWidget()->setFocus();
        button->setEnabled(on);
        entry->setEnabled(on);
    };
    enable(m_play, m_playEntry, !never);
    const bool ended = state == SessionState::Finished && start != Start::Further;
    enable(m_step, m_stepEntry, !never && !building && !running && !ended);
    const QString step =
        never      ? tip
        : reads    ? tr("A file is being read")
        : building ? tr("The networks are being built")
        : running  ? tr("Pause the training to advance step by step (.)")
        : ended    ? tr("The run has ended: press Continue, or set a later end, to train on")
                   : tr("Advance every lane by one step (.)");
    m_step->setToolTip(step);
    m_step->setAccessibleDescription(step);
    enable(m_reset, m_resetEntry, !never && !building);
    applyColors();
}

void TransportBar::setStopStep(qint64 steps, const QString& unknown) {
    m_stopAt->showWords(unknown);
    if (unknown.isEmpty()) m_stopAt->showStep(steps);
}

void TransportBar::setFigures(const RunModel& run) {
    const QLocale locale;
    m_counter->setText(tr("step %1").arg(locale.toString(std::max<qint64>(run.step(), m_begin))));
    showEpoch(run.epochText(), run.longestEpochText());
    writeSpeeds(run);
    if (run.lanes() == m_lanes) return;
    m_lanes = run.lanes();
    m_speedMenu->setEnabled(m_lanes > 2);
    m_speeds->setCursor(m_lanes > 2 ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void TransportBar::writeSpeeds(const RunModel& run) {
    const QLocale locale;
    const Colors colors = colorsFor(QGuiApplication::palette());
    SpeedTexts texts;
    QStringList widest;
    const auto [base, other] = comparedIn(run.lanes());
    for (int i = 0; i < run.lanes(); ++i) {
        const bool compared = i == base || i == other;
        if (compared) widest << laneLetter(i) + u' ' + tr("%1/s").arg(withPrefix(kLongSpeed));
        const double speed = run.lane(i).stepsPerSecond;
        if (speed <= 0) continue;
        const QString letter = QStringLiteral("<b style='color:%1'>%2</b> ")
                                   .arg(colors.laneText(i).name(), laneLetter(i));
        const QString figure = speedText(speed);
        texts.full << letter + tr("%1 steps/s").arg(figure);
        texts.brief << letter + tr("%1/s").arg(withPrefix(speed));
        if (compared) texts.pair << texts.brief.last();
    }
    const bool comparable = run.comparesSpeeds();
    const QString tip = speedsTip(run, comparable);
    if (tip != m_speeds->toolTip()) m_speeds->setToolTip(tip);
    keepRoomForSpeeds(widest.join(kLineBreak));
    if (comparable) {
        const double times = run.speedRatio(other, base);
        if (times > 0)
            texts.ratio =
                tr("%1/%2 ×%3")
                    .arg(laneLetter(other), laneLetter(base), locale.toString(times, 'f', 2));
        if (!texts.pair.isEmpty()) texts.note = noteOn(run);
        writeForms(std::move(texts));
    } else {
        m_speedForms = {tr("Throughput: not comparable at this pace"),
                        tr("Throughput: not comparable"), QString()};
    }
    const QString longest = plainText(m_speedForms.front()).replace(u'\n', u' ');
    m_speeds->setAccessibleName(comparable ? tr("Throughput: %1").arg(longest) : longest);
    showSpeeds();
}

/// Says what the speeds are where they are not those at which the run trains now.
QString TransportBar::noteOn(const RunModel& run) {
    if (run.waits()) return tr("without the waits"); // of one lane
    // the plot's heading has another speed, that at the end
    return run.isOver() ? tr("median of the run") : QString();
}

/// Writes the speeds of all lanes and, where there is no room for them, those of the two that are
/// compared.
void TransportBar::writeForms(SpeedTexts texts) {
    const QString gap = QStringLiteral("&nbsp;&nbsp;");
    const bool all = texts.brief.size() == texts.pair.size();
    if (!all && !texts.pair.isEmpty()) texts.pair.last() += QStringLiteral(" …");
    const QString lines = texts.pair.join(kLineBreak);
    const QString note = texts.note.isEmpty() ? QString() : kLineBreak + texts.note;
    if (!texts.ratio.isEmpty()) texts.full << texts.ratio;
    m_speedForms = {texts.full.join(gap) + note, texts.brief.join(gap) + note};
    if (!all) {
        if (!note.isEmpty()) texts.brief << tr("(median)");
        const qsizetype half = (texts.brief.size() + 1) / 2;
        m_speedForms << texts.brief.first(half).join(gap) + kLineBreak +
                            texts.brief.mid(half).join(gap);
    }
    const QString named = texts.ratio.isEmpty() ? QString() : tr("throughput %1").arg(texts.ratio);
    m_speedForms << texts.pair.join(gap) << lines + gap + texts.ratio << lines << named;
    keepRoomForSpeeds(lines);
}

/// Tells the speeds of all lanes, unless they would mislead.
QString TransportBar::speedsTip(const RunModel& run, bool comparable) const {
    const QLocale locale;
    const auto [base, other] = comparedIn(run.lanes());
    QStringList all{
        (run.isOver()
             ? tr("Throughput of each lane (the median over the whole run), then how much "
                  "faster lane %1 is than lane %2, unless the pace makes them wait.")
             : tr("Throughput of each lane (the median over the last five seconds), then how much "
                  "faster lane %1 is than lane %2, unless the pace makes them wait."))
            .arg(laneLetter(other), laneLetter(base))};
    // the later lane is usually the one in half precision, which is expected to be the faster one
    const double ratio = run.speedRatio(other, base);
    if (comparable && ratio > 0 && ratio < 1 && laneIsHalf(run.run()->info().config, other))
        all << tr(
            "Half precision is often slower in small networks, where the casts cost more than "
            "the products gain, and in float16 on a CPU, which mostly computes it in "
            "FP32 and rounds.");
    if (run.lanes() > 2) all << tr("Click to choose the two lanes that are compared.");
    if (!comparable)
        all << tr(
            "At this pace the lanes wait between steps. Each step then finds cold caches, so their "
            "speeds cannot be compared.");
    else if (run.waits())
        all << tr("At this pace the lane waits between steps, which does not count here. Each step "
                  "then finds cold caches: at full speed the lane may be faster.");
    for (int i = 0; i < run.lanes() && comparable; ++i)
        if (const double speed = run.lane(i).stepsPerSecond; speed > 0)
            all << tr("%1: %2 steps/s").arg(laneLabel(i, run.lane(i).title), speedText(speed));
    return all.join(u'\n');
}

/// Makes the bar leave out what other places tell, rather than the speeds.
void TransportBar::keepRoomForSpeeds(const QString& lines) {
    const int wanted = widthOfSpeeds(lines);
    if (wanted <= m_leastSpeeds) return;
    m_leastSpeeds = wanted;
    fit();
}

int TransportBar::widthOfSpeeds(const QString& form) const {
    QFont bold = m_speeds->font();
    bold.setBold(true);
    const QFontMetrics metrics(bold);
    int width = 0;
    for (const QString& line : plainText(form).split(u'\n'))
        width = std::max(width, metrics.horizontalAdvance(line));
    return width;
}

/// Lists the pairs of lanes, the later one compared with the earlier.
void TransportBar::fillSpeedMenu() {
    m_speedMenu->clear();
    const Pair now = comparedIn(m_lanes);
    for (int base = 0; base < m_lanes; ++base)
        for (int other = base + 1; other < m_lanes; ++other) {
            QAction* action =
                m_speedMenu->addAction(tr("%1 with %2").arg(laneLetter(other), laneLetter(base)),
                                       this, [this, base, other] {
                                           m_compared = {base, other};
                                           emit speedsChosen();
                                       });
            action->setCheckable(true);
            action->setChecked(base == now.base && other == now.other);
        }
}

/// Returns the first two lanes for a run with fewer lanes than the one for which they were chosen.
TransportBar::Pair TransportBar::comparedIn(int lanes) const {
    return m_compared.other < lanes ? m_compared : Pair{0, 1};
}

/// Shows the epoch. The figures change with every frame, so there is room for the longest from the
/// start: the button under the pointer must not move when the training begins.
void TransportBar::showEpoch(const QString& text, const QString& longest) {
    if (text == m_epoch->text()) return;
    m_epoch->setText(text);
    const int last = m_epoch->fontMetrics().horizontalAdvance(longest);
    const int width =
        text.isEmpty() ? 0 : std::max({m_epoch->minimumWidth(), m_epoch->sizeHint().width(), last});
    if (width == m_epoch->minimumWidth()) return;
    m_epoch->setMinimumWidth(width);
    fit();
}

/// Shows the longest form of the speeds that fits: half a number would be another number.
void TransportBar::showSpeeds() {
    QString chosen;
    for (const QString& form : m_speedForms) {
        const bool fits = widthOfSpeeds(form) <= m_speeds->width();
        if (!fits && m_speeds->isVisible()) continue;
        chosen = form;
        break;
    }
    if (m_speeds->text() != chosen) m_speeds->setText(chosen);
}

void TransportBar::setDevice(const DeviceInfo* device, const QString& tip) {
    if (!device)
        m_device->setText(tr("Device not recorded"));
    else if (device->kind == "cpu")
        m_device->setText(tr("CPU"));
    else
        m_device->setText(onButton(tr("GPU: %1").arg(safeText(device->name)), fontMetrics()));
    m_device->setToolTip(tip);
    m_device->setAccessibleDescription(tip);
    fit();
}

bool TransportBar::eventFilter(QObject* watched, QEvent* event) {
    const bool shown = event->type() == QEvent::Show; // nothing is measured before
    if (watched == m_speeds && (shown || event->type() == QEvent::Resize)) showSpeeds();
    if (watched == m_speeds && event->type() == QEvent::MouseButtonRelease && m_lanes > 2)
        m_speedMenu->popup(m_speeds->mapToGlobal(QPoint(0, m_speeds->height())));
    return QWidget::eventFilter(watched, event);
}

void TransportBar::setTheme(Theme theme) {
    for (QAction* action : m_themes->actions())
        action->setChecked(action->data().toInt() == static_cast<int>(theme));
}

void TransportBar::changeEvent(QEvent* event) {
    if ((event->type() == QEvent::PaletteChange ||
         event->type() == QEvent::ApplicationPaletteChange) &&
        m_help)
        applyColors();
    if (event->type() == QEvent::FontChange && m_help) fit();
    QWidget::changeEvent(event);
}

void TransportBar::applyColors() {
    const Colors colors = colorsFor(QGuiApplication::palette());
    const bool enabled = m_play->isEnabled();
    const QColor fill = enabled ? colors.accent : colors.grid;
    const QColor ink = !enabled                                                 ? colors.muted
                       : contrast(fill, Qt::white) >= contrast(fill, Qt::black) ? QColor(Qt::white)
                                                                                : QColor(Qt::black);
    const QString style =
        QStringLiteral(
            "QPushButton { background: %1; color: %2; border: 2px solid %1; border-radius: 5px; "
            "padding: 3px 12px; } QPushButton:hover { background: %3; } "
            "QPushButton:focus { border-color: %4; }")
            .arg(fill.name(), ink.name(), enabled ? fill.lighter(112).name() : fill.name(),
                 colors.text.name());
    if (m_play->styleSheet() != style) m_play->setStyleSheet(style);
    m_play->setIcon(themedIcon(m_stops ? QStringLiteral("pause") : QStringLiteral("play"), ink));
    m_reset->setIcon(themedIcon(QStringLiteral("reset"), colors.text));
    m_step->setIcon(themedIcon(QStringLiteral("step"), colors.text));
    m_theme->setIcon(themedIcon(QStringLiteral("theme"), colors.text));
    m_help->setIcon(themedIcon(QStringLiteral("help"), colors.text));
}

} // namespace halfscope
