// A recursive-descent parser over the text itself: every character is examined a bounded number of
// times, and the depth of nested calls is bounded.
#include "engine/lang/syntax.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/core/text.h"
#include "engine/lang/arithmetic.h"
#include "engine/lang/code_text.h"
#include "engine/lang/found_models.h"
#include "engine/lang/idle_code.h"
#include "engine/lang/pasted.h"
#include "engine/lang/program_refusal.h"
#include "engine/lang/scanner.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

namespace halfscope::lang {

namespace {

constexpr Phrase kValues =
    phrase("Model", "a layer, a number, a string, True, False, None, a list or a tuple");
constexpr Phrase kNumbers =
    phrase("Model", "found %1, where a number such as 3, -1 or 1e-5 is allowed");

bool isNumeric(const Value& value) { return value.kind == Kind::Whole || value.kind == Kind::Real; }

/// Whether a value is a call such as "nn.ReLU()", of what may be a layer.
bool mayBeLayer(const Value& value) {
    const char first = value.text.substr(value.text.rfind('.') + 1)[0];
    return value.kind == Kind::Call && first >= 'A' && first <= 'Z' && !isSequential(value.text);
}

class Parser : Scanner {
public:
    explicit Parser(std::string_view text, int line = 1) : Scanner(text) { m_place.line = line; }

    using Scanner::requirePlainLines;

    Value whole() {
        Value value = readStatements();
        if (value.kind == Kind::Call) skipMethods();
        skipSemicolon();
        if (!atEnd()) refuseRest(value);
        return value;
    }

private:
    /// Reads the model behind imports, a docstring, and what has names that it may use: numbers,
    /// lists and layers.
    Value readStatements() {
        for (;;) {
            skipSpace();
            skipImports();
            skipDocstring();
            skipReturn();
            if (readNumbers()) continue;
            const Place place = m_place;
            const std::string name = skipAssignment();
            const size_t before = m_values;
            Value value = readValue();
            skipSpace();
            const bool number = isNumeric(value), ends = atEnd();
            if (m_layersUsed && !isSequential(value.text) && (ends || name.empty()))
                refuseProgram(m_text, place);
            const bool layer = mayBeLayer(value) && name.find('.') == name.npos &&
                               (assignmentAt(m_text, m_at) != m_text.npos || atSequential());
            if (name.empty() || !(number || value.kind == Kind::List || layer)) return value;
            if (number && !ends && here() != ';' && m_place.line == value.place.line)
                refuseHere(phrase("Model", "the end of the line, or one of *, // and **,"));
            skipSemicolon();
            if (atEnd()) return value;
            m_layersUsed = m_layersUsed || layer;
            keep(name, {std::move(value), m_values - before}, place);
        }
    }

    /// Refuses the text after a whole value: often a program was pasted. What begins with no
    /// call, such as "device = 'cpu'", is a program, and so is a call with "model = " behind it.
    [[noreturn]] void refuseRest(const Value& value) const {
        if (value.kind == Kind::Call && isSequential(value.text) && atSequential())
            refuseAt(m_place, phrase("Model", "a second model follows; only one is read"));
        const bool assigned = assignmentAt(m_text, m_at) != m_text.npos;
        if (value.kind != Kind::Call || assigned)
            refuseProgram(m_text, value.kind == Kind::Call ? m_place : value.place);
        refuseAt(m_place,
                 {phrase("Model", "found %1 after the model, where the text must end"), found()});
    }

