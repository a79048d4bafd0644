// Goes through the statements of a program, and keeps what they bind.
#include "engine/lang/program_names.h"

#include "engine/core/text.h"
#include "engine/lang/around_model.h"
#include "engine/lang/code_text.h"
#include "engine/lang/scanner.h"

#include <algorithm>
#include <iterator>
#include <optional>
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
        bindings.numbers.push_back({code, name, value, statement.code.data(), block});
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
    /// `around` are the functions in which the model is made.
    OtherFunctions(std::string_view program, const std::vector<size_t>& around)
        : m_around(around),
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
    const std::vector<size_t>& m_around;
    bool m_shared, m_inside = false, m_begins = false;
    size_t m_indent = 0;
};

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

/// A statement of a program.
struct StatementPlace {
    size_t begin = 0, end = 0;
    int block = 0;      ///< in which it stands
    bool apart = false; ///< see mayRunLater(): its names may not be those of its block
};

/// What the statements of a program bind.
struct Statements {
    Bindings bindings{};
    std::vector<StatementPlace> places{};
};

/// Reads the statements that begin at `last` or before it.
Statements statementsUpTo(std::string_view program, const std::vector<size_t>& around,
                          size_t last) {
    Statements all;
    OpenBlocks blocks;
    OtherFunctions others(program, around);
    eachStatement(program, [&](const Statement& each) {
        const auto begin = static_cast<size_t>(each.code.data() - program.data());
        if (begin > last) return;
        blocks.enter(each);
        others.enter(each, begin);
        const int block = blocks.innermost();
        if (!others.add(each, all.bindings)) addBindings(each, block, all.bindings);
        all.places.push_back({begin, begin + each.code.size(), block, mayRunLater(each)});
    });
    return all;
}

/// Returns the statement in which a place stands.
StatementPlace placeOf(size_t place, const std::vector<StatementPlace>& all) {
    const auto behind = std::ranges::upper_bound(all, place, {}, &StatementPlace::begin);
    if (behind == all.begin() || std::prev(behind)->end <= place) return {};
    return *std::prev(behind);
}

/// Whether no statement below this one can run before it. Where it is in a block, such as that of a
/// function, or may run later for another reason, the statements below it count as well.
bool runsInOrder(const StatementPlace& place) { return !place.apart && place.block == 0; }

std::string_view codeOf(std::string_view program, const FoundModel& model) {
    return program.substr(model.begin, model.end - model.begin);
}

/// The numbers of a program that models see, and its other names.
struct Seen {
    std::vector<NamedNumber> numbers;
    std::set<std::string_view> others;
};

/// Returns what the models in a block see of these bindings. The numbers below the model are none,
/// but their names are bound.
Seen seenFrom(Bindings bindings, int block, size_t above) {
    constexpr int kBelow = -1;
    for (size_t i = above; i < bindings.numbers.size(); ++i)
        bindings.numbers[i].block = kBelow;
    leaveOutUnknown(bindings, block);
    std::ranges::reverse(bindings.numbers);
    bindings.others.merge(bindings.elsewhere);
    return {std::move(bindings.numbers), std::move(bindings.others)};
}

GivenNames namesGiven(std::string_view code, const Seen& seen) {
    std::set<std::string_view> wanted;
    addNames(code, wanted);
    GivenNames names;
    for (const NamedNumber& each : seen.numbers) {
        if (wanted.erase(each.name) == 0) continue;
        addNames(each.value, wanted);
        names.numbers.push_back(each);
    }
    std::ranges::reverse(names.numbers);
    std::ranges::copy_if(wanted, std::back_inserter(names.unknown),
                         [&seen](std::string_view name) { return seen.others.contains(name); });
    return names;
}

} // namespace

/// What the statements of the whole program bind, for models in the same functions.
struct ProgramNames::Bound {
    Statements statements;
    // Models come in their order. To keep what is seen at each place takes a thousand times the
    // memory of a program that sets a number before each layer.
    std::pair<int, size_t> place{}; ///< of the last model: its block, and the numbers above it
    std::optional<Seen> seen{};     ///< by models there

    GivenNames seenBy(std::string_view program, const FoundModel& model) {
        const StatementPlace own = placeOf(model.begin, statements.places);
        const int block = own.apart ? 0 : own.block;
        const std::vector<NamedNumber>& numbers = statements.bindings.numbers;
        const auto below = std::ranges::partition_point(numbers, [&](const NamedNumber& each) {
            return each.statement <= program.data() + model.begin;
        });
        const auto above = static_cast<size_t>(below - numbers.begin());
        const std::pair here{block, above};
        if (!seen || place != here) seen = seenFrom(statements.bindings, block, above);
        place = here;
        return namesGiven(codeOf(program, model), *seen);
    }
};

ProgramNames::ProgramNames(std::string_view program)
    : m_program(program), m_statements(indentedStatements(program)) {}

ProgramNames::~ProgramNames() = default;

GivenNames ProgramNames::above(const FoundModel& model) {
    std::set<std::string_view> wanted;
    addNames(codeOf(m_program, model), wanted);
    if (wanted.empty()) return {};
    const std::vector<size_t> around = functionsAround(m_program, m_statements, model);
    std::unique_ptr<Bound>& bound = m_bound[around];
    if (bound && !runsInOrder(placeOf(model.begin, bound->statements.places)))
        return bound->seenBy(m_program, model);
    Statements before = statementsUpTo(m_program, around, model.begin);
    if (runsInOrder(placeOf(model.begin, before.places))) {
        const size_t count = before.bindings.numbers.size();
        return namesGiven(codeOf(m_program, model), seenFrom(std::move(before.bindings), 0, count));
    }
    bound = std::make_unique<Bound>(Bound{statementsUpTo(m_program, around, kNowhere)});
    return bound->seenBy(m_program, model);
}

std::vector<std::string_view> ProgramNames::arguments(const FoundModel& model) const {
    return argumentsAround(m_program, m_statements, model);
}

} // namespace halfscope::lang
