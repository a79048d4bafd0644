// One frame of the window, about 30 times a second: what arrived of a run is shown, and what that
// costs decides when the next one comes.
#include "ui/images/compare_view.h"
#include "ui/look/text_fit.h"
#include "ui/models/lane_titles.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/main_window.h"

#include <QLabel>

#include <algorithm>
#include <ctime>
#include <utility>

namespace halfscope {
namespace {

constexpr int kFrameMs = 33;
constexpr int kSlowestFrameMs = 150;
constexpr int kFiguresMs = 200;
// A frame comes after so many times what it costs: half of the time at most is for drawing, and
// little of it while the processors train.
constexpr double kFrames = 2, kTrainingFrames = 40;
// Frames without news before the window counts as settled: layouts and fonts have come to rest.
constexpr int kQuietFrames = 4;

/// Processor time of this thread: other programs must not count as the window's cost.
double threadMilliseconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
#else
    return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
#endif
}

/// An event's words with its lane, where there are lanes to tell apart and the words name none.
QString newsOf(const Event& event, const RunModel& run) {
    const QString text = EventModel::sentenceOf(event);
    if (event.lane < 0 || event.lane >= run.lanes() || run.lanes() < 2) return text;
    if (event.kind == EventKind::Edit) return text; // ends with it
    const QString label = laneLabel(event.lane, run.lane(event.lane).title);
    return briefLabel(label) + QStringLiteral(": ") + text;
}

} // namespace

void MainWindow::startFrames() {
    m_clock.start();
    m_frameTimer.setInterval(kFrameMs);
    connect(&m_frameTimer, &QTimer::timeout, this, &MainWindow::frame);
    m_frameTimer.start();
}

void MainWindow::frame() {
    SessionBatch batch = nextBatch();
    const bool arrived = !batch.empty() || m_savedJob || m_saved;
    batch.events = withoutEchoes(std::move(batch.events));
    for (const auto& gradients : batch.gradients) // before the rows of their steps
        m_plots->addGradients(gradients);
    for (const StepRecord& record : batch.records)
        m_plots->append(record.lane, record);
    for (const Event& event : batch.events)
        m_plots->addEvent(event);
    m_run.append(batch.records, batch.events);
    m_steps.append(batch.records);
    m_events.append(batch.events);
    if (batch.snapshot)
        m_pictures->setPictures(
            batch.snapshot->step,
            QVector<Picture>(batch.snapshot->outputs.begin(), batch.snapshot->outputs.end()));
    if (!batch.gradients.empty())
        m_gradients->setRanges(std::move(batch.gradients.back()), m_showsSaved);
    m_newFigures = m_newFigures || !batch.records.empty() || !batch.events.empty();
    for (const Event& event : batch.events)
        if (!movesTheStop(event)) m_news = newsOf(event, m_run);
    showFigures();
    const bool drawn = m_plots->refresh();
    updateFrameRate();
    const SessionState state = m_controller->state();
    const bool busy = state == SessionState::Building || state == SessionState::Running;
    m_quietFrames = busy || drawn || arrived ? 0 : m_quietFrames + 1;
    if (m_quietFrames == kQuietFrames) emit settled();
    pace();
}

/// Drawing competes with training when that uses every processor: a step waits for its slowest
/// thread, so it loses as much time as the window takes. Then frames come less often.
void MainWindow::pace() {
    const double used = threadMilliseconds();
    constexpr double kNewest = 0.2; // share of the newest frame in the average
    m_frameCost += kNewest * (used - m_usedBefore - m_frameCost);
    m_usedBefore = used;
    const bool competes = m_controller->running() && m_controller->info() &&
                          m_controller->info()->device.kind == "cpu";
    const double wanted = (competes ? kTrainingFrames : kFrames) * m_frameCost;
    const int interval = std::clamp(static_cast<int>(wanted), kFrameMs, kSlowestFrameMs);
    if (interval != m_frameTimer.interval()) m_frameTimer.setInterval(interval);
}

/// Figures that change 30 times a second cannot be read, and laying them out costs as much as the
/// plots.
void MainWindow::showFigures() {
    if (!m_newFigures) return;
    const qint64 now = m_clock.elapsed();
    if (m_controller->running() && m_figuresShown && now - *m_figuresShown < kFiguresMs) return;
    m_newFigures = false;
    m_figuresShown = now;
    m_transport->setFigures(m_run);
    m_scaler->refresh(m_run);
    divideRight();
    if (m_news.isEmpty() && m_run.step() > 0)
        m_news = tr("Every lane learns from the same batches. No step was skipped so far.");
    const bool finished = m_controller->state() == SessionState::Finished && m_run.step() > 0;
    const QString text = m_showsSaved ? tr("%1 %2").arg(m_savedText, m_run.summary())
                         : finished   ? tr("Finished. %1").arg(m_run.summary())
                                      : m_news;
    if (!text.isEmpty() && text != m_headline->toolTip()) setHeadline(text, 1.0);
}

void MainWindow::setHeadline(const QString& text, double size) {
    m_headlineSize = size;
    const QFont sized = scaledFont(font(), size);
    const QSize room = m_headline->contentsRect().size();
    const QFont chosen = heightOf(text, sized, room.width()) <= room.height() ? sized : font();
    m_headline->setFont(chosen);
    m_headline->setText(fitting(text, chosen, room)); // the tool tip has all of it
    m_headline->setToolTip(text);
    m_headline->setAccessibleName(text);
}

void MainWindow::updateFrameRate() {
    const qint64 now = m_clock.elapsed();
    m_frameTimes.push_back(now);
    std::erase_if(m_frameTimes, [now](qint64 time) { return time < now - 1000; });
    const qint64 span = now - m_frameTimes.front();
    if (span < 500) return; // too short to tell
    const auto frames = static_cast<qint64>(m_frameTimes.size()) - 1;
    const QString text = tr("%1 frames/s").arg((1000 * frames + span / 2) / span);
    if (text != m_rateLabel->text()) m_rateLabel->setText(text);
}

} // namespace halfscope
