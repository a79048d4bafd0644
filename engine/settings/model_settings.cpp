// Writes the text of the template, and adds the name of the setting to errors about a model.
#include "engine/settings/model_settings.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>

namespace halfscope {

namespace {

std::string linearText(int64_t inputs, int64_t outputs) {
    return "Linear(" + numberText(inputs) + ", " + numberText(outputs) + ")";
}

std::string normText(Norm norm, int64_t width) {
    switch (norm) {
    case Norm::None: return {};
    case Norm::BatchNorm: return "BatchNorm1d(" + numberText(width) + ")";
    case Norm::LayerNorm: return "LayerNorm(" + numberText(width) + ")";
    }
    failInvariant("unknown norm");
}

const char* activationText(Activation activation) {
    switch (activation) {
    case Activation::Relu: return "ReLU()";
    case Activation::Tanh: return "Tanh()";
    case Activation::Sigmoid: return "Sigmoid()";
    case Activation::Gelu: return "GELU()";
    case Activation::Silu: return "SiLU()";
    case Activation::Softplus: return "Softplus()";
    case Activation::Sin: return "Sine()";
    }
    failInvariant("unknown activation");
}

/// A layer of the template: its text and its label.
struct Row {
    std::string text, label;
};

std::vector<Row> templateRows(const ModelConfig& model, int64_t inputs, int64_t outputs) {
    std::vector<Row> rows;
    for (int64_t i = 0; i <= model.depth; ++i) {
        const std::string number = numberText(i);
        rows.push_back({linearText(i == 0 ? inputs : model.width, model.width), "layer " + number});
        if (model.norm != Norm::None)
            rows.push_back({normText(model.norm, model.width), "norm " + number});
        rows.push_back({activationText(model.activation), "activation " + number});
    }
    rows.push_back({linearText(model.width, outputs), "output layer"});
    return rows;
}

std::string textOf(const std::vector<std::string>& layers) {
    std::string text = "nn.Sequential(\n";
    for (const std::string& layer : layers)
        text += "    nn." + layer + ",\n";
    return text + ")";
}

std::string textOf(const std::vector<Row>& rows) {
    std::vector<std::string> layers;
    for (const Row& row : rows)
        layers.push_back(row.text);
    return textOf(layers);
}

/// Returns the first layer that does more than move values; null when there is none.
const LayerSpec* firstThatComputes(const LayerSpec& layer) {
    if (layer.info->holds == Holds::Nothing) return layer.info->computes ? &layer : nullptr;
    for (const LayerSpec& child : layer.children)
        if (const LayerSpec* first = firstThatComputes(child)) return first;
    return nullptr;
}

template <class Call>
auto named(const Call& call) {
    try {
        return call();
    } catch (const InputError& error) {
        throw InputError(phrase("Model", "model.layers, %1"), error.message());
    }
}

} // namespace

std::string templateText(const ModelConfig& model, int64_t inputs, int64_t outputs) {
    return textOf(templateRows(model, inputs, outputs));
}

ModelSpec modelOf(const ModelConfig& config, int64_t inputs, int64_t outputs) {
    if (!config.layers.empty()) return named([&] { return readModel(config.layers); });
    const std::vector<Row> rows = templateRows(config, inputs, outputs);
    ModelSpec model = readModel(textOf(rows));
    for (size_t i = 0; i < rows.size(); ++i)
        model.root.children[i].label = rows[i].label;
    return model;
}

NodeType modelOutput(const ModelConfig& config, const ModelSpec& model, const NodeType& in,
                     ModelMode mode) {
    const auto output = [&] { return outputOf(model, in, nullptr, mode); };
    if (!config.layers.empty()) return named(output);
    const int64_t rows = in.shape.elements() / std::max<int64_t>(in.shape.back(), 1);
    if (rows > 0 && config.width > kMaxElements / rows)
        throw InputError(phrase("Model", "model.width: %1 is not allowed with %2 rows in a batch: "
                                         "at most %3, so that a layer has up to %4 values; smaller "
                                         "batches or pictures allow more"),
                         config.width, rows, kMaxElements / rows, kMaxElements);
    return output();
}

int64_t firstIndices(const ModelConfig& config) {
    constexpr std::string_view kName = "Embedding"; // most models are not worth reading
    if (config.layers.find(kName) == std::string::npos) return 0;
    try {
        const ModelSpec model = readModel(config.layers);
        const LayerSpec* first = firstThatComputes(model.root);
        return first && first->info->takesIndices ? first->whole("num_embeddings") : 0;
    } catch (const InputError&) {
        return 0;
    }
}

void checkIndices(const ModelConfig& config, const ModelSpec& model, int64_t indices) {
    if (config.layers.empty()) return checkIndices(model, indices);
    named([&] { checkIndices(model, indices); });
}

namespace {

template <class Call>
auto namedCritic(const Call& call) {
    try {
        return call();
    } catch (const InputError& error) {
        throw InputError(phrase("Model", "model.critic, %1"), error.message());
    }
}

} // namespace

void checkCriticText(const std::string& text) {
    if (!text.empty()) namedCritic([&] { return readModel(text); });
}

std::string criticTemplateText(const ModelConfig& config, int64_t inputs) {
    return textOf(std::vector<std::string>{linearText(inputs, config.width), "LeakyReLU(0.2)",
                                           linearText(config.width, 1)});
}

ModelSpec criticOf(const ModelConfig& config, int64_t inputs) {
    if (config.critic.empty()) return readModel(criticTemplateText(config, inputs));
    return namedCritic([&] { return readModel(config.critic); });
}

void checkScores(const ModelSpec& critic, const NodeType& in, ModelMode mode) {
    const Shape made = namedCritic([&] { return outputOf(critic, in, nullptr, mode); }).shape;
    const Shape wanted{in.shape[0], 1};
    if (!(made == wanted))
        throw InputError(phrase("Model",
                                "model.critic: the critic makes %1 of %2, where one score for each "
                                "sample, %3, is expected"),
                         shapeText(made), shapeText(in.shape), shapeText(wanted));
}

void checkModelText(const std::string& text) {
    if (!text.empty()) named([&] { return readModel(text); });
}

} // namespace halfscope
