// Checks arguments by kind and range, and writes numbers as Python's repr does.
#include "engine/models/layer_arguments.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace halfscope {

namespace {

using lang::Kind;
using lang::Value;

std::string numberOf(const ArgValue& value, size_t i) {
    if (value.isReal) return lang::pythonReal(value.numbers[i]);
    return numberText(static_cast<int64_t>(value.numbers[i]));
}

bool isPrintedAsTuple(const ArgInfo& info, const ArgValue& value) {
    return info.kind == ArgKind::Single || info.kind == ArgKind::Pair ||
           info.kind == ArgKind::Sides || info.kind == ArgKind::Extents || value.isTuple;
}

std::string textOf(const ArgInfo& info, const ArgValue& value) {
    if (value.isNone) return "None";
    if (info.kind == ArgKind::Truth) return value.truth ? "True" : "False";
    if (info.kind == ArgKind::Word) return info.bareWord ? value.word : "'" + value.word + "'";
    if (!value.word.empty()) return value.word; // as PyTorch prints a padding
    if (!isPrintedAsTuple(info, value)) return numberOf(value, 0);
    std::vector<std::string> parts;
    for (size_t i = 0; i < value.numbers.size(); ++i)
        parts.push_back(numberOf(value, i));
    if (parts.size() == 1 && (info.kind == ArgKind::Pair || info.kind == ArgKind::Sides))
        parts.resize(info.kind == ArgKind::Pair ? 2 : 4, parts[0]);
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "(" : ", ") + part;
    return text + (parts.size() == 1 ? ",)" : ")");
}

std::string boundText(double x) {
    return x == std::trunc(x) ? numberText(static_cast<int64_t>(x)) : numberText(x);
}

Message allowedNumbers(const ArgInfo& info) {
    const bool real = info.kind == ArgKind::Real || info.kind == ArgKind::Factor;
    const Message one(real ? phrase("Engine", "a number from %1 to %2")
                           : phrase("Engine", "a whole number from %1 to %2"),
                      boundText(info.least), boundText(info.most));
    switch (info.kind) {
    case ArgKind::Whole:
    case ArgKind::Single:
    case ArgKind::Real: return one;
    case ArgKind::Truth: return phrase("Model", "True or False");
    case ArgKind::Word: return Message::data(std::string(info.only));
    case ArgKind::Size:
    case ArgKind::Pair:
    case ArgKind::Factor:
        if (info.orOne) return {phrase("Model", "%1, or a tuple of one or two of them"), one};
        return {phrase("Model", "%1, or two of them such as (2, 2)"), one};
    case ArgKind::Sides: return {phrase("Model", "%1, or four of them such as (1, 1, 2, 2)"), one};
    case ArgKind::Extents:
        return {phrase("Model", "%1, or up to six of them such as (16, 16)"), one};
    }
    failInvariant("unknown kind of argument");
}

Message allowedText(const ArgInfo& info) {
    const Message numbers = allowedNumbers(info);
    if (info.orNone) return {phrase("Model", "%1, or None"), numbers};
    return info.paddingWords ? Message(phrase("Model", "%1, 'same' or 'valid'"), numbers) : numbers;
}

bool takeNumber(const ArgInfo& info, const Value& value, ArgValue& to) {
    const bool real = info.kind == ArgKind::Real || info.kind == ArgKind::Factor;
    if (value.kind != Kind::Whole && !(real && value.kind == Kind::Real)) return false;
    if (!(value.real >= info.least && value.real <= info.most)) return false;
    to.isReal = to.isReal || value.kind == Kind::Real || info.kind == ArgKind::Factor;
    to.numbers.push_back(value.real);
    return true;
}

/// How many numbers a tuple may have.
struct Counts {
    size_t least, most;
};
Counts countsOf(const ArgInfo& info) {
    switch (info.kind) {
    case ArgKind::Single: return {1, 1};
    case ArgKind::Sides: return {4, 4};
    case ArgKind::Extents: return {1, kMaxRank};
    default: return {info.orOne ? size_t{1} : size_t{2}, 2};
    }
}

bool takeNumbers(const ArgInfo& info, const Value& value, ArgValue& to) {
    const bool several = value.kind == Kind::Tuple || value.kind == Kind::List;
    if (!several) return takeNumber(info, value, to);
    if (info.kind == ArgKind::Whole || info.kind == ArgKind::Real) return false;
    const size_t count = value.items.size();
    const Counts allowed = countsOf(info);
    if (count < allowed.least || count > allowed.most) return false;
    to.isTuple = true;
    for (const Value& item : value.items)
        if (!takeNumber(info, item, to)) return false;
    return true;
}

/// Whether the value is a word for a padding, as programmers write it or as PyTorch prints it.
bool isPaddingWord(const Value& value) {
    return (value.kind == Kind::String || value.kind == Kind::Name) &&
           (value.text == "same" || value.text == "valid");
}

