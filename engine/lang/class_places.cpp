// Goes through the statements of a program class by class.
#include "engine/lang/class_places.h"

#include <algorithm>
#include <utility>

namespace halfscope::lang {

namespace {

/// Returns the byte of code behind a word of it; 0 at the end.
char byteBehind(std::string_view code, std::string_view word) {
    const auto at = static_cast<size_t>(word.data() - code.data()) + word.size();
    const size_t next = std::min(code.find_first_not_of(" \t", at), code.size());
    return next < code.size() ? code[next] : '\0';
}

/// Returns the places of the class that begins here. `again` tells of a second forward() in it.
ClassPlaces placesOf(const std::vector<IndentedStatement>& all, size_t head, bool& again) {
    ClassPlaces here{head, kNowhere, kNowhere, blockEnd(all, head)};
    again = false;
    for (size_t i = head + 1; i < here.end; ++i) {
        if (definesFunction(all[i].code, "__init__")) here.init = i;
        if (!definesFunction(all[i].code, "forward")) continue;
        again = again || here.forward != kNowhere;
        here.forward = i;
    }
    return here;
}

/// Whether code may make layers, weights or another network, which have names with a capital;
/// losses have none to train.
bool makesLayers(std::string_view code) {
    for (const std::string_view word : wordsOf(code)) {
        const std::string_view last = word.substr(word.rfind('.') + 1);
        const bool capital = !last.empty() && last.front() >= 'A' && last.front() <= 'Z';
        if (capital && byteBehind(code, word) == '(' && !last.ends_with("Loss")) return true;
    }
    return false;
}

/// Whether code runs members that are no losses, or takes them from a list.
bool runsMembers(std::string_view code, const std::vector<std::string_view>& losses) {
    std::string_view before;
    for (const std::string_view word : wordsOf(code)) {
        const bool each = std::exchange(before, word) == "in";
        if (!word.starts_with("self.")) continue;
        const char behind = byteBehind(code, word);
        const bool loss = std::ranges::find(losses, word) != losses.end();
        if (each || behind == '[' || (behind == '(' && !loss)) return true;
    }
    return false;
}

/// Whether a class has nothing to train, such as a loss, or a module that adds noise.
bool hasNoLayers(const std::vector<IndentedStatement>& all, const ClassPlaces& places) {
    std::vector<std::string_view> losses; // members
    for (size_t i = places.head + 1; i < places.end; ++i) {
        const std::string_view code = all[i].code;
        if (makesLayers(code) || runsMembers(code, losses)) return false;
        const size_t sign = signOutside(code, '=');
        if (sign != kNowhere && code.find("Loss") != kNowhere)
            losses.push_back(attributeOf(code.substr(0, sign + 1)));
    }
    return true;
}

/// Whether a value is an argument, something of it, or what a function of the program returns.
bool comesFromOutside(const std::vector<IndentedStatement>& all, std::string_view value,
                      const std::vector<std::string_view>& arguments) {
    const std::vector<std::string_view> words = wordsOf(value);
    if (words.empty() || words.front().data() != value.data()) return false;
    const std::string_view root = words.front().substr(0, words.front().find('.'));
    const bool function = root == words.front() && byteBehind(value, root) == '(';
    return std::ranges::find(arguments, root) != arguments.end() ||
           (function && std::ranges::any_of(all, [root](const IndentedStatement& each) {
                return definesFunction(each.code, root);
            }));
}

/// Whether forward() of a class only runs a network that its __init__() was given, or got from a
/// function.
bool onlyRunsAnother(const std::vector<IndentedStatement>& all, const ClassPlaces& places) {
    std::vector<std::string_view> body = bodyOfDef(all, places.forward);
    if (places.init == kNowhere || body.empty() || body.size() > 2) return false;
    std::string runs = withoutBlanks(body.front());
    if (body.size() == 2) { // out = self.net(x), then return out
        const size_t sign = std::min(runs.find('='), runs.size());
        if (withoutBlanks(body.back()) != "return" + runs.substr(0, sign)) return false;
        runs = "return" + runs.substr(std::min(sign + 1, runs.size()));
    }
    const std::string input(inputOf(all[places.forward].code));
    std::vector<std::string_view> arguments;
    addArguments(argumentsOfDef(withoutEnds(all[places.init].code)), arguments);
    return std::ranges::any_of(bodyOfDef(all, places.init), [&](std::string_view code) {
        const size_t sign = std::min(signOutside(code, '='), code.size() - 1);
        const std::string member(attributeOf(code.substr(0, sign + 1)));
        return runs == "return" + member + "(" + input + ")" && !makesLayers(code) &&
               comesFromOutside(all, withoutEnds(code.substr(sign + 1)), arguments);
    });
}

/// Whether a class may be a network of its own.
bool mayBeNetwork(const std::vector<IndentedStatement>& all, const ClassPlaces& places) {
    return !hasNoLayers(all, places) && !onlyRunsAnother(all, places);
}

} // namespace

std::optional<ClassPlaces> findClass(const std::vector<IndentedStatement>& all) {
    ClassPlaces found;
    for (size_t head = 0; head < all.size(); ++head) {
        if (firstWord(all[head].code) != "class") continue;
        bool again = false;
        const ClassPlaces here = placesOf(all, head, again);
        if (again) return std::nullopt;
        if (here.forward == kNowhere) continue;
        head = here.end - 1;
        if (!mayBeNetwork(all, here)) continue;
        if (found.head != kNowhere || here.init == kNowhere) return std::nullopt;
        found = here;
    }
    if (found.head == kNowhere) return std::nullopt;
    return found;
}

std::string_view nameOfModule(std::string_view head) {
    head = withoutEnds(head);
    constexpr std::string_view kClass = "class ";
    const size_t open = std::min(head.find('('), head.size());
    const std::string base = withoutBlanks(head.substr(open));
    const bool module = base == "(nn.Module):" || base == "(torch.nn.Module):" ||
                        base == "(Module):" || base.ends_with(".LightningModule):");
    return module ? withoutEnds(head.substr(kClass.size(), open - kClass.size()))
                  : std::string_view();
}

std::string_view inputOf(std::string_view forward) {
    const std::string_view list = argumentsOfDef(withoutEnds(forward));
    std::vector<std::string_view> names;
    addArguments(list, names);
    const bool plain = names.size() == 2 && names[0] == "self" && list.find('*') == kNowhere &&
                       signOutside(list, '=') == kNowhere;
    return plain ? names[1] : std::string_view();
}

std::vector<std::string> networkClassesIn(std::string_view program) {
    std::vector<std::string> names;
    const std::vector<IndentedStatement> all = indentedStatements(program);
    for (size_t head = 0; head < all.size(); ++head) {
        if (firstWord(all[head].code) != "class") continue;
        const std::string_view name = nameOfModule(all[head].code);
        bool again = false;
        const ClassPlaces here = placesOf(all, head, again);
        const bool runs = !name.empty() && here.forward != kNowhere;
        if (runs && mayBeNetwork(all, here)) names.emplace_back(name);
        head = here.end - 1;
    }
    return names;
}

} // namespace halfscope::lang
