// A recursive-descent parser over the text itself: every character is examined a bounded number of
// times, and the depth of nested calls is bounded.
#include "engine/lang/syntax.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/core/text.h"
#include "engine/lang/arithmetic.h"
#include "engine/lang/code_text.h"
#include "engine/lang/found_models.h"
#include "engine/lang/pasted.h"
#include "engine/lang/scanner.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace halfscope::lang {

namespace {

constexpr Phrase kValues =
    phrase("Model", "a layer, a number, a string, True, False, None, a list or a tuple");
constexpr Phrase kNumbers =
    phrase("Model", "found %1, where a number such as 3, -1 or 1e-5 is allowed");
class Parser : Scanner {
public:
    explicit Parser(std::string_view text) : Scanner(text) {}

    using Scanner::requirePlainLines;

    Value whole() {
        Value value = readStatements();
        if (value.kind == Kind::Call) skipMethods();
        skipSemicolon();
        if (!atEnd()) refuseRest(value);
        return value;
    }

private:
    /// Reads the model behind imports, a docstring and numbers with names, which it may use.
    Value readStatements() {
        for (;;) {
            skipSpace();
            skipImports();
            skipDocstring();
            skipReturn();
            const std::string name = skipAssignment();
            Value value = readValue();
            skipSpace();
            const bool number = value.kind == Kind::Whole || value.kind == Kind::Real;
            if (name.empty() || !number) return value;
            if (!atEnd() && here() != ';' && m_place.line == value.place.line)
                refuseHere(phrase("Model", "the end of the line, or one of *, // and **,"));
            skipSemicolon();
            if (atEnd()) return value;
            m_numbers[name] = std::move(value);
        }
    }

    /// Refuses the text after a whole value: often a program was pasted. What begins with no
    /// call, such as "device = 'cpu'", is a program, and so is a call with "model = " behind it.
    [[noreturn]] void refuseRest(const Value& value) const {
        if (value.kind == Kind::Call && isSequential(value.text) && atSequential())
            refuseAt(m_place, phrase("Model", "a second model follows; only one is read"));
        const bool assigned = assignmentAt(m_at) != m_text.npos;
        const bool program = value.kind != Kind::Call || assigned;
        const Place place = value.kind == Kind::Call ? m_place : value.place;
        if (program) refuseAllBut(modelsIn(m_text), place);
        if (program && m_text.find("nn.Module)") != m_text.npos)
            refuseAt(place,
                     phrase("Model", "a class is a program, and only a model by itself is read, "
                                     "such as nn.Sequential(nn.Linear(2, 16), nn.ReLU(), "
                                     "nn.Linear(16, 1)): list the layers of the class in the "
                                     "order in which its forward() uses them, with Residual(...) "
                                     "for a block that adds its input, or paste what print(model) "
                                     "shows"));
        if (program)
            refuseAt(place,
                     phrase("Model",
                            "this is a program; what is allowed here is one model by "
                            "itself, such as nn.Sequential(nn.Linear(2, 16), nn.ReLU(), "
                            "nn.Linear(16, 1)), with nothing but imports and numbers such as "
                            "hidden = 64 above it"));
        refuseAt(m_place,
                 {phrase("Model", "found %1 after the model, where the text must end"), found()});
    }

    /// Refuses a program with one model, unless forward() of a class may do more than run it.
    void refuseAllBut(const std::vector<FoundModel>& models, Place place) const {
        const auto has = [this](std::string_view word) { return m_text.find(word) != m_text.npos; };
        if (models.size() != 1 || has("class ") || has("forward")) return;
        const ModelText text = textOfModel(m_text, models.front());
        const bool alone = text.numbers.empty() && text.unknown.empty();
        refuseAt(place,
                 {alone
                      ? phrase("Model", "this is a program, and only a model by itself is read: "
                                        "paste only the nn.Sequential(...) that begins in line %1")
                      : phrase("Model", "this is a program, and only a model by itself is read: "
                                        "paste only the nn.Sequential(...) that begins in line "
                                        "%1, with the numbers that it uses above it"),
                  models.front().firstLine});
    }

