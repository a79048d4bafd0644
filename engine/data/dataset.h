// A data set: samples that are read by number. The sampler and the loader decide which of them a
// step sees.
//
// How to add one: write a file of its own next to this one, with a class and a row (see
// regression.cpp), and list the row; resources/manual/en/add-data-set.md has the steps.
#pragma once

#include "engine/core/message.h"
#include "engine/data/batch.h"
#include "engine/data/task_spec.h"
#include "engine/data/task_view.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace halfscope {

enum class Split : uint8_t { Train, Validation };

/// A pass over a split. Samples to train on may differ from epoch to epoch, by chance that depends
/// on the seed, the epoch and the sample alone; in epoch 0 they are as they are stored.
struct Pass {
    Split split = Split::Train;
    int64_t epoch = 0;
    Pass(Split of, int64_t number = 0) : split(of), epoch(number) {}
};

/// A sample that could not be read: its place among those that were asked for, and why.
struct Unread {
    size_t row = 0;
    Message why; ///< names the file
};

/// How the values of a channel were made of pixels from 0 to 1: (pixel - mean) / deviation.
struct ChannelScale {
    float mean = 0, deviation = 1;
};

class Dataset {
public:
    virtual ~Dataset() = default;
    /// Of one sample: "x", "target", and what else it has.
    virtual std::span<const TensorSpec> tensors() const = 0;
    virtual int64_t samples(Split) const = 0;
    /// Fills a batch that Batch::of() made for as many rows as there are samples. From any thread,
    /// several at a time; may read files. Those that could not be read and are to be skipped, by
    /// row; InputError where they are not.
    virtual std::vector<Unread> read(Pass, std::span<const int64_t> samples, Batch& out) const = 0;
    /// Which one a sample of a split is, from 0, in the data as they are stored: the row of an
    /// array, or the line of a table without its header and what is left out.
    virtual int64_t number(Split, int64_t sample) const { return sample; }
    /// Whether samples differ from epoch to epoch.
    virtual bool varies() const { return false; }
    /// What users should know of how the samples were made, in whole sentences.
    virtual std::vector<Message> notes() const { return {}; }
    /// Of x, where samples are pictures whose pixels are known: by channel. Empty: not known.
    virtual std::vector<ChannelScale> channelScales() const { return {}; }
    /// How predictions on it are shown; its kind is viewKindOf() the task.
    virtual TaskView view() const = 0;
};

/// What is known of a data set before its samples are read.
struct DataFacts {
    std::vector<TensorSpec> tensors; ///< see Dataset::tensors()
    int64_t train = 1, validation = 0;
    std::vector<Message> notes{}; ///< see Dataset::notes(), as far as the files were read
};

enum class Targets : uint8_t {
    Numbers,
    Classes,
    AsTheLoss, ///< class numbers where the loss wants them
};

/// A data set in Python, for a program that trains with PyTorch.
struct PythonData {
    std::string imports; ///< lines that stand above those of torch
    /// Constants, then functions. samples() returns (x, target) to train on and (x, target) to
    /// validate on, or None in place of the second pair.
    std::string code;
    /// varied(x) of a batch to train on, where samples differ from epoch to epoch; else empty.
    std::string varied{};
};

/// A row of the table of data sets, by TaskKind.
struct DataSetInfo {
    const char* name; ///< of data.kind: "checkerboard"
    Phrase about;     ///< for tool tips and the manual, after the name
    /// Those that only some data sets have, and this one has: "data.path".
    std::array<std::string_view, 12> settings{};
    /// Every step sees all samples, and task.batch does not count.
    bool wholeSet = false;
    Targets targets = Targets::Numbers;
    bool validates = false; ///< there are samples to validate on
    bool fromFiles = false; ///< its facts are in files
    /// Those of data.path whose files are looked at, too: "train".
    std::span<const std::string_view> folders{};
    /// How predictions are shown; where the loss wants classes of AsTheLoss, as a table of them.
    ViewKind view = ViewKind::Scatter;
    /// Whether a file or folder is of its form, by name and what lies in it; sets where samples
    /// come from. Null: it has none. InputError where a part of it is missing.
    bool (*opens)(const std::string& path, TaskConfig&) = nullptr;
    /// InputError when a file cannot be used.
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

/// Files are looked at once for each setting, and again whenever a data set is made of them: what
/// shows settings may ask often. From any thread. InputError when a file cannot be used.
DataFacts factsOf(const TaskConfig&);
/// The kind of Dataset::view(), which needs no samples: nobody else decides how predictions are
/// shown.
ViewKind viewKindOf(const TaskConfig&);
/// With its samples. InputError likewise.
std::unique_ptr<Dataset> makeDataset(const TaskConfig&, uint64_t seed);

} // namespace halfscope
