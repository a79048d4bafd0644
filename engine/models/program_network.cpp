// Finds the network with found_models, and reads it in its place, so that errors name its lines.
#include "engine/models/program_network.h"

#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/io/input_file.h"
#include "engine/lang/around_model.h"
#include "engine/lang/blocks.h"
#include "engine/lang/class_chain.h"
#include "engine/lang/class_places.h"
#include "engine/lang/code_text.h"
#include "engine/lang/syntax.h"
#include "engine/models/class_network.h"
#include "engine/models/model_spec.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace halfscope {

namespace {

/// Whether a problem is that this name stands where a number must stand.
bool refusesName(const Message& problem, const std::string& name) {
    const std::string text = problem.english();
    return text.find("found " + quotedText(name)) != std::string::npos ||
           text.find("=" + name + " is not allowed") != std::string::npos;
}

Message listedNames(const std::vector<std::string>& names) {
    std::vector<Message> all;
    for (const std::string& name : names)
        all.push_back(Message::data(name));
    return listed(all);
}

/// Throws the problem of a network in a program, with the reason where a name in it has no known
/// number. `ofClass` is the network of a class whose arguments may have their numbers by default.
[[noreturn]] void refuse(std::string_view program, const lang::ModelText& model,
                         const Message& problem, bool ofClass) {
    const auto blames = [&problem](const std::string& name) { return refusesName(problem, name); };
    const auto unknown = std::ranges::find_if(model.unknown, blames);
    if (unknown == model.unknown.end())
        throw InputError(phrase("Model", "the network in it cannot be read: %1"), problem);
    const bool argument = std::ranges::find(model.arguments, *unknown) != model.arguments.end();
    const lang::InitArgumentIs given =
        ofClass ? lang::initArgument(program, *unknown) : lang::InitArgumentIs::Absent;
    if (argument && given == lang::InitArgumentIs::ByDefault)
        throw InputError(phrase("Model", "the network in it cannot be read: %1; an argument of a "
                                         "function has no value here (%2): write a number in "
                                         "place of %3, or make the class only once, with a plain "
                                         "number for it"),
                         problem, listedNames(model.arguments), *unknown);
    if (argument && given == lang::InitArgumentIs::Open)
        throw InputError(phrase("Model", "the network in it cannot be read: %1; an argument of a "
                                         "function has no value here (%2): give it a default, as "
                                         "in %3=64, and make the class without it, or write a "
                                         "number in its place"),
                         problem, listedNames(model.arguments), *unknown);
    if (argument)
        throw InputError(phrase("Model", "the network in it cannot be read: %1; an argument of a "
                                         "function has no value here (%2): write a number in its "
                                         "place, or copy the network by itself, with a line such "
                                         "as %3 = 64 above it"),
                         problem, listedNames(model.arguments), *unknown);
    throw InputError(
        phrase("Model", "the network in it cannot be read: %1; the value of %2 is not "
                        "known, because the program may set it in more than one "
                        "place, below the network, in another function, or not by a plain number"),
        problem, *unknown);
}

/// Returns where a line of a program begins.
size_t beginOf(std::string_view program, int line) {
    size_t begin = 0;
    for (int i = 1; i < line; ++i)
        begin = program.find('\n', begin) + 1;
    return begin;
}

/// Returns a line of a program without the blanks around it, and no more than a message has room
/// for.
Message lineIn(std::string_view program, int line) {
    const std::string_view code = program.substr(beginOf(program, line));
    return Message::data(quotedText(trimmed(code.substr(0, code.find('\n')))));
}

/// Returns what forward() does beside running the network; empty where it does no more.
Message doubtOf(const lang::ForwardUse& use) {
    if (use.line == 0 || use.alone) return {};
    const std::string model = use.model.empty() ? "nn.Sequential" : use.model;
    if (use.others.empty())
        return {phrase("Model", "forward() in line %1 does more than run %2"), use.line, model};
    return {phrase("Model", "forward() in line %1 does more than run %2: it also uses %3"),
            use.line, model, listedNames(use.others)};
}

/// Returns the statement that a line of a program belongs to.
std::string_view statementIn(std::string_view program, int line) {
    const size_t at = program.find_first_not_of(lang::kBlanks, beginOf(program, line));
    std::string_view found;
    lang::eachStatement(program, [&](const lang::Statement& each) {
        const auto begin = static_cast<size_t>(each.code.data() - program.data());
        if (begin <= at && at < begin + each.code.size()) found = each.code;
    });
    return found;
}

/// Whether code adds something, as a block does that adds its input.
bool adds(std::string_view code) {
    const std::string_view arguments = lang::argumentsOfDef(code); // as in k=1+2
    if (!arguments.empty())
        code.remove_prefix(static_cast<size_t>(arguments.data() - code.data()) + arguments.size());
    return code.find('+') != code.npos || code.find("add(") != code.npos;
}

/// Throws InputError for a program whose class has a forward() with a line that is not read.
[[noreturn]] void refuseLine(std::string_view program, int line) {
    const Message code = lineIn(program, line);
    throw InputError(
        adds(statementIn(program, line))
            ? phrase("Model", "its class cannot be read as a network, because line %1 does more "
                              "than run one layer after another: %2; what print(model) shows can "
                              "be pasted into Layers, and Residual(..., shortcut=...) stands for "
                              "a block that adds its input")
            : phrase("Model", "its class cannot be read as a network, because line %1 does more "
                              "than run one layer after another: %2; the layers alone, as "
                              "print(model) shows them, can be pasted into Layers"),
        line, code);
}

/// Throws InputError for a program of which it is not known which of its networks is meant.
[[noreturn]] void refuseAllOf(const std::vector<std::string>& classes) {
    throw InputError(
        phrase("Model", "there are %1 networks in this program, the classes %2; copy the one that "
                        "is meant into Layers; if they are parts of one network, paste what "
                        "print(model) shows there, and Residual(..., shortcut=...) stands for a "
                        "block that adds its input"),
        classes.size(), someOf(classes));
}

/// Returns a doubt for a program with other classes that may be networks than the one that uses its
/// nn.Sequential; empty where there is none.
Message doubtOfClasses(std::string_view program, const lang::ForwardUse& use) {
    const std::vector<std::string> classes = lang::networkClassesIn(program);
    if (classes.size() == 1 && use.line == 0)
        return {phrase("Model", "this program has one nn.Sequential(...), but a class with a "
                                "forward(), too: %1"),
                classes.front()};
    if (classes.size() < 2) return {};
    return {phrase("Model", "this program has one nn.Sequential(...), but %1 classes with a "
                            "forward(): %2"),
            classes.size(), someOf(classes)};
}

/// Throws InputError for a network that cannot be read and is not all that forward() runs: what it
/// lacks by itself is of no use.
[[noreturn]] void refuseDoubted(const Message& doubt, std::string_view forward) {
    throw InputError(adds(forward)
                         ? phrase("Model", "%1; write the whole network as one nn.Sequential(...), "
                                           "in which Residual(..., shortcut=...) stands for a "
                                           "block that adds its input")
                         : phrase("Model", "%1; write the whole network as one "
                                           "nn.Sequential(...)"),
                     doubt);
}

/// Returns the network of a class whose forward() runs one layer after another.
ProgramNetwork networkOf(std::string_view program, const ClassNetwork& found) {
    ProgramNetwork network{found.names(), found.firstLine(), found.lastLine()};
    lang::ModelText& text = network.text;
    try {
        text.text = pythonOf(readModel(found.value()), "");
        text.inPlace = found.inPlace();
    } catch (const InputError& error) {
        refuse(program, text, error.message(), true);
    }
    return network;
}

/// Returns what forward() runs, with the line in which it begins.
std::string_view forwardIn(std::string_view program, const lang::ForwardUse& use) {
    const size_t begin = beginOf(program, use.line);
    return program.substr(begin, use.end - begin);
}

} // namespace

