// The model that the settings describe: model.layers where it is given, else the template of
// width, depth, norm and activation, which writes such a text.
#pragma once

#include "engine/models/model_spec.h"
#include "engine/settings/run_config.h"

namespace halfscope {

/// The template as text: Linear inputs -> width, then `depth` hidden layers width -> width, each
/// with norm and activation, then Linear width -> outputs.
std::string templateText(const ModelConfig&, int64_t inputs, int64_t outputs);

/// Layers of the template are labelled "layer 0", "norm 0", "activation 0" and so on, the last
/// "output layer"; those of model.layers by name and state-dict path, "Linear 0". InputError
/// "model.layers, line 2, column 5: ...".
ModelSpec modelOf(const ModelConfig&, int64_t inputs, int64_t outputs);

/// The type of the model's result; InputError as that of modelOf() where a layer refuses its input.
NodeType modelOutput(const ModelConfig&, const ModelSpec&, const NodeType& in);

/// InputError likewise where an Embedding knows fewer than the indices of the data.
void checkIndices(const ModelConfig&, const ModelSpec&, int64_t indices);

/// The values of the settings model.layers and model.critic; InputError as that of modelOf().
void checkModelText(const std::string& text);
void checkCriticText(const std::string& text);

/// The critic of a model that has one: model.critic, or where that is empty one hidden layer of
/// model.width. InputError "model.critic, line 2, column 5: ...".
ModelSpec criticOf(const ModelConfig&, int64_t inputs);
/// That it gives each sample one score. InputError likewise, or "model.critic: ...".
void checkScores(const ModelSpec& critic, const NodeType& in);

} // namespace halfscope
