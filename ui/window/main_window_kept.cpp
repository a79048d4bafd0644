// What a slip must not lose. A reset, a preset or a file asks nothing: the run that gives way is
// kept whole, until another one follows it, and can be brought back. Closing loses everything, so
// it asks where much would be lost.
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/main_window.h"

#include <QAbstractButton>
#include <QLocale>
#include <QMenu>
#include <QMessageBox>
#include <QStatusBar>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {
namespace {

/// "2 minutes", "3 hours": what one remembers of a wait.
QString durationText(double seconds) {
    constexpr double kMinute = 60, kHour = 3600, kManyHours = 2 * kHour, kManyMinutes = 2 * kMinute;
    const auto whole = [seconds](double unit) { return static_cast<int>(seconds / unit); };
    if (seconds >= kManyHours) return MainWindow::tr("%n hours", nullptr, whole(kHour));
    if (seconds >= kManyMinutes) return MainWindow::tr("%n minutes", nullptr, whole(kMinute));
    return MainWindow::tr("%n seconds", nullptr, whole(1));
}

} // namespace

void MainWindow::addBringBack(QMenu& menu) {
    m_bringBackAction = menu.addAction(tr("&Bring back the run before"));
    m_bringBackAction->setShortcut(QKeySequence(Qt::SHIFT | Qt::Key_R));
    m_bringBackAction->setEnabled(false);
    connect(m_bringBackAction, &QAction::triggered, this, &MainWindow::bringBack);
}

void MainWindow::aboutToLeave() {
    // what is shown in part only is there again after the next build
    if (m_leaving || m_saved) return;
    m_leaving = Identity{trainedConfig(), m_preset, m_title, m_about};
}

void MainWindow::keepRun() {
    std::optional<Identity> leaving = std::exchange(m_leaving, std::nullopt);
    if (!leaving || m_run.step() < 1) return; // its last rows may have come after it was left
    const bool worth = unsaved();
    SavedResultsPtr results = m_shownSaved ? m_shownSaved : shownResults();
    results->config = leaving->config;
    for (const GradientHistory& history : m_plots->gradients())
        results->gradients.push_back(history.asSaved());
    results->onDisk = m_savedRows == m_steps.size();
    for (int lane = 0; lane < m_run.lanes(); ++lane) {
        const Picture& picture = m_pictures->view(lane).picture();
        if (picture.width > 0) results->outputs.push_back(picture);
    }
    if (results->outputs.size() != results->lanes.size()) results->outputs.clear();
    m_before = KeptRun{std::move(*leaving), std::exchange(m_steps, {}), std::move(results)};
    m_bringBackAction->setEnabled(true);
    constexpr int kReadable = 8000; // ms
    if (worth)
        statusBar()->showMessage(
            tr("The run before is kept: Edit > Bring back the run before (Shift+R)."), kReadable);
}

SavedResultsPtr MainWindow::shownResults() const {
    auto results = std::make_shared<SavedResults>();
    for (int lane = 0; lane < m_run.lanes(); ++lane)
        results->lanes.push_back(m_run.lane(lane).name.toStdString());
    results->run.steps = m_run.step();
    results->run.rows = static_cast<int64_t>(m_steps.size());
    results->run.trainedOn = m_trainedOn;
    // as the list shows them: without the backoffs that an overflow explains, the newest 20,000
    for (int row = m_events.rowCount(); row-- > 0;) // the newest comes first there
        results->run.events.push_back(m_events.eventAt(row));
    return results;
}

void MainWindow::bringBack() {
    if (!m_before) return;
    guarded([this] {
        checkConfig(m_before->identity.config); // a live edit may have left one that is not allowed
        KeptRun kept = std::move(*std::exchange(m_before, std::nullopt));
        m_bringBackAction->setEnabled(false);
        statusBar()->clearMessage(); // which may have told of it
        const Identity& run = kept.identity;
        load(run.config, run.preset, run.title, run.about);
        m_saved = std::move(kept.results);
        m_saved->events = withoutEchoes(m_saved->run.events);
        for (size_t from = 0; from < kept.steps.size(); from += SavedRun::kPieceRows)
            m_saved->run.pieces.push_back(kept.steps.rows(from, SavedRun::kPieceRows));
        m_savedShown = {};
        m_savedText = tr("Run of %1 steps, brought back.")
                          .arg(QLocale().toString(static_cast<qlonglong>(m_saved->run.steps)));
        m_savedClock.start();
    });
}

double MainWindow::trainedSeconds() const {
    double seconds = 0;
    for (int lane = 0; lane < m_run.lanes(); ++lane)
        seconds = std::max(seconds, m_run.lane(lane).last.wallSeconds);
    return seconds;
}

bool MainWindow::unsaved() const {
    return m_run.step() > 0 && m_savedRows < m_steps.size() &&
           trainedSeconds() >= m_options.askAfterSeconds;
}

bool MainWindow::mayClose() {
    if (!unsaved()) return true;
    QMessageBox box(
        QMessageBox::Question, tr("Close Halfscope"),
        tr("This run trained for %1 and is not saved.").arg(durationText(trainedSeconds())),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box.setInformativeText(tr("Its tables, plots and pictures are lost when the window closes."));
    box.button(QMessageBox::Save)->setText(tr("&Save results…"));
    box.button(QMessageBox::Discard)->setText(tr("Close &without saving"));
    box.setDefaultButton(QMessageBox::Save);
    switch (box.exec()) {
    case QMessageBox::Save: return chooseResultsFolder();
    case QMessageBox::Discard: return true;
    default: return false;
    }
}

} // namespace halfscope