    /// Skips lines such as "import torch" and "from torch import nn" before the value; names in
    /// brackets may stand on several lines, as may what ends with a backslash.
    void skipImports() {
        const auto begins = [this](std::string_view word) { return rest().starts_with(word); };
        while (begins("import ") || begins("from ")) {
            int depth = 0;
            while (!atEnd() && here() != ';' && (depth > 0 || !atLineEnd())) {
                if (here() == '#') {
                    if (depth <= 0) break;
                    skipSpace();
                    continue;
                }
                if (here() == '*') m_numbers.clear(); // nobody can tell which names it binds
                depth += here() == '(' ? 1 : here() == ')' ? -1 : 0;
                if (here() == '\\') { // goes on in the next line
                    step();
                    if (here() == '\r') step();
                }
                if (!atEnd()) stepOver();
            }
            skipSpace();
            skipSemicolon();
        }
    }

    /// Skips ".to(device)" and the like behind the value, whatever their arguments, such as
    /// ".train(False)": here the settings choose the device, and a training sets its own mode.
    void skipMethods() {
        constexpr std::array<std::string_view, 6> kIgnored{"to",    "cuda", "cpu",
                                                           "train", "eval", "float"};
        constexpr size_t kShown = 40; // bytes of a call in a message
        constexpr std::array<std::string_view, 3> kTypes{"half", "bfloat16", "double"};
        while (here() == '.') {
            size_t end = m_at + 1;
            while (end < m_text.size() && isNamePart(m_text[end]))
                ++end;
            const std::string_view name = m_text.substr(m_at + 1, end - m_at - 1);
            const bool opens = m_text.substr(end).starts_with('(');
            const size_t close = opens ? closingBracket(m_text, end) : kNowhere;
            if (close == kNowhere) return;
            const std::string_view call = m_text.substr(m_at, close + 1 - m_at);
            const bool type = std::ranges::find(kTypes, name) != kTypes.end() ||
                              (name == "to" && namesType(call));
            if (type)
                refuseAt(m_place, {phrase("Model", "%1 is not supported here: the precision of "
                                                   "each lane chooses its types; leave it out"),
                                   quotedText(call.substr(0, kShown))});
            if (std::ranges::find(kIgnored, name) == kIgnored.end()) return;
            while (m_at <= close)
                stepOver();
            skipSpace();
        }
    }

    /// Whether a call has the name of a number type that is not PyTorch's default; that of bfloat16
    /// ends as float16 does.
    static bool namesType(std::string_view call) {
        constexpr std::array<std::string_view, 4> kTypes{"float16", "float64", "torch.half",
                                                         "torch.double"};
        return std::ranges::any_of(
            kTypes, [&](std::string_view type) { return call.find(type) != call.npos; });
    }

    /// Returns where the name with dots ends that begins here, if one does.
    size_t nameEnd(size_t at) const {
        if (at < m_text.size() && isNameStart(m_text[at]))
            while (at < m_text.size() && (isNamePart(m_text[at]) || m_text[at] == '.'))
                ++at;
        return at;
    }
    size_t blanksEnd(size_t at) const {
        return std::min(m_text.find_first_not_of(' ', at), m_text.size());
    }

    /// Returns where the "=" stands of a "model = " or "model: nn.Module = " that begins here; npos
    /// where none does.
    size_t assignmentAt(size_t at) const {
        const size_t name = nameEnd(at);
        if (name == at) return m_text.npos;
        at = blanksEnd(name);
        if (at < m_text.size() && m_text[at] == ':') at = blanksEnd(nameEnd(blanksEnd(at + 1)));
        return at < m_text.size() && m_text[at] == '=' ? at : m_text.npos;
    }

    /// Skips "model = " before the value, as it stands in a program, and returns the name.
    std::string skipAssignment() {
        const size_t at = assignmentAt(m_at);
        if (at == m_text.npos) return {};
        const std::string name(m_text.substr(m_at, nameEnd(m_at) - m_at));
        while (m_at <= at)
            step();
        skipSpace();
        return name;
    }

