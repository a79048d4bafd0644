// A CUDA handle that is released when it goes out of scope.
#pragma once

#include <utility>

namespace halfscope::cuda {

/// Owns what `destroy`, a function of a table of api.h, releases. A failure of it is ignored:
/// destructors may run after the driver is gone.
template <class T, class Status>
class Owned {
public:
    using Destroy = Status (*)(T);

    Owned() = default;
    Owned(T value, Destroy destroy) : m_value(value), m_destroy(destroy) {}
    Owned(Owned&& other) noexcept
        : m_value(std::exchange(other.m_value, T{})),
          m_destroy(std::exchange(other.m_destroy, nullptr)) {}
    Owned& operator=(Owned&& other) noexcept {
        if (this != &other) {
            reset();
            m_value = std::exchange(other.m_value, T{});
            m_destroy = std::exchange(other.m_destroy, nullptr);
        }
        return *this;
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() { reset(); }

    T get() const { return m_value; }
    explicit operator bool() const { return m_destroy != nullptr; }
    void reset() {
        if (m_destroy != nullptr) (void)m_destroy(m_value);
        m_value = T{};
        m_destroy = nullptr;
    }

private:
    T m_value{};
    Destroy m_destroy = nullptr;
};

} // namespace halfscope::cuda
