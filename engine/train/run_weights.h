// The weights that the lanes of a saved run came to: from the files of weights in its folder or,
// where a lane has none, from its checkpoint.
#pragma once

#include "engine/settings/run_config.h"
#include "engine/train/data_record.h"
#include "engine/train/experiment_state.h"
#include "engine/train/initial_weights.h"

#include <optional>
#include <string>
#include <vector>

namespace halfscope {

enum class WeightsAt : uint8_t {
    End,  ///< what each lane came to
    Best, ///< after its best validation, see run_file::best()
};

class RunWeights {
public:
    /// `recorded` are the settings that the run began with, or others with lanes of the same names.
    /// Reads and checks a checkpoint, the one before the last where that is gone, only where a file
    /// of weights is missing or, by the manifest, none that the run has written; can be cancelled,
    /// see core/cancel.h. Throws InputError when both are missing, and for a checkpoint that is
    /// damaged, is another run's or lacks a lane.
    /// The best weights are never in a checkpoint: lanes without a file are left out, and there is
    /// an InputError where no lane has one.
    RunWeights(const std::string& folder, RunConfig recorded, WeightsAt = WeightsAt::End);

    /// The settings of the lanes that have weights, without forks, edits and
    /// model.weights, see fitToJudge().
    const RunConfig& settings() const { return m_settings; }
    const std::vector<std::string>& lanes() const { return m_names; } ///< their names
    /// The names of lanes that are left out, because they have no best weights.
    const std::vector<std::string>& lacking() const { return m_lacking; }
    /// Returns the index of a lane. Throws InputError when it has no weights.
    size_t indexOf(const std::string& lane) const;
    /// Returns the weights of a lane for the network of its step. Throws InputError when they do
    /// not fit it, or their file cannot be read.
    Weights of(size_t lane, const Graph& step) const;
    /// Returns the path of the file that has them.
    std::string fileOf(size_t lane) const;
    /// The step of the checkpoint; nothing where the weights have files of their own.
    std::optional<int64_t> checkpointStep() const;
    /// Returns the step after which a lane had its weights, as text; empty when it is not known.
    std::string stepOf(size_t lane) const;
    /// Whether no step was taken from weights that were drawn.
    bool untrained() const { return m_drawn && stepOf(0) == "0"; }
    /// Returns Experiment::dataRecord() of the training, as far as it is known.
    DataRecord dataRecord() const;
    /// Returns the print alone, without a look at the data.
    std::string dataPrint() const;

private:
    /// Looks for what each lane came to.
    void find(RunConfig& recorded);
    /// Throws that a lane has neither weights nor a checkpoint, and names the best weights that one
    /// of these lanes has.
    [[noreturn]] void throwLost(const std::vector<std::string>& lanes,
                                const std::string& lacking) const;
    void leaveOutLacking();
    /// `run` is the id that its run must have; empty when that is not known.
    void readCheckpointOf(const std::string& run);
    std::string pathOf(const std::string& name) const;

    std::string m_folder;
    WeightsAt m_at;
    bool m_drawn; ///< whether the run began with weights that were drawn, not with model.weights
    RunConfig m_settings;
    std::vector<std::string> m_names, m_lacking;
    std::string m_checkpoint;               ///< its path; empty when it is not used
    std::optional<ExperimentState> m_state; ///< what the checkpoint holds
    std::vector<size_t> m_places;           ///< of the lanes, in the checkpoint
};

} // namespace halfscope
