// Runs a Program on a CUDA device: one graph launch per step, or launch by launch.
#pragma once

#include "engine/cuda/cache.h"
#include "engine/cuda/codegen/step_writer.h"
#include "engine/cuda/metrics_ring.h"
#include "engine/cuda/staged_inputs.h"
#include "engine/cuda/step_version.h"
#include "engine/cuda/transfer.h"
#include "engine/exec/executor.h"

namespace halfscope::cuda {

/// run() returns when the step is enqueued; what is read afterwards waits for it. At most 8 steps
/// are enqueued ahead, and no more than take well below 100 ms; a single step that takes longer is
/// launched piece by piece, so that it can be given up in between. A captured step and a stepwise
/// one without a visitor give the same bits. A visitor sees values that merged and fused kernels
/// would not store, so it is shown the same step kernel by kernel and unfused, on memory of its
/// own; the states and outputs of that run count. When that step cannot be made, for lack of memory
/// for example, run() returns CannotShow: showing values is not worth a run. load() searches for
/// the fastest way to run a step that changes states; a stop that is requested meanwhile ends the
/// search with the best way so far.
class CudaExecutor final : public Executor {
public:
    CudaExecutor(std::shared_ptr<Device>, StepWriter, const SourceOptions&, FileCache);
    ~CudaExecutor() override;

    const DeviceInfo& device() const override { return m_device->info(); }
    void load(std::shared_ptr<const Program>) override;
    RunResult run(RunMode, const Visitor&) override;
    Message whyNotShown() override;
    void upload(NodeId, std::span<const std::byte>) override;
    void download(NodeId, std::span<std::byte>) override;
    bool worksAhead() const override { return true; }
    bool stage(NodeId, std::span<const std::byte>) override;
    void takeStaged() override;
    void requestStop() override { ++m_stops; }
    const MemoryPlan* memory() const override;
    size_t workspaceBytes() const override;
    double lastStepSeconds() const override;
    std::vector<LaunchTime> launchTimes() const override;
    std::vector<VariantTime> variants() const override { return m_variants; }
    std::vector<LaunchTime> profile() override;
    std::string sourceText() const override;

private:
    void refuseWhatTheDeviceLacks(const Graph&) const;
    SourceOptions optionsForLibraries() const;
    enum class Publish : uint8_t { Metrics, Nothing };
    WrittenStep write(const SourceOptions&, Publish) const;
    using Version = std::unique_ptr<StepVersion>;
    /// Makes the usual way or, if the options let it search, the fastest.
    Version makeMain(const SourceOptions&);
    Version makeVisited(const SourceOptions&) const;
    /// Makes it again with generated kernels for the nodes that the libraries refuse.
    template <class Make>
    Version withLibraries(const Make&) const;
    void clear();
    void findMetrics();
    double timeOneStep();
    void warmUp();
    bool takeStop() {
        const uint64_t now = m_stops;
        return std::exchange(m_stopsTaken, now) != now;
    }
    RunResult runLaunches();
    void prepareVisited();
    RunResult runVisited(const Visitor&);
    void visit(const Launch&, const Visitor&);
    void copyStates(const StepVersion& from, const StepVersion& to) const;
    void copy(NodeId, const StepVersion& from, const StepVersion& to) const;
    void checkTransfer(NodeId, size_t bytes) const;
    void waitForRoom();
    struct Times;
    const Times& timesOf(uint32_t step) const { return m_times[step % kMostAhead]; }
    void markStart() const;
    void markStop();

    const std::shared_ptr<Device> m_device; ///< first, so that it is destroyed last
    const StepWriter m_writer;
    const SourceOptions m_options;
    const FileCache m_cache;
    Transfer m_transfer;
    std::optional<StagedInputs> m_staged;     ///< of the loaded program
    static constexpr uint32_t kMostAhead = 8; ///< steps enqueued and not finished
    struct Times {
        EventHandle start, end;
    };
    std::array<Times, kMostAhead> m_times; ///< of the last steps, in turn
    std::shared_ptr<const Program> m_program;
    Version m_main;
    std::vector<VariantTime> m_variants;
    Version m_visited;              ///< made when the first visitor comes
    Message m_notShown;             ///< why that failed
    std::vector<std::byte> m_shown; ///< the value that a visitor is looking at
    NodeId m_metrics = kNoNode;
    std::optional<MetricsRing> m_ring;
    bool m_long = false;              ///< whether a step takes too long to be enqueued as a whole
    uint32_t m_stepsAhead = 1;        ///< steps that may be enqueued and not finished
    uint32_t m_steps = 0;             ///< steps since load()
    uint32_t m_over = 0;              ///< of these, how many are known to be finished
    std::vector<EventHandle> m_marks; ///< between the launches of a stepwise run
    bool m_marked = false;            ///< whether the last step was stepwise
    std::atomic<uint64_t> m_stops{0}; ///< how often a stop was requested
    uint64_t m_stopsTaken = 0;        ///< how many of these requests run() knows
};

} // namespace halfscope::cuda
