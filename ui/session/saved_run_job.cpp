// The thread that reads; its signals reach the window through Qt's queue.
#include "ui/session/saved_run_job.h"

#include "engine/runs/run_reader.h"

#include <chrono>
#include <utility>

namespace halfscope {
namespace {

using namespace std::chrono_literals;
constexpr auto kBetweenSignals = 33ms;

} // namespace

SavedRunJob::SavedRunJob(std::string folder, RunConfig config)
    : m_folder(std::move(folder)), m_config(std::move(config)) {}

SavedRunJob::~SavedRunJob() = default;

void SavedRunJob::start() {
    m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void SavedRunJob::run(const std::stop_token& stop) {
    auto next = std::chrono::steady_clock::now() + kBetweenSignals;
    const auto goesOn = [&](double share) {
        if (const auto now = std::chrono::steady_clock::now(); now >= next) {
            emit progressed(share);
            next = now + kBetweenSignals;
        }
        return !stop.stop_requested();
    };
    try {
        if (RunPtr run = readRun(m_folder, m_config, goesOn)) emit done(run);
    } catch (const std::exception& error) {
        emit failed(QString::fromUtf8(error.what()));
    }
}

} // namespace halfscope
