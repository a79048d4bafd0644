// Finds which of several ways to run a program a device should use: the fastest of those that work
// and give the same results. Each is run a few times when the program is loaded, and the choice is
// kept on disk.
#pragma once

#include "engine/core/message.h"
#include "engine/cuda/compiler.h"
#include "engine/cuda/trial_values.h"
#include "engine/cuda/variant_records.h"
#include "engine/cuda/variants.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace halfscope::cuda {

/// A variant in the form that the compiler gets.
struct WrittenVariant {
    Variant variant;
    WrittenStep written;
};
using WriteVariant = std::function<WrittenStep(const SourceOptions&)>;

class VariantSearch {
public:
    /// `isStopped` ends a search early; several threads may call it.
    VariantSearch(Device&, const FileCache&, const StepWriter&, WriteVariant, const MetricsRing*,
                  std::function<bool()> isStopped);

    /// Returns the fastest way. The first of the variants is used when the search runs out of time,
    /// and its results are the reference. When there is no memory for it, one that needs less is
    /// used. A search that is stopped, or short of memory, uses the best so far and leaves the
    /// choice to the next search. Throws what makes it impossible to run: OutOfMemory of the
    /// variant that needs least, NoAlgorithm and NoConvolution of the first, and the first one's
    /// error when no other works either.
    std::unique_ptr<StepVersion> fastest(const std::vector<Variant>&);
    /// The result of each; empty when there was only one.
    const std::vector<VariantTime>& times() const { return m_times; }

private:
    std::vector<WrittenVariant> written(const std::vector<Variant>&) const;
    std::unique_ptr<StepVersion> make(WrittenVariant, const std::vector<std::string>& code) const;
    std::unique_ptr<StepVersion> kept(const std::vector<WrittenVariant>&) const;
    void readRecords(const std::vector<WrittenVariant>&);
    void tryAll(std::vector<WrittenVariant>);
    WrittenVariant without(const NodesRefused&, Variant) const;
    void tryOne(size_t i, WrittenVariant, const std::vector<std::string>& code);
    void trial(WrittenVariant, const std::vector<std::string>& code, VariantRecord&);
    template <class Attempt>
    void survive(VariantRecord&, const Attempt&);
    template <class Enqueue>
    double timed(const Enqueue&) const;
    double secondsOf(StepVersion&);
    double secondsOfGraph(const StepVersion&);
    bool stopped();
    void leaveOut(VariantRecord&, const EngineError&) const;
    Message noneWorks() const;

    Device& m_device;
    const FileCache& m_cache;
    const StepWriter& m_writer;
    const WriteVariant m_write;
    const MetricsRing* m_ring;
    const std::function<bool()> m_isStopped;
    std::atomic<bool> m_cut{false}; ///< stopped() was once true, so the choice does not count
    bool m_short = false;           ///< of memory for the first one: there may be more next time
    VariantRecords m_records;
    std::vector<VariantTime> m_times;
    std::unique_ptr<StepVersion> m_best;
    double m_bestSeconds = 0;
    std::vector<StepResult> m_truth; ///< the results of the first variant
};

} // namespace halfscope::cuda
