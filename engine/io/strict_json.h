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

/// The values of a file. The library's destructor takes memory for what an object or a list holds,
/// which ends the program where there is none; this one takes them apart before, without any.
class JsonTree {
public:
    JsonTree() = default;
    ~JsonTree() { takeApart(m_root); }
    JsonTree(JsonTree&& other) noexcept : m_root(std::move(other.m_root)) {}
    JsonTree& operator=(JsonTree&&) = delete;

    Json& root() { return m_root; }
    /// Not to be copied: copies of objects and lists have destructors of the library's.
    operator const Json&() const { return m_root; }

private:
    static void takeApart(Json&) noexcept;

    Json m_root;
};

/// InputError in one line: "line 3, column 5: not valid JSON: ...". Cancellable, see
/// core/cancel.h.
JsonTree parseStrictJson(std::string_view text, size_t mostBytes = kMostJsonBytes);

/// A value inside a message: quoted text, "an object", "a list", or the number.
Message shown(const Json& value);

} // namespace halfscope
