// The settings of a task: its data set, what that is made from, and its loss.
#pragma once

#include <cstdint>
#include <string>

namespace halfscope {

/// A row of the table of data sets (data_sets.cpp); those that code speaks of have names.
enum class TaskKind : uint8_t {
    Checkerboard,
    Image,
    Regression,
    Mnist,
    Arrays,
    Csv,
    Curve,
    Line,
    Moons,
    Spirals,
    Circles,
    Pictures
};
const char* nameOf(TaskKind); ///< empty beyond the last row

/// A row of the table of losses (losses.cpp).
enum class LossKind : uint8_t { Mse, L1, Huber, SmoothL1, CrossEntropy, BceWithLogits };
const char* nameOf(LossKind); ///< empty beyond the last row

struct LossSpec {
    LossKind kind = LossKind::Mse;
    double delta = 1;          ///< where Huber and smooth L1 turn from a parabola into lines
    double labelSmoothing = 0; ///< cross entropy: the share of the target that all classes have
};

struct TaskConfig {
    TaskKind kind = TaskKind::Checkerboard;
    int64_t side = 64;                        ///< pixels of a picture's side
    double frequency = 8;                     ///< checkerboard: half periods over the side
    std::string image{};                      ///< image task: path of a PNG or JPEG
    int64_t samples = 1024;                   ///< of a data set that is drawn from the seed
    int64_t batch = 64;                       ///< samples in a step
    double targetMean = 10, targetSpread = 5; ///< regression: targets are spread * N(0,1) + mean
    double noise = 0.1;       ///< line, moons, circles: standard deviation; spirals: the most
    std::string path{};       ///< mnist: folder, empty for the sample; csv: file
    std::string x{}, y{};     ///< arrays: files
    std::string target{};     ///< csv: the target's column; empty for the last one
    int64_t pictureSide = 32; ///< pictures: pixels of a sample's side
    bool grey = false;        ///< pictures: one channel in place of three
    bool standardise = true;  ///< csv: inputs to mean 0 and deviation 1
    double validation = 0.1;  ///< arrays, csv, moons, ...: the share of samples that is held back
    LossSpec loss{};
};

} // namespace halfscope
