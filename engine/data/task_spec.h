// The settings of a task: its data set, what it is made from, and its loss.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halfscope {

/// A row of the table of data sets (data_sets.cpp).
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
    Pictures,
    Shards,
    Generate,
    Text,
    TextClasses,
    Cifar,
    Recorded ///< by another program; it cannot be trained here
};
const char* nameOf(TaskKind); ///< empty for values beyond the last row

/// A row of the table of losses (losses.cpp).
enum class LossKind : uint8_t { Mse, L1, Huber, SmoothL1, CrossEntropy, BceWithLogits };
const char* nameOf(LossKind); ///< empty for values beyond the last row

struct LossSpec {
    LossKind kind = LossKind::Mse;
    double delta = 1;          ///< where Huber and smooth L1 turn from a parabola into lines
    double labelSmoothing = 0; ///< cross entropy: the target's share that all classes get
    /// cross entropy: "balanced", a number for each class, or empty, see classWeightsOf()
    std::string classWeights{};
    /// Not a setting, see setFromData(): the weights by class that the former gives for the data.
    std::vector<float> weights{};
};

/// What happens to a line of a table that lacks a value.
enum class Missing : uint8_t {
    Refuse,
    Drop, ///< the line is left out
    Mean, ///< the mean of the column's training values is used; lines without a target are left out
};
const char* nameOf(Missing); ///< "refuse", "drop", "mean"

/// What happens to a sample whose file cannot be decoded.
enum class Damaged : uint8_t {
    Refuse,
    Skip, ///< another sample takes its place
};
const char* nameOf(Damaged); ///< "refuse", "skip"

/// Which samples are held back to validate on.
enum class Held : uint8_t {
    Random, ///< chosen by a fixed shuffle
    Last,   ///< the last ones, for samples in the order of time
};
const char* nameOf(Held); ///< "random", "last"

inline constexpr size_t kMostSettingBytes = 4096; ///< of a setting that is a text or a path

/// Which characters of a text are predicted from a sample.
enum class Predicted : uint8_t {
    Last,  ///< the character that follows the sample
    Every, ///< the next character at each position, as in language models
};
const char* nameOf(Predicted); ///< "last", "every"

/// What texts with classes are made of.
enum class Tokens : uint8_t { Words, Characters };
const char* nameOf(Tokens); ///< "words", "characters"

struct TaskConfig {
    TaskKind kind = TaskKind::Checkerboard;
    int64_t side = 64;             ///< pixels of a picture's side
    double frequency = 8;          ///< checkerboard: half periods over the side
    std::string image{};           ///< image task: path of a PNG or JPEG
    int64_t samples = 1024;        ///< for data sets that are drawn from the seed
    int64_t validationSamples = 0; ///< regression, curve, line: drawn beside these, to validate on
    int64_t batch = 64;            ///< samples in a step
    double targetMean = 10, targetSpread = 5; ///< regression: targets are spread * N(0,1) + mean
    double noise = 0.1;   ///< line, moons, circles: standard deviation; spirals: the most
    std::string path{};   ///< mnist, cifar, pictures: folder; csv, text ...: file; shards: either
    std::string x{}, y{}; ///< arrays: files
    /// csv: the tables of the samples to validate on and of those for the test at the end; empty
    /// where they are shares of the others, see own_files.h
    std::string validationPath{}, testPath{};
    std::string xVal{}, yVal{}, xTest{}, yTest{}; ///< arrays: likewise
    /// csv, text-classes: name of the target's column; empty for the last one that can be it
    std::string target{};
    bool header = true;       ///< likewise: the first line names the columns
    std::string textColumn{}; ///< text-classes: name of the column of texts; empty for the longest
    std::string drop{};       ///< csv: names of the columns to leave out, see droppedColumns()
    /// Not a setting. csv, arrays, text-classes: a file of inputs without targets; mnist, cifar,
    /// pictures, shards: a picture or a folder of them. Its samples are the ones to validate on.
    /// What is learnt from the other samples (means, words) is applied to them.
    std::string predictFile{};
    /// Not a setting, see taskOf(). arrays: the whole numbers of x are indices from 0 to indices -
    /// 1; 0: all numbers of x are numbers.
    int64_t indices = 0;
    int64_t pictureSide = 32; ///< pictures, shards: pixels of a sample's side
    bool grey = false;        ///< likewise: one channel in place of three
    /// pictures, shards, mnist, cifar: half of those to train on are mirrored
    bool flip = false;
    int64_t crop = 0;        ///< likewise: pixels by which those are moved at most
    std::string mean{};      ///< likewise: subtracted; a number, one a channel, "auto" or empty
    std::string deviation{}; ///< likewise: divided by
    Damaged damaged = Damaged::Refuse;
    int64_t shardReaders = 1;  ///< shards: how many readers there are; each reads every shard
    bool standardise = true;   ///< csv: inputs to mean 0 and deviation 1
    bool standardiseX = false; ///< arrays: likewise
    /// csv, arrays: targets to mean 0 and deviation 1, where standardisesTarget().
    bool standardiseTarget = false;
    Missing missing = Missing::Refuse; ///< csv
    bool test = false;                 ///< arrays: x_test and y_test are validated on
    double testShare = 0;     ///< of the samples to validate on, kept for a test, see test_split.h
    double validation = 0.1;  ///< arrays, csv, moons, text, ...: the share that is held back
    Held held = Held::Random; ///< arrays, csv
    bool stratify = false;    ///< each class is held back by the same share, see stratifies()
    int64_t gap = 0; ///< likewise, with Held::Last: samples before those that are held back which
                     ///< are not used
    int64_t latent = 64;                   ///< generate: random numbers of a sample
    int64_t context = 32;                  ///< text, text-classes: tokens of a sample
    Predicted predicted = Predicted::Last; ///< text
    Tokens tokens = Tokens::Words;         ///< text-classes
    int64_t vocabulary = 10'000;           ///< text-classes: the most indices of tokens
    LossSpec loss{};
};

} // namespace halfscope
