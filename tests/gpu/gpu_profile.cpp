// Where the time of one training step goes on a GPU: the ways to run it that the device compared,
// and each of its launches against what memory and arithmetic allow. One row a process, so that a
// fault or a hang costs that row alone.
//   gpu-profile FOLDER ceilings | gpu-profile FOLDER ROW LANE | gpu-profile FOLDER ROW LANE step
// Adds to FOLDER/profile.txt (to read) and profile.tsv; leaves the step's text in
// FOLDER/ROW-LANE.cu. With `step` it runs two steps and measures nothing, for a profiler.
// Ended by SIGTERM or SIGINT it says what it was doing, stops the search for the fastest way, and
// tells what it has so far within three seconds.
// Exit codes: 0 done, 1 the first step is not the CPU's, 2 wrong usage, 3 the device failed, 124
// ended by a signal.
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/devices/device_list.h"
#include "engine/exec/variant_table.h"
#include "engine/ops/builder.h"
#include "engine/settings/fields.h"
#include "engine/train/step_cases.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <pthread.h>
#include <unistd.h>

using namespace halfscope;

namespace {

/// What the device reaches: bytes and operations a second.
struct Ceilings {
    double bytes = 4.3e12; ///< measured elsewhere on an H200, where nothing was measured here
    std::map<std::string, double> flops{{"fp32", 50e12}, {"tf32", 350e12}, {"fp16", 700e12}};
};

constexpr int kEnded = 124; ///< the exit code of `timeout`, too

std::string folder;
std::atomic<const char*> stage{"starting"};
std::atomic<bool> ended{false};
std::atomic<Executor*> searching{nullptr}; ///< while it loads

/// To the terminal and to profile.txt, at once.
[[gnu::format(printf, 1, 2)]] void tell(const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::fputs(text, stdout);
    std::fflush(stdout);
    std::ofstream(folder + "/profile.txt", std::ios::app) << text;
}
void tellTable(const std::string& line) {
    std::ofstream(folder + "/profile.tsv", std::ios::app) << line << "\n";
}
std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

/// Waits for a signal that ends the program. Before any other thread, which inherits the mask.
void watchForTheEnd() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT})
        sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([signals] {
        int signal = 0;
        sigwait(&signals, &signal);
        ended = true;
        tell("    ended while %s\n", stage.load());
        if (Executor* executor = searching) executor->requestStop();
        std::this_thread::sleep_for(std::chrono::seconds(3));
        tell("    still %s\n", stage.load());
        _exit(kEnded); // the device may never answer
    }).detach();
}

// ---- ceilings ----------------------------------------------------------------------------------

double secondsOf(const Graph& graph) {
    const auto executor = makeExecutor("cuda");
    const auto program = std::make_shared<const Program>(compile(graph));
    executor->load(program);
    for (const InputInfo& input : program->graph.inputs()) { // zeros would run faster
        std::vector<float> values(static_cast<size_t>(program->graph[input.node].elements()));
        Philox(1, 1).fillNormal(values);
        uploadFloats(*executor, program->graph, input.node, values);
    }
    double seconds = 0;
    for (const LaunchTime& launch : executor->profile())
        seconds += launch.seconds;
    return seconds;
}

void measureCeilings() {
    constexpr int64_t kSide = 4096, kElements = int64_t{1} << 26;
    {
        Graph graph;
        Builder b(graph);
        graph.addOutput("y", b.scale(b.input("x", {kElements}, DType::F32), 2));
        const double rate = 2.0 * 4.0 * static_cast<double>(kElements) / secondsOf(graph);
        tell("copy: %.2f TB/s read and written\n", rate / 1e12);
        tellTable("ceiling\tbytes\t" + number(rate));
    }
    struct Kind {
        const char* name;
        DType dtype;
        MathMode math;
    };
    for (const Kind& kind :
         {Kind{"fp16", DType::F16, MathMode::F32}, Kind{"tf32", DType::F32, MathMode::TF32},
          Kind{"fp32", DType::F32, MathMode::F32}}) {
        Graph graph;
        Builder b(graph);
        if (kind.dtype == DType::F32) b.setMathMode(kind.math);
        const NodeId x = b.input("x", {kSide, kSide}, kind.dtype);
        graph.addOutput("y", b.matmul(x, b.input("w", {kSide, kSide}, kind.dtype)));
        const double rate = 2.0 * std::pow(static_cast<double>(kSide), 3) / secondsOf(graph);
        tell("product %s: %.0f TFLOP/s\n", kind.name, rate / 1e12);
        tellTable(std::string("ceiling\t") + kind.name + "\t" + number(rate));
    }
}

