// Reads statements one after another and gives up at the first that does anything else.
#include "engine/lang/class_chain.h"

#include "engine/core/error.h"
#include "engine/lang/blocks.h"
#include "engine/lang/class_places.h"
#include "engine/lang/code_text.h"
#include "engine/lang/idle_code.h"
#include "engine/lang/scanner.h"
#include "engine/lang/syntax.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <set>
#include <utility>

namespace halfscope::lang {

namespace {

constexpr std::string_view kSelf = "self.";

size_t placeIn(std::string_view program, std::string_view part) {
    return static_cast<size_t>(part.data() - program.data());
}

bool isSelf(std::string_view word) { return word == "self" || word.starts_with(kSelf); }

/// Returns where the code goes on behind blanks, line ends and comments.
size_t nextCode(std::string_view code, size_t at) {
    while (at < code.size() && std::string_view(" \t\r\n#").find(code[at]) != kNowhere)
        at = code[at] == '#' ? pastNoCode(code, at) : at + 1;
    return at;
}

/// Returns the parts of a list between its commas.
std::vector<std::string_view> listParts(std::string_view list) {
    std::vector<std::string_view> parts;
    for (size_t at = 0; at < list.size();) {
        const size_t comma = std::min(signOutside(list, ',', at), list.size());
        parts.push_back(list.substr(at, comma - at));
        at = comma + 1;
    }
    return parts;
}

/// Returns a part of a list without the blanks and comments around it.
std::string_view codeOf(std::string_view part) {
    part.remove_prefix(nextCode(part, 0));
    return withoutEnds(part.substr(0, signOutside(part, '#')));
}

/// Reads the statements of forward().
class ForwardReader {
public:
    ForwardReader(std::string_view program, std::string_view input)
        : m_program(program), m_current(input), m_values{input} {}

    /// Whether a statement was read.
    bool take(std::string_view code) {
        code = withoutEnds(code);
        if (m_returned) return false;
        constexpr std::string_view kReturn = "return ";
        if (code.starts_with(kReturn)) {
            m_returned = true;
            return takeValue(code.substr(kReturn.size()), 0);
        }
        const size_t sign = signOutside(code, '=');
        if (sign == kNowhere) return false;
        const std::string_view target = withoutEnds(code.substr(0, sign));
        const std::string_view value = code.substr(sign + 1);
        if (!isPlainName(target)) return false;
        if (isSampleCount(value)) {
            if (m_values.contains(target)) return false;
            m_counts.insert(target);
            return true;
        }
        if (!takeValue(value, 0)) return false;
        m_counts.erase(target);
        m_values.insert(target);
        m_current = target;
        return true;
    }

    bool returned() const { return m_returned; }
    std::vector<ChainedCall> takeCalls() { return std::move(m_calls); }

private:
    /// Reads calls around the present value, the innermost first, and then methods behind them.
    bool takeValue(std::string_view code, int depth) {
        if (depth > kMaxDepth) return false;
        size_t at = nextCode(code, 0);
        if (at == code.size()) return false;
        if (code[at] == '(') {
            const size_t close = closingBracket(code, at);
            if (close == kNowhere || !takeValue(code.substr(at + 1, close - at - 1), depth + 1))
                return false;
            at = close + 1;
        } else {
            const std::string_view name = code.substr(at, dottedEnd(code, at) - at);
            if (name.empty()) return false;
            const size_t dot = std::min(name.find('.'), name.size());
            const bool ofValue = name.substr(0, dot) == m_current;
            if (ofValue)
                at += dot;
            else if (!takeCall(code, at, name, depth))
                return false;
        }
        while ((at = nextCode(code, at)) < code.size())
            if (code[at] != '.' || !takeMethod(code, at)) return false;
        return true;
    }

