// The token of each thread.
#include "engine/core/cancel.h"

#include <utility>

namespace halfscope {
namespace {
thread_local const std::stop_token* t_token = nullptr;
} // namespace

Cancellable::Cancellable(std::stop_token token) : m_token(std::move(token)), m_before(t_token) {
    t_token = &m_token;
}

Cancellable::~Cancellable() { t_token = m_before; }

std::stop_token cancelToken() { return t_token != nullptr ? *t_token : std::stop_token(); }

bool isCancelled() { return t_token != nullptr && t_token->stop_requested(); }

} // namespace halfscope
