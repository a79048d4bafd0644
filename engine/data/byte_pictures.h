// Data sets whose files hold small pictures of one size as bytes, with samples of their own to
// validate on, as MNIST and CIFAR do: the bytes stay in memory as they are, and PixelValues makes
// floats of them. How the files are read is left to the data sets.
#pragma once

#include "engine/core/shape.h"
#include "engine/data/dataset.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// The samples of one split.
struct BytePart {
    std::vector<std::byte> pictures; ///< one behind the other, each plane by plane
    std::vector<std::byte> labels;   ///< a byte each, see checkLabels()
};

struct BytePictures {
    Shape picture; ///< (channels, height, width) of 1 or 3 channels
    std::vector<std::string> classes;
    std::array<BytePart, 2> parts; ///< by Split
    std::vector<std::string> files;

    BytePart& of(Split split) { return parts[static_cast<size_t>(split)]; }
};

/// Returns the specs of x and of the class.
std::vector<TensorSpec> bytePictureTensors(const Shape& picture, int64_t classes);
/// Throws InputError for a setting that does not fit pictures of this shape.
void checkPictureSettings(const TaskConfig&, const Shape& picture);
/// Throws InputError for the first label that is not below `classes`.
void checkLabels(std::span<const std::byte> labels, int64_t classes, const std::string& path);

/// Makes the data set, after checkPictureSettings(). With task.predictFile, the pictures there are
/// the ones to validate on. Throws InputError when they cannot be.
std::unique_ptr<Dataset> makeBytePictures(BytePictures, const TaskConfig&, uint64_t seed);

/// Returns the constant that variedBytesPython() needs, as a line of Python; often nothing.
std::string blackPython(const TaskConfig&);
/// Returns normalisedPython() and the function samples() as Python; `train` and `validation` are
/// expressions for a pair of x and target.
std::string samplesPython(const TaskConfig&, const std::string& train,
                          const std::string& validation);
/// Returns PythonData::varied.
std::string variedBytesPython(const TaskConfig&);

} // namespace halfscope
