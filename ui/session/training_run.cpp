// The real experiment behind the worker's interface. Every call is passed straight on; only the
// lanes get the names that the window uses.
#include "ui/session/training_run.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/runs/run.h"
#include "ui/look/theme.h"
#include "ui/models/lane_titles.h"

#include <mutex>
#include <utility>

namespace halfscope {
namespace {

class ExperimentRun final : public TrainingRun {
public:
    ExperimentRun(const RunConfig& config, const std::stop_token& stop)
        : m_experiment(config, stop), m_stop(stop) {}

    const RunConfig& config() const override { return m_experiment.config(); }
    RunConfig recorded() const override { return m_experiment.recorded(); }
    size_t changes() const override { return m_experiment.changes(); }
    std::vector<std::string> laneNames() const override {
        std::vector<std::string> names;
        for (int i = 0; i < m_experiment.lanes(); ++i)
            names.push_back(m_experiment.laneName(i));
        return names;
    }
    DeviceInfo device() const override { return m_experiment.device(); }
    Message cudaReason() const override { return m_experiment.cudaReason(); }
    Message dataChange() const override { return m_experiment.dataChange(); }
    Message weightsNote() const override { return m_experiment.weightsNote(); }
    std::vector<MemoryUse> memory() override {
        std::vector<MemoryUse> memory;
        for (int i = 0; i < m_experiment.lanes(); ++i)
            memory.push_back(m_experiment.lane(i).memory());
        return memory;
    }
    int64_t step() const override { return m_experiment.step(); }
    bool finished() const override { return m_experiment.finished(); }
    int64_t outOfPatience() const override { return m_experiment.outOfPatience(); }
    Message dataFault() const override { return m_experiment.dataFault(); }
    bool advance(std::vector<StepRecord>& records, std::vector<Event>& events) override {
        try {
            return m_experiment.advance(records, events);
        } catch (const RunError&) {
            const Message reason = m_experiment.stopReason(titles());
            if (reason.empty()) throw;
            throw RunError(reason);
        }
    }
    void waited(double seconds) override { m_experiment.addWait(seconds); }
    void requestStop() override {
        m_experiment.requestStop();
        const std::lock_guard lock(m_mutex);
        m_predicting.request_stop();
    }
    void clearStop() override {
        m_experiment.clearStop();
        const std::lock_guard lock(m_mutex);
        m_predicting = {};
    }
    void setLive(int lane, const std::string& key, const FieldValue& value,
                 std::vector<Event>& events) override {
        m_experiment.setBeforeStart(lane, key, value, events);
    }
    void fork(int parent, const LaneConfig& lane, std::vector<Event>& events) override {
        m_experiment.fork(parent, lane, events);
    }
    void resume(const ExperimentState& state) override { m_experiment.resume(state); }
    ExperimentState state() override { return m_experiment.state(); }
    size_t stateBytes() const override { return m_experiment.stateBytes(); }
    std::optional<LaneFileBytes> laneFile(LaneFile file, int lane, const std::string& program,
                                          const std::string& samples) override {
        const std::stop_token stop = [this] {
            const std::lock_guard lock(m_mutex);
            return m_predicting.get_token();
        }();
        return laneFileBytes(m_experiment, file, lane, program, samples, stop);
    }
    Picture target() const override { return m_experiment.target(); }
    Snapshot snapshot() override {
        Snapshot snapshot = m_experiment.snapshot(m_stop);
        m_experiment.addGalleries(snapshot);
        return snapshot;
    }
    std::vector<GradientRange> gradientRanges(bool errors) override {
        return m_experiment.gradientRanges(errors);
    }
    Message whyNoGradients() const override { return m_experiment.whyNoGradients(); }
    void releaseErrors() override { m_experiment.releaseErrors(); }

private:
    /// Returns what the window calls the lanes; a live edit may change it.
    std::vector<std::string> titles() const {
        std::vector<std::string> titles;
        const std::vector<LaneInfo> lanes = lanesOf(m_experiment.recorded());
        for (const QString& label : laneLabels(laneTitles(m_experiment.config(), parentsOf(lanes))))
            titles.push_back(briefLabel(label).toStdString());
        return titles;
    }

    Experiment m_experiment;
    std::stop_token m_stop;
    std::mutex m_mutex;
    std::stop_source m_predicting; ///< guarded by m_mutex; new at each clearStop()
};

} // namespace

std::unique_ptr<TrainingRun> makeExperimentRun(const RunConfig& config,
                                               const std::stop_token& stop) {
    const Cancellable scope(stop); // covers reading the files that the settings name
    return std::make_unique<ExperimentRun>(config, stop);
}

} // namespace halfscope
