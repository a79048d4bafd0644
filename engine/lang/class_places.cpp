// Goes through the statements of a program class by class.
#include "engine/lang/class_places.h"

#include "engine/core/text.h"

#include <algorithm>

namespace halfscope::lang {

namespace {

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

/// Whether a class is a loss: its forward() does not take just one input, and the class is called
/// so, or forward() calls no member, and so no layers.
bool isLoss(const std::vector<IndentedStatement>& all, const ClassPlaces& places) {
    const std::string_view forward = all[places.forward].code;
    if (!inputOf(forward).empty()) return false;
    if (lowerCase(std::string(nameOfModule(all[places.head].code))).find("loss") != kNowhere)
        return true;
    for (const std::string_view code : bodyOfDef(all, places.forward))
        for (const std::string_view word : wordsOf(code)) {
            const std::string_view behind =
                code.substr(static_cast<size_t>(word.data() - code.data()) + word.size());
            if (word.starts_with("self.") && withoutEnds(behind).starts_with('(')) return false;
        }
    return true;
}

/// Whether forward() of a class only runs one argument of its __init__().
bool runsArgument(const std::vector<IndentedStatement>& all, const ClassPlaces& places) {
    const std::vector<std::string_view> body = bodyOfDef(all, places.forward);
    if (places.init == kNowhere || body.size() != 1) return false;
    const std::string runs = withoutBlanks(body[0]);
    const std::string input(inputOf(all[places.forward].code));
    std::vector<std::string_view> arguments;
    addArguments(argumentsOfDef(withoutEnds(all[places.init].code)), arguments);
    return std::ranges::any_of(bodyOfDef(all, places.init), [&](std::string_view code) {
        const size_t sign = std::min(signOutside(code, '='), code.size() - 1);
        const std::string member(attributeOf(code.substr(0, sign + 1)));
        return std::ranges::find(arguments, withoutEnds(code.substr(sign + 1))) !=
                   arguments.end() &&
               runs == "return" + member + "(" + input + ")";
    });
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
        if (isLoss(all, here)) continue;
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
        if (runs && !isLoss(all, here) && !runsArgument(all, here)) names.emplace_back(name);
        head = here.end - 1;
    }
    return names;
}

} // namespace halfscope::lang
