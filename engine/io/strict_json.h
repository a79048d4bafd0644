// JSON as the program's files want it: an error says line and column, a key that stands twice, a
// nesting that is too deep or too many keys or values are refused. Time and memory grow with the
// length of the text. Leaves what the keys mean to the readers.
#pragma once

#include "engine/core/message.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace halfscope {

using Json = nlohmann::ordered_json;

/// No file of the program has as many values; each takes far more memory than its text.
inline constexpr size_t kMostJsonBytes = size_t{16} << 20;

/// Empties a value of nlohmann's. Its own destructor takes memory for what an object or a list
/// holds, which ends the program where there is none; this takes none.
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

/// The values of a file, taken apart at their end.
template <class AnyJson>
class JsonTreeOf {
public:
    JsonTreeOf() = default;
    ~JsonTreeOf() { takeApart(m_root); }
    JsonTreeOf(JsonTreeOf&& other) noexcept : m_root(std::move(other.m_root)) {}
    JsonTreeOf& operator=(JsonTreeOf&&) = delete;

    AnyJson& root() { return m_root; }
    /// Not to be copied: copies of objects and lists have destructors of the library's.
    const AnyJson& root() const { return m_root; }

private:
    AnyJson m_root;
};
using JsonTree = JsonTreeOf<Json>;

/// InputError in one line: "line 3, column 5: not valid JSON: ...". Cancellable, see
/// core/cancel.h.
JsonTree parseStrictJson(std::string_view text, size_t mostBytes = kMostJsonBytes);

/// Whether it is this text. The library's == makes a value of the text first, and must not throw.
inline bool isText(const Json& value, std::string_view text) {
    const auto* const own = value.get_ptr<const Json::string_t*>();
    return own != nullptr && *own == text;
}

/// A value inside a message: quoted text, "an object", "a list", or the number.
Message shown(const Json& value);

} // namespace halfscope
