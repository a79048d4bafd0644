// Knows which layer does what a function of PyTorch does. A layer without weights may run more than
// once: each time it becomes a layer of its own.
#include "engine/models/class_network.h"

#include "engine/core/error.h"
#include "engine/lang/blocks.h"
#include "engine/lang/code_text.h"
#include "engine/lang/program_names.h"
#include "engine/models/layer.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

namespace halfscope {

namespace {

using lang::ChainedCall;

/// A function with the arguments of a layer behind its input.
struct FunctionRow {
    std::string_view function; ///< of torch.nn.functional
    std::string_view layer;
    bool ofTorch = false;    ///< it is one of torch and of tensors, too
    size_t mostByPlace = 10; ///< arguments without a name: those behind them have another order
};

constexpr FunctionRow kFunctions[] = {
    {"relu", "ReLU", true},
    {"relu6", "ReLU6"},
    {"leaky_relu", "LeakyReLU"},
    {"elu", "ELU"},
    {"selu", "SELU"},
    {"celu", "CELU"},
    {"gelu", "GELU"},
    {"silu", "SiLU"},
    {"mish", "Mish"},
    {"tanh", "Tanh", true},
    {"sigmoid", "Sigmoid", true},
    {"logsigmoid", "LogSigmoid"},
    {"softplus", "Softplus"},
    {"softsign", "Softsign"},
    {"hardtanh", "Hardtanh"},
    {"hardsigmoid", "Hardsigmoid"},
    {"hardswish", "Hardswish"},
    {"tanhshrink", "Tanhshrink"},
    {"softmax", "Softmax", true, 1},
    {"log_softmax", "LogSoftmax", true, 1},
    {"max_pool1d", "MaxPool1d", false, 4},
    {"max_pool2d", "MaxPool2d", false, 4},
    {"avg_pool1d", "AvgPool1d"},
    {"avg_pool2d", "AvgPool2d"},
    {"adaptive_avg_pool1d", "AdaptiveAvgPool1d"},
    {"adaptive_avg_pool2d", "AdaptiveAvgPool2d"},
    {"adaptive_max_pool1d", "AdaptiveMaxPool1d", false, 1},
    {"adaptive_max_pool2d", "AdaptiveMaxPool2d", false, 1},
    {"interpolate", "Upsample"},
    {"upsample", "Upsample", false, 4},
    {"pixel_shuffle", "PixelShuffle"},
    {"pixel_unshuffle", "PixelUnshuffle"},
    {"glu", "GLU"},
};

/// Returns "relu" for "F.relu"; nothing for a function that is none of torch.nn.functional, and
/// sets `ofTorch` for "torch.relu".
std::string_view torchName(std::string_view name, bool& ofTorch) {
    for (const std::string_view prefix :
         {"torch.nn.functional.", "nn.functional.", "functional.", "F.", "torch."}) {
        if (!name.starts_with(prefix)) continue;
        ofTorch = prefix == "torch.";
        return name.substr(prefix.size());
    }
    return {};
}

std::string layerText(std::string_view layer, const std::vector<std::string_view>& arguments) {
    std::string text = std::string(layer) + "(";
    for (const std::string_view each : arguments)
        text += (text.ends_with('(') ? "" : ", ") + std::string(each);
    return text + ")";
}

bool givesName(std::string_view argument) {
    return lang::signOutside(argument, '=') != lang::kNowhere;
}

/// Takes "training=self.training" out of the arguments of a dropout, which else acts in evaluation,
/// too.
bool takeTraining(std::vector<std::string_view>& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
        const std::string text = lang::withoutBlanks(arguments[i]);
        const bool placed = i == 1 && text == "self.training" && !givesName(arguments[0]);
        if (!placed && text != "training=self.training") continue;
        arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
    }
    return false;
}

/// Whether a flatten begins behind the axis of samples.
bool keepsSamples(const std::vector<std::string_view>& arguments) {
    if (arguments.empty()) return false;
    std::string first = lang::withoutBlanks(arguments[0]);
    constexpr std::string_view kName = "start_dim=";
    if (first.starts_with(kName)) first.erase(0, kName.size());
    return first.size() == 1 && first[0] >= '1' && first[0] <= '9';
}

std::string unflattenTo(const std::string& size) { return "Unflatten(1, (" + size + ",))"; }

/// Returns the in_features of the nn.Linear that a member is or begins with, as they are written
/// but without blanks; empty for others.
std::string inFeaturesOf(std::string_view code) {
    for (;;) {
        const size_t open = lang::dottedEnd(code, 0);
        const std::string_view name = code.substr(0, open);
        if (!code.substr(open).starts_with('(')) return {};
        code = lang::withoutEnds(code.substr(open + 1));
        if (lang::isSequential(name)) continue;
        if (name.substr(name.rfind('.') + 1) != "Linear") return {};
        std::string first = lang::withoutBlanks(code.substr(0, lang::signOutside(code, ',')));
        constexpr std::string_view kName = "in_features=";
        if (first.starts_with(kName)) first.erase(0, kName.size());
        return first;
    }
}

/// Returns the layers that do what view() and reshape() do with the axes behind that of samples;
/// empty where they may do more.
std::string viewText(const std::vector<std::string_view>& sizes, std::string& unflatten) {
    const auto isSize = [](std::string_view size) {
        return size != lang::kSampleCount &&
               size.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                                      "YZ_.*/ ") == lang::kNowhere;
    };
    const bool counted = !sizes.empty() && sizes[0] == lang::kSampleCount;
    const bool open = !sizes.empty() && sizes[0] == "-1";
    if (sizes.size() < 2 || (!counted && !open)) return {};
    if (sizes.size() == 2 && counted && sizes[1] == "-1") return "Flatten()";
    if (!std::all_of(sizes.begin() + 1, sizes.end(), isSize)) return {};
    if (sizes.size() > 2)
        unflatten = "Unflatten(1, " + layerText("", {sizes.begin() + 1, sizes.end()}) + ")";
    else if (open && sizes[1].find_first_not_of("0123456789*/ ") == lang::kNowhere)
        unflatten = unflattenTo(lang::withoutBlanks(sizes[1])); // a name is left to the next layer
    return "Flatten()";
}

