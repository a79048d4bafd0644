// The state from which a run goes on, kept with it: the bytes of a checkpoint file, which only
// engine/train reads. Memory holds what makes them until a store has them.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace halfscope {

/// Any thread may call.
class RunCheckpoint {
public:
    /// After so many steps; `make` gives the bytes, on whichever thread asks for them.
    RunCheckpoint(int64_t step, std::function<std::string()> make)
        : m_step(step), m_make(std::move(make)) {}

    int64_t step() const { return m_step; }
    /// RunError where the store has them no more.
    std::string bytes() const {
        const auto make = [this] {
            const std::lock_guard lock(m_mutex);
            return m_make;
        }();
        return make();
    }
    /// From now on they are read from a store, and what made them is let go.
    void setStored(std::function<std::string()> read) const {
        const std::lock_guard lock(m_mutex);
        m_make = std::move(read);
    }

private:
    const int64_t m_step;
    mutable std::mutex m_mutex;
    mutable std::function<std::string()> m_make;
};

} // namespace halfscope
