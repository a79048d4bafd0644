// A data set: samples that are read by number. The sampler and the loader decide which of them a
// step sees.
//
// How to add one: write a file of its own next to this one, with a class and a row (see
// regression.cpp), and list the row; resources/manual/en/add-data-set.md has the steps.
#pragma once

#include "engine/core/message.h"
#include "engine/data/batch.h"
#include "engine/data/standardiser.h"
#include "engine/data/task_spec.h"
#include "engine/data/task_view.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>

namespace halfscope {

enum class Split : uint8_t { Train, Validation };

/// A pass over a split. Samples to train on may differ from epoch to epoch, at random by the seed,
/// the epoch and the sample alone; in epoch 0 they are as they are stored.
struct Pass {
    Split split = Split::Train;
    int64_t epoch = 0;
    Pass(Split of, int64_t number = 0) : split(of), epoch(number) {}
};

/// A sample that could not be read: its place among those asked for, and the reason.
struct Unread {
    size_t row = 0;
    Message why; ///< names the file
};

/// How the values of a channel were made of pixels from 0 to 1: (pixel - mean) / deviation.
struct ChannelScale {
    float mean = 0, deviation = 1;
};

struct DataFacts;

class Dataset {
public:
    virtual ~Dataset() = default;
    /// The specs of one sample: "x", "target", and what else it has.
    virtual std::span<const TensorSpec> tensors() const = 0;
    virtual int64_t samples(Split) const = 0;
    /// Writes every value of as many rows as there are samples; may read files. Any thread may call
    /// it, several at a time. Returns, by row, the samples that could not be read and are to be
    /// skipped; throws InputError when unreadable samples are not to be skipped.
    virtual std::vector<Unread> read(Pass, std::span<const int64_t> samples,
                                     const BatchRows& out) const = 0;
    /// Returns the number, from 0, that a sample of a split has in the data as they are stored: the
    /// row of an array, or the line of a table, not counting its header and empty lines.
    virtual int64_t number(Split, int64_t sample) const { return sample; }
    /// Whether samples differ from epoch to epoch.
    virtual bool varies() const { return false; }
    /// Whether samples depend on the seed with which the data set was made; where they do not, runs
    /// of several seeds can share it.
    virtual bool usesSeed() const { return true; }
    /// Returns what users should know about how the samples were made, in whole sentences.
    virtual std::vector<Message> notes() const { return {}; }
    /// Returns the scales of x by channel when samples are pictures whose pixels are known; empty
    /// when they are not known.
    virtual std::vector<ChannelScale> channelScales() const { return {}; }
    /// Returns the paths of the files that have the samples, in an order that depends on nothing
    /// else; empty when they come from data.path itself or from no file.
    virtual std::vector<std::string> files() const { return {}; }
    /// Returns the text that indices in x stand for, when they are not those of the classes;
    /// unknown words are boxes.
    virtual std::string textOf(std::span<const int32_t> /*x*/) const { return {}; }
    /// Returns how many labels of the samples to train on each class has, where targets are
    /// classes. Unless a data set knows its labels, this reads the samples; those that are to be
    /// skipped do not count.
    virtual std::vector<int64_t> classCounts() const;
    /// Returns, of samples to train on that are skipped where they cannot be read, a sentence
    /// without its full stop on each class that has no other ones. May read one sample of each
    /// class, and all of such classes; returns too few when `stop` came in between.
    virtual std::vector<Message> lostClasses(const std::atomic<bool>& /*stop*/) const { return {}; }
    /// Return how the inputs were standardised, and the targets, which predictions are restored
    /// with.
    virtual const Standardiser& inputScale() const;
    virtual const Standardiser& targetScale() const;
    /// Returns the names of the values of x where they have names: "colour" for a column of
    /// numbers, "colour_red" for a word of one of words.
    virtual std::vector<std::string> inputNames() const { return {}; }
    /// Returns the class of each sample to validate on, where the same share of each class was held
    /// back; otherwise nothing.
    virtual std::vector<int32_t> heldLabels() const { return {}; }
    /// Whether targets are two classes as one number of each sample, 0 or 1, for a loss that takes
    /// the output as a logit: the side of 0 on which it lies tells the class. They are shown and
    /// counted as classes are.
    virtual bool targetsAreSides() const { return false; }
    /// Returns how many samples the data keep for a test by themselves, unless a share of others is
    /// kept. They are the last ones to validate on, until withTest() makes them those of test().
    virtual int64_t ownTest() const { return 0; }
    /// Returns the data set whose samples to validate on are those that are kept for a test; null
    /// when there are none.
    virtual const Dataset* test() const { return nullptr; }
    /// Returns how predictions on it are shown; its kind is viewKindOf() of the task, or Classes
    /// where targets are sides.
    virtual TaskView view() const = 0;
    DataFacts facts() const;
};

/// What is known of a data set before its samples are read.
struct DataFacts {
    std::vector<TensorSpec> tensors; ///< see Dataset::tensors()
    int64_t train = 1, validation = 0;
    std::vector<Message> notes{}; ///< see Dataset::notes(); only what was seen in the files so far
    Standardiser targetScale{};   ///< see Dataset::targetScale()
    Standardiser inputScale{};    ///< likewise; of arrays only once their samples were read
    std::vector<std::string> inputNames{}; ///< see Dataset::inputNames()
    /// Samples of Dataset::test(); before testedFacts(), those of Dataset::ownTest().
    int64_t test = 0;
    bool sides = false; ///< see Dataset::targetsAreSides()
};

enum class Targets : uint8_t {
    Numbers,
    Classes,
    TwoClasses, ///< class numbers or, if the loss wants shares, sides
    AsTheLoss,  ///< class numbers if the loss wants them
};

/// A data set as Python, for a program that trains with PyTorch.
struct PythonData {
    std::string imports; ///< lines that go above those of torch
    /// Constants, then functions. samples() returns (x, target) to train on and (x, target) to
    /// validate on; the second pair may be None. If it `tests`, a third pair is the test.
    std::string code;
    /// varied(x), which varies a batch to train on, if samples differ from epoch to epoch; else
    /// empty.
    std::string varied{};
    /// Lines of evaluate() that add to `text` what else tells how good a prediction is; often
    /// empty.
    std::string judged{};
    bool tests = false;
};

/// A row of the table of data sets, which is indexed by TaskKind.
struct DataSetInfo {
    const char* name; ///< the value of data.kind: "checkerboard"
    Phrase title;     ///< what the window calls it, as it calls the presets with it: "Two moons"
    Phrase about;     ///< what follows the name in tool tips and the manual
    /// The settings of this data set that not every data set has: "data.path".
    std::array<std::string_view, 16> settings{};
    /// Every step sees all samples, and task.batch has no effect.
    bool wholeSet = false;
    Targets targets = Targets::Numbers;
    bool validates = false; ///< it has samples to validate on, or can have some: canValidate()
    bool fromFiles = false; ///< its facts are read from files
    /// Its form fixes what the numbers of classes mean. What they are called may depend on the name
    /// of a folder, or on a file beside them.
    bool fixedClasses = false;
    /// Folders inside data.path whose files are also watched for changes: "train".
    std::span<const std::string_view> folders{};
    /// How predictions are shown. With Targets::AsTheLoss and a loss that wants classes, it is the
    /// table of classes instead.
    ViewKind view = ViewKind::Scatter;
    /// Tells whether a file or folder has its form, by the name and what is inside, and if so sets
    /// where samples come from. Null when the data set reads no files. Throws InputError when a
    /// part is missing.
    bool (*opens)(const std::string& path, TaskConfig&) = nullptr;
    /// Throws InputError when a file cannot be used.
    DataFacts (*facts)(const TaskConfig&) = nullptr;
    std::unique_ptr<Dataset> (*make)(const TaskConfig&, uint64_t seed) = nullptr;
    /// `outputs` is how many values the network makes of a sample.
    PythonData (*python)(const TaskConfig&, int64_t outputs) = nullptr;

