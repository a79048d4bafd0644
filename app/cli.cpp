// The commands and options of halfscope-cli, and the exit codes of what they throw. The commands
// themselves are in cli_run, cli_sweep, cli_runs, cli_evaluate, cli_verify, cli_bench, cli_get and
// cli_info.
#include "app/cli_bench.h"
#include "app/cli_evaluate.h"
#include "app/cli_get.h"
#include "app/cli_info.h"
#include "app/cli_output.h"
#include "app/cli_run.h"
#include "app/cli_run_list.h"
#include "app/cli_runs.h"
#include "app/cli_sweep.h"
#include "app/cli_targets.h"
#include "app/cli_verify.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/core/text.h"
#include "engine/io/atomic_file.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>

namespace {

using namespace halfscope;
using namespace halfscope::cli;

enum Exit : int { kDone = 0, kFailed = 1, kBadInput = 2, kDeviceFailed = 3 };

constexpr const char* kCommands =
    "run, sweep, evaluate, runs, verify, bench, presets, devices, "
    "describe, pytorch, recorder, get or settings (--help tells more)";
constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  0    done\n"
    "  1    the command failed (a file could not be written, for example), or a check of verify "
    "did\n"
    "  2    wrong usage or input; one line names the field or file, the value and what is allowed\n"
    "  3    the device failed, is missing or has too little memory\n"
    "  130  interrupted; what was finished is on disk, or was printed";

/// Returns the end of a help page: exit codes, and what people type first.
std::string footer(std::initializer_list<const char*> examples) {
    std::string text = kExitCodes;
    if (examples.size() > 0) text += "\n\nExamples:";
    for (const char* each : examples)
        text += std::string("\n  halfscope-cli ") + each;
    return text;
}

/// Help pages that tell in words which options exclude or need each other.
class HelpPages final : public CLI::Formatter {
    std::string make_option_opts(const CLI::Option* option) const override {
        if (option->get_excludes().empty() && option->get_needs().empty())
            return Formatter::make_option_opts(option);
        return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
    }
    std::string make_option_desc(const CLI::Option* option) const override {
        std::string text = Formatter::make_option_desc(option);
        for (const CLI::Option* other : option->get_excludes())
            text += "; not with " + other->get_name();
        for (const CLI::Option* other : option->get_needs())
            text += "; only with " + other->get_name();
        return text;
    }
};

constexpr const char* kRunPreset = "run --preset checkerboard --out out";
constexpr const char* kRunChanged =
    "run --preset overflow --set scaler.init_scale=2^20 --steps 200";
constexpr const char* kRunSwept =
    "run --preset overflow --lanes amp-fp16 --sweep scaler.init_scale=2^8,2^16,2^24 "
    "--sweep scaler.growth_interval=20,2000";
constexpr const char* kMap = "sweep --preset overflow --sweep scaler.init_scale=2^8,2^16,2^24 "
                             "--sweep scaler.growth_interval=20,200,2000 --csv map.csv";
constexpr const char* kRunAgain = "run out --lanes fp32,amp-bf16";
constexpr const char* kRunResumed = "run --resume out --out out";
constexpr const char* kEvaluate = "evaluate out --out scores";
constexpr const char* kPredict = "evaluate out --predict new.csv --out predictions";
constexpr const char* kEvaluateOthers = "evaluate out --weights out/weights_fp32.safetensors";
constexpr const char* kExport = "runs export 20261121-173455-1/2 --out out";
constexpr const char* kDescribe = "describe --preset checkerboard --lane amp-fp16";
constexpr const char* kPyTorch = "pytorch --preset recipe-clip > train.py";
constexpr const char* kPyTorchFrom =
    "pytorch --preset moons --weights-out first.safetensors --samples-out samples.safetensors "
    "> train.py";
constexpr const char* kRecorder = "recorder > halfscope_recorder.py";
constexpr const char* kGet = "get mnist data/mnist";
constexpr const char* kGetUsual = "get fashion-mnist";
constexpr const char* kVerify = "verify --device cpu";

struct Commands {
    CLI::App app{
        "Trains the same network in FP32 and in mixed precision (AMP) and records what half "
        "precision does to it.",
        "halfscope-cli"};
    RunOptions runOptions;
    SweepOptions sweepOptions;
    EvaluateOptions evaluateOptions;
    GetOptions getOptions;
    RunsOptions runsOptions;
    DescribeOptions describeOptions;
    PyTorchOptions pytorchOptions;
    VerifyCommandOptions verifyOptions;
    BenchOptions benchOptions;
    bool types = false;
    bool dot = false;
    bool json = false, markdown = false;
    CLI::App* run = nullptr;
    CLI::App* sweep = nullptr;
    CLI::App* evaluate = nullptr;
    CLI::App* runs = nullptr;
    CLI::App* verify = nullptr;
    CLI::App* bench = nullptr;
    CLI::App* presets = nullptr;
    CLI::App* devices = nullptr;
    CLI::App* describe = nullptr;
    CLI::App* pytorch = nullptr;
    CLI::App* recorder = nullptr;
    CLI::App* get = nullptr;
    CLI::App* settings = nullptr;

