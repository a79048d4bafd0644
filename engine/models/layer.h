// The layer table: one row a layer, as torch.nn names it, with its arguments, its shape rule, its
// parameters with PyTorch's default start, and the nodes that it becomes.
//
// How to add a layer: write its row in the file of its family (layers_*.cpp in this folder), which
// needs three things: the arguments in PyTorch's order, `output` (the shape rule, which refuses in
// the user's words through refuse()) and `emitNodes` (functions of engine/ops on the builder).
// Layers with parameters name them in `parameters`. Then add rows for it to
// tests/engine/models/tst_layers.cpp. Nothing else knows the layers one by one.
#pragma once

#include "engine/core/message.h"
#include "engine/graph/graph.h"
#include "engine/lang/syntax.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

class LayerContext;
struct LayerInfo;

enum class ArgKind : uint8_t {
    Whole,   ///< 10
    Real,    ///< 1e-05
    Truth,   ///< True
    Word,    ///< 'nearest'
    Size,    ///< 2 or (2, 2): printed as it was given
    Single,  ///< 3 or (3,): printed as (3,)
    Pair,    ///< 2 or (2, 2): printed as (2, 2)
    Factor,  ///< 2.0 or (2.0, 2.0): one or two numbers, printed as reals
    Extents, ///< 256 or (16, 16): one to six whole numbers, printed as (256,)
};
/// How PyTorch prints an argument.
enum class ArgShown : uint8_t {
    Named,   ///< eps=1e-05
    Bare,    ///< 256
    Changed, ///< by name where it is not the default
    Never
};

struct ArgInfo {
    std::string_view name;
    ArgKind kind = ArgKind::Whole;
    /// PyTorch's default as text; empty: the argument must be given.
    std::string_view standard{};
    ArgShown shown = ArgShown::Named;
    double least = -1e9, most = 1e9; ///< of every number, both included
    /// The values that the engine can do, with " or " between them, where PyTorch knows others;
    /// empty: all.
    std::string_view only{};
    bool byName = false; ///< has no place among those by position
    /// A truth that acts only where this one is True; elsewhere it is printed as False.
    std::string_view with{};
    /// Takes 'same' and 'valid' too: the row's `complete` sets the numbers beside the word.
    bool paddingWords = false;
};

/// The value of an argument. Whole numbers are exact: ranges end far below 2^53.
struct ArgValue {
    bool isNone = false, isTuple = false, isReal = false; ///< as it was written
    bool truth = false;
    std::vector<double> numbers;
    std::string word; ///< of a Word, or of a padding
};

/// A layer of a model, with a value for every argument of its row.
struct LayerSpec {
    const LayerInfo* info = nullptr;
    std::vector<ArgValue> args; ///< by the row's arguments
    std::string name;           ///< within what holds it: "0", "conv1"; empty for the outermost
    std::string path;           ///< state-dict path: "2.0"; empty for the outermost
    std::string label;          ///< of causes: "Linear 2.0"
    std::string written;        ///< as the user wrote it: "Linear(400, 10)"
    lang::Place place;
    std::vector<LayerSpec> children;

    const ArgValue& value(std::string_view arg) const;
    int64_t whole(std::string_view arg) const;
    double real(std::string_view arg) const;
    bool truth(std::string_view arg) const { return value(arg).truth; }
    std::array<int64_t, 2> pair(std::string_view arg) const;
    Shape extents(std::string_view arg) const;
    /// InputError: "line 2, column 5: Linear(400, 10): the input has 256 features".
    [[noreturn]] void refuse(const Message& why) const;
};

enum class ParameterRole : uint8_t {
    Weight,
    Bias,
    NormWeight,
    NormBias,
    RunningStatistic,
    Buffer ///< stored like weights, but drawn once and never trained
};

