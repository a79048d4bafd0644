// The thread that reads; its signals reach the window through Qt's queue.
#include "ui/session/saved_run_job.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/runs/run_reader.h"
#include "ui/session/last_signal.h"

#include <chrono>
#include <system_error>
#include <utility>

namespace halfscope {
namespace {

using namespace std::chrono_literals;
constexpr auto kBetweenReports = 33ms;

} // namespace

SavedRunJob::SavedRunJob(std::string folder, RunConfig config)
    : m_folder(std::move(folder)), m_config(std::move(config)) {}

SavedRunJob::~SavedRunJob() = default;

void SavedRunJob::start() {
    try {
        m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    } catch (const std::system_error& error) {
        const Message reason(phrase("Files", "%1: cannot start a thread to read this run: %2"),
                             m_folder, error.what());
        QMetaObject::invokeMethod(
            this, [this, reason] { emit failed(reason); }, Qt::QueuedConnection);
    }
}

void SavedRunJob::run(const std::stop_token& stop) {
    const Cancellable scope(stop);
    auto next = std::chrono::steady_clock::now() + kBetweenReports;
    const auto goesOn = [&](double share) {
        if (const auto now = std::chrono::steady_clock::now(); now >= next) {
            emit progressed(share);
            next = now + kBetweenReports;
        }
        return !stop.stop_requested();
    };
    try {
        if (RunPtr run = readRun(m_folder, m_config, goesOn)) emit done(run);
    } catch (const Cancelled&) {
        return; // nobody waits for it
    } catch (const std::exception& error) {
        emitLast(stop, [&] { emit failed(messageOf(error)); });
    }
}

} // namespace halfscope
