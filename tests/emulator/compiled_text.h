// C++ texts compiled by this build's compiler into a library. Compiled ones are kept in the build
// folder, by their content: whoever runs the tests again, or asks for the same text in another
// test, does not wait for it twice.
#pragma once

#include <string>

namespace halfscope::test {

/// A compiled text that is loaded as long as the object lives.
class CompiledText {
public:
    /// Throws std::runtime_error with the compiler's words. What the text includes is not part of
    /// its content: `included` must hold the content of those files.
    CompiledText(const std::string& text, const std::string& included, const std::string& options);
    ~CompiledText();
    CompiledText(const CompiledText&) = delete;
    CompiledText& operator=(const CompiledText&) = delete;

    void* symbol(const std::string& name) const; ///< null: it has none of that name

private:
    void* m_library = nullptr;
};

/// All of a file; an empty text where it cannot be read.
std::string readFile(const std::string& path);

} // namespace halfscope::test
