// Packs messages, and turns them into text.
#include "engine/core/message.h"

#include "engine/core/escape.h"
#include "engine/core/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace halfscope {

namespace {

constexpr char kPhrase = 'P', kData = 'D', kNumber = 'N';

template <class T>
void append(std::string& code, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    code.append(bytes, sizeof value);
}

/// Returns a number as people write it: "0.0001" and "100000", where "1e-04" and "1e+05" are
/// shorter.
template <class Real>
std::string plainText(Real x) {
    constexpr Real kLeast = static_cast<Real>(1e-4), kMost = static_cast<Real>(1e6);
    if (!(std::abs(x) >= kLeast && std::abs(x) <= kMost)) return numberText(x);
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::fixed);
    return {text.data(), end.ptr};
}

} // namespace

/// Goes through a packed message once.
class MessageReader {
public:
    explicit MessageReader(const Message& message) : m_code(message.m_code) {}

    bool atPhrase() const { return !m_code.empty() && m_code.front() == kPhrase; }
    /// Returns the format and how many arguments follow.
    std::pair<Phrase, size_t> phrase() {
        m_code.remove_prefix(1);
        const auto format = take<Phrase>();
        return {format, take<uint8_t>()};
    }
    bool atNumber() const { return !m_code.empty() && m_code.front() == kNumber; }
    /// Returns the text of data or of a number.
    std::string_view leaf() {
        if (m_code.empty()) return {};
        m_code.remove_prefix(1);
        const auto size = take<size_t>();
        const std::string_view text = m_code.substr(0, size);
        m_code.remove_prefix(size);
        return text;
    }
    /// Returns the next message as a whole.
    Message next() {
        const std::string_view from = m_code;
        skip();
        Message message;
        message.m_code = from.substr(0, from.size() - m_code.size());
        return message;
    }
    std::string text(const Message::Translate& translate, const Message::ShowNumber& show) {
        if (atNumber() && show) return show(leaf());
        if (!atPhrase()) return std::string(leaf());
        const auto [format, count] = phrase();
        std::vector<std::string> arguments;
        for (size_t i = 0; i < count; ++i)
            arguments.push_back(text(translate, show));
        return filled(translate(format), arguments);
    }

private:
    template <class T>
    T take() {
        T value{};
        std::memcpy(static_cast<void*>(&value), m_code.data(), sizeof value);
        m_code.remove_prefix(sizeof value);
        return value;
    }
    void skip() {
        if (!atPhrase()) {
            leaf();
            return;
        }
        for (size_t left = phrase().second; left > 0; --left)
            skip();
    }
    static std::string filled(std::string_view format, const std::vector<std::string>& arguments) {
        std::string out;
        for (size_t i = 0; i < format.size(); ++i) {
            const char next = i + 1 < format.size() ? format[i + 1] : '\0';
            const bool place = format[i] == '%' && next >= '1' && next <= '9';
            const auto index = static_cast<size_t>(next - '1');
            if (place && index < arguments.size()) {
                out += arguments[index];
                ++i;
            } else {
                out += format[i];
            }
        }
        return out;
    }

    std::string_view m_code;
};

void Message::begin(Phrase format, size_t arguments) {
    if (format.empty()) return; // a table's row may have none
    m_code += kPhrase;
    append(m_code, format);
    append(m_code, static_cast<uint8_t>(arguments));
}

void Message::add(const Message& argument) {
    if (!argument.empty()) {
        m_code += argument.m_code;
        return;
    }
    m_code += kData;
    append(m_code, size_t{0});
}

Message Message::leaf(char kind, std::string_view text) {
    Message message;
    if (text.empty()) return message;
    message.m_code += kind;
    append(message.m_code, text.size());
    message.m_code += text;
    return message;
}

Message Message::data(std::string_view text) { return leaf(kData, messageText(text)); }

Message Message::number(int64_t x) { return leaf(kNumber, numberText(x)); }
Message Message::number(uint64_t x) { return leaf(kNumber, std::to_string(x)); }
Message Message::number(double x) { return leaf(kNumber, plainText(x)); }
Message Message::number(float x) { return leaf(kNumber, plainText(x)); }
Message Message::number(std::string_view text) { return leaf(kNumber, text); }

Phrase Message::format() const {
    MessageReader reader(*this);
    return reader.atPhrase() ? reader.phrase().first : Phrase();
}

std::vector<Message> Message::arguments() const {
    MessageReader reader(*this);
    std::vector<Message> arguments;
    for (size_t left = reader.atPhrase() ? reader.phrase().second : 0; left > 0; --left)
        arguments.push_back(reader.next());
    return arguments;
}

std::string Message::english() const {
    return text([](const Phrase& format) { return std::string(format.text()); });
}

std::string Message::text(const Translate& translate, const ShowNumber& show) const {
    return MessageReader(*this).text(translate, show);
}

Message within(std::string_view place, const Message& what) {
    return {phrase("Engine", "%1: %2"), place, what};
}

Message listed(std::span<const Message> parts, Phrase two) {
    Message all;
    for (const Message& part : parts)
        all = all.empty() ? part : Message(two, all, part);
    return all;
}

} // namespace halfscope