    bool has(std::string_view setting) const {
        return std::find(settings.begin(), settings.end(), setting) != settings.end();
    }
};

std::span<const DataSetInfo> dataSets();
const DataSetInfo& infoOf(TaskKind);
/// Whether there may be samples to validate on. Where they are drawn, the settings say how many.
bool canValidate(const TaskConfig&);
/// Returns the key of the setting that says how many: of those that are drawn, or by their share.
std::string_view validationSetting(TaskKind);

/// Returns the facts of a data set. Files are looked at once for each setting, and again whenever a
/// data set is made from them, so that views of the settings may ask often. Any thread may call it.
/// Throws InputError when a file cannot be used.
DataFacts factsOf(const TaskConfig&);
/// Returns the kind of Dataset::view(), for which no samples are needed. Only where it is Scatter,
/// samples may decide otherwise, see Dataset::targetsAreSides().
ViewKind viewKindOf(const TaskConfig&);
/// Returns that of a run from its target or what a lane has drawn: a table of two classes has two
/// rows of pixels, and no scatter is as small.
ViewKind viewKindOf(const TaskConfig&, const Picture&);
/// Makes the data set with its samples. Throws InputError when a file cannot be used.
std::unique_ptr<Dataset> makeDataset(const TaskConfig&, uint64_t seed);

} // namespace halfscope
