// halfscope-bench: milliseconds and memory of a training step, lane by lane, beside the rate that
// the matrix library reaches alone on the same threads in the same minute. Measures; checks
// nothing.
#include "engine/core/error.h"
#include "engine/core/thread_pool.h"
#include "engine/cpu/cpu_kernels.h"
#include "engine/train/experiment.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace halfscope;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t n = values.size();
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

struct Options {
    std::string only;
    int rounds = 15, threads = 0;
    bool json = false;
};

/// One configuration that all lanes run. A round is `stepsInRound` steps of each lane in turn, so
/// that a slow minute of the machine hits every lane alike.
struct Row {
    std::string name;
    RunConfig config;
    int stepsInRound = 1;
};

Row checkerboard(int64_t side, int64_t width) {
    Row row;
    row.name = "checkerboard-" + std::to_string(side) + "-w" + std::to_string(width);
    row.config.task.side = side;
    row.config.model.width = width;
    row.config.model.depth = 2; // the network of the recorded comparisons: 2, w, w, w, 1
    return row;
}

std::vector<Row> rows() {
    Row regression{"regression-mlp", presetNamed("regression").config, 2000};
    return {checkerboard(64, 256), checkerboard(96, 128), checkerboard(128, 256), regression};
}

/// The rate of the library's gemm alone: one 512 x 256 x 256 product a task, all threads busy.
class GemmRate {
public:
    explicit GemmRate(int threads) : m_pool(threads) {
        m_scratch.resize(static_cast<size_t>(m_pool.threads()));
        for (Scratch& s : m_scratch) {
            s.a.assign(kRows * kInner, 0.5f);
            s.b.assign(kInner * kColumns, 0.25f);
            s.c.assign(kRows * kColumns, 0.0f);
        }
    }

    int threads() const { return m_pool.threads(); }

    /// FLOP per second over one burst of some tens of milliseconds.
    double measure() {
        const int64_t tasks = 32 * m_pool.threads();
        const auto start = Clock::now();
        m_pool.run(tasks, [this](int64_t, int thread) {
            useOneThreadPerGemm();
            Scratch& s = m_scratch[static_cast<size_t>(thread)];
            const GemmShape shape{.m = kRows,
                                  .n = kColumns,
                                  .k = kInner,
                                  .lda = kInner,
                                  .ldb = kColumns,
                                  .ldc = kColumns};
            gemm(shape, s.a.data(), s.b.data(), s.c.data());
        });
        return static_cast<double>(tasks * 2 * kRows * kColumns * kInner) / secondsSince(start);
    }

private:
    static constexpr int64_t kRows = 512, kColumns = 256, kInner = 256;
    struct Scratch {
        std::vector<float> a, b, c;
    };
    ThreadPool m_pool;
    std::vector<Scratch> m_scratch;
};

/// Multiplications and additions in the matrix products of one step.
double matmulFlops(const Graph& graph) {
    double flops = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        if (node.op != Op::Matmul) continue;
        const Shape& a = graph[node.in[0]].shape;
        const bool transposed = std::get<MatmulAttrs>(node.attrs).transposeA;
        const int64_t inner = a[a.rank() - (transposed ? 2 : 1)];
        flops += 2.0 * static_cast<double>(node.elements()) * static_cast<double>(inner);
    }
    return flops;
}

struct Result {
    std::string row, lane;
    double medianSeconds = 0, fastestSeconds = 0; ///< of one step
    double flops = 0, gemmRate = 0;
    MemoryPlan memory;

    double share() const { return flops / medianSeconds / gemmRate; }
};

void advance(Experiment& experiment, int steps) {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    for (int i = 0; i < steps; ++i)
        experiment.advance(records, events);
}

