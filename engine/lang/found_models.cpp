// Goes through the program word by word, and past strings and comments.
#include "engine/lang/found_models.h"

#include "engine/core/text.h"
#include "engine/lang/around_model.h"
#include "engine/lang/blocks.h"
#include "engine/lang/code_text.h"
#include "engine/lang/idle_code.h"
#include "engine/lang/scanner.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace halfscope::lang {

namespace {

/// Adds the names in a piece of code that no dot joins to others, but not those of arguments, as in
/// "p=0.5".
void addNames(std::string_view code, std::set<std::string_view>& names) {
    for (size_t at = 0; at < code.size();) {
        const size_t past = pastNoCode(code, at);
        const size_t end = past != at ? past : std::max(dottedEnd(code, at), at + 1);
        const std::string_view word = code.substr(at, end - at);
        const size_t next = std::min(code.find_first_not_of(kBlanks, end), code.size());
        const bool plain = past == at && isNameStart(word[0]) && word.find('.') == kNowhere;
        if (plain && !code.substr(next).starts_with('=')) names.insert(word);
        at = end;
    }
}

/// A statement such as "hidden: int = 2 * width": a name, and what may be a number.
struct NamedNumber {
    std::string_view code, name, value;
    int block = 0; ///< in which it stands, see OpenBlocks
};

/// Tells the blocks of a program apart by the blanks before their lines. Block 0 is the program
/// itself.
class OpenBlocks {
public:
    /// Goes on to the next statement.
    void enter(const Statement& statement) {
        if (!statement.first) return;
        const size_t indent = statement.code.find_first_not_of(kBlanks);
        while (m_open.back().indent > indent)
            m_open.pop_back();
        if (m_open.back().indent < indent) m_open.push_back({indent, ++m_last});
    }

