// Goes through the program word by word, and past strings and comments.
#include "engine/lang/found_models.h"

#include "engine/core/text.h"
#include "engine/lang/around_model.h"
#include "engine/lang/code_text.h"
#include "engine/lang/idle_code.h"
#include "engine/lang/program_names.h"
#include "engine/lang/scanner.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace halfscope::lang {

namespace {

/// Returns spaces in place of everything but a model and numbers, from a line that has all of them
/// behind it up to the end of the model.
std::string inTheirPlaces(std::string_view program, const FoundModel& model,
                          const std::vector<NamedNumber>& numbers, size_t begin = 0) {
    std::string left(model.end - begin, ' ');
    const auto keep = [&](std::string_view part) {
        left.replace(static_cast<size_t>(part.data() - program.data()) - begin, part.size(), part);
    };
    keep(program.substr(model.begin, model.end - model.begin));
    for (const NamedNumber& each : numbers)
        keep(each.code);
    for (size_t at = program.find('\n', begin); at < model.end; at = program.find('\n', at + 1))
        left[at - begin] = '\n';
    return left;
}

/// Returns the lines with up to `indent` blanks fewer before each but the first one.
std::string outdented(std::string_view text, size_t indent) {
    std::string lines;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
        const size_t code = std::min(text.find_first_not_of(kBlanks, begin), end);
        const size_t from = begin == 0 ? 0 : std::min(code, begin + indent);
        lines += text.substr(from, end - from);
        begin = end;
    }
    return lines;
}

/// Whether a line holds no code from here on.
bool endsLine(std::string_view program, size_t at) {
    const std::string_view rest = program.substr(at);
    return isEmptyCode(rest.substr(0, rest.find('\n')));
}

/// Returns the names in a model alone; `names` are what the program gives to them.
ModelText namesAlone(const ProgramNames& all, const GivenNames& names, const FoundModel& model) {
    ModelText text;
    std::set<std::string_view> told;
    for (const NamedNumber& each : names.numbers)
        if (told.insert(each.name).second) text.numbers.emplace_back(each.name);
    text.unknown.assign(names.unknown.begin(), names.unknown.end());
    if (text.unknown.empty()) return text;
    const std::vector<std::string_view> arguments = all.arguments(model);
    std::ranges::copy_if(text.unknown, std::back_inserter(text.arguments),
                         [&arguments](const std::string& name) {
                             return std::ranges::find(arguments, name) != arguments.end();
                         });
    return text;
}

} // namespace

bool isSequential(std::string_view name) {
    return name == "nn.Sequential" || name == "torch.nn.Sequential" || name == "Sequential";
}

std::vector<FoundModel> modelsIn(std::string_view program) {
    std::vector<FoundModel> found;
    const auto lineEnds = [program](size_t from, size_t to) {
        return static_cast<int>(std::ranges::count(program.substr(from, to - from), '\n'));
    };
    size_t counted = 0; // up to here
    int line = 1;
    std::string_view before; // the word before
    for (size_t at = 0; at < program.size();) {
        if (const size_t past = pastNoCode(program, at); past != at) {
            at = past;
            continue;
        }
        if (!isNameStart(program[at])) {
            ++at;
            continue;
        }
        const size_t begin = at;
        at = dottedEnd(program, begin);
        const std::string_view name = program.substr(begin, at - begin);
        const bool defined = std::exchange(before, name) == "class";
        const size_t open = program.find_first_not_of(kBlanks, at);
        if (!isSequential(name) || defined || open == kNowhere || program[open] != '(') continue;
        const size_t close = closingBracket(program, open);
        if (close == kNowhere) break;
        at = close + 1;
        if (isEmptyCode(program.substr(open + 1, close - open - 1))) continue;
        const int first = line + lineEnds(counted, begin);
        line = first + lineEnds(begin, at);
        counted = at;
        found.push_back({first, line, begin, at});
    }
    return found;
}

ModelText textOfModel(std::string_view program, ProgramNames& all, const FoundModel& found) {
    const size_t line = program.substr(0, found.begin).rfind('\n') + 1; // 0 in the first line
    const size_t indent = std::min(program.find_first_not_of(kBlanks, line), found.begin) - line;
    const GivenNames names = all.above(found);
    ModelText text = namesAlone(all, names, found);
    for (const NamedNumber& each : names.numbers)
        text.text += std::string(each.name) + " = " + std::string(each.value) + "\n";
    text.text += outdented(program.substr(found.begin, found.end - found.begin), indent);
    text.inPlace = inTheirPlaces(program, found, names.numbers);
    return text;
}

ModelText namesOfModel(ProgramNames& all, const FoundModel& model) {
    return namesAlone(all, all.above(model), model);
}

ModelText textOfModel(std::string_view program, const FoundModel& found) {
    ProgramNames names(program);
    return textOfModel(program, names, found);
}

ModelLines linesOfModel(std::string_view program, ProgramNames& names, const FoundModel& model) {
    const std::vector<NamedNumber> numbers = names.above(model).numbers;
    size_t first = model.begin;
    for (const NamedNumber& each : numbers)
        first = std::min(first, static_cast<size_t>(each.code.data() - program.data()));
    const size_t begin = program.substr(0, first).rfind('\n') + 1; // 0 in the first line
    return {inTheirPlaces(program, model, numbers, begin), begin};
}

std::string modelOfClass(std::string_view program) {
    if (program.find("class ") == kNowhere) return {};
    const std::vector<FoundModel> models = modelsIn(program);
    if (models.size() != 1) return {};
    const FoundModel& model = models.front();
    const std::vector<std::string_view> words = wordsAround(program, model.begin, model.end);
    if (std::ranges::count(words, std::string_view("class")) != 1) return {};
    std::vector<size_t> own; // where the class uses something of its own
    for (size_t i = 0; i < words.size(); ++i)
        if (words[i].starts_with("self.")) own.push_back(i);
    if (own.size() != 2 || words[own[0]] != words[own[1]]) return {};
    const std::string_view kept = words[own[0]];
    const auto keptEnd = static_cast<size_t>(kept.data() - program.data()) + kept.size();
    const bool assigned = keptEnd <= model.begin &&
                          trimmed(program.substr(keptEnd, model.begin - keptEnd)) == "=" &&
                          endsLine(program, model.end);
    const ForwardUse use = forwardOf(program, model);
    const auto head = std::ranges::find(words, std::string_view("class"));
    const bool alone = use.line > 0 && use.alone && head + 1 != words.end() &&
                       onlyMakesModels(program.substr(use.end), *(head + 1));
    if (!assigned || !alone) return {};
    return inTheirPlaces(program, model, ProgramNames(program).above(model).numbers);
}

} // namespace halfscope::lang
