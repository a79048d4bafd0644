// What a search among variants came to, kept by the device and on disk, also while it goes on: a
// program that a variant ends leaves word of it.
#pragma once

#include "engine/cuda/cache.h"
#include "engine/cuda/device.h"

#include <map>
#include <string>
#include <vector>

namespace halfscope::cuda {

struct VariantRecord {
    /// Trials that the program did not survive until a variant is left alone: somebody may just
    /// have ended it. One is enough where the device failed in it.
    static constexpr int kMostUnfinished = 2;

    VariantTime time;
    int unfinished = 0; ///< trials that the program did not survive
    bool endedBadly() const { return unfinished >= kMostUnfinished; }
};

class VariantRecords {
public:
    VariantRecords(Device& device, const FileCache& cache) : m_device(device), m_cache(cache) {}

    /// One for each name, with what is known of it under the key; and behind them one for mixed
    /// tiles and one for launches that overlap, in whichever way is chosen.
    void read(const std::string& key, const std::vector<std::string>& names);
    void write() const;

    VariantRecord& operator[](size_t i) { return m_records[i]; }
    VariantRecord& mixed() { return m_records[m_records.size() - 2]; }
    VariantRecord& overlapped() { return m_records.back(); }
    const VariantRecord& mixed() const { return m_records[m_records.size() - 2]; }
    const VariantRecord& overlapped() const { return m_records.back(); }
    /// That of a search that came to an end, mixed tiles after the names; more where there is none.
    size_t chosen() const;
    void choose(VariantRecord&);
    /// Nothing was tried but what was not survived.
    void restart();
    /// The search is over.
    void finish();
    /// It was stopped: nothing is chosen, and what ended programs is still known.
    void giveUp();
    /// Whether no variant may be tried; what is made of others does not count.
    bool allEndedBadly() const;
    /// Where they are on disk; empty where they are not.
    std::string file() const;
    /// Of what was tried or left out with a reason. The chosen way with overlapping launches is
    /// told as one of its own, "NAME, overlapped", and chosen in its stead where it gained.
    std::vector<VariantTime> times() const;

private:
    Device& m_device;
    const FileCache& m_cache;
    std::string m_key;
    std::vector<VariantRecord> m_records;
};

inline constexpr const char *kMixedTiles = "mixed tiles", *kOverlapped = "overlapped";

/// "12:64x256x0x0 15:128x128x0x2c": rows, columns, depth and blocks by kernel, c for elements that
/// are collected; and back.
std::string tilesText(const std::map<size_t, TileLimits>& tilesOf);
std::map<size_t, TileLimits> tilesIn(const std::string& text);

} // namespace halfscope::cuda