    /// Whether an nn.Sequential begins here, perhaps with a name: "net = nn.Sequential(".
    bool atSequential() const {
        const size_t equals = assignmentAt(m_at);
        const size_t begin = equals == m_text.npos ? m_at : blanksEnd(equals + 1);
        const size_t end = nameEnd(begin), open = blanksEnd(end);
        return isSequential(m_text.substr(begin, end - begin)) && open < m_text.size() &&
               m_text[open] == '(';
    }

    void skipReturn() {
        if (!rest().starts_with("return ")) return;
        while (here() != ' ')
            step();
        skipSpace();
    }

    void skipSemicolon() {
        if (here() != ';') return;
        step();
        skipSpace();
    }

    /// Skips what a program says of itself before it begins.
    void skipDocstring() {
        const std::string_view quotes = m_text.substr(m_at, 3);
        if (quotes != "\"\"\"" && quotes != "'''") return;
        const size_t close = m_text.find(quotes, m_at + 3);
        if (close == m_text.npos)
            refuseAt(
                m_place,
                {phrase("Model", "the text that begins here does not end: %1 is missing"), quotes});
        while (m_at < close + 3)
            stepOver();
        skipSpace();
        skipSemicolon();
        skipImports();
    }

    [[noreturn]] static void refuseSize(Place place) {
        refuseAt(place,
                 {phrase("Model", "more than %1 values in one text are not allowed"), kMaxValues});
    }

    Value readValue() {
        if (++m_values > kMaxValues) refuseSize(m_place);
        if (++m_depth > kMaxDepth) {
            refuseAt(
                m_place,
                {phrase("Model", "more than %1 calls or lists inside one another are not allowed"),
                 kMaxDepth});
        }
        Value value = readAny();
        --m_depth;
        return value;
    }

    Value readAny() {
        const char c = here();
        if (isDigit(c) || c == '-' || c == '+' || (c == '.' && isDigit(after(1))))
            return readProduct(readNumber());
        if (c == '\'' || c == '"') return readString();
        if (c == '[') return readItems(Kind::List, ']');
        if (c == '{') return readItems(Kind::List, '}');
        if (c == '(') return readItems(Kind::Tuple, ')');
        if (isNameStart(c)) return readNamed();
        refuseHere(kValues);
    }

    /// Reads what follows a number in 28 * 28, 512 // 2 or 2**8.
    Value readProduct(Value value) {
        value = readPower(std::move(value));
        while (here() == '*' || (here() == '/' && after(1) == '/')) {
            const bool divides = here() == '/';
            step();
            if (divides) step();
            skipSpace();
            const Value right = readPower(readOperand());
            value = divides ? quotientOf(value, right) : productOf(value, right);
        }
        return value;
    }

    Value readPower(Value base) {
        skipSpace();
        if (here() == '*' && after(1) == '*') {
            step();
            step();
            skipSpace();
            base = powerOf(base, readOperand());
            skipSpace();
        }
        return base;
    }

    Value readOperand() {
        if (!isNameStart(here())) return readNumber();
        const Place place = m_place;
        const std::string name = readDottedName();
        if (const auto known = m_numbers.find(name); known != m_numbers.end())
            return placedAt(place, known->second);
        refuseAt(place, {kNumbers, quotedText(name)});
    }

    static Value placedAt(Place place, Value value) {
        value.place = place;
        return value;
    }

