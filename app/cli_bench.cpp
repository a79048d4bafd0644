// Times training steps. Lanes take turns by round, so that a slow minute of the machine affects all
// of them alike; on a CPU the rate of the matrix library alone is measured in the same rounds.
#include "app/cli_bench.h"

#include "app/cli_bench_data.h"
#include "app/cli_options.h"
#include "app/cli_output.h"
#include "app/cli_signals.h"
#include "app/pytorch_steps.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/core/thread_pool.h"
#include "engine/cpu/cpu_kernels.h"
#include "engine/devices/device_list.h"
#include "engine/settings/fields.h"
#include "engine/train/step_cases.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace halfscope::cli {

namespace {

constexpr double kRoundSeconds = 0.05; ///< a round takes about so long, but at least one step
constexpr int kWarmRounds = 2;

/// Measures the rate of the library's gemm alone: each task computes a product of 512 x 256 x 256,
/// and all threads are busy.
class GemmRate {
public:
    explicit GemmRate(int threads) : m_pool(threads, prepareGemmThread) {
        m_scratch.resize(static_cast<size_t>(m_pool.threads()));
        for (Scratch& s : m_scratch) {
            s.a.assign(kRows * kInner, 0.5f);
            s.b.assign(kInner * kColumns, 0.25f);
            s.c.assign(kRows * kColumns, 0.0f);
        }
    }

    /// Returns FLOP per second over one burst of some tens of milliseconds.
    double measure() {
        const int64_t tasks = 32 * m_pool.threads();
        const auto start = std::chrono::steady_clock::now();
        m_pool.run(tasks, [this](int64_t, int thread) {
            Scratch& s = m_scratch[static_cast<size_t>(thread)];
            const GemmShape shape{.m = kRows,
                                  .n = kColumns,
                                  .k = kInner,
                                  .lda = kInner,
                                  .ldb = kColumns,
                                  .ldc = kColumns};
            gemm(shape, s.a.data(), s.b.data(), s.c.data());
        });
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        return static_cast<double>(tasks * 2 * kRows * kColumns * kInner) / took.count();
    }

private:
    static constexpr int64_t kRows = 512, kColumns = 256, kInner = 256;
    struct Scratch {
        std::vector<float> a, b, c;
    };
    ThreadPool m_pool;
    std::vector<Scratch> m_scratch;
};

/// Returns the FLOP of a convolution or one of its gradients: each element of the output meets each
/// tap.
double convolutionFlops(const Graph& graph, const Node& node) {
    const bool forward = node.op == Op::Conv2d, weightGrad = node.op == Op::Conv2dWeightGrad;
    const Shape& y = forward ? node.shape : graph[node.in[weightGrad ? 1 : 0]].shape;
    const Shape& weight = weightGrad ? node.shape : graph[node.in[1]].shape;
    const auto taps = static_cast<double>(weight.elements() / weight[0]);
    return 2.0 * static_cast<double>(y.elements()) * taps;
}

/// Returns the multiplications and additions in the matrix products and convolutions of one step.
double matmulFlops(const Graph& graph) {
    double flops = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        if (node.op == Op::Conv2d || node.op == Op::Conv2dInputGrad ||
            node.op == Op::Conv2dWeightGrad)
            flops += convolutionFlops(graph, node);
        if (node.op != Op::Matmul) continue;
        const Shape& a = graph[node.in[0]].shape;
        const bool transposed = std::get<MatmulAttrs>(node.attrs).transposeA;
        const int64_t inner = a[a.rank() - (transposed ? 2 : 1)];
        flops += 2.0 * static_cast<double>(node.elements()) * static_cast<double>(inner);
    }
    return flops;
}

double fastestOf(const std::vector<double>& seconds) {
    return *std::min_element(seconds.begin(), seconds.end());
}

struct Result {
    std::string row, lane;
    double medianSeconds = 0, fastestSeconds = 0; ///< of one step
    double deviceSeconds = 0;                     ///< of the last step, measured by the device's
                                                  ///< clock
    double flops = 0;
    double gemmRate = 0;       ///< 0 when it was not measured
    size_t workspaceBytes = 0; ///< the part of the memory that is workspace
    MemoryUse memory;
    std::vector<VariantTime> variants{};      ///< the ways that a GPU compared; else empty
    std::vector<PyTorchSteps::Way> pytorch{}; ///< of the same lane, timed in the same rounds
};

