// Texts for people: a format that a translation can replace, and arguments that it cannot. The text
// itself is English; code that shows another language passes its own translation. File names, keys
// and words of the settings are the same in every language and are left to others.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace halfscope {

/// An English text that a translator can find, and the topic that it belongs to. Only phrase()
/// makes one, from literals, so that a tool that reads the sources sees all of them.
class Phrase {
public:
    constexpr Phrase() = default;
    constexpr const char* context() const { return m_context; }
    constexpr const char* text() const { return m_text; }
    constexpr bool empty() const { return *m_text == '\0'; }
    friend bool operator==(const Phrase& a, const Phrase& b) {
        return std::string_view(a.m_context) == b.m_context &&
               std::string_view(a.m_text) == b.m_text;
    }

private:
    consteval Phrase(const char* context, const char* text) : m_context(context), m_text(text) {}
    friend consteval Phrase phrase(const char* context, const char* text);

    const char* m_context = "";
    const char* m_text = "";
};

/// Makes a phrase. Both literals stand in the call itself: `./dev translations` collects them
/// there.
consteval Phrase phrase(const char* context, const char* text) { return {context, text}; }

/// A phrase whose %1 to %9 stand for arguments, which are messages too: data, shown the same in any
/// language (names, text from the system), a number of the program's own, or a message of its own.
/// An argument's text is never searched for %1. Small enough to be kept with each event: one block
/// of memory.
class Message {
public:
    /// Makes an empty message.
    Message() = default;
    /// Takes messages, phrases, texts and numbers as arguments.
    template <class... Arguments>
    Message(Phrase format, const Arguments&... arguments) {
        static_assert(sizeof...(arguments) <= 9, "%1 to %9");
        begin(format, sizeof...(arguments));
        (add(of(arguments)), ...);
    }
    /// Makes a message from text that no translation may touch. The text is stored escaped and not
    /// too long, as messageText() returns it, see escape.h.
    static Message data(std::string_view text);
    /// Makes a message from a number, as numberText() writes it; text() may show it otherwise.
    static Message number(int64_t);
    static Message number(uint64_t);
    static Message number(double);
    static Message number(float);
    /// Makes one from a number in text that no translation may touch: "65536 (2^16)".
    static Message number(std::string_view text);
    /// Converts an argument to a message.
    template <class T>
    static Message of(const T& argument) {
        if constexpr (std::is_same_v<T, Message>) {
            return argument;
        } else if constexpr (std::is_same_v<T, Phrase>) {
            return Message(argument);
        } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
            return data(argument);
        } else if constexpr (std::is_floating_point_v<T>) {
            return number(argument);
        } else {
            static_assert(std::is_integral_v<T> && sizeof(T) > 1, "a number, no bool or character");
            using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
            return number(static_cast<Wide>(argument));
        }
    }

    /// Returns the format; empty when the message is data or empty.
    Phrase format() const;
    std::vector<Message> arguments() const;
    bool empty() const { return m_code.empty(); }

    std::string english() const;
    using Translate = std::function<std::string(const Phrase&)>;
    using ShowNumber = std::function<std::string(std::string_view)>;
    /// Returns the text with the format, and likewise the arguments, translated, and with numbers
    /// as `show` writes them; without it they stay as they are.
    std::string text(const Translate&, const ShowNumber& show = nullptr) const;

    friend bool operator==(const Message& a, const Message& b) {
        return a.english() == b.english();
    }

private:
    static Message leaf(char kind, std::string_view text);
    void begin(Phrase format, size_t arguments);
    void add(const Message& argument);
    friend class MessageReader;

    /// A tree in the order of its nodes. A phrase is kPhrase, the Phrase and the number of
    /// arguments that follow; data is kData, the number of bytes and the bytes; a number is the
    /// same with kNumber.
    std::string m_code;
};

/// Returns "PLACE: what": where something was found, and what.
Message within(std::string_view place, const Message& what);

inline constexpr Phrase kAfterComma = phrase("Engine", "%1, %2");
/// Returns the messages joined by commas, or by the phrase `two` of %1 and %2; empty when there are
/// none.
Message listed(std::span<const Message> parts, Phrase two = kAfterComma);

} // namespace halfscope
