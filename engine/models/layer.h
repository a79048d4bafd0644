// The layer table: one row for each layer, named as in torch.nn, with its arguments, its shape
// rule, its parameters with PyTorch's initial values, and the nodes that it becomes.
//
// How to add a layer: write its row in the file of its family (layers_*.cpp in this folder), which
// needs three things: the arguments in PyTorch's order, `output` (the shape rule, which refuses in
// the user's words through refuse()) and `emitNodes` (functions of engine/ops on the builder).
// Layers with parameters name them in `parameters`. resources/manual/en/add-layer.md names the
// tests that want a row for it. No other code but the table of ONNX knows single layers.
#pragma once

#include "engine/core/message.h"
#include "engine/graph/graph.h"
#include "engine/lang/syntax.h"

#include <array>
#include <cstdint>
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
    Sides,   ///< 1 or (1, 2, 3, 4): printed as (1, 1, 1, 1)
    Factor,  ///< 2.0 or (2.0, 2.0): one or two numbers, printed as reals
    Extents, ///< 256 or (16, 16): one to six whole numbers, printed as (256,)
};
/// How PyTorch prints an argument.
enum class ArgShown : uint8_t {
    Named,   ///< eps=1e-05
    Bare,    ///< 256
    Changed, ///< by name, unless it has the default
    Never,
    Lost ///< never, although it changes what the layer computes
};

struct ArgInfo {
    std::string_view name;
    ArgKind kind = ArgKind::Whole;
    /// PyTorch's default as text; empty when the argument must be given.
    std::string_view standard{};
    ArgShown shown = ArgShown::Named;
    double least = -1e9, most = 1e9; ///< for every number, both included
    /// The values that the engine supports, with " or " between them, when PyTorch knows others;
    /// empty for all.
    std::string_view only{};
    bool byName = false; ///< true when it cannot be given by position
    /// A truth argument that must be True for this one to act; otherwise this one is printed as
    /// False.
    std::string_view with{};
    /// Allows 'same' and 'valid', too: the row's `complete` sets the numbers beside the word.
    bool paddingWords = false;
    /// The argument after which PyTorch prints this one; empty when it is the one before.
    std::string_view printedAfter{};
    /// A word that names a function: F.gelu and nn.GELU() are 'gelu', too.
    bool functions = false;
    bool orNone = false;   ///< allows None, which is not the default
    bool bareWord = false; ///< a word that PyTorch prints without quotes
    bool orOne = false;    ///< of a Size or Factor: allows (2,), too, as for a sequence
};

/// The value of an argument. Whole numbers are exact: their ranges end far below 2^53.
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
    std::string name;           ///< within its parent: "0", "conv1"; empty for the outermost
    std::string path;           ///< state-dict path: "2.0"; empty for the outermost
    std::string label;          ///< for causes: "Linear 2.0"
    std::string written;        ///< as the user wrote it: "Linear(400, 10)"
    lang::Place place;
    std::vector<LayerSpec> children;
    bool printed = false;            ///< as print() shows it, which leaves arguments out
    std::vector<std::string> untold; ///< the arguments that it left out
    std::string ofClass;             ///< the printed class whose forward() is not known
    bool cut = false;                ///< only some of its layers were read, see readModel()

    const ArgValue& value(std::string_view arg) const;
    int64_t whole(std::string_view arg) const;
    double real(std::string_view arg) const;
    bool truth(std::string_view arg) const { return value(arg).truth; }
    std::array<int64_t, 2> pair(std::string_view arg) const;
    Shape extents(std::string_view arg) const;
    /// Throws InputError: "line 2, column 5: Linear(400, 10): the input has 256 features".
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

/// A parameter of a layer, or another value in its state dict.
struct ParameterInfo {
    std::string_view name; ///< "weight": its state-dict name is "<path>.weight"
    Shape shape;
    ParameterRole role = ParameterRole::Weight;
    InitialValue start;
};

/// How the pixels of images (n, c, h, w) lie in memory while nodes are emitted: as planes (n, c, h,
/// w), or as rows (n h w, c), in which a 1x1 convolution is a matrix product. Values that are not
/// images always have planes.
enum class Layout : uint8_t { Planes, Rows };

/// Whether a layer holds other layers, and how.
enum class Holds : uint8_t {
    Nothing,
    Chain,   ///< one after the other
    Residual ///< a chain whose result is added to the input, or to the result of `shortcut`
};

/// What a layer's input means. The first layer of a model whose value is not Anything decides how
/// samples come to the model.
enum class Wants : uint8_t {
    Anything,
    Features, ///< one axis: a picture comes as a table of pixels
    Samples,  ///< the axes that samples have in the data
    Images    ///< as Samples, but a picture that is painted comes as one image
};

/// Whether a layer looks at which positions of a sequence are padding.
enum class Padding : uint8_t {
    Ignores,
    Takes, ///< where it is known, which it is right inside a chain that tells
    Needs, ///< likewise; it is refused anywhere else
    Tells  ///< a chain: the first Embedding's padding_idx marks padding in the input
};

/// PyTorch's name for the count of batches that a norm with running statistics has seen.
inline constexpr std::string_view kBatchesTracked = "num_batches_tracked";