ProgramNetwork networkIn(std::string_view program) {
    if (const auto ofClass = ClassNetwork::in(program, BesideClass::Anything))
        return networkOf(program, *ofClass);
    const std::vector<lang::FoundModel> models = lang::modelsIn(program);
    if (models.empty() && program.size() > lang::kMaxTextBytes)
        throw InputError(
            phrase("Model", "there is no nn.Sequential(...) in this program that could be taken as "
                            "the network, and of a program with more than %1 bytes no class is "
                            "read: copy the class by itself into Layers"),
            lang::kMaxTextBytes);
    if (const int line = models.empty() ? ClassNetwork::unreadLine(program) : 0; line > 0)
        refuseLine(program, line);
    if (models.size() != 1)
        if (const auto classes = lang::networkClassesIn(program); classes.size() > 1)
            refuseAllOf(classes);
    if (models.empty())
        throw InputError(
            phrase("Model", "there is no nn.Sequential(...) in this program that could be taken as "
                            "the network, and no class whose forward() only runs one layer "
                            "after another; what print(model) shows can be pasted into Layers, and "
                            "Residual(..., shortcut=...) stands for a block that adds its input"));
    if (models.size() > 1)
        throw InputError(
            phrase("Model", "there are %1 networks (nn.Sequential) in this program, in lines %2 "
                            "and %3 for example; copy the one that is meant into Layers; if they "
                            "are parts of one network, paste what print(model) shows there, and "
                            "Residual(..., shortcut=...) stands for a block that adds its input"),
            models.size(), models[0].firstLine, models[1].firstLine);
    const lang::FoundModel& found = models.front();
    const lang::ForwardUse use = lang::forwardOf(program, found);
    ProgramNetwork network{lang::textOfModel(program, found), found.firstLine, found.lastLine,
                           doubtOf(use)};
    const lang::ModelText& text = network.text;
    try {
        const bool fits = text.inPlace.size() <= lang::kMaxTextBytes;
        readModel(fits ? text.inPlace : text.text);
    } catch (const InputError& error) {
        if (!network.doubt.empty()) refuseDoubted(network.doubt, forwardIn(program, use));
        refuse(program, text, error.message(), use.line > 0);
    }
    if (network.doubt.empty()) network.doubt = doubtOfClasses(program, use);
    return network;
}

bool isNetworkFile(const std::string& path) {
    std::error_code unknown;
    const bool text = lowerCase(std::filesystem::path(path).extension().string()) == ".txt";
    if (!text || std::filesystem::file_size(path, unknown) > lang::kMaxTextBytes) return false;
    try {
        const std::string content = readFile(path, lang::kMaxTextBytes);
        const std::string_view code = withoutByteOrderMark(content);
        if (ClassNetwork::in(lang::plainText(code), BesideClass::Making)) return true;
        const lang::Value value = lang::parse(code);
        return value.kind == lang::Kind::Call && lang::isSequential(value.text);
    } catch (const InputError&) {
        return false;
    }
}

} // namespace halfscope
