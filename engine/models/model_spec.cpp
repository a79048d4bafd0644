// Reads layers from the syntax tree, names them, finds their shapes and parameters, and writes
// PyTorch's text.
#include "engine/models/model_spec.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/lang/python.h"
#include "engine/models/class_network.h"
#include "engine/models/layer_arguments.h"
#include "engine/models/printed_blocks.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace halfscope {

namespace {

using lang::Argument;
using lang::Kind;
using lang::Value;

/// Returns "Linear" for "torch.nn.Linear".
std::string_view withoutPrefix(std::string_view name) {
    for (const std::string_view prefix : {"torch.nn.", "nn."})
        if (name.starts_with(prefix)) return name.substr(prefix.size());
    return name;
}

/// Returns "relu" for "torch.nn.functional.relu".
std::string_view lastWord(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool isOrderedDict(const Value& value) {
    return value.kind == Kind::Call &&
           (value.text == "OrderedDict" || value.text == "collections.OrderedDict");
}

bool isStateName(std::string_view name) {
    return !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_' || c == '-';
    });
}

constexpr Phrase kLayerName =
    phrase("Model", "%1 is not a layer's name: letters, digits, _ and -, at most 100 of them");

/// Returns the entries of OrderedDict([("name", layer), ...]), OrderedDict({"name": layer, ...}) or
/// OrderedDict(name=layer, ...) as arguments with names.
std::vector<Argument> entriesOf(const Value& dict) {
    const auto isNamed = [](const Argument& argument) { return !argument.name.empty(); };
    if (!dict.arguments.empty() && std::ranges::all_of(dict.arguments, isNamed))
        return dict.arguments;
    const bool one = dict.arguments.size() == 1 && dict.arguments[0].name.empty();
    const Kind kind = one ? dict.arguments[0].value.kind : Kind::None;
    if (kind != Kind::List && kind != Kind::Tuple)
        refuseAt(dict.place,
                 phrase("Model", "OrderedDict wants a list such as [(\"first\", Linear(2, 1))]"));
    std::vector<Argument> entries;
    for (const Value& pair : dict.arguments[0].value.items) {
        const bool fits = (pair.kind == Kind::Tuple || pair.kind == Kind::List) &&
                          pair.items.size() == 2 && pair.items[0].kind == Kind::String;
        if (!fits)
            refuseAt(pair.place,
                     {phrase("Model",
                             "found %1, where a pair such as (\"first\", Linear(2, 1)) is allowed"),
                      lang::textOf(pair, 40)});
        if (pair.items[0].text.empty()) // which PyTorch refuses, too
            refuseAt(pair.items[0].place, {kLayerName, quotedText("")});
        entries.push_back({pair.items[0].text, pair.items[0].place, false, pair.items[1]});
    }
    return entries;
}

constexpr std::array<std::string_view, 4> kWrappers{
    "OptimizedModule", "DataParallel", "DistributedDataParallel", "FullyShardedDataParallel"};

/// Whether a call is a program's own class as PyTorch prints it: with a name that begins with a
/// capital, and none of those whose parts are known to run otherwise than one after another.
bool isOwnClass(const Value& value) {
    constexpr std::string_view kOthers[] = {
        "ModuleList", "ModuleDict",         "TransformerEncoder", "TransformerDecoder",
        "BasicBlock", "MultiheadAttention", "Transformer",        "Bottleneck"};
    const std::string& name = value.text;
    const bool named = value.kind == Kind::Call && !name.empty() && name[0] >= 'A' &&
                       name[0] <= 'Z' && name.find('.') == name.npos && !findLayer(name);
    return named && !value.arguments.empty() &&
           std::ranges::all_of(value.arguments,
                               [](const Argument& part) { return part.printed; }) &&
           std::ranges::find(kWrappers, name) == kWrappers.end() &&
           std::ranges::find(kOthers, name) == std::end(kOthers);
}