/// One lane of a row, with as many steps a round as take kRoundSeconds.
struct Candidate {
    std::string lane;
    std::unique_ptr<StepRunner> runner;
    int64_t steps = 1;
    std::vector<double> seconds{};

    void calibrate() {
        runner->run(1); // the first step of a program may prepare things
        const double one = runner->run(3) / 3;
        steps = static_cast<int64_t>(std::clamp(std::floor(kRoundSeconds / one), 1.0, 1e5));
    }
    void round(bool counts) {
        const double took = runner->run(steps) / static_cast<double>(steps);
        if (counts) seconds.push_back(took);
    }
};

/// What is timed in the same rounds as the lanes.
struct Beside {
    std::optional<GemmRate> gemm;          ///< on a CPU only
    std::unique_ptr<PyTorchSteps> pytorch; ///< null when it was not asked for
};

/// Returns nothing when it was interrupted.
std::vector<Result> measure(const StepCase& row, const std::vector<LaneConfig>& lanes,
                            const BenchOptions& options, Beside& beside,
                            const SignalWatch& signals) {
    RunConfig named;
    named.lanes = lanes;
    const std::vector<std::string> names = laneNames(named);
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < lanes.size(); ++i) {
        candidates.push_back(
            {names[i], makeRunner(row, lanes[i], makeExecutor(options.device, options.threads))});
        candidates.back().calibrate();
    }
    if (beside.pytorch) beside.pytorch->prepare(row, lanes);
    std::vector<double> rates;
    for (int round = -kWarmRounds; round < options.rounds; ++round) {
        if (signals.interrupted()) return {};
        const double rate = beside.gemm ? beside.gemm->measure() : 0;
        if (round >= 0) rates.push_back(rate);
        for (Candidate& candidate : candidates)
            candidate.round(round >= 0);
        if (beside.pytorch && round >= 0) beside.pytorch->round();
    }
    std::vector<Result> results;
    for (Candidate& c : candidates) {
        const Program& program = c.runner->program();
        results.push_back({row.name, c.lane, median(c.seconds), fastestOf(c.seconds),
                           c.runner->executor().lastStepSeconds(), matmulFlops(program.graph),
                           median(rates), c.runner->executor().workspaceBytes(),
                           memoryUse(c.runner->executor(), program),
                           c.runner->executor().variants()});
        if (!beside.pytorch) continue;
        for (const PyTorchSteps::Way& way : beside.pytorch->ways())
            if (way.lane == c.lane && !way.seconds.empty()) results.back().pytorch.push_back(way);
    }
    return results;
}

std::string tableOf(const std::vector<Result>& results) {
    char line[200];
    std::snprintf(line, sizeof line, "%-22s %-9s %10s %10s %10s %11s %10s %13s\n", "row", "lane",
                  "ms/step", "fastest", "device ms", "steps/s", "peak MiB", "workspace MiB");
    std::string text = line;
    for (const Result& r : results) {
        std::snprintf(line, sizeof line, "%-22s %-9s %10.4f %10.4f %10.4f %11.1f %10.2f %13.2f",
                      r.row.c_str(), r.lane.c_str(), 1e3 * r.medianSeconds, 1e3 * r.fastestSeconds,
                      1e3 * r.deviceSeconds, 1 / r.medianSeconds,
                      static_cast<double>(r.memory.peakBytes) / 1048576.0,
                      static_cast<double>(r.workspaceBytes) / 1048576.0);
        text += line;
        if (r.gemmRate > 0) {
            std::snprintf(line, sizeof line, "   %.0f %% of %.0f GFLOP/s",
                          100 * r.flops / r.medianSeconds / r.gemmRate, r.gemmRate / 1e9);
            text += line;
        }
        text += "\n";
        for (const VariantTime& variant : r.variants)
            if (variant.chosen)
                text += "    taken, of " + std::to_string(r.variants.size()) +
                        " ways to run it: " + variant.name + "\n";
    }
    text += "ms/step: median round, beside the fastest; steps run without being read in between. "
            "Peak: with workspace. ";
    if (results.front().gemmRate > 0)
        text += "Last: the step's matrix products\nand convolutions per second, against what the "
                "matrix library "
                "reaches alone in the same minute.";
    return text + "\n";
}

/// Returns PyTorch's fastest way to run a result's lane; null when there is none.
const PyTorchSteps::Way* fastestWay(const Result& r) {
    const auto way =
        std::min_element(r.pytorch.begin(), r.pytorch.end(), [](const auto& a, const auto& b) {
            return median(a.seconds) < median(b.seconds);
        });
    return way == r.pytorch.end() ? nullptr : &*way;
}

