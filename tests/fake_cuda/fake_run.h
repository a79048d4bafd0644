// A training run for tests of the session and the window: no network, steps that count, block or
// fail as asked. Knows nothing of the engine's executors.
#pragma once

#include "engine/core/error.h"
#include "ui/session/training_run.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace halfscope {

/// What the next runs do; shared between a test and the runs that its factory makes.
struct FakeScript {
    std::atomic<int> alive{0};
    std::atomic<int> built{0};
    std::atomic<int64_t> failAt{0};    ///< EngineError in this step; 0: never
    std::atomic<int64_t> damagedAt{0}; ///< a sample of this step cannot be read; 0: of none
    std::atomic<bool> endless{false};  ///< a step lasts until it is asked to stop
    std::atomic<bool> insideStep{false};
    std::atomic<bool> slowBuild{false}; ///< building lasts until it is asked to stop
    std::atomic<bool> building{false};
    std::atomic<int64_t> steps{0};       ///< of all runs
    std::atomic<bool> onGpu{false};      ///< they say that they run on one
    std::atomic<int> looks{0};           ///< how often gradients were counted
    std::atomic<int> looksForErrors{0};  ///< with the errors of layers
    std::atomic<int> releases{0};        ///< how often what they need was freed
    std::atomic<int> refusals{0};        ///< that often they are stopped midway
    std::atomic<bool> cannotShow{false}; ///< the device has no room to count them
    std::atomic<int64_t> exhaustAt{0};   ///< this step uses up the memory; 0: none does
    std::function<void()> exhaust, give; ///< uses it up, and gives it back with the run
    std::atomic<size_t> stateBytes{0};   ///< of a checkpoint; 0: there is none
    std::function<void()> copyState;     ///< called while one is made
};

class FakeRun final : public TrainingRun {
public:
    FakeRun(const RunConfig& config, FakeScript& script) : m_config(config), m_script(script) {
        checkConfig(config);
        ++m_script.alive;
        ++m_script.built;
    }
    ~FakeRun() override {
        --m_script.alive;
        if (m_script.give) m_script.give();
    }
    FakeRun(const FakeRun&) = delete;
    FakeRun& operator=(const FakeRun&) = delete;

    const RunConfig& config() const override { return m_config; }
    std::vector<std::string> laneNames() const override { return halfscope::laneNames(m_config); }
    DeviceInfo device() const override {
        return {"Test device", m_script.onGpu ? "cuda" : "cpu", "none", 0};
    }
    Message cudaReason() const override { return Message::data("a test needs none"); }
    std::vector<MemoryUse> memory() override {
        MemoryUse use;
        use.peakBytes = size_t{3} << 19; // 1.5 MiB
        return std::vector<MemoryUse>(m_config.lanes.size(), use);
    }
    int64_t step() const override { return m_step; }
    bool finished() const override { return m_step >= m_config.steps; }
    bool advance(std::vector<StepRecord>& records, std::vector<Event>&) override {
        if (m_stop) return false;
        if (m_script.failAt == m_step + 1) throw EngineError(Message::data("the device is gone"));
        readSamples();
        if (m_script.exhaustAt == m_step + 1) m_script.exhaust();
        while (m_script.endless) {
            m_script.insideStep = true;
            if (m_stop) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        ++m_step;
        ++m_script.steps;
        for (int lane = 0; lane < static_cast<int>(m_config.lanes.size()); ++lane) {
            StepRecord record;
            record.step = m_step;
            record.lane = lane;
            record.loss = 1.0f / static_cast<float>(m_step);
            record.scale = kScale;
            record.deviceSeconds = 1e-3 / (lane + 1);
            record.wallSeconds = 1e-3 * static_cast<double>(m_step) + m_waited;
            records.push_back(record);
        }
        return true;
    }
    void waited(double seconds) override { m_waited += seconds; }
    void requestStop() override { m_stop = true; }
    void clearStop() override { m_stop = false; }
    void setLive(int lane, const std::string& key, const FieldValue& value,
                 std::vector<Event>& events) override {
        const bool scale = key == kLiveScale;
        if (!scale && findField(key)->effect != FieldEffect::Live)
            throw InputError(Message::data(key + " needs a restart"));
        if (!scale) setField(m_config, lane, key, value);
        Event event;
        event.step = m_step + 1;
        event.lane = lane;
        event.tensor = key;
        event.text = Message::data(key + " is " + valueText(value));
        events.push_back(event);
    }
    void fork(int, const LaneConfig&, std::vector<Event>&) override {
        throw InputError(Message::data("this run forks no lanes"));
    }
    void resume(const ExperimentState& from) override { m_step = from.step; }
    size_t stateBytes() const override { return m_script.stateBytes; }
    ExperimentState state() override {
        if (m_script.copyState) m_script.copyState();
        ExperimentState state;
        state.step = m_step;
        return state;
    }
    Picture target() const override { return {2, 2, 1, {0, 1, 1, 0}}; }
    Snapshot snapshot() override {
        return {m_step, std::vector<Picture>(m_config.lanes.size(), target())};
    }
    void releaseErrors() override { ++m_script.releases; }
    std::vector<GradientRange> gradientRanges(bool errors) override {
        ++m_script.looks;
        if (errors) ++m_script.looksForErrors;
        readSamples();
        if (m_script.cannotShow) return {};
        if (m_script.refusals > 0 && m_script.refusals-- > 0) return {};
        GradientRange range;
        range.step = m_step + 1;
        range.scale = kScale;
        return std::vector<GradientRange>(m_config.lanes.size(), range);
    }
    Message whyNoGradients() const override {
        return m_script.cannotShow ? Message::data("there is no room") : Message();
    }

private:
    /// Those of the next step.
    void readSamples() const {
        if (m_script.damagedAt == m_step + 1) throw InputError(Message::data("a damaged sample"));
    }

    static constexpr float kScale = 65536; // of all steps
    RunConfig m_config;
    FakeScript& m_script;
    std::atomic<bool> m_stop{false};
    int64_t m_step = 0;
    double m_waited = 0;
};

/// The script must outlive the controller.
inline RunFactory fakeFactory(FakeScript& script) {
    return [&script](const RunConfig& config, const std::stop_token& stop) {
        while (script.slowBuild) {
            script.building = true;
            if (stop.stop_requested()) throw RunError(Message::data("the build was stopped"));
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return std::make_unique<FakeRun>(config, script);
    };
}

/// A real experiment that takes a fraction of a millisecond a step.
inline RunConfig tinyConfig(int64_t steps) {
    RunConfig config = defaultConfig();
    config.task.side = 8;
    config.model.width = 8;
    config.model.depth = 1;
    config.steps = steps;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

} // namespace halfscope
