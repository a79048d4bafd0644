// One lane: builds the graph of a step from the configuration, runs it, and turns its results into
// StepRecords and events. The graph holds the whole step; the host reads nothing inside it.
#pragma once

#include "engine/core/message.h"
#include "engine/data/batch.h"
#include "engine/data/judged_samples.h"
#include "engine/exec/executor.h"
#include "engine/runs/step_record.h"
#include "engine/settings/run_config.h"
#include "engine/train/gradient_range.h"
#include "engine/train/initial_weights.h"
#include "engine/train/lane_state.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace halfscope {

/// Which samples a lane is judged on.
enum class JudgedOn : uint8_t { Validation, Test };

/// What a lane predicts for the validation samples, in their order.
struct Predictions {
    int64_t samples = 0, outputs = 0;
    int64_t positions = 0;     ///< classes of a sample, one at each position; 0: no positions
    std::vector<float> values; ///< row-major, of shape(); nan where a sample could not be read
    /// Likewise. For classes, their numbers, of shape (samples) or (samples, positions).
    std::vector<float> targets;
    /// Both before float32 rounds them, where it would round much of the differences between
    /// targets away, see Standardiser::roundedOff(); else empty.
    std::vector<double> exactValues{}, exactTargets{};
    std::vector<int64_t> numbers; ///< (samples), see Dataset::number()
    std::vector<int64_t> axes{};  ///< of a target with other axes than (outputs)

    bool exact() const { return !exactValues.empty(); }
    /// Return values[i] and targets[i] as exactly as they are known.
    double value(size_t i) const { return exact() ? exactValues[i] : double{values[i]}; }
    double target(size_t i) const { return exact() ? exactTargets[i] : double{targets[i]}; }
    /// Returns the shape of `values`: (samples, outputs), (samples, positions, outputs) or that of
    /// the targets.
    std::vector<int64_t> shape() const {
        std::vector<int64_t> all{samples};
        all.insert(all.end(), axes.begin(), axes.end());
        if (positions > 0) all.push_back(positions);
        if (axes.empty()) all.push_back(outputs);
        return all;
    }
};

/// Whether a lane draws its first weights when it is made. Until then it takes hardly any memory
/// of the CPU, so that whoever makes several lanes can look first whether all of them fit.
enum class Draw : uint8_t { Now, Later };

class Trainer {
public:
    /// Throws RunError when `stop` asks for it before everything is built.
    Trainer(const RunConfig&, int lane, std::string name, const BatchSource&,
            std::unique_ptr<Executor>, Draw = Draw::Now, const std::stop_token& stop = {});
    ~Trainer();
    const std::string& name() const { return m_name; }
    const RunConfig& config() const;
    /// The step for whole batches.
    const Program& program() const;
    const DeviceInfo& device() const;
    /// Returns the memory in use, including what a smaller last batch of an epoch takes beside the
    /// whole ones.
    MemoryUse memory() const;
    /// Returns what measuring takes beside it, see GradientError.
    MemoryUse instrumentMemory() const;

    /// Draws the first weights from the run's seed; for a lane that was made without.
    void drawWeights(const std::stop_token& stop);
    /// `seen` matters to batch norms whose running statistics are means over all batches.
    void setWeights(const Weights&, const BatchCounts& seen = {});
    Weights weights();
    /// Returns all that the lane needs in order to go on from here, see LaneState.
    LaneState state(WhichStates which = WhichStates::All) const;
    size_t stateBytes() const; ///< of its values
    /// Goes on from the given state, whichever device it comes from. States that this lane stores
    /// in another dtype are converted. Throws InputError, before anything is changed, when the
    /// state does not fit this lane's step.
    void restore(const LaneState&);
    /// Takes the present state of another lane of the same experiment. Precision and scaler rules
    /// stay this lane's own; its scale starts over if one of the two does not scale its loss.
    void continueFrom(Trainer& parent);
    /// Runs step number `step` (1 for the first) with its batch. Returns nothing when it was
    /// stopped midway: the same step can be run again.
    std::optional<StepRecord> step(int64_t step, std::vector<Event>& events);
    /// The two halves of step(), so that several devices, or a device and the host, work side by
    /// side. begin() returns when the device has its work, or false when it was stopped midway.
    /// end() waits for the device, and returns nothing when it was stopped while it looked for the
    /// reason of a skip; begin() for the same step then takes up where it was. Nothing else may be
    /// called in between.
    bool begin(int64_t step);
    std::optional<StepRecord> end(std::vector<Event>& events);
    /// Returns whether begin() returns before the step is over.
    bool worksAhead() const;
    /// The time that the device worked on the last step; 0 before the first.
    double lastDeviceSeconds() const { return m_deviceSeconds; }
    void requestStop();
    /// Returns the share of the epoch's samples so far that were classified correctly while steps
    /// trained on them. Returns nothing when targets are not classes, and before the first step.
    std::optional<double> trainingAccuracy() const;