Ceilings readCeilings() {
    Ceilings ceilings;
    std::ifstream file(folder + "/profile.tsv");
    std::string what, name;
    double rate = 0;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("ceiling\t")) continue;
        char kind[16] = "";
        if (std::sscanf(line.c_str(), "ceiling\t%15s\t%lf", kind, &rate) != 2 || rate <= 0)
            continue;
        if (std::string(kind) == "bytes")
            ceilings.bytes = rate;
        else
            ceilings.flops[kind] = rate;
    }
    return ceilings;
}

// ---- one row -----------------------------------------------------------------------------------

StepCase caseOf(const std::string& row) {
    for (StepCase& known : benchCases())
        if (known.name == row) return known;
    throw InputError(Message::data("no row is named " + row));
}

/// The first step's loss here and on the CPU: sums in another order, and with short operands the
/// roundings that they tip, as in tst_gpu_steps.
bool isTheCpus(double got, const StepCase& c, const LaneConfig& lane) {
    stage = "running the first step on the CPU";
    const auto cpu = makeRunner(c, lane, makeCpuExecutor());
    cpu->run(1);
    const double want = cpu->metrics()[kLossMetric];
    const double u = std::ldexp(1.0, lane.precision == Precision::Fp32 ? -24 : -8);
    const bool same = std::fabs(got - want) <= 16 * u * std::fabs(want);
    tell("    first loss %.9g, the CPU's %.9g%s\n", got, want, same ? "" : ": WRONG");
    return same;
}

double secondsOfAStep(StepRunner& runner) {
    runner.run(3);
    const double once = std::max(runner.run(5) / 5, 1e-6);
    const auto steps = static_cast<int64_t>(std::clamp(0.1 / once, 5.0, 5000.0));
    std::array<double, 5> rounds{};
    for (double& round : rounds)
        round = runner.run(steps) / static_cast<double>(steps);
    std::sort(rounds.begin(), rounds.end());
    return rounds[rounds.size() / 2];
}

std::string arithmeticOf(Precision precision) {
    if (precision == Precision::Fp32) return "fp32";
    return precision == Precision::Tf32 ? "tf32" : "fp16";
}

void tellVariants(const std::string& name, const Executor& executor) {
    std::istringstream table(variantTable(executor.variants()));
    for (std::string line; std::getline(table, line);)
        tell("%s\n", line.c_str());
    for (const VariantTime& variant : executor.variants())
        tellTable("variant\t" + name + "\t" + variant.name + "\t" + number(1e3 * variant.seconds) +
                  "\t" + (variant.chosen ? "chosen" : "") + "\t" + variant.note);
}

/// The longest launches of one step that runs launch by launch: less exact than what follows, and
/// there at once.
void tellLongest(Executor& executor) {
    constexpr size_t kMost = 8;
    stage = "timing a step launch by launch";
    for (int step = 0; step < 2; ++step) // the first one makes events
        executor.run(RunMode::Stepwise);
    const std::vector<LaunchTime> launches = executor.launchTimes();
    std::vector<size_t> order;
    for (size_t i = 0; i < launches.size(); ++i)
        order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return launches[a].seconds > launches[b].seconds; });
    tell("    longest launches, in us:");
    for (size_t i = 0; i < std::min(kMost, order.size()); ++i)
        tell(" #%zu %.1f", order[i], 1e6 * launches[order[i]].seconds);
    tell("\n");
}