/// Returns what is read as the outermost layer: of torch.compile(...), the network inside, and of a
/// printed class a Sequential of its parts.
Value outermostOf(Value value) {
    while (value.kind == Kind::Call && value.text == "torch.compile" && !value.arguments.empty() &&
           value.arguments[0].name.empty() && value.arguments[0].value.kind == Kind::Call)
        value = Value(std::move(value.arguments[0].value));
    if (isOwnClass(value) && !readAsTorchvision(value)) value.text = "Sequential";
    return value;
}

/// Words beyond it are cut before they are compared with layers.
constexpr size_t kLongestTypo = 100;
/// Characters of a layer with its arguments: enough for each layer that PyTorch prints.
constexpr size_t kLongestLayer = 200;

class Reader {
public:
    LayerSpec read(const Value& value, const std::string& path, const std::string& name,
                   bool printed = false) {
        if (const auto block = readAsTorchvision(value)) return read(*block, path, name, printed);
        if (++m_layers > kMaxLayers)
            refuseAt(value.place,
                     {phrase("Model", "more than %1 layers are not allowed"), kMaxLayers});
        LayerSpec layer;
        layer.name = name;
        layer.path = path;
        layer.place = value.place;
        layer.printed = printed;
        layer.info = rowOf(value);
        if (value.again && (layer.info->parameters || layer.info->holds != Holds::Nothing))
            refuseAt(value.place, {phrase("Model", "%1 stands here a second time, and its weights "
                                                   "would be shared: only layers without weights "
                                                   "may be used twice"),
                                   layer.info->name});
        layer.label = std::string(layer.info->name) + (path.empty() ? "" : " " + path);
        if (layer.info->holds == Holds::Nothing) {
            Value shown = value;
            shown.text = layer.info->name;
            layer.written = lang::textOf(shown, kLongestLayer);
            std::vector<const Argument*> given;
            for (const Argument& argument : value.arguments)
                given.push_back(&argument);
            readArguments(layer, given);
        } else {
            layer.written = layer.info->name;
            readChildren(layer, value);
        }
        if (layer.info->complete) layer.info->complete(layer);
        return layer;
    }

    /// Returns the outermost layer up to the one that was refused; without a row where that is the
    /// first one.
    LayerSpec takeBefore() { return std::move(m_before); }

private:
    static const LayerInfo* rowOf(const Value& value) {
        if (value.kind != Kind::Call)
            refuseAt(value.place,
                     {phrase("Model", "found %1, where a layer such as Linear(2, 16) is allowed%2"),
                      lang::textOf(value, 40), bracketsHint(value)});
        if (const LayerInfo* info = findLayer(withoutPrefix(value.text))) return info;
        refuseAt(value.place, {phrase("Model", "%1 is not a layer of this program%2"),
                               quotedText(value.text), unknownHint(value)});
    }

    /// Returns a hint for a name where a layer should be: "nn.ReLU", or a function such as
    /// "F.relu".
    static Message bracketsHint(const Value& value) {
        if (value.kind != Kind::Name) return {};
        const std::string_view name = lastWord(value.text);
        if (!findLayer(withoutPrefix(value.text)))
            for (const LayerInfo& info : layerTable())
                if (lowerCase(std::string(info.name)) == name)
                    return {phrase("Model", "; functions are written as layers: %1()"), info.name};
        return phrase("Model", "; are its brackets missing?");
    }

    /// Returns the layers of this kind for other numbers of axes: "Conv1d, Conv2d" for "Conv3d".
    static std::string withOtherAxes(std::string_view name) {
        if (!name.ends_with("1d") && !name.ends_with("2d") && !name.ends_with("3d")) return {};
        const std::string kind(name.substr(0, name.size() - 2));
        std::string others;
        for (const char* axes : {"1d", "2d", "3d"})
            if (const LayerInfo* info = findLayer(kind + axes))
                others += (others.empty() ? "" : ", ") + std::string(info->name);
        return others;
    }

