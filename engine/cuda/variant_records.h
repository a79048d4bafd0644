// What a search among variants found, kept by the device and on disk, also while it is going on:
// when a variant ends the program, a note of it remains.
#pragma once

#include "engine/cuda/cache.h"
#include "engine/cuda/device.h"

#include <string>
#include <vector>

namespace halfscope::cuda {

struct VariantRecord {
    /// The number of trials that the program did not survive after which a variant is left alone:
    /// the first time, somebody may just have ended the program. One is enough when the device
    /// failed in it.
    static constexpr int kMostUnfinished = 2;

    VariantTime time;
    int unfinished = 0; ///< trials that the program did not survive
    bool endedBadly() const { return unfinished >= kMostUnfinished; }
};

class VariantRecords {
public:
    VariantRecords(Device& device, const FileCache& cache) : m_device(device), m_cache(cache) {}

    /// Reads a record for each name, with what is known of it under the key.
    void read(const std::string& key, const std::vector<std::string>& names);
    void write() const;

    VariantRecord& operator[](size_t i) { return m_records[i]; }
    /// Returns the index that a finished search has chosen; a larger one when there is none.
    size_t chosen() const;
    void choose(VariantRecord&);
    /// Forgets everything but trials that were not survived.
    void restart();
    /// Notes that the search is over.
    void finish();
    /// Notes that the search was stopped: nothing is chosen, but what ended programs is still
    /// known.
    void giveUp();
    /// Whether no variant may be tried.
    bool allEndedBadly() const;
    /// Returns the file on disk; empty when there is none.
    std::string file() const;
    /// Returns the times of what was tried or left out with a reason.
    std::vector<VariantTime> times() const;

private:
    Device& m_device;
    const FileCache& m_cache;
    std::string m_key;
    std::vector<VariantRecord> m_records;
};

} // namespace halfscope::cuda
