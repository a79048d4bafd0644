// Runs a Program on a CUDA device: one graph launch a step, or launch by launch.
#pragma once

#include "engine/cuda/cache.h"
#include "engine/cuda/codegen/step_writer.h"
#include "engine/cuda/metrics_ring.h"
#include "engine/cuda/staged_inputs.h"
#include "engine/cuda/step_version.h"
#include "engine/cuda/transfer.h"
#include "engine/exec/executor.h"

namespace halfscope::cuda {

/// run() returns when the step is enqueued; what is read afterwards waits for it. As much is
/// enqueued as takes well below 100 ms, 8 steps at most; a step that takes longer by itself is
/// launched piece by piece, so that it can be given up in between. A step that is captured, or
/// stepwise without a visitor, gives the same bits. A visitor sees values that merged
/// and fused kernels would not store, so it is shown the same step kernel by kernel and unfused, on
/// memory of its own; the states and outputs of that run count. Where memory does not suffice for
/// that, it returns Stopped: showing values is not worth a run. load() searches for the fastest way
/// to run a step that changes states; a stop that is asked for meanwhile ends the search with the
/// best way so far.
class CudaExecutor final : public Executor {
public:
    CudaExecutor(std::shared_ptr<Device>, StepWriter, const SourceOptions&, FileCache);
    ~CudaExecutor() override;

    const DeviceInfo& device() const override { return m_device->info(); }
    void load(std::shared_ptr<const Program>) override;
    RunResult run(RunMode, const Visitor&) override;
    void upload(NodeId, std::span<const std::byte>) override;
    void download(NodeId, std::span<std::byte>) override;
    bool worksAhead() const override { return true; }
    void stage(NodeId, std::span<const std::byte>) override;
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
    /// The usual way or, where the options let it search, the fastest.
    Version makeMain(const SourceOptions&);
    Version makeVisited(const SourceOptions&) const;
    /// Again, with generated kernels for the nodes that the libraries refuse.
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

    const std::shared_ptr<Device> m_device; ///< first: goes last
    const StepWriter m_writer;
    const SourceOptions m_options;
    const FileCache m_cache;
    Transfer m_transfer;
    std::optional<StagedInputs> m_staged;     ///< of the program at hand
    static constexpr uint32_t kMostAhead = 8; ///< steps enqueued and not over
    struct Times {
        EventHandle start, end;
    };
    std::array<Times, kMostAhead> m_times; ///< of the last steps, in turn
    std::shared_ptr<const Program> m_program;
    Version m_main;
    std::vector<VariantTime> m_variants;
    Version m_visited;              ///< made when the first visitor comes
    bool m_noRoomToVisit = false;   ///< that was tried
    std::vector<std::byte> m_shown; ///< the value that a visitor looks at
    NodeId m_metrics = kNoNode;
    std::optional<MetricsRing> m_ring;
    bool m_long = false;              ///< a step takes too long to be enqueued whole
    uint32_t m_stepsAhead = 1;        ///< that may be enqueued and not over
    uint32_t m_steps = 0;             ///< since load()
    uint32_t m_over = 0;              ///< of these, as far as is known
    std::vector<EventHandle> m_marks; ///< between the launches of a stepwise run
    bool m_marked = false;            ///< the last step was one of those
    std::atomic<uint64_t> m_stops{0}; ///< requests so far
    uint64_t m_stopsTaken = 0;        ///< of which run() knows
};

} // namespace halfscope::cuda
