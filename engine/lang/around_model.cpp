// Looks for the functions and the class around a place among the blocks of the program.
#include "engine/lang/around_model.h"

#include "engine/lang/blocks.h"
#include "engine/lang/code_text.h"

#include <algorithm>

namespace halfscope::lang {

namespace {

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

/// Returns what stands before a place in its statement.
std::string_view codeBefore(std::string_view program, const IndentedStatement& statement,
                            size_t place) {
    const auto begin = static_cast<size_t>(statement.code.data() - program.data());
    return program.substr(begin, place - begin);
}

/// Reads the forward() that begins with statement `def`.
void readForward(std::string_view program, const std::vector<IndentedStatement>& all, size_t def,
                 ForwardUse& use) {
    std::vector<std::string_view> arguments;
    addArguments(argumentsOfDef(all[def].code), arguments);
    const std::vector<std::string_view> body = bodyOfDef(all, def);
    const std::string_view last = body.empty() ? all[def].code : body.back();
    use.end = static_cast<size_t>(last.data() - program.data()) + last.size();
    const std::string input(arguments.size() == 2 ? arguments[1] : "");
    use.alone = body.size() == 1 && !input.empty() && !use.model.empty() &&
                withoutBlanks(body[0]) == "return" + use.model + "(" + input + ")";
    for (const std::string_view statement : body)
        for (std::string_view word : wordsOf(statement)) {
            if (!word.starts_with("self.")) continue;
            const std::string name(word.substr(0, word.find('.', 5)));
            if (name != use.model && std::ranges::find(use.others, name) == use.others.end())
                use.others.push_back(name);
        }
}

/// Reads the forward() of a class, if it has one.
void readForwardOfClass(std::string_view program, const std::vector<IndentedStatement>& all,
                        size_t head, ForwardUse& use) {
    const size_t end = blockEnd(all, head);
    for (size_t i = head + 1; i < end; ++i) {
        const std::string_view code = withoutEnds(all[i].code);
        if (!definesFunction(code, "forward")) continue;
        const auto begin = static_cast<size_t>(code.data() - program.data());
        use.line = 1 + static_cast<int>(std::ranges::count(program.substr(0, begin), '\n'));
        readForward(program, all, i, use);
        return;
    }
}

/// What a statement does with a name.
struct NameUse {
    bool uses = false, argument = false; ///< argument: of the function that it begins
    std::string_view kept{};             ///< the attribute that is set to it
};

NameUse useOf(std::string_view name, std::string_view code) {
    const auto isName = [name](std::string_view word) {
        return word == name ||
               (word.starts_with(name) && word.substr(name.size()).starts_with('.'));
    };
    std::vector<std::string_view> own;
    addArguments(argumentsOfDef(code), own);
    NameUse use{std::ranges::any_of(wordsOf(code), isName), std::ranges::any_of(own, isName)};
    const size_t sign = std::min(signOutside(code, '='), code.size() - 1);
    if (withoutEnds(code.substr(sign + 1)) == name)
        use.kept = attributeOf(code.substr(0, sign + 1));
    return use;
}

/// Returns what the first class that uses a name does with it, unless the name is one of its
/// arguments.
ForwardUse forwardUsing(std::string_view program, const std::vector<IndentedStatement>& all,
                        std::string_view name) {
    if (name.empty()) return {};
    std::vector<NameUse> each; // once, for a statement may stand in many classes
    for (const IndentedStatement& statement : all)
        each.push_back(useOf(name, statement.code));
    for (size_t head = 0; head < all.size(); ++head) {
        if (firstWord(all[head].code) != "class") continue;
        ForwardUse use;
        NameUse whole;
        const size_t end = blockEnd(all, head);
        for (size_t i = head + 1; i < end; ++i) {
            whole.argument = whole.argument || each[i].argument;
            whole.uses = whole.uses || each[i].uses;
            if (!each[i].kept.empty()) whole.kept = each[i].kept;
        }
        if (whole.argument) continue;
        use.model = whole.kept.empty() ? name : whole.kept;
        if (whole.uses) readForwardOfClass(program, all, head, use);
        if (use.line > 0) return use;
        head = end - 1; // a class within this one does no more
    }
    return {};
}

} // namespace

std::vector<std::string_view> argumentsAround(std::string_view program,
                                              const std::vector<IndentedStatement>& all,
                                              const FoundModel& model) {
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

std::vector<size_t> functionsAround(std::string_view program,
                                    const std::vector<IndentedStatement>& all,
                                    const FoundModel& model) {
    std::vector<size_t> places;
    for (const size_t i : statementsAround(program, all, model.begin))
        if (firstWord(all[i].code) == "def")
            places.push_back(static_cast<size_t>(all[i].code.data() - program.data()));
    return places;
}

ForwardUse forwardOf(std::string_view program, const FoundModel& model) {
    const std::vector<IndentedStatement> all = indentedStatements(program);
    ForwardUse use;
    const std::vector<size_t> around = statementsAround(program, all, model.begin);
    if (around.empty()) return use;
    const auto ofClass = std::find_if(around.rbegin(), around.rend(), [&all](size_t i) {
        return firstWord(all[i].code) == "class";
    });
    const std::string_view target = codeBefore(program, all[around.back()], model.begin);
    if (ofClass == around.rend()) return forwardUsing(program, all, targetOf(target));
    use.model = attributeOf(target);
    readForwardOfClass(program, all, *ofClass, use);
    return use;
}

} // namespace halfscope::lang
