// A saved run in the window: its rows are read by a thread of their own and shown a few at a time
// once its networks are built, as those of a finished run. Its weights are in no file: what is
// built stands before its first step, and the first step of a training takes the saved run's place.
#include "ui/images/compare_view.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/main_window.h"

#include <QLabel>
#include <QLocale>

#include <algorithm>
#include <span>
#include <utility>

namespace halfscope {
namespace {

constexpr qint64 kSliceMs = 12;     // of a frame's 33, for rows to show
constexpr size_t kEventSlice = 512; // events between two looks at the clock
constexpr qint64 kSilentMs = 1000;  // what takes longer is told

bool sameSize(const Picture& a, const Picture& b) {
    return a.width == b.width && a.height == b.height;
}

} // namespace

void MainWindow::readSaved(const QString& folder, const RunConfig& config) {
    m_savedClock.start();
    m_savedJob = std::make_unique<SavedRunJob>(folder.toStdString(), config);
    connect(m_savedJob.get(), &SavedRunJob::progressed, this, [this](double share) {
        if (m_savedClock.elapsed() < kSilentMs || share <= 0) return;
        m_stateLabel->setText(tr("Reading the saved run… %1 %")
                                  .arg(QLocale().toString(static_cast<int>(100 * share))));
    });
    connect(m_savedJob.get(), &SavedRunJob::done, this, [this](const SavedResultsPtr& results) {
        m_savedJob.reset();
        m_saved = results;
        m_savedShown = {};
        m_savedText = savedText(results->run);
        showState();
    });
    connect(m_savedJob.get(), &SavedRunJob::failed, this, [this](const QString& reason) {
        m_savedJob.reset();
        showState();
        showError(tr("%1. The settings are open, without the curves of the run.").arg(reason));
    });
    m_savedJob->start();
}

void MainWindow::forgetSaved() {
    m_savedJob.reset();
    m_saved.reset();
    m_showsSaved = false;
    m_held = {};
}

SessionBatch MainWindow::nextBatch() {
    // what is trained meanwhile waits in the channel, and its training with it
    if (m_savedJob) return {};
    if (m_saved && m_controller->info()) {
        showSomeOfSaved();
        return {};
    }
    SessionBatch batch = m_controller->drain();
    if (!m_showsSaved) return batch;
    const auto hold = [](auto& held, auto& came) {
        held.insert(held.end(), std::make_move_iterator(came.begin()),
                    std::make_move_iterator(came.end()));
        came.clear();
    };
    hold(m_held.events, batch.events); // edits, which count from the first step on
    if (batch.snapshot) m_held.snapshot = std::exchange(batch.snapshot, std::nullopt);
    if (batch.records.empty()) {
        if (!batch.gradients.empty()) m_held.gradients = batch.gradients; // of the first step
        return batch;
    }
    hold(m_held.gradients, batch.gradients);
    aboutToLeave();
    showRun(*m_controller->info(), builtConfig());
    batch.events = std::exchange(m_held.events, {});
    batch.gradients = std::exchange(m_held.gradients, {});
    batch.snapshot = std::exchange(m_held.snapshot, std::nullopt);
    return batch;
}

void MainWindow::showSomeOfSaved() {
    if (m_saved->lanes != m_controller->info()->laneNames) { // restarted with other ones
        forgetSaved();
        return showState();
    }
    if (!m_showsSaved) beginSaved();
    QElapsedTimer slice;
    slice.start();
    SavedShown& shown = m_savedShown;
    const SavedRun& run = m_saved->run;
    while (shown.pieces < run.pieces.size() && slice.elapsed() < kSliceMs) {
        const std::vector<StepRecord>& piece = run.pieces[shown.pieces++];
        for (const StepRecord& record : piece)
            m_plots->append(record.lane, record);
        m_run.append(piece, {});
        m_steps.append(piece);
    }
    const std::vector<Event>& all = m_saved->events;
    while (shown.pieces == run.pieces.size() && shown.events < all.size() &&
           slice.elapsed() < kSliceMs) {
        const auto events = std::span(all)
                                .subspan(shown.events)
                                .first(std::min(kEventSlice, all.size() - shown.events));
        for (const Event& event : events)
            m_plots->addEvent(event);
        m_run.append({}, events);
        m_events.append(events);
        shown.events += events.size();
    }
    m_newFigures = true;
    if (shown.pieces < run.pieces.size() || shown.events < all.size()) {
        if (m_savedClock.elapsed() > kSilentMs) m_stateLabel->setText(tr("Showing the saved run…"));
        return;
    }
    endSaved();
}

/// The figures of the networks that were built give way to those of the run.
void MainWindow::beginSaved() {
    m_showsSaved = true;
    m_trainedOn = m_saved->run.trainedOn;
    showDevice();
    for (size_t lane = 0; lane < m_facts.size(); ++lane)
        m_facts[lane].bytes =
            m_trainedOn && lane < m_trainedOn->laneBytes.size() ? m_trainedOn->laneBytes[lane] : 0;
    m_scaler->setLanes(m_facts);
    m_plots->setSavedGradients(m_saved->gradients);
}

void MainWindow::endSaved() {
    const std::vector<Picture>& outputs = m_saved->outputs;
    const Picture& target = m_controller->info()->target;
    if (!outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [&](const Picture& each) {
            return sameSize(each, target);
        }))
        m_pictures->setPictures(m_saved->run.steps,
                                QVector<Picture>(outputs.begin(), outputs.end()));
    m_savedRows = m_saved->onDisk ? m_steps.size() : 0;
    m_shownSaved = std::exchange(m_saved, nullptr);
    m_shownSaved->run.pieces.clear();
    m_shownSaved->events.clear();
    m_shownSaved->gradients.clear(); // the plots have them
    m_shownSaved->outputs.clear();
    showState();
}

QString MainWindow::savedText(const SavedRun& run) {
    const QString steps = QLocale().toString(static_cast<qlonglong>(run.steps));
    const bool withoutEvents = run.lacks("events.csv");
    if (run.trainedOn) {
        const QString device = QString::fromStdString(run.trainedOn->device.name);
        return withoutEvents ? tr("Saved run of %1 steps, trained on %2, without events.csv.")
                                   .arg(steps, device)
                             : tr("Saved run of %1 steps, trained on %2.").arg(steps, device);
    }
    return withoutEvents ? tr("Saved run of %1 steps, without events.csv.").arg(steps)
                         : tr("Saved run of %1 steps.").arg(steps);
}

void MainWindow::showDevice() {
    const SessionInfo& info = *m_controller->info();
    const DeviceInfo* device = m_trainedOn ? &m_trainedOn->device : nullptr;
    const QString name = device ? QString::fromStdString(device->name) : tr("Device not saved");
    QStringList lines;
    if (!m_showsSaved)
        lines << tr("Trains on %1").arg(name);
    else if (device)
        lines << tr("This run was trained on %1").arg(name);
    else
        lines << tr("No file of this run tells on which device it was trained");
    if (device && !device->libraries.empty())
        lines << tr("With %1").arg(QString::fromStdString(device->libraries));
    if (m_showsSaved)
        lines << tr("Play trains on %1").arg(QString::fromStdString(info.device.name));
    if (!info.cudaReason.empty())
        lines << tr("Why not the GPU: %1").arg(QString::fromStdString(info.cudaReason));
    const QString tip = lines.join(u'\n');
    m_transport->setDevice(device, tip);
    m_deviceLabel->setText(name);
    m_deviceLabel->setToolTip(tip);
}

} // namespace halfscope