/// Returns "gelu" for F.gelu, torch.nn.functional.gelu and nn.GELU(); empty for others.
std::string functionWord(const Value& value) {
    const std::string last = value.text.substr(value.text.rfind('.') + 1);
    const std::string word = lowerCase(last);
    const bool layer = value.kind == Kind::Call && value.arguments.empty() && word != last;
    const bool function = value.kind == Kind::Name && word == last;
    return layer || function ? word : std::string();
}

bool take(const ArgInfo& info, const Value& value, ArgValue& to) {
    to = {};
    if (info.functions)
        if (to.word = functionWord(value); !to.word.empty()) return true;
    if (info.paddingWords && isPaddingWord(value)) {
        to.word = value.text;
        return true;
    }
    if (value.kind == Kind::None) {
        to.isNone = true;
        return info.orNone || info.standard == "None";
    }
    switch (info.kind) {
    case ArgKind::Truth: to.truth = value.truth; return value.kind == Kind::Truth;
    case ArgKind::Word:
        to.word = value.text;
        return value.kind == Kind::String || (info.bareWord && value.kind == Kind::Name);
    default: return takeNumbers(info, value, to);
    }
}

ArgValue standardOf(const ArgInfo& info, std::string_view text) {
    ArgValue value;
    require(take(info, lang::parse(text), value), "a default that the argument does not allow");
    return value;
}

/// Compares arguments; 1 and (1, 1) are the same.
bool isSame(const ArgValue& a, const ArgValue& b) {
    if (a.isNone != b.isNone || a.truth != b.truth || a.word != b.word) return false;
    if (a.numbers.empty() || b.numbers.empty()) return a.numbers.size() == b.numbers.size();
    const auto at = [](const ArgValue& v, size_t i) {
        return v.numbers[std::min(i, v.numbers.size() - 1)];
    };
    for (size_t i = 0; i < std::max(a.numbers.size(), b.numbers.size()); ++i)
        if (at(a, i) != at(b, i)) return false;
    return true;
}

/// Returns whether the engine supports the value.
bool isSupported(const ArgInfo& info, const ArgValue& value) {
    constexpr std::string_view kOr = " or ";
    for (std::string_view rest = info.only; !rest.empty();) {
        const size_t end = rest.find(kOr);
        if (isSame(value, standardOf(info, rest.substr(0, end)))) return true;
        rest.remove_prefix(end == rest.npos ? rest.size() : end + kOr.size());
    }
    return info.only.empty();
}

ArgValue readValue(const LayerSpec& layer, const ArgInfo& info, const lang::Argument& given) {
    const std::string what = std::string(layer.info->name) + ": " + std::string(info.name) + "=" +
                             lang::textOf(given.value, 40);
    ArgValue value;
    const bool taken = take(info, given.value, value);
    if (taken && isSupported(info, value)) return value;
    if (!taken && info.only != "None") // else its kind does not matter
        refuseAt(given.value.place,
                 {phrase("Model", "%1 is not allowed: %2"), what, allowedText(info)});
    refuseAt(given.value.place,
             {phrase("Model", "%1 is not supported: only %2 is"), what, info.only});
}

std::vector<std::string> namesOf(const LayerInfo& info) {
    std::vector<std::string> names;
    for (const ArgInfo& arg : info.args)
        names.emplace_back(arg.name);
    return names;
}

/// Returns the arguments that can be given by position, in the order of a call.
std::vector<size_t> positionsOf(const LayerInfo& info) {
    std::vector<size_t> places;
    for (size_t i = 0; i < info.args.size(); ++i)
        if (!info.args[i].byName) places.push_back(i);
    return places;
}

size_t indexOf(const LayerSpec& layer, const lang::Argument& given, size_t position) {
    const LayerInfo& info = *layer.info;
    const std::vector<size_t> places = positionsOf(info);
    if (given.name.empty() && position < places.size()) return places[position];
    const std::string name(info.name);
    if (info.args.empty())
        refuseAt(given.place, {phrase("Model", "%1 takes no arguments, found %2"), name,
                               lang::textOf(given.value, 40)});
    if (given.name.empty())
        refuseAt(given.place,
                 {phrase("Model", "%1 takes at most %2 arguments, found %3 as another one"), name,
                  places.size(), lang::textOf(given.value, 40)});
    for (size_t i = 0; i < info.args.size(); ++i)
        if (info.args[i].name == given.name) return i;
    const Message meant = info.hint ? info.hint(given.name) : Message();
    refuseAt(given.place, {phrase("Model", "%1 has no argument %2%3"), name, quotedText(given.name),
                           meant.empty() ? nearestHint(given.name, namesOf(info)) : meant});
}

bool acts(const LayerSpec& layer, const ArgInfo& info) {
    return info.with.empty() || layer.truth(info.with);
}

/// Returns the indices of a row's arguments in the order in which PyTorch prints them.
std::vector<size_t> printOrder(const LayerInfo& info) {
    std::vector<size_t> order;
    for (size_t i = 0; i < info.args.size(); ++i) {
        const auto isBefore = [&](size_t at) {
            return info.args[at].name == info.args[i].printedAfter;
        };
        const auto before = std::find_if(order.begin(), order.end(), isBefore);
        order.insert(before == order.end() ? before : before + 1, i);
    }
    return order;
}