    Commands() {
        app.formatter(std::make_shared<HelpPages>()); // its commands take it over
        app.set_version_flag("--version", "halfscope-cli " HALFSCOPE_VERSION,
                             "Print the version and exit");
        app.footer(footer({kRunPreset, kRunChanged, kRunAgain, kDescribe, kVerify}));
        run = app.add_subcommand("run", "Train the lanes of an experiment in lock-step");
        runOptions.experiment.addTo(*run);
        runOptions.experiment.addSweepTo(*run);
        writesFolder(textOption(*run, "--out", runOptions.out,
                                "Write experiment.json, csv files, pictures, weights, a checkpoint "
                                "and summary.json into this folder",
                                "DIR", "the path of a folder"));
        countOption(
            *run, "--gradients", runOptions.countGradients,
            "Count gradients by size every N steps (1, 1 + N, ...) for gradients.csv, and at the "
            "end for tables by lane and by layer, to see what rounds to zero; with the error of "
            "each layer where run.gradient_error is set",
            1, 1000000000);
        textOption(*run, "--resume", runOptions.resume,
                   "Go on from this checkpoint, or from the one in this folder of a run, with the "
                   "same bits as without the break; --steps, --epochs and --set then act like "
                   "edits of the running training",
                   "FILE", "the path of a checkpoint or of a run's folder");
        countOption(*run, "--checkpoint-every", runOptions.checkpointEvery,
                    "Write DIR/checkpoint.safetensors every N steps, too, not only at the end and "
                    "when the run is interrupted; the one before is kept as "
                    "checkpoint-before.safetensors; 0: write none; a run that goes on keeps its N",
                    0, 1000000000);
        run->add_flag("--keep-best", runOptions.keepBest,
                      "Write DIR/best_LANE.safetensors, the weights after the best validation of "
                      "each lane: the highest accuracy, or else the lowest loss; evaluate DIR "
                      "--best judges them");
        writesFolder(textOption(
            *run, "--tensorboard", runOptions.tensorboard,
            "Write event files for TensorBoard into DIR/LANE while the run trains: every "
            "metric at every step, gradients where --gradients counts them (else now and "
            "then, on the CPU), and about 20 pictures",
            "DIR", "the path of a folder"));
        writesFile(textOption(
            *run, "--onnx", runOptions.onnx,
            "Write the trained network as an ONNX model; of several lanes, each into a file "
            "of its own, with _LANE before the ending, which is .onnx where FILE has none; a "
            "critic "
            "beside it, with _critic",
            "FILE", "the path of a file"));
        run->add_flag(
            "--overwrite", runOptions.overwrite,
            "Replace an interrupted run of the same experiment in the folder of --out, and "
            "remove its checkpoint");
        run->add_flag("--quiet", runOptions.quiet, "Print errors only");
        sweep = app.add_subcommand("sweep", "Train one lane with every combination of the values "
                                            "of one or two settings, and print them as a map");
        sweepOptions.addTo(*sweep);
        evaluate = app.add_subcommand(
            "evaluate", "Judge weights on the samples that nothing trains on, lane by lane");
        evaluateOptions.experiment.addTo(*evaluate, Trains::No);
        writesFolder(textOption(
            *evaluate, "--out", evaluateOptions.out,
            "Write scores.json (with the confusion matrix), samples.csv (each sample, its "
            "target and what each lane makes of it) and predictions_LANE.npy here",
            "DIR", "the path of a folder"));
        textOption(*evaluate, "--predict", evaluateOptions.predict,
                   "Predict the samples of this table or array, this picture or the pictures of "
                   "this folder instead; they need no targets, and are scored where they have "
                   "some; columns are found by their names; needs --out",
                   "FILE", "the path of a file or folder");
        evaluate->add_flag("--test", evaluateOptions.test,
                           "Judge the samples that are kept for a test, by data.test_share or in "
                           "files of their own, instead of those to validate on");
        evaluate->add_flag("--best", evaluateOptions.best,
                           "Take the weights after the best validation of each lane, which run "
                           "--keep-best has written, instead of those at the end");
        evaluate->add_flag("--quiet", evaluateOptions.quiet, "Print errors only");
        runs = app.add_subcommand("runs", "List, show, export or delete the runs of windows that "
                                          "ended without saving them; or list the saved runs in a "
                                          "folder");
        textOption(*runs, "action", runsOptions.action,
                   "list (without a word), show, export into the folder of --out, or delete; or "
                   "the path of a folder whose folders hold saved runs: a table of them",
                   "ACTION", "list, show, export or delete, or a folder with saved runs");
        runs->add_option("run", runsOptions.runs,
                         "Runs as the list names them; delete also takes the session before the "
                         "slash; it leaves saved folders alone, and a run that is saved in a "
                         "folder is not listed again; if one name is wrong, nothing is done")
            ->type_name("RUN")
            ->check([](const std::string& name) {
                return name.empty() ? "\"\" is not allowed: the name of a run" : std::string();
            });
        textOption(*runs, "--sessions", runsOptions.folder,
                   "The folder of sessions (default: where the window keeps them)", "DIR",
                   "the path of a folder");
        writesFolder(textOption(*runs, "--out", runsOptions.out,
                                "The folder that export writes a run into; several runs each get "
                                "a folder of their own in it",
                                "DIR", "the path of a folder"));
        textOption(*runs, "--order", runsOptions.order,
                   "The order of saved runs: by validation (the best first), loss or name", "ORDER",
                   kRunOrders);
        verify = app.add_subcommand("verify", "Check that this machine computes what PyTorch does, "
                                              "against values recorded from it, and large "
                                              "products against float64");
        verifyOptions.addTo(*verify);
        bench = app.add_subcommand("bench", "Time training steps on a device");
        benchOptions.addTo(*bench);
        presets = app.add_subcommand("presets", "List the experiments that come with the program");
        presets->add_flag("--markdown", markdown, "As a Markdown table");
        devices =
            app.add_subcommand("devices", "List the devices, and say why CUDA is not available");
        describe = app.add_subcommand(
            "describe",
            "Print the graph of a training step: each operation with its storage type, "
            "shape and the reason for each cast; with --device cuda also the ways to run "
            "it that the GPU compares");
        describeOptions.experiment.addTo(*describe);
        CLI::Option& oneLane = textOption(*describe, "--lane", describeOptions.lane,
                                          "Which lane (default: the first that is not fp32)",
                                          "NAME", "the name of a lane");
        CLI::Option* dotFlag = describe->add_flag("--dot", dot, "As a Graphviz graph");
        CLI::Option* jsonFlag = describe->add_flag("--json", json, "As JSON")->excludes(dotFlag);
        describe
            ->add_flag("--types", types,
                       "Only what each function of the network computes in, for all lanes")
            ->excludes(&oneLane)
            ->excludes(dotFlag)
            ->excludes(jsonFlag);
        pytorch = app.add_subcommand(
            "pytorch", "Print the experiment as a Python program that trains it with PyTorch");
        pytorchOptions.experiment.addTo(*pytorch);
        CLI::Option& weightsOut = textOption(
            *pytorch, "--weights-out", pytorchOptions.weightsOut,
            "Also write the weights that every lane starts from, as a safetensors file; with the "
            "program in train.py, python3 train.py FILE starts its lanes from them",
            "FILE", "the path of a file");
        CLI::Option& samplesOut = textOption(
            *pytorch, "--samples-out", pytorchOptions.samplesOut,
            "Also write the batches that the steps take and the samples that lanes are judged on, "
            "as a safetensors file of at most 1 GiB; python3 train.py WEIGHTS FILE takes them "
            "instead of samples that PyTorch draws",
            "FILE", "the path of a file");
        samplesOut.needs(&weightsOut); // the program takes the file behind that of the weights
        writesFile(weightsOut);
        writesFile(samplesOut);
        recorder = app.add_subcommand(
            "recorder", "Print a Python module that records a PyTorch training of your own into a "
                        "folder, which the window opens");
        get = app.add_subcommand("get",
                                 "Download a data set from its public mirrors: " + dataNames());
        textOption(*get, "name", getOptions.name, "The data set", "NAME", dataNames());
        writesFolder(
            textOption(*get, "folder", getOptions.folder,
                       "Where its files go (default: halfscope/NAME in the user's data folder)",
                       "FOLDER", "the path of a folder"));
        textOption(*get, "--from", getOptions.from, "Another server that has the files", "ADDRESS",
                   "an address such as https://host/folder/");
        get->add_flag("--yes", getOptions.yes,
                      "Do not ask first; without it and without an answer, nothing is downloaded");
        settings = app.add_subcommand("settings", "Print the reference of all settings (Markdown)");
        run->footer(footer({kRunPreset, kRunChanged, kRunSwept, kRunAgain, kRunResumed}));
        sweep->footer(footer({kMap}));
        evaluate->footer(footer({kEvaluate, kEvaluateOthers, kPredict}));
        runs->footer(footer({"runs list", kExport}));
        verify->footer(footer({kVerify, "verify --only scaler,runs --json"}));
        bench->footer(footer({"bench --only checkerboard-64 --lanes fp32,amp-fp16"}));
        describe->footer(footer({kDescribe, "describe --dot | dot -Tsvg -o step.svg"}));
        pytorch->footer(footer({kPyTorch, kPyTorchFrom}));
        recorder->footer(footer({kRecorder}));
        get->footer(footer({kGet, kGetUsual}));
        for (CLI::App* each : {presets, devices, settings})
            each->footer(footer({}));
        app.require_subcommand(0, 1); // a second command is one argument too many
    }

