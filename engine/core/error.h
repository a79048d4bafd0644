// Errors of the engine. Expected failures of input are InputError (one line that names the field or
// file, the value and what is allowed); device faults are EngineError; broken invariants assert.
#pragma once

#include <stdexcept>
#include <string>

namespace halfscope {

/// A bad input: usage, a file, a field. Its text is one line. Programs exit with 2.
class InputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The run failed while it ran (cannot write, stopped at the floor). Programs exit with 1.
class RunError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device failed or has too little memory. Programs exit with 3.
class EngineError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A broken rule inside the engine: throws std::logic_error with the text, in every build type, so
/// that a wrong graph never runs.
[[noreturn]] void failInvariant(const std::string& what);
inline void require(bool holds, const char* what) {
    if (!holds) failInvariant(what);
}
inline void require(bool holds, const std::string& what) {
    if (!holds) failInvariant(what);
}

} // namespace halfscope