/// Whether it is an argument of any layer that changes nothing here: the settings choose the
/// device, and the weights are float32. Refuses other types.
bool leavesPlace(const lang::Argument& given) {
    if (given.name == "device") return true;
    if (given.name != "dtype") return false;
    constexpr std::array<std::string_view, 2> kTypes{"torch.float32", "torch.float"};
    const bool usual = given.value.kind == Kind::None ||
                       std::ranges::find(kTypes, given.value.text) != kTypes.end();
    if (!usual)
        refuseAt(given.place, {phrase("Model", "%1 is not supported here: the precision of each "
                                               "lane chooses its types; leave it out"),
                               quotedText("dtype=" + lang::textOf(given.value, 40))});
    return true;
}

} // namespace

void readArguments(LayerSpec& layer, const std::vector<const lang::Argument*>& given) {
    const LayerInfo& info = *layer.info;
    const auto isPart = [](const lang::Argument* argument) { return argument->printed; };
    if (info.inPlaceOfParts && std::ranges::any_of(given, isPart))
        refuseAt(layer.place, info.inPlaceOfParts(layer, given));
    layer.args.assign(info.args.size(), {});
    std::vector<bool> seen(info.args.size());
    bool named = false;
    for (size_t position = 0; position < given.size(); ++position) {
        const lang::Argument& argument = *given[position];
        named = named || !argument.name.empty();
        if (named && argument.name.empty())
            refuseAt(argument.place,
                     {phrase("Model", "%1: %2 needs a name, because it follows a named argument"),
                      info.name, lang::textOf(argument.value, 40)});
        if (info.ignoresArguments || (!info.args.empty() && leavesPlace(argument))) continue;
        const size_t i = indexOf(layer, argument, position);
        if (seen[i])
            refuseAt(argument.place,
                     {phrase("Model", "%1: %2 is given twice"), info.name, info.args[i].name});
        seen[i] = true;
        layer.args[i] = readValue(layer, info.args[i], argument);
    }
    for (size_t i = 0; i < seen.size(); ++i) {
        if (seen[i]) continue;
        if (info.args[i].standard.empty())
            layer.refuse({phrase("Model", "%1 is missing: %2"), info.args[i].name,
                          allowedText(info.args[i])});
        layer.args[i] = standardOf(info.args[i], info.args[i].standard);
        if (layer.printed && info.args[i].shown == ArgShown::Lost)
            layer.untold.emplace_back(info.args[i].name);
    }
}

std::string argumentsText(const LayerSpec& layer) {
    std::string text;
    for (const size_t i : printOrder(*layer.info)) {
        const ArgInfo& info = layer.info->args[i];
        const ArgValue& value = layer.args[i];
        const bool changed =
            !isSame(value, info.standard.empty() ? ArgValue{} : standardOf(info, info.standard));
        const bool hidden = info.shown == ArgShown::Never || info.shown == ArgShown::Lost;
        if (hidden || (info.shown == ArgShown::Changed && !changed)) continue;
        if (!text.empty()) text += ", ";
        if (info.shown != ArgShown::Bare) text += std::string(info.name) + "=";
        text += acts(layer, info) ? textOf(info, value) : "False";
    }
    return text;
}

std::string pythonArguments(const LayerSpec& layer) {
    std::string text;
    for (size_t i = 0; i < layer.info->args.size(); ++i) {
        const ArgInfo& info = layer.info->args[i];
        const ArgValue& value = layer.args[i];
        const bool optional = !info.standard.empty();
        if (optional && isSame(value, standardOf(info, info.standard))) continue;
        if (!acts(layer, info)) continue;
        if (!text.empty()) text += ", ";
        if (optional) text += std::string(info.name) + "=";
        if ((info.paddingWords || info.bareWord) && !value.word.empty()) {
            text += "'" + value.word + "'";
            continue;
        }
        const bool square =
            info.kind == ArgKind::Single ||
            (info.kind == ArgKind::Pair && value.numbers.front() == value.numbers.back());
        text += square ? numberOf(value, 0) : textOf(info, value);
    }
    return text;
}

const ArgValue& LayerSpec::value(std::string_view arg) const {
    for (size_t i = 0; i < info->args.size(); ++i)
        if (info->args[i].name == arg) return args[i];
    failInvariant(std::string(info->name) + " has no argument " + std::string(arg));
}

int64_t LayerSpec::whole(std::string_view arg) const {
    return static_cast<int64_t>(value(arg).numbers.at(0));
}

double LayerSpec::real(std::string_view arg) const { return value(arg).numbers.at(0); }

std::array<int64_t, 2> LayerSpec::pair(std::string_view arg) const {
    const std::vector<double>& numbers = value(arg).numbers;
    return {static_cast<int64_t>(numbers.at(0)), static_cast<int64_t>(numbers.back())};
}

Shape LayerSpec::extents(std::string_view arg) const {
    Shape shape;
    for (const double extent : value(arg).numbers)
        shape.push(static_cast<int64_t>(extent));
    return shape;
}

void LayerSpec::refuse(const Message& why) const { refuseAt(place, within(written, why)); }

} // namespace halfscope
