// Decides by name and content what a file is, and reads it with what lies beside it.
#include "ui/window/opened_file.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/picture_samples.h"
#include "engine/data/shard_index.h"
#include "engine/io/input_file.h"
#include "engine/io/split_file.h"
#include "engine/io/torch_file.h"
#include "engine/lang/found_models.h"
#include "engine/lang/syntax.h"
#include "engine/models/program_network.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_past.h"
#include "engine/runs/run_reader.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/idle_settings.h"
#include "engine/settings/run_length.h"
#include "engine/step/model_shapes.h"
#include "engine/train/fitting_preset.h"
#include "engine/train/network_of_weights.h"
#include "ui/models/safe_text.h"
#include "ui/models/shown_numbers.h"
#include "ui/window/data_files.h"

#include <QCollator>
#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStringList>

#include <algorithm>
#include <utility>
#include <variant>

namespace halfscope {
namespace {

constexpr const char* kExperimentFile = "experiment.json";
constexpr const char* kStepsFile = "steps.csv";

bool isSavedRun(const QString& path) {
    const QFileInfo file(path);
    return file.fileName() == QLatin1String(kExperimentFile) &&
           holdsSavedRun(file.path().toStdString());
}

/// Returns the rows up to a checkpoint as the beginning of its run. Throws InputError when they are
/// not beside it.
std::shared_ptr<Run> rowsBefore(const QString& path, const ExperimentState& state) {
    if (state.run.empty())
        throw InputError(phrase("Files",
                                "%1: was saved by itself, not with the run in this folder; "
                                "open that file to go on from it"),
                         pathText(path.toStdString()));
    const QString folder = QFileInfo(path).absolutePath();
    return readPast(folder.toStdString(), state.run, state.step, state.recorded).begun();
}

/// Keeps a copy of the checkpoint with the run: the run is saved with it until there is a newer
/// one.
void keepWith(Run& run, const QString& path, int64_t step) {
    RunBatch batch;
    batch.checkpoint = checkpointInFile(path.toStdString(), step);
    run.append(std::move(batch));
}

/// Reads a checkpoint, and the rows before it where they lie beside it; where they do not, the
/// problem says why.
OpenedFile readCheckpointAt(const QString& path) {
    OpenedFile opened{path};
    const auto state = std::make_shared<ExperimentState>(readCheckpoint(path.toStdString()));
    knownFactsOf(state->recorded);
    opened.from = state;
    try {
        opened.begun = rowsBefore(path, *state);
    } catch (const InputError& error) {
        opened.problem = error.message();
    }
    if (opened.begun) keepWith(*opened.begun, path, state->step);
    return opened;
}

/// Whether a file's name says that it holds arrays, or lists files that do.
bool namesArrays(const QString& path) {
    static const QStringList endings{QStringLiteral("safetensors"), QStringLiteral("pt"),
                                     QStringLiteral("pth")};
    return endings.contains(QFileInfo(path).suffix(), Qt::CaseInsensitive) ||
           isListOfParts(path.toStdString());
}

/// Returns weights that fit the network of a preset; nothing when there is no such preset.
std::optional<OpenedFile> weightsOfPreset(const QString& path, const Message& misfit) {
    std::optional<FittingPreset> found = fittingPreset(path.toStdString());
    if (!found) return std::nullopt;
    return OpenedFile{.path = path,
                      .weights = true,
                      .fit = std::move(found->fit),
                      .preset = std::move(found->name),
                      .misfit = misfit};
}

/// Refuses a file of PyTorch's own form. The command that converts it is longer than the sentence,
/// and a button copies it.
OpenedFile refusedTorchFile(const QString& path) {
    const std::string file = path.toStdString();
    OpenedFile refused{path};
    refused.refusal = {
        phrase("Files",
               "%1: torch.save() wrote it, and loading such a file can run any code, so it "
               "is not opened. Copy the command that converts it, run it in a terminal, "
               "then open the new file. Of a whole model, save model.state_dict() first."),
        pathText(file)};
    refused.command = torchFileCommand(QFileInfo(path).absoluteFilePath().toStdString());
    return refused;
}

/// Refuses weights that fit neither the network of the settings nor that of a preset, with a
/// network that does take them, where they tell one that fits the data.
OpenedFile refusedWeights(const QString& path, const Message& misfit, const RunConfig& settings) {
    OpenedFile refused{.path = path, .weights = true};
    auto network = networkOfWeights(path.toStdString(), settings);
    if (!network) {
        refused.refusal = {phrase("Files", "These are weights of another network. Set model.layers "
                                           "to that network, and open this file again. %1."),
                           misfit};
        return refused;
    }
    if (network->sizes.empty())
        refused.refusal = {phrase("Files", "These are weights of another network, which the file "
                                           "describes and which fits the data that are open. %1."),
                           misfit};
    else
        refused.refusal = {phrase("Files", "These are weights of another network, %1, which fits "
                                           "the data that are open. A file of weights does not "
                                           "tell the activations, so ReLU is assumed between the "
                                           "layers. %2."),
                           network->sizes, misfit};
    refused.fit = std::move(network->fit);
    refused.model = std::move(network->layers);
    return refused;
}

/// Reads weights, which must fit the network of the present settings at least in part, or that of
/// a preset as a whole; or a checkpoint.
OpenedFile readArrays(const QString& path, const RunConfig& settings) {
    const QString name = QFileInfo(path).fileName();
    const bool named = name == QLatin1String(run_file::kCheckpoint) ||
                       name == QLatin1String(run_file::kEarlierCheckpoint);
    if (named || isCheckpoint(path.toStdString())) return readCheckpointAt(path);
    StateDictFit fit;
    try {
        fit = stateDictFit(path.toStdString(), settings);
    } catch (const InputError& error) { // also for settings whose data cannot be read
        if (auto other = weightsOfPreset(path, error.message())) return *std::move(other);
        throw;
    }
    if (fit.problem.empty() || fit.partialProblem.empty())
        return {.path = path, .weights = true, .fit = std::move(fit)};
    if (!fit.alike.empty()) throw InputError(fit.problem); // they are weights of this network
    const Message misfit(phrase("Files", "Differences from the network that is open: %1"),
                         fit.differences);
    if (auto other = weightsOfPreset(path, misfit)) return *std::move(other);
    if (splitFileRefusal(path.toStdString())) throw InputError(fit.problem);
    return refusedWeights(path, misfit, settings);
}

bool namesProgram(const QString& path) {
    return QFileInfo(path).suffix().compare(QLatin1String("py"), Qt::CaseInsensitive) == 0;
}

/// Returns why the network cannot be trained on the data of these settings; empty when it can.
/// Throws InputError when the data cannot be read.
Message misfitOf(const lang::ModelText& model, RunConfig settings) {
    try {
        factsOf(taskOf(settings));
    } catch (const InputError& error) { // which modelShapes() would take for that of the network
        throw InputError(phrase("Files", "its network would be trained on the data that are open, "
                                         "which cannot be used: %1"),
                         error.message());
    }
    settings.model.layers = model.text;
    Message problem = modelShapes(settings).error;
    if (problem.empty() || model.inPlace.size() > lang::kMaxTextBytes) return problem;
    settings.model.layers = model.inPlace; // the same problem, in the line of the file
    Message there = modelShapes(settings).error;
    return there.empty() ? problem : there;
}

/// Returns a network that does not fit the data of these settings with another last layer, where it
/// fits them so.
std::optional<ChangedEnd> withFittingEnd(RunConfig settings, const std::string& network) {
    try {
        std::optional<ChangedEnd> changed = withOutputsFor(settings, network);
        if (!changed) return std::nullopt;
        settings.model.layers = changed->layers;
        return modelShapes(settings).error.empty() ? changed : std::nullopt;
    } catch (const InputError&) { // the data or the network cannot be read, which is told
        return std::nullopt;
    }
}

/// Reads the network of a program, and refuses one that cannot be trained on the data of these
/// settings.
OpenedFile readProgram(const QString& path, const RunConfig& settings) {
    constexpr size_t kMostBytes = size_t{4} << 20; // far more than a person writes
    const std::string file = path.toStdString();
    const std::string content = readFile(file, kMostBytes);
    try {
        const ProgramNetwork network = networkIn(withoutByteOrderMark(content));
        OpenedFile opened{path};
        if (const Message misfit = misfitOf(network.text, settings); !misfit.empty()) {
            opened.changed = withFittingEnd(settings, network.text.text);
            constexpr Phrase kMisfit = phrase("Files", "%1: its network does not fit the data that "
                                                       "are open: %2. Open the data that it is for "
                                                       "and then this file again, or edit its "
                                                       "layers.");
            constexpr Phrase kLast = phrase("Files", "%1: its network does not fit the data that "
                                                     "are open: %2. Change its last layer, or open "
                                                     "the data that it is for and then this file "
                                                     "again.");
            opened.refusal = {opened.changed ? kLast : kMisfit, pathText(file), misfit};
        }
        opened.model = network.text.text;
        opened.numbers = network.text.numbers;
        opened.modelLine = network.firstLine;
        opened.modelEnd = network.lastLine;
        opened.doubt = network.doubt;
        return opened;
    } catch (const InputError& error) {
        throw InputError(within(pathText(file), error.message()));
    }
}

/// Reads data to train on, and whether the user's network fits them.
OpenedFile readData(const QString& path, RunConfig onData, const std::string& network) {
    OpenedFile opened{path, false, std::move(onData)};
    if (network.empty() || network == opened.config->model.layers) return opened;
    RunConfig with = *opened.config;
    with.model.layers = network;
    opened.model = network;
    opened.doubt = modelShapes(with).error;
    if (!opened.doubt.empty()) opened.changed = withFittingEnd(*opened.config, network);
    return opened;
}

OpenedFile readFiles(DataOfFiles data, const QStringList& chosen, const std::string& network) {
    OpenedFile opened = readData(data.path, std::move(data.config), network);
    if (data.onlySome) opened.chosen = chosen;
    return opened;
}

/// Reads a picture, and looks whether it is one of a class.
OpenedFile readPictureAt(const QString& path) {
    OpenedFile opened = checkPicture(path);
    opened.around = classesAround(path.toStdString());
    return opened;
}

QString titled(const QString& title, const QString& name) {
    return QCoreApplication::translate("OpenedFile", "%1 (%2)").arg(title, name);
}

bool holdsRun(const QString& folder) {
    const QString experiment = QDir(folder).filePath(kExperimentFile);
    return isSavedRun(experiment) && QFileInfo::exists(experiment);
}

/// Orders folders as a person does: 2 before 10.
QStringList inOrder(QStringList folders) {
    QCollator order(QLocale::English); // the locale C would order numbers by their digits
    order.setNumericMode(true);
    std::sort(folders.begin(), folders.end(), order);
    return folders;
}

/// Returns those folders in a folder that hold saved runs, with those that hold a part of one: what
/// a run has lost must not hide it. Empty when none of them is whole.
QStringList runsIn(const QString& folder) {
    QStringList found;
    bool any = false;
    const QDir dir(folder);
    for (const QString& name : dir.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        checkCancelled();
        const QDir inside(dir.filePath(name));
        const bool whole = holdsRun(inside.path());
        any = any || whole;
        if (whole || inside.exists(kExperimentFile) || inside.exists(kStepsFile))
            found << inside.path();
    }
    return any ? inOrder(std::move(found)) : QStringList();
}

/// Throws InputError when a folder lacks a file that every saved run has.
void checkHoldsRun(const QString& folder) {
    for (const char* name : {kExperimentFile, kStepsFile})
        if (!QFileInfo::exists(QDir(folder).filePath(name)))
            throw InputError(phrase("Files", "%1: %2 is missing, without which a saved run cannot "
                                             "be opened"),
                             pathText(folder.toStdString()), name);
}

/// The names of their folders tell runs apart that have the same title. Adds to `lost` why the run
/// cannot go on from the checkpoint beside it.
OpenedRun readRunIn(const QString& folder, std::vector<Message>& lost) {
    checkHoldsRun(folder);
    const OpenedFile opened = readExperiment(QDir(folder).filePath(kExperimentFile));
    const QString name = safeText(QDir(folder).dirName().toStdString());
    const QString title = safeText(opened.config->title);
    OpenedRun read{
        title.isEmpty() ? name : titled(title, name),
        readRun(folder.toStdString(), *opened.config, [](double) { return !isCancelled(); })};
    checkCancelled();
    if (opened.begun) {
        RunBatch batch;
        batch.checkpoint = opened.begun->now().checkpoint();
        read.run->append(std::move(batch));
    }
    if (!opened.problem.empty()) lost.push_back(opened.problem);
    return read;
}

/// Returns the first of several reasons, and how many more there are.
Message someOf(std::vector<Message> reasons) {
    constexpr size_t kMost = 3;
    if (reasons.empty()) return {};
    const size_t more = reasons.size() - std::min(reasons.size(), kMost);
    reasons.resize(reasons.size() - more);
    const Message shown = listed(reasons, phrase("Files", "%1; %2"));
    return more == 0 ? shown : Message(phrase("Files", "%1; and %2 more"), shown, more);
}

/// Reads the runs of a folder. One that cannot be read is left out; throws InputError when none
/// can.
OpenedFile readRuns(const QString& path, const QStringList& folders) {
    OpenedFile opened{path};
    std::vector<Message> leftOut;
    for (const QString& folder : folders) {
        try {
            opened.runs.push_back(readRunIn(folder, opened.lost));
        } catch (const InputError& error) {
            leftOut.push_back(error.message());
        }
    }
    opened.problem = someOf(std::move(leftOut));
    if (opened.runs.empty()) throw InputError(opened.problem);
    return opened;
}

} // namespace

/// Decodes the picture now, because an error is better reported here than when the run is built.
OpenedFile checkPicture(const QString& path) {
    readSquare(path.toStdString(), 1);
    return {path, true, {}};
}

OpenedFile readExperiment(const QString& path) {
    OpenedFile opened{path};
    opened.config = readConfig(path.toStdString());
    opened.idle = idleSettings(*opened.config);
    knownFactsOf(*opened.config); // facts of its data: they are read on this thread now, and the
                                  // window knows them later
    const QDir folder = QFileInfo(path).dir();
    QString beside = folder.filePath(QLatin1String(run_file::kCheckpoint));
    if (!QFileInfo::exists(beside))
        beside = folder.filePath(QLatin1String(run_file::kEarlierCheckpoint));
    opened.savedRun = isSavedRun(path);
    if (!opened.savedRun || !QFileInfo::exists(beside)) return opened;
    try {
        const OpenedFile checkpoint = readCheckpointAt(beside);
        opened.problem = checkpoint.problem;
        if (!checkpoint.begun) return opened;
        opened.from = checkpoint.from;
        opened.begun = checkpoint.begun;
    } catch (const DamagedCheckpoint& error) {
        opened.problem = error.message();
        opened.earlier = error.earlier();
    } catch (const InputError& error) {
        opened.problem = error.message();
    }
    return opened;
}

OpenedFile readSavedRuns(const QStringList& folders) {
    for (const QString& folder : folders) {
        checkCancelled();
        if (!holdsRun(folder))
            throw InputError(phrase("Files",
                                    "%1: not a folder of a saved run; only such folders, and the "
                                    "files of one data set, can be dropped together, anything else "
                                    "must be dropped by itself"),
                             pathText(folder.toStdString()));
    }
    return readRuns({}, inOrder(folders));
}

OpenedFile readAny(const QString& path, const RunConfig& settings, const std::string& network) {
    const QFileInfo file(path);
    if (file.isDir() && QFileInfo::exists(QDir(path).filePath(kExperimentFile)))
        return readExperiment(QDir(path).filePath(kExperimentFile));
    if (file.fileName() == QLatin1String(kStepsFile))
        return readExperiment(file.dir().filePath(kExperimentFile));
    if (const QStringList runs = file.isDir() ? runsIn(path) : QStringList(); !runs.isEmpty())
        return readRuns(path, runs); // their pictures are no data set
    if (namesPicture(path.toStdString())) return readPictureAt(path);
    if (auto data = folderOfFile(path)) return readFiles(*std::move(data), {path}, network);
    if (isNetworkFile(path.toStdString())) return readProgram(path, settings);
    if (auto onData = experimentOn(path.toStdString()))
        return readData(path, *std::move(onData), network);
    if (file.isDir()) throw nothingInFolder(path.toStdString());
    if (isTorchFile(path.toStdString())) return refusedTorchFile(path);
    if (namesArrays(path)) return readArrays(path, settings);
    if (namesProgram(path)) return readProgram(path, settings);
    checkCanBeExperiment(path.toStdString());
    return readExperiment(path);
}

void readInto(OpenedFile& opened, const QStringList& paths, const RunConfig& settings,
              const std::string& network) {
    try {
        if (paths.size() == 1)
            opened = readAny(paths.front(), settings, network);
        else if (std::optional<DataOfFiles> data = dataOfFiles(paths))
            opened = readFiles(*std::move(data), paths, network);
        else
            opened = readSavedRuns(paths);
    } catch (const DamagedCheckpoint& error) {
        opened.earlier = error.earlier();
        throw;
    }
}

QString shortTitle(QString text) {
    constexpr qsizetype kLongest = 60; // at most 180 bytes of UTF-8: an experiment's title may have
                                       // 200
    text.removeIf([](QChar c) { return !c.isPrint() && !c.isSpace() && !c.isSurrogate(); });
    QString title = text.simplified().left(kLongest);
    if (!title.isEmpty() && title.back().isHighSurrogate()) title.chop(1); // half a character
    return title;
}

QString titleOf(const QString& path) {
    const QString title = shortTitle(QFileInfo(path).completeBaseName());
    return title.isEmpty() ? QCoreApplication::translate("OpenedFile", "Picture") : title;
}

QString titleOf(const OpenedFile& opened) {
    const RunConfig& config = opened.from ? opened.from->recorded : *opened.config;
    if (config.title.empty()) return titleOf(opened.path);
    const bool preset = std::ranges::any_of(
        presets(), [&](const Preset& each) { return each.isCalled(config.title); });
    const QString title = safeText(config.title);
    if (!preset) return title;
    const QFileInfo file(opened.path);
    const QString name = opened.savedRun ? file.absoluteDir().dirName() : file.fileName();
    return titled(title, safeText(name.toStdString()));
}

QString chosenWords(const OpenedFile& data) {
    const QString folder = safeText(data.path.toStdString());
    if (data.chosen.isEmpty()) return {};
    if (data.chosen.size() > 1)
        return QCoreApplication::translate("OpenedFile",
                                           "These are only some of the files of the data, so the "
                                           "folder with all of them was opened: %1")
            .arg(folder);
    return QCoreApplication::translate("OpenedFile",
                                       "%1 is only one file of these data, so the folder with all "
                                       "of them was opened: %2")
        .arg(safeText(QFileInfo(data.chosen.front()).fileName().toStdString()), folder);
}

} // namespace halfscope