    /// Returns what to do without a layer of PyTorch that this program does not have.
    static Message unknownHint(const Value& value) {
        const std::string_view name = lastWord(value.text);
        const auto& parts = value.arguments;
        if (std::ranges::find(kWrappers, name) != kWrappers.end())
            return phrase("Model", "; it is a wrapper: paste the network that stands inside it");
        const bool printed =
            std::any_of(parts.begin(), parts.end(), [](const Argument& a) { return a.printed; });
        if (name == "TransformerEncoder")
            return phrase("Model", "; write its TransformerEncoderLayer(...) once for each of its "
                                   "num_layers");
        if (name == "ModuleList" && printed)
            return phrase("Model", "; print() does not tell how forward() runs these layers: write "
                                   "Sequential in its place if it runs one after the other, and "
                                   "Residual in place of each that it adds its input to");
        if (name == "ModuleList")
            return phrase("Model", "; write Sequential(...) without brackets [ ]");
        if (printed)
            return phrase("Model", "; PyTorch prints the layers of a class in the order of their "
                                   "names in it: if its forward() uses them in this order, write "
                                   "Sequential in place of its name; if it adds its input to the "
                                   "result, write Residual, with the name shortcut for the layer "
                                   "that its input goes through, inside Sequential(Residual(...), "
                                   "ReLU()) where a ReLU follows the sum");
        for (const std::string_view each : {"LSTM", "GRU", "RNN"})
            if (name == each)
                return phrase("Model", "; there are no recurrent layers: for sequences there is "
                                       "TransformerEncoderLayer");
        constexpr std::array<std::string_view, 4> kOfSeveral{
            "Bilinear", "CosineSimilarity", "PairwiseDistance", "MultiheadAttention"};
        if (std::ranges::find(kOfSeveral, name) != kOfSeveral.end() ||
            name.starts_with("MaxUnpool"))
            return phrase("Model", "; it takes several inputs, and each layer here gets only the "
                                   "result of the one before it");
        if (name.starts_with("Lazy"))
            return {phrase("Model", "; write %1 with all of its sizes"), name.substr(4)};
        if (const std::string others = withOtherAxes(name); !others.empty())
            return {phrase("Model", "; there are: %1"), others};
        std::vector<std::string> known;
        for (const LayerInfo& info : layerTable())
            known.emplace_back(info.name);
        const std::string best = nearestOf(name, known);
        if (isNear(name.substr(0, kLongestTypo), best)) return {kNearest, best};
        return phrase("Model", "; the page Models of the manual lists all layers");
    }

    void readChildren(LayerSpec& layer, const Value& value) {
        try {
            readAll(layer, value);
        } catch (const InputError&) {
            if (m_before.info) layer.children.push_back(std::move(m_before));
            m_before = {};
            layer.cut = true;
            if (!layer.children.empty()) m_before = std::move(layer);
            throw;
        }
    }

    void readAll(LayerSpec& layer, const Value& value) {
        size_t position = 0;
        for (const Argument& argument : value.arguments) {
            if (argument.name.empty() && isOrderedDict(argument.value)) {
                for (const Argument& entry : entriesOf(argument.value))
                    add(layer, entry, position++);
            } else {
                add(layer, argument, position++);
            }
        }
    }

    void add(LayerSpec& parent, const Argument& argument, size_t position) {
        const std::string name = argument.name.empty() ? std::to_string(position) : argument.name;
        const std::string of = std::string(parent.info->name);
        if (!isStateName(name)) refuseAt(argument.place, {kLayerName, quotedText(name)});
        for (const LayerSpec& other : parent.children)
            if (other.name == name)
                refuseAt(argument.place, {phrase("Model", "%1 has two layers with the name %2"), of,
                                          quotedText(name)});
        parent.children.push_back(
            read(argument.value, joinedPath(parent.path, name), name, argument.printed));
    }

