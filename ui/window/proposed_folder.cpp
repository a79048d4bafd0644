// Asks the disk for a moment only.
#include "ui/window/proposed_folder.h"

#include "engine/core/error.h"
#include "ui/dialogs/ask.h"
#include "ui/session/file_job.h"
#include "ui/window/shown_run.h"

#include <QDir>
#include <QFileInfo>

#include <chrono>
#include <memory>

namespace halfscope {
namespace {

/// Whether a folder is there, or could be created there, as far as its disk tells soon.
bool isPlaceForFolder(const QString& path) {
    constexpr std::chrono::milliseconds kSoon{200};
    const auto found = std::make_shared<bool>(false); // the job may outlive this function
    try {
        const FileJob look(
            [path, found] { *found = QFileInfo(path).isDir() || QFileInfo(path).dir().exists(); },
            FileJob::Leaving::Abandons);
        return look.isDone(kSoon) && *found;
    } catch (const RunError&) { // the system has no thread to give
        return false;
    }
}

} // namespace

QString proposedFolder(const ShownRun& shown) {
    if (shown.run()) {
        const RunInfo& info = shown.run()->info();
        const std::string& from = info.folder.empty() ? info.pastFolder : info.folder;
        const QString path = from.empty() ? QString() : wholePath(QString::fromStdString(from));
        if (!path.isEmpty()) return isPlaceForFolder(path) ? path : QFileInfo(path).fileName();
    }
    return folderNameFor(shown.givenName().isEmpty() ? shown.title() : shown.givenName());
}

} // namespace halfscope
