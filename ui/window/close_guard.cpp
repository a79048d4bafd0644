// The question before the window closes.
#include "ui/window/close_guard.h"

#include "ui/window/shown_run.h"
#include "ui/window/window_files.h"

#include <QAbstractButton>
#include <QMessageBox>

namespace halfscope {
namespace {

QString counted(const char* text, int n) {
    return QCoreApplication::translate("CloseGuard", text, nullptr, n);
}

/// "2 minutes", "3 hours": as precisely as one remembers a wait.
QString durationText(double seconds) {
    constexpr double kMinute = 60, kHour = 3600, kManyHours = 2 * kHour, kManyMinutes = 2 * kMinute;
    const auto whole = [seconds](double unit) { return static_cast<int>(seconds / unit); };
    if (seconds >= kManyHours)
        return counted(QT_TRANSLATE_N_NOOP("CloseGuard", "%n hours"), whole(kHour));
    if (seconds >= kManyMinutes)
        return counted(QT_TRANSLATE_N_NOOP("CloseGuard", "%n minutes"), whole(kMinute));
    return counted(QT_TRANSLATE_N_NOOP("CloseGuard", "%n seconds"), whole(1));
}

} // namespace

CloseGuard::CloseGuard(ShownRun& shown, WindowFiles& files, QWidget& window, double askAfterSeconds)
    : m_shown(shown), m_files(files), m_window(window), m_askAfterSeconds(askAfterSeconds) {}

bool CloseGuard::mayClose() {
    const double trained = m_shown.trainedSeconds();
    if (!m_shown.hasUnsavedRows() || trained < m_askAfterSeconds) return true;
    QMessageBox box(
        QMessageBox::Question, tr("Close Halfscope"),
        tr("This run has trained for %1 and has not been saved.").arg(durationText(trained)),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, &m_window);
    box.setTextFormat(Qt::PlainText);
    box.setInformativeText(
        tr("Its tables, plots and pictures will be lost when the window closes."));
    box.button(QMessageBox::Save)->setText(tr("&Save results…"));
    box.button(QMessageBox::Discard)->setText(tr("Close &without saving"));
    box.setDefaultButton(QMessageBox::Save);
    switch (box.exec()) {
    case QMessageBox::Save: return m_files.chooseResultsFolder();
    case QMessageBox::Discard: return true;
    default: return false;
    }
}

} // namespace halfscope