    size_t m_layers = 0;
    LayerSpec m_before; ///< what was read of a layer when one of its layers was refused
};

std::string textOf(const LayerSpec& layer, const std::string& indent) {
    std::string text = std::string(layer.info->name) + "(";
    if (layer.info->holds == Holds::Nothing) return text + argumentsText(layer) + ")";
    for (const LayerSpec& child : layer.children)
        text += "\n" + indent + "  (" + child.name + "): " + textOf(child, indent + "  ");
    return text + (layer.children.empty() ? ")" : "\n" + indent + ")");
}

bool isNumbered(const LayerSpec& layer) {
    for (size_t i = 0; i < layer.children.size(); ++i)
        if (layer.children[i].name != std::to_string(i)) return false;
    return true;
}

std::string pythonOf(const LayerSpec& layer, const std::string& indent) {
    const std::string call =
        (layer.info->python.empty() ? "nn." : "") + std::string(layer.info->name) + "(";
    if (layer.info->holds == Holds::Nothing) return call + pythonArguments(layer) + ")";
    if (layer.children.empty()) return call + ")";
    const bool numbered = isNumbered(layer);
    std::string text = call + (numbered ? "" : "OrderedDict([");
    for (const LayerSpec& child : layer.children) {
        const std::string made = pythonOf(child, indent + "    ");
        text += "\n" + indent + "    ";
        text += numbered ? made : "(" + lang::pythonText(child.name) + ", " + made + ")";
        text += ",";
    }
    return text + "\n" + indent + (numbered ? ")" : "]))");
}

void collectClasses(const LayerSpec& layer, std::set<std::string_view>& classes) {
    if (!layer.info->python.empty()) classes.insert(layer.info->python);
    for (const LayerSpec& child : layer.children)
        collectClasses(child, classes);
}

/// Passes an input's type through a model.
class ShapeWalk {
public:
    ShapeWalk(std::vector<LayerShape>* seen, ModelMode mode) : m_seen(seen), m_mode(mode) {}

    NodeType run(const LayerSpec& layer, const NodeType& in) {
        ++m_depth;
        NodeType out = in;
        switch (layer.info->holds) {
        case Holds::Nothing: out = checkedOutput(layer, in, m_mode); break;
        case Holds::Chain:
            for (const LayerSpec& child : layer.children) {
                if (layer.info->padding == Padding::Tells) checkPositions(child, in, out);
                out = run(child, out);
            }
            break;
        case Holds::Residual: out = residual(layer, in); break;
        }
        --m_depth;
        if (m_seen && !layer.cut) note(layer, out);
        return out;
    }

private:
    NodeType residual(const LayerSpec& layer, const NodeType& in) {
        NodeType out = in, beside = in;
        for (const LayerSpec& child : layer.children) {
            if (child.name == kShortcutName)
                beside = run(child, in);
            else
                out = run(child, out);
        }
        checkSum(layer, in.shape, out.shape, beside.shape);
        if (out.dtype == DType::I32 || beside.dtype == DType::I32)
            layer.refuse(phrase("Model", "indices cannot be added"));
        return out;
    }

    /// Refuses a layer that looks at padding when its positions are not those of the indices.
    static void checkPositions(const LayerSpec& layer, const NodeType& indices,
                               const NodeType& in) {
        const Padding padding = layer.info->padding;
        if (padding != Padding::Takes && padding != Padding::Needs) return;
        const bool same = indices.shape.rank() == 2 && in.shape.rank() == 3 &&
                          indices.shape[0] == in.shape[0] && indices.shape[1] == in.shape[1];
        if (!same)
            layer.refuse({phrase("Model", "padding is known for indices %1 and not for the input, "
                                          "%2; layers before it must keep the first two axes"),
                          shapeText(indices.shape), shapeText(in.shape)});
    }

