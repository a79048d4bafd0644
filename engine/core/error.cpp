// What errors carry, and the one way to report a broken rule inside the engine. Expected failures
// are thrown where they are found.
#include "engine/core/error.h"

#include "engine/core/escape.h"

namespace halfscope {

ReportedError::ReportedError(const Message& message)
    : std::runtime_error(messageText(message.english())),
      m_message(std::make_shared<const Message>(message)) {}

void failInvariant(const std::string& what) { throw std::logic_error("broken invariant: " + what); }

Message messageOf(const std::exception& error) {
    const auto* reported = dynamic_cast<const ReportedError*>(&error);
    return reported ? reported->message() : Message::data(error.what());
}

Message messageOf(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        return messageOf(error);
    }
}

} // namespace halfscope
