// Stops long reading and decoding from another thread. Code that reads checks now and then; the
// owner of the thread decides who may stop it, so that readers in between need not pass anything
// on.
#pragma once

#include <exception>
#include <stop_token>

namespace halfscope {

/// Thrown by checkCancelled(). Not an error: whoever asked for it knows.
class Cancelled : public std::exception {
public:
    const char* what() const noexcept override { return "cancelled"; }
};

/// While it lives, checkCancelled() on this thread obeys the token.
class Cancellable {
public:
    explicit Cancellable(std::stop_token);
    ~Cancellable();
    Cancellable(const Cancellable&) = delete;
    Cancellable& operator=(const Cancellable&) = delete;

private:
    std::stop_token m_token;
    const std::stop_token* m_before;
};

/// Returns the token that this thread obeys, for others that do a part of its work.
std::stop_token cancelToken();
/// Returns whether this thread's work is asked to stop; for code through which no exception may
/// pass.
bool isCancelled();
/// Throws Cancelled when this thread's work is asked to stop. Costs nanoseconds.
inline void checkCancelled() {
    if (isCancelled()) throw Cancelled();
}

} // namespace halfscope
