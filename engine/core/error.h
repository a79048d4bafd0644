// Errors of the engine. Expected failures of input are InputError (one line that names the field or
// file, the value and what is allowed); device faults are EngineError; broken invariants assert.
// Whatever their texts repeat of files and command lines comes out fit to be shown, see escape.h.
#pragma once

#include "engine/core/message.h"

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

namespace halfscope {

/// An error that users are told of: what() is the English sentence, message() what can be shown in
/// another language.
class ReportedError : public std::runtime_error {
public:
    explicit ReportedError(const Message&);
    template <class... Arguments>
    explicit ReportedError(Phrase format, const Arguments&... arguments)
        : ReportedError(Message(format, arguments...)) {}

    const Message& message() const { return *m_message; }

private:
    std::shared_ptr<const Message> m_message; // shared: copying an exception must not throw
};

/// A bad input: usage, a file, a field. Its text is one line. Programs exit with 2.
class InputError : public ReportedError {
public:
    using ReportedError::ReportedError;
};

/// The run failed while it ran (cannot write, stopped at the floor). Programs exit with 1.
class RunError : public ReportedError {
public:
    using ReportedError::ReportedError;
};

/// The device failed or has too little memory. Programs exit with 3.
class EngineError : public ReportedError {
public:
    using ReportedError::ReportedError;
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

/// The message of an error that can be translated; of any other one its words as they are.
Message messageOf(const std::exception&);
Message messageOf(const std::exception_ptr&); ///< of one that there is

} // namespace halfscope
