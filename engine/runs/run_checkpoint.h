// The state from which a run goes on, kept with the run: the bytes of a checkpoint file, which only
// engine/train reads. What makes the bytes is in memory until a store or a file has them.
#pragma once

#include "engine/core/error.h"

#include <cstdint>
#include <exception>
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
        Unread, ///< nobody can tell whether there is one
    };
    /// The state after `step` steps; `make` returns the bytes, on whichever thread asks for them.
    RunCheckpoint(int64_t step, std::function<std::string()> make, Lies lies = Lies::InMemory)
        : m_step(step), m_lies(lies), m_from{std::move(make), {}} {}
    /// Makes a copy for another run: a store tells each run where its own bytes are.
    RunCheckpoint(const RunCheckpoint& other)
        : m_step(other.m_step), m_lies(other.m_lies), m_from(other.from()) {}
    RunCheckpoint& operator=(const RunCheckpoint&) = delete;

    int64_t step() const { return m_step; }
    Lies lies() const { return m_lies; }
    /// Returns the bytes. Throws InputError or RunError if the file or store no longer has them.
    std::string bytes() const {
        const From now = from();
        try {
            return now.make();
        } catch (const ReportedError&) {
            if (!now.before) throw;
            const std::exception_ptr newest = std::current_exception();
            try {
                return now.before();
            } catch (const ReportedError&) {
                std::rethrow_exception(newest); // about the place that the user knows
            }
        }
    }
    /// From now on the bytes are read from a store, and what made them is released.
    void setStored(std::function<std::string()> read) const {
        const std::lock_guard lock(m_mutex);
        m_from = {std::move(read), {}};
    }
    /// From now on the bytes are read from another file and, should that fail, from where they came
    /// just before, but from no earlier place.
    void setMoved(std::function<std::string()> read) const {
        const std::lock_guard lock(m_mutex);
        m_from = {std::move(read), std::move(m_from.make)};
    }

private:
    struct From {
        std::function<std::string()> make;
        std::function<std::string()> before; ///< often empty
    };
    From from() const {
        const std::lock_guard lock(m_mutex);
        return m_from;
    }

    const int64_t m_step;
    const Lies m_lies;
    mutable std::mutex m_mutex;
    mutable From m_from;
};

} // namespace halfscope