    int dispatch() {
        if (run->parsed()) return cli::run(runOptions);
        if (sweep->parsed()) return cli::sweep(sweepOptions);
        if (evaluate->parsed()) return cli::evaluate(evaluateOptions);
        if (runs->parsed()) return cli::runs(runsOptions);
        if (verify->parsed()) return cli::verifyCommand(verifyOptions);
        if (get->parsed()) return cli::get(getOptions);
        if (bench->parsed()) return cli::benchCommand(benchOptions);
        if (presets->parsed()) {
            tellPresets(markdown ? PresetForm::Markdown : PresetForm::Text);
        } else if (devices->parsed()) {
            tellDevices();
        } else if (describe->parsed()) {
            describeOptions.form = dot    ? DescribeForm::Dot
                                   : json ? DescribeForm::Json
                                          : DescribeForm::Text;
            if (types)
                tellTypes(describeOptions.experiment);
            else
                cli::describe(describeOptions);
        } else if (pytorch->parsed()) {
            tellPyTorch(pytorchOptions);
        } else if (recorder->parsed()) {
            tellRecorder();
        } else if (settings->parsed()) {
            tellSettings();
        } else {
            throw InputError(Message::data(std::string("a command is missing: ") + kCommands));
        }
        return kDone;
    }
};

/// Returns what to say about a word in the place of a command.
std::string unknownCommand(const CLI::App& app, const std::string& word) {
    std::vector<std::string> known;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        known.push_back(command->get_name());
    const std::string nearest = nearestOf(word, known);
    if (!word.empty() && isNear(word, nearest))
        return quotedText(word) + " is not a command; the nearest one is " + nearest +
               " (--help lists all)";
    return quotedText(word) + " is not a command: " + kCommands;
}

/// Returns what to say about an argument that no option takes.
std::string unexpectedText(const CLI::App& app) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const CLI::App& command = chosen.empty() ? app : *chosen.front();
    const std::vector<std::string> own = command.remaining();
    const std::string first = own.empty() ? app.remaining(true).front() : own.front();
    if (first == "--" && own.size() > 1)
        return quotedText(own[1]) + " is one argument too many for " + command.get_name() +
               "; options must stand before --";
    if (first.empty() || first.front() != '-') {
        if (chosen.empty()) return unknownCommand(app, first);
        constexpr std::array<std::string_view, 4> kOnData{"run", "sweep", "describe", "pytorch"};
        const bool shards = first.ends_with(".tar") && // of train-*.tar in a shell
                            std::ranges::find(kOnData, command.get_name()) != kOnData.end();
        return quotedText(first) + " is one argument too many for " + command.get_name() +
               (shards ? "; to train on several shards, name the folder of the shards" : "");
    }
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames())
            known.push_back("--" + name);
    }
    const std::string name = first.substr(0, first.find('='));
    return quotedText(name) + " is not an option of " + command.get_name() +
           nearestHint(name, known).english();
}