/// Returns the layer that takes the mean over the places of each channel, as "x.mean((2, 3))" and,
/// of a sequence, "x.mean(-1)" do, and sets whether their axes stay; empty for other means.
std::string meanText(const std::vector<std::string_view>& arguments, bool& keeps) {
    std::string axes;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const std::string text = lang::withoutBlanks(arguments[i]);
        const size_t sign = text.find('=');
        const std::string name = sign == lang::kNowhere ? std::string() : text.substr(0, sign);
        const std::string value = text.substr(name.empty() ? 0 : sign + 1);
        if (name == "dim" || (name.empty() && i == 0))
            axes = value;
        else if (value == "True" && (name == "keepdim" || (name.empty() && i == 1)))
            keeps = true;
        else if (value != "False")
            return {};
    }
    if (axes.starts_with('[') || axes.starts_with('(')) axes = axes.substr(1, axes.size() - 2);
    const auto isOneOf = [&axes](std::initializer_list<std::string_view> all) {
        return std::ranges::find(all, axes) != all.end();
    };
    if (isOneOf({"2,3", "3,2", "-2,-1", "-1,-2", "2,-1", "-1,2"})) return "AdaptiveAvgPool2d(1)";
    return isOneOf({"2", "-1", "2,", "-1,"}) ? "AdaptiveAvgPool1d(1)" : std::string();
}

/// Whether a call takes axes of size 1 away, or all of them.
bool squeezes(const ChainedCall& call) {
    bool ofTorch = true;
    const bool method = call.of == ChainedCall::Of::Method;
    const std::string_view name = method ? call.name : torchName(call.name, ofTorch);
    const std::string axis = call.rest.size() == 1 ? lang::withoutBlanks(call.rest[0]) : "";
    if (call.of == ChainedCall::Of::Member || !ofTorch || call.rest.size() > 1) return false;
    if (method && (name == "view" || name == "reshape")) return axis == "-1";
    if (name == "flatten") return call.rest.empty();
    return name == "squeeze" && (call.rest.empty() || axis == "1" || axis == "-1" ||
                                 axis == "dim=1" || axis == "dim=-1");
}