    /// Returns the block in which the present statement stands.
    int innermost() const { return m_open.back().number; }

private:
    struct Block {
        size_t indent = 0;
        int number = 0;
    };
    std::vector<Block> m_open{Block()};
    int m_last = 0;
};

/// What the statements of a program give to its names.
struct Bindings {
    std::vector<NamedNumber> numbers{};
    std::set<std::string_view> others{};    ///< names that may stand for something else, too
    std::set<std::string_view> elsewhere{}; ///< names that functions have of their own
    size_t open = 0; ///< so many of the first numbers may be replaced by names that nobody can tell
};

/// Adds the names that a piece of code binds without an assignment: those of functions and their
/// parameters, of loops, imports, cases and "as", and those before ":=".
void addBoundNames(std::string_view code, Bindings& bindings) {
    std::set<std::string_view>& bound = bindings.others;
    std::string_view before; // the word before
    char sign = ' ';         // the last one that is neither blank nor of a comment
    bool defines = false, loops = false, lists = false, lambda = false;
    for (size_t at = 0; at < code.size();) {
        const size_t past = pastNoCode(code, at);
        const size_t end = past != at ? past : std::max(dottedEnd(code, at), at + 1);
        const std::string_view word = code.substr(at, end - at);
        const bool named = past == at && isNameStart(word[0]);
        if (named) {
            const bool next = sign == ',' || sign == '*';
            const bool parameter =
                (defines && (next || sign == '(')) || (lambda && (next || before == "lambda"));
            const bool follows = before == "def" || before == "class" || before == "as";
            if (word == "in") loops = false;
            if ((parameter || follows || loops || lists) && word.find('.') == kNowhere)
                bound.insert(word);
            defines = defines || word == "def";
            loops = loops || word == "for";
            lambda = lambda || word == "lambda";
            lists = lists || word == "import" || word == "global" || word == "nonlocal" ||
                    word == "del" || (word == "case" && before.empty());
            if (word == "exec" || word == "globals") bindings.open = kNowhere;
            before = word;
        } else if (code.substr(at, 2) == ":=" && !before.empty()) {
            bound.insert(before);
        } else if (word == "*" && before == "import") {
            bindings.open = std::max(bindings.open, bindings.numbers.size());
        }
        lambda = lambda && word != ":";
        if (named || std::string_view(" \t\r\n\\#").find(word[0]) == kNowhere) sign = word[0];
        at = end;
    }
}

/// Returns the places of the signs that give a value: "=" and the last one of "+=", but no "==".
std::vector<size_t> assigningSigns(std::string_view code) {
    std::vector<size_t> places;
    for (size_t at = signOutside(code, '='); at != kNowhere; at = signOutside(code, '=', at + 1)) {
        if (code.substr(at, 2) == "==") {
            ++at;
            continue;
        }
        const char before = at > 0 ? code[at - 1] : ' ', first = at > 1 ? code[at - 2] : ' ';
        const bool compares = (before == '<' || before == '>') && first != before;
        if (!compares && before != '!' && before != ':') places.push_back(at);
    }
    return places;
}

/// Adds the names that stand before "=", as in "a, (b, *c)", but not that of an index.
void addTargets(std::string_view code, std::set<std::string_view>& bound) {
    for (size_t at = 0; at < code.size();) {
        const char before = at > 0 ? code[at - 1] : ' ';
        const bool follows = isNamePart(before) || before == ')' || before == ']';
        if (follows && (code[at] == '[' || code[at] == '(')) {
            at = bracketEnd(code, at);
            continue;
        }
        const size_t past = pastNoCode(code, at);
        const size_t end = past != at ? past : std::max(dottedEnd(code, at), at + 1);
        const std::string_view word = code.substr(at, end - at);
        if (past == at && isNameStart(word[0]) && word.find('.') == kNowhere) bound.insert(word);
        at = end;
    }
}

bool beginsBlock(std::string_view word) {
    constexpr std::string_view kWords[] = {"if",  "elif", "else",    "for",   "while", "with",
                                           "try", "def",  "finally", "async", "class", "except"};
    return std::ranges::find(kWords, word) != std::end(kWords);
}

/// Whether a word is no name but makes a value of others, or is a value that is no number.
bool isOperator(std::string_view word) {
    constexpr std::string_view kWords[] = {"if",   "else", "and",   "or",     "not",   "is",   "in",
                                           "None", "True", "False", "lambda", "await", "yield"};
    return std::ranges::find(kWords, word) != std::end(kWords);
}

/// Whether a value is of numbers, plain names and signs of arithmetic alone, so that it may be a
/// number.
bool isArithmetic(std::string_view value) {
    for (size_t at = 0; at < value.size();) {
        const size_t end = dottedEnd(value, at);
        const std::string_view word = value.substr(at, end - at);
        if (word.empty() && std::string_view(" +-*/").find(value[at]) == kNowhere) return false;
        const bool named = !word.empty() && isNameStart(word[0]);
        if (named && (word.find('.') != kNowhere || isOperator(word))) return false;
        at = std::max(end, at + 1);
    }
    return !value.empty();
}

void addBindings(const Statement& statement, int block, Bindings& bindings) {
    addBoundNames(statement.code, bindings);
    std::string_view code = withoutEnds(statement.code);
    size_t colon = signOutside(code, ':');
    bool alone = statement.alone;
    while (colon != kNowhere && beginsBlock(code.substr(0, dottedEnd(code, 0)))) {
        code = withoutEnds(code.substr(colon + 1)); // "if large: width = 128"
        colon = signOutside(code, ':');
        alone = false;
    }
    const std::vector<size_t> signs = assigningSigns(code);
    if (signs.empty()) return;
    const std::string_view targets = code.substr(0, std::min(signs.back(), colon));
    const std::string_view name = trimmed(targets), value = trimmed(code.substr(signs.back() + 1));
    const bool plain = alone && signs.size() == 1 && !name.empty() && isNameStart(name[0]) &&
                       std::ranges::all_of(name, isNamePart);
    if (plain && isArithmetic(value))
        bindings.numbers.push_back({code, name, value, block});
    else // behind a colon, too: "case 1: width = 128"
        addTargets(code.substr(0, signs.back()), bindings.others);
}

/// Whether a statement, or a part of it, may run more than once, or later than those below it.
bool mayRunLater(const Statement& statement) {
    constexpr std::string_view kWords[] = {"def", "for", "lambda", "while"};
    return !statement.first ||
           std::ranges::any_of(wordsOf(statement.code), [&](std::string_view word) {
               return std::ranges::find(kWords, word) != std::end(kWords);
           });
}

/// Tells the statements of functions in which a model is not made: what they bind is their own.
class OtherFunctions {
public:
    OtherFunctions(std::string_view program, const FoundModel& model)
        : m_around(functionsAround(program, model)),
          m_shared(program.find("global") != kNowhere || program.find("nonlocal") != kNowhere) {}