    void note(const LayerSpec& layer, const NodeType& out) {
        LayerShape shape{layer.path, layer.label, layer.written, layer.place, m_depth, out.shape};
        if (layer.info->parameters)
            for (const ParameterInfo& p : layer.info->parameters(layer))
                if (p.role != ParameterRole::RunningStatistic && p.role != ParameterRole::Buffer)
                    shape.parameters += p.shape.elements();
        m_seen->push_back(std::move(shape));
    }

    std::vector<LayerShape>* m_seen;
    ModelMode m_mode;
    int m_depth = 0;
};

void collect(const LayerSpec& layer, std::vector<NamedParameter>& all) {
    if (layer.info->parameters)
        for (ParameterInfo& info : layer.info->parameters(layer))
            all.push_back({joinedPath(layer.path, info.name), std::move(info)});
    for (const LayerSpec& child : layer.children)
        collect(child, all);
}

double elementsOf(const Shape& shape) {
    double product = 1;
    for (const int64_t extent : shape)
        product *= static_cast<double>(extent);
    return product;
}

/// Adds a layer's parameters to the total; refuses the layer at which the sum exceeds the limit.
void checkSize(const LayerSpec& layer, double& total) {
    if (layer.info->parameters)
        for (const ParameterInfo& info : layer.info->parameters(layer))
            total += elementsOf(info.shape);
    if (total > static_cast<double>(kMaxElements))
        layer.refuse(
            {phrase("Model", "up to here the model has %1 parameters: at most %2 are allowed"),
             total, kMaxElements});
    for (const LayerSpec& child : layer.children)
        checkSize(child, total);
}

void checkIndices(const LayerSpec& layer, int64_t indices) {
    if (layer.info->takesIndices && layer.whole("num_embeddings") < indices)
        layer.refuse({phrase("Model", "the data has indices from 0 to %1: num_embeddings must be "
                                      "at least %2"),
                      indices - 1, indices});
    for (const LayerSpec& child : layer.children)
        checkIndices(child, indices);
}

void checkPadding(const LayerSpec& layer, Padding around) {
    if (layer.info->padding == Padding::Needs && around != Padding::Tells)
        layer.refuse(phrase("Model",
                            "it must be right inside PaddedSequential(...), which tells it "
                            "where padding is"));
    for (const LayerSpec& child : layer.children)
        checkPadding(child, layer.info->padding);
}

bool usesBatchItself(const LayerSpec& layer) {
    return layer.info->usesBatch && layer.info->usesBatch(layer);
}

bool usesBatch(const LayerSpec& layer) {
    return usesBatchItself(layer) ||
           std::ranges::any_of(layer.children,
                               [](const LayerSpec& child) { return usesBatch(child); });
}

void collectCounts(const LayerSpec& layer, std::vector<std::string>& names) {
    if (layer.info->countsBatches && !usesBatchItself(layer))
        names.push_back(joinedPath(layer.path, kBatchesTracked));
    for (const LayerSpec& child : layer.children)
        collectCounts(child, names);
}

Wants wantedBy(const LayerSpec& layer) {
    for (const LayerSpec& child : layer.children)
        if (const Wants wanted = wantedBy(child); wanted != Wants::Anything) return wanted;
    return layer.info->wants;
}

} // namespace

ModelSpec readModel(std::string_view text, ModelSpec* before) {
    const auto ofClass = ClassNetwork::in(lang::plainText(text), BesideClass::Making);
    return readModel(ofClass ? ofClass->value() : lang::parse(text), before);
}

