// Compares the blanks before lines; a tab counts as one.
#include "engine/lang/blocks.h"

#include "engine/lang/code_text.h"
#include "engine/lang/scanner.h"

#include <algorithm>

namespace halfscope::lang {

std::vector<IndentedStatement> indentedStatements(std::string_view program) {
    std::vector<IndentedStatement> all;
    eachStatement(program, [&all](const Statement& each) {
        const bool continues = !each.first && !all.empty();
        all.push_back(
            {each.code, continues ? all.back().indent : each.code.find_first_not_of(kBlanks)});
    });
    return all;
}

size_t blockEnd(const std::vector<IndentedStatement>& all, size_t head) {
    size_t end = head + 1;
    while (end < all.size() && all[end].indent > all[head].indent)
        ++end;
    return end;
}

std::string_view firstWord(std::string_view code) {
    const size_t at = std::min(code.find_first_not_of(kBlanks), code.size());
    return code.substr(at, dottedEnd(code, at) - at);
}

std::string withoutBlanks(std::string_view code) {
    std::string kept;
    for (const char c : code)
        if (std::string_view(" \t\r\n").find(c) == kNowhere) kept += c;
    return kept;
}

std::string_view argumentsOfDef(std::string_view code) {
    const size_t open = firstWord(code) == "def" ? code.find('(') : kNowhere;
    const size_t close = open == kNowhere ? kNowhere : closingBracket(code, open);
    return close == kNowhere ? std::string_view() : code.substr(open + 1, close - open - 1);
}

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

std::vector<std::string_view> bodyOfDef(const std::vector<IndentedStatement>& all, size_t def) {
    const std::string_view head = all[def].code, list = argumentsOfDef(head);
    std::vector<std::string_view> body;
    const size_t behind = static_cast<size_t>(list.data() - head.data()) + list.size() + 1;
    const size_t colon = list.empty() ? kNowhere : signOutside(head, ':', behind);
    if (colon != kNowhere && !isEmptyCode(head.substr(colon + 1)))
        body.push_back(head.substr(colon + 1)); // in the same line
    const size_t end = blockEnd(all, def);
    for (size_t i = def + 1; i < end; ++i)
        body.push_back(all[i].code);
    return body;
}

bool definesFunction(std::string_view code, std::string_view name) {
    const std::string_view head = withoutEnds(code.substr(0, code.find('('))), word = "def";
    return firstWord(head) == word && withoutEnds(head.substr(word.size())) == name;
}

std::string_view targetOf(std::string_view target) {
    target = withoutEnds(target);
    const std::string_view name = target.substr(0, dottedEnd(target, 0));
    const size_t next = std::min(target.find_first_not_of(kBlanks, name.size()), target.size());
    const bool sets = !name.empty() && isNameStart(name[0]) && target.ends_with('=');
    const bool whole = sets && (next + 1 == target.size() || target[next] == ':');
    return whole ? name : std::string_view();
}

std::string_view attributeOf(std::string_view target) {
    const std::string_view name = targetOf(target);
    return name.starts_with("self.") ? name : std::string_view();
}

} // namespace halfscope::lang
