// Places and words of the JSON library's errors, and the watch over the structure while it parses.
#include "engine/io/strict_json.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>
#include <set>
#include <vector>

namespace halfscope {

namespace {

constexpr size_t kMaxDepth = 8;   // the formats need 4; more is a mistake or an attack
constexpr size_t kMaxKeys = 1000; // of one object; the formats need 200, each key is looked for

/// "line 3, column 5" of a byte, both from 1.
Message placeOf(std::string_view text, size_t byte) {
    const std::string_view before = text.substr(0, std::min(byte, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t lineStart = before.rfind('\n');
    const size_t column =
        1 + before.size() - (lineStart == std::string_view::npos ? 0 : lineStart + 1);
    return {phrase("Files", "line %1, column %2"), line, column};
}

/// The library's sentence without its prefix and without the text it read last (which may be long).
std::string reasonOf(std::string_view message) {
    for (const std::string_view prefix : {"] ", " - "}) {
        const size_t at = message.find(prefix);
        if (at != std::string_view::npos) message.remove_prefix(at + prefix.size());
    }
    const size_t last = message.find("; last read");
    if (last == std::string_view::npos) return std::string(message);
    std::string reason(message.substr(0, last));
    const size_t expected = message.find("; expected", last);
    if (expected != std::string_view::npos) reason += message.substr(expected);
    return reason;
}

/// Of "... number overflow parsing '1e999'".
Message overflowReason(std::string_view message) {
    const size_t first = std::min(message.find('\''), message.size());
    std::string_view number = message.substr(std::min(first + 1, message.size()));
    number = number.substr(0, number.find('\''));
    return {phrase("Files", "%1 is a number that is too large"), quotedText(number)};
}

/// Watches the parser: refuses deep nesting and keys that stand twice in one object, of which the
/// library would keep the last without a word.
class StructureCheck {
public:
    bool operator()(int, Json::parse_event_t event, Json& parsed) {
        using Event = Json::parse_event_t;
        if (event == Event::object_start || event == Event::array_start) {
            if (m_open.size() == kMaxDepth) {
                throw InputError(phrase("Files", "nested deeper than %1 levels"), kMaxDepth);
            }
            m_open.emplace_back();
        } else if (event == Event::object_end || event == Event::array_end) {
            m_open.pop_back();
        } else if (event == Event::key) {
            const auto& key = parsed.get_ref<const std::string&>();
            m_open.back().current = key;
            if (!m_open.back().keys.insert(key).second) {
                throw InputError(
                    placed(phrase("Files", "the key occurs twice in the same object")));
            }
            if (m_open.back().keys.size() > kMaxKeys) {
                throw InputError(
                    placed({phrase("Files", "more than %1 keys in one object"), kMaxKeys}));
            }
        }
        return true;
    }

    /// After the key whose value is being read: "task.side: ...".
    Message placed(const Message& what) const {
        std::string path;
        for (const Level& level : m_open) {
            if (level.current.empty()) continue; // a list
            path += (path.empty() ? "" : ".") + level.current;
        }
        if (path.empty()) return what;
        return within(isPlainText(path) && path.size() <= 100 ? path : quotedText(path), what);
    }

private:
    struct Level {
        std::set<std::string> keys;
        std::string current; ///< the key whose value is being read
    };

    std::vector<Level> m_open;
};

} // namespace

Json parseStrictJson(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        throw InputError(phrase("Files", "the file is empty"));
    }
    StructureCheck check;
    try {
        return Json::parse(text.begin(), text.end(), std::ref(check));
    } catch (const Json::parse_error& error) {
        // The library counts bytes from 1.
        throw InputError(phrase("Files", "%1: not valid JSON: %2"),
                         placeOf(text, error.byte == 0 ? 0 : error.byte - 1),
                         reasonOf(error.what()));
    } catch (const Json::out_of_range& error) {
        throw InputError(check.placed(overflowReason(error.what())));
    }
}

Message shown(const Json& value) {
    if (value.is_object()) return phrase("Files", "an object");
    if (value.is_array()) return phrase("Files", "a list");
    if (value.is_string()) return Message::data(quotedText(value.get_ref<const std::string&>()));
    return Message::data(value.dump());
}

} // namespace halfscope
