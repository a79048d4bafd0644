// Tells blocks apart by the blanks before their lines, as Python does.
#include "engine/lang/around_model.h"

#include "engine/lang/code_text.h"
#include "engine/lang/scanner.h"

#include <algorithm>

namespace halfscope::lang {

namespace {

/// A statement with the blanks before its line.
struct IndentedStatement {
    std::string_view code;
    size_t indent = 0;
};

std::vector<IndentedStatement> indentedStatements(std::string_view program) {
    std::vector<IndentedStatement> all;
    eachStatement(program, [&all](const Statement& each) {
        const bool continues = !each.first && !all.empty();
        all.push_back(
            {each.code, continues ? all.back().indent : each.code.find_first_not_of(kBlanks)});
    });
    return all;
}

std::string_view firstWord(std::string_view code) {
    const size_t at = std::min(code.find_first_not_of(kBlanks), code.size());
    return code.substr(at, dottedEnd(code, at) - at);
}

/// Returns the numbers of the statements in whose blocks this place stands, the outermost first,
/// and last that of its own.
std::vector<size_t> statementsAround(std::string_view program,
                                     const std::vector<IndentedStatement>& all, size_t place) {
    std::vector<size_t> open;
    for (size_t i = 0; i < all.size(); ++i) {
        if (static_cast<size_t>(all[i].code.data() - program.data()) > place) break;
        while (!open.empty() && all[open.back()].indent >= all[i].indent)
            open.pop_back();
        open.push_back(i);
    }
    return open;
}

/// Returns the number of the first statement behind the block below this one.
size_t blockEnd(const std::vector<IndentedStatement>& all, size_t head) {
    size_t end = head + 1;
    while (end < all.size() && all[end].indent > all[head].indent)
        ++end;
    return end;
}

/// Adds the names in a list of arguments such as "self, *sizes, width: int = 8".
void addArguments(std::string_view list, std::vector<std::string_view>& names) {
    for (size_t at = 0; at < list.size();) {
        const size_t comma = std::min(signOutside(list, ',', at), list.size());
        std::string_view each = withoutEnds(list.substr(at, comma - at));
        each.remove_prefix(std::min(each.find_first_not_of('*'), each.size()));
        if (!each.empty() && isNameStart(each[0]))
            names.push_back(each.substr(0, dottedEnd(each, 0)));
        at = comma + 1;
    }
}

/// Returns what stands in the brackets behind "def name"; empty for other statements.
std::string_view argumentsOfDef(std::string_view code) {
    const size_t open = firstWord(code) == "def" ? code.find('(') : kNowhere;
    const size_t close = open == kNowhere ? kNowhere : closingBracket(code, open);
    return close == kNowhere ? std::string_view() : code.substr(open + 1, close - open - 1);
}

/// Returns what stands before a place in its statement.
std::string_view codeBefore(std::string_view program, const IndentedStatement& statement,
                            size_t place) {
    const auto begin = static_cast<size_t>(statement.code.data() - program.data());
    return program.substr(begin, place - begin);
}

/// Returns "self.net" of "self.net: nn.Module = "; empty where nothing of a class is set.
std::string_view attributeOf(std::string_view target) {
    target = withoutEnds(target);
    const bool sets = target.starts_with("self.") && target.ends_with('=');
    const std::string_view name = target.substr(0, dottedEnd(target, 0));
    const size_t next = std::min(target.find_first_not_of(kBlanks, name.size()), target.size());
    const bool whole = sets && (next + 1 == target.size() || target[next] == ':');
    return whole ? name : std::string_view();
}

std::string withoutBlanks(std::string_view code) {
    std::string kept;
    for (const char c : code)
        if (std::string_view(" \t\r\n").find(c) == kNowhere) kept += c;
    return kept;
}

/// Reads the forward() that begins with statement `def`.
void readForward(std::string_view program, const std::vector<IndentedStatement>& all, size_t def,
                 ForwardUse& use) {
    const std::string_view head = all[def].code, list = argumentsOfDef(head);
    std::vector<std::string_view> body, arguments;
    addArguments(list, arguments);
    const size_t behind = static_cast<size_t>(list.data() - head.data()) + list.size() + 1;
    const size_t colon = list.empty() ? kNowhere : signOutside(head, ':', behind);
    if (colon != kNowhere && !isEmptyCode(head.substr(colon + 1)))
        body.push_back(head.substr(colon + 1)); // in the same line
    for (size_t i = def + 1; i < blockEnd(all, def); ++i)
        body.push_back(all[i].code);
    const std::string_view last = body.empty() ? head : body.back();
    use.end = static_cast<size_t>(last.data() - program.data()) + last.size();
    const std::string input(arguments.size() == 2 ? arguments[1] : "");
    use.alone = body.size() == 1 && !input.empty() && !use.model.empty() &&
                withoutBlanks(body[0]) == "return" + use.model + "(" + input + ")";
    for (const std::string_view statement : body)
        for (std::string_view word : wordsAround(statement, statement.size(), statement.size())) {
            if (!word.starts_with("self.")) continue;
            const std::string name(word.substr(0, word.find('.', 5)));
            if (name != use.model && std::ranges::find(use.others, name) == use.others.end())
                use.others.push_back(name);
        }
}

} // namespace

std::vector<std::string_view> argumentsAround(std::string_view program, const FoundModel& model) {
    const std::vector<IndentedStatement> all = indentedStatements(program);
    std::vector<std::string_view> names;
    const std::vector<size_t> around = statementsAround(program, all, model.begin);
    for (const size_t i : around)
        addArguments(argumentsOfDef(all[i].code), names);
    if (around.empty()) return names;
    constexpr std::string_view kLambda = "lambda ";
    const std::string_view own = codeBefore(program, all[around.back()], model.begin);
    const size_t lambda = own.rfind(kLambda);
    const size_t colon = lambda == kNowhere ? kNowhere : signOutside(own, ':', lambda);
    if (colon == kNowhere) return names;
    const size_t list = lambda + kLambda.size();
    addArguments(own.substr(list, colon - list), names);
    return names;
}

ForwardUse forwardAround(std::string_view program, const FoundModel& model) {
    const std::vector<IndentedStatement> all = indentedStatements(program);
    ForwardUse use;
    const std::vector<size_t> around = statementsAround(program, all, model.begin);
    const auto ofClass = std::find_if(around.rbegin(), around.rend(), [&all](size_t i) {
        return firstWord(all[i].code) == "class";
    });
    if (ofClass == around.rend()) return use;
    use.model = attributeOf(codeBefore(program, all[around.back()], model.begin));
    for (size_t i = *ofClass + 1; i < blockEnd(all, *ofClass); ++i) {
        const std::string_view code = withoutEnds(all[i].code);
        if (withoutBlanks(code.substr(0, code.find('('))) != "defforward") continue;
        const auto begin = static_cast<size_t>(code.data() - program.data());
        use.line = 1 + static_cast<int>(std::ranges::count(program.substr(0, begin), '\n'));
        readForward(program, all, i, use);
        return use;
    }
    return use;
}

} // namespace halfscope::lang
