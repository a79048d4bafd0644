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

namespace halfscope {

enum class Split : uint8_t { Train, Validation };

class Dataset {
public:
    virtual ~Dataset() = default;
    /// Of one sample: "x", "target", and what else it has.
    virtual std::span<const TensorSpec> tensors() const = 0;
    virtual int64_t samples(Split) const = 0;
    /// Fills a batch that Batch::of() made for as many rows as there are samples. From any thread,
    /// several at a time; may read files. The numbers of samples that could not be read.
    virtual std::vector<int64_t> read(Split, std::span<const int64_t> samples,
                                      Batch& out) const = 0;
    /// How predictions on it are shown.
    virtual TaskView view() const = 0;
};

/// A row of the table of data sets, by TaskKind.
struct DataSetInfo {
    const char* name; ///< of task.kind: "checkerboard"
    Phrase about;     ///< for tool tips and the manual, after the name
    /// Every step sees all samples, and task.batch does not count.
    bool wholeSet = false;
    bool labels = false; ///< targets are class numbers
    /// Samples of the train split.
    int64_t (*samples)(const TaskConfig&) = nullptr;
    /// InputError when a file cannot be used.
    std::unique_ptr<Dataset> (*make)(const TaskConfig&, uint64_t seed) = nullptr;
};

std::span<const DataSetInfo> dataSets();
const DataSetInfo& infoOf(TaskKind);

} // namespace halfscope
