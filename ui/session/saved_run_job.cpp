// The thread that reads; its signals reach the window through Qt's queue.
#include "ui/session/saved_run_job.h"

#include "engine/runs/gradient_file.h"
#include "ui/models/event_model.h"

#include <chrono>
#include <filesystem>
#include <utility>

namespace halfscope {
namespace {

using namespace std::chrono_literals;
constexpr auto kBetweenSignals = 33ms;
constexpr const char* kGradientsFile = "gradients.csv";

/// The part that gradients.csv has of the tables' bytes.
double gradientsPart(const std::filesystem::path& folder) {
    double all = 0, gradients = 0;
    for (const char* name : {"steps.csv", "timing.csv", "events.csv", kGradientsFile}) {
        std::error_code missing;
        const auto bytes = std::filesystem::file_size(folder / name, missing);
        gradients = missing ? 0 : static_cast<double>(bytes);
        all += gradients;
    }
    return all > 0 ? gradients / all : 0;
}

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
        const double part = gradientsPart(m_folder);
        std::optional<SavedRun> read = readSavedRun(
            m_folder, results->lanes, [&](double share) { return goesOn((1 - part) * share); });
        if (!read) return;
        results->run = std::move(*read);
        results->gradients.assign(results->lanes.size(), GradientHistory::ofSavedRun());
        if (const auto path = std::filesystem::path(m_folder) / kGradientsFile;
            std::filesystem::exists(path)) {
            auto gradients =
                readGradients(path.string(), results->lanes, results->run.steps,
                              [&](double share) { return goesOn(1 - part + part * share); });
            if (!gradients) return;
            results->gradients = std::move(*gradients);
        }
        results->events = withoutEchoes(results->run.events);
        results->outputs = readOutputs(m_folder, results->lanes);
        emit done(std::move(results));
    } catch (const std::exception& error) {
        emit failed(QString::fromUtf8(error.what()));
    }
}

} // namespace halfscope