std::vector<Result> measure(const Row& row, const Options& options, GemmRate& gemmRate) {
    std::vector<std::unique_ptr<Experiment>> experiments;
    for (const LaneConfig& lane : parseLanes("fp32,amp-fp16,amp-bf16")) {
        RunConfig config = row.config;
        config.lanes = {lane};
        config.device = "cpu";
        config.threads = options.threads;
        config.steps = int64_t{row.stepsInRound} * (options.rounds + 3);
        experiments.push_back(std::make_unique<Experiment>(config));
    }
    constexpr int kWarmRounds = 2;
    std::vector<std::vector<double>> seconds(experiments.size());
    std::vector<double> rates;
    for (int round = -kWarmRounds; round < options.rounds; ++round) {
        const double rate = gemmRate.measure();
        if (round >= 0) rates.push_back(rate);
        for (size_t i = 0; i < experiments.size(); ++i) {
            const auto start = Clock::now();
            advance(*experiments[i], row.stepsInRound);
            if (round >= 0) seconds[i].push_back(secondsSince(start) / row.stepsInRound);
        }
    }
    std::vector<Result> results;
    for (size_t i = 0; i < experiments.size(); ++i) {
        const Program& program = experiments[i]->lane(0).program();
        results.push_back({row.name, experiments[i]->laneName(0), median(seconds[i]),
                           *std::min_element(seconds[i].begin(), seconds[i].end()),
                           matmulFlops(program.graph), median(rates), program.memory});
    }
    return results;
}

void printTable(const std::vector<Result>& results) {
    std::printf("%-22s %-9s %10s %10s %10s %10s %12s %8s\n", "row", "lane", "ms/step", "fastest",
                "steps/s", "peak MiB", "GEMM GFLOP/s", "share");
    for (const Result& r : results) {
        std::printf("%-22s %-9s %10.3f %10.3f %10.1f %10.2f %12.1f %7.1f%%\n", r.row.c_str(),
                    r.lane.c_str(), 1e3 * r.medianSeconds, 1e3 * r.fastestSeconds,
                    1 / r.medianSeconds, static_cast<double>(r.memory.peakBytes) / 1048576.0,
                    r.gemmRate / 1e9, 100 * r.share());
    }
    std::printf("ms/step: median and fastest round. GEMM GFLOP/s: the matrix library alone, same "
                "threads, same minute.\nshare: the step's matrix products per second against that "
                "rate; the rest of the step is what keeps it below 100%%.\n");
}

nlohmann::ordered_json toJson(const Result& r) {
    nlohmann::ordered_json causes;
    for (int i = 0; i < kMemoryCauses; ++i) {
        causes[std::string(nameOf(static_cast<MemoryCause>(i)))] =
            r.memory.peakByCause[static_cast<size_t>(i)];
    }
    return {{"row", r.row},
            {"lane", r.lane},
            {"ms_per_step", 1e3 * r.medianSeconds},
            {"fastest_ms", 1e3 * r.fastestSeconds},
            {"steps_per_second", 1 / r.medianSeconds},
            {"peak_bytes", r.memory.peakBytes},
            {"peak_bytes_by_cause", causes},
            {"matmul_flops_per_step", r.flops},
            {"gemm_alone_flops_per_second", r.gemmRate},
            {"share_of_gemm", r.share()}};
}

int run(const Options& options) {
    GemmRate gemmRate(options.threads);
    std::vector<Result> results;
    for (const Row& row : rows()) {
        if (row.name.find(options.only) == std::string::npos) continue;
        std::fprintf(stderr, "%s: %d rounds of %d steps, 3 lanes\n", row.name.c_str(),
                     options.rounds, row.stepsInRound);
        for (Result& result : measure(row, options, gemmRate))
            results.push_back(std::move(result));
    }
    if (results.empty()) {
        std::string known;
        for (const Row& row : rows())
            known += " " + row.name;
        throw InputError("--only: no row is named like '" + options.only + "'; rows:" + known);
    }
    if (options.json) {
        nlohmann::ordered_json out{{"library", gemmLibrary()},
                                   {"threads", gemmRate.threads()},
                                   {"rows", nlohmann::ordered_json::array()}};
        for (const Result& result : results)
            out["rows"].push_back(toJson(result));
        std::cout << out.dump(2) << '\n';
    } else {
        std::printf("%s, %d threads\n", gemmLibrary().c_str(), gemmRate.threads());
        printTable(results);
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app{"Times the training engine of Halfscope."};
    app.add_option("--only", options.only, "Rows whose name holds this text");
    app.add_option("--rounds", options.rounds, "Rounds to take the median of")
        ->check(CLI::Range(1, 10000));
    app.add_option("--threads", options.threads, "CPU threads; 0: all")->check(CLI::Range(0, 4096));
    app.add_flag("--json", options.json, "Print JSON");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        return run(options);
    } catch (const InputError& error) {
        std::fprintf(stderr, "halfscope-bench: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "halfscope-bench: %s\n", error.what());
        return 1;
    }
}
