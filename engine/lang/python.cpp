// Values and code as Python writes them.
#include "engine/lang/python.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/core/text.h"
#include "engine/lang/syntax.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace halfscope::lang {

namespace {

void appendHex(std::string& text, unsigned char byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[byte / 16];
    text += kDigits[byte % 16];
}

void write(const Value& value, std::string& to, size_t most);

template <class Items>
void writeAll(const Items& items, std::string& to, size_t most) {
    for (size_t i = 0; i < items.size() && to.size() <= most; ++i) {
        if (i > 0) to += ", ";
        if constexpr (requires { items[i].value; }) {
            if (!items[i].name.empty()) to += items[i].name + "=";
            write(items[i].value, to, most);
        } else {
            write(items[i], to, most);
        }
    }
}

void write(const Value& value, std::string& to, size_t most) {
    switch (value.kind) {
    case Kind::Whole: to += numberText(value.whole); return;
    case Kind::Real: // 784.0 is no whole number; a product may be infinite
        to += std::isfinite(value.real) ? pythonReal(value.real) : numberText(value.real);
        return;
    case Kind::Truth: to += value.truth ? "True" : "False"; return;
    case Kind::None: to += "None"; return;
    case Kind::String: to += "'" + escapedText(value.text, most) + "'"; return;
    case Kind::Name: to += value.text; return;
    case Kind::List:
    case Kind::Tuple:
        to += value.kind == Kind::List ? "[" : "(";
        writeAll(value.items, to, most);
        if (value.kind == Kind::Tuple && value.items.size() == 1) to += ",";
        to += value.kind == Kind::List ? "]" : ")";
        return;
    case Kind::Call:
        to += value.text + "(";
        writeAll(value.arguments, to, most);
        to += ")";
        return;
    }
}

} // namespace

std::string pythonText(std::string_view text) {
    std::string quoted = "\"";
    while (!text.empty()) {
        const size_t length = sequenceLength(text);
        const auto byte = static_cast<unsigned char>(text.front());
        if (length == 0) { // os.fsencode() turns this back into the byte
            quoted += "\\udc";
            appendHex(quoted, byte);
        } else if (byte < 0x20 || byte == 0x7f) {
            quoted += "\\x";
            appendHex(quoted, byte);
        } else {
            if (byte == '"' || byte == '\\') quoted += '\\';
            quoted += text.substr(0, length);
        }
        text.remove_prefix(std::max<size_t>(length, 1));
    }
    return quoted + '"';
}

std::string pythonReal(double x) {
    require(std::isfinite(x), "Python has no literal for a number that is not finite");
    const double size = std::abs(x);
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
    std::array<char, 64> buffer{};
    const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
    const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, format);
    require(code == std::errc{}, "a number of Python is longer than 63 characters");
    std::string text(buffer.data(), end);
    if (plain && text.find('.') == std::string::npos) text += ".0";
    return text;
}

std::string pythonTruth(bool value) { return value ? "True" : "False"; }

std::string textOf(const Value& value, size_t most) {
    std::string text;
    write(value, text, most);
    return escapedText(text, most);
}

std::string filled(std::string_view text,
                   std::initializer_list<std::pair<std::string_view, std::string>> values) {
    std::string result;
    while (!text.empty()) {
        const size_t open = text.find('{');
        result += text.substr(0, open);
        if (open == std::string_view::npos) break;
        text.remove_prefix(open);
        bool found = false;
        for (const auto& [name, value] : values) {
            if (text.substr(1, name.size()) != name || text.substr(1 + name.size(), 1) != "}")
                continue;
            result += value;
            text.remove_prefix(name.size() + 2);
            found = true;
            break;
        }
        if (found) continue;
        result += '{'; // a brace of Python's own
        text.remove_prefix(1);
    }
    return result;
}

} // namespace halfscope::lang