/// Warns of rounds that something else on the machine has slowed down; empty when there were none.
std::string disturbedText(const Result& r, const PyTorchSteps::Way& way) {
    constexpr double kDisturbed = 2; // times the fastest round
    const double times = median(way.seconds) / fastestOf(way.seconds);
    if (!(times > kDisturbed)) return {};
    return r.row + ", " + r.lane + ": PyTorch's median round took " + shortNumber(times, 2) +
           " times as long as its fastest: the comparison is not reliable, time it again\n";
}

/// Returns "1.79", or "-" when one of the two numbers is missing.
std::string ratioText(double over, double under) {
    if (over <= 0 || under <= 0) return "-";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", over / under);
    return text.data();
}

/// Compares our times with PyTorch's fastest way, and 16-bit lanes with FP32.
std::string pytorchTable(const std::vector<Result>& results, const std::string& version) {
    char line[200];
    std::snprintf(line, sizeof line, "\n%-22s %-9s %10s %10s %10s %-14s %10s %12s\n", "row", "lane",
                  "ms/step", "PyTorch", "fastest", "its best way", "PyTorch x", "of our fp32");
    std::string text = line, warnings;
    for (const Result& r : results) {
        const PyTorchSteps::Way* theirs = fastestWay(r);
        const double seconds = theirs ? median(theirs->seconds) : 0;
        const auto ours = std::find_if(results.begin(), results.end(), [&](const Result& other) {
            return other.row == r.row && other.lane == "fp32";
        });
        std::snprintf(
            line, sizeof line, "%-22s %-9s %10.4f %10s %10s %-14s %10s %12s\n", r.row.c_str(),
            r.lane.c_str(), 1e3 * r.medianSeconds,
            theirs ? shortNumber(1e3 * seconds).c_str() : "-",
            theirs ? shortNumber(1e3 * fastestOf(theirs->seconds)).c_str() : "-",
            theirs ? theirs->way.c_str() : "-", ratioText(seconds, r.medianSeconds).c_str(),
            ratioText(ours == results.end() ? 0 : ours->medianSeconds, r.medianSeconds).c_str());
        text += line;
        if (theirs) warnings += disturbedText(r, *theirs);
    }
    return text + warnings + "PyTorch " + version +
           ": the same network, loss, optimizer (fused), autocast and GradScaler in the same\n"
           "rounds; eager, channels_last and compiled, of which the best median counts, beside "
           "its fastest round.\nPyTorch x: its time over ours.\n";
}

nlohmann::ordered_json toJson(const Result& r) {
    nlohmann::ordered_json causes;
    for (int i = 0; i < kMemoryCauses; ++i) {
        causes[std::string(nameOf(static_cast<MemoryCause>(i)))] =
            r.memory.peakByCause[static_cast<size_t>(i)];
    }
    nlohmann::ordered_json json{{"row", r.row},
                                {"lane", r.lane},
                                {"ms_per_step", 1e3 * r.medianSeconds},
                                {"fastest_ms", 1e3 * r.fastestSeconds},
                                {"device_ms", 1e3 * r.deviceSeconds},
                                {"steps_per_second", 1 / r.medianSeconds},
                                {"peak_bytes", r.memory.peakBytes},
                                {"workspace_bytes", r.workspaceBytes},
                                {"peak_bytes_by_cause", causes},
                                {"matmul_flops_per_step", r.flops}};
    if (r.gemmRate > 0) json["gemm_alone_flops_per_second"] = r.gemmRate;
    for (const PyTorchSteps::Way& way : r.pytorch) {
        json["pytorch_ms_per_step"][way.way] = 1e3 * median(way.seconds);
        json["pytorch_fastest_ms"][way.way] = 1e3 * fastestOf(way.seconds);
    }
    for (const VariantTime& variant : r.variants)
        json["variants"].push_back({{"name", variant.name},
                                    {"step_ms", 1e3 * variant.seconds},
                                    {"chosen", variant.chosen},
                                    {"note", variant.note}});
    return json;
}

/// Whether a row is measured by default: rows that take a CPU minutes are measured there only when
/// asked for by name.
bool suits(const StepCase& row, bool cpu) { return !cpu || row.config.task.side <= 128; }

