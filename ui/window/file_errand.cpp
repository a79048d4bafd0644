// A short wait shows no dialog, and a long one lets the user leave.
#include "ui/window/file_errand.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "ui/look/owned.h"
#include "ui/models/safe_text.h"
#include "ui/session/file_job.h"

#include <QElapsedTimer>
#include <QEventLoop>
#include <QLabel>
#include <QProgressDialog>
#include <QTimer>

#include <memory>

namespace halfscope {

void FileErrand::run(QWidget& window, const std::function<void()>& work) const {
    constexpr int kBeforeDialog = 300;    // ms: short runs are saved by then
    constexpr int kBeforeLeaving = 10000; // ms: until the user may give up on a folder
    constexpr int kBetweenLooks = 250;    // ms
    QProgressDialog dialog({}, {}, 0, 0, &window);
    dialog.setLabel(make<QLabel>(text.arg(safeText(path.toStdString()))));
    dialog.setWindowTitle(title);
    dialog.setWindowModality(Qt::WindowModal);
    // by itself the dialog would wait for seconds, because its bar has no end
    QTimer::singleShot(kBeforeDialog, &dialog, &QWidget::show);
    std::unique_ptr<FileJob> job;
    try {
        job = std::make_unique<FileJob>(work, FileJob::Leaving::Abandons);
    } catch (const RunError&) {
        return work(); // the system has no thread to give
    }
    QEventLoop waits; // woken when the job is done
    QTimer looks;
    looks.start(kBetweenLooks);
    QElapsedTimer clock, closed;
    clock.start();
    // Esc hides a dialog without a button, and the wait would go on unseen
    QObject::connect(&dialog, &QDialog::rejected, &dialog, &QProgressDialog::cancel);
    const bool shown = window.isVisible();
    while (!job->isDone()) {
        waits.processEvents(QEventLoop::WaitForMoreEvents);
        if (clock.isValid() && clock.elapsed() > kBeforeLeaving) {
            dialog.setCancelButtonText(tr("Stop &waiting"));
            clock.invalidate();
        }
        if (shown && !window.isVisible() && !closed.isValid()) closed.start();
        const bool early = clock.isValid();
        if (dialog.wasCanceled() || (closed.isValid() && closed.elapsed() > afterClosing.count()))
            throw RunError(dialog.wasCanceled() && early ? stopped : late,
                           pathText(path.toStdString()));
    }
    job->result();
}

} // namespace halfscope
