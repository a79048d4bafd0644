// Knows few forms of statements; whatever has another form may change the model.
#include "engine/lang/idle_code.h"

#include "engine/lang/blocks.h"
#include "engine/lang/code_text.h"
#include "engine/lang/found_models.h"
#include "engine/lang/scanner.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace halfscope::lang {

namespace {

/// The names of the model, and of what it is made of.
using ModelNames = std::set<std::string, std::less<>>;

constexpr std::string_view kCompile = "torch.compile(";

bool isOwn(std::string_view word, const ModelNames& own) {
    return own.contains(word.substr(0, word.find('.')));
}

/// Whether code without blanks, such as ".to(device).train()", is calls that only move a model.
bool isMoves(std::string_view code) {
    while (!code.empty()) {
        const size_t open = code.find('(');
        const size_t close = open == kNowhere ? kNowhere : closingBracket(code, open);
        if (close == kNowhere || code[0] != '.') return false;
        const std::string_view method = code.substr(1, open - 1);
        if (!movesModel(method) || choosesType(method, code.substr(0, close + 1))) return false;
        code.remove_prefix(close + 1);
    }
    return true;
}

/// Returns what code without blanks hands to the torch.compile() that is all of it; other code as
/// it is.
std::string_view uncompiled(std::string_view code) {
    if (!code.starts_with(kCompile) || closingBracket(code, kCompile.size() - 1) + 1 != code.size())
        return code;
    code = code.substr(kCompile.size(), code.size() - kCompile.size() - 1);
    return code.substr(0, signOutside(code, ','));
}

/// Whether code without blanks is `model`, moved or compiled.
bool isModel(std::string_view code, std::string_view model) {
    code = uncompiled(code);
    return code.starts_with(model) && isMoves(code.substr(model.size()));
}

/// Whether a name is that of a second model or of a layer of its own, such as "nn.Linear".
bool mayBeModel(std::string_view name) {
    const size_t last = name.rfind('.') + 1;
    const bool ofTorch = name.starts_with("nn.") || name.starts_with("torch.nn.");
    const bool isClass = last < name.size() && name[last] >= 'A' && name[last] <= 'Z';
    return isSequential(name) || (ofTorch && isClass && !name.ends_with("Loss"));
}

/// Whether code does no more with the model than to run it and to read its weights.
bool onlyReads(std::string_view code, const ModelNames& own, bool prints) {
    constexpr std::string_view kReads[] = {"parameters", "named_parameters", "state_dict"};
    constexpr std::string_view kWrites[] = {"half", "bfloat16", "double", "apply", "init"};
    for (const std::string_view word : wordsOf(code)) {
        if (mayBeModel(word)) return false;
        const auto at = static_cast<size_t>(word.data() - code.data());
        const std::string_view last = word.substr(word.rfind('.') + 1);
        const bool method = word.size() > last.size() || (at > 0 && code[at - 1] == '.');
        if (method &&
            (std::ranges::find(kWrites, last) != std::end(kWrites) || last.ends_with('_')))
            return false;
        if (!isOwn(word, own) || (at > 0 && code[at - 1] == '.')) continue;
        const std::string_view behind = code.substr(at + word.size());
        const bool argument = behind.starts_with('=') && !behind.starts_with("==");
        const bool plain = word.size() == last.size();
        const bool reads = plain ? prints || behind.starts_with('(')
                                 : std::ranges::find(kReads, last) != std::end(kReads);
        if (!reads && !argument) return false;
    }
    return true;
}

/// The names before "=" and the code behind it, without blanks; nothing for other statements.
struct Assigned {
    std::vector<std::string> names{};
    std::string value{};
};
std::optional<Assigned> settingIn(std::string_view code) {
    const size_t sign = signOutside(code, '=');
    if (sign == kNowhere || signOutside(code, '=', sign + 1) != kNowhere) return std::nullopt;
    Assigned found;
    std::string_view targets = code.substr(0, sign);
    const std::string_view first = firstWord(targets);
    if (first == "else" || first == "try" || first == "finally") return std::nullopt;
    targets = targets.substr(0, signOutside(targets, ':')); // "model: nn.Module"
    for (size_t at = 0; at <= targets.size();) {
        const size_t comma = std::min(targets.find(',', at), targets.size());
        found.names.emplace_back(withoutEnds(targets.substr(at, comma - at)));
        if (!isPlainName(found.names.back())) return std::nullopt;
        at = comma + 1;
    }
    found.value = withoutBlanks(code.substr(sign + 1));
    return found;
}

/// Whether a statement chooses what the settings choose here.
bool choosesDeviceOrSeed(std::string_view statement) {
    const std::string code = withoutBlanks(statement);
    const std::optional<Assigned> set = settingIn(withoutEnds(statement));
    if (set) return set->names.size() == 1 && set->names[0] == "device";
    return code.starts_with("torch.manual_seed(") && code.ends_with(')') &&
           closingBracket(code, code.find('(')) + 1 == code.size();
}

/// Whether a statement leaves a model with these names as it is.
bool leavesModel(std::string_view statement, const ModelNames& own) {
    const std::string_view code = withoutEnds(statement), first = firstWord(code);
    if (first == "import" || first == "from" || choosesDeviceOrSeed(code)) return true;
    const std::string plain = withoutBlanks(code);
    constexpr std::string_view kPrint = "print(";
    if (plain.starts_with(kPrint) && closingBracket(plain, kPrint.size() - 1) + 1 == plain.size())
        return onlyReads(code, own, true);
    if (const std::optional<Assigned> set = settingIn(code)) {
        const auto isOwnName = [&own](const std::string& name) { return own.contains(name); };
        if (set->names.size() == 1 && isOwnName(set->names[0]))
            return isModel(set->value, set->names[0]);
        const size_t behind = signOutside(code, '=') + 1;
        const std::string_view compiled = uncompiled(set->value);
        const std::string_view name = compiled.substr(0, compiled.find_first_of(".("));
        const bool compiles = compiled.size() < set->value.size() && own.contains(name) &&
                              isMoves(compiled.substr(name.size()));
        return std::ranges::none_of(set->names, isOwnName) &&
               (compiles || onlyReads(code.substr(behind), own, false));
    }
    if (!isOwn(first, own)) return false;
    const std::string_view name = first.substr(0, first.find('.'));
    return isModel(plain, name) || (first == name && onlyReads(code, own, false));
}

} // namespace

