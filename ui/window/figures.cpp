// Decides when figures are laid out again, and writes the headline.
#include "ui/window/figures.h"

#include "ui/models/lane_titles.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/window/headline.h"
#include "ui/window/window_borders.h"

namespace halfscope {
namespace {

constexpr int kFiguresMs = 200;
// The sentence that invites the user to start is larger than those that say what happens.
constexpr double kTitleSize = 1.35;

/// An event's words with its lane, where there are lanes to tell apart and the words name none.
QString newsOf(const Event& event, const RunModel& run) {
    const QString text = EventModel::sentenceOf(event);
    if (event.lane < 0 || event.lane >= run.lanes() || run.lanes() < 2) return text;
    if (event.kind == EventKind::Edit) return text; // ends with it
    const QString label = laneLabel(event.lane, run.lane(event.lane).title);
    return briefLabel(label) + QStringLiteral(" \u00b7 ") + text;
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
}

void Figures::tell(const EventModel& events, int rows) {
    for (int row = 0; row < rows; ++row) { // the newest comes first
        if (movesTheStop(events.eventAt(row))) continue;
        m_news = newsOf(events.eventAt(row), m_models.run);
        return;
    }
}

/// Figures that change 30 times a second cannot be read, and laying them out costs as much as the
/// plots.
void Figures::show(bool running, const QString& lead) {
    if (!m_new) return;
    const qint64 now = m_clock.elapsed();
    if (running && m_shown && now - *m_shown < kFiguresMs) return;
    m_new = false;
    m_shown = now;
    const RunModel& run = m_models.run;
    m_parts.transport->setFigures(run);
    m_parts.scaler->refresh(run);
    m_parts.borders->divideRight();
    if (m_news.isEmpty() && run.step() > m_begin)
        m_news = run.skips()
                     ? tr("Every lane learns from the same batches.")
                     : tr("Every lane learns from the same batches. No step has been skipped so "
                          "far.");
    const QString text = lead.isEmpty() ? m_news : tr("%1 %2").arg(lead, run.summary());
    if (!text.isEmpty() && text != m_parts.headline->said()) m_parts.headline->say(text);
}

void Figures::invite(const QString& text, bool willTrain, bool isLong) {
    m_parts.headline->say(willTrain ? text : tr("%1 Press Play.").arg(text),
                          isLong ? 1 : kTitleSize);
}

void Figures::apologise(const QString& text) {
    m_new = false;
    m_parts.headline->say(text);
}

} // namespace halfscope
