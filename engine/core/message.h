// Texts for people: a format that a translation can replace, and arguments that it cannot. English
// is the text itself; what looks up another language passes its own translation. Leaves files,
// keys and words of the settings, which are the same in every language, to others.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace halfscope {

/// An English text that a translator can find, and the topic that tells what it is about. Only
/// phrase() makes one, from literals, so that a tool that reads the sources sees all of them.
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

/// Both literals stand in the call itself: `./dev translations` collects them there.
consteval Phrase phrase(const char* context, const char* text) { return {context, text}; }

/// A phrase whose %1 to %9 stand for arguments, which are messages too: data, shown as it is in any
/// language (names, numbers, what the system says), or a message of its own. An argument's text is
/// never searched for %1. Small enough to be kept with each event: one block of memory.
class Message {
public:
    /// Nothing.
    Message() = default;
    /// Arguments: messages, phrases, texts, whole numbers.
    template <class... Arguments>
    Message(Phrase format, const Arguments&... arguments) {
        static_assert(sizeof...(arguments) <= 9, "%1 to %9");
        begin(format, sizeof...(arguments));
        (add(of(arguments)), ...);
    }
    /// A text that no translation may touch. It is kept fit to be shown in any language, escaped
    /// and not too long: messageText() of it, see escape.h.
    static Message data(std::string_view text);
    /// What an argument may be, as a message.
    template <class T>
    static Message of(const T& argument) {
        if constexpr (std::is_same_v<T, Message>) {
            return argument;
        } else if constexpr (std::is_same_v<T, Phrase>) {
            return Message(argument);
        } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
            return data(argument);
        } else {
            static_assert(std::is_integral_v<T> && sizeof(T) > 1,
                          "numberText() makes a text of it");
            return data(std::to_string(argument));
        }
    }

    /// Empty where the message is data or nothing.
    Phrase format() const;
    std::vector<Message> arguments() const;
    bool empty() const { return m_code.empty(); }

    std::string english() const;
    /// With a translation of the format and, likewise, of the arguments.
    using Translate = std::function<std::string(const Phrase&)>;
    std::string text(const Translate&) const;

    friend bool operator==(const Message& a, const Message& b) {
        return a.english() == b.english();
    }

private:
    void begin(Phrase format, size_t arguments);
    void add(const Message& argument);
    friend class MessageReader;

    /// A tree in the order of its nodes: kPhrase, the Phrase, how many arguments follow; or kData,
    /// how many bytes, the bytes.
    std::string m_code;
};

/// "PLACE: what": where something was found, and what.
Message within(std::string_view place, const Message& what);

inline constexpr Phrase kAfterComma = phrase("Engine", "%1, %2");
/// The messages with a comma between, or as the phrase of %1 and %2 joins two; nothing of none.
Message listed(std::span<const Message> parts, Phrase two = kAfterComma);

} // namespace halfscope
