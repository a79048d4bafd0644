// The thread writes the run, and how much of it is read, where both threads reach it.
#include "ui/session/saved_run_job.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/runs/run_reader.h"

#include <atomic>
#include <utility>

namespace halfscope {
namespace {

constexpr int kBetweenReports = 33; // ms

} // namespace

struct SavedRunJob::Shared {
    std::atomic<double> share{0};
    RunPtr run;
};

SavedRunJob::SavedRunJob(std::string folder, RunConfig config)
    : m_folder(std::move(folder)), m_config(std::move(config)),
      m_shared(std::make_shared<Shared>()) {
    m_looks.callOnTimeout(this, [this] { emit progressed(m_shared->share); });
}

SavedRunJob::~SavedRunJob() = default;

void SavedRunJob::start() {
    const auto read = [shared = m_shared, folder = m_folder, config = m_config] {
        shared->run = readRun(folder, config, [&shared](double share) {
            shared->share = share;
            return !isCancelled();
        });
    };
    try {
        m_job = std::make_unique<FileJob>(read, FileJob::Leaving::Abandons);
    } catch (const RunError& error) {
        const Message reason(phrase("Files", "%1: %2"), pathText(m_folder), error.message());
        QMetaObject::invokeMethod(
            this, [this, reason] { emit failed(reason); }, Qt::QueuedConnection);
        return;
    }
    m_looks.start(kBetweenReports);
    connect(m_job.get(), &FileJob::done, this, &SavedRunJob::conclude);
}

void SavedRunJob::conclude() {
    const std::unique_ptr<FileJob> job = std::move(m_job);
    m_looks.stop();
    try {
        job->result();
    } catch (const Cancelled&) {
        return; // nobody waits for it
    } catch (const std::exception& error) {
        return emit failed(messageOf(error));
    }
    if (m_shared->run) emit done(m_shared->run);
}

} // namespace halfscope
