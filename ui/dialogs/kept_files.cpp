// The command line refuses such files, too.
#include "ui/dialogs/kept_files.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/runs/run_folder.h"
#include "ui/dialogs/ask.h"
#include "ui/models/translated.h"
#include "ui/session/file_job.h"

#include <QEventLoop>
#include <QTimer>
#include <QWidget>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace halfscope {

namespace {

constexpr std::chrono::milliseconds kFirstWait{50}, kMostWait{3000};

/// Whether a file is one that is read or lies in a folder that is, as far as their names tell. Of a
/// saved run only its own files are kept, see keepRead().
bool isNamedIn(const QString& file, const ReadPath& read) {
    const QString own = wholePath(file), other = wholePath(QString::fromStdString(read.path));
    if (!read.isRun) return own == other || own.startsWith(other + u'/');
    return std::ranges::any_of(runFileNames(), [&](const std::string& name) {
        const QString whole = other + u'/' + QString::fromStdString(name);
        return own.compare(whole, Qt::CaseInsensitive) == 0; // some disks ignore the case
    });
}

/// Does as keepRead() does, but on another thread: a dead network holds whoever asks it for a file.
/// When it does not answer in time, names must do: the user must be able to save elsewhere.
void keepReadSoon(const std::vector<ReadPath>& reads, const QString& path) {
    const auto work = [reads, file = path.toStdString()] { keepRead(reads, file); };
    std::unique_ptr<FileJob> job;
    try {
        job = std::make_unique<FileJob>(work, FileJob::Leaving::Abandons);
    } catch (const RunError&) {
        return work(); // the system has no thread to give
    }
    if (!job->isDone(kFirstWait)) {
        QEventLoop waits;
        QObject::connect(job.get(), &FileJob::done, &waits, &QEventLoop::quit);
        QTimer::singleShot(kMostWait, &waits, &QEventLoop::quit);
        waits.exec(QEventLoop::ExcludeUserInputEvents); // the dialog's answer is on its way
    }
    if (job->isDone()) return job->result();
    for (const ReadPath& each : reads)
        if (isNamedIn(path, each))
            throw InputError(phrase("Files", "%1: did not answer in time"),
                             pathText(path.toStdString()));
}

} // namespace

KeptFiles::KeptFiles(Reads reads, Tell tell, QWidget& window)
    : QObject(&window), m_reads(std::move(reads)), m_tell(std::move(tell)) {}

bool KeptFiles::allow(QWidget* parent, const QString& path, std::span<const ReadPath> also) {
    const KeptFiles* kept = nullptr;
    for (QWidget* at = parent; at && !kept; at = at->parentWidget())
        kept = at->findChild<KeptFiles*>({}, Qt::FindDirectChildrenOnly);
    if (!kept) return true; // no run reads anything
    try {
        std::vector<ReadPath> reads(also.begin(), also.end());
        for (ReadPath& each : kept->m_reads())
            reads.push_back(std::move(each));
        keepReadSoon(reads, path);
        return true;
    } catch (const InputError& error) {
        if (QWidget* window = parent->window(); window == kept->parent())
            kept->m_tell(translated(error));
        else
            warn(window, window->windowTitle(), translated(error));
        return false;
    }
}

} // namespace halfscope
