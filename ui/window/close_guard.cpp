// The question before the window closes.
#include "ui/window/close_guard.h"

#include "engine/data/dataset.h"
#include "engine/data/known_facts.h"
#include "engine/runs/run_store.h"
#include "engine/settings/fields.h"
#include "ui/models/duration_text.h"
#include "ui/models/run_facts.h"
#include "ui/models/safe_text.h"
#include "ui/window/session_keeper.h"
#include "ui/window/shown_run.h"
#include "ui/window/window_files.h"

#include <QMessageBox>
#include <QPushButton>

#include <algorithm>

namespace halfscope {
namespace {

double secondsOfAll(const std::vector<RunPtr>& runs) {
    double seconds = 0;
    for (const RunPtr& run : runs)
        seconds += trainedSeconds(run->now());
    return seconds;
}

/// Whether a run learnt from files that its user chose. A preset may name files, too: those that
/// are installed on this machine.
bool usesOwnFiles(const Run& run) {
    const RunInfo& info = run.info();
    const TaskConfig& task = info.recorded.task;
    const auto names = [&](const Preset& preset) {
        return preset.name == info.preset && preset.config.task.path == task.path &&
               preset.config.task.image == task.image;
    };
    const bool own = task.kind == TaskKind::Image ? !task.image.empty()
                                                  : infoOf(task.kind).fromFiles && namesFiles(task);
    return own && std::none_of(presets().begin(), presets().end(), names);
}

} // namespace

CloseGuard::CloseGuard(const RunStore& store, ShownRun& shown, WindowFiles& files,
                       SessionKeeper* keeper, QWidget& window, double askAfterSeconds)
    : m_store(store), m_shown(shown), m_files(files), m_keeper(keeper), m_window(window),
      m_askAfterSeconds(askAfterSeconds) {}

/// A small table is trained on in no time, and its run is worth a question nevertheless; one that
/// was restored has been asked for already, and a name is given to what one wants to keep.
bool CloseGuard::isPrecious(const Run& run) const {
    const RunStore::Entry* entry = m_store.find(m_store.idOf(&run));
    return (entry && entry->named) || m_shown.isRestored(run) || usesOwnFiles(run);
}

QString CloseGuard::question(const Runs& unsaved) const {
    const QString duration = durationText(secondsOfAll(unsaved));
    if (unsaved.size() > 1)
        return tr("%n runs trained for %1 in all and have not been saved.", nullptr,
                  static_cast<int>(unsaved.size()))
            .arg(duration);
    const bool shown = unsaved.front() == m_shown.run();
    const RunStore::Entry* entry = m_store.find(m_store.idOf(unsaved.front().get()));
    const QString name = entry ? safeText(entry->name) : QString();
    if (const QString lacks = leftOutWords(*unsaved.front()); !lacks.isEmpty())
        return shown ? tr("This run has trained for %1 and was saved without %2.")
                           .arg(duration, lacks)
                     : tr("The run “%1” has trained for %2 and was saved without %3.")
                           .arg(name, duration, lacks);
    if (shown) return tr("This run has trained for %1 and has not been saved.").arg(duration);
    return tr("The run “%1” has trained for %2 and has not been saved.").arg(name, duration);
}

/// Returns what the folder of a run lacks; empty when the run is in no folder.
QString CloseGuard::leftOutWords(const Run& run) const {
    const ShownRun::LeftOut lacks = m_shown.leftOut(run);
    if (lacks.pictures && lacks.checkpoint) return tr("some pictures and its checkpoint");
    if (lacks.pictures) return tr("some pictures");
    return lacks.checkpoint ? tr("its checkpoint") : QString();
}

CloseGuard::Answer CloseGuard::ask() {
    Runs unsaved = m_shown.unsavedRuns();
    const bool precious = std::any_of(unsaved.begin(), unsaved.end(),
                                      [this](const RunPtr& run) { return isPrecious(*run); });
    if (secondsOfAll(unsaved) < m_askAfterSeconds && !precious) return Answer::Close;
    while (!unsaved.empty()) {
        switch (askAbout(unsaved)) {
        case QMessageBox::SaveAll: return Answer::Keep;
        case QMessageBox::Discard: return Answer::Close;
        case QMessageBox::Save: break;
        default: return Answer::Stay;
        }
        const RunPtr shown = m_shown.run();
        if (!m_files.chooseResultsFolder()) return Answer::Stay;
        // the question was about the others, too, so they must not go without one, however short
        unsaved = m_shown.unsavedRuns();
        if (shown == m_shown.run()) std::erase(unsaved, shown); // it may train on meanwhile
    }
    return Answer::Close;
}

QString CloseGuard::consequence(const Runs& unsaved, bool keeps) const {
    const bool one = unsaved.size() == 1;
    if (one && m_shown.leftOut(*unsaved.front()).any())
        return keeps ? tr("If you keep it, the next start of Halfscope offers to restore it. "
                          "Otherwise what could not be saved will be lost when the window closes. "
                          "Its tables and plots are in the folder.")
                     : tr("What could not be saved will be lost when the window closes. Its tables "
                          "and plots are in the folder.");
    const QString kept =
        one ? tr("If you keep it, the next start of Halfscope offers to restore it. Otherwise its "
                 "tables, plots and pictures will be lost when the window closes.")
            : tr("If you keep them, the next start of Halfscope offers to restore them. Otherwise "
                 "their tables, plots and pictures will be lost when the window closes.");
    const QString lost =
        one ? tr("Its tables, plots and pictures will be lost when the window closes.")
            : tr("Their tables, plots and pictures will be lost when the window closes.");
    const QString text = keeps ? kept : lost;
    // the list of runs would seem to tell another number
    const int more = static_cast<int>(m_store.entries().size()) - static_cast<int>(unsaved.size());
    if (one || more <= 0) return text;
    return text + u' ' +
           tr("The list has %n more. Runs that are saved, or whose steps another run has, are not "
              "counted here.",
              nullptr, more);
}

int CloseGuard::askAbout(const Runs& unsaved) {
    const bool keeps = m_keeper && m_keeper->canKeep();
    const bool shown = std::find(unsaved.begin(), unsaved.end(), m_shown.run()) != unsaved.end();
    QMessageBox box(QMessageBox::Question, tr("Close Halfscope"), question(unsaved),
                    QMessageBox::Discard | QMessageBox::Cancel, &m_window);
    box.setTextFormat(Qt::PlainText);
    box.setInformativeText(consequence(unsaved, keeps));
    box.button(QMessageBox::Discard)->setText(tr("Close &without saving"));
    if (keeps) box.addButton(QMessageBox::SaveAll)->setText(tr("&Keep for next time"));
    if (shown)
        box.addButton(QMessageBox::Save)
            ->setText(unsaved.size() == 1 ? tr("&Save results…")
                                          : tr("&Save results of the shown run…"));
    // Enter must lose nothing
    box.setDefaultButton(keeps   ? QMessageBox::SaveAll
                         : shown ? QMessageBox::Save
                                 : QMessageBox::Cancel);
    return box.exec();
}

bool CloseGuard::mayLoseNetworks() {
    const std::vector<RunPtr> unsaved = m_shown.unsavedRuns();
    const bool lost = !m_shown.isKept() &&
                      std::find(unsaved.begin(), unsaved.end(), m_shown.trained()) != unsaved.end();
    if (!lost) return true;
    QMessageBox box(QMessageBox::Question, tr("Close Halfscope"),
                    tr("The networks of this run are too large to be kept: it can be restored, but "
                       "not trained further."),
                    QMessageBox::Discard | QMessageBox::Cancel, &m_window);
    box.setTextFormat(Qt::PlainText);
    box.setInformativeText(tr("To keep the networks, too, cancel and save a checkpoint first."));
    box.button(QMessageBox::Discard)->setText(tr("Close &without the networks"));
    box.setDefaultButton(QMessageBox::Cancel);
    return box.exec() == QMessageBox::Discard;
}

} // namespace halfscope
