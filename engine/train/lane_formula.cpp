// What a lane of a curve has learnt: its weights as coefficients.
#include "engine/train/lane_formula.h"

#include "engine/settings/model_settings.h"

#include <string_view>
#include <vector>

namespace halfscope {

bool hasFormula(const RunConfig& config, const Task& task) {
    if (task.view().terms.empty() || networksOf(config.model) > 1) return false;
    const BatchShape shape = task.shape();
    const ModelSpec model = modelOf(config.model, shape.inputs, shape.outputs);
    const std::vector<LayerSpec>& layers = model.root.children;
    const LayerSpec& only = layers.size() == 1 ? layers.front() : model.root;
    return std::string_view(only.info->name) == "Linear";
}

std::string laneFormula(const TaskView& view, const Weights& learnt) {
    std::vector<float> weights, bias;
    for (const auto& [name, values] : learnt)
        (name.ends_with("bias") ? bias : weights) = values;
    return formulaOf(view, weights, bias);
}

} // namespace halfscope
