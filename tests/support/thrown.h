// Returns what a call throws, for tests of error texts.
#pragma once

#include <string>

namespace halfscope {

/// Returns the text of the exception of type Error that call() must throw; others pass.
template <class Error, class Call>
std::string thrownBy(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing thrown";
}

/// Whether the text is one line, "PATH: ...", that contains `part`.
inline bool isAbout(const std::string& text, const std::string& path, const std::string& part) {
    return text.starts_with(path + ": ") && text.find(part) != std::string::npos &&
           text.find('\n') == std::string::npos;
}

} // namespace halfscope