    /// Reads "F.relu(value, ...)" and steps behind it.
    bool takeCall(std::string_view code, size_t& at, std::string_view name, int depth) {
        const size_t open = nextCode(code, at + name.size());
        const size_t close =
            code.substr(open).starts_with('(') ? closingBracket(code, open) : kNowhere;
        if (close == kNowhere) return false;
        const std::string_view list = code.substr(open + 1, close - open - 1);
        const size_t comma = std::min(signOutside(list, ','), list.size());
        if (!takeValue(list.substr(0, comma), depth + 1)) return false;
        const bool member = name.starts_with(kSelf);
        at = close + 1;
        return add({member ? ChainedCall::Of::Member : ChainedCall::Of::Function,
                    member ? name.substr(kSelf.size()) : name, placeIn(m_program, name),
                    argumentsIn(list.substr(std::min(comma + 1, list.size())))});
    }

    /// Reads ".flatten(1)" and steps behind it.
    bool takeMethod(std::string_view code, size_t& at) {
        const size_t begin = nextCode(code, at + 1);
        size_t end = begin;
        while (end < code.size() && isNamePart(code[end]))
            ++end;
        const size_t open = nextCode(code, end);
        const size_t close =
            code.substr(open).starts_with('(') ? closingBracket(code, open) : kNowhere;
        if (end == begin || close == kNowhere) return false;
        const std::string_view name = code.substr(begin, end - begin);
        at = close + 1;
        return add({ChainedCall::Of::Method, name, placeIn(m_program, name),
                    argumentsIn(code.substr(open + 1, close - open - 1))});
    }

    bool add(ChainedCall call) {
        constexpr size_t kMostCalls = 1000;
        m_calls.push_back(std::move(call));
        return m_calls.size() <= kMostCalls;
    }

    std::vector<std::string_view> argumentsIn(std::string_view list) const {
        std::vector<std::string_view> all;
        for (const std::string_view part : listParts(list))
            if (const std::string_view each = withoutEnds(part); !each.empty())
                all.push_back(isSampleCount(each) ? kSampleCount : each);
        return all;
    }

    /// Whether code is "x.size(0)", "x.shape[0]", "len(x)", or a name of it.
    bool isSampleCount(std::string_view code) const {
        const std::string text = withoutBlanks(code);
        if (m_counts.contains(text)) return true;
        const std::string_view asks = text;
        constexpr std::string_view kLength = "len(";
        if (asks.starts_with(kLength) && asks.ends_with(')'))
            return m_values.contains(asks.substr(kLength.size(), asks.size() - kLength.size() - 1));
        for (const std::string_view end : {".size(0)", ".shape[0]", ".size()[0]"})
            if (asks.ends_with(end))
                return m_values.contains(asks.substr(0, asks.size() - end.size()));
        return false;
    }