int runCommands(int count, char** arguments) {
    Commands commands;
    try {
        commands.app.parse(count, arguments);
    } catch (const CLI::CallForVersion& version) {
        print(std::string(version.what()) + "\n");
        return kDone;
    } catch (const CLI::CallForHelp&) {
        print(commands.app.help());
        return kDone;
    } catch (const CLI::ExtrasError&) {
        throw InputError(Message::data(unexpectedText(commands.app)));
    } catch (const CLI::ArgumentMismatch& error) {
        const std::string_view text = error.what(); // "--steps: 1 required N missing"
        if (!text.ends_with(" missing")) throw InputError(Message::data(error.what()));
        throw InputError(
            Message::data(std::string(text.substr(0, text.find(':'))) + ": its value is missing"));
    } catch (const CLI::ParseError& error) {
        throw InputError(Message::data(error.what()));
    }
    return commands.dispatch();
}

int report(Exit code, std::string_view message) {
    // a file's name may contain control sequences, which a terminal would obey
    printNote("halfscope-cli: " + messageText(message) + "\n");
    return code;
}

/// Needs no memory, because there may be none.
int reportNoMemory() {
    constexpr std::string_view kText =
        "halfscope-cli: out of memory: a table or another file with fewer samples, a smaller "
        "picture (task.side, data.side), task.batch, model.width or data.workers needs less\n";
    printNote(kText);
    return kDeviceFailed;
}

} // namespace

int main(int count, char** arguments) {
    reserveStandardFiles();
    letWritesFail();
    try {
        const int code = runCommands(count, arguments);
        finishOutput();
        return code;
    } catch (const InputError& error) {
        return report(kBadInput, error.what());
    } catch (const EngineError& error) {
        return report(kDeviceFailed, error.what());
    } catch (const std::bad_alloc&) {
        return reportNoMemory();
    } catch (const std::exception& error) {
        return report(kFailed, error.what());
    }
}
