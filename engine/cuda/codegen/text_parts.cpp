// Cuts a step into parts: launch after launch, until a part is large enough.
#include "engine/cuda/codegen/text_parts.h"

namespace halfscope::cuda {

size_t TextParts::addFunction(const std::string& text) {
    m_functions.push_back(text);
    return m_functions.size() - 1;
}

size_t TextParts::addEntry(const std::string& text, const std::set<size_t>& functions,
                           size_t compiling) {
    if (m_parts.empty() || m_parts.back().compiling + compiling > m_most) m_parts.emplace_back();
    Part& part = m_parts.back();
    for (const size_t function : functions)
        if (part.functions.insert(function).second) part.text += m_functions[function];
    part.text += text;
    part.compiling += compiling;
    return m_parts.size() - 1;
}

std::vector<std::string> TextParts::parts(const std::string& head) const {
    std::vector<std::string> texts;
    for (const Part& part : m_parts)
        texts.push_back(head + part.text);
    if (texts.empty()) texts.push_back(head);
    return texts;
}

} // namespace halfscope::cuda
