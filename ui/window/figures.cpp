// Decides when the figures are laid out again, and writes the headline.
#include "ui/window/figures.h"

#include "ui/models/lane_titles.h"
#include "ui/models/run_facts.h"
#include "ui/models/zero_gradient_words.h"
#include "ui/panels/figure_strip.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/headline.h"
#include "ui/window/window_borders.h"

#include <QRegularExpression>

#include <utility>

namespace halfscope {
namespace {

constexpr int kFiguresMs = 200;
constexpr int kNewsMs = 5000; ///< so long an event is news: enough to read its sentence twice
// The sentence that invites the user to start is larger than those that say what happens.
constexpr double kTitleSize = 1.35;

/// Whether a lane may lose nearly all gradients all the same when this happens: the loss scale
/// moves by itself.
bool isRoutine(EventKind kind) { return kind == EventKind::Growth || kind == EventKind::Backoff; }

/// Returns the first sentence; the whole text when there is only one sentence.
QString firstSentence(const QString& text) {
    const auto end = text.indexOf(QLatin1String(". "));
    return end < 0 ? text : text.left(end + 1);
}

/// Returns an event's words, from long to short: in full, with the lane's letter alone, without
/// what would have helped, and as the lane's card says it. The lane comes first when there are
/// lanes to tell apart and the words name none.
QStringList newsOf(const Event& event, const RunModel& run) {
    const QString text = EventModel::sentenceOf(event);
    // an edit's text names the lane
    if (event.kind == EventKind::Edit) return {text, EventModel::whatText(event)};
    QStringList leads{QString(), QString()};
    if (event.lane >= 0 && event.lane < run.lanes() && run.lanes() > 1) {
        const QString dot = QStringLiteral(" \u00b7 ");
        const QString label = laneLabel(event.lane, run.lane(event.lane).title);
        leads = {briefLabel(label) + dot, laneLetter(event.lane) + dot};
    }
    const QString brief = EventModel::powersAlone(text);
    return {leads[0] + text, leads[1] + brief, leads[1] + firstSentence(brief),
            leads[1] + EventModel::briefSentenceOf(event)};
}

/// Returns the text up to where it explains itself, lists or continues; all of it when it does not.
QString firstClause(const QString& text) {
    static const QRegularExpression kEnd(QStringLiteral("[:;.] "));
    const auto end = text.indexOf(kEnd);
    return end < 0 ? text : text.left(end) + u'.';
}

} // namespace

Figures::Figures(const RunModels& models, const WindowParts& parts)
    : m_models(models), m_parts(parts) {
    m_clock.start();
}

void Figures::forget(int64_t begin) {
    m_begin = begin;
    m_new = false;
    m_shown.reset();
    m_news.clear();
    m_newsStep = 0;
    m_newsAreFresh = false;
    m_chosen.reset();
    m_told.reset();
    m_about.clear();
    showStrip();
}

void Figures::tell(const GrowingList<Event>::View& events, size_t first) {
    for (size_t i = events.size(); i-- > first;) {
        // an edit tells the step on which it acts, and may arrive before the events of earlier ones
        if (movesTheStop(events[i]) || isEcho(events, i) || events[i].step < m_newsStep) continue;
        m_news = newsOf(events[i], m_models.run);
        m_newsStep = events[i].step;
        m_newsAt = m_clock.elapsed();
        m_newsAreFresh = !isRoutine(events[i].kind);
        m_new = true; // the model may have been read before the event came
        return;
    }
}

void Figures::choose(int event) { m_chosen = static_cast<size_t>(event); }

/// Looks for the event to tell of the step that the plots point at: what was chosen there, or the
/// gravest one.
void Figures::showPointed() {
    const auto& run = m_models.run.run();
    const auto pinned = m_parts.plots->pinnedStep(), at = m_parts.plots->crosshair();
    const auto isAt = [&](size_t event, std::optional<qint64> step) {
        return run && event < run->events().size() && run->events()[event].step == step;
    };
    if (m_chosen && !isAt(*m_chosen, pinned)) m_chosen.reset();
    std::optional<size_t> told = m_parts.plots->eventPointedAt();
    if (told && !isAt(*told, at) && !isAt(*told, pinned)) told.reset(); // of the run before
    if (m_chosen && (told ? isAt(*told, pinned) : at == pinned)) told = m_chosen;
    if (told == std::exchange(m_told, told)) return;
    m_new = true;
    m_shown.reset();
}

/// Shows the figures of the step that the plots point at.
void Figures::showStrip() {
    const RunModel& run = m_models.run;
    QStringList titles;
    for (int lane = 0; lane < run.lanes(); ++lane)
        titles << run.lane(lane).title;
    m_at = m_parts.plots->crosshair();
    m_parts.strip->showFigures(run.run().get(), titles, m_at,
                               m_at ? QString() : m_parts.transport->speedRatio());
}

void Figures::showSpeeds() {
    m_parts.transport->setFigures(m_models.run);
    showStrip();
}

/// Shows at most five times a second: figures that change 30 times a second cannot be read, and
/// laying them out costs as much as the plots. Steps that come slowly are shown each: plots and
/// pictures show them at once, and two numbers of steps side by side would look like a mistake.
bool Figures::show(bool running, const QString& lead, const QString& warning) {
    showPointed();
    if (std::exchange(m_warning, warning) != warning) m_new = true;
    if (m_at != m_parts.plots->crosshair()) showStrip();
    const qint64 now = m_clock.elapsed();
    if (m_newsAreFresh && now - m_newsAt > kNewsMs) { // also while the training is paused
        m_newsAreFresh = false;
        m_new = true;
    }
    if (!m_new) return true;
    const RunModel& run = m_models.run;
    const bool waits = running && !run.stepsAreReadable();
    if (waits && m_shown && now - *m_shown < kFiguresMs) return false;
    m_new = false;
    m_shown = now;
    m_parts.transport->setFigures(run);
    m_parts.scaler->refresh(run);
    showStrip();
    m_parts.borders->divideRight();
    if (m_news.isEmpty() && run.step() > m_begin) {
        if (run.skips() || !someLaneScales(run.run()->now())) // no other lane skips steps
            m_news << tr("Every lane learns from the same batches.");
        else
            m_news << tr("Every lane learns from the same batches. No step has been skipped so "
                         "far.")
                   << tr("No step has been skipped so far.");
    }
    QStringList texts = m_news;
    QString note;
    // no event tells of a lane that has few gradients left and learns next to nothing
    if (const QStringList lost = lostGradientsTexts(run); !m_newsAreFresh && !lost.isEmpty())
        texts = lost;
    if (!lead.isEmpty()) {
        texts = run.summaries();
        QStringList led;
        for (const QString& text : texts.first(texts.size() - 1))
            led << tr("%1 %2").arg(lead, text);
        texts = led + texts.mid(1);
        // what the run was to show is worth reading again beside its results
        if (warning.isEmpty() && !m_told)
            note = QStringList{m_about, run.medianNote()}.join(u'\n').trimmed();
    }
    if (!warning.isEmpty()) texts = QStringList{tr("%1 %2").arg(lead, warning), warning};
    if (m_told) texts = newsOf(run.run()->events()[*m_told], run);
    if (!texts.isEmpty() && texts.first() != m_said.texts.value(0)) say(texts, 1, note);
    return true;
}

QStringList Figures::invitations(const QString& text, Press press, const QString& title) {
    const auto invitation = [press](const QString& words) {
        return press == Press::Nothing ? words
               : press == Press::Play  ? tr("%1 Press Play.").arg(words)
                                       : tr("%1 Press Continue.").arg(words);
    };
    QStringList texts{invitation(text), text};
    if (!title.isEmpty()) texts << firstClause(text) << invitation(tr("%1.").arg(title));
    return texts;
}

void Figures::invite(const QString& text, Press press, const QString& title) {
    m_new = false;
    m_about = title.isEmpty() ? QString() : text;
    m_newsAreFresh = false;
    say(invitations(text, press, title), title.isEmpty() ? kTitleSize : 1);
}

void Figures::apologise(const QString& text) {
    m_new = m_newsAreFresh = false;
    say({text});
}

void Figures::cover(const QStringList& texts) {
    if (std::exchange(m_cover, texts) == texts) return;
    if (!texts.isEmpty())
        m_parts.headline->say(texts, kTitleSize);
    else if (!m_said.texts.isEmpty())
        m_parts.headline->say(m_said.texts, m_said.size, m_said.note);
}

void Figures::say(const QStringList& texts, double size, const QString& note) {
    m_said = {texts, size, note};
    if (m_cover.isEmpty()) m_parts.headline->say(texts, size, note);
}

} // namespace halfscope
