// Walks through a model, brings images into the layout that each layer asks for, and makes its
// states.
#include "engine/models/emit_model.h"

#include "engine/core/error.h"
#include "engine/ops/functional.h"

#include <set>
#include <utility>

namespace halfscope {

namespace {

/// A value between two layers.
struct Flow {
    NodeId node = kNoNode;
    Shape shape; ///< as the layers see it
    Layout layout = Layout::Planes;
};

/// Returns the same value in the other layout. When there is only one channel or one pixel, both
/// are the same bytes and it is a view.
NodeId inLayout(Builder& b, const Flow& flow, Layout layout) {
    if (flow.layout == layout) return flow.node;
    const Shape& s = flow.shape;
    const bool same = s[1] == 1 || s[2] * s[3] == 1;
    if (layout == Layout::Rows) {
        const NodeId last = same ? flow.node : b.transpose(flow.node, {0, 2, 3, 1});
        return b.reshape(last, {s[0] * s[2] * s[3], s[1]});
    }
    if (same) return b.reshape(flow.node, s);
    return b.transpose(b.reshape(flow.node, {s[0], s[2], s[3], s[1]}), {0, 3, 1, 2});
}

bool takesRows(const LayerSpec& layer, Layout given) {
    return layer.info->layout && layer.info->layout(layer, given) == Layout::Rows;
}

/// Finds the layers for which it is worth bringing an image into rows: the first 1x1 convolution of
/// several with nothing but elementwise layers and norms between them, or of a single one that ends
/// the model when rows are wanted. A single one among other layers stays a convolution: two
/// transposes cost more than a product gains.
class RowStarts {
public:
    RowStarts(const LayerSpec& root, Layout output) {
        walk(root);
        if (output == Layout::Rows) end();
    }
    bool contains(const LayerSpec& layer) const { return m_starts.contains(&layer); }

private:
    void walk(const LayerSpec& layer) {
        if (layer.info->holds == Holds::Residual) m_open = nullptr;
        for (const LayerSpec& child : layer.children)
            walk(child);
        if (layer.info->holds == Holds::Residual) m_open = nullptr;
        if (layer.info->holds != Holds::Nothing) return;
        if (takesRows(layer, Layout::Planes)) {
            end();
            m_open = &layer;
        } else if (!takesRows(layer, Layout::Rows)) {
            m_open = nullptr;
        }
    }
    void end() {
        if (m_open != nullptr) m_starts.insert(m_open);
    }

    const LayerSpec* m_open = nullptr; ///< the last 1x1 convolution, while the layers after it keep
                                       ///< rows
    std::set<const LayerSpec*> m_starts;
};

class ModelEmitter {
public:
    ModelEmitter(Builder& b, const ModelSpec& model, const ModelOptions& options)
        : m_b(b), m_rowStarts(model.root, options.output) {
        m_parts.storage = options.storage;
        m_parts.prefix = options.prefix;
        m_parts.mode = options.mode;
        m_parts.seed = options.seed;
        m_words = wordsOf(options.prefix);
    }

    Flow emit(const LayerSpec& layer, const Flow& in) {
        switch (layer.info->holds) {
        case Holds::Nothing: return single(layer, in);
        case Holds::Chain: return chain(layer, in);
        case Holds::Residual: return residual(layer, in);
        }
        failInvariant("unknown kind of layer");
    }

    EmittedModel finish(const Flow& flow, Layout wanted) {
        LabelScope label(m_b, m_lastLabel);
        const bool image = flow.shape.rank() == 4;
        const NodeId output = image ? inLayout(m_b, flow, wanted) : flow.node;
        return {output, flow.shape, std::move(m_parts.parameters), std::move(m_parts.updates),
                m_lastLabel};
    }

private:
    Flow single(const LayerSpec& layer, const Flow& in) {
        m_lastLabel = m_words + layer.label;
        LabelScope label(m_b, m_lastLabel);
        const NodeType type = checkedOutput(layer, {in.shape, m_b.dtypeOf(in.node)}, m_parts.mode);
        const bool rows = in.shape.rank() == 4 && takesRows(layer, in.layout) &&
                          (in.layout == Layout::Rows || m_rowStarts.contains(layer));
        const Layout layout = rows ? Layout::Rows : Layout::Planes;
        LayerContext context(m_b, layer, layout, m_parts);
        const NodeId y = layer.info->emitNodes(context, layer, inLayout(m_b, in, layout));
        require(m_b.shapeOf(y).elements() == type.shape.elements(),
                layer.written + " became " + m_b.shapeOf(y).text() + " instead of " +
                    type.shape.text());
        return {y, type.shape, layout};
    }

    /// Only the layers right inside a chain know of its padding: others may have other lengths.
    Flow chain(const LayerSpec& layer, const Flow& in) {
        const NodeId outside = std::exchange(m_parts.padding, paddingOf(layer, in));
        Flow flow = in;
        for (const LayerSpec& child : layer.children)
            flow = emit(child, flow);
        m_parts.padding = outside;
        return flow;
    }
    NodeId paddingOf(const LayerSpec& layer, const Flow& in) {
        if (layer.info->padding != Padding::Tells) return kNoNode;
        LabelScope label(m_b, m_words + layer.label);
        const NodeId index = m_b.constantLike(static_cast<double>(paddingIndexOf(layer)), in.node);
        return m_b.emit(Op::Equal, {in.node, index});
    }