    /// Returns the network's output on the last step's batch, f32, (rows, channels). After
    /// restore(), and before the next step, it is the one that the state has, or else the output of
    /// the restored weights.
    std::vector<float> prediction();
    /// Runs forward only, for the first picture: a prediction without a step (no state changes).
    /// Throws RunError when `stop` asks for it.
    std::vector<float> preview(const std::stop_token& stop = {});

    /// Returns the network's outputs (rows, outputs) for inputs that no step sees, with the present
    /// weights and in the form in which the network is judged. Cheap for the same batch as in the
    /// call before, which must still exist unchanged. Returns nothing when requestStop() came in
    /// between.
    std::optional<std::vector<float>> probe(const Batch& inputs);

    /// Lets the network write this many characters behind a prompt that is as long as a sample, see
    /// TextWriter. Returns nothing when requestStop() was called meanwhile.
    std::optional<std::vector<int32_t>> write(std::span<const int32_t> prompt, size_t characters);

    /// Whether evaluate() has samples: the batches' data set has some to validate on.
    bool validates() const;
    /// Judges the present weights on the validation samples, or on those of the test. Returns
    /// nothing when `stop` or requestStop() came before all were seen. No state of the training
    /// changes. `predictions` receives what is predicted; it may be null.
    std::optional<Validation> evaluate(const std::atomic<bool>& stop,
                                       Predictions* predictions = nullptr,
                                       JudgedOn on = JudgedOn::Validation);
    /// The samples that were judged last, including those that cannot be read; those to validate on
    /// before any were.
    int64_t judgedSamples() const;
    /// Returns what the last evaluate() that was not stopped predicted; nothing before the first.
    JudgedSamples judged() const;
    /// The reasons why the last evaluation left samples out.
    const std::vector<Message>& skippedSamples() const;

    /// Returns how far the weights are from those of another lane of the same experiment, see
    /// weightDistance().
    double distanceFrom(Trainer& reference);

    /// Returns the gradients of the next step, times the scale that it uses. The training is not
    /// changed. Costs a step that stores all its values. With `errorsFit` it measures the layers'
    /// errors, too, which costs two passes forward and backward; see GradientError::addTo() for the
    /// function. Returns nothing when it was stopped midway, and when whyNoGradients() has a
    /// reason.
    using ErrorsFit = std::function<void()>;
    std::optional<GradientRange> gradientRange(const ErrorsFit& errorsFit = {});
    /// Returns why the gradients of the next step cannot be counted; empty when they can.
    Message whyNoGradients() { return next().whyNotShown(); }
    /// Frees what the layers' errors need.
    void releaseErrors();

    /// Sets the scaler's rules, a live field; acts from the next step on. If the new scaler needs
    /// another step (on or off, check after unscaling, what an overflow does), the lane's step is
    /// compiled again; all states, the current scale too, are carried over. The first scale acts
    /// only when a lane begins to scale.
    void setScaler(const ScalerConfig&);
    void setScale(float scale);
    /// Sets the learning rates of the two optimizers, from which schedules start.
    void setLearningRates(double first, double second);
    /// Sets the numbers of the optimizers, the clip limit and the penalty, and compiles the lane's
    /// step again. States are kept; a moment that the lane did not have before starts at zero.
    void setTraining(const RunConfig&);
    /// Takes the loss of a validation after the last step, where the rate follows the validation,
    /// and lets the rate of the steps that come fall when it is time. Returns the one before and
    /// after that; nothing when it has not changed.
    std::optional<std::pair<double, double>> followValidation(double loss);
    ScalerState scaler();
    int64_t skipped() const { return m_skipped; }
    /// Returns why the lane must not go on: its scale reached the floor and its rules ask to stop
    /// there. Empty otherwise, and after a new scale or new rules. The sentence calls the lane
    /// `name`, by default the name it was made with.
    Message stopReason(const std::string& name = {}) const;

private:
    struct Impl;
    Executor& next(); ///< which will run the next step
    void rebuild(const LaneConfig&);
    std::vector<float> forward(int64_t step, const std::stop_token& stop);
    std::string m_name;
    std::unique_ptr<Impl> m_impl;
    int64_t m_skipped = 0;
    double m_deviceSeconds = 0;
    std::optional<FloorStop> m_atFloor; ///< the step that must be the last one
};

} // namespace halfscope
