// The thread that reads; its signals reach the window through Qt's queue.
#include "ui/session/saved_run_job.h"

#include "ui/models/event_model.h"

#include <chrono>
#include <filesystem>
#include <utility>

namespace halfscope {
namespace {

using namespace std::chrono_literals;
constexpr auto kBetweenSignals = 33ms;

std::vector<Picture> readOutputs(const std::string& folder, const std::vector<std::string>& lanes) {
    std::vector<Picture> outputs;
    for (const std::string& lane : lanes) {
        const auto path = std::filesystem::path(folder) / ("output_" + lane + ".png");
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored)) return {};
        outputs.push_back(readPicture(path.string()));
    }
    return outputs;
}

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
        auto results = std::make_shared<SavedResults>();
        results->config = m_config;
        results->lanes = laneNames(m_config);
        std::optional<SavedRun> read = readSavedRun(m_folder, results->lanes, goesOn);
        if (!read) return;
        results->run = std::move(*read);
        results->events = withoutEchoes(results->run.events);
        results->outputs = readOutputs(m_folder, results->lanes);
        emit done(std::move(results));
    } catch (const std::exception& error) {
        emit failed(QString::fromUtf8(error.what()));
    }
}

} // namespace halfscope
