// A model as data: layers within layers, read from PyTorch's text and written as PyTorch prints it;
// the shape after each layer, and the parameters. Leaves the nodes to emit_model.
#pragma once

#include "engine/models/layer.h"

#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

inline constexpr size_t kMaxLayers = 1000;
/// Of a model's parameters, and of what a layer hands on.
inline constexpr int64_t kMaxElements = int64_t{1} << 31;

struct ModelSpec {
    LayerSpec root;
};

/// Reads a layer of the table, usually "nn.Sequential(...)", as programmers write it (with the
/// prefix torch.nn., nn. or none; layers by position, by keyword, or in an OrderedDict) or as
/// PyTorch prints it. Throws InputError, a sentence that begins with "line 2, column 5: ".
ModelSpec readModel(std::string_view text);

/// The model as print() shows it in PyTorch, without a line end. readModel() gives the same model
/// back; what PyTorch does not print (count_include_pad) can only have its default.
std::string textOf(const ModelSpec&);

/// The model as a programmer writes it: an expression of torch.nn, whose lines after the first
/// begin with `indent`.
std::string pythonOf(const ModelSpec&, const std::string& indent);
/// The classes that it needs and torch.nn lacks, each behind two empty lines.
std::string pythonClassesOf(const ModelSpec&);

/// A layer as a model runs through it, for showing its shapes.
struct LayerShape {
    std::string path, label, written;
    lang::Place place;
    int depth = 0;          ///< 0: the outermost, which comes after those that it holds
    Shape shape;            ///< of its result
    int64_t parameters = 0; ///< elements, without running statistics
};

/// The type of the result for an input of any rank; axis 0 counts samples. Throws the InputError of
/// the first layer that refuses; `seen` has the layers before it.
NodeType outputOf(const ModelSpec&, const NodeType& in, std::vector<LayerShape>* seen = nullptr);

/// InputError of the first layer that knows fewer indices than these, from 0 on.
void checkIndices(const ModelSpec&, int64_t indices);

/// What the first layer that cares wants.
Wants wantedBy(const ModelSpec&);

/// A parameter or running statistic with its state-dict name, "2.0.bias".
struct NamedParameter {
    std::string name;
    ParameterInfo info;
};
/// In the order of PyTorch's state_dict(), which also has num_batches_tracked.
std::vector<NamedParameter> parametersOf(const ModelSpec&);

/// The layer's own type for an input; throws what it refuses, and a result that is too large.
NodeType checkedOutput(const LayerSpec&, const NodeType& in);

/// The part of a Residual that its input goes through instead of being added as it is.
inline constexpr std::string_view kShortcutName = "shortcut";
/// Refuses a Residual whose two ways do not end in one shape.
void checkSum(const LayerSpec& residual, const Shape& in, const Shape& out, const Shape& beside);

/// "<path>.<name>", without the dot for the outermost layer.
std::string joinedPath(std::string_view path, std::string_view name);

} // namespace halfscope
