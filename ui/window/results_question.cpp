// Words the question after what the folder holds.
#include "ui/window/results_question.h"

#include "ui/dialogs/ask.h"
#include "ui/models/safe_text.h"
#include "ui/models/shown_numbers.h"

namespace halfscope {
namespace {

bool wasRead(const RunInfo& info) { return !info.folder.empty(); }

/// Returns the folder and the id of the saved run that a run is or goes on from; empty for others.
const std::string& folderOf(const RunInfo& info) {
    return wasRead(info) ? info.folder : info.pastFolder;
}
const std::string& idOf(const RunInfo& info) { return wasRead(info) ? info.id : info.pastId; }

/// Whether a run that goes on from a saved one has all rows that this one has.
bool hasRowsOf(const RunInfo& info, const HeldRun& held) {
    return info.pastFolder.empty() || wasRead(info) || held.steps <= info.pastStep;
}

} // namespace

void ResultsQuestion::saved(const std::string& id, const ReadRun& run) {
    const RunInfo& info = run->now().info();
    m_saved[id] = {run, idOf(info), wasRead(info)};
}

bool ResultsQuestion::isOf(const ReadRun& run, const QString& folder, const HeldRun& held) const {
    if (!run) return false;
    const RunInfo& info = run->now().info();
    const std::string &from = folderOf(info), &id = idOf(info);
    if (const auto known = m_saved.find(held.id); known != m_saved.end()) {
        const Saved& saved = known->second;
        if (saved.run.lock() == run) return true;
        if (!hasRowsOf(info, held)) return false;
        // what was read from the folder, and saved there again, has another id there since; what
        // went on from it has rows of its own, which others have not
        const bool goneOn = wasRead(info) && held.steps > run->now().lastStep();
        const auto first = m_saved.find(saved.earlierId);
        if ((saved.wasRead || goneOn) &&
            ((!id.empty() && saved.earlierId == id) ||
             (first != m_saved.end() && first->second.run.lock() == run)))
            return true;
    }
    if (from.empty() || id != held.id || !hasRowsOf(info, held)) return false;
    // a folder without a manifest tells no id
    return !held.id.empty() || wholePath(QString::fromStdString(from)) == wholePath(folder);
}

bool ResultsQuestion::mayReplace(QWidget* parent, const QString& folder, const HeldResults& held,
                                 const ReadRun& run, const ReadRun& before) const {
    if (held.files.isEmpty()) return true;
    const QString title = tr("Save results");
    const QString path = safeText(folder.toStdString());
    if (!held.run)
        return askReplace(parent, title,
                          tr("%1 already has files with these names, perhaps of another program: "
                             "%2. Replace them?")
                              .arg(path, held.files.join(QStringLiteral(", "))),
                          Replacing::LosesMore);
    const int64_t shown = run ? run->now().lastStep() : 0;
    const bool same =
        isOf(run, folder, *held.run) ||
        (before && held.run->steps <= before->now().lastStep() && isOf(before, folder, *held.run));
    if (same && held.run->steps > shown)
        return askReplace(parent, title,
                          tr("%1 holds more of this run: it goes up to step %2 there, and only up "
                             "to step %3 here. Replace it?")
                              .arg(path, countText(held.run->steps), countText(shown)),
                          Replacing::LosesMore);
    if (same)
        return askReplace(parent, title,
                          tr("%1 already holds results of this run. Replace them?").arg(path),
                          Replacing::LosesLittle);
    const QString name = safeText(held.run->title);
    QString other = name.isEmpty() ? tr("another run") : tr("another run, “%1”").arg(name);
    const auto steps = static_cast<int>(held.run->steps);
    if (steps > 0)
        other = (steps == 1 ? tr("%1 (1 step)") : tr("%1 (%n steps)", nullptr, steps)).arg(other);
    return askReplace(parent, title,
                      tr("%1 holds the results of %2. Replace them?").arg(path, other),
                      Replacing::LosesMore);
}

} // namespace halfscope
