// The state from which a run goes on, kept with the run: the bytes of a checkpoint file, which only
// engine/train reads. What makes the bytes is in memory until a store or a file has them.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace halfscope {

/// Any thread may call its functions.
class RunCheckpoint {
public:
    enum class Lies : uint8_t {
        InMemory,
        InFile, ///< of any size: no store takes a copy
    };
    /// The state after `step` steps; `make` returns the bytes, on whichever thread asks for them.
    RunCheckpoint(int64_t step, std::function<std::string()> make, Lies lies = Lies::InMemory)
        : m_step(step), m_lies(lies), m_make(std::move(make)) {}
    /// Makes a copy for another run: a store tells each run where its own bytes are.
    RunCheckpoint(const RunCheckpoint& other)
        : m_step(other.m_step), m_lies(other.m_lies), m_make(other.make()) {}
    RunCheckpoint& operator=(const RunCheckpoint&) = delete;

    int64_t step() const { return m_step; }
    Lies lies() const { return m_lies; }
    /// Returns the bytes. Throws RunError if the store no longer has them.
    std::string bytes() const { return make()(); }
    /// From now on the bytes are read from a store, and what made them is released.
    void setStored(std::function<std::string()> read) const {
        const std::lock_guard lock(m_mutex);
        m_make = std::move(read);
    }

private:
    std::function<std::string()> make() const {
        const std::lock_guard lock(m_mutex);
        return m_make;
    }

    const int64_t m_step;
    const Lies m_lies;
    mutable std::mutex m_mutex;
    mutable std::function<std::string()> m_make;
};

} // namespace halfscope
