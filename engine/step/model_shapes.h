// Follows a batch's shape through the settings' network, layer by layer, without a graph.
#pragma once

#include "engine/core/dtype.h"
#include "engine/core/message.h"
#include "engine/data/batch.h"
#include "engine/models/model_spec.h"
#include "engine/settings/run_config.h"

#include <string>
#include <vector>

namespace halfscope {

/// The form in which a model takes a batch.
struct SeenInput {
    Shape shape;
    bool pixelRows = false; ///< true for one image whose pixels are the rows of the batch
};
/// Returns the form in which the model takes the batch. A picture's pixels are the rows of a batch
/// (rows, inputs), and one image when the model's first layer wants images. Samples with axes of
/// their own keep them where the model's first layer wants that or the model fits them so, as in
/// PyTorch; else they are flattened, unless more layers take them as they are.
SeenInput seenInput(const RunConfig&, const ModelSpec&, const BatchShape&);

/// Returns the batch for a program that must be ready at once. Uses only what is already known of
/// the files: the known facts of a picture do not say whether it is grey, and with a network of one
/// output it is taken for grey.
BatchShape knownBatch(const RunConfig&);

/// Returns the model after checking that it takes this input and has a value for every one of the
/// target. Throws InputError "model.layers, line 2, column 5: ..." or "model.layers: the model
/// makes ...".
ModelSpec fittingModel(const RunConfig&, const BatchShape&, DType, ModelMode = ModelMode::Train);

struct ModelShapes {
    std::string text; ///< of the setting, or of the template
    Shape input;
    /// Up to the first one that cannot be read or refuses what it is given.
    std::vector<LayerShape> layers;
    Message error;   ///< why the network cannot be trained so; empty where it can
    Message warning; ///< see modelWarning()
};
/// Tells what is wrong with a network that can be trained all the same: one that sees the
/// characters of a text that it is to predict, one whose last layer limits the scores of classes,
/// one whose last layer cannot return what standardised targets are, or one that was pasted as
/// PyTorch prints it, without all that its layers were made with or its class does. Empty when no
/// fault is known. Throws InputError when model.layers cannot be read.
Message modelWarning(const RunConfig&);

/// Reads no file: whether a picture's colours fit is told when the run is built.
ModelShapes modelShapes(const RunConfig&);

/// Does the same for the critic. It scores the targets and the predictions of a step as one batch,
/// with those of wgan-gp's penalty.
ModelShapes criticShapes(const RunConfig&);

} // namespace halfscope
