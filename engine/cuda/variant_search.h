// Which of several ways to run a program a device takes: the fastest of those that work and give
// the same results, found by running each a few times when the program is loaded, and kept on disk.
#pragma once

#include "engine/cuda/compiler.h"
#include "engine/cuda/step_version.h"
#include "engine/cuda/variant_records.h"
#include "engine/cuda/variants.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace halfscope::cuda {

/// A variant as the compiler gets it.
struct WrittenVariant {
    Variant variant;
    WrittenStep written;
};
using WriteVariant = std::function<WrittenStep(const SourceOptions&)>;

class VariantSearch {
public:
    VariantSearch(Device&, const FileCache&, const StepWriter&, WriteVariant, const MetricsRing*);

    /// The first is the usual one, which is taken where the search is short of time, and whose
    /// results count. Throws what makes it impossible to run: OutOfMemory, NoAlgorithm and
    /// NoConvolution of the usual one; its error where no other works either.
    std::unique_ptr<StepVersion> fastest(const std::vector<Variant>&);
    /// What came of each; empty where there was one alone.
    const std::vector<VariantTime>& times() const { return m_times; }

private:
    using Values = std::vector<std::vector<float>>;
    /// A variant that differs from the usual one in tiles alone: what each launch takes.
    struct Tiled {
        TileLimits tiles;
        std::vector<LaunchTime> launches;
    };

    std::vector<WrittenVariant> written(const std::vector<Variant>&) const;
    std::unique_ptr<StepVersion> make(WrittenVariant, const std::string& code) const;
    std::unique_ptr<StepVersion> kept(const std::vector<WrittenVariant>&) const;
    void readRecords(const std::vector<WrittenVariant>&);
    void tryAll(std::vector<WrittenVariant>);
    void trial(WrittenVariant, const Compiled&, VariantRecord&);
    bool isTiled(const SourceOptions&, const StepVersion&) const;
    void tryMixed();
    std::map<size_t, TileLimits> bestTiles() const;
    double secondsOf(StepVersion&) const;
    void fill(const StepVersion&) const;
    Values resultsOf(const StepVersion&) const;
    std::string difference(const Program&, const Values&) const;

    Device& m_device;
    const FileCache& m_cache;
    const StepWriter& m_writer;
    const WriteVariant m_write;
    const MetricsRing* m_ring;
    SourceOptions m_usual;
    std::vector<std::vector<size_t>> m_kernels; ///< of the usual one's launches
    std::vector<Tiled> m_tiled;
    VariantRecords m_records;
    std::vector<VariantTime> m_times;
    std::unique_ptr<StepVersion> m_best;
    double m_bestSeconds = 0;
    Values m_truth; ///< the first one's results
};

} // namespace halfscope::cuda
