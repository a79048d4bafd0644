// JSON for writing. The library's values allocate memory in their destructor, which ends the
// program when there is none; these allocate none there, and their text is the same.
#pragma once

#include "engine/io/strict_json.h"

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfscope {

class JsonText {
public:
    /// Begins as null; becomes an object with its first key.
    JsonText() = default;
    /// Holds a text (invalid UTF-8 is replaced), a number or a truth value. Never throws
    /// InputError.
    template <class T>
    requires(!std::same_as<T, JsonText>) JsonText(const T& leaf) : m_leaf(textOf(Json(leaf))) {}
    static JsonText object() { return JsonText(Kind::Object); }
    static JsonText list() { return JsonText(Kind::List); }

    /// Returns the value of a key, which is null at first; keys stay in the order in which they
    /// came.
    JsonText& operator[](std::string_view key);
    /// Adds a key that is not there yet, without looking for it among the others.
    void add(std::string_view key, JsonText);
    void push_back(JsonText);
    /// Returns the text, indented by four spaces as in files, with a line end.
    std::string text() const;

private:
    enum class Kind { Leaf, Object, List };
    explicit JsonText(Kind kind) : m_kind(kind) {}
    static std::string textOf(const Json& leaf);
    void write(std::string& to, size_t indent) const;

    Kind m_kind = Kind::Leaf;
    std::string m_leaf = "null";
    std::vector<std::pair<std::string, JsonText>> m_members; ///< keys are empty in a list
};

/// Return a number, a float32 as the shortest decimal that reads back as it, not with a double's
/// digits. JSON has no nan and no inf: they become the words that the csv files use.
JsonText jsonNumber(double);
JsonText jsonNumber(float);

} // namespace halfscope
