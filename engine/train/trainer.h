// One lane: builds the graph of a step from the configuration, runs it, and turns its results into
// StepRecords and events. The graph holds the whole step; the host reads nothing inside it.
#pragma once

#include "engine/core/message.h"
#include "engine/data/batch.h"
#include "engine/data/class_counts.h"
#include "engine/exec/executor.h"
#include "engine/runs/step_record.h"
#include "engine/settings/run_config.h"
#include "engine/train/gradient_range.h"
#include "engine/train/lane_state.h"

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace halfscope {

/// Starting values by parameter name ("0.weight"), f32, row-major.
using Weights = std::map<std::string, std::vector<float>>;

/// Whether a state is part of the network: a parameter or a running statistic.
bool isWeight(const StateInfo&);

/// Deterministic initial weights by each state's own rule, from the seed.
Weights initialWeights(const Graph&, uint64_t seed, const std::stop_token& stop = {});

/// What a lane makes of the validation samples, in their order.
struct Predictions {
    int64_t samples = 0, outputs = 0;
    int64_t positions = 0; ///< classes of a sample, one at each position; 0: it has no positions
    std::vector<float> values; ///< row-major, of shape(); nan where a sample cannot be read
    /// Likewise; of classes (samples) or (samples, positions), the number of each.
    std::vector<float> targets;
    std::vector<int64_t> numbers; ///< (samples), see Dataset::number()

    /// Returns (samples, outputs) or (samples, positions, outputs).
    std::vector<int64_t> shape() const {
        if (positions == 0) return {samples, outputs};
        return {samples, positions, outputs};
    }
};

class Trainer {
public:
    /// RunError when `stop` asks for it before all is built.
    Trainer(const RunConfig&, int lane, std::string name, const BatchSource&,
            std::unique_ptr<Executor>, const std::stop_token& stop = {});
    ~Trainer();
    const std::string& name() const { return m_name; }
    /// The step for whole batches.
    const Program& program() const;
    const DeviceInfo& device() const;
    /// With what a smaller last batch of an epoch takes beside the whole ones.
    MemoryUse memory() const;

    void setWeights(const Weights&);
    Weights weights();
    /// All that the lane needs in order to go on from here, see LaneState.
    LaneState state() const;
    size_t stateBytes() const; ///< that its values take
    /// Goes on from there, whichever device the state comes from. States that this lane stores in
    /// another dtype are converted. InputError, before anything is changed, where the state is not
    /// one of this lane's step.
    void restore(const LaneState&);
    /// Takes the present state of another lane of the same experiment. Precision and scaler rules
    /// stay this lane's own; its scale starts over if one of the two does not scale its loss.
    void continueFrom(Trainer& parent);
    /// Runs step number `step` (1 for the first) with its batch. Nothing when it was stopped
    /// midway: the same step can be run again.
    std::optional<StepRecord> step(int64_t step, std::vector<Event>& events);
    /// The same in two halves, so that several devices, or a device and the host, work side by
    /// side: begin() returns when the device has its work, false when it was stopped midway; end()
    /// waits for it, and gives nothing when it was stopped while it looked for the reason of a
    /// skip. The same step is begun again then, which takes up where it was. Nothing else may be
    /// called in between.
    bool begin(int64_t step);
    std::optional<StepRecord> end(std::vector<Event>& events);
    /// Whether begin() returns before the step is over.
    bool worksAhead() const;
    /// That the device worked on the last step; 0 before the first.
    double lastDeviceSeconds() const { return m_deviceSeconds; }
    void requestStop();
    /// The share of the epoch's samples so far that steps took for their class while they trained
    /// on them. Nothing where targets are no classes, and without a step.
    std::optional<double> trainingAccuracy() const;

    /// The network's output on the last step's batch, f32, (rows, channels). After restore(), and
    /// before the next step, that of the restored weights.
    std::vector<float> prediction();
    /// Runs forward only for the first picture: prediction without a step (no state changes).
    /// RunError when `stop` asks for it.
    std::vector<float> preview(const std::stop_token& stop = {});

    /// The network's outputs for inputs that no step sees, (rows, outputs), by the present weights
    /// and as it is judged. Cheap for the batch of the call before, which must still be there
    /// unchanged. Nothing when requestStop() came in between.
    std::optional<std::vector<float>> probe(const Batch& inputs);

    /// Lets the network write so many characters behind a prompt that is as long as a sample, see
    /// TextWriter. Returns nothing when requestStop() came in between.
    std::optional<std::vector<int32_t>> write(std::span<const int32_t> prompt, size_t characters);

    /// Whether evaluate() has samples: the batches' data set has some to validate on.
    bool validates() const;
    /// The present weights on the samples to validate on. Nothing when `stop` or requestStop() came
    /// before all were seen. No state of the training changes.
    /// `predictions`: takes in what is predicted; or null.
    std::optional<Validation> evaluate(const std::atomic<bool>& stop,
                                       Predictions* predictions = nullptr);
    int64_t validationSamples() const; ///< also those that cannot be read
    /// How often the last evaluate() that was not stopped took each class for which; no classes
    /// before the first, and where targets are numbers.
    ClassCounts classCounts() const;
    /// Of the last evaluation: why samples were left out of it.
    const std::vector<Message>& skippedSamples() const;

    /// The gradients of the next step, times the scale that it uses; the training is not touched by
    /// it. Costs a step that stores all its values. Nothing when it was stopped midway.
    std::optional<GradientRange> gradientRange();

    /// Live fields: the scaler, learning rate. Acts from the next step on.
    /// A scaler whose step is another one (off, check after unscaling, what an overflow does) has
    /// the lane's step compiled again; all states, the current scale too, are carried over. The
    /// first scale acts where a lane begins to scale.
    void setScaler(const ScalerConfig&);
    void setScale(float scale);
    /// Of the two optimizers; schedules start from them.
    void setLearningRates(double first, double second);
    void setLearningRate(double lr);
    /// The numbers of the optimizers, the clip limit and the penalty: has the lane's step compiled
    /// again. States are kept; a moment that the lane did not have before starts at zero.
    void setTraining(const RunConfig&);
    ScalerState scaler();
    int64_t skipped() const { return m_skipped; }
    /// Why the lane must not go on: its scale reached the floor and its rules ask to stop there.
    /// Empty otherwise, and after a new scale or new rules. The sentence calls the lane `name`, by
    /// default what it was made with.
    Message stopReason(const std::string& name = {}) const;

private:
    struct Impl;
    void rebuild(const LaneConfig&);
    std::vector<float> forward(int64_t step, const std::stop_token& stop);
    std::string m_name;
    std::unique_ptr<Impl> m_impl;
    int64_t m_skipped = 0;
    double m_deviceSeconds = 0;
    std::optional<FloorStop> m_atFloor; ///< the step that must be the last one
};

} // namespace halfscope