/// Whether a layer gives one value for each sample; nothing for one that changes each value alone.
std::optional<bool> givesOne(const lang::Value& layer) {
    if (lang::isSequential(layer.text)) {
        std::optional<bool> one;
        for (auto part = layer.arguments.rbegin(); part != layer.arguments.rend() && !one; ++part)
            one = givesOne(part->value);
        return one;
    }
    const std::string_view name =
        std::string_view(layer.text).substr(layer.text.rfind('.') + 1); // 0 without a dot
    for (const std::string_view each : {"ReLU", "Sigmoid", "Tanh", "Softplus", "Dropout"})
        if (name == each) return std::nullopt;
    if (name != "Linear") return false;
    const std::vector<lang::Argument>& given = layer.arguments;
    const auto named = std::ranges::find(given, "out_features", &lang::Argument::name);
    const size_t out = named != given.end() ? static_cast<size_t>(named - given.begin()) : 1;
    return out < given.size() && given[out].value.kind == lang::Kind::Whole &&
           given[out].value.whole == 1;
}

/// Returns the layer for a function or method with arguments of a layer; empty where there is none.
std::string layerFor(const ChainedCall& call) {
    bool ofTorch = true;
    const bool method = call.of == ChainedCall::Of::Method;
    const std::string_view name = method ? call.name : torchName(call.name, ofTorch);
    std::vector<std::string_view> arguments = call.rest;
    if (name == "flatten")
        return ofTorch && keepsSamples(arguments) ? layerText("Flatten", arguments) : std::string();
    for (const std::string_view each : {"1d", "2d", ""})
        if (name == "dropout" + std::string(each) && !ofTorch)
            return takeTraining(arguments) ? layerText("Dropout" + std::string(each), arguments)
                                           : std::string();
    const auto placed = static_cast<size_t>(
        std::ranges::count_if(arguments, [](std::string_view each) { return !givesName(each); }));
    for (const FunctionRow& row : kFunctions)
        if (row.function == name && (row.ofTorch || !ofTorch) && placed <= row.mostByPlace)
            return layerText(row.layer, arguments);
    return {};
}

/// Returns the row of the layer that a member is; nullptr where it is none of the table.
const LayerInfo* rowOfMember(std::string_view code) {
    const std::string_view name = code.substr(0, lang::dottedEnd(code, 0));
    return findLayer(name.substr(name.rfind('.') + 1));
}

/// Adds names that are not in the list yet.
void addNames(const std::vector<std::string>& names, std::vector<std::string>& all) {
    for (const std::string& name : names)
        if (std::ranges::find(all, name) == all.end()) all.push_back(name);
}

} // namespace

std::optional<ClassNetwork> ClassNetwork::in(std::string_view program, BesideClass beside) {
    int unread = 0;
    return in(program, beside, unread);
}

int ClassNetwork::unreadLine(std::string_view program) {
    if (const auto place = lang::unreadIn(program)) {
        const size_t code = program.find_first_not_of(" \t\r\n", *place);
        return 1 + static_cast<int>(std::ranges::count(program.substr(0, code), '\n'));
    }
    int unread = 0;
    in(program, BesideClass::Anything, unread);
    return unread;
}

