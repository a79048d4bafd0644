// Finds the network with found_models, and reads it in its place, so that errors name its lines.
#include "engine/models/program_network.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/input_file.h"
#include "engine/lang/around_model.h"
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

/// Throws the problem of a network, with the reason where a name in it has no known number.
[[noreturn]] void refuse(const lang::ModelText& model, const Message& problem) {
    const auto blames = [&problem](const std::string& name) { return refusesName(problem, name); };
    const auto unknown = std::ranges::find_if(model.unknown, blames);
    if (unknown == model.unknown.end())
        throw InputError(phrase("Model", "the network in it cannot be read: %1"), problem);
    if (std::ranges::find(model.arguments, *unknown) != model.arguments.end())
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

/// Returns a line of a program without the blanks around it, and no more than a message has room
/// for.
Message lineIn(std::string_view program, int line) {
    size_t begin = 0;
    for (int i = 1; i < line; ++i)
        begin = program.find('\n', begin) + 1;
    const std::string_view code = program.substr(begin);
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

/// Returns the network of a class whose forward() runs one layer after another.
ProgramNetwork networkOf(const ClassNetwork& found) {
    ProgramNetwork network{found.names(), found.firstLine(), found.lastLine()};
    lang::ModelText& text = network.text;
    try {
        text.text = pythonOf(readModel(found.value()), "");
        text.inPlace = found.inPlace();
    } catch (const InputError& error) {
        refuse(text, error.message());
    }
    return network;
}

} // namespace

ProgramNetwork networkIn(std::string_view program) {
    if (const auto ofClass = ClassNetwork::in(program, BesideClass::Anything))
        return networkOf(*ofClass);
    const std::vector<lang::FoundModel> models = lang::modelsIn(program);
    if (models.empty() && program.size() > lang::kMaxTextBytes)
        throw InputError(
            phrase("Model", "there is no nn.Sequential(...) in this program that could be taken as "
                            "the network, and of a program with more than %1 bytes no class is "
                            "read: copy the class by itself into Layers"),
            lang::kMaxTextBytes);
    if (const int line = models.empty() ? ClassNetwork::unreadLine(program) : 0; line > 0)
        throw InputError(
            phrase("Model", "its class cannot be read as a network, because line %1 does more than "
                            "run one layer after another: %2; what print(model) shows can be "
                            "pasted into Layers, and Residual(..., shortcut=...) stands for a "
                            "block that adds its input"),
            line, lineIn(program, line));
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
    ProgramNetwork network{lang::textOfModel(program, found), found.firstLine, found.lastLine,
                           doubtOf(lang::forwardOf(program, found))};
    const lang::ModelText& text = network.text;
    try {
        const bool fits = text.inPlace.size() <= lang::kMaxTextBytes;
        readModel(fits ? text.inPlace : text.text);
    } catch (const InputError& error) {
        refuse(text, error.message());
    }
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
