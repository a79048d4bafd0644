// Text of device code as the writers of loops compose it: lines, and pointers into the arena.
#pragma once

#include "engine/cuda/codegen/element_source.h"

#include <string>

namespace halfscope::cuda {

/// Lines that are indented according to their braces.
class SourceLines {
public:
    void line(const std::string& words) {
        if (words.front() == '}') --m_depth;
        m_text += std::string(static_cast<size_t>(4 * m_depth), ' ') + words + "\n";
        if (words.back() == '{') ++m_depth;
    }
    const std::string& text() const { return m_text; }

private:
    std::string m_text;
    int m_depth = 0;
};

/// Returns "((T*)(arena + offset))".
inline std::string arenaPointer(DType type, size_t offset) {
    return "((" + storageType(type) + "*)(arena + " + std::to_string(offset) + "))";
}

} // namespace halfscope::cuda