std::vector<StepCase> chosenRows(const BenchOptions& options, bool cpu) {
    std::vector<StepCase> chosen;
    std::string known;
    for (StepCase& row : benchCases()) {
        known += known.empty() ? row.name : ", " + row.name;
        const bool wanted = options.only.empty() ? suits(row, cpu)
                                                 : row.name.find(options.only) != std::string::npos;
        if (wanted) chosen.push_back(std::move(row));
    }
    if (chosen.empty())
        throw InputError(Message::data("--only: no row is named like " + quotedText(options.only) +
                                       "; rows: " + known));
    return chosen;
}

} // namespace

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t n = values.size();
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void BenchOptions::addTo(CLI::App& command) {
    deviceOption(command, device);
    CLI::Option& named = textOption(command, "--only", only, "Rows whose name holds this text",
                                    "NAME", "a part of a row's name");
    textOption(command, "--lanes", lanes,
               "Precisions (default: fp32,amp-fp16,amp-bf16; on a GPU tf32 too)", "LIST",
               "precisions, such as fp32,amp-fp16");
    countOption(command, "--rounds", rounds, "Number of rounds, of which the median is taken", 1,
                10000);
    const Field& all = *findField("run.threads");
    countOption(command, "--threads", threads, "CPU threads; 0 for all",
                static_cast<int>(all.minimum), static_cast<int>(all.maximum));
    CLI::Option& ofData = textOption(
        command, "--data", data,
        "Time the preset mnist-mlp instead: the loader alone, the step alone and both, on "
        "MNIST in this folder, or on the sample",
        "DIR", "the path of a folder, or sample");
    named.excludes(&ofData);
    const Field& workersField = *findField("data.workers");
    countOption(command, "--workers", workers, "Threads that read batches ahead",
                static_cast<int>(workersField.minimum), static_cast<int>(workersField.maximum))
        .needs(&ofData);
    textOption(command, "--pytorch", pytorch,
               "A Python that has PyTorch: time PyTorch's steps of the same networks in the same "
               "rounds",
               "PYTHON", "the name or path of a Python")
        .excludes(&ofData);
    command.add_flag("--json", json, "Print JSON");
}

std::vector<LaneConfig> BenchOptions::lanesOr(const char* usual) const {
    try {
        return parseLanes(lanes.empty() ? usual : lanes);
    } catch (const InputError& error) {
        throw InputError(within("--lanes", error.message()));
    }
}

int benchCommand(const BenchOptions& options) {
    SignalWatch signals;    // before the engine starts threads
    signals.setStop([] {}); // rounds are short: they check interrupted()
    if (!options.data.empty()) return benchData(options, signals);
    const DeviceInfo device = makeExecutor(options.device, options.threads)->device();
    const bool cpu = device.kind == "cpu";
    const std::vector<LaneConfig> lanes =
        options.lanesOr(cpu ? "fp32,amp-fp16,amp-bf16" : "fp32,tf32,amp-fp16,amp-bf16");
    const std::vector<StepCase> rows = chosenRows(options, cpu);
    Beside beside;
    if (cpu) beside.gemm.emplace(options.threads);
    if (!options.pytorch.empty())
        beside.pytorch =
            std::make_unique<PyTorchSteps>(options.pytorch, !cpu, options.threads, signals);
    std::vector<Result> results;
    for (const StepCase& row : rows) {
        printNote(row.name + ": " + std::to_string(options.rounds) +
                  (options.rounds == 1 ? " round of " : " rounds of ") +
                  std::to_string(lanes.size()) + (lanes.size() == 1 ? " lane\n" : " lanes\n"));
        for (Result& result : measure(row, lanes, options, beside, signals))
            results.push_back(std::move(result));
        if (signals.interrupted()) break;
    }
    const int code = signals.interrupted() ? kInterruptedExit : 0;
    if (code != 0)
        printNote(results.empty() ? "Interrupted: no row was finished\n"
                                  : "Interrupted: only the rows that were finished follow\n");
    if (results.empty()) return code;
    if (!options.json) {
        print(device.name + ", " + device.libraries + "\n" + tableOf(results));
        if (beside.pytorch) print(pytorchTable(results, beside.pytorch->version()));
        return code;
    }
    nlohmann::ordered_json out{{"device", device.name},
                               {"kind", device.kind},
                               {"libraries", device.libraries},
                               {"rows", nlohmann::ordered_json::array()}};
    if (beside.pytorch) out["pytorch"] = beside.pytorch->version();
    for (const Result& result : results)
        out["rows"].push_back(toJson(result));
    print(out.dump(2) + "\n");
    return code;
}

} // namespace halfscope::cli