    /// Skips lines such as "import torch" and "from torch import nn" before the value; names in
    /// brackets may stand on several lines, as may what ends with a backslash.
    void skipImports() {
        const auto begins = [this](std::string_view word) { return rest().starts_with(word); };
        while (begins("import ") || begins("from ")) {
            for (const std::string_view as : {"import torch.nn as ", "from torch import nn as "})
                if (begins(as))
                    m_alias = rest().substr(as.size(), nameEnd(rest(), as.size()) - as.size());
            int depth = 0;
            while (!atEnd() && here() != ';' && (depth > 0 || !atLineEnd())) {
                if (here() == '#') {
                    if (depth <= 0) break;
                    skipSpace();
                    continue;
                }
                if (here() == '*') m_named.clear(); // nobody can tell which names it binds
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

    /// Skips ".to(device)" and the like behind the value, see movesModel().
    void skipMethods() {
        constexpr size_t kShown = 40; // bytes of a call in a message
        while (here() == '.') {
            size_t end = m_at + 1;
            while (end < m_text.size() && isNamePart(m_text[end]))
                ++end;
            const std::string_view name = m_text.substr(m_at + 1, end - m_at - 1);
            const bool opens = m_text.substr(end).starts_with('(');
            const size_t close = opens ? closingBracket(m_text, end) : kNowhere;
            if (close == kNowhere) return;
            const std::string_view call = m_text.substr(m_at, close + 1 - m_at);
            if (choosesType(name, call))
                refuseAt(m_place, {phrase("Model", "%1 is not supported here: the precision of "
                                                   "each lane chooses its types; leave it out"),
                                   quotedText(call.substr(0, kShown))});
            if (!movesModel(name)) return;
            while (m_at <= close)
                stepOver();
            skipSpace();
        }
    }

    /// Reads "hidden, classes = 500, 10"; leaves everything else where it is.
    bool readNumbers() {
        const size_t at = m_at, values = m_values;
        const Place place = m_place;
        std::vector<std::string> names;
        for (; isNameStart(here()); skipSpace()) {
            names.push_back(readDottedName());
            skipSpace();
            if (here() != ',') break;
            step();
        }
        bool good = names.size() > 1 && here() == '=' && after(1) != '=';
        std::vector<Value> numbers;
        while (good && numbers.size() < names.size()) {
            step(); // "=" or ","
            skipSpace();
            numbers.push_back(readValue());
            skipSpace();
            good = isNumeric(numbers.back()) && (numbers.size() == names.size() || here() == ',');
        }
        for (size_t i = 0; good && i < names.size(); ++i)
            keep(names[i], {std::move(numbers[i])}, place);
        if (good) skipSemicolon();
        if (good) return true;
        m_at = at;
        m_place = place;
        m_values = values;
        return false;
    }

    /// Skips "model = " before the value, as it stands in a program, and returns the name.
    std::string skipAssignment() {
        const size_t at = assignmentAt(m_text, m_at);
        if (at == m_text.npos) return {};
        const std::string name(m_text.substr(m_at, nameEnd(m_text, m_at) - m_at));
        while (m_at <= at)
            step();
        skipSpace();
        return name;
    }

    /// Whether an nn.Sequential begins here, perhaps with a name: "net = nn.Sequential(".
    bool atSequential() const {
        const size_t equals = assignmentAt(m_text, m_at);
        const size_t begin = equals == m_text.npos ? m_at : blanksEnd(m_text, equals + 1);
        const size_t end = nameEnd(m_text, begin), open = blanksEnd(m_text, end);
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

    /// Reads what follows a number in 28 * 28, 512 // 2, 512 / 2 or 2**8.
    Value readProduct(Value value) {
        value = readPower(std::move(value));
        while (here() == '*' || here() == '/') {
            const bool divides = here() == '/';
            step();
            const bool floors = divides && here() == '/';
            if (floors) step();
            skipSpace();
            const Value right = readPower(readOperand());
            value = floors    ? quotientOf(value, right)
                    : divides ? ratioOf(value, right)
                              : productOf(value, right);
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
        const auto known = m_named.find(name);
        if (known != m_named.end() && isNumeric(known->second.value))
            return placedAt(place, known->second.value);
        refuseAt(place, {kNumbers, quotedText(name)});
    }

    /// Something with a name, and how many values it has.
    struct Named {
        Value value;
        size_t size = 1;
        bool used = false;
    };

    /// Keeps what has a name. A part of such a thing, as in "drop.p = 0.1", has none of its own.
    void keep(const std::string& name, Named named, Place place) {
        const size_t dot = name.find('.');
        if (dot != name.npos && m_named.contains(name.substr(0, dot))) refuseProgram(m_text, place);
        m_named[name] = std::move(named);
    }

    /// Returns a list or a layer, marked if the text has it twice.
    Value takeNamed(Named& named) {
        m_values += named.size;
        if (m_values > kMaxValues) refuseSize(named.value.place);
        Value value = named.value;
        if (std::exchange(named.used, true)) markAgain(value);
        return value;
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
        std::string digits(m_text.substr(begin, m_at - begin));
        std::erase(digits, '_'); // Python allows 1_000
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
        std::string_view name = m_text.substr(begin, m_at - begin);
        const bool known = !m_alias.empty() && name.starts_with(m_alias + ".");
        if (known) name.remove_prefix(m_alias.size());
        return (known ? "nn" : "") + std::string(name);
    }

    Value readNamed() {
        Value value;
        value.place = m_place;
        value.text = readDottedName();
        skipSpace();
        if (here() == '(') {
            value.kind = Kind::Call;
            readArguments(value);
            const auto& given = value.arguments;
            if (value.text == "int" && given.size() == 1 && isNumeric(given[0].value))
                return readProduct(placedAt(value.place, wholeOf(given[0].value)));
        } else if (value.text == "True" || value.text == "False") {
            value.kind = Kind::Truth;
            value.truth = value.text == "True";
        } else if (value.text != "None") {
            value.kind = Kind::Name;
            const auto known = m_named.find(value.text);
            const bool used = known != m_named.end() && here() != '='; // of an argument's name
            if (used && isNumeric(known->second.value))
                return readProduct(placedAt(value.place, known->second.value));
            if (used && known->second.value.kind == Kind::Call)
                return placedAt(value.place, takeNamed(known->second));
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

    /// Reads *[1, 2] or *layers as arguments.
    void readSpread(Value& call) {
        const Place start = m_place;
        step();
        Value list = readValue();
        const auto known = list.kind == Kind::Name ? m_named.find(list.text) : m_named.end();
        if (known != m_named.end()) list = takeNamed(known->second);
        if (list.kind != Kind::List && list.kind != Kind::Tuple)
            refuseAt(start, {phrase("Model", "the layers in %1 are not known here: write them in "
                                             "its place"),
                             quotedText("*" + list.text)});
        for (Value& item : list.items) {
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
            else if (here() == '*' && (after(1) == '[' || after(1) == '(' || isNameStart(after(1))))
                readSpread(call);
            else
                call.arguments.push_back(readArgument());
            skipSpace();
            open = here() == ',';
            if (open) step();
        }
        step();
    }

    std::map<std::string, Named, std::less<>> m_named;
    std::string m_alias;       ///< of torch.nn, as in "import torch.nn as tnn"
    bool m_layersUsed = false; ///< some of them are layers
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

Value parse(std::string_view text, int firstLine) {
    const std::string plain = plainText(text), ofClass = modelOfClass(plain);
    const std::string active = ofClass.empty() ? withoutIdleCode(plain) : ofClass;
    return Parser(active, firstLine).whole();
}

void refuseAt(Place place, const Message& sentence) {
    throw InputError(phrase("Model", "line %1, column %2: %3"), place.line, place.column, sentence);
}

} // namespace halfscope::lang
