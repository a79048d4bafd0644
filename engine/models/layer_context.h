// What a layer's emit function works with: the builder, the layer's parameters as states, and how
// its input lies in memory. Leaves the walk through a model to emit_model.
#pragma once

#include "engine/models/layer.h"
#include "engine/ops/builder.h"

#include <optional>

namespace halfscope {

/// How a network keeps its parameters.
struct ParameterStorage {
    DType weights = DType::F32;
    DType norms = DType::F32; ///< affine parameters of norms
    /// When set, norms use their f32 master weights rounded to this dtype.
    std::optional<DType> normsSeen{};

    ParameterStorage() = default;
    ParameterStorage(DType all) : weights(all), norms(all) {} // NOLINT: a dtype is a storage
    ParameterStorage(DType w, DType n, std::optional<DType> seen)
        : weights(w), norms(n), normsSeen(seen) {}
};

/// A state of a model that a forward pass in training updates: a running statistic, by this batch's
/// value, or, when there is no batch value, the count of steps that dropout uses.
struct ModelUpdate {
    NodeId state = kNoNode;
    NodeId batch = kNoNode;
    std::string label;        ///< "norm 0"
    double momentum = 0;      ///< the weight of the batch's value
    NodeId counter = kNoNode; ///< counts batches, where the statistic is the mean over all of them
};

/// What the layers of one model share while they are emitted.
struct ModelParts {
    ParameterStorage storage;
    std::string prefix; ///< before every state's name: "second."
    ModelMode mode = ModelMode::Train;
    uint64_t seed = 0; ///< for dropout
    NodeId counter = kNoNode;
    NodeId padding = kNoNode;       ///< for the layers right inside a chain that tells of it
    std::vector<NodeId> parameters; ///< states of role Parameter, in the order of the forward pass
    std::vector<ModelUpdate> updates;
};

class LayerContext {
public:
    LayerContext(Builder& builder, const LayerSpec& layer, Layout layout, ModelParts& parts);

    Builder& b;
    const Layout layout; ///< for x and the result

    bool trains() const { return m_parts.mode == ModelMode::Train; }
    bool has(std::string_view parameter) const;
    /// Returns a parameter or buffer of the layer in the form used for computing: weights as they
    /// are stored, affine parameters of norms in F32, kNoNode for one that the layer does not have.
    NodeId parameter(std::string_view name);
    /// Returns a running statistic as it is stored.
    NodeId statistic(std::string_view name);
    /// Updates a running statistic with this batch's value, once the step is taken. With a counter
    /// from batches(), it becomes the mean over all batches, whatever the momentum.
    void moveOn(std::string_view statistic, NodeId batch, double momentum,
                NodeId counter = kNoNode);
    /// Returns the count of the batches that the layer has seen before this one, F32, rank 0.
    NodeId batches();
    /// Returns the count of steps, F32, rank 0; for random numbers together with seed().
    NodeId counter();
    uint64_t seed() const { return m_parts.seed; }
    /// Returns which positions are padding, Bool (samples, length); kNoNode when that is not known.
    NodeId padding() const { return m_parts.padding; }

private:
    const ParameterInfo* find(std::string_view name) const;
    std::string stateName(std::string_view name) const;
    NodeId stateOf(const ParameterInfo&);

    const LayerSpec& m_layer;
    ModelParts& m_parts;
    std::vector<ParameterInfo> m_infos;
};

} // namespace halfscope
