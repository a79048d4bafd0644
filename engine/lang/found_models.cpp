// Goes through the program word by word, and past strings and comments.
#include "engine/lang/found_models.h"

#include "engine/core/text.h"
#include "engine/lang/scanner.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace halfscope::lang {

namespace {

constexpr size_t kNowhere = std::string_view::npos;
constexpr std::string_view kBlanks = " \t";

/// Returns where the string ends whose quotation mark is here. One that stays open ends with its
/// line, or with the text where three marks began it.
size_t stringEnd(std::string_view text, size_t at) {
    const std::string_view three = text.substr(at, 3);
    const bool isLong = three == R"(""")" || three == "'''";
    const std::string_view mark = isLong ? three : three.substr(0, 1);
    for (at += mark.size(); at < text.size(); ++at) {
        if (text.substr(at, mark.size()) == mark) return at + mark.size();
        if (text[at] == '\n' && !isLong) return at;
        if (text[at] == '\\') ++at;
    }
    return text.size();
}

/// Returns where the comment or the string ends that begins here; `at` where none does.
size_t pastNoCode(std::string_view text, size_t at) {
    const char c = text[at];
    if (c == '#') return std::min(text.find('\n', at), text.size());
    return c == '"' || c == '\'' ? stringEnd(text, at) : at;
}

/// Returns the place of the bracket that closes the one here; kNowhere when it stays open.
size_t closingBracket(std::string_view text, size_t at) {
    for (int depth = 0; at < text.size();) {
        if (const size_t past = pastNoCode(text, at); past != at) {
            at = past;
            continue;
        }
        const char c = text[at];
        depth += c == '(' || c == '[' || c == '{' ? 1 : 0;
        depth -= c == ')' || c == ']' || c == '}' ? 1 : 0;
        if (depth == 0) return at;
        ++at;
    }
    return kNowhere;
}

/// Returns where the name ends that begins here, with what dots join to it.
size_t dottedEnd(std::string_view text, size_t at) {
    while (at < text.size() && (isNamePart(text[at]) || text[at] == '.'))
        ++at;
    return at;
}

/// Adds the names in a piece of code that no dot joins to others.
void addNames(std::string_view code, std::set<std::string_view>& names) {
    for (size_t at = 0; at < code.size();) {
        const size_t end = std::max(dottedEnd(code, at), at + 1);
        const std::string_view word = code.substr(at, end - at);
        if (isNameStart(word[0]) && word.find('.') == kNowhere) names.insert(word);
        at = end;
    }
}

/// Returns what a line such as "hidden: int = 2 * width  # units" gives to its name, if that may be
/// a number: of names and signs of arithmetic alone. Empty otherwise.
std::string_view assignedNumber(std::string_view line, std::string_view& name) {
    line = trimmed(line.substr(0, line.find_first_of("#\r")));
    const size_t equals = line.find('=');
    if (equals == kNowhere) return {};
    name = trimmed(line.substr(0, std::min(equals, line.find(':'))));
    const std::string_view value = trimmed(line.substr(equals + 1));
    const bool named =
        !name.empty() && isNameStart(name[0]) && std::ranges::all_of(name, isNamePart);
    const auto isArithmetic = [](char c) {
        return isNamePart(c) || std::string_view(" +-*/.").find(c) != kNowhere;
    };
    if (!named || !std::ranges::all_of(value, isArithmetic)) return {};
    return value;
}

/// Returns the lines above a model that give numbers to the names in it, those last set.
std::vector<std::string_view> numberLines(std::string_view model, std::string_view above) {
    std::set<std::string_view> wanted;
    addNames(model, wanted);
    std::vector<std::string_view> lines;
    while (!above.empty()) {
        const size_t end = above.rfind('\n');
        const std::string_view line = end == kNowhere ? above : above.substr(end + 1);
        above = end == kNowhere ? std::string_view() : above.substr(0, end);
        std::string_view name;
        const std::string_view value = assignedNumber(line, name);
        if (value.empty() || wanted.erase(name) == 0) continue;
        addNames(value, wanted);
        lines.push_back(line);
    }
    std::ranges::reverse(lines);
    return lines;
}

/// Returns them without what stands around the numbers.
std::string numbersFor(std::string_view model, std::string_view above) {
    std::string numbers;
    for (const std::string_view line : numberLines(model, above)) {
        std::string_view name;
        const std::string_view value = assignedNumber(line, name);
        numbers += std::string(name) + " = " + std::string(value) + "\n";
    }
    return numbers;
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

FoundModel modelAt(std::string_view program, size_t begin, size_t end) {
    const std::string_view above = program.substr(0, begin),
                           model = program.substr(begin, end - begin);
    const size_t line = above.rfind('\n') + 1; // 0 in the first line
    const size_t indent = std::min(above.find_first_not_of(kBlanks, line), begin) - line;
    const auto linesIn = [](std::string_view text) {
        return static_cast<int>(std::ranges::count(text, '\n'));
    };
    const int first = 1 + linesIn(above);
    return {numbersFor(model, above.substr(0, line)) + outdented(model, indent), first,
            first + linesIn(model), begin, end};
}

/// Returns the words of a program, names with their dots, but not those from `begin` to `end`.
std::vector<std::string_view> wordsAround(std::string_view program, size_t begin, size_t end) {
    std::vector<std::string_view> words;
    for (size_t at = 0; at < program.size();) {
        if (at >= begin && at < end) at = end;
        if (at == program.size()) break;
        const size_t past = pastNoCode(program, at);
        const size_t next = past != at ? past : std::max(dottedEnd(program, at), at + 1);
        if (past == at && isNameStart(program[at])) words.push_back(program.substr(at, next - at));
        at = next;
    }
    return words;
}

/// Whether there is no code in a text; a docstring is none.
bool isEmptyCode(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const size_t past = pastNoCode(text, at);
        if (past == at && std::string_view(" \t\r\n").find(text[at]) == kNowhere) return false;
        at = std::max(past, at + 1);
    }
    return true;
}

/// Whether a line holds no code from here on.
bool endsLine(std::string_view program, size_t at) {
    const std::string_view rest = program.substr(at);
    return isEmptyCode(rest.substr(0, rest.find('\n')));
}

/// Whether "def forward(self, x): return self.net(x)" ends the program, whatever its lines. `words`
/// are those of the program up to "self.net".
bool endsInForward(std::string_view program, std::span<const std::string_view> words) {
    const auto def = std::ranges::find(words, std::string_view("forward"));
    const bool fits = words.end() - def >= 5 && def != words.begin() && *(def - 1) == "def" &&
                      *(def + 1) == "self" && *(words.end() - 2) == "return";
    if (!fits) return false;
    const auto placeOf = [program](std::string_view word) {
        return static_cast<size_t>(word.data() - program.data());
    };
    const std::string_view input = *(def + 2), kept = words.back();
    const size_t open = placeOf(*def) + def->size();
    const size_t close = program[open] == '(' ? closingBracket(program, open) : kNowhere;
    const size_t colon = close == kNowhere ? kNowhere : program.find(':', close);
    const size_t result = placeOf(*(words.end() - 2));
    if (colon == kNowhere || colon > result) return false;
    const std::string_view before = program.substr(colon + 1, result - colon - 1);
    const size_t call = placeOf(kept) + kept.size();
    const std::string run = "(" + std::string(input) + ")";
    return isEmptyCode(before) && program.substr(call).starts_with(run) &&
           isEmptyCode(program.substr(call + run.size()));
}

} // namespace

bool isSequential(std::string_view name) {
    return name == "nn.Sequential" || name == "torch.nn.Sequential" || name == "Sequential";
}

std::vector<FoundModel> modelsIn(std::string_view program) {
    std::vector<FoundModel> found;
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
        if (!trimmed(program.substr(open + 1, close - open - 1)).empty())
            found.push_back(modelAt(program, begin, at));
    }
    return found;
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
    if (!assigned || !endsInForward(program, std::span(words).first(own[1] + 1))) return {};
    std::string left(program.size(), ' ');
    const auto keep = [&left, program](std::string_view part) {
        left.replace(static_cast<size_t>(part.data() - program.data()), part.size(), part);
    };
    const std::string_view layers = program.substr(model.begin, model.end - model.begin);
    keep(layers);
    const size_t line = program.substr(0, model.begin).rfind('\n') + 1; // 0 in the first line
    for (const std::string_view numbers : numberLines(layers, program.substr(0, line)))
        keep(numbers);
    for (size_t i = 0; i < program.size(); ++i)
        if (program[i] == '\n') left[i] = '\n';
    return left;
}

} // namespace halfscope::lang