    Flow residual(const LayerSpec& layer, const Flow& in) {
        const NodeId outside = std::exchange(m_parts.padding, kNoNode);
        Flow flow = in, beside = in;
        for (const LayerSpec& child : layer.children) {
            Flow& at = child.name == kShortcutName ? beside : flow;
            at = emit(child, at);
        }
        m_parts.padding = outside;
        m_lastLabel = m_words + layer.label;
        LabelScope label(m_b, m_lastLabel);
        checkSum(layer, in.shape, flow.shape, beside.shape);
        flow.node = fn::add(m_b, inLayout(m_b, beside, flow.layout), flow.node);
        return flow;
    }

    Builder& m_b;
    RowStarts m_rowStarts;
    ModelParts m_parts;
    std::string m_words, m_lastLabel;
};

} // namespace

std::string wordsOf(std::string prefix) {
    if (!prefix.empty()) prefix.back() = ' ';
    return prefix;
}

LayerContext::LayerContext(Builder& builder, const LayerSpec& layer, Layout given,
                           ModelParts& parts)
    : b(builder), layout(given), m_layer(layer), m_parts(parts) {
    if (layer.info->parameters) m_infos = layer.info->parameters(layer);
}

const ParameterInfo* LayerContext::find(std::string_view name) const {
    for (const ParameterInfo& info : m_infos)
        if (info.name == name) return &info;
    return nullptr;
}

bool LayerContext::has(std::string_view parameter) const { return find(parameter) != nullptr; }

std::string LayerContext::stateName(std::string_view name) const {
    return m_parts.prefix + joinedPath(m_layer.path, name);
}

NodeId LayerContext::stateOf(const ParameterInfo& info) {
    const ParameterStorage& storage = m_parts.storage;
    const bool ofNorm =
        info.role == ParameterRole::NormWeight || info.role == ParameterRole::NormBias;
    const bool running = info.role == ParameterRole::RunningStatistic;
    const bool trained = !running && info.role != ParameterRole::Buffer;
    const DType dtype = running  ? storage.normsSeen.value_or(storage.norms)
                        : ofNorm ? storage.norms
                                 : storage.weights;
    const StateRole role = trained ? StateRole::Parameter : StateRole::RunningStatistic;
    const NodeId state = b.state(stateName(info.name), info.shape, dtype, role, info.start);
    if (trained) m_parts.parameters.push_back(state);
    return state;
}

NodeId LayerContext::parameter(std::string_view name) {
    const ParameterInfo* info = find(name);
    if (info == nullptr) return kNoNode;
    NodeId value = stateOf(*info);
    if (info->role != ParameterRole::NormWeight && info->role != ParameterRole::NormBias)
        return value;
    // F32 whatever its storage, rounded before when the network is cast as a whole.
    if (const auto seen = m_parts.storage.normsSeen) {
        b.setRule("network cast to " + std::string(nameOf(*seen)));
        value = b.cast(value, *seen);
        b.setRule({});
    }
    return b.cast(value, DType::F32);
}

NodeId LayerContext::statistic(std::string_view name) {
    const ParameterInfo* info = find(name);
    require(info != nullptr, "a running statistic that the layer does not list");
    return stateOf(*info);
}

void LayerContext::moveOn(std::string_view name, NodeId batch, double momentum, NodeId counter) {
    m_parts.updates.push_back({statistic(name), batch, b.label(), momentum, counter});
}

NodeId LayerContext::batches() {
    return b.state(stateName(kBatchesTracked), {}, DType::F32, StateRole::Counter);
}

NodeId LayerContext::counter() {
    if (m_parts.counter == kNoNode) {
        m_parts.counter =
            b.state(m_parts.prefix + "dropout.step", {}, DType::F32, StateRole::Counter);
        m_parts.updates.push_back({m_parts.counter, kNoNode, b.label()});
    }
    return m_parts.counter;
}

EmittedModel emitModel(Builder& b, const ModelSpec& model, const ModelInput& input,
                       const ModelOptions& options) {
    ModelEmitter emitter(b, model, options);
    const Flow out = emitter.emit(model.root, {input.node, input.shape, input.layout});
    return emitter.finish(out, options.output);
}

namespace {

/// Returns the mean over this batch and those before it, and counts it. The count stays at 2^24,
/// from where on float32 adds no 1.
NodeId meanOverBatches(Builder& b, const ModelUpdate& u) {
    const NodeId count = b.shift(u.counter, 1);
    b.graph().setNext(u.counter, count);
    const NodeId one = b.constantLike(1, count), share = b.div(one, count);
    const auto times = [&](NodeId value, NodeId factor) {
        return b.mul(value, b.expandLike(factor, value));
    };
    const NodeId before = b.cast(u.state, b.dtypeOf(u.batch));
    return b.add(times(before, b.sub(one, share)), times(u.batch, share));
}

} // namespace

void emitModelUpdates(Builder& b, const std::vector<ModelUpdate>& updates) {
    PhaseScope phase(b, Phase::Forward);
    AutocastScope off(b, nullptr);
    for (const ModelUpdate& u : updates) {
        LabelScope label(b, u.label);
        if (u.batch == kNoNode) { // counts exactly to 2^24, and begins again
            const NodeId next = b.shift(u.state, 1);
            const NodeId full = b.emit(Op::LessEqual, {b.constantLike(0x1p24, next), next});
            b.graph().setNext(u.state, b.where(full, b.constantLike(0, next), next));
            continue;
        }
        if (u.counter != kNoNode) {
            const NodeId mean = meanOverBatches(b, u);
            b.graph().setNext(u.state, b.cast(mean, b.dtypeOf(u.state)));
            continue;
        }
        const NodeId kept = b.scale(b.cast(u.state, b.dtypeOf(u.batch)), 1 - u.momentum);
        const NodeId next = b.add(kept, b.scale(u.batch, u.momentum));
        b.graph().setNext(u.state, b.cast(next, b.dtypeOf(u.state)));
    }
}

} // namespace halfscope
