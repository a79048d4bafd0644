// The common part of data sets that number their samples in the order in which they are stored; a
// share of them may be held back to validate on.
#pragma once

#include "engine/data/held_back.h"

#include <cstdint>
#include <span>
#include <vector>

namespace halfscope {

/// The place of one sample in a batch.
struct SamplePlace {
    const BatchRows& rows;
    size_t row = 0;

    std::span<float> floats(size_t tensor) const; ///< one sample of an F32 tensor
    int32_t& label() const;                       ///< the target, when it is a class
};

class StoredData : public Dataset {
public:
    std::span<const TensorSpec> tensors() const final { return m_tensors; }
    int64_t samples(Split split) const final {
        return static_cast<int64_t>(m_splits.of(split).size());
    }
    int64_t number(Split split, int64_t sample) const final {
        const int32_t stored = m_splits.of(split)[static_cast<size_t>(sample)];
        return m_numbers.empty() ? stored : m_numbers[static_cast<size_t>(stored)];
    }
    /// Skips a sample that cannot be read if m_damaged says so.
    std::vector<Unread> read(Pass, std::span<const int64_t> samples,
                             const BatchRows& out) const final;
    std::vector<int32_t> heldLabels() const final { return m_splits.heldLabels; }
    bool targetsAreSides() const final { return m_sides; }
    TaskView view() const final { return m_view; }
    const Standardiser& inputScale() const final { return m_inputScale; }
    const Standardiser& targetScale() const final { return m_targetScale; }

protected:
    /// Fills both tensors of a sample as it is in this epoch, see Pass. Any thread may call it.
    /// Throws InputError when the sample cannot be read.
    virtual void readStored(int32_t stored, int64_t epoch, const SamplePlace&) const = 0;

    /// Throws InputError when a sample cannot be read because the data set as a whole is gone,
    /// which no setting skips.
    virtual void checkIsThere(int32_t /*stored*/) const {}

    /// Makes the samples that are stored from `first` on the only ones to validate on; m_numbers
    /// has them all.
    void judgeFrom(int64_t first);

    // Set by the constructors of the data sets.
    std::vector<TensorSpec> m_tensors;
    HeldBack m_splits;
    /// The places of the stored samples in their files, from 0; empty when they are stored in the
    /// order of one file.
    std::vector<int64_t> m_numbers;
    TaskView m_view;
    Standardiser m_inputScale, m_targetScale;
    Damaged m_damaged = Damaged::Refuse;
    bool m_sides = false; ///< see targetsAreSides()
};

} // namespace halfscope
