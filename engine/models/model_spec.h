// A model as data: layers within layers, read from PyTorch's text and written as PyTorch prints it;
// the shape after each layer, and the parameters. Leaves the nodes to emit_model.
#pragma once

#include "engine/models/layer.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

inline constexpr size_t kMaxLayers = 1000;
/// Limit for a model's parameters, and for the result of a layer.
inline constexpr int64_t kMaxElements = int64_t{1} << 31;

struct ModelSpec {
    LayerSpec root;
};

/// Reads a layer of the table, usually "nn.Sequential(...)", as programmers write it (with the
/// prefix torch.nn., nn. or none; layers by position, by keyword, or in an OrderedDict) or as
/// PyTorch prints it, or a class that runs layers one after another, see ClassNetwork. A printed
/// class becomes a Sequential, see LayerSpec::ofClass, and torchvision's blocks what they compute,
/// see readAsTorchvision(). Throws InputError, a sentence that begins with "line 2, column 5: ";
/// where a layer is refused, `before` then has the layers before it, if there are any.
ModelSpec readModel(std::string_view text, ModelSpec* before = nullptr);
ModelSpec readModel(const lang::Value&, ModelSpec* before = nullptr);

/// Returns the model as print() shows it in PyTorch, without a line end at the end. readModel()
/// gives the same model back; arguments that PyTorch does not print (count_include_pad) can only
/// have their defaults.
std::string textOf(const ModelSpec&);

/// Returns the model as a programmer writes it: an expression of torch.nn, whose lines after the
/// first begin with `indent`.
std::string pythonOf(const ModelSpec&, const std::string& indent);
/// Returns the source of the classes that the model needs and torch.nn lacks, each after two empty
/// lines.
std::string pythonClassesOf(const ModelSpec&);

/// A layer in the order in which a model runs, for showing its shapes.
struct LayerShape {
    std::string path, label, written;
    lang::Place place;
    int depth = 0;          ///< 0 for the outermost layer, which comes after those that it holds
    Shape shape;            ///< of its result
    int64_t parameters = 0; ///< number of elements, without running statistics
};

/// Returns the type of the result for an input of any rank; axis 0 counts samples. Throws the
/// InputError of the first layer that refuses; `seen` then has the layers before it. It never has
/// those of which only a part was read.
NodeType outputOf(const ModelSpec&, const NodeType& in, std::vector<LayerShape>* seen = nullptr,
                  ModelMode = ModelMode::Train);

/// Throws the InputError of the first layer that takes fewer than `indices` indices, counted from
/// 0.
void checkIndices(const ModelSpec&, int64_t indices);

/// Whether what the model makes of a sample in evaluation depends on the others of its batch.
bool usesBatch(const ModelSpec&);

/// Returns the first value, in the order of the layers, that is not Wants::Anything.
Wants wantedBy(const ModelSpec&);

/// A parameter or running statistic with its state-dict name, "2.0.bias".
struct NamedParameter {
    std::string name;
    ParameterInfo info;
};
/// Returns them in the order of PyTorch's state_dict(), which also has num_batches_tracked.
std::vector<NamedParameter> parametersOf(const ModelSpec&);

/// Returns the state-dict names of the numbers of batches, kBatchesTracked, that PyTorch counts up.
std::vector<std::string> batchCountsOf(const ModelSpec&);

/// Returns the type of a layer's result for an input. Throws when the layer refuses the input, and
/// when the result is too large.
NodeType checkedOutput(const LayerSpec&, const NodeType& in, ModelMode = ModelMode::Train);

/// The part of a Residual that its input goes through instead of being added unchanged.
inline constexpr std::string_view kShortcutName = "shortcut";
/// Returns the index that marks padding in the input of a chain that tells of it.
int64_t paddingIndexOf(const LayerSpec& chain);
/// Refuses a Residual whose two branches do not end in one shape.
void checkSum(const LayerSpec& residual, const Shape& in, const Shape& out, const Shape& beside);

/// Returns "<path>.<name>", without the dot for the outermost layer.
std::string joinedPath(std::string_view path, std::string_view name);
/// Returns the path that makes `joined` with this name; nothing where it has another name.
std::optional<std::string> layerPathOf(std::string_view joined, std::string_view name);

} // namespace halfscope
