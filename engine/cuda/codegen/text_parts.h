// A step's text in parts that are compiled side by side: most of the time until a first step runs
// is one thread's in the compiler.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace halfscope::cuda {

/// Collects the functions of a step and the entries that call them, and cuts them into parts. The
/// same calls give the same parts, whatever the machine.
class TextParts {
public:
    /// `most` is what a part may cost the compiler, unless it is one entry that costs more.
    explicit TextParts(size_t most) : m_most(most) {}
    /// Adds a function that entries may call, also one of an earlier launch.
    size_t addFunction(const std::string& text);
    /// Adds an entry behind the functions that it calls and that its part lacks; returns the number
    /// of its part. A single part has the order of the calls. `compiling` is what it costs the
    /// compiler, with what it calls, in bytes of plain text.
    size_t addEntry(const std::string& text, const std::set<size_t>& functions, size_t compiling);

    /// Returns the parts, each behind `head`; at least one.
    std::vector<std::string> parts(const std::string& head) const;

private:
    struct Part {
        std::set<size_t> functions;
        std::string text;
        size_t compiling = 0;
    };

    size_t m_most;
    std::vector<std::string> m_functions;
    std::vector<Part> m_parts;
};

} // namespace halfscope::cuda
