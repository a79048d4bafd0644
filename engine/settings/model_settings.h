// The model that the settings describe: model.layers if it is given, else a text that is written
// from the template of width, depth, norm and activation.
#pragma once

#include "engine/models/model_spec.h"
#include "engine/settings/run_config.h"

namespace halfscope {

/// Returns the template as text: Linear inputs -> width, then `depth` hidden layers width -> width,
/// each with norm and activation, then Linear width -> outputs.
std::string templateText(const ModelConfig&, int64_t inputs, int64_t outputs);

/// Returns the model. Layers of the template are labelled "layer 0", "norm 0", "activation 0" and
/// so on, the last one "output layer"; those of model.layers are labelled by name and state-dict
/// path, "Linear 0". Throws InputError "model.layers, line 2, column 5: ...".
ModelSpec modelOf(const ModelConfig&, int64_t inputs, int64_t outputs);

/// Returns the type of the model's result. Throws InputError like modelOf() when a layer refuses
/// its input.
NodeType modelOutput(const ModelConfig&, const ModelSpec&, const NodeType& in,
                     ModelMode = ModelMode::Train);

/// Returns how many indices the Embedding knows with which the model begins; 0 when it begins
/// otherwise, or cannot be read.
int64_t firstIndices(const ModelConfig&);

/// Throws InputError likewise when an Embedding knows fewer indices than the data have.
void checkIndices(const ModelConfig&, const ModelSpec&, int64_t indices);

/// Checks a value of the settings model.layers and model.critic. Throws InputError like modelOf().
void checkModelText(const std::string& text);
void checkCriticText(const std::string& text);

/// Returns the critic that an empty model.critic means as text: one hidden layer of model.width.
std::string criticTemplateText(const ModelConfig&, int64_t inputs);
/// Returns the critic of a model that has one: model.critic or, when that is empty, the template's.
/// Throws InputError "model.critic, line 2, column 5: ...".
ModelSpec criticOf(const ModelConfig&, int64_t inputs);
/// Checks that the critic gives each sample one score. Throws InputError likewise, or
/// "model.critic: ...".
void checkScores(const ModelSpec& critic, const NodeType& in, ModelMode = ModelMode::Train);

} // namespace halfscope