enum class ModelMode : uint8_t {
    Train,   ///< batch statistics, dropout
    Evaluate ///< running statistics, no dropout
};

struct LayerInfo {
    std::string_view name; ///< as in torch.nn
    Wants wants = Wants::Anything;
    std::span<const ArgInfo> args{};
    /// Returns the type of the result; throws through LayerSpec::refuse() for an input that the
    /// layer cannot take.
    NodeType (*output)(const LayerSpec&, const NodeType& in) = nullptr;
    /// Emits the nodes and returns the result. x has the layout that `layout` asked for, and so
    /// does the result.
    NodeId (*emitNodes)(LayerContext&, const LayerSpec&, NodeId x) = nullptr;
    /// Returns the parameters with PyTorch's initial values, in the order of its state dict; null
    /// when there are none.
    std::vector<ParameterInfo> (*parameters)(const LayerSpec&) = nullptr;
    /// Returns the layout in which it takes images that lie as `given`; null for planes.
    /// Elementwise layers use anyLayout. A layer that answers rows for planes must take planes too.
    Layout (*layout)(const LayerSpec&, Layout given) = nullptr;
    /// Fills in and checks whatever depends on several arguments; null when nothing does.
    void (*complete)(LayerSpec&) = nullptr;
    Holds holds = Holds::Nothing;
    /// Returns a hint for an argument that the layer does not have, appended to the error. When it
    /// is null or the hint is empty, the error gives only the nearest name.
    Message (*hint)(std::string_view argument) = nullptr;
    /// Returns what to write in place of the parts that PyTorch prints of the layer, which do not
    /// show its arguments; null for layers that are printed with them.
    Message (*inPlaceOfParts)(const LayerSpec&, std::span<const lang::Argument* const>) = nullptr;
    bool computes = true;      ///< false when it only moves values, so that no precision can change
                               ///< it
    bool takesIndices = false; ///< true when its input is I32; otherwise layers that compute want
                               ///< floats
    /// The Python source of the class, when torch.nn has none of this name.
    std::string_view python{};
    /// Refuses an input that the layer cannot be trained on, although it can be evaluated on it;
    /// null when there is none.
    void (*checkTraining)(const LayerSpec&, const NodeType& in) = nullptr;
    Padding padding = Padding::Ignores;
    /// Parts that compute under a label of their own, "TransformerEncoderLayer 2.linear1", as the
    /// state dict names them.
    std::span<const std::string_view> parts{};
    bool ignoresArguments = false; ///< true when it takes any, as PyTorch's Identity does
    /// Whether what it makes of a sample depends on the others of its batch in evaluation, too;
    /// null when it never does.
    bool (*usesBatch)(const LayerSpec&) = nullptr;
    /// Whether PyTorch counts up kBatchesTracked while it trains. An instance norm has it, too, but
    /// leaves it as it is.
    bool countsBatches = false;
};

std::span<const LayerInfo> layerTable();
/// Returns nullptr when there is no such layer.
const LayerInfo* findLayer(std::string_view name);

// The families, in the order of the table.
std::span<const LayerInfo> productLayers();
std::span<const LayerInfo> normLayers();
std::span<const LayerInfo> activationLayers();
std::span<const LayerInfo> poolingLayers();
std::span<const LayerInfo> paddingLayers();
std::span<const LayerInfo> shapeLayers();
std::span<const LayerInfo> coordinateLayers();
std::span<const LayerInfo> sequenceLayers();

/// Returns the uniform distribution within 1 / sqrt(fan in), for weights and biases alike: the
/// reset_parameters() of torch.nn.Linear and of convolutions (kaiming_uniform_ with a = sqrt(5)).
InitialValue linearStart(double fanIn);

// Parts of shape rules.
inline Layout anyLayout(const LayerSpec&, Layout given) { return given; }
/// Returns (.., outFeatures) for (.., in_features); refuses inputs that do not end in in_features.
NodeType lastAxisOutput(const LayerSpec&, const NodeType& in, int64_t outFeatures);
inline NodeType sameType(const LayerSpec&, const NodeType& in) { return in; }
/// Refuses inputs that are not an image (samples, channels, height, width).
void requireImage(const LayerSpec&, const NodeType& in);
/// Refuses inputs that are not a sequence (samples, channels, length).
void requireSequence(const LayerSpec&, const NodeType& in);
/// Refuses inputs that are not (samples, channels, ...).
void requirePlaces(const LayerSpec&, const NodeType& in, int leastRank);
/// Returns the axis that an argument names, which may count from the end; refuses one that the
/// shape does not have.
int axisOf(const LayerSpec&, std::string_view arg, const Shape& shape);
/// Refuses a layer whose input, widened inside to this shape, would be too large.
void requireRoom(const LayerSpec&, const Shape& widened);
/// Returns the axis along which the softmax family works. Without `dim`, PyTorch chooses the first
/// axis of tensors of rank 0, 1 and 3, and otherwise the second.
int softmaxAxis(const LayerSpec&, const Shape& in);
/// Returns a shape as Python writes it: "(64, 10)".
std::string shapeText(const Shape&);

} // namespace halfscope