    Value readNumber() {
        Value value;
        value.place = m_place;
        const size_t begin = m_at;
        if (here() == '-' || here() == '+') step();
        bool isReal = false;
        while (isDigit(here()) || here() == '_')
            step();
        if (here() == '.') {
            isReal = true;
            step();
            while (isDigit(here()) || here() == '_')
                step();
        }
        if (here() == 'e' || here() == 'E') {
            isReal = true;
            step();
            if (here() == '-' || here() == '+') step();
            while (isDigit(here()))
                step();
        }
        std::string digits; // without underscores: Python allows 1_000
        for (const char c : m_text.substr(begin, m_at - begin))
            if (c != '_') digits += c;
        const char* first = digits.data() + (digits.starts_with('+') ? 1 : 0);
        const char* last = digits.data() + digits.size();
        const auto real = std::from_chars(first, last, value.real);
        bool good = real.ec == std::errc{} && real.ptr == last && std::isfinite(value.real);
        bool tooLarge = false;
        if (!isReal) {
            const auto whole = std::from_chars(first, last, value.whole);
            good = good && whole.ec == std::errc{} && whole.ptr == last;
            tooLarge = whole.ec == std::errc::result_out_of_range && whole.ptr == last;
        }
        if (tooLarge && !isNamePart(here()))
            refuseAt(value.place, {phrase("Model", "%1 is too large for a whole number"),
                                   quotedText(m_text.substr(begin, m_at - begin))});
        if (!good || isNamePart(here())) {
            while (isNamePart(here()) || here() == '.')
                step();
            refuseAt(value.place, {kNumbers, m_at == begin ? found()
                                                           : Message::data(quotedText(m_text.substr(
                                                                 begin, m_at - begin)))});
        }
        value.kind = isReal ? Kind::Real : Kind::Whole;
        return value;
    }

    Value readString() {
        Value value;
        value.kind = Kind::String;
        value.place = m_place;
        const char quote = here();
        step();
        while (!atEnd() && here() != quote && here() != '\n') {
            if (here() == '\\') refuseHere(phrase("Model", "a string without backslashes"));
            value.text += here();
            step();
        }
        if (here() != quote)
            refuseAt(value.place,
                     {phrase("Model",
                             "the string that begins here does not end on its line: %1 is missing"),
                      std::string(1, quote)});
        step();
        return value;
    }

    /// Reads 'a': 1 as a tuple.
    Value readPair() {
        Value pair;
        pair.kind = Kind::Tuple;
        pair.place = m_place;
        pair.items.push_back(readValue());
        skipSpace();
        if (here() != ':') refuseHere(phrase("Model", "a colon"));
        step();
        skipSpace();
        pair.items.push_back(readValue());
        return pair;
    }

    /// Reads a list, a dict or a tuple; "(x)" is x itself.
    Value readItems(Kind kind, char close) {
        Value value;
        value.kind = kind;
        value.place = m_place;
        step();
        bool comma = false;
        for (skipSpace(); here() != close; skipSpace()) {
            if (!value.items.empty() && !comma) refuseEntry(close);
            value.items.push_back(close == '}' ? readPair() : readValue());
            skipSpace();
            comma = here() == ',';
            if (comma) step();
        }
        step();
        const bool inner = kind == Kind::Tuple && value.items.size() == 1 && !comma;
        return inner ? Value(std::move(value.items[0])) : std::move(value);
    }

    [[noreturn]] void refuseEntry(char close) const {
        refuseHere({phrase("Model", "a comma or \"%1\""), std::string_view(&close, 1)});
    }

    /// Whether a letter beyond ASCII stands here, or the rest of one: Python has them in names, and
    /// what they belong to is told whole. These are the letters of two bytes.
    bool atOtherLetter() const {
        const auto byte = static_cast<unsigned char>(here());
        return (byte >= 0xC3 && byte < 0xE0) || !isLead(here());
    }

    std::string readDottedName() {
        const size_t begin = m_at;
        for (;;) {
            while (isNamePart(here()) || (m_at > begin && atOtherLetter()))
                step();
            if (here() != '.' || !isNameStart(after(1))) break;
            step();
        }
        if (here() == '.' && trimmed(m_text.substr(m_at + 1)).empty()) {
            step();
            skipSpace();
            refuseHere(phrase("Model", "the name of a layer"));
        }
        return std::string(m_text.substr(begin, m_at - begin));
    }

    Value readNamed() {
        Value value;
        value.place = m_place;
        value.text = readDottedName();
        skipSpace();
        if (here() == '(') {
            value.kind = Kind::Call;
            readArguments(value);
        } else if (value.text == "True" || value.text == "False") {
            value.kind = Kind::Truth;
            value.truth = value.text == "True";
        } else if (value.text != "None") {
            value.kind = Kind::Name;
            const auto known = m_numbers.find(value.text);
            if (known != m_numbers.end() && here() != '=') // which follows an argument's name
                return readProduct(placedAt(value.place, known->second));
            if (here() == '*' || here() == '/') // the fault is the name, not this sign
                refuseAt(value.place, {kNumbers, quotedText(value.text)});
        }
        return value;
    }