std::optional<ClassNetwork> ClassNetwork::in(std::string_view program, BesideClass beside,
                                             int& unread) {
    if (program.size() > lang::kMaxTextBytes || program.find("class ") == lang::kNowhere)
        return std::nullopt;
    ClassNetwork network;
    network.m_given = program;
    network.m_program =
        std::make_shared<const std::string>(lang::withArguments(program, network.m_lines));
    for (size_t i = 0; i < network.program().size(); ++i)
        if (network.program()[i] == '\n') network.m_lineEnds.push_back(i);
    std::optional<lang::ClassChain> chain = lang::chainOfClass(network.program());
    if (!chain || chain->calls.empty()) return std::nullopt;
    if (beside == BesideClass::Making && !lang::endsWithClass(network.program(), *chain))
        return std::nullopt;
    network.m_chain = *std::move(chain);
    for (const lang::ClassMember& member : network.m_chain.members)
        network.m_ofMembers.emplace(member.name);
    for (const ChainedCall& call : network.m_chain.calls) {
        if (network.takesAxis(call)) continue;
        const bool member = call.of == ChainedCall::Of::Member;
        if (member ? network.addMember(call) : network.addFunction(call)) continue;
        unread = network.lineOf(call.begin);
        return std::nullopt;
    }
    if (network.m_parts.empty() || !network.keepsOneValue()) return std::nullopt;
    const lang::FoundModel& first = network.m_parts[0].made;
    const std::string_view code = network.program().substr(first.begin, first.end - first.begin);
    const bool alone = network.m_parts.size() == 1 && network.m_parts[0].text.empty() &&
                       lang::isSequential(code.substr(0, lang::dottedEnd(code, 0)));
    if (alone && network.m_lines == 0) return std::nullopt;
    return network;
}

/// Takes "squeeze(-1)" and the like behind one value for each sample: here, its target has the same
/// axis of size 1 as what the network gives, so that it may stay.
bool ClassNetwork::takesAxis(const ChainedCall& call) {
    if (!squeezes(call) || !isOneValue(0)) return false;
    m_single = m_parts.size();
    return true;
}

/// Whether nothing follows such a call that could tell that the axis has stayed.
bool ClassNetwork::keepsOneValue() const { return !m_single || isOneValue(*m_single); }

/// Whether the parts from this one on give one value for each sample, or, if they are not all, keep
/// it.
bool ClassNetwork::isOneValue(size_t from) const {
    try {
        lang::ProgramNames names(program());
        for (size_t i = m_parts.size(); i > from; --i)
            if (const auto one = givesOne(layerOf(m_parts[i - 1], names))) return *one && from == 0;
    } catch (const InputError&) { // the layer is refused later, in better words
        return false;
    }
    return from > 0;
}

bool ClassNetwork::addMember(const ChainedCall& call) {
    const auto member = std::ranges::find(m_chain.members, call.name, &lang::ClassMember::name);
    if (member == m_chain.members.end() || !call.rest.empty()) return false;
    const auto isSame = [&member](const Part& part) {
        return part.made.begin == member->made.begin;
    };
    const std::string_view code = program().substr(member->made.begin);
    const LayerInfo* row = rowOfMember(code);
    const bool ofTorch = code.starts_with("nn.") || code.starts_with("torch.nn.");
    if (!row && !ofTorch) return false; // such as a function of the program
    const bool shared = std::ranges::any_of(m_parts, isSame);
    if (shared && (!row || row->holds != Holds::Nothing || row->parameters)) return false;
    const bool fits = !m_parts.empty() && m_parts.back().text == unflattenTo(inFeaturesOf(code));
    if (fits) { // the layer itself takes no other size
        m_ofParts.erase(m_parts.back().name);
        m_parts.pop_back();
    }
    add(std::string(call.name), {}, member->made);
    return true;
}

bool ClassNetwork::addFunction(const ChainedCall& call) {
    const bool method = call.of == ChainedCall::Of::Method;
    if (method && call.name == "contiguous" && call.rest.empty()) return true;
    lang::FoundModel place;
    place.begin = call.begin;
    for (const std::string_view each : call.rest)
        if (each.find('#') != lang::kNowhere) return false;
    if (method && (call.name == "view" || call.name == "reshape")) {
        std::string unflatten;
        const std::string flatten = viewText(call.rest, unflatten);
        if (flatten.empty()) return false;
        add("flatten", flatten, place);
        if (!unflatten.empty()) add("unflatten", unflatten, place);
        return true;
    }
    if (call.name == (method ? "mean" : "torch.mean")) {
        bool keeps = false;
        const std::string pool = meanText(call.rest, keeps);
        if (pool.empty()) return false;
        add("mean", pool, place);
        if (!keeps) add("flatten", "Flatten()", place);
        return true;
    }
    const std::string layer = layerFor(call);
    if (layer.empty()) return false;
    add(std::string(call.name.substr(call.name.rfind('.') + 1)), layer, place);
    return true;
}