    /// Goes on to the next statement, which begins at this place.
    void enter(const Statement& statement, size_t place) {
        m_begins = false;
        if (!statement.first || m_shared) return;
        const size_t indent = statement.code.find_first_not_of(kBlanks);
        if (m_inside && indent > m_indent) return;
        m_begins = firstWord(statement.code) == "def" &&
                   std::ranges::find(m_around, place) == m_around.end();
        m_inside = m_begins;
        m_indent = indent;
    }

    /// Adds what the present statement binds if it is one of such a function; false for others.
    bool add(const Statement& statement, Bindings& bindings) const {
        if (!m_inside) return false;
        Bindings own;
        addBindings(statement, 0, own);
        if (m_begins) { // its name is not its own
            const std::string_view code = withoutEnds(statement.code).substr(3);
            const size_t at = std::min(code.find_first_not_of(kBlanks), code.size());
            bindings.others.insert(code.substr(at, dottedEnd(code, at) - at));
        }
        bindings.elsewhere.merge(own.others);
        for (const NamedNumber& each : own.numbers)
            bindings.elsewhere.insert(each.name);
        bindings.open = std::max(bindings.open, own.open);
        return true;
    }

private:
    std::vector<size_t> m_around;
    bool m_shared, m_inside = false, m_begins = false;
    size_t m_indent = 0;
};

/// Returns what the statements up to that of a model bind. `block` becomes the one beside 0 whose
/// numbers the model sees. Where the model is in a block, such as that of a function, or may run
/// later for another reason, the statements below it count as well: none of them gives a number.
Bindings bindingsFor(std::string_view program, const FoundModel& model, int& block) {
    constexpr int kBelow = -1;
    Bindings bindings;
    OpenBlocks blocks;
    OtherFunctions others(program, model);
    bool later = false;
    eachStatement(program, [&](const Statement& each) {
        const auto begin = static_cast<size_t>(each.code.data() - program.data());
        const bool below = begin > model.begin;
        if (below && !later) return;
        blocks.enter(each);
        others.enter(each, begin);
        if (!others.add(each, bindings))
            addBindings(each, below ? kBelow : blocks.innermost(), bindings);
        if (below || begin + each.code.size() <= model.begin) return;
        const bool apart = mayRunLater(each); // its names may not be those of its block
        block = apart ? 0 : blocks.innermost();
        later = apart || block != 0;
    });
    return bindings;
}

/// Leaves out the numbers of blocks other than 0 and that of the model, those of names that may
/// stand for something else, and those that are worked out of names without a number, or of names
/// that their own block sets again.
void leaveOutUnknown(Bindings& bindings, int block) {
    for (size_t i = 0; i < bindings.numbers.size(); ++i) {
        const NamedNumber& each = bindings.numbers[i];
        const bool elsewhere = each.block != 0 && each.block != block;
        if (elsewhere || i < bindings.open) bindings.others.insert(each.name);
    }
    std::map<std::string_view, size_t> last; // of the names in the block, which may be a loop's
    for (size_t i = 0; i < bindings.numbers.size(); ++i)
        if (block != 0 && bindings.numbers[i].block == block) last[bindings.numbers[i].name] = i;
    std::set<std::string_view> known;
    for (size_t i = 0; i < bindings.numbers.size(); ++i) {
        const NamedNumber& each = bindings.numbers[i];
        std::set<std::string_view> used;
        addNames(each.value, used);
        const bool repeats =
            each.block != 0 && std::ranges::any_of(used, [&](std::string_view name) {
                const auto found = last.find(name);
                return found != last.end() && found->second >= i;
            });
        if (repeats || !std::ranges::includes(known, used)) bindings.others.insert(each.name);
        if (!bindings.others.contains(each.name)) known.insert(each.name);
    }
    std::erase_if(bindings.numbers, [&bindings](const NamedNumber& each) {
        return bindings.others.contains(each.name);
    });
}

/// What a program gives to the names in a model.
struct GivenNames {
    std::vector<NamedNumber> numbers{};      ///< in their order
    std::vector<std::string_view> unknown{}; ///< what others of its statements bind
};

/// Returns the statements above a model that give numbers to the names in it, those last set. They
/// stand in the block of the model or in none: whether those in another one count, only a run of
/// the program would tell. A name that stands for something else as well is left out: its value is
/// not known.
GivenNames namesAbove(std::string_view program, const FoundModel& model) {
    int block = 0;
    Bindings bindings = bindingsFor(program, model, block);
    leaveOutUnknown(bindings, block);
    std::set<std::string_view> wanted;
    addNames(program.substr(model.begin, model.end - model.begin), wanted);
    GivenNames names;
    std::ranges::reverse(bindings.numbers);
    for (const NamedNumber& each : bindings.numbers) {
        if (wanted.erase(each.name) == 0) continue;
        addNames(each.value, wanted);
        names.numbers.push_back(each);
    }
    std::ranges::reverse(names.numbers);
    bindings.others.merge(bindings.elsewhere);
    std::ranges::set_intersection(wanted, bindings.others, std::back_inserter(names.unknown));
    return names;
}

/// Returns spaces in place of everything but a model and numbers, up to the end of the model.
std::string inTheirPlaces(std::string_view program, const FoundModel& model,
                          const std::vector<NamedNumber>& numbers) {
    std::string left(model.end, ' ');
    const auto keep = [&left, program](std::string_view part) {
        left.replace(static_cast<size_t>(part.data() - program.data()), part.size(), part);
    };
    keep(program.substr(model.begin, model.end - model.begin));
    for (const NamedNumber& each : numbers)
        keep(each.code);
    for (size_t i = 0; i < left.size(); ++i)
        if (program[i] == '\n') left[i] = '\n';
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

ModelText textOfModel(std::string_view program, const FoundModel& found) {
    const size_t line = program.substr(0, found.begin).rfind('\n') + 1; // 0 in the first line
    const size_t indent = std::min(program.find_first_not_of(kBlanks, line), found.begin) - line;
    ModelText text;
    std::set<std::string_view> told;
    const GivenNames names = namesAbove(program, found);
    for (const NamedNumber& each : names.numbers) {
        text.text += std::string(each.name) + " = " + std::string(each.value) + "\n";
        if (told.insert(each.name).second) text.numbers.emplace_back(each.name);
    }
    text.text += outdented(program.substr(found.begin, found.end - found.begin), indent);
    text.inPlace = inTheirPlaces(program, found, names.numbers);
    text.unknown.assign(names.unknown.begin(), names.unknown.end());
    if (text.unknown.empty()) return text;
    const std::vector<std::string_view> arguments = argumentsAround(program, found);
    std::ranges::copy_if(text.unknown, std::back_inserter(text.arguments),
                         [&arguments](const std::string& name) {
                             return std::ranges::find(arguments, name) != arguments.end();
                         });
    return text;
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
    return inTheirPlaces(program, model, namesAbove(program, model).numbers);
}

} // namespace halfscope::lang