    /// Returns the length of "(0):" here, which PyTorch prints before a part; 0 when there is none.
    size_t printedName() const {
        if (here() != '(') return 0;
        size_t at = m_at + 1;
        while (at < m_text.size() && (isNamePart(m_text[at]) || m_text[at] == '-'))
            ++at;
        if (at == m_at + 1 || at + 1 >= m_text.size()) return 0;
        return m_text[at] == ')' && m_text[at + 1] == ':' ? at + 2 - m_at : 0;
    }

    /// Skips the "3 x " that PyTorch prints before three equal parts, and returns 3.
    size_t skipTimes() {
        size_t at = m_at, times = 0;
        while (at < m_text.size() && isDigit(m_text[at]) && times <= kMaxValues)
            times = 10 * times + static_cast<size_t>(m_text[at++] - '0');
        if (times == 0 || m_text.substr(at, 3) != " x ") return 1;
        for (at += 3; m_at < at;)
            step();
        return times;
    }

    /// Reads a part that PyTorch printed, or several: "(0-2): 3 x ReLU()".
    void readPrinted(Value& call, size_t nameLength) {
        Argument part{std::string(m_text.substr(m_at + 1, nameLength - 3)), m_place, true, {}};
        for (const size_t end = m_at + nameLength; m_at < end;)
            step();
        skipSpace();
        const size_t before = m_values, times = skipTimes();
        part.value = readValue();
        m_values += (times - 1) * (m_values - before);
        if (m_values > kMaxValues) refuseSize(part.place);
        size_t number = 0;
        std::from_chars(part.name.data(), part.name.data() + part.name.size(), number);
        for (size_t i = 0; i < times; ++i) {
            if (times > 1) part.name = std::to_string(number + i);
            call.arguments.push_back(part);
        }
    }

    Argument readArgument() {
        Argument argument;
        argument.place = m_place;
        argument.value = readValue();
        skipSpace();
        if (here() == '=' && argument.value.kind == Kind::Name) {
            step();
            skipSpace();
            argument.name = argument.value.text;
            argument.value = readValue();
        }
        return argument;
    }

    /// Reads *[1, 2] as arguments.
    void readSpread(Value& call) {
        step();
        for (Value& item : readValue().items) {
            const Place place = item.place;
            call.arguments.push_back({{}, place, false, std::move(item)});
        }
    }

    /// Reads a call's arguments. Parts that PyTorch printed stand one after the other without
    /// commas.
    void readArguments(Value& call) {
        step();
        bool open = true;
        for (skipSpace(); here() != ')'; skipSpace()) {
            const size_t printed = printedName();
            if (!open && printed == 0) refuseEntry(')');
            if (printed > 0)
                readPrinted(call, printed);
            else if (here() == '*' && after(1) == '[')
                readSpread(call);
            else
                call.arguments.push_back(readArgument());
            skipSpace();
            open = here() == ',';
            if (open) step();
        }
        step();
    }

    std::map<std::string, Value, std::less<>> m_numbers; ///< that have names
    size_t m_values = 0;
    int m_depth = 0;
};

} // namespace

std::string plainText(std::string_view text) {
    if (text.size() > kMaxTextBytes)
        throw InputError(phrase("Model", "the text has %1 bytes: at most %2 are allowed"),
                         text.size(), kMaxTextBytes);
    std::string plain = withLineEnds(withoutMarks(text));
    Parser(plain).requirePlainLines();
    return plain;
}

Value parse(std::string_view text) {
    const std::string plain = plainText(text), ofClass = modelOfClass(plain);
    return Parser(ofClass.empty() ? plain : ofClass).whole();
}

void refuseAt(Place place, const Message& sentence) {
    throw InputError(phrase("Model", "line %1, column %2: %3"), place.line, place.column, sentence);
}

} // namespace halfscope::lang
