// What the training worker needs of an experiment, as an interface. The real implementation wraps
// engine/train/experiment.h; tests replace it with runs that fail or take long.
#pragma once

#include "engine/train/experiment.h"
#include "engine/train/lane_file.h"

#include <functional>
#include <memory>
#include <stop_token>

namespace halfscope {

class TrainingRun {
public:
    virtual ~TrainingRun() = default;
    virtual const RunConfig& config() const = 0;
    /// See Experiment::recorded() and changes().
    virtual RunConfig recorded() const { return config(); }
    virtual size_t changes() const { return 0; }
    virtual std::vector<std::string> laneNames() const = 0;
    virtual DeviceInfo device() const = 0;
    virtual Message cudaReason() const = 0;
    /// See Experiment::dataChange().
    virtual Message dataChange() const { return {}; }
    /// See Experiment::weightsNote().
    virtual Message weightsNote() const { return {}; }
    /// Returns the memory that each lane uses; empty when it is not known.
    virtual std::vector<MemoryUse> memory() { return {}; }
    virtual int64_t step() const = 0;
    virtual bool finished() const = 0;
    /// See Experiment::outOfPatience().
    virtual int64_t outOfPatience() const { return 0; }
    /// See Experiment::dataFault().
    virtual Message dataFault() const { return {}; }
    virtual bool advance(std::vector<StepRecord>&, std::vector<Event>&) = 0;
    /// See Experiment::addWait().
    virtual void waited(double /*seconds*/) {}
    /// The only call that may come from another thread.
    virtual void requestStop() = 0;
    virtual void clearStop() = 0;
    /// See Experiment::setBeforeStart().
    virtual void setLive(int lane, const std::string& key, const FieldValue&,
                         std::vector<Event>&) = 0;
    /// See Experiment::fork().
    virtual void fork(int parent, const LaneConfig&, std::vector<Event>&) = 0;
    /// See Experiment::resume(), state() and stateBytes(); stateBytes() is 0 when there is no
    /// state.
    virtual void resume(const ExperimentState&) {}
    virtual ExperimentState state() { return {}; }
    virtual size_t stateBytes() const { return 0; }
    /// Returns laneFileBytes() for the program's version.
    virtual std::optional<LaneFileBytes> laneFile(LaneFile, int /*lane*/,
                                                  const std::string& /*program*/,
                                                  const std::string& /*samples*/) {
        return LaneFileBytes{};
    }
    virtual Picture target() const = 0;
    virtual Snapshot snapshot() = 0;
    /// See Experiment::gradientRanges() and releaseErrors(); empty when there are none.
    virtual std::vector<GradientRange> gradientRanges(bool /*errors*/) { return {}; }
    /// See Experiment::whyNoGradients().
    virtual Message whyNoGradients() const { return {}; }
    virtual void releaseErrors() {}
};

/// Builds a run. Called on the worker's thread, because building compiles and may take a while. The
/// token lives as long as the run: a stop asks building and painting to give up, by throwing.
using RunFactory =
    std::function<std::unique_ptr<TrainingRun>(const RunConfig&, const std::stop_token&)>;

/// Makes the real experiment. Throws what the Experiment's constructor throws.
std::unique_ptr<TrainingRun> makeExperimentRun(const RunConfig&, const std::stop_token&);

} // namespace halfscope