void tellLaunches(const std::string& name, Executor& executor, const Ceilings& ceilings,
                  double flopsCeiling) {
    tell("    %3s %9s %9s %8s %8s %8s %9s %6s %5s %6s  %s\n", "#", "us", "MB", "GB/s", "GFLOP",
         "TFLOP/s", "floor us", "of it", "regs", "local", "what");
    double sum = 0, floors = 0;
    int index = 0;
    stage = "profiling launches";
    for (const LaunchTime& launch : executor.profile()) {
        const double floor = std::max(launch.bytes / ceilings.bytes, launch.flops / flopsCeiling);
        sum += launch.seconds;
        floors += floor;
        tell("    %3d %9.2f %9.2f %8.0f %8.2f %8.1f %9.2f %5.0f%% %5d %6d  %s\n", index,
             1e6 * launch.seconds, launch.bytes / 1e6, launch.bytes / launch.seconds / 1e9,
             launch.flops / 1e9, launch.flops / launch.seconds / 1e12, 1e6 * floor,
             100 * floor / launch.seconds, launch.registers, launch.localBytes,
             launch.what.c_str());
        tellTable("launch\t" + name + "\t" + std::to_string(index++) + "\t" +
                  number(1e6 * launch.seconds) + "\t" + number(launch.bytes) + "\t" +
                  number(launch.flops) + "\t" + number(1e6 * floor) + "\t" +
                  std::to_string(launch.registers) + "\t" + std::to_string(launch.localBytes) +
                  "\t" + launch.what);
    }
    tell("    all %9.2f us, floor %.2f us\n", 1e6 * sum, 1e6 * floors);
}

bool profileRow(const std::string& row, const std::string& laneName) {
    using Clock = std::chrono::steady_clock;
    const StepCase c = caseOf(row);
    const LaneConfig lane = parseLanes(laneName).front();
    const Ceilings ceilings = readCeilings();
    const std::string name = row + "\t" + laneName;
    const auto start = Clock::now();
    stage = "loading: compiling, and trying ways to run the step";
    std::unique_ptr<Executor> made = makeExecutor("cuda");
    searching = made.get();
    const auto runner = makeRunner(c, lane, std::move(made));
    searching = nullptr;
    const double loading = std::chrono::duration<double>(Clock::now() - start).count();
    std::ofstream(folder + "/" + row + "-" + laneName + ".cu") << runner->executor().sourceText();
    tell("%s %s: loaded in %.1f s\n", row.c_str(), laneName.c_str(), loading);
    stage = "running steps";
    if (ended) runner->executor().run(RunMode::Captured); // takes the stop
    runner->run(1);
    const double loss = runner->metrics()[kLossMetric];
    const double seconds = secondsOfAStep(*runner);
    tell("    %.4f ms a step, %.4f ms by the device's clock\n", 1e3 * seconds,
         1e3 * runner->executor().lastStepSeconds());
    tellTable("step\t" + name + "\t" + number(1e3 * seconds) + "\t" +
              number(1e3 * runner->executor().lastStepSeconds()) + "\t" + number(loading));
    tellVariants(name, runner->executor());
    tellLongest(runner->executor());
    const bool same = isTheCpus(loss, c, lane);
    tellLaunches(name, runner->executor(), ceilings,
                 ceilings.flops.at(arithmeticOf(lane.precision)));
    return same;
}

void twoSteps(const std::string& row, const std::string& laneName) {
    makeRunner(caseOf(row), parseLanes(laneName).front(), makeExecutor("cuda"))->run(2);
}

} // namespace

int main(int argc, char** argv) {
    const bool ceilings = argc == 3 && std::string(argv[2]) == "ceilings";
    const bool stepAlone = argc == 5 && std::string(argv[4]) == "step";
    if (!ceilings && !stepAlone && argc != 4) {
        std::fputs("usage: gpu-profile FOLDER ceilings | gpu-profile FOLDER ROW LANE [step]\n",
                   stderr);
        return 2;
    }
    folder = argv[1];
    watchForTheEnd();
    try {
        bool same = true;
        if (ceilings)
            measureCeilings();
        else if (stepAlone)
            twoSteps(argv[2], argv[3]);
        else
            same = profileRow(argv[2], argv[3]);
        return ended ? kEnded : same ? 0 : 1;
    } catch (const InputError& error) {
        std::fprintf(stderr, "gpu-profile: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        tell("    failed: %s\n", error.what());
        return 3;
    }
}