void ClassNetwork::add(const std::string& name, const std::string& text,
                       const lang::FoundModel& made) {
    const auto isTaken = [&](const std::string& wanted) {
        const bool own = m_ofMembers.contains(wanted);
        return (own && (!text.empty() || wanted != name)) || m_ofParts.contains(wanted);
    };
    std::string free = name;
    for (int number = 2; isTaken(free); ++number)
        free = name + "_" + std::to_string(number);
    m_ofParts.insert(free);
    m_parts.push_back({free, text, made});
}

lang::Value ClassNetwork::value() const {
    lang::Value network;
    network.kind = lang::Kind::Call;
    network.text = "nn.Sequential";
    network.place.line = firstLine();
    std::map<size_t, lang::Value> read; // by the place, which a layer has more than once
    lang::ProgramNames names(program());
    for (const Part& part : m_parts) {
        const size_t begin = part.made.begin;
        const auto known = part.text.empty() ? read.find(begin) : read.end();
        lang::Value layer = known != read.end() ? known->second : layerOf(part, names);
        if (part.text.empty()) read.emplace(begin, layer);
        const lang::Place place = layer.place;
        network.arguments.push_back({part.name, place, false, std::move(layer)});
    }
    return network;
}

lang::Value ClassNetwork::layerOf(const Part& part, lang::ProgramNames& names) const {
    if (part.text.empty()) {
        const lang::ModelLines lines = lang::linesOfModel(program(), names, part.made);
        return lang::parse(lines.text, lineOf(lines.begin));
    }
    const size_t begin = part.made.begin;
    const size_t column = begin - (program().substr(0, begin).rfind('\n') + 1);
    return lang::parse(std::string(column, ' ') + part.text, lineOf(begin));
}

int ClassNetwork::lineOf(size_t place) const {
    const auto above = std::ranges::lower_bound(m_lineEnds, place) - m_lineEnds.begin();
    return 1 + static_cast<int>(above) - m_lines;
}

std::vector<lang::FoundModel> ClassNetwork::members() const {
    std::vector<lang::FoundModel> all;
    std::set<size_t> begins;
    for (const Part& part : m_parts)
        if (part.text.empty() && begins.insert(part.made.begin).second) all.push_back(part.made);
    return all;
}

lang::ModelText ClassNetwork::names() const {
    lang::ModelText all;
    lang::ProgramNames names(program());
    for (const lang::FoundModel& member : members()) {
        const lang::ModelText text = lang::namesOfModel(names, member);
        addNames(text.numbers, all.numbers);
        addNames(text.unknown, all.unknown);
        addNames(text.arguments, all.arguments);
    }
    return all;
}

std::string ClassNetwork::inPlace() const {
    const size_t added = program().size() - m_given.size(); // above what was given
    const size_t begin = m_chain.whole.begin - added;
    std::string left = m_given.substr(0, m_chain.whole.end - added);
    std::replace_if(
        left.begin(), left.begin() + static_cast<std::ptrdiff_t>(begin),
        [](char c) { return c != '\n'; }, ' ');
    lang::ProgramNames names(program());
    for (const lang::FoundModel& member : members()) {
        const lang::ModelLines lines = lang::linesOfModel(program(), names, member);
        for (size_t at = std::max(lines.begin, added); at < m_chain.whole.begin; ++at)
            if (const char c = lines.text[at - lines.begin]; c != ' ') left[at - added] = c;
    }
    return left;
}

} // namespace halfscope