bool movesModel(std::string_view method) {
    constexpr std::array<std::string_view, 6> kMoves{"to", "cuda", "cpu", "train", "eval", "float"};
    return std::ranges::find(kMoves, method) != kMoves.end();
}

bool choosesType(std::string_view method, std::string_view call) {
    constexpr std::array<std::string_view, 3> kMethods{"half", "bfloat16", "double"};
    // the name of bfloat16 ends as that of float16 does
    constexpr std::array<std::string_view, 4> kTypes{"float16", "float64", "torch.half",
                                                     "torch.double"};
    if (std::ranges::find(kMethods, method) != kMethods.end()) return true;
    return method == "to" && std::ranges::any_of(kTypes, [call](std::string_view type) {
               return call.find(type) != kNowhere;
           });
}

std::string withoutIdleCode(std::string_view program) {
    std::string left(program);
    const std::vector<FoundModel> models = modelsIn(program);
    const auto has = [program](std::string_view word) { return program.find(word) != kNowhere; };
    if (models.empty() || has("class ") || has("def ")) return left;
    ModelNames own;
    bool behind = false, known = true; // what the names are
    eachStatement(program, [&](const Statement& each) {
        const auto begin = static_cast<size_t>(each.code.data() - program.data());
        if (behind ? !leavesModel(each.code, own) : !choosesDeviceOrSeed(each.code)) {
            const std::optional<Assigned> set = settingIn(withoutEnds(each.code));
            known = known && (set || signOutside(each.code, '=') == kNowhere);
            const bool made = !behind && set && set->value.find_first_of("([") != kNowhere;
            if (made) own.insert(set->names.begin(), set->names.end());
            behind = behind || begin + each.code.size() > models.front().begin;
            return;
        }
        size_t end = begin + each.code.size();
        if (end < left.size() && left[end] == ';') ++end;
        for (size_t i = begin; i < end; ++i)
            if (left[i] != '\n' && left[i] != '\r') left[i] = ' ';
    });
    return known ? left : std::string(program);
}

bool onlyMakesModels(std::string_view program, std::string_view ofClass) {
    const std::string making = std::string(ofClass) + "(";
    ModelNames own;
    bool only = true;
    const auto isMade = [&making](std::string_view value) {
        if (!value.starts_with(making)) return false;
        const size_t close = closingBracket(value, making.size() - 1);
        return close != kNowhere && isModel(value, value.substr(0, close + 1));
    };
    eachStatement(program, [&](const Statement& each) {
        const std::optional<Assigned> set = settingIn(withoutEnds(each.code));
        const std::vector<std::string_view> words = wordsOf(each.code);
        if (std::ranges::find(words, ofClass) == words.end())
            only = only && leavesModel(each.code, own);
        else if (set && set->names.size() == 1 && isMade(set->value))
            own.insert(set->names[0]);
        else
            only = only && withoutBlanks(each.code).starts_with("print(" + making);
    });
    return only;
}

} // namespace halfscope::lang
