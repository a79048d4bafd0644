// JSON as the program's files need it: an error tells line and column, and duplicate keys, too deep
// nesting and too many keys or values are refused. Time and memory grow with the length of the text
// and not with its square. The readers know what the keys mean.
#pragma once

#include "engine/core/message.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace halfscope {

using Json = nlohmann::ordered_json;

/// Every file of the program has less text; values take far more memory than their text.
inline constexpr size_t kMostJsonBytes = size_t{16} << 20;

/// Empties a value of nlohmann's. Its own destructor allocates memory for what an object or a list
/// holds, which ends the program when there is none; this allocates nothing.
template <class AnyJson>
void takeApart(AnyJson& value) noexcept {
    if (auto* list = value.template get_ptr<typename AnyJson::array_t*>()) {
        for (AnyJson& each : *list)
            takeApart(each);
        list->clear();
    } else if (auto* object = value.template get_ptr<typename AnyJson::object_t*>()) {
        for (auto& [key, each] : *object)
            takeApart(each);
        object->clear();
    }
}

/// The values of a file; its destructor takes them apart.
template <class AnyJson>
class JsonTreeOf {
public:
    JsonTreeOf() = default;
    ~JsonTreeOf() { takeApart(m_root); }
    JsonTreeOf(JsonTreeOf&& other) noexcept : m_root(std::move(other.m_root)) {}
    JsonTreeOf& operator=(JsonTreeOf&&) = delete;

    AnyJson& root() { return m_root; }
    /// Must not be copied from: copies of objects and lists have the library's destructors.
    const AnyJson& root() const { return m_root; }

private:
    AnyJson m_root;
};
using JsonTree = JsonTreeOf<Json>;

/// The most that a text may have.
struct JsonLimits {
    size_t bytes = kMostJsonBytes;
    size_t keys = 1000;      ///< in one object; settings need 200, and readers compare each key
    size_t values = 1000000; ///< far above 100,000 edits of five values
};
/// For texts with an entry for each array of a network, of which no run has 100,000. A text of the
/// longest length could otherwise hold so many small values that they take 40 times as much memory.
/// Whoever reads them must not look for one key after the other.
inline constexpr JsonLimits kJsonOfArrays{.keys = 200'000, .values = 3'000'000};

/// Parses a text. Throws InputError in one line: "line 3, column 5: not valid JSON: ...". Can be
/// cancelled, see core/cancel.h.
JsonTree parseStrictJson(std::string_view text, const JsonLimits& most = {});

/// Whether a value is this text. The library's == would first make a value of the text, and must
/// not throw.
inline bool isText(const Json& value, std::string_view text) {
    const auto* const own = value.get_ptr<const Json::string_t*>();
    return own != nullptr && *own == text;
}

/// Returns a value as messages show it: quoted text, "an object", "a list", or the number.
Message shown(const Json& value);

} // namespace halfscope