    std::string_view m_program, m_current;
    std::set<std::string_view, std::less<>> m_values; ///< names that the value has had
    std::set<std::string_view, std::less<>> m_counts;
    std::vector<ChainedCall> m_calls;
    bool m_returned = false;
};

/// What the statements of __init__() set.
struct InitMembers {
    std::vector<ClassMember> members{};
    /// Names that are set otherwise or more than once, and those whose parts are set or shared
    std::set<std::string_view> unsure{};
};

/// Whether a word is a number that a layer tells, such as "self.fc.out_features".
bool isSizeOf(std::string_view word) {
    constexpr std::string_view kSizes[] = {"in_features", "out_features", "in_channels",
                                           "out_channels", "num_features"};
    return std::ranges::find(kSizes, word.substr(word.rfind('.') + 1)) != std::end(kSizes);
}

/// Adds what a statement of __init__() sets. Returns false where it may change a member in another
/// way.
bool addMember(std::string_view program, std::string_view code, bool inBlock, InitMembers& made) {
    code = withoutEnds(code);
    const std::vector<std::string_view> words = wordsOf(code);
    constexpr std::string_view kCounts = "_log_api_usage_once("; // in the classes of torchvision
    const bool idle = code.starts_with("super(") || code.starts_with(kCounts);
    if (idle || std::ranges::none_of(words, isSelf)) return true;
    const size_t sign = std::min(signOutside(code, '='), code.size() - 1);
    std::string_view name = attributeOf(code.substr(0, sign + 1));
    if (name.empty()) return false;
    name.remove_prefix(kSelf.size());
    const std::string_view value = withoutEnds(code.substr(sign + 1));
    const bool known = std::ranges::any_of(
        made.members, [name](const ClassMember& each) { return each.name == name; });
    const bool alone = std::ranges::count_if(words, isSelf) == 1;
    if (!alone && value.find('(') != kNowhere) return false; // such as self.apply(init)
    const bool plain = isPlainName(name) && !inBlock && alone;
    const bool sure = !known && plain && signOutside(value, '=') == kNowhere;
    if (!sure) made.unsure.insert(name.substr(0, name.find('.')));
    for (std::string_view word : words) { // those whose parts it may share
        if (sure || !word.starts_with(kSelf) || isSizeOf(word)) continue;
        word.remove_prefix(kSelf.size());
        made.unsure.insert(word.substr(0, word.find('.')));
    }
    constexpr size_t kMostMembers = 1000;
    if (made.members.size() == kMostMembers) return false;
    FoundModel model;
    model.begin = placeIn(program, value);
    model.end = model.begin + value.size();
    made.members.push_back({name, model});
    return true;
}

/// Whether a statement outside of the class sets one of its members, as in "net.fc = nn.Linear(4,
/// 2)".
bool setsMember(std::string_view code, const std::set<std::string_view>& used) {
    const std::string_view word = firstWord(code);
    const size_t dot = word.find('.');
    if (dot == kNowhere || isSelf(word) || signOutside(code, '=') == kNowhere) return false;
    const std::string_view member = word.substr(dot + 1);
    return member == "forward" || used.contains(member.substr(0, member.find('.')));
}

/// Whether a word is the name of a class, perhaps with that of its module before it.
bool isClass(std::string_view word, std::string_view name) {
    for (const std::string_view library : {"nn.", "torch.", "torchvision.", "datasets."})
        if (word.starts_with(library)) return false;
    const size_t dot = word.size() - std::min(word.size(), name.size() + 1);
    return word == name || (word.ends_with(name) && word[dot] == '.');
}

/// Whether another class of the program may be derived from this one, or take its name.
bool isNamedByClass(const std::vector<IndentedStatement>& all, size_t head, std::string_view name) {
    for (size_t i = 0; i < all.size(); ++i)
        if (i != head && firstWord(all[i].code) == "class" &&
            std::ranges::any_of(wordsOf(all[i].code),
                                [name](std::string_view word) { return isClass(word, name); }))
            return true;
    return false;
}

/// Whether the other functions of the class, and what stands around it, leave its members alone.
bool othersLeave(const std::vector<IndentedStatement>& all, const ClassPlaces& places,
                 const std::set<std::string_view>& used) {
    const size_t initEnd = blockEnd(all, places.init), forwardEnd = blockEnd(all, places.forward);
    for (size_t i = 0; i < all.size(); ++i) {
        if (i < places.head || i >= places.end) {
            if (setsMember(all[i].code, used)) return false;
            continue;
        }
        const bool read =
            (i >= places.init && i < initEnd) || (i >= places.forward && i < forwardEnd);
        if (read) continue;
        for (std::string_view word : wordsOf(all[i].code)) {
            if (!word.starts_with(kSelf)) continue;
            word.remove_prefix(kSelf.size());
            if (used.contains(word.substr(0, word.find('.')))) return false;
        }
    }
    return true;
}

/// Reads __init__() into the chain; false where a member that is used is not sure.
bool readMembers(std::string_view program, const std::vector<IndentedStatement>& all,
                 const ClassPlaces& places, ClassChain& chain) {
    InitMembers made;
    const size_t first = places.init + 1, end = blockEnd(all, places.init);
    for (size_t i = first; i < end; ++i)
        if (!addMember(program, all[i].code, all[i].indent != all[first].indent, made))
            return false;
    std::set<std::string_view> used;
    for (const ChainedCall& call : chain.calls)
        if (call.of == ChainedCall::Of::Member) used.insert(call.name);
    for (const std::string_view name : used)
        if (made.unsure.contains(name) ||
            std::ranges::find(made.members, name, &ClassMember::name) == made.members.end())
            return false;
    chain.members = std::move(made.members);
    return othersLeave(all, places, used);
}

/// Whether a word in a statement is only the type of a value, as in "-> Net", "net: Net = " or, in
/// the arguments of a function, "net: Optional[Net]".
bool isType(std::string_view code, std::string_view arguments, std::string_view word) {
    std::string_view before = withoutEnds(code.substr(0, placeIn(code, word)));
    while (before.ends_with('[')) { // Optional[Net]
        before.remove_suffix(1);
        while (!before.empty() && (isNamePart(before.back()) || before.back() == '.'))
            before.remove_suffix(1);
        before = withoutEnds(before);
    }
    if (before.ends_with("->")) return true;
    if (!before.ends_with(':')) return false;
    before.remove_suffix(1);
    if (arguments.empty()) return isPlainName(withoutEnds(before));
    const bool among = word.data() < arguments.data() + arguments.size();
    const size_t begin = before.find_last_of("(,*") + 1; // at the least 1, for the bracket
    return among && isPlainName(withoutEnds(before.substr(begin)));
}

/// Returns the arguments with which the program makes the class, none where it does not; nothing
/// where it may make it in more than one way.
std::optional<std::vector<std::string_view>> givenTo(const std::vector<IndentedStatement>& all,
                                                     std::string_view name) {
    std::optional<std::string_view> given;
    const std::string attribute = std::string(name) + ".";
    for (const auto& [code, indent] : all) {
        const std::string_view arguments = argumentsOfDef(withoutEnds(code));
        std::string_view before, second; // the two words before this one
        for (const std::string_view word : wordsOf(code)) {
            if (word.starts_with(attribute)) return std::nullopt; // Net.load_from_checkpoint(path)
            const bool own = before == "class" || before == "super";
            const bool asked = std::exchange(second, std::exchange(before, word)) == "isinstance";
            if (!isClass(word, name) || own) continue;
            const size_t open = nextCode(code, placeIn(code, word) + word.size());
            const bool made = code.substr(open).starts_with('(');
            if (!made && (asked || isType(code, arguments, word))) continue;
            const size_t close = made ? closingBracket(code, open) : kNowhere;
            if (close == kNowhere) return std::nullopt;
            const std::string_view list = code.substr(open + 1, close - open - 1);
            if (given && withoutBlanks(*given) != withoutBlanks(list)) return std::nullopt;
            given = list;
        }
    }
    std::vector<std::string_view> parts = listParts(given.value_or(std::string_view()));
    for (std::string_view& part : parts) {
        part = codeOf(part);
        if (part.starts_with('*')) return std::nullopt;
    }
    std::erase_if(parts, &std::string_view::empty); // behind the last comma
    return parts;
}

/// Whether code is a number such as -1, or a product such as 28 * 28, and no more, in one line.
bool isNumber(std::string_view code) {
    const bool begins = !code.empty() && (isDigit(code[0]) || code[0] == '.' || code[0] == '-');
    if (!begins || code.find('\n') != kNowhere) return false;
    try {
        const Kind kind = parse(code).kind;
        return kind == Kind::Whole || kind == Kind::Real;
    } catch (const InputError&) {
        return false;
    }
}

/// An argument of __init__().
struct InitArgument {
    std::string_view whole; ///< as it is written, with the comments around it
    std::string_view name, value;
};

/// Returns the arguments in a list such as "self, n, width: int = 8" with the values that they are
/// given, or else have by default.
std::vector<InitArgument> initArguments(std::string_view list,
                                        const std::vector<std::string_view>& given) {
    std::vector<InitArgument> all;
    size_t place = 0; // of self, which is not given
    bool byPlace = true;
    for (const std::string_view whole : listParts(list)) {
        const std::string_view code = codeOf(whole);
        if (code == "/") continue; // those before it have places, as others have
        byPlace = byPlace && !code.starts_with('*');
        const size_t sign = std::min(signOutside(code, '='), code.size());
        const std::string_view name = withoutEnds(code.substr(0, sign));
        InitArgument argument{whole, name.substr(0, dottedEnd(name, 0)),
                              withoutEnds(code.substr(std::min(sign + 1, code.size())))};
        for (size_t k = 0; k < given.size(); ++k) {
            const size_t named = signOutside(given[k], '=');
            const bool own = named == kNowhere
                                 ? byPlace && k + 1 == place
                                 : withoutEnds(given[k].substr(0, named)) == argument.name;
            if (own)
                argument.value = withoutEnds(given[k].substr(named == kNowhere ? 0 : named + 1));
        }
        all.push_back(argument);
        ++place;
    }
    return all;
}

/// What the statements outside of a class do with a name.
struct OutsideName {
    bool bound = false;     ///< they may give it a value
    bool atTop = false;     ///< such a statement stands in no function, or says "global"
    std::string_view value; ///< the number that the one of them gives it; empty otherwise
    std::string_view code;  ///< the last of them
};
/// A statement outside of a class.
struct OutsideStatement {
    std::string_view code;
    std::vector<std::string_view> words;
    bool inBlock = false; ///< it stands further in than the class
};
std::vector<OutsideStatement> statementsOutside(const std::vector<IndentedStatement>& all,
                                                const ClassPlaces& places) {
    std::vector<OutsideStatement> outside;
    for (size_t i = 0; i < all.size(); ++i) {
        if (i >= places.head && i < places.end) continue;
        const std::string_view code = withoutEnds(all[i].code);
        outside.push_back({code, wordsOf(code), all[i].indent > all[places.head].indent});
    }
    return outside;
}

OutsideName outsideOf(const std::vector<OutsideStatement>& all, std::string_view name) {
    OutsideName found;
    for (const auto& [code, words, inBlock] : all) {
        if (std::ranges::find(words, name) == words.end()) continue;
        const auto has = [&all = words](std::string_view word) {
            return std::ranges::find(all, word) != all.end();
        };
        const bool binds =
            code.find(":=") != kNowhere ||
            std::ranges::any_of(
                std::initializer_list<std::string_view>{"for", "lambda", "def", "class", "import",
                                                        "as", "global", "nonlocal", "del", "case"},
                has);
        size_t last = kNowhere; // of "a = b = 3"
        for (size_t at = signOutside(code, '='); at != kNowhere;
             at = signOutside(code, '=', at + 1))
            last = at;
        const std::string_view targets = code.substr(0, last == kNowhere ? 0 : last);
        const std::vector<std::string_view> set = wordsOf(targets);
        if (!binds && std::ranges::find(set, name) == set.end()) continue;
        const std::string_view value = last == kNowhere ? "" : withoutEnds(code.substr(last + 1));
        const bool plain = !binds && !found.bound && withoutEnds(targets) == name;
        const bool local = inBlock || has("def");
        found = {true, found.atTop || !local || has("global"),
                 plain && isNumber(value) ? value : std::string_view(), code};
    }
    return found;
}

} // namespace

std::optional<ClassChain> chainOfClass(std::string_view program) {
    const std::vector<IndentedStatement> all = indentedStatements(program);
    const std::optional<ClassPlaces> places = findClass(all);
    if (!places) return std::nullopt;
    ClassChain chain;
    chain.name = nameOfModule(all[places->head].code);
    const std::string_view input = inputOf(all[places->forward].code);
    if (chain.name.empty() || input.empty() || isNamedByClass(all, places->head, chain.name))
        return std::nullopt;
    ForwardReader reader(program, input);
    for (const std::string_view statement : bodyOfDef(all, places->forward))
        if (!reader.take(statement)) return std::nullopt;
    if (!reader.returned()) return std::nullopt;
    chain.calls = reader.takeCalls();
    if (!readMembers(program, all, *places, chain)) return std::nullopt;
    const std::string_view head = withoutEnds(all[places->head].code);
    const std::string_view last = all[places->end - 1].code;
    const auto lineOf = [program](size_t place) {
        return 1 + static_cast<int>(std::ranges::count(program.substr(0, place), '\n'));
    };
    const size_t begin = placeIn(program, head), end = placeIn(program, last) + last.size();
    chain.whole = {lineOf(begin), lineOf(end), begin, end};
    for (const FoundModel& model : modelsIn(program))
        if (model.begin < begin || model.end > end) return std::nullopt;
    return chain;
}

std::optional<size_t> unreadIn(std::string_view program) {
    const std::vector<IndentedStatement> all = indentedStatements(program);
    const std::optional<ClassPlaces> places = findClass(all);
    if (!places) return std::nullopt;
    const std::string_view forward = all[places->forward].code;
    const std::string_view input = inputOf(forward);
    if (input.empty()) return placeIn(program, forward);
    ForwardReader reader(program, input);
    for (const std::string_view statement : bodyOfDef(all, places->forward))
        if (!reader.take(statement)) return placeIn(program, statement);
    return std::nullopt;
}

bool endsWithClass(std::string_view program, const ClassChain& chain) {
    return onlyMakesModels(program.substr(chain.whole.end), chain.name);
}

InitArgumentIs initArgument(std::string_view program, std::string_view name) {
    const std::vector<IndentedStatement> all = indentedStatements(program);
    const std::optional<ClassPlaces> places = findClass(all);
    if (!places) return InitArgumentIs::Absent;
    for (const InitArgument& each :
         initArguments(argumentsOfDef(withoutEnds(all[places->init].code)), {}))
        if (each.name == name)
            return each.value.empty() ? InitArgumentIs::Open : InitArgumentIs::ByDefault;
    return InitArgumentIs::Absent;
}

std::string withArguments(std::string_view program, int& lines) {
    constexpr std::ptrdiff_t kMostArguments = 200; // each is looked for in the whole program
    lines = 0;
    std::string with(program);
    const std::vector<IndentedStatement> all = indentedStatements(program);
    const std::optional<ClassPlaces> places = findClass(all);
    if (!places) return with;
    const std::string_view name = nameOfModule(all[places->head].code);
    const auto given = name.empty() ? std::nullopt : givenTo(all, name);
    if (!given) return with;
    const auto blank = [&](std::string_view code) {
        const auto begin = with.begin() + (code.data() - program.data());
        std::ranges::replace_if(
            begin, begin + static_cast<std::ptrdiff_t>(code.size()),
            [](char c) { return c != '\n'; }, ' ');
    };
    std::string numbers;
    const std::string_view list = argumentsOfDef(withoutEnds(all[places->init].code));
    if (std::ranges::count(list, ',') >= kMostArguments || std::ssize(*given) > kMostArguments)
        return with;
    const std::vector<OutsideStatement> others = statementsOutside(all, *places);
    for (auto [each, plain, value] : initArguments(list, *given)) {
        const OutsideName outside = outsideOf(others, plain);
        const bool same = value == plain;
        if (isPlainName(value)) value = same ? outside.value : outsideOf(others, value).value;
        // else it would have its own number, and not that which is set outside the class
        const bool alone = same || !outside.atTop;
        if (!isPlainName(plain) || !isNumber(value) || !alone) continue;
        numbers += std::string(plain) + " = " + std::string(value) + "\n";
        ++lines;
        blank(each);
        if (same) blank(outside.code); // the name has one number
    }
    return numbers + with;
}

} // namespace halfscope::lang
