// Finds the lanes by their names: other lanes may be asked for than those that were trained.
#include "engine/train/run_weights.h"

#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_manifest.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_length.h"
#include "engine/train/checkpoint.h"
#include "engine/train/state_dict.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace halfscope {

namespace {

bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

/// Returns nothing where none can be read: then nothing says that a file is not the run's.
std::optional<RunManifest> manifestAt(const std::string& path) {
    try {
        return readManifest(path);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

/// Keeps only the forks whose lanes a checkpoint has: others were still to come.
void keepForks(RunConfig& recorded, const ExperimentState& state) {
    const size_t begun = std::min(state.lanes.size(), state.recorded.lanes.size());
    const size_t forked = std::min(state.lanes.size() - begun, recorded.forks.size());
    recorded.forks.erase(recorded.forks.begin() + static_cast<std::ptrdiff_t>(forked),
                         recorded.forks.end());
}

std::vector<std::string> namesIn(const ExperimentState& state) {
    std::vector<std::string> names = laneNames(settingsAtEnd(state.recorded));
    names.resize(std::min(names.size(), state.lanes.size()));
    return names;
}

} // namespace

RunWeights::RunWeights(const std::string& folder, RunConfig recorded, WeightsAt at)
    : m_folder(folder), m_at(at), m_drawn(recorded.model.weights.empty()) {
    if (at == WeightsAt::End) find(recorded);
    m_settings = settingsAtEnd(std::move(recorded));
    m_settings.model.weights.clear();
    fitToJudge(m_settings);
    m_names = laneNames(m_settings);
    if (at == WeightsAt::Best) leaveOutLacking();
    if (!m_state) return;
    const std::vector<std::string> there = namesIn(*m_state);
    for (const std::string& lane : m_names) {
        const auto found = std::find(there.begin(), there.end(), lane);
        if (found == there.end())
            throw InputError(phrase("Files", "%1: it has no lane %2, but only %3"),
                             pathText(m_checkpoint), lane, someOf(there));
        m_places.push_back(static_cast<size_t>(found - there.begin()));
    }
}

void RunWeights::leaveOutLacking() {
    std::vector<std::string> there;
    std::vector<LaneConfig> lanes;
    for (size_t lane = 0; lane < m_names.size(); ++lane) {
        const bool has = exists(fileOf(lane));
        (has ? there : m_lacking).push_back(m_names[lane]);
        if (has) lanes.push_back(m_settings.lanes[lane]);
    }
    if (there.empty())
        throw InputError(phrase("Files", "%1: %2 is not there; halfscope-cli run --keep-best "
                                         "writes it after the first validation that gives a "
                                         "number"),
                         pathText(m_folder), run_file::best(m_names.front()));
    m_names = std::move(there);
    m_settings.lanes = std::move(lanes);
}

void RunWeights::find(RunConfig& recorded) {
    const std::vector<std::string> wanted = laneNames(settingsAtEnd(recorded));
    const std::optional<RunManifest> manifest = manifestAt(pathOf(run_file::kManifest));
    const bool kept =
        exists(pathOf(run_file::kCheckpoint)) || exists(pathOf(run_file::kEarlierCheckpoint));
    const auto lacking = std::find_if(wanted.begin(), wanted.end(), [&](const std::string& lane) {
        const std::string file = run_file::weights(lane);
        // what somebody has put there may be of any step
        const bool foreign = kept && manifest && !manifest->files.contains(file);
        return foreign || !exists(pathOf(file));
    });
    if (lacking == wanted.end()) return;
    if (!kept) throwLost(wanted, *lacking);
    readCheckpointOf(manifest ? manifest->run : std::string());
    keepForks(recorded, *m_state);
}

void RunWeights::throwLost(const std::vector<std::string>& lanes,
                           const std::string& lacking) const {
    const std::string file = run_file::weights(lacking);
    for (const std::string& lane : lanes)
        if (const std::string best = run_file::best(lane); exists(pathOf(best)))
            throw InputError(
                phrase("Files", "%1: neither %2 nor %3 is there, but %4 is, the weights after the "
                                "best validation; halfscope-cli evaluate --best judges them"),
                pathText(m_folder), file, run_file::kCheckpoint, best);
    throw InputError(phrase("Files", "%1: neither %2 nor %3 is there, so what this run learnt is "
                                     "gone; train it again and save its results"),
                     pathText(m_folder), file, run_file::kCheckpoint);
}

void RunWeights::readCheckpointOf(const std::string& run) {
    m_checkpoint = pathOf(run_file::kCheckpoint);
    if (!exists(m_checkpoint)) m_checkpoint = pathOf(run_file::kEarlierCheckpoint);
    m_state = readCheckpoint(m_checkpoint);
    if (!run.empty() && m_state->run != run)
        throw InputError(phrase("Files", "%1: it belongs to another run than the tables in this "
                                         "folder; open it in the window, and File > Save weights "
                                         "saves what it has of a lane"),
                         pathText(m_checkpoint));
}

std::string RunWeights::pathOf(const std::string& name) const {
    return (std::filesystem::path(m_folder) / name).string();
}

size_t RunWeights::indexOf(const std::string& lane) const {
    const auto found = std::find(m_names.begin(), m_names.end(), lane);
    if (found == m_names.end())
        throw InputError(phrase("Files", "%1: it has no lane %2, but only %3"), pathText(m_folder),
                         lane, someOf(m_names));
    return static_cast<size_t>(found - m_names.begin());
}

Weights RunWeights::of(size_t lane, const Graph& step) const {
    if (!m_state) return readStateDict(fileOf(lane), step);
    const StateValues& states = m_state->lanes.at(m_places.at(lane)).states;
    Weights weights;
    for (const StateInfo& each : step.states()) {
        if (!isWeight(each)) continue;
        const auto found = states.find(each.name);
        if (found == states.end() || found->second.shape != step[each.node].shape)
            throw InputError(phrase("Files", "%1: the network of its lane %2 is not that of the "
                                             "settings: %3 differs"),
                             pathText(m_checkpoint), m_names.at(lane), each.name);
        const std::vector<std::byte> bytes = storedAs(DType::F32, found->second);
        std::vector<float>& values = weights[each.name];
        values.resize(bytes.size() / sizeof(float));
        std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    return weights;
}

std::string RunWeights::fileOf(size_t lane) const {
    const std::string& name = m_names.at(lane);
    if (m_state) return m_checkpoint;
    return pathOf(m_at == WeightsAt::Best ? run_file::best(name) : run_file::weights(name));
}

std::optional<int64_t> RunWeights::checkpointStep() const {
    return m_state ? std::optional(m_state->step) : std::nullopt;
}

std::string RunWeights::stepOf(size_t lane) const {
    return m_state ? std::to_string(m_state->step) : stepIn(fileOf(lane));
}

DataRecord RunWeights::dataRecord() const {
    if (!m_state) return dataRecordIn(fileOf(0));
    return withSettings({m_state->data, {}, m_state->classes}, m_state->recorded);
}

std::string RunWeights::dataPrint() const {
    return m_state ? m_state->data : dataRecordIn(fileOf(0)).print;
}

} // namespace halfscope