/// A parameter of a layer, or what stands beside the parameters in its state dict.
struct ParameterInfo {
    std::string_view name; ///< "weight": its state-dict name is "<path>.weight"
    Shape shape;
    ParameterRole role = ParameterRole::Weight;
    InitialValue start;
};

/// How the pixels of images (n, c, h, w) lie in memory while nodes are emitted: as planes
/// (n, c, h, w), or as rows (n h w, c), in which a 1x1 convolution is a matrix product. Everything
/// that is no image has planes.
enum class Layout : uint8_t { Planes, Rows };

/// Layers that hold others.
enum class Holds : uint8_t {
    Nothing,
    Chain,   ///< one after the other
    Residual ///< a chain whose result is added to the input, or to that of `shortcut`
};

/// What a layer's input means. The first layer of a model that cares tells how samples come to it.
enum class Wants : uint8_t {
    Anything,
    Features, ///< one axis: a picture comes as a table of pixels
    Samples,  ///< the axes that they have in the data
    Images    ///< likewise, and a picture that is painted comes as one image
};

struct LayerInfo {
    std::string_view name; ///< as in torch.nn
    Wants wants = Wants::Anything;
    std::span<const ArgInfo> args{};
    /// The type of the result; throws through LayerSpec::refuse() what the layer cannot take.
    NodeType (*output)(const LayerSpec&, const NodeType& in) = nullptr;
    /// The nodes. x lies as `layout` asked for, and so does the result.
    NodeId (*emitNodes)(LayerContext&, const LayerSpec&, NodeId x) = nullptr;
    /// Parameters with PyTorch's default start, in the order of its state dict; null: none.
    std::vector<ParameterInfo> (*parameters)(const LayerSpec&) = nullptr;
    /// How it takes images that lie as `given`; null: as planes. Elementwise layers: anyLayout. One
    /// that answers rows for planes must take planes too.
    Layout (*layout)(const LayerSpec&, Layout given) = nullptr;
    /// Fills in and checks what depends on several arguments; null: nothing does.
    void (*complete)(LayerSpec&) = nullptr;
    Holds holds = Holds::Nothing;
    /// What an argument that it does not have was meant for, behind the sentence that refuses it;
    /// null or empty: nothing but the nearest name.
    Message (*hint)(std::string_view argument) = nullptr;
    bool computes = true;      ///< false: it only moves values, and no precision can change it
    bool takesIndices = false; ///< its input is I32; layers that compute want floats otherwise
    /// The class in Python, where torch.nn has none of this name.
    std::string_view python{};
};

std::span<const LayerInfo> layerTable();
/// nullptr when there is none.
const LayerInfo* findLayer(std::string_view name);

// The families, in the order of the table.
std::span<const LayerInfo> productLayers();
std::span<const LayerInfo> normLayers();
std::span<const LayerInfo> activationLayers();
std::span<const LayerInfo> poolingLayers();
std::span<const LayerInfo> shapeLayers();
std::span<const LayerInfo> coordinateLayers();
std::span<const LayerInfo> sequenceLayers();

/// Uniform within 1 / sqrt(fan in), for weights and biases alike: the reset_parameters() of
/// torch.nn.Linear and of convolutions (kaiming_uniform_ with a = sqrt(5)).
InitialValue linearStart(double fanIn);

// Parts of shape rules.
inline Layout anyLayout(const LayerSpec&, Layout given) { return given; }
/// (.., in_features) to (.., outFeatures); refuses what does not end in in_features.
NodeType lastAxisOutput(const LayerSpec&, const NodeType& in, int64_t outFeatures);
inline NodeType sameType(const LayerSpec&, const NodeType& in) { return in; }
/// Refuses what is no image (samples, channels, height, width).
void requireImage(const LayerSpec&, const NodeType& in);
/// Refuses what is no sequence (samples, channels, length).
void requireSequence(const LayerSpec&, const NodeType& in);
/// "(64, 10)", as Python writes it.
std::string shapeText(const Shape&);

} // namespace halfscope
