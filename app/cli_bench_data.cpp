// The three measurements take turns by round and are compared within a round, so that a slow minute
// of the machine affects all of them alike.
#include "app/cli_bench_data.h"

#include "app/cli_output.h"

#include "engine/core/error.h"
#include "engine/devices/device_list.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>

namespace halfscope::cli {

namespace {

constexpr int64_t kSteps = 100; ///< in a round
constexpr const char* kSample = "sample";

RunConfig benchedConfig(const BenchOptions& options) {
    RunConfig config = presetNamed("mnist-mlp").config;
    if (options.data != kSample) config.task.path = options.data;
    config.data.workers = options.workers;
    config.data.lastBatch = LastBatch::Drop; // so that all batches have one size
    return config;
}

/// One lane's step, with its batches or with the first batch again and again.
class DataBench {
public:
    DataBench(const RunConfig& config, const LaneConfig& lane, const BenchOptions& options)
        : m_task(makeTask(config)), m_runner(config, lane, buildStep(config, lane, m_task->shape()),
                                             makeExecutor(options.device, options.threads)) {
        giveBatch(m_task->load(1));
    }

    void load() { m_task->load(++m_step, m_runner.executor().pool()); }
    void step() {
        m_runner.run(1);
        m_runner.metrics();
    }
    void both() {
        giveBatch(m_task->load(++m_step, m_runner.executor().pool()));
        step();
    }

private:
    void giveBatch(const std::shared_ptr<const Batch>& batch) {
        const Graph& graph = m_runner.graph();
        lendTensor(m_runner.executor(), graph, graph.input("x"), batch, kX);
        uploadTensor(m_runner.executor(), graph, graph.input("target"), batch->tensors[kTarget]);
    }

    std::unique_ptr<Task> m_task;
    StepRunner m_runner;
    int64_t m_step = 0;
};

double secondsOf(const std::function<void()>& each) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < kSteps; ++i)
        each();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
           double{kSteps};
}

} // namespace

int benchData(const BenchOptions& options, const SignalWatch& signals) {
    const RunConfig config = benchedConfig(options);
    const std::vector<LaneConfig> lanes = options.lanesOr("fp32,amp-fp16");
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    std::string text;
    for (const LaneConfig& lane : lanes) {
        DataBench bench(config, lane, options);
        const std::array<std::pair<const char*, std::function<void()>>, 3> parts{
            {{"loader alone", [&] { bench.load(); }},
             {"step alone", [&] { bench.step(); }},
             {"both", [&] { bench.both(); }}}};
        constexpr size_t kStepAlone = 1;
        std::array<std::vector<double>, parts.size()> seconds;
        for (int round = -1; round < options.rounds; ++round) // the first one warms up
            for (size_t i = 0; i < parts.size(); ++i) {
                if (signals.interrupted()) return kInterruptedExit;
                const double took = secondsOf(parts[i].second);
                if (round >= 0) seconds[i].push_back(took);
            }
        for (size_t i = 0; i < parts.size(); ++i) {
            const double took = median(seconds[i]);
            std::vector<double> speeds(seconds[kStepAlone]);
            for (size_t round = 0; round < speeds.size(); ++round)
                speeds[round] /= seconds[i][round];
            const double speed = median(speeds);
            char line[120];
            std::snprintf(line, sizeof line,
                          "%-14s %-10s %10.4f ms/step %8.1f %% of the speed of the step alone\n",
                          parts[i].first, nameOf(lane.precision), 1e3 * took, 100 * speed);
            text += line;
            rows.push_back({{"row", parts[i].first},
                            {"lane", nameOf(lane.precision)},
                            {"ms_per_step", 1e3 * took},
                            {"speed_of_step", speed}});
        }
    }
    print(options.json ? rows.dump(2) + "\n" : text);
    return 0;
}

} // namespace halfscope::cli