ModelSpec readModel(const Value& given, ModelSpec* before) {
    Reader reader;
    ModelSpec model;
    const Value value = outermostOf(given);
    try {
        model.root = reader.read(value, {}, {});
        // a single layer has no name before it that tells print()
        if (value.kind == Kind::Call && value.text == model.root.info->name &&
            model.root.info->holds == Holds::Nothing &&
            model.root.written == textOf(model.root, ""))
            model.root = Reader().read(value, {}, {}, true);
    } catch (const InputError&) {
        if (before) before->root = reader.takeBefore();
        throw;
    }
    if (isOwnClass(given) && !readAsTorchvision(given)) model.root.ofClass = given.text;
    checkPadding(model.root, Padding::Ignores);
    double total = 0;
    checkSize(model.root, total);
    return model;
}

std::string textOf(const ModelSpec& model) { return textOf(model.root, ""); }

std::string pythonOf(const ModelSpec& model, const std::string& indent) {
    return pythonOf(model.root, indent);
}

std::string pythonClassesOf(const ModelSpec& model) {
    std::set<std::string_view> classes;
    collectClasses(model.root, classes);
    std::string text;
    for (const std::string_view each : classes)
        text += "\n" + std::string(each);
    return text;
}

NodeType outputOf(const ModelSpec& model, const NodeType& in, std::vector<LayerShape>* seen,
                  ModelMode mode) {
    return ShapeWalk(seen, mode).run(model.root, in);
}

Wants wantedBy(const ModelSpec& model) { return wantedBy(model.root); }

void checkIndices(const ModelSpec& model, int64_t indices) { checkIndices(model.root, indices); }

bool usesBatch(const ModelSpec& model) { return usesBatch(model.root); }

std::vector<NamedParameter> parametersOf(const ModelSpec& model) {
    std::vector<NamedParameter> all;
    collect(model.root, all);
    return all;
}

std::vector<std::string> batchCountsOf(const ModelSpec& model) {
    std::vector<std::string> names;
    collectCounts(model.root, names);
    return names;
}

NodeType checkedOutput(const LayerSpec& layer, const NodeType& in, ModelMode mode) {
    const bool indices = in.dtype == DType::I32;
    if (layer.info->takesIndices && !indices)
        layer.refuse(phrase("Model",
                            "the input holds floating-point numbers, and indices are expected: "
                            "this layer must be the first one, and the samples characters, texts "
                            "or an array of whole numbers (x.astype('int64'))"));
    if (indices && !layer.info->takesIndices && layer.info->computes)
        layer.refuse(phrase("Model", "the input holds indices; put an Embedding(...) in front of "
                                     "this layer"));
    const NodeType out = layer.info->output(layer, in);
    if (mode == ModelMode::Train && layer.info->checkTraining) layer.info->checkTraining(layer, in);
    if (elementsOf(out.shape) > static_cast<double>(kMaxElements))
        layer.refuse({phrase("Model", "its result, %1, has more than %2 values"),
                      shapeText(out.shape), kMaxElements});
    return out;
}

void requireRoom(const LayerSpec& layer, const Shape& widened) {
    if (elementsOf(widened) > static_cast<double>(kMaxElements))
        layer.refuse({phrase("Model", "its input with a border, %1, has more than %2 values"),
                      shapeText(widened), kMaxElements});
}

int64_t paddingIndexOf(const LayerSpec& chain) {
    return chain.children.front().whole("padding_idx");
}

void checkSum(const LayerSpec& layer, const Shape& in, const Shape& out, const Shape& beside) {
    if (out == beside) return;
    layer.refuse({phrase("Model", "its layers make %1 of %2, which cannot be added to %3; "
                                  "shortcut=Conv2d(...) can change that"),
                  shapeText(out), shapeText(in), shapeText(beside)});
}

std::string joinedPath(std::string_view path, std::string_view name) {
    return path.empty() ? std::string(name) : std::string(path) + "." + std::string(name);
}

std::optional<std::string> layerPathOf(std::string_view joined, std::string_view name) {
    if (joined == name) return std::string();
    if (!joined.ends_with("." + std::string(name))) return std::nullopt;
    return std::string(joined.substr(0, joined.size() - name.size() - 1));
}

} // namespace halfscope
