// Where the arrays of a data set are: in which files, and under which names.
#pragma once

#include "engine/core/message.h"
#include "engine/data/task_spec.h"
#include "engine/io/array.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Where an array is: its setting, its file, and its name, for files with several arrays.
struct ArrayPlace {
    const char* key; ///< "data.x"; empty where no setting names the file
    std::string path;
    std::string name; ///< "x"
    /// What follows the name where the samples are not those to train on: "_val".
    std::span<const std::string_view> endings{};
    /// The file has the samples to train on, too, so that the name must have an ending.
    bool besideTrained = false;
    /// Returns "data.x: PATH", or "PATH" without a key, for messages.
    std::string shown() const;
};

ArrayPlace placeOfX(const TaskConfig&);
/// Returns where y is: without a setting of its own, in the file of x if that can hold several
/// arrays.
ArrayPlace placeOfY(const TaskConfig&);
/// Return the same for samples to validate on, and for those of the test, that have files of their
/// own: a setting without a path stands for no file.
enum class OwnPart : uint8_t { Validation, Test };
ArrayPlace placeOfX(const TaskConfig&, OwnPart);
ArrayPlace placeOfY(const TaskConfig&, OwnPart);
/// Returns where the inputs of TaskConfig::predictFile are.
ArrayPlace placeOfPredicted(const TaskConfig&);

/// Returns what the header says of the array with the place's name: x, X, x_train or X_train, or
/// the only one of the file; of a place with endings, x_val or X_val, or else x or X or the only
/// one. Throws InputError when there is none.
ArrayInfo infoAt(const ArrayPlace&);
/// Reads an array that infoAt() found. Cancellable.
Array readAt(const ArrayPlace&, const ArrayInfo&);

/// The test part beside the arrays of a task.
struct TestPart {
    ArrayInfo x, y;
};
/// Returns the arrays x_test and y_test (or X_test and Y_test) of the files of x and y; nothing
/// when one of them is missing.
std::optional<TestPart> testPartOf(const TaskConfig&);

/// Tells of inputs to validate or test on without their targets, or targets without their inputs,
/// in the file of x and y: nothing uses them.
std::vector<Message> unpairedNotes(const TaskConfig&);

/// Targets of the samples to predict.
struct PredictedTargets {
    Array y;
    std::string file{}; ///< empty: that of the inputs
};
/// Returns the array y (or Y, y_train, Y_train) beside the inputs of TaskConfig::predictFile, where
/// that file can hold several arrays, or else the .npy file that opensArrays() takes for its
/// targets; nothing when there is none that can be read. Cancellable.
std::optional<PredictedTargets> predictedTargets(const TaskConfig&);

/// Returns the names of the arrays in an .npz or .safetensors file, the first few if there are
/// many, or "none". Throws InputError when it cannot be read.
Message listedArrays(const std::string& path);

/// Whether a file is, by its name, one that can hold arrays: .npy, .npz or .safetensors.
bool isArrayName(const std::string& path);

/// DataSetInfo::opens of arrays.
bool opensArrays(const std::string& path, TaskConfig&);

} // namespace halfscope
