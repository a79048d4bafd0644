// Reads files of every kind that the window opens: experiments, saved runs, checkpoints, weights,
// networks in Python programs, data and pictures. Touches nothing of the window, so that any thread
// can read.
#pragma once

#include "engine/core/message.h"
#include "engine/data/data_around.h"
#include "engine/runs/run.h"
#include "engine/settings/fields.h"
#include "engine/settings/preset_network.h"
#include "engine/train/checkpoint.h"
#include "engine/train/experiment_state.h"
#include "engine/train/state_dict.h"

#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halfscope {

/// One of several runs that are opened at once.
struct OpenedRun {
    QString title;
    std::shared_ptr<Run> run;
};

/// A file that was read and can be shown.
struct OpenedFile {
    QString path;
    bool picture = false;              ///< a picture to be painted
    std::optional<RunConfig> config{}; ///< of an experiment
    bool savedRun = false;             ///< a saved run lies beside the experiment
    bool weights = false;              ///< weights of a network, to start from
    StateDictFit fit{};                ///< how they fit the network: at least in part
    /// Of weights that fit the network of this preset, but not that of the settings, and why not.
    std::string preset{};
    Message misfit{};
    /// Why the file cannot be opened as it is, where the user can be offered something; else empty.
    Message refusal{};
    std::string command{}; ///< what is offered then: a line for a shell, which converts the file
    /// The text of the network in a Python program, see networkIn(); beside data, that of a network
    /// of the user's that was there before; beside weights that were refused, their own network;
    /// where it is itself refused, what the user can edit.
    std::string model{};
    /// Why the network may not be all that the program has, or why it does not fit the data.
    Message doubt{};
    std::optional<ChangedEnd> changed{}; ///< `model` as it would fit, where its last layer does not
    std::vector<std::string> numbers{};  ///< the names in it to which the program gives numbers
    int modelLine = 0, modelEnd = 0;     ///< its lines there
    /// The state of a checkpoint, and the rows before it when they lie beside it.
    std::shared_ptr<const ExperimentState> from{};
    std::shared_ptr<Run> begun{};
    std::vector<std::string> idle{}; ///< keys of its settings that have no effect
    /// Why a run cannot go on from the checkpoint beside it, or why some of several are left out.
    Message problem{};
    /// Where the checkpoint is damaged: the one before it, if that is whole.
    std::optional<WholeCheckpoint> earlier{};
    /// Several saved runs: of a folder that holds their folders, or those of separate folders,
    /// which have no common path.
    std::vector<OpenedRun> runs{};
    std::vector<Message> lost{}; ///< why some of them cannot go on from the checkpoints beside them
    /// The pictures of classes that it is one of, when it lies among such.
    std::optional<PictureClasses> around{};
    /// Some of the files of MNIST or CIFAR that were chosen where their folder, `path`, is opened.
    QStringList chosen{};
    /// Whether it is a network that leaves the other settings as they are.
    bool isNetwork() const { return !weights && !config && !model.empty(); }
};

/// Reads an experiment, and what its run can continue from when that lies beside it. Throws
/// InputError, as the next two do.
OpenedFile readExperiment(const QString& path);
/// Reads a picture that the networks are to paint.
OpenedFile checkPicture(const QString& path);
/// Reads a file of any kind, or a folder. Weights must fit the network of `settings`, at least in
/// part, or that of a preset, else they are refused as PyTorch's own files are, and so is a network
/// that does not fit its data. With data comes whether `network`, one of the user's own or empty,
/// fits them.
OpenedFile readAny(const QString& path, const RunConfig& settings, const std::string& network);

/// Reads the saved runs in these folders. Throws InputError when one of them holds none.
OpenedFile readSavedRuns(const QStringList& folders);
/// Reads one path as readAny() does; several that are files of one data set as that, and others as
/// readSavedRuns() does. What can be opened in place of a damaged checkpoint stands in `opened`
/// also when it throws.
void readInto(OpenedFile& opened, const QStringList& paths, const RunConfig& settings,
              const std::string& network);

/// Returns text as a title that an experiment may have: short, and on one line.
QString shortTitle(QString text);
/// Returns a short title, whatever the file is called.
QString titleOf(const QString& path);
/// Returns the title of an opened experiment. One that has the title of a preset may have other
/// settings, and is told apart by the name of its file, or of the folder of its run.
QString titleOf(const OpenedFile&);
/// Tells that a folder was opened in place of some of its files; empty where none was.
QString chosenWords(const OpenedFile&);

} // namespace halfscope
