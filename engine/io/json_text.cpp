// Writes lines and indents like nlohmann's dump(4); the library writes the text of a single value.
#include "engine/io/json_text.h"

#include "engine/core/text.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

JsonText& JsonText::operator[](std::string_view key) {
    m_kind = Kind::Object;
    const auto found = std::find_if(m_members.begin(), m_members.end(),
                                    [key](const auto& member) { return member.first == key; });
    if (found != m_members.end()) return found->second;
    return m_members.emplace_back(std::string(key), JsonText()).second;
}

void JsonText::add(std::string_view key, JsonText value) {
    m_kind = Kind::Object;
    m_members.emplace_back(std::string(key), std::move(value));
}

void JsonText::push_back(JsonText value) {
    m_members.emplace_back(std::string(), std::move(value));
}

std::string JsonText::textOf(const Json& leaf) {
    return leaf.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string JsonText::text() const {
    std::string text;
    write(text, 0);
    return text + "\n";
}

void JsonText::write(std::string& to, size_t indent) const {
    if (m_kind == Kind::Leaf) {
        to += m_leaf;
        return;
    }
    constexpr size_t kStep = 4;
    const bool object = m_kind == Kind::Object;
    to += object ? '{' : '[';
    for (bool first = true; const auto& [key, value] : m_members) {
        to += first ? "\n" : ",\n";
        first = false;
        to.append(indent + kStep, ' ');
        if (object) to += textOf(Json(key)) + ": ";
        value.write(to, indent + kStep);
    }
    if (!m_members.empty()) to.append(1, '\n').append(indent, ' ');
    to += object ? '}' : ']';
}

JsonText jsonNumber(double x) { return std::isfinite(x) ? JsonText(x) : JsonText(numberText(x)); }

JsonText jsonNumber(float x) {
    return std::isfinite(x) ? JsonText(Json::parse(numberText(x))) : JsonText(numberText(x));
}

} // namespace halfscope
