// Errors of the engine. Expected failures of input are InputError (one line that names the field or
// file, the value and what is allowed); device faults are EngineError; broken invariants throw
// std::logic_error. Text that errors repeat from files and command lines is escaped, see escape.h.
#pragma once

#include "engine/core/message.h"

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

namespace halfscope {

/// An error that is shown to users: what() is the English sentence, message() can be shown in
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

/// A bad input: usage, a file, a field. The text is one line. Programs exit with 2.
class InputError : public ReportedError {
public:
    using ReportedError::ReportedError;
};

/// The run failed while it was running (cannot write, stopped at the floor). Programs exit with 1.
class RunError : public ReportedError {
public:
    using ReportedError::ReportedError;
};

/// The device failed or has too little memory. Programs exit with 3.
class EngineError : public ReportedError {
public:
    using ReportedError::ReportedError;
};

/// Reports a broken rule inside the engine: throws std::logic_error with the text, in every build
/// type, so that a wrong graph never runs.
[[noreturn]] void failInvariant(const std::string& what);
inline void require(bool holds, const char* what) {
    if (!holds) failInvariant(what);
}
inline void require(bool holds, const std::string& what) {
    if (!holds) failInvariant(what);
}

/// Returns the message of an error that can be translated, or the plain words of any other error.
Message messageOf(const std::exception&);
Message messageOf(const std::exception_ptr&); ///< must not be null

} // namespace halfscope
