// Adds places and words to the JSON library's errors, and builds the value while the library reads.
#include "engine/io/strict_json.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

constexpr size_t kMaxDepth = 8;         // the formats need 4; more is a mistake or an attack
constexpr size_t kValuesBetween = 1024; // values read between two looks at whether to go on

/// Returns "line 3, column 5" for a byte; both count from 1.
Message placeOf(std::string_view text, size_t byte) {
    const std::string_view before = text.substr(0, std::min(byte, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t lineStart = before.rfind('\n');
    const size_t column =
        1 + before.size() - (lineStart == std::string_view::npos ? 0 : lineStart + 1);
    return {phrase("Files", "line %1, column %2"), line, column};
}

/// Returns the library's sentence without its prefix and without the text it read last (which may
/// be long).
std::string reasonOf(std::string_view message) {
    for (const std::string_view prefix : {"] ", " - "}) {
        const size_t at = message.find(prefix);
        if (at != std::string_view::npos) message.remove_prefix(at + prefix.size());
    }
    const size_t last = message.find("; last read");
    if (last == std::string_view::npos) return std::string(message);
    std::string reason(message.substr(0, last));
    // The text that was read may contain these words, too: the library's own come last and are
    // short.
    constexpr size_t kMostExpected = 50; // "; expected '[', '{', or a literal" is the longest
    const size_t expected = message.rfind("'; expected ");
    if (expected == std::string_view::npos || expected < last) return reason;
    const std::string_view words = message.substr(expected + 1);
    const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
    if (words.size() <= kMostExpected && std::ranges::all_of(words, printable)) reason += words;
    return reason;
}

/// Turns "... number overflow parsing '1e999'" into a reason of our own.
Message overflowReason(std::string_view message) {
    const size_t first = std::min(message.find('\''), message.size());
    std::string_view number = message.substr(std::min(first + 1, message.size()));
    number = number.substr(0, number.find('\''));
    return {phrase("Files", "%1 is a number that is too large"), quotedText(number)};
}

/// Builds the value while the library reads. Refuses deep nesting and duplicate keys in one object,
/// of which the library would silently keep the last. The library's own parser with a callback
/// looks through all its values whenever an object ends, which takes minutes for a list of objects.
class Builder final : public nlohmann::json_sax<Json> {
public:
    explicit Builder(const JsonLimits& most) : m_most(most) {}
    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t& value) override { return add(std::move(value)); }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& key) override {
        Level& level = m_open.back();
        level.key = key;
        if (!level.keys.insert(key).second)
            throw InputError(placed(phrase("Files", "the key occurs twice in the same object")));
        if (level.keys.size() > m_most.keys)
            throw InputError(
                placed({phrase("Files", "more than %1 keys in one object"), m_most.keys}));
        // operator[] would look through all keys once more
        Json::object_t::Container& members = level.value->get_ref<Json::object_t&>();
        if (members.size() == members.capacity()) grow(members);
        level.slot = &members.emplace_back(std::move(key), nullptr).second;
        return true;
    }

    bool parse_error(std::size_t byte, const std::string&,
                     const nlohmann::detail::exception& error) override {
        if (dynamic_cast<const Json::out_of_range*>(&error) != nullptr)
            throw InputError(placed(overflowReason(error.what())));
        // The library counts bytes from 1.
        throw NotJson{byte == 0 ? 0 : byte - 1, Message::data(reasonOf(error.what()))};
    }

    JsonTree result() { return std::move(m_root); }

    struct NotJson {
        size_t byte;
        Message reason;
    };

private:
    struct Level {
        Json* value;
        Json* slot = nullptr; ///< in an object: where the value of the last key goes
        std::set<std::string> keys{};
        std::string key{}; ///< the key whose value is being read
    };

    /// Puts the key whose value is being read before a message: "task.side: ...", or
    /// "lanes.1.scaler: ..." for the second entry of a list.
    Message placed(const Message& what) const {
        std::string path;
        for (const Level& level : m_open) {
            const bool inEntry = level.value->is_array() && &level != &m_open.back();
            const std::string step = inEntry ? std::to_string(level.value->size() - 1) : level.key;
            if (!step.empty()) path += (path.empty() ? "" : ".") + step;
        }
        if (path.empty()) return what;
        return within(isPlainText(path) && path.size() <= 100 ? path : quotedText(path), what);
    }

    /// Enlarges the members of an object. On its own the container would copy its members, whose
    /// keys are constant, and destroy them with the library's destructor, see JsonTree.
    static void grow(Json::object_t::Container& members) {
        Json::object_t::Container larger;
        larger.reserve(std::max<size_t>(4, 2 * members.size()));
        for (const auto& [key, value] : members)
            larger.emplace_back(key, nullptr);
        for (size_t i = 0; i < members.size(); ++i)
            larger[i].second.swap(members[i].second);
        members.swap(larger);
    }

    Json* put(Json value) {
        if (++m_values > m_most.values)
            throw InputError(placed({phrase("Files", "more than %1 values"), m_most.values}));
        if (m_values % kValuesBetween == 0) checkCancelled();
        if (m_open.empty()) return &(m_root.root() = std::move(value));
        const Level& level = m_open.back();
        if (level.slot != nullptr) return &(*level.slot = std::move(value));
        auto& list = level.value->get_ref<Json::array_t&>();
        return &list.emplace_back(std::move(value));
    }
    bool add(Json value) {
        put(std::move(value));
        return true;
    }
    bool open(Json value) {
        if (m_open.size() == kMaxDepth)
            throw InputError(phrase("Files", "nested deeper than %1 levels"), kMaxDepth);
        m_open.push_back({put(std::move(value))});
        return true;
    }
    bool close() {
        m_open.pop_back();
        return true;
    }

    const JsonLimits m_most;
    JsonTree m_root;
    std::vector<Level> m_open;
    size_t m_values = 0;
};

} // namespace

JsonTree parseStrictJson(std::string_view text, const JsonLimits& most) {
    if (text.size() > most.bytes)
        throw InputError(phrase("Files", "%1 bytes are not allowed: at most %2"), text.size(),
                         most.bytes);
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        throw InputError(phrase("Files", "the file is empty"));
    const auto fail = [text](size_t byte, const Message& reason) {
        throw InputError(phrase("Files", "%1: not valid JSON: %2"), placeOf(text, byte), reason);
    };
    Builder builder(most);
    try {
        Json::sax_parse(text.begin(), text.end(), &builder);
    } catch (const Builder::NotJson& error) {
        fail(error.byte, error.reason);
    }
    // the library takes a NUL byte for the end
    if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
        fail(nul, phrase("Files", "a NUL byte"));
    return builder.result();
}

Message shown(const Json& value) {
    if (value.is_object()) return phrase("Files", "an object");
    if (value.is_array()) return phrase("Files", "a list");
    if (value.is_string()) return Message::data(quotedText(value.get_ref<const std::string&>()));
    return Message::data(value.dump());
}

} // namespace halfscope
