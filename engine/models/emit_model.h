// A model's forward pass as nodes: parameters as states, layer after layer. One function serves
// every model; the caller's autocast policy acts in it. Leaves the loss and the rest of the step to
// engine/step.
#pragma once

#include "engine/models/layer_context.h"
#include "engine/models/model_spec.h"

namespace halfscope {

struct ModelInput {
    NodeId node = kNoNode;
    Shape shape; ///< as the layers see it: (1, 2, 64, 64) for a picture whose pixels are rows
    Layout layout = Layout::Planes;
};

struct ModelOptions {
    ParameterStorage storage{};
    std::string prefix{}; ///< before every state's name and, as words, before every label
    ModelMode mode = ModelMode::Train;
    uint64_t seed = 0;              ///< for dropout's masks
    Layout output = Layout::Planes; ///< the layout wanted for an image
};

struct EmittedModel {
    NodeId output = kNoNode;
    Shape shape; ///< the output's, as the layers see it
    std::vector<NodeId> parameters;
    std::vector<ModelUpdate> updates;
    std::string lastLabel; ///< of the layer that made the output
};

/// Emits a model. Parameters are states "<prefix><path>.weight", stored as `storage` says. Throws
/// InputError when a layer refuses its input. 1x1 convolutions that follow one another are emitted
/// as matrix products over pixels, and the layers between them keep pixels as rows, so that they
/// have the same nodes as linear layers would.
EmittedModel emitModel(Builder&, const ModelSpec&, const ModelInput&, const ModelOptions& = {});

/// Returns the words that a prefix puts before a label: "second " for "second.".
std::string wordsOf(std::string prefix);

/// Sets the next values: (1 - momentum) * running + momentum * batch, where the momentum is 1 / n
/// for the mean over n batches, and the counts. Emitted late
/// in a step, because a step can be given up only until its first state is written.
void emitModelUpdates(Builder&, const std::vector<ModelUpdate>&);

} // namespace halfscope
